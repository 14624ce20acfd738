//! The workload `chain`: times several operations as a recorded chain, and each of them alone.

use super::Pace;
use super::solved::Solved;
use apron::filters::{self, Gaussian};
use apron::{Device, DeviceHistogram, DeviceImage, FilterBuilder, Report, Result, Source};
use std::time::Duration;

/// Operations of the chain.
pub(super) const CHAIN: &str = "gaussian sobel histogram";

fn gaussian<'a>(device: &'a Device, image: &'a DeviceImage) -> FilterBuilder<'a, Gaussian> {
    device.gaussian(image, 1.0)
}

fn sobel<'a>(device: &'a Device, image: &'a DeviceImage) -> FilterBuilder<'a> {
    device.correlate(image, filters::named_mask("sobel-x").expect("a mask of this name"))
}

/// Results of the chain's operations.
struct Made {
    blurred: DeviceImage,
    edges: DeviceImage,
    counts: DeviceHistogram,
}

fn work(device: &Device, image: &DeviceImage) -> Result<Made> {
    let blurred = gaussian(device, image).run()?;
    let edges = sobel(device, &blurred).run()?;
    let counts = device.histogram(&edges).enqueue()?;
    Ok(Made { blurred, edges, counts })
}

/// Runs the recorded chain, and returns its counts and variants.
pub(super) fn solve(device: &Device, image: Source<'_>) -> Result<Solved> {
    let mut chain = device.record(image, work)?;
    let made = chain.run()?;
    let counts = made.counts.download()?;
    let last = made.counts.report()?;
    let variant = format!("{} + {} + {}", made.blurred.report()?.variant, made.edges.report()?.variant, last.variant);
    let report = Report { variant, kernels: chain.elapsed()?, ..last };
    Ok(Solved::Counts(counts, report))
}

/// Returns the median time of the recorded chain, and the sum of the median times of its operations, each run alone; in
/// milliseconds.
pub(super) fn times(device: &Device, image: &DeviceImage, pace: Pace) -> Result<(f64, f64)> {
    let mut chain = device.record(image, work)?;
    let together = pace.median(|| {
        chain.run()?;
        chain.elapsed()
    })?;
    let made = work(device, image)?;
    let parts: [&dyn Fn() -> Result<Duration>; 3] = [
        &|| Ok(gaussian(device, image).run()?.report()?.kernels),
        &|| Ok(sobel(device, &made.blurred).run()?.report()?.kernels),
        &|| Ok(device.histogram(&made.edges).enqueue()?.report()?.kernels),
    ];
    let mut alone = 0.0;
    for part in parts {
        alone += pace.median(part)?;
    }
    Ok((together, alone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron::Image;

    #[test]
    fn a_chain_and_its_parts_take_time() {
        let image = Image::new(64, 48, 1, (0..64 * 48).map(|i| (i * 7) as u8).collect::<Vec<_>>()).unwrap();
        let device = Device::cpu();
        let (together, alone) = times(&device, &device.upload(&image).unwrap(), Pace { reps: 1 }).unwrap();
        assert!(together > 0.0 && alone > 0.0);
        let Solved::Counts(counts, report) = solve(&device, Source::from(&image)).unwrap() else { panic!() };
        assert_eq!(counts.counts().iter().sum::<u64>(), 64 * 48);
        assert_eq!(report.variant, "parallel + parallel + parallel");
    }
}
