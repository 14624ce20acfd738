//! Local deviations of integers by prefix sums along the rows: see [`crate::windows::Prefix`].
//!
//! A lane keeps two sums per column: of its samples, modulo 2^32, and of their squares, modulo 2^32 for bytes (less 128,
//! so that squares have 14 bits) and modulo 2^64 for 16 bits. The plan keeps windows so small that they tell the exact
//! sums. An estimate decides nearly every output; where it is near a half, the output is computed by [`deviation`].

use super::sliding::estimate;
use super::{deviation, variance};
use crate::device::{Device, Global, Shared};
use crate::samples::WARP;
use crate::windows::{Strip, Vector, Whole, WindowSums, BYTES, ONES, QUAD, TOGETHER, WORDS};
use apron_abi::{deviations_layout, ElementType, PrefixParams, Sample, WINDOWS_CHUNK};

/// The deviations, with sums of squares of type `Q`.
pub struct Deviations<Q>(core::marker::PhantomData<Q>);

/// The sum of some samples, and that of their squares.
#[derive(Clone, Copy)]
pub struct Terms<Q> {
    sum: u32,
    squares: Q,
}

impl<Q: Whole> Terms<Q> {
    #[inline(always)]
    fn zero() -> Self {
        Terms { sum: 0, squares: Q::of(0) }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Terms { sum: self.sum.wrapping_add(other.sum), squares: self.squares.plus(other.squares) }
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Terms { sum: self.sum.wrapping_sub(other.sum), squares: self.squares.minus(other.squares) }
    }
}

/// What depends on the width of the sums of squares.
pub trait Squares: Whole {
    /// Words per pair of sums in shared memory.
    const WORDS: u32;
    /// First bit of a rounded number.
    const PLACE: u32;

    /// Returns the sum of the numbers of this lane and of those below.
    fn scan<D: Device>(self, d: D) -> Self;
    /// Stores a pair of sums.
    ///
    /// # Safety
    /// As [`Device::shared_store4`].
    unsafe fn put<D: Device>(d: D, to: Shared<u32>, index: u32, terms: Terms<Self>);
    /// Returns a pair of sums.
    ///
    /// # Safety
    /// As [`Device::shared_load4`].
    unsafe fn get<D: Device>(d: D, from: Shared<u32>, index: u32) -> Terms<Self>;
    /// Returns four sums of a plane of sums in global memory.
    ///
    /// # Safety
    /// They are in the buffer, and for words, the first is at a multiple of 16 bytes.
    unsafe fn four<D: Device>(d: D, from: Global<Self>, index: u64) -> [Self; 4];
    /// Estimates the deviations of four windows: words with the rounded numbers, from bit [`PLACE`](Self::PLACE) on, and
    /// whether all of them are right. If `SMALL`, the variance times the square of the count fits 32 bits.
    fn estimates<D: Device, const SMALL: bool>(
        d: D,
        windows: [Terms<Self>; QUAD],
        p: &PrefixParams,
    ) -> ([u32; QUAD], bool);
}

impl Squares for u32 {
    const WORDS: u32 = 2;
    const PLACE: u32 = 16;

    #[inline(always)]
    fn scan<D: Device>(self, d: D) -> u32 {
        d.scan(self)
    }
    #[inline(always)]
    unsafe fn put<D: Device>(d: D, to: Shared<u32>, index: u32, terms: Terms<u32>) {
        // SAFETY: the caller's promise.
        unsafe { d.shared_store2(to, 2 * index, [terms.sum, terms.squares]) };
    }
    #[inline(always)]
    unsafe fn get<D: Device>(d: D, from: Shared<u32>, index: u32) -> Terms<u32> {
        // SAFETY: the caller's promise.
        let [sum, squares] = unsafe { d.shared_load2(from, 2 * index) };
        Terms { sum, squares }
    }
    #[inline(always)]
    unsafe fn four<D: Device>(d: D, from: Global<u32>, index: u64) -> [u32; 4] {
        // SAFETY: the caller's promise.
        unsafe { d.load_words(from, index) }
    }

    /// The variance times the square of the count has up to 50 bits. Shifted to 32 bits, it tells deviations over 1/3
    /// with an absolute error below 2^-14: they are below 128, and an f32 and its root have a relative error of 2^-22.
    #[inline(always)]
    fn estimates<D: Device, const SMALL: bool>(
        d: D,
        windows: [Terms<u32>; QUAD],
        p: &PrefixParams,
    ) -> ([u32; QUAD], bool) {
        let (mut bits, mut clear) = ([0; QUAD], true);
        for k in 0..QUAD {
            let Terms { sum, squares } = windows[k];
            let variance = if SMALL {
                squares.wrapping_mul(p.count).wrapping_sub(sum.wrapping_mul(sum))
            } else {
                let square = d.multiply_wide(sum as i32, sum as i32) as u64;
                ((squares as u64 * p.count as u64).wrapping_sub(square) >> p.shift) as u32
            };
            // From 128 to 256 an f32 has 16 bits for the fraction, so the rounded deviation is its third byte.
            let fixed = d.fma(d.near_sqrt(variance as f32), p.root, 128.5).to_bits();
            bits[k] = fixed;
            clear &= (fixed << 16).wrapping_add(4 << 16) > 8 << 16;
        }
        (bits, clear)
    }
}

