//! Rows of host memory, which may have a pitch.

use crate::rows::Rows;
use cust::sys::{CUmemorytype, CUpointer_attribute, cuPointerGetAttributes, cudaError_enum};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Range;

/// Rows of host memory to be read.
#[derive(Clone, Copy, Debug)]
pub struct HostRows<'a> {
    bytes: &'a [u8],
    rows: Rows,
    /// Whether the memory is pinned, so that the device copies from it directly.
    pub(crate) pinned: bool,
}

/// Rows of host memory to be written, by several threads.
#[derive(Debug)]
pub struct HostRowsMut<'a> {
    start: *mut u8,
    rows: Rows,
    /// Whether the memory is pinned, so that the device copies to it directly.
    pub(crate) pinned: bool,
    bytes: PhantomData<&'a mut [u8]>,
}

// SAFETY: the value stands for the exclusive borrow of the bytes.
unsafe impl Send for HostRowsMut<'_> {}
// SAFETY: writing is unsafe, and its callers keep the ranges of threads disjoint.
unsafe impl Sync for HostRowsMut<'_> {}

impl<'a> HostRows<'a> {
    /// Wraps rows, which start at the first byte.
    ///
    /// # Panics
    /// If there are too few bytes.
    pub fn new(bytes: &'a [u8], rows: Rows) -> HostRows<'a> {
        assert!(rows.span() <= bytes.len() as u64, "rows of the bytes");
        HostRows { bytes, rows, pinned: false }
    }

    /// Wraps bytes without gaps.
    pub fn packed(bytes: &'a [u8]) -> HostRows<'a> {
        HostRows::new(bytes, Rows { bytes: bytes.len() as u64, stride: bytes.len() as u64, count: 1 })
    }

    /// Finds out whether the memory is pinned. A context must be current.
    pub(crate) fn looked_up(mut self) -> Self {
        self.pinned = is_pinned(self.start(), self.rows);
        self
    }

    /// Returns the bytes in the rows, without those between them.
    pub(crate) fn bytes(&self) -> usize {
        (self.rows.bytes * self.rows.count) as usize
    }

    /// Returns the layout.
    pub(crate) fn rows(&self) -> Rows {
        self.rows
    }

    /// Returns the address of the first byte.
    pub(crate) fn start(&self) -> *const u8 {
        self.bytes.as_ptr()
    }

    /// Returns the contiguous parts of a range of the rows' bytes, as offsets from the first row's start.
    pub(crate) fn parts(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        parts(self.rows, range)
    }

    /// Copies a range of the rows' bytes to `to`.
    ///
    /// # Safety
    /// `to` has room for the range, and no other thread accesses that memory.
    ///
    /// # Panics
    /// If the range exceeds the bytes of the rows.
    pub(crate) unsafe fn read(&self, range: Range<usize>, to: *mut u8) {
        let mut done = 0;
        for part in self.parts(range) {
            let part = &self.bytes[part];
            // SAFETY: the caller's promise.
            unsafe { to.add(done).copy_from_nonoverlapping(part.as_ptr(), part.len()) };
            done += part.len();
        }
    }
}

impl<'a> HostRowsMut<'a> {
    /// Wraps rows, which start at the first byte.
    ///
    /// # Panics
    /// If there are too few bytes.
    pub fn new(bytes: &'a mut [u8], rows: Rows) -> HostRowsMut<'a> {
        assert!(rows.span() <= bytes.len() as u64, "rows of the bytes");
        HostRowsMut { start: bytes.as_mut_ptr(), rows, pinned: false, bytes: PhantomData }
    }

    /// Wraps bytes without gaps.
    pub fn packed(bytes: &'a mut [u8]) -> HostRowsMut<'a> {
        let rows = Rows { bytes: bytes.len() as u64, stride: bytes.len() as u64, count: 1 };
        HostRowsMut::new(bytes, rows)
    }

    /// Returns another handle on the same rows, for another GPU: writing is unsafe, and its callers keep their ranges
    /// disjoint.
    pub(crate) fn again(&self) -> HostRowsMut<'_> {
        HostRowsMut { bytes: PhantomData, ..*self }
    }

    /// Finds out whether the memory is pinned. A context must be current.
    pub(crate) fn looked_up(mut self) -> Self {
        self.pinned = is_pinned(self.start(), self.rows);
        self
    }

    /// Returns the bytes in the rows, without those between them.
    pub(crate) fn bytes(&self) -> usize {
        (self.rows.bytes * self.rows.count) as usize
    }

    /// Returns the layout.
    pub(crate) fn rows(&self) -> Rows {
        self.rows
    }

    /// Returns the address of the first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Returns the contiguous parts of a range of the rows' bytes, as offsets from the first row's start.
    pub(crate) fn parts(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        assert!(range.end <= self.bytes(), "bytes of the rows");
        parts(self.rows, range)
    }

    /// Overwrites a range of the rows' bytes with those at `from`.
    ///
    /// # Safety
    /// The bytes at `from` are initialised, and no other thread accesses the range.
    ///
    /// # Panics
    /// If the range exceeds the bytes of the rows.
    pub(crate) unsafe fn write(&self, range: Range<usize>, from: *const u8) {
        let mut done = 0;
        for part in self.parts(range) {
            // SAFETY: inside the rows, as checked; the caller's promise.
            unsafe { self.start.add(part.start).copy_from_nonoverlapping(from.add(done), part.len()) };
            done += part.len();
        }
    }
}

/// Returns whether the driver knows the rows, from the first byte to the last, as pinned memory of this process.
fn is_pinned(start: *const u8, rows: Rows) -> bool {
    let kind = |address: usize| {
        let (mut kind, mut which) = (0u32, CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
        let mut place: *mut c_void = (&raw mut kind).cast();
        // SAFETY: writes only the variable, which has the size of the attribute. For memory that the driver does not
        // know, the attribute is 0, while cuPointerGetAttribute would fail.
        let asked = unsafe { cuPointerGetAttributes(1, &mut which, &mut place, address as u64) };
        (asked == cudaError_enum::CUDA_SUCCESS).then_some(kind)
    };
    let first = start.addr();
    let ends = [first, (first + rows.span() as usize).saturating_sub(1)];
    ends.into_iter().all(|address| kind(address) == Some(CUmemorytype::CU_MEMORYTYPE_HOST as u32))
}

/// Returns the contiguous parts of a range of the rows' bytes, as offsets from the first row's start.
fn parts(rows: Rows, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let (bytes, stride) = if rows.is_packed() {
        ((rows.bytes * rows.count) as usize, usize::MAX)
    } else {
        (rows.bytes as usize, rows.stride as usize)
    };
    let mut at = range.start;
    std::iter::from_fn(move || {
        if at >= range.end {
            return None;
        }
        let (row, column) = (at / bytes, at % bytes);
        let count = (bytes - column).min(range.end - at);
        at += count;
        let start = if row == 0 { column } else { row * stride + column };
        Some(start..start + count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_split_where_rows_end() {
        let rows = Rows { bytes: 4, stride: 6, count: 3 };
        let ends = |rows, range| parts(rows, range).map(|part| (part.start, part.end)).collect::<Vec<_>>();
        let of = |range| ends(rows, range);
        assert_eq!(of(0..12), [(0, 4), (6, 10), (12, 16)]);
        assert_eq!(of(3..5), [(3, 4), (6, 7)]);
        assert_eq!(of(5..7), [(7, 9)]);
        assert_eq!(of(4..4), []);
        assert_eq!(ends(Rows { stride: 4, ..rows }, 3..9), [(3, 9)]);
    }

    #[test]
    fn rows_are_read_and_written_without_what_is_between() {
        let bytes: Vec<u8> = (0..16).collect();
        let rows = Rows { bytes: 4, stride: 6, count: 3 };
        let mut packed = [0u8; 6];
        // SAFETY: there is room for six bytes.
        unsafe { HostRows::new(&bytes, rows).read(2..8, packed.as_mut_ptr()) };
        assert_eq!(packed, [2, 3, 6, 7, 8, 9]);
        let mut written = [0u8; 16];
        // SAFETY: one thread, six bytes.
        unsafe { HostRowsMut::new(&mut written, rows).write(2..8, packed.as_ptr()) };
        assert_eq!(written, [0, 0, 2, 3, 0, 0, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0]);
    }
}
