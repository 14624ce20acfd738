//! Many small images: one by one, and as a batch.

mod common;

use apron::{Device, Image};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const IMAGES: u64 = 64;

fn batches(c: &mut Criterion) {
    let device = Device::auto();
    device.keep_memory(true);
    for side in [64, 256, common::side(1024)] {
        let image = |number: u32| {
            let samples = (0..side * side).map(|i| (i.wrapping_mul(2_654_435_761 + number) >> 24) as f32);
            Image::new(side, side, 1, samples.collect::<Vec<f32>>()).expect("a valid image")
        };
        let images: Vec<_> = (0..IMAGES as u32).map(image).collect();
        let batch = device.upload_batch(&images).expect("memory");
        let mut each = (0..batch.images())
            .map(|index| (batch.image(index).expect("of the batch"), device.zeros(batch.shape(), batch.pixel_type())))
            .map(|(image, room)| (image, room.expect("memory")))
            .collect::<Vec<_>>();
        let mut all = device.zeros_batch(batch.shape(), batch.pixel_type(), IMAGES as usize).expect("memory");
        let mut group = c.benchmark_group(format!("gaussian f32 {side}x{side} of {IMAGES} on {}", device.name()));
        group.throughput(Throughput::Elements(IMAGES));
        group.bench_function("one by one", |bench| {
            bench.iter(|| {
                for (image, room) in &mut each {
                    device.gaussian(&*image, 1.0).run_into(&mut *room).expect("a result");
                }
                device.synchronize().expect("a result");
            });
        });
        group.bench_function("batch", |bench| {
            bench.iter(|| {
                device.gaussian(&batch, 1.0).run_into(&mut all).expect("a result");
                device.synchronize().expect("a result");
            });
        });
        group.finish();
    }
}

criterion_group! { name = benches; config = common::criterion(); targets = batches }
criterion_main!(benches);
