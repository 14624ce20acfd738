//! Compares the CPU with OpenCV: `cargo bench --bench opencv` prints the table of benches/record/cpu.md; `-- 'radius
//! 8'` selects the rows whose names contain these words.
//!
//! Needs a Python with opencv-python-headless and numpy: `python3`, or the one that `APRON_PYTHON` names. Both sides
//! use the same number of threads, `RAYON_NUM_THREADS` or one per core, and run in turn.

mod common;

use apron::{Border, Extent, Image, Mask, Pixel, Taps, filters};
use apron_core::{BoxFilter, Correlate, FilterProblem, ImageMut, Scale, Separable};
use apron_cpu::Fma;
use common::median;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

/// A workload of both sides.
struct Work {
    text: String,
    operation: &'static str,
    taps: Vec<f32>,
}

fn works() -> Vec<Work> {
    let mut works = Vec::new();
    for width in [3usize, 7, 15] {
        let taps = (0..width * width).map(|i| (i as f32 * 0.37).sin()).collect();
        works.push(Work { text: format!("dense {width}x{width}"), operation: "dense", taps: limited(taps) });
    }
    for radius in [2u32, 8, 32] {
        let gaussian = filters::gaussian(radius as f64 / 3.0, 3.0).expect("a valid sigma");
        let taps = gaussian.taps().to_vec();
        works.push(Work { text: format!("separable, radius {radius}, Gaussian"), operation: "separable", taps });
        let taps = (0..2 * radius + 1).map(|i| (i as f32 * 0.37).cos()).collect();
        let text = format!("separable, radius {radius}, uneven");
        works.push(Work { text, operation: "separable", taps: limited(taps) });
    }
    for side in [3, 15, 63, 255] {
        let taps = filters::mean(side).expect("a valid size").taps().to_vec();
        works.push(Work { text: format!("box {side}x{side}"), operation: "box", taps });
    }
    works
}

/// Scales taps so that sums of u8 samples stay in the range of u8, or are negative.
fn limited(taps: Vec<f32>) -> Vec<f32> {
    let total: f32 = taps.iter().map(|tap| tap.abs()).sum();
    taps.iter().map(|tap| tap / total).collect()
}

/// Returns pseudorandom samples, as in benches/peers/opencv.py.
fn bytes(side: u32) -> Vec<u8> {
    let mix = |mut x: u32| {
        x ^= x >> 16;
        x = x.wrapping_mul(0x7feb352d);
        x ^= x >> 15;
        (x.wrapping_mul(0x846ca68b) >> 24) as u8
    };
    (0..side * side).map(mix).collect()
}

/// Runs of each side.
const RUNS: usize = 21;

fn main() {
    let side = common::side(4096);
    let bytes = bytes(side);
    let floats: Vec<f32> = bytes.iter().map(|&byte| byte as f32 / 256.0).collect();
    let bytes = Image::new(side, side, 1, bytes).expect("a valid shape");
    let floats = Image::new(side, side, 1, floats).expect("a valid shape");
    let mut peer = if common::measured() { Peer::start(side) } else { None };
    println!("| work, {side}x{side} | output | Apron, ms | OpenCV, ms | OpenCV / Apron |");
    println!("|---|---|---|---|---|");
    for work in works() {
        filter(&work, &floats, &mut peer);
        filter(&work, &bytes, &mut peer);
    }
    row("byte histogram", "-", &mut peer, "histogram u8 fresh", || {
        apron_cpu::byte_histogram(&bytes, false)[128] as f64
    });
}

