//! Checks of available memory.

use crate::{Error, Result};
use std::cell::Cell;
use std::fmt::Display;

thread_local! {
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is inside [`check_memory`], where a failed allocation is handled: for an allocator that
/// otherwise ends the program when memory runs out.
pub fn asks_for_memory() -> bool {
    ASKS.get()
}

/// Checks that there is memory for `count` elements, which `of` describes in the error. Must precede the allocation: a
/// failed allocation aborts the program.
///
/// ```
/// use apron_core::check_memory;
///
/// assert!(check_memory::<u64>(1000, "counts").is_ok());
/// let error = check_memory::<u64>(1 << 60, "counts").unwrap_err().to_string();
/// assert!(error.contains("9223372036854775808 bytes (counts)"), "{error}");
/// ```
///
/// # Errors
/// [`Error::Shape`] if there is too little.
pub fn check_memory<T>(count: u64, of: impl Display) -> Result<()> {
    let elements = usize::try_from(count).unwrap_or(usize::MAX);
    ASKS.set(true);
    let reserved = Vec::<T>::new().try_reserve_exact(elements);
    ASKS.set(false);
    if reserved.is_ok() {
        return Ok(());
    }
    let value = format!("{} bytes ({of})", u128::from(count) * size_of::<T>() as u128);
    Err(Error::Shape { what: "size", value, limit: "what memory there is".into() })
}
