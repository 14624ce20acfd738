//! Byte histogram: serial reference, parallel CPU, every GPU variant that supports it.

mod common;

use common::Work;
use criterion::{Criterion, criterion_group, criterion_main};

fn histogram(c: &mut Criterion) {
    common::bench(c, &[Work::histogram(common::side(4096))]);
}

criterion_group! { name = benches; config = common::criterion(); targets = histogram }
criterion_main!(benches);
