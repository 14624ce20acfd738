//! Means of bytes: window sums as differences of prefix sums along the rows.
//!
//! A block is one warp. Each lane owns a vector of 16 adjacent samples of a strip, and keeps the sums of their columns
//! over the height of the window in registers:
//!
//! ```text
//! columns:  each lane adds the row that enters the windows to its column sums, and subtracts the row that leaves
//! prefix:   a scan over the lanes, then one addition per sample; the prefix sums go to shared memory
//! barrier
//! windows:  the prefix sum where a window ends, from shared memory, less the one where it starts, which the lane has
//!           in a register; one multiplication makes the difference a mean
//! store:    the means are kept in shared memory until after the next row's barrier, then stored as 32-bit words
//! ```
//!
//! Windows start at any sample, and means are stored at any address, so some accesses must cross the vectors of lanes:
//! the reads at the windows' ends and the stores do, through shared memory; the loads do not.
//!
//! The border maps a vector outside the image to one inside, in the same or the opposite order of samples, or to copies
//! of one sample or of the constant. Vectors are aligned so that no edge of the image divides one.
//!
//! All sums are modulo 2^32. Per sample: two global loads of a byte; two accesses to shared memory of a word, for its
//! prefix sum and its window's end, and three of a byte, for its mean.
//!
//! Launch contract: the buffers are as large as the parameters say, the shared memory has
//! [`apron_abi::PREFIX_BYTES`], the parameters are as the plan computes them, and a row of the image has at least two
//! vectors more than a row of a window.

use crate::device::{Device, Global, Shared};
use crate::samples::WARP;
use crate::Body;
use apron_abi::{BorderMode, PrefixParams, PREFIX_VECTOR};

/// The kernel, for images of one channel.
pub struct Prefix;

/// Samples per vector.
const VECTOR: usize = PREFIX_VECTOR as usize;
/// Words per vector.
const WORDS: usize = VECTOR / 4;
/// Rows that are loaded together for the first windows.
const TOGETHER: usize = 4;
/// Stands for a row of the constant.
const NONE: u32 = u32::MAX;

/// The 16 samples of a vector, packed.
type Vector = [u32; WORDS];

/// Selectors of [`Device::pick_at`], for a word given twice: its bytes in order; in the opposite order; its first byte
/// four times (by its number in the second word, since selector 0 stands for the constant); its last byte four times.
const FORWARD: u32 = 0x3210;
const BACKWARD: u32 = 0x0123;
const FIRST: u32 = 0x4444;
const LAST: u32 = 0x3333;

impl Body for Prefix {
    type Src = u8;
    type Dst = u8;
    type Params = PrefixParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u8>, p: &PrefixParams) {
        // A row at the left or right edge of the image takes longer, so two blocks share the rows of each strip there.
        // Blocks with numbers above those of the strips have the second halves.
        let [before, behind] = p.edges;
        let index = d.block_x();
        let strip = match index {
            _ if index < p.strips => index,
            _ if index < p.strips + before => index - p.strips,
            _ => index - before - behind,
        };
        let rows = if strip < before || strip >= p.strips - behind { p.rows / 2 } else { p.rows };
        let first_row = d.block_y() * p.rows + if index < p.strips { 0 } else { rows };
        // A grid may have more rows of blocks than its launch needs.
        if first_row >= p.out_height {
            return;
        }
        let last_row = if p.out_height - first_row < rows { p.out_height } else { first_row + rows };
        let first = strip * p.outputs;
        let outputs = if p.out_width - first < p.outputs { p.out_width - first } else { p.outputs };
        let (start, width, vector) = (first as i32 + p.origin_x, p.width as i32, VECTOR as i32);
        // Vectors begin at multiples of their length; in a strip that could contain the right edge, at multiples of
        // their length before that edge.
        let has_right = start + (outputs + p.window_x) as i32 + vector > width;
        let left = if has_right { width - (width - start + vector - 1) / vector * vector } else { start & -vector };
        let column = left + (d.thread_x() * PREFIX_VECTOR) as i32;
        let border = BorderMode::from_u32(p.border);
        let is_needed = column < start + (outputs + p.window_x) as i32;
        let place = if is_needed { Place::of(column, width, border) } else { Place::CONSTANT };
        let inside = left >= 0 && left + (WARP * PREFIX_VECTOR) as i32 <= width;
        let aligned = (src.address as u32 | p.row_stride | left as u32).is_multiple_of(PREFIX_VECTOR);
        let (plain, lead) = (inside && aligned, (start - left) as u32);
        let strip = Strip::<D> { d, p, src, dst, first, outputs, lead, place, border, plain };
        // SAFETY: the launch keeps the contract; barriers separate the writes of lanes to shared memory from the reads
        // of others.
        unsafe { strip.march(first_row, last_row) };
    }
}

