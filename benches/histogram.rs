//! Byte histogram: serial reference, parallel CPU, GPU kernels.

mod common;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn histogram(c: &mut Criterion) {
    let gpu = common::gpu();
    let side = common::side(4096);
    let image = common::image_u8(side);
    let mut group = c.benchmark_group(format!("histogram u8 {side}x{side} 256 bins"));
    group.throughput(Throughput::Bytes(side as u64 * side as u64));

    let expected = apron_reference::byte_histogram(&image, false);
    group.bench_function(BenchmarkId::from_parameter("serial reference"), |b| {
        b.iter(|| apron_reference::byte_histogram(&image, false));
    });
    assert_eq!(apron_cpu::byte_histogram(&image, false), expected);
    group.bench_function(BenchmarkId::from_parameter("cpu"), |b| {
        b.iter(|| apron_cpu::byte_histogram(&image, false));
    });
    if let Some(gpu) = &gpu {
        let on_device = gpu.upload(&image).unwrap();
        let run = || gpu.histogram(&on_device).variant("partials").run_reported();
        assert_eq!(run().unwrap().0.counts(), expected);
        group.bench_function(BenchmarkId::from_parameter("gpu partials"), |b| {
            b.iter_custom(|runs| common::kernels(runs, || Ok(run()?.1)));
        });
    }
}

criterion_group! { name = benches; config = common::criterion(); targets = histogram }
criterion_main!(benches);
