//! The order in which windows of floats are summed.

use apron_abi::BOX_CHUNK;

/// Returns the sum of `count` numbers from index `first` on, in the order of [`BOX_CHUNK`]; `add` adds two, and `zero` is
/// the sum of none.
#[inline(always)]
pub(crate) fn ordered_sum<S: Copy>(
    first: i32,
    count: u32,
    zero: S,
    add: impl Fn(S, S) -> S + Copy,
    at: impl Fn(i32) -> S,
) -> S {
    let (chunk, end) = (BOX_CHUNK as i32, first + count as i32);
    if count <= BOX_CHUNK {
        return upwards(zero, first, end, add, &at);
    }
    // End of the first chunk, and start of the last one.
    let (near, far) = ((first & -chunk) + chunk, (end - 1) & -chunk);
    let mut i = near - 1;
    let mut head = at(i);
    while i > first {
        i -= 1;
        head = add(head, at(i));
    }
    let (mut middle, mut i) = (zero, near);
    while i < far {
        middle = add(middle, upwards(at(i), i + 1, i + chunk, add, &at));
        i += chunk;
    }
    add(add(head, middle), upwards(at(far), far + 1, end, add, &at))
}

/// Adds the numbers from index `i` up to `end` to a sum.
#[inline(always)]
fn upwards<S: Copy>(mut sum: S, mut i: i32, end: i32, add: impl Fn(S, S) -> S, at: &impl Fn(i32) -> S) -> S {
    while i < end {
        sum = add(sum, at(i));
        i += 1;
    }
    sum
}