/// Where the border map finds the samples of a vector in a row of the image.
#[derive(Clone, Copy)]
struct Place {
    /// The first sample of the vector of the image that is loaded.
    sample: u32,
    /// Whether its words come in the opposite order.
    backward: bool,
    /// Whether all words are copies of the first one, in this order.
    alike: bool,
    /// The selector of each word's bytes; 0 if the samples are the constant.
    bytes: u32,
}

impl Place {
    const CONSTANT: Place = Place { sample: 0, backward: false, alike: false, bytes: 0 };

    /// Returns the place of the vector that begins at sample `column` of rows of `width` samples. The vector lies
    /// entirely inside or entirely outside the row.
    #[inline(always)]
    fn of(column: i32, width: i32, border: BorderMode) -> Place {
        let (vector, is_left) = (VECTOR as i32, column < 0);
        let of = |sample: i32, bytes| Place { sample: sample as u32, backward: false, alike: false, bytes };
        if !is_left && column < width {
            return of(column, FORWARD);
        }
        let mirrored = |sample: i32| Place { backward: true, ..of(sample - vector, BACKWARD) };
        match border {
            BorderMode::Constant => Place::CONSTANT,
            BorderMode::Replicate if is_left => Place { alike: true, ..of(0, FIRST) },
            BorderMode::Replicate => Place { backward: true, alike: true, ..of(width - vector, LAST) },
            BorderMode::Reflect if is_left => mirrored(-column),
            BorderMode::Reflect => mirrored(2 * width - column),
            BorderMode::Reflect101 if is_left => mirrored(1 - column),
            BorderMode::Reflect101 => mirrored(2 * width - 1 - column),
            BorderMode::Wrap if is_left => of(column + width, FORWARD),
            BorderMode::Wrap => of(column - width, FORWARD),
        }
    }
}

/// A vector as it was loaded: the aligned words that contain its samples, and the number of bytes before the first
/// sample in the first word.
#[derive(Clone, Copy)]
struct Loaded {
    words: [u32; WORDS + 1],
    before: u32,
}

impl Loaded {
    const ZEROS: Loaded = Loaded { words: [0; WORDS + 1], before: 0 };
}

struct Strip<'p, D> {
    d: D,
    p: &'p PrefixParams,
    src: Global<u8>,
    dst: Global<u8>,
    /// First output sample of the strip in a row, and number of output samples.
    first: u32,
    outputs: u32,
    /// Samples before the first window in lane 0's vectors.
    lead: u32,
    /// Place of this lane's vectors in the image's rows.
    place: Place,
    border: BorderMode,
    /// Whether all vectors of the strip lie in the image, at addresses that are multiples of [`VECTOR`].
    plain: bool,
}

/// A sum for each sample of a vector.
type Sums = [u32; VECTOR];

