//! A histogram as text: one bar per group of bins.

use apron::Histogram;
use std::fmt::Write;

/// Maximum number of bars, over all channels.
const ROWS: usize = 24;
/// Length of the longest bar, in columns: with its labels a line has 80.
const WIDTH: usize = 52;
/// Bars are drawn to an eighth of a column.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Draws the histogram, one line per group of bins: start of the group, bar, and count; for cumulative counts, the
/// count of the group's last bin.
pub(crate) fn draw(histogram: &Histogram, cumulative: bool) -> String {
    let channels = histogram.channels();
    let rows = rows(histogram.bins(), ROWS / channels as usize);
    let groups: Vec<Vec<u64>> =
        (0..channels).map(|channel| grouped(histogram.channel(channel), rows, cumulative)).collect();
    let longest = groups.iter().flatten().copied().max().unwrap_or(0).max(1);
    let mut text = String::new();
    for (channel, counts) in groups.iter().enumerate() {
        if channels > 1 {
            let _ = writeln!(text, "channel {channel}");
        }
        for (row, &count) in counts.iter().enumerate() {
            let low = short(histogram.edges()[row * histogram.bins() / rows]);
            let _ = writeln!(text, "{low:>10} │{:<WIDTH$} {count}", bar(count, longest));
        }
    }
    let _ = writeln!(text, "{:>10} │", short(histogram.edges()[histogram.bins()]));
    text
}

/// Returns the number of groups: one that divides the number of bins evenly, if there is one from half of `most` on.
fn rows(bins: usize, most: usize) -> usize {
    (most / 2..=most).rev().find(|rows| *rows > 0 && bins.is_multiple_of(*rows)).unwrap_or(most.min(bins))
}

/// Sums neighbouring bins in `rows` groups of nearly equal size; for cumulative counts, takes the last of each group.
fn grouped(counts: &[u64], rows: usize, cumulative: bool) -> Vec<u64> {
    let at = |row: usize| row * counts.len() / rows;
    let sum = |row| if cumulative { counts[at(row + 1) - 1] } else { counts[at(row)..at(row + 1)].iter().sum() };
    (0..rows).map(sum).collect()
}

fn bar(count: u64, longest: u64) -> String {
    let eighths = (count as f64 / longest as f64 * (8 * WIDTH) as f64).round() as usize;
    // A count above 0 is always visible.
    let eighths = if count > 0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Formats a number in a few characters.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !(1e-3..1e7).contains(&size) {
        let text = format!("{value:.2e}");
        // 1e9 instead of 1.00e9.
        text.replacen(".00e", "e", 1)
    } else {
        let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron::{Device, Image};

    #[test]
    fn bars_are_grouped_and_fit_the_terminal() {
        let image = Image::new(256, 2, 3, (0..1536).map(|i| (i % 251) as u8).collect::<Vec<_>>()).unwrap();
        for per_channel in [false, true] {
            let histogram = Device::cpu().histogram(&image).per_channel(per_channel).run().unwrap();
            let text = draw(&histogram, false);
            assert!(text.lines().count() <= ROWS + 4, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            assert!(text.contains('█'));
        }
    }

    #[test]
    fn every_count_is_counted_once() {
        let counts: Vec<u64> = (0..100).collect();
        for rows in [1, 7, 24, 99, 100] {
            assert_eq!(grouped(&counts, rows, false).iter().sum::<u64>(), 4950, "{rows}");
            assert_eq!(grouped(&counts, rows, true).last(), Some(&99), "{rows}");
        }
        assert_eq!([rows(256, 24), rows(10, 24), rows(257, 24), rows(256, 6), rows(1, 24)], [16, 10, 24, 4, 1]);
        assert_eq!((bar(0, 9).as_str(), bar(1, 1_000_000).as_str()), ("", "▏"));
        assert_eq!(bar(9, 9).chars().count(), WIDTH);
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0, "0"), (256.0, "256"), (-0.5, "-0.5"), (1234567.0, "1234567"), (1e9, "1e9"), (0.333333, "0.3333")]
        {
            assert_eq!(short(value), text);
        }
    }
}
