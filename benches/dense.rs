//! Dense correlation: serial reference, parallel CPU, every GPU variant that supports it.

mod common;

use common::Work;
use criterion::{Criterion, criterion_group, criterion_main};

fn dense(c: &mut Criterion) {
    common::bench(c, &[Work::dense(common::side(4096), 7, 7), Work::dense(common::side(2048), 64, 64)]);
}

criterion_group! { name = benches; config = common::criterion(); targets = dense }
criterion_main!(benches);
