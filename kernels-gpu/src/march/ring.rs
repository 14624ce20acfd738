//! The ring of a strip's input rows in shared memory.

use super::WINDOW;
use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, Samples};
use apron_abi::{
    march_lead, march_piece, march_samples, march_spare, march_stages, Accumulator, BorderMode, Element, MarchParams,
    MARCH_AHEAD as AHEAD, MARCH_BLOCK, MARCH_ROWS,
};
use core::marker::PhantomData;

/// The ring and a thread's part in filling it. Stages hold 32-bit words.
///
/// Rows of whole `PIECES` of 16 bytes are filled by bulk asynchronous copies, others by threads. A stage holds the
/// words of the buffer: a row that starts inside a word starts at the same bit of a word in its stage.
pub(crate) struct Ring<'p, D, S, const P: usize, const K: usize, const C: usize, const PIECES: bool> {
    pub(super) d: D,
    pub(super) p: &'p MarchParams,
    src: Global<u32>,
    samples: PhantomData<S>,
    input_rows: u32,
    /// Number of samples of the strip left of the image; first image sample under the strip; number of samples inside
    /// the image; number of samples right of the image.
    before: u32,
    begin: u32,
    inside: u32,
    behind: u32,
    /// For one sample per word: the sample outside the image that this thread fills in, or [`NONE`]; and the sample of
    /// the image's row that replaces it, or [`NONE`] for the constant.
    beside: u32,
    column: u32,
    /// The thread whose window this thread reads: its own number, or if it has no output, that of the last thread with
    /// an output.
    seer: u32,
    /// Whether every word of every row is copied from the image, as in most blocks; never with a constant border.
    plain: bool,
    /// Whether this thread takes part in copying rows.
    busy: bool,
}

/// Stands for no word, no sample, no row.
const NONE: u32 = u32::MAX;

