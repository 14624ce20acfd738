//! One pass of a separable filter, a file a variant.

mod simple;

pub use simple::Simple;