impl Squares for u64 {
    const WORDS: u32 = 4;
    const PLACE: u32 = 0;

    /// Sums of a vector's columns have up to 51 bits: 24 are summed apart from the others.
    #[inline(always)]
    fn scan<D: Device>(self, d: D) -> u64 {
        let [low, high] = [self as u32 & 0xff_ffff, (self >> 24) as u32].map(|part| d.scan(part));
        low as u64 + ((high as u64) << 24)
    }
    #[inline(always)]
    unsafe fn put<D: Device>(d: D, to: Shared<u32>, index: u32, terms: Terms<u64>) {
        let words = [terms.squares as u32, (terms.squares >> 32) as u32, terms.sum, 0];
        // SAFETY: the caller's promise.
        unsafe { d.shared_store4(to, 4 * index, words) };
    }
    #[inline(always)]
    unsafe fn get<D: Device>(d: D, from: Shared<u32>, index: u32) -> Terms<u64> {
        // SAFETY: the caller's promise.
        let [low, high, sum, _] = unsafe { d.shared_load4(from, 4 * index) };
        Terms { sum, squares: low as u64 | (high as u64) << 32 }
    }
    #[inline(always)]
    unsafe fn four<D: Device>(d: D, from: Global<u64>, index: u64) -> [u64; 4] {
        // SAFETY: the caller's promise.
        [0, 1, 2, 3].map(|next| unsafe { d.load(from, index + next) })
    }

    #[inline(always)]
    fn estimates<D: Device, const SMALL: bool>(
        d: D,
        windows: [Terms<u64>; QUAD],
        p: &PrefixParams,
    ) -> ([u32; QUAD], bool) {
        let (mut bits, mut clear) = ([0; QUAD], true);
        for k in 0..QUAD {
            let value = estimate(d, variance(d, numbers(windows[k], p), p.count as f64)) * p.factor;
            let rounded = value + ONES;
            bits[k] = rounded.to_bits() as u32;
            clear &= (value - (rounded - ONES)).abs() < 0.5 - 1.0 / 1_048_576.0;
        }
        (bits, clear)
    }
}

/// Returns the exact sums of a window.
#[inline(always)]
fn numbers<Q: Whole>(window: Terms<Q>, p: &PrefixParams) -> [f64; 2] {
    [Whole::to_f64(window.sum, p.signed != 0), window.squares.to_f64(false)]
}

/// Returns sample `k` of a vector, less 128 for bytes.
#[inline(always)]
fn sample<D: Device, I: Sample>(d: D, vector: Vector, k: usize) -> i32 {
    match I::TYPE {
        ElementType::U8 => byte(d, vector[k / 4], k % 4) as i32 - 128,
        ElementType::I16 => half(vector[k / 2], k % 2) as i16 as i32,
        _ => half(vector[k / 2], k % 2) as i32,
    }
}

#[inline(always)]
fn byte<D: Device>(d: D, word: u32, k: usize) -> u32 {
    match k {
        0 => d.pick::<0x4440>(word, 0),
        1 => d.pick::<0x4441>(word, 0),
        2 => d.pick::<0x4442>(word, 0),
        _ => d.pick::<0x4443>(word, 0),
    }
}

#[inline(always)]
fn half(word: u32, k: usize) -> u16 {
    (word >> (16 * k)) as u16
}

impl<I: Sample, Q: Squares, const W: u32> WindowSums<I, 1, W> for Deviations<Q> {
    type Columns = [Terms<Q>; BYTES];
    type Before = Terms<Q>;
    type Starts = Terms<Q>;
    const SIGNS: u32 = 0;
    const OPAQUE: bool = true;
    const OUTPUTS: u32 = deviations_layout(W, I::TYPE.size_bytes())[1];