impl<'p, D: Device, S: Samples, const P: usize, const K: usize, const C: usize, const PIECES: bool>
    Ring<'p, D, S, P, K, C, PIECES>
{
    /// Words per row in shared memory.
    const WORDS: u32 = march_samples(S::Element::TYPE, P as u32, K as u32, C as u32) / S::OF_WORD;
    /// Number of stages of the ring; a stage holds one row.
    const STAGES: u32 = march_stages(S::Element::TYPE, S::SUMS, K as u32);
    /// Samples of the strip before the first one that an output needs.
    const LEAD: u32 = march_lead(S::Element::TYPE, K as u32, C as u32);
    /// Samples that an output needs in addition to its own.
    const HALO: u32 = ((K - 1) * C) as u32;

    /// Initializes the mbarriers, and maps the rows and samples outside the image.
    ///
    /// # Safety
    /// As for all methods: the launch is as [`march`](super) says.
    #[inline(always)]
    pub(crate) unsafe fn start(
        d: D,
        src: Global<S::Element>,
        p: &'p MarchParams,
        strip_left: i32,
        top: i32,
        input_rows: u32,
    ) -> Self {
        let border = BorderMode::from_u32(p.border);
        // Samples that threads with outputs need, and the part of these samples inside the image.
        let outputs = p.out_samples as i32 - (strip_left - p.left) - p.first;
        let threads = (outputs as u32).div_ceil(P as u32);
        let needed = (Self::LEAD + threads * P as u32 + Self::HALO).next_multiple_of(march_piece(S::Element::TYPE));
        let row = Self::WORDS * S::OF_WORD - march_spare(S::Element::TYPE);
        let needed = strip_left + if needed < row { needed } else { row } as i32;
        let clamp = |column: i32| {
            if column < 0 {
                0
            } else if column > p.samples as i32 {
                p.samples as i32
            } else {
                column
            }
        };
        let (begin, end) = (clamp(strip_left), clamp(needed));
        let (before, inside, behind) = ((begin - strip_left) as u32, (end - begin) as u32, (needed - end) as u32);
        // The sample of an image row that replaces a sample outside.
        let source = |beside: u32| {
            let at = strip_left + (if beside < before { beside } else { beside + inside }) as i32;
            let pixel = at.div_euclid(C as i32);
            let mapped = border.map(pixel, p.samples as i32 / C as i32);
            mapped.map_or(NONE, |mapped| (mapped * C as i32 + at - pixel * C as i32) as u32)
        };
        let thread = d.thread_x();
        let (mut beside, mut column) = (NONE, NONE);
        if S::OF_WORD == 1 && thread < before + behind {
            beside = if thread < before { thread } else { thread + inside };
            column = source(thread);
        }
        // SAFETY: the launch's shared memory has room for the mbarriers and both lists; each element is written by one
        // thread, and read after the barrier.
        unsafe {
            if S::OF_WORD > 1 {
                let mut sample = thread;
                while sample < before + behind {
                    d.shared_store(Self::SOURCES, sample, source(sample));
                    sample += MARCH_BLOCK;
                }
            }
            if thread == 0 {
                for stage in 0..Self::STAGES {
                    d.mbarrier_init(Self::mbarrier(stage));
                }
            }
            let mut row = thread;
            while row < input_rows {
                let mapped = border.map(top + row as i32, p.height as i32);
                d.shared_store(Self::LIST, row, mapped.map_or(NONE, |mapped| mapped as u32));
                row += MARCH_BLOCK;
            }
            d.barrier();
        }
        // The last word of a row may be partly outside the row.
        let words = before + behind == 0 && (S::OF_WORD == 1 || PIECES || needed < p.samples as i32);
        let plain = words && p.border != BorderMode::Constant as u32;
        let busy = !plain || !PIECES || thread == 0;
        let seer = if thread < threads { thread } else { threads - 1 };
        let (src, begin) = (Global::at(src.address), begin as u32);
        let samples = PhantomData;
        Ring { d, p, src, samples, input_rows, before, begin, inside, behind, beside, column, seer, plain, busy }
    }

    /// Returns the stage of row `row`.
    #[inline(always)]
    fn stage(row: u32) -> Shared<u32> {
        Shared::at(row % Self::STAGES * Self::WORDS * 4)
    }

    /// Returns the mbarrier whose phase completes when a row is in its stage.
    #[inline(always)]
    fn mbarrier(row: u32) -> Shared<u64> {
        Shared::at(Self::STAGES * Self::WORDS * 4 + row % Self::STAGES * 8)
    }

    /// The image row that replaces each row of the strip, or [`NONE`].
    const LIST: Shared<u32> = Shared::at(Self::STAGES * (Self::WORDS * 4 + 8));

    /// The samples of an image row that replace the samples outside the image, or [`NONE`]; for packed samples only.
    const SOURCES: Shared<u32> = Shared::at(Self::LIST.offset + MARCH_ROWS * 4);

    /// Returns the index of the first sample of the image row that replaces a row of the strip.
    #[inline(always)]
    unsafe fn image_row(&self, row: u32) -> Option<u64> {
        // SAFETY: the list has all input rows, and is complete since the barrier in `start`.
        match unsafe { self.d.shared_load(Self::LIST, row) } {
            NONE => None,
            mapped => Some(mapped as u64 * self.p.row_stride as u64),
        }
    }

    /// Returns the number of samples between the start of a row's stage and the row's first sample.
    #[inline(always)]
    unsafe fn shift(&self, row: u32) -> u32 {
        if S::OF_WORD == 1 || PIECES {
            return 0;
        }
        // SAFETY: as above. The shift of a row of constants is arbitrary.
        unsafe { self.d.shared_load(Self::LIST, row).wrapping_mul(self.p.row_stride) % S::OF_WORD }
    }

    /// Returns the number of whole words in the buffer: the last word of the image may end after the buffer.
    #[inline(always)]
    fn whole_words(&self) -> u64 {
        let last = (self.p.height - 1) as u64 * self.p.row_stride as u64;
        (last + self.p.samples as u64) / S::OF_WORD as u64
    }

    /// Starts copying a row into its stage, if `row` is below the number of input rows.
    #[inline(always)]
    pub(crate) unsafe fn bring(&self, row: u32) {
        if !self.busy {
            return;
        }
        // SAFETY: no thread reads the row's stage before the next barrier, by the order of the march.
        unsafe {
            if self.plain && PIECES {
                if row < self.input_rows {
                    self.copy(row, self.image_row(row).unwrap_or(0));
                }
            } else {
                if row < self.input_rows {
                    self.bring_some(row);
                }
                if S::OF_WORD == 1 || !PIECES {
                    self.d.end_copies();
                }
            }
        }
    }

    /// Starts the bulk asynchronous copy of a row's samples inside the image.
    #[inline(always)]
    unsafe fn copy(&self, row: u32, start: u64) {
        let to = Shared::at(Self::stage(row).offset + self.before / S::OF_WORD * 4);
        let (from, count) = ((start + self.begin as u64) / S::OF_WORD as u64, self.inside / S::OF_WORD);
        // SAFETY: the source is in the image's row, the destination in the stage, which no thread reads before the next
        // barrier; both start and end at multiples of 16 bytes.
        unsafe { self.d.bulk_copy(to, self.src, from, count, Self::mbarrier(row)) };
    }

    /// Starts copying a row that a single bulk copy does not fill; packed samples outside the image are left to
    /// [`complete`](Ring::complete).
    #[inline(always)]
    unsafe fn bring_some(&self, row: u32) {
        let (d, stage) = (self.d, Self::stage(row));
        // Recomputed, to save registers, as in `complete_words`.
        let (thread, before) = (d.anew(d.thread_x()), d.anew(self.before));
        let constant = S::constant(self.p.constant);
        // SAFETY: words of the stage, which no thread reads before the next barrier; words and samples of the buffer.
        unsafe {
            let (first, inside) = (before / S::OF_WORD, d.anew(self.inside));
            let words = (inside + self.shift(row)).div_ceil(S::OF_WORD);
            match self.image_row(row) {
                Some(start) if PIECES && words > 0 => {
                    if thread == 0 {
                        self.copy(row, start);
                    }
                }
                Some(start) if !PIECES => {
                    let from = (start + self.begin as u64) / S::OF_WORD as u64;
                    let mut word = thread;
                    while word < words {
                        if S::OF_WORD == 1 || from + (word as u64) < self.whole_words() {
                            d.start_copy(stage, first + word, self.src, from + word as u64);
                        }
                        word += MARCH_BLOCK;
                    }
                }
                _ => {
                    // A row of constants, or one without samples inside the image.
                    let mut word = thread;
                    while word < words {
                        d.shared_store(stage, first + word, constant);
                        word += MARCH_BLOCK;
                    }
                    if PIECES && thread == 0 {
                        d.mbarrier_arrive(Self::mbarrier(row));
                    }
                }
            }
            if S::OF_WORD == 1 && self.beside != NONE {
                match self.image_row(row) {
                    Some(start) if self.column != NONE => {
                        d.start_copy(stage, self.beside, self.src, start + self.column as u64);
                    }
                    _ => d.shared_store(stage, self.beside, constant),
                }
            }
        }
    }

    /// Waits until [`complete`](Ring::complete) may read row 0.
    #[inline(always)]
    pub(crate) unsafe fn wait_for_first(&self) {
        if S::OF_WORD > 1 && !PIECES {
            self.d.wait_copies::<{ AHEAD - 1 }>();
            self.d.barrier();
        }
    }

    /// Fills in a row's packed samples outside the image, if `row` is below the number of input rows. Their sources may
    /// be anywhere in the image's row; most of them are in the stage.
    #[inline(always)]
    pub(crate) unsafe fn complete(&self, row: u32) {
        if S::OF_WORD == 1 || self.plain || row >= self.input_rows {
            return;
        }
        // SAFETY: the row's words are complete since the last barrier, or `complete_words` waits for the bulk copy.
        unsafe {
            if PIECES {
                self.complete_words(row);
            } else {
                self.complete_samples(row);
            }
        }
    }

    /// As `complete`, if every word is either inside or outside the image.
    #[inline(always)]
    unsafe fn complete_words(&self, row: u32) {
        let d = self.d;
        // Recomputed, so that values derived from it are not kept in registers from row to row.
        let (thread, before) = (d.anew(d.thread_x()), self.before / S::OF_WORD);
        if thread >= before + self.behind / S::OF_WORD {
            return;
        }
        let word = if thread < before { thread } else { thread + self.inside / S::OF_WORD };
        let mut samples = S::constant(self.p.constant);
        // SAFETY: this thread's word is in the stage, and no thread reads it before the next barrier; its sources are
        // in the image's row.
        unsafe {
            d.mbarrier_wait(Self::mbarrier(row), row / Self::STAGES);
            if let Some(start) = self.image_row(row) {
                let sources = if S::OF_WORD == 4 {
                    d.shared_load4(Self::SOURCES, thread * 4)
                } else {
                    let [first, second] = d.shared_load2(Self::SOURCES, thread * 2);
                    [first, second, NONE, NONE]
                };
                for k in 0..S::OF_WORD {
                    let column = sources[k as usize];
                    if column != NONE {
                        let sample = if column.wrapping_sub(self.begin) < self.inside {
                            self.bits_at(row, self.before + column - self.begin)
                        } else {
                            self.far_sample(start, column)
                        };
                        samples = with::<S>(samples, k, sample);
                    }
                }
            }
            d.shared_store(Self::stage(row), word, samples);
        }
    }

    /// As `complete`, if words may be partly inside.
    #[inline(always)]
    unsafe fn complete_samples(&self, row: u32) {
        let d = self.d;
        // As above.
        let (thread, before) = (d.anew(d.thread_x()), d.anew(self.before));
        // SAFETY: as above.
        unsafe {
            let shift = self.shift(row);
            // The words that are not entirely inside.
            let (start, end) = (before + shift, before + self.inside + shift);
            let left = if before > 0 { start.div_ceil(S::OF_WORD) } else { 0 };
            let right = (end + self.behind).div_ceil(S::OF_WORD) - end / S::OF_WORD;
            if thread >= left + right {
                return;
            }
            let word = if thread < left { thread } else { end / S::OF_WORD + thread - left };
            let mut samples = S::constant(self.p.constant);
            if let Some(image_row) = self.image_row(row) {
                for k in 0..S::OF_WORD {
                    let at = word * S::OF_WORD + k;
                    let column = if at < shift || at >= end + self.behind {
                        NONE
                    } else if at < start {
                        d.shared_load(Self::SOURCES, at - shift)
                    } else if at < end {
                        self.begin + at - start
                    } else {
                        d.shared_load(Self::SOURCES, before + at - end)
                    };
                    if column != NONE {
                        // Read from the stage if its word is there and no other thread writes it, else from the image.
                        let at = start.wrapping_add(column.wrapping_sub(self.begin));
                        let from = at / S::OF_WORD;
                        // Indices of samples left of the strip wrap; `is_here` excludes them.
                        let next = from.wrapping_add(1).wrapping_mul(S::OF_WORD);
                        let inside = from * S::OF_WORD >= start && next <= end;
                        let came = (image_row + column as u64) / (S::OF_WORD as u64) < self.whole_words();
                        let is_here = column >= self.begin && at < end;
                        let sample = if is_here && (inside || from == word && came) {
                            self.bits_at(row, at)
                        } else {
                            self.far_sample(image_row, column)
                        };
                        samples = with::<S>(samples, k, sample);
                    }
                }
            }
            d.shared_store(Self::stage(row), word, samples);
        }
    }

    /// Loads the bits of a sample from the image; its image row starts at sample `start`.
    #[inline(always)]
    unsafe fn far_sample(&self, start: u64, column: u32) -> u32 {
        // SAFETY: the border mapped the column into the row.
        unsafe { S::load_bits(self.d, self.src.address, start + column as u64) }
    }

    /// Returns the bits of sample `at` of a stage.
    #[inline(always)]
    unsafe fn bits_at(&self, row: u32, at: u32) -> u32 {
        // SAFETY: `at` is below the samples of a stage.
        let word = unsafe { self.d.shared_load(Self::stage(row), at / S::OF_WORD) };
        let bits = 32 / S::OF_WORD;
        word >> (at % S::OF_WORD * bits) << (32 - bits) >> (32 - bits)
    }

    /// Waits until a row is complete. Words that threads copied are visible to other threads after the next barrier;
    /// if threads copy packed samples, this also waits for the next row, which [`complete`](Ring::complete) reads.
    #[inline(always)]
    pub(crate) unsafe fn wait(&self, row: u32) {
        if PIECES {
            // SAFETY: each row has its mbarrier.
            unsafe { self.d.mbarrier_wait(Self::mbarrier(row), row / Self::STAGES) };
        }
        if S::OF_WORD > 1 && !PIECES {
            self.d.wait_copies::<{ AHEAD - 2 }>();
        } else if S::OF_WORD == 1 && !(self.plain && PIECES) {
            self.d.wait_copies::<{ AHEAD - 1 }>();
        }
    }

    /// Returns the samples that this thread needs of a row.
    #[inline(always)]
    pub(crate) unsafe fn window(&self, row: u32) -> [S::Sum; WINDOW] {
        let group = P as u32 / S::OF_WORD;
        let (skipped, lead) = (Self::LEAD / P as u32, Self::LEAD % P as u32);
        let end = lead + P as u32 + Self::HALO;
        let (first, count) = ((self.seer + skipped) * group, end.div_ceil(P as u32) * group);
        let mut words = [0; WINDOW];
        // SAFETY: a stage has the words of all windows, and is complete since the barrier.
        unsafe {
            for n in 0..count / group {
                let (stage, at) = (Self::stage(row), first + n * group);
                let some = match group {
                    4 => self.d.shared_load4(stage, at),
                    2 => {
                        let [a, b] = self.d.shared_load2(stage, at);
                        [a, b, 0, 0]
                    }
                    _ => [self.d.shared_load(stage, at), 0, 0, 0],
                };
                for w in 0..group {
                    words[(n * group + w) as usize] = some[w as usize];
                }
            }
            let shift = self.shift(row);
            if S::OF_WORD > 1 && shift > 0 {
                words[count as usize] = self.d.shared_load(Self::stage(row), first + count);
                for n in 0..count as usize {
                    words[n] = from_bit(words[n], words[n + 1], shift * 32 / S::OF_WORD);
                }
            }
        }
        let mut window = [S::Sum::ZERO; WINDOW];
        for word in 0..count {
            let samples = S::unpack(self.d, words[word as usize]);
            for k in 0..S::OF_WORD {
                let index = word * S::OF_WORD + k;
                if index >= lead && index < end {
                    window[(index - lead) as usize] = samples[k as usize];
                }
            }
        }
        window
    }

    /// Returns the first sample of this thread's window, relative to the strip's first.
    #[inline(always)]
    pub(super) fn window_start(&self) -> u32 {
        Self::LEAD + self.seer * P as u32
    }

    /// Returns the bits of sample `index`, relative to the strip's first, of a row that is still in the ring.
    #[inline(always)]
    pub(super) unsafe fn sample(&self, row: u32, index: u32) -> u32 {
        // SAFETY: the callers' samples are under windows, which are in the stage.
        unsafe { self.bits_at(row, index + self.shift(row)) }
    }
}

/// Replaces the bits of sample `k` of a word.
#[inline(always)]
fn with<S: Samples>(word: u32, k: u32, sample: u32) -> u32 {
    let bits = 32 / S::OF_WORD;
    word & !(u32::MAX >> (32 - bits) << (k * bits)) | sample << (k * bits)
}