impl<D: Device> Strip<'_, D> {
    /// Pitch of the lanes' prefix sums, in words: odd, against bank conflicts.
    const PITCH: u32 = PREFIX_VECTOR + 1;
    /// Offset of the means of a row in shared memory, in bytes: behind its prefix sums and room for one vector.
    const MEANS: u32 = Self::PITCH * WARP * 4 + PREFIX_VECTOR;

    /// Computes output rows `first_row` to `last_row - 1`.
    #[inline(always)]
    unsafe fn march(&self, first_row: u32, last_row: u32) {
        let (d, p) = (self.d, self.p);
        // Sums start one row above the first window, so that each output row slides them.
        let (mut row, mut top) = (first_row, first_row as i32 + p.origin_y - 1);
        // SAFETY: the caller's promise.
        unsafe {
            let mut columns = self.first_sums(top);
            // The word before the means is read where an output row begins in the middle of a word.
            if d.thread_x() == 0 {
                d.shared_store(Shared::at(Self::MEANS - 4), 0, 0u32);
            }
            let mut total = 0u32;
            for k in 0..VECTOR {
                total = total.wrapping_add(columns[k]);
            }
            let (mut enters, mut leaves) = (Loaded::ZEROS, Loaded::ZEROS);
            // The first rows are loaded before there is anything to compute.
            while row <= last_row {
                let (entered, left) = (enters, leaves);
                enters = self.load(self.mapped(top + p.window_y as i32));
                leaves = self.load(self.mapped(top));
                top += 1;
                if row > first_row {
                    self.slide(&mut columns, &mut total, self.vector(entered), self.vector(left));
                    let prefixes = self.put_prefixes(&columns, self.before(total));
                    d.barrier();
                    let means = self.means(&prefixes);
                    if row > first_row + 1 {
                        self.store(row - 2);
                    }
                    d.barrier();
                    self.put_means(means);
                }
                row += 1;
            }
            d.barrier();
            self.store(last_row - 1);
        }
    }

    /// Returns the image row that replaces row `y`; [`NONE`] for the constant.
    #[inline(always)]
    fn mapped(&self, y: i32) -> u32 {
        if (y as u32) < self.p.height {
            return y as u32;
        }
        // Opaque, so that values that the map derives from the height are not kept in registers from row to row.
        let height = self.d.anew(self.p.height) as i32;
        self.border.map(y, height).map_or(NONE, |y| y as u32)
    }

    /// Loads this lane's samples of row `y` of the image, or of a row of the constant.
    #[inline(always)]
    unsafe fn load(&self, y: u32) -> Loaded {
        if y == NONE {
            return Loaded { words: [self.constant(); WORDS + 1], before: 0 };
        }
        let address = self.src.address + y as u64 * self.p.row_stride as u64 + self.place.sample as u64;
        // SAFETY: in the image.
        unsafe {
            if self.plain {
                let [a, b, c, e] = self.d.load_words(Global::at(address), 0);
                Loaded { words: [a, b, c, e, 0], before: 0 }
            } else {
                self.load_any(address)
            }
        }
    }

    /// Loads the words that contain the vector at an address.
    #[inline(always)]
    unsafe fn load_any(&self, address: u64) -> Loaded {
        let (d, from, before) = (self.d, Global::<u32>::at(address & !3), address as u32 % 4);
        let mut words = [0; WORDS + 1];
        // SAFETY: the words are in the row, except for the start of the first, which is in the memory before the row.
        unsafe {
            for k in 0..WORDS {
                words[k] = d.load(from, k as u64);
            }
            // The last word may have bytes behind the image.
            for k in 0..3 {
                if k < before {
                    let byte: u8 = d.load(Global::at(from.address), (VECTOR as u32 + k) as u64);
                    words[WORDS] |= (byte as u32) << (8 * k);
                }
            }
        }
        Loaded { words, before }
    }

    /// Returns the constant in each byte of a word.
    #[inline(always)]
    fn constant(&self) -> u32 {
        self.p.constant * 0x0101_0101
    }

    /// Returns the samples of this lane's vector.
    #[inline(always)]
    fn vector(&self, Loaded { words, before }: Loaded) -> Vector {
        let (place, mut vector) = (self.place, [0; WORDS]);
        for k in 0..WORDS {
            vector[k] = words[k];
        }
        if self.plain {
            return vector;
        }
        for k in 0..WORDS {
            vector[k] = ((words[k] as u64 | (words[k + 1] as u64) << 32) >> (before * 8)) as u32;
        }
        let ordered = |k: usize| if place.backward { vector[WORDS - 1 - k] } else { vector[k] };
        let mut picked = [0; WORDS];
        for k in 0..WORDS {
            let word = if place.alike { ordered(0) } else { ordered(k) };
            picked[k] = if place.bytes == 0 { self.constant() } else { self.d.pick_at(word, word, place.bytes) };
        }
        picked
    }

    /// Returns the column sums of the `window_y` rows from `top` on: the sums for the output row above the block's
    /// first.
    #[inline(always)]
    unsafe fn first_sums(&self, top: i32) -> Sums {
        let (d, count) = (self.d, self.p.window_y);
        let (mut columns, mut next, mut map) = ([0; VECTOR], 0, 0);
        while next < count {
            if next % WARP == 0 {
                // Each lane maps one of the next 32 rows.
                map = self.mapped(top + (next + d.thread_x()) as i32);
            }
            let mut loaded = [Loaded::ZEROS; TOGETHER];
            for n in 0..TOGETHER {
                let row = next + n as u32;
                let y = d.shuffle(map, row % WARP);
                if row < count {
                    // SAFETY: the caller's promise.
                    loaded[n] = unsafe { self.load(y) };
                }
            }
            let mut rows = [[0; WORDS]; TOGETHER];
            for n in 0..TOGETHER {
                if next + (n as u32) < count {
                    rows[n] = self.vector(loaded[n]);
                }
            }
            for k in 0..WORDS {
                let word = |row: usize| rows[row][k];
                // Bytes 0 and 1 of two rows, and bytes 2 and 3.
                let low = [d.pick::<0x5140>(word(0), word(1)), d.pick::<0x5140>(word(2), word(3))];
                let high = [d.pick::<0x7362>(word(0), word(1)), d.pick::<0x7362>(word(2), word(3))];
                let of_columns = [
                    d.pick::<0x5410>(low[0], low[1]),
                    d.pick::<0x7632>(low[0], low[1]),
                    d.pick::<0x5410>(high[0], high[1]),
                    d.pick::<0x7632>(high[0], high[1]),
                ];
                for n in 0..4 {
                    columns[4 * k + n] = d.dot_bytes(of_columns[n], 0x0101_0101, columns[4 * k + n]);
                }
            }
            next += TOGETHER as u32;
        }
        columns
    }

    /// Adds the row that enters the windows to the column sums and to their total; subtracts the row that leaves.
    #[inline(always)]
    fn slide(&self, columns: &mut Sums, total: &mut u32, enters: Vector, leaves: Vector) {
        let d = self.d;
        for k in 0..WORDS {
            let (enter, leave) = (enters[k], leaves[k]);
            // Bytes 0 and 1 of both rows, and bytes 2 and 3.
            let pairs = [d.pick::<0x5140>(enter, leave), d.pick::<0x7362>(enter, leave)];
            for n in 0..4 {
                let signs = if n % 2 == 0 { 0x0000_ff01 } else { 0xff01_0000 };
                columns[4 * k + n] = d.dot_bytes(pairs[n / 2], signs, columns[4 * k + n]);
            }
            *total = d.dot_bytes(enter, 0x0101_0101, *total);
            *total = d.dot_bytes(leave, 0xffff_ffff, *total);
        }
    }

    /// Returns the sum of the totals of the lanes below.
    #[inline(always)]
    fn before(&self, total: u32) -> u32 {
        let (d, lane) = (self.d, self.d.thread_x());
        let (mut sum, mut lanes) = (total, 1);
        while lanes < WARP {
            let lower = d.shuffle_up(sum, lanes);
            sum = sum.wrapping_add(if lane >= lanes { lower } else { 0 });
            lanes *= 2;
        }
        sum.wrapping_sub(total)
    }

    /// Stores and returns the prefix sum before each of this lane's samples; `before` is that of the first.
    #[inline(always)]
    unsafe fn put_prefixes(&self, columns: &Sums, before: u32) -> Sums {
        let to = Shared::at(self.d.thread_x() * Self::PITCH * 4);
        let (mut prefixes, mut prefix) = ([0; VECTOR], before);
        for k in 0..VECTOR {
            // SAFETY: only this lane writes the `PITCH` words from its first on.
            unsafe { self.d.shared_store(to, k as u32, prefix) };
            prefixes[k] = prefix;
            prefix = prefix.wrapping_add(columns[k]);
        }
        prefixes
    }

    /// Returns the means of the windows that start at this lane's samples.
    #[inline(always)]
    unsafe fn means(&self, prefixes: &Sums) -> Vector {
        let (d, p, lane) = (self.d, self.p, self.d.thread_x());
        // Lanes without windows compute those of lane 0 again, so that all ends are in the strip.
        let reader = if lane * PREFIX_VECTOR < self.lead + self.outputs { lane } else { 0 };
        let from = Shared::<u32>::at(reader * Self::PITCH * 4);
        let mut means = [0; WORDS];
        for k in 0..WORDS {
            let mut products = [0u32; 4];
            for n in 0..4 {
                let column = 4 * k + n;
                let end = column as u32 + p.window_x;
                // SAFETY: the windows of a lane with outputs end in the strip, whose prefix sums are complete.
                let sum = unsafe { d.shared_load(from, end + end / PREFIX_VECTOR) };
                let sum = sum.wrapping_sub(prefixes[column]).wrapping_add(p.bias);
                products[n] = ((sum as u64 * p.multiplier as u64) >> 32) as u32;
            }
            let pair = |n: usize| d.pick_at(products[n], products[n + 1], p.bytes);
            means[k] = d.pick::<0x5410>(pair(0), pair(2));
        }
        means
    }

    /// Puts this lane's means into shared memory.
    #[inline(always)]
    unsafe fn put_means(&self, means: Vector) {
        let to = Shared::at(Self::MEANS + self.d.thread_x() * PREFIX_VECTOR);
        // SAFETY: only this lane writes its 16 bytes of the means.
        unsafe { self.d.shared_store4(to, 0, means) };
    }

    /// Stores the means of row `row` of the output, by aligned words.
    #[inline(always)]
    unsafe fn store(&self, row: u32) {
        let (d, p, outputs) = (self.d, self.p, self.outputs);
        let start = self.dst.address + self.first as u64;
        // SAFETY: the words read are means of this row, or in the room for a vector before them; each output word is
        // stored by one lane.
        unsafe {
            if (start as u32 | p.out_width | outputs).is_multiple_of(4) {
                let from = Self::MEANS + self.lead;
                let (from, shift) = (Shared::at((from & !3) + d.thread_x() * 4), from % 4 * 8);
                let to = Global::<u32>::at(start + row as u64 * p.out_width as u64 + d.thread_x() as u64 * 4);
                for n in 0..WORDS as u32 {
                    if d.thread_x() * 4 < outputs.wrapping_sub(n * WARP * 4) && outputs > n * WARP * 4 {
                        d.store(to, (n * WARP) as u64, self.four(from, n * WARP, shift));
                    }
                }
            } else {
                self.store_unaligned(start + row as u64 * p.out_width as u64);
            }
        }
    }

    /// Stores the means of a row at any address: as words, and the bytes at both ends one by one.
    #[inline(always)]
    unsafe fn store_unaligned(&self, address: u64) {
        let (d, outputs) = (self.d, self.outputs);
        // Bytes of the first word before the first output.
        let before = address as u32 % 4;
        let to = Global::<u32>::at(address - before as u64);
        let from = Self::MEANS + self.lead - before;
        let (from, shift) = (Shared::at(from & !3), from % 4 * 8);
        let mut word = d.thread_x();
        while word * 4 < before + outputs {
            // SAFETY: as in [`store`](Self::store).
            unsafe {
                let bytes = self.four(from, word, shift);
                if word * 4 >= before && word * 4 + 4 <= before + outputs {
                    d.store(to, word as u64, bytes);
                } else {
                    for k in 0..4 {
                        let byte = word * 4 + k;
                        if byte >= before && byte < before + outputs {
                            d.store(Global::<u8>::at(to.address), byte as u64, (bytes >> (8 * k)) as u8);
                        }
                    }
                }
            }
            word += WARP;
        }
    }

    /// Returns the four bytes of shared memory that start `shift` bits into word `word`.
    #[inline(always)]
    unsafe fn four(&self, from: Shared<u32>, word: u32, shift: u32) -> u32 {
        // SAFETY: the caller's promise.
        let [low, high] = [0, 1].map(|next| unsafe { self.d.shared_load(from, word + next) } as u64);
        ((low | high << 32) >> shift) as u32
    }
}