    #[inline(always)]
    unsafe fn first<D: Device>(strip: &Strip<D, I, Self, 1, W>, first_row: u32, top: i32) -> Self::Columns {
        let p = strip.p;
        let mut columns = [Terms::zero(); BYTES];
        // SAFETY: the totals have the chunks under the first windows; rows are inside the image, or mapped into it.
        unsafe {
            let chunks = if p.chunks > 0 { p.window_y / WINDOWS_CHUNK } else { 0 };
            for chunk in 0..chunks {
                // Opaque, so that no address is kept in registers from chunk to chunk.
                strip.add_totals(&mut columns, strip.d.anew(first_row / WINDOWS_CHUNK + chunk));
            }
            let done = chunks * WINDOWS_CHUNK;
            strip.first_rows(top + done as i32, p.window_y - done, |rows, count| {
                for n in 0..TOGETHER {
                    if (n as u32) < count {
                        for k in 0..Strip::<D, I, Self, 1, W>::SAMPLES {
                            let value = sample::<D, I>(strip.d, rows[n], k);
                            columns[k] = columns[k].plus(Terms { sum: value as u32, squares: Q::square(value) });
                        }
                    }
                }
            });
        }
        columns
    }

    #[inline(always)]
    unsafe fn slide<D: Device>(
        strip: &Strip<D, I, Self, 1, W>,
        columns: &mut Self::Columns,
        [enters, leaves]: [Vector; 2],
    ) -> Self::Before {
        let d = strip.d;
        let mut total = Terms::zero();
        for k in 0..Strip::<D, I, Self, 1, W>::SAMPLES {
            let [enter, leave] = [enters, leaves].map(|row| sample::<D, I>(d, row, k));
            let more = enter - leave;
            columns[k] = columns[k].plus(Terms { sum: more as u32, squares: Q::product(more, enter + leave) });
            total = total.plus(columns[k]);
        }
        let sums = Terms { sum: d.scan(total.sum), squares: total.squares.scan(d) };
        let thread = strip.thread();
        if W > 1 && thread % WARP == WARP - 1 {
            // SAFETY: only this lane writes the totals of its warp.
            unsafe { Q::put(d, strip.totals(), thread / WARP, sums) };
        }
        sums.minus(total)
    }

    #[inline(always)]
    unsafe fn put_prefixes<D: Device>(
        strip: &Strip<D, I, Self, 1, W>,
        columns: &Self::Columns,
        mut before: Self::Before,
    ) -> Self::Starts {
        let (d, thread) = (strip.d, strip.thread());
        // SAFETY: the totals are complete behind the barrier; only this lane writes the prefix sums of its vector.
        unsafe {
            for warp in 0..W - 1 {
                if warp < thread / WARP {
                    before = before.plus(Q::get(d, strip.totals(), warp));
                }
            }
            let (mut next, to) = (before, strip.prefixes(thread));
            for k in 0..Strip::<D, I, Self, 1, W>::SAMPLES {
                Q::put(d, to, k as u32, next);
                next = next.plus(columns[k]);
            }
        }
        before
    }

    #[inline(always)]
    unsafe fn outputs<D: Device>(
        strip: &Strip<D, I, Self, 1, W>,
        columns: &Self::Columns,
        starts: Self::Starts,
    ) -> Vector {
        let from = strip.prefixes(strip.reader());
        // SAFETY: the windows of a lane with outputs end in the strip, whose prefix sums are complete.
        let (mut outputs, mut doubtful) = unsafe {
            match Q::WORDS == 2 && strip.p.shift == 0 {
                true => strip.estimated::<true>(from, columns, starts),
                false => strip.estimated::<false>(from, columns, starts),
            }
        };
        // Taken by few warps: by one row of bytes in twenty.
        while doubtful != 0 {
            let quad = doubtful.trailing_zeros();
            doubtful &= doubtful - 1;
            // SAFETY: as above.
            let words = strip.packed(unsafe { strip.exact(from, quad * QUAD as u32) });
            outputs = strip.with(outputs, quad, words);
        }
        outputs
    }
}

