//! Numbers for tests, and their bytes.

use apron_core::Pixel;

/// Reproducible pseudo-random numbers.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }

    pub(crate) fn below(&mut self, most: u32) -> u32 {
        self.next() % most
    }
}

/// Returns the bytes of samples.
pub(crate) fn bytes_of<T: Pixel>(samples: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(samples)];
    for (bytes, sample) in bytes.chunks_mut(size_of::<T>()).zip(samples) {
        sample.write(bytes);
    }
    bytes
}
