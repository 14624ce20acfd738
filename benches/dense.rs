//! Dense correlation: serial reference, parallel CPU, GPU kernels.

mod common;

use apron::{Border, Device, Mask};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn dense(c: &mut Criterion) {
    let gpu = common::gpu();
    for (side, mask_side) in [(4096, 7), (2048, 64)] {
        let side = common::side(side);
        let image = common::image_f32(side);
        let taps: Vec<f32> = (0..mask_side * mask_side).map(|i| (i as f32 * 0.37).sin()).collect();
        let mask = Mask::new(mask_side, mask_side, taps).expect("a valid mask");
        let border = Border::Constant(0.0);
        let mut group = c.benchmark_group(format!("dense f32 {side}x{side} mask {mask_side}x{mask_side}"));
        // Read once, written once.
        group.throughput(Throughput::Bytes(side as u64 * side as u64 * 8));

        // A serial run with the large mask takes a minute; the CPU's bits are the reference's.
        let expected = Device::cpu().correlate(&image, mask.clone()).border(border).run().unwrap();
        let expected = expected.download::<f32>().unwrap();
        if mask_side <= 7 {
            let serial = apron_reference::correlate::<f32, f32>(&image, &mask, border, false).unwrap();
            assert!(serial == expected, "the CPU's result is not the reference's");
            group.bench_function(BenchmarkId::from_parameter("serial reference"), |b| {
                b.iter(|| apron_reference::correlate::<f32, f32>(&image, &mask, border, false));
            });
        }
        group.bench_function(BenchmarkId::from_parameter("cpu"), |b| {
            b.iter(|| apron_cpu::correlate::<f32, f32>(&image, &mask, border, false));
        });
        if let Some(gpu) = &gpu {
            let on_device = gpu.upload(&image).unwrap();
            let run = || gpu.correlate(&on_device, mask.clone()).border(border).variant("tiled").run();
            assert!(run().unwrap().download::<f32>().unwrap() == expected, "the GPU's result is not the CPU's");
            group.bench_function(BenchmarkId::from_parameter("gpu tiled"), |b| {
                b.iter_custom(|runs| common::kernels(runs, || run()?.report()));
            });
        }
    }
}

criterion_group! { name = benches; config = common::criterion(); targets = dense }
criterion_main!(benches);