impl<D: Device, I: Sample, Q: Squares, const W: u32> Strip<'_, D, I, Deviations<Q>, 1, W> {
    /// Returns the totals of the warps.
    #[inline(always)]
    fn totals(&self) -> Shared<u32> {
        Shared::at(deviations_layout(W, Self::SIZE)[0])
    }

    /// Returns the prefix sums of a vector.
    #[inline(always)]
    fn prefixes(&self, vector: u32) -> Shared<u32> {
        Shared::at(vector * Self::PITCH * Q::WORDS * 4)
    }

    /// Returns the estimated outputs of a vector whose prefix sums are at `from`, and a bit for each quad with a doubtful one.
    #[inline(always)]
    unsafe fn estimated<const SMALL: bool>(
        &self,
        from: Shared<u32>,
        columns: &[Terms<Q>; BYTES],
        mut start: Terms<Q>,
    ) -> (Vector, u32) {
        let (mut outputs, mut doubtful) = ([0; WORDS], 0);
        for quad in 0..Self::SAMPLES / QUAD {
            let mut windows = [Terms::zero(); QUAD];
            for n in 0..QUAD {
                let k = QUAD * quad + n;
                // SAFETY: the caller's promise.
                windows[n] = unsafe { self.at_end(from, k as u32) }.minus(start);
                start = start.plus(columns[k]);
            }
            let (bits, clear) = Q::estimates::<D, SMALL>(self.d, windows, self.p);
            outputs = self.with(outputs, quad as u32, self.packed(bits));
            doubtful |= if clear { 0 } else { 1 << quad };
        }
        (outputs, doubtful)
    }

    /// Returns the prefix sums at the end of the window that starts at sample `k` of the vector whose prefix sums are at
    /// `from`.
    #[inline(always)]
    unsafe fn at_end(&self, from: Shared<u32>, k: u32) -> Terms<Q> {
        let end = k + self.p.window_x;
        // SAFETY: the caller's promise.
        unsafe { Q::get(self.d, from, end + end / Self::SAMPLES as u32) }
    }

    /// Returns words with four rounded deviations, as [`Squares::estimates`], of the windows that start at samples `first` to `first + 3` of the
    /// vector whose prefix sums are at `from`. The loop is not unrolled, since the code is long.
    #[inline(always)]
    unsafe fn exact(&self, from: Shared<u32>, first: u32) -> [u32; QUAD] {
        let (d, p, mut bits, mut n) = (self.d, self.p, [0; QUAD], 0);
        while n < QUAD as u32 {
            // Opaque, so that no iteration is peeled off.
            let k = first + d.anew(n);
            // SAFETY: the caller's promise.
            let window = unsafe { self.at_end(from, k).minus(Q::get(d, from, k)) };
            let rounded = (deviation(d, numbers(window, p), [p.window_x, p.window_y]) + ONES).to_bits() << Q::PLACE;
            bits = [bits[1], bits[2], bits[3], rounded as u32];
            n += 1;
        }
        bits
    }

    /// Packs four outputs: into one word, or into two.
    #[inline(always)]
    fn packed(&self, bits: [u32; QUAD]) -> [u32; 2] {
        let d = self.d;
        // 32767.5 is rounded to 32768.
        let bits = if I::TYPE == ElementType::I16 {
            bits.map(|bits| if bits as u16 > 32767 { 32767 } else { bits })
        } else {
            bits
        };
        if Self::SIZE == 1 {
            let pair = |n: usize| d.pick::<0x0062>(bits[n], bits[n + 1]);
            return [d.pick::<0x5410>(pair(0), pair(2)), 0];
        }
        [0, 2].map(|n| d.pick::<0x5410>(bits[n], bits[n + 1]))
    }

    /// Returns a vector with the words of one of its quads replaced.
    #[inline(always)]
    fn with(&self, mut vector: Vector, quad: u32, words: [u32; 2]) -> Vector {
        let per_quad = Self::SIZE as usize;
        for k in 0..WORDS {
            vector[k] = if (k / per_quad) as u32 == quad { words[k % per_quad] } else { vector[k] };
        }
        vector
    }

    /// Adds the sums of a chunk of rows, from the planes of [`Totals`](crate::windows::Totals).
    #[inline(always)]
    unsafe fn add_totals(&self, columns: &mut [Terms<Q>; BYTES], chunk: u32) {
        let (d, p, place) = (self.d, self.p, self.place);
        let planes = Global::<Q>::at(p.totals).of_image(d.image(), p.totals_step);
        let first = place.pixel as u64;
        let rows = [chunk, chunk + p.chunks].map(|row| row as u64 * p.totals_pitch as u64 + first);
        // SAFETY: the caller's promise.
        unsafe {
            if self.plain && p.totals_pitch.is_multiple_of(QUAD as u32) {
                for k in 0..Self::SAMPLES / QUAD {
                    let [sums, squares] = rows.map(|row| Q::four(d, planes, row + (QUAD * k) as u64));
                    for n in 0..QUAD {
                        let more = Terms { sum: sums[n].low(), squares: squares[n] };
                        columns[QUAD * k + n] = columns[QUAD * k + n].plus(more);
                    }
                }
                return;
            }
            let constant = sample::<D, I>(d, [p.constant; WORDS], 0);
            let outside = Terms {
                sum: (constant as u32).wrapping_mul(WINDOWS_CHUNK),
                squares: Q::square(constant).times(WINDOWS_CHUNK),
            };
            for k in 0..Self::SAMPLES {
                let pixel = if place.alike { 0 } else { k };
                let sample = (if place.backward { Self::SAMPLES - 1 - pixel } else { pixel }) as u64;
                let more = match place.constant {
                    true => outside,
                    false => {
                        Terms { sum: d.load(planes, rows[0] + sample).low(), squares: d.load(planes, rows[1] + sample) }
                    }
                };
                columns[k] = columns[k].plus(more);
            }
        }
    }
}
