//! 3x3 masks over RGBA images: serial reference, parallel CPU, every GPU variant that supports it.

mod common;

use common::Work;
use criterion::{Criterion, criterion_group, criterion_main};

fn rgba(c: &mut Criterion) {
    common::bench(c, &[Work::rgba(common::side(4096))]);
}

criterion_group! { name = benches; config = common::criterion(); targets = rgba }
criterion_main!(benches);
