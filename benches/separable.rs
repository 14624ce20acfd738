//! Separable correlation: serial reference, parallel CPU, GPU kernels.

mod common;

use apron::{Border, Device, Taps};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn separable(c: &mut Criterion) {
    let gpu = common::gpu();
    let side = common::side(4096);
    let image = common::image_f32(side);
    let border = Border::Replicate;
    let radius = 8;
    let taps = Taps::new((0..2 * radius + 1).map(|i| (i as f32 * 0.37).cos()).collect::<Vec<_>>()).expect("valid taps");
    let mut group = c.benchmark_group(format!("separable f32 {side}x{side} radius {radius}"));
    // Read once, written once.
    group.throughput(Throughput::Bytes(side as u64 * side as u64 * 8));

    let expected = Device::reference().separable(&image, taps.clone(), taps.clone()).border(border).run().unwrap();
    let expected = expected.download::<f32>().unwrap();
    group.bench_function(BenchmarkId::from_parameter("serial reference"), |b| {
        b.iter(|| apron_reference::separable::<f32, f32>(&image, &taps, &taps, border));
    });
    let cpu = apron_cpu::separable::<f32, f32>(&image, &taps, &taps, border).unwrap();
    assert!(cpu == expected, "the CPU's result is not the reference's");
    group.bench_function(BenchmarkId::from_parameter("cpu"), |b| {
        b.iter(|| apron_cpu::separable::<f32, f32>(&image, &taps, &taps, border));
    });
    if let Some(gpu) = &gpu {
        let on_device = gpu.upload(&image).unwrap();
        let run = || gpu.separable(&on_device, taps.clone(), taps.clone()).border(border).variant("simple").run();
        assert!(run().unwrap().download::<f32>().unwrap() == expected, "the GPU's result is not the reference's");
        group.bench_function(BenchmarkId::from_parameter("gpu simple"), |b| {
            b.iter_custom(|runs| common::kernels(runs, || run()?.report()));
        });
    }
}

criterion_group! { name = benches; config = common::criterion(); targets = separable }
criterion_main!(benches);