/// Prints the rows of a filter: into existing memory, and into new memory.
fn filter<T: Pixel<Sum: Fma>>(work: &Work, image: &Image<T>, peer: &mut Option<Peer>) {
    let side = image.width() as usize;
    let Work { text, operation, taps } = work;
    let width = if *operation == "dense" { taps.len().isqrt() } else { taps.len() } as u32;
    let axis = || Taps::new(&taps[..]).expect("valid taps");
    let (shape, src, dst, border, extent) = (image.shape(), T::PIXEL, T::PIXEL, Border::Replicate, Extent::Same);
    let problem = match *operation {
        "dense" => {
            let mask = Mask::new(width, width, &taps[..]).expect("a valid mask");
            FilterProblem::Correlate(Correlate { shape, src, dst, mask, border, clamp: false, extent })
        }
        "box" => {
            let (height, anchor, scale) = (width, (width / 2, width / 2), Scale::Mean);
            let boxed = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
            FilterProblem::Box(boxed).by_method(None).expect("a valid size").problem
        }
        _ => FilterProblem::Separable(Separable { shape, src, dst, taps_x: axis(), taps_y: axis(), border, extent }),
    };
    let mut samples = vec![T::default(); side * side];
    let input = T::into_any(image.view());
    let pixels = T::PIXEL;
    let listed = taps.iter().map(f32::to_string).collect::<Vec<_>>().join(" ");
    let asked = |memory: &str| format!("{operation} {pixels} {memory} {listed}");
    row(&format!("{text}, {pixels}"), "there", peer, &asked("into"), || {
        let out = ImageMut::new(side as u32, side as u32, 1, &mut samples).expect("a valid shape");
        let solved = apron_cpu::any::filter_into(&problem, &input, None, T::into_any_mut(out));
        solved.expect("an output of the right size");
        samples[side * (side / 2) + side / 2].to_f64()
    });
    row(&format!("{text}, {pixels}"), "fresh", peer, &asked("fresh"), || {
        let out = apron_cpu::any::filter(&problem, &input, None).expect("nothing is cropped");
        T::from_any(out).expect("an image of the same type").sample(image.width() / 2, image.width() / 2, 0).to_f64()
    });
}

/// Times both sides in turn, and prints a row.
fn row(text: &str, output: &str, peer: &mut Option<Peer>, asked: &str, mut run: impl FnMut() -> f64) {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    if only.is_some_and(|only| !text.contains(&only)) {
        return;
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..if common::measured() { RUNS } else { 1 } {
        let start = Instant::now();
        let found = run();
        ours.push(start.elapsed().as_secs_f64() * 1e3);
        if let Some(peer) = peer {
            let (time, expected) = peer.run(asked);
            theirs.push(time);
            // For u8, OpenCV rounds some taps to 8 bits.
            assert!((found - expected).abs() <= 1.0, "{text}: {found}, but {expected} from OpenCV");
        }
    }
    println!("| {text} | {output} | {} | {} | {} |", times(&ours), times(&theirs), ratio(theirs, ours));
}

/// Formats the median and the best time.
fn times(times: &[f64]) -> String {
    let best = times.iter().copied().min_by(f64::total_cmp);
    best.map_or("-".into(), |best| format!("{:.2} ({best:.2})", median(times.to_vec())))
}

/// Formats the ratio of the medians, theirs to ours.
fn ratio(theirs: Vec<f64>, ours: Vec<f64>) -> String {
    if theirs.is_empty() { "-".into() } else { format!("{:.2}", median(theirs) / median(ours)) }
}

/// OpenCV, in another process.
struct Peer {
    child: Child,
    asked: ChildStdin,
    told: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts OpenCV; `None`, with a printed reason, if that fails.
    fn start(side: u32) -> Option<Peer> {
        let python = std::env::var("APRON_PYTHON").unwrap_or_else(|_| "python3".into());
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get()).to_string();
        let threads = std::env::var("RAYON_NUM_THREADS").unwrap_or_else(|_| cores());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/opencv.py");
        let mut command = Command::new(python);
        command.arg(script).args([&side.to_string(), &threads]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| eprintln!("OpenCV left out: {error}")).ok()?;
        let (asked, told) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        let mut peer = Peer { child, asked, told };
        let version = peer.line();
        if version.is_empty() {
            eprintln!("OpenCV left out: opencv.py did not start");
            return None;
        }
        eprintln!("OpenCV {}, {threads} threads", version.trim());
        Some(peer)
    }

    /// Runs a filter, and returns its time in milliseconds and one number of its result.
    fn run(&mut self, asked: &str) -> (f64, f64) {
        writeln!(self.asked, "{asked}").expect("OpenCV listens");
        let line = self.line();
        let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [time, number] = numbers[..] else { panic!("OpenCV: '{line}'") };
        (time, number)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.told.read_line(&mut line).expect("OpenCV's answer");
        line
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
