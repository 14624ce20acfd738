//! Separable correlation: serial reference, parallel CPU, every GPU variant that supports it.

mod common;

use common::Work;
use criterion::{Criterion, criterion_group, criterion_main};

fn separable(c: &mut Criterion) {
    common::bench(c, &[Work::separable(common::side(4096), 8)]);
}

criterion_group! { name = benches; config = common::criterion(); targets = separable }
criterion_main!(benches);
