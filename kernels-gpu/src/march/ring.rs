//! The rows of a strip on their way into shared memory.

use super::WINDOW;
use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, Samples};
use apron_abi::{
    march_lead, march_piece, march_samples, march_spare, march_stages, Accumulator, BorderMode, Element, MarchParams,
    MARCH_AHEAD as AHEAD, MARCH_BLOCK, MARCH_ROWS,
};
use core::marker::PhantomData;

/// The ring, as one thread sees it, in words of 32 bits.
///
/// Rows that are whole `PIECES` of 16 bytes are brought by bulk asynchronous copies, others by threads. The words of a stage
/// are those of the buffer: a row that starts inside one starts so far into its stage.
pub(super) struct Ring<'p, D, S, const P: usize, const K: usize, const C: usize, const PIECES: bool> {
    pub(super) d: D,
    pub(super) p: &'p MarchParams,
    src: Global<u32>,
    samples: PhantomData<S>,
    input_rows: u32,
    /// Samples of the strip that are beside the image, before it; the image's from `begin` on; and behind it.
    before: u32,
    begin: u32,
    inside: u32,
    behind: u32,
    /// Where words are one sample, which one beside the image this thread brings, and which one of a row it is;
    /// [`NONE`] where it brings none, and where it is the constant.
    beside: u32,
    column: u32,
    /// The thread whose window this one sees: itself, but behind the last output the last that has one.
    seer: u32,
    /// Whether the image has all words of every row, which is so in most blocks.
    plain: bool,
    /// Whether this thread has to do with bringing rows.
    busy: bool,
}

/// No word, no sample, no row.
const NONE: u32 = u32::MAX;

impl<'p, D: Device, S: Samples, const P: usize, const K: usize, const C: usize, const PIECES: bool>
    Ring<'p, D, S, P, K, C, PIECES>
{
    /// Words of a row in shared memory.
    const WORDS: u32 = march_samples(S::Element::TYPE, P as u32, K as u32, C as u32) / S::OF_WORD;
    /// Rows of the ring.
    const STAGES: u32 = march_stages(S::Element::TYPE, S::SUMS, K as u32);
    /// Samples of the strip before the first that an output needs.
    const LEAD: u32 = march_lead(S::Element::TYPE, K as u32, C as u32);
    /// Samples that an output needs beside its own.
    const HALO: u32 = ((K - 1) * C) as u32;

    /// Readies the mbarriers, and maps what lies beside the image.
    ///
    /// # Safety
    /// As all methods: the launch is as [`march`](super) says.
    #[inline(always)]
    pub(super) unsafe fn start(
        d: D,
        src: Global<S::Element>,
        p: &'p MarchParams,
        strip_left: i32,
        top: i32,
        input_rows: u32,
    ) -> Self {
        let border = BorderMode::from_u32(p.border);
        // What threads whose outputs are in the image need, and what of it the image has.
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
        // Which sample of an image's row stands for one of those beside it.
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
        // SAFETY: the mbarriers and the lists are there, and nobody uses them before the barrier.
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
        // The last word of a row may not be all in it.
        let words = before + behind == 0 && (S::OF_WORD == 1 || PIECES || needed < p.samples as i32);
        let plain = words && p.border != BorderMode::Constant as u32;
        let busy = !plain || !PIECES || thread == 0;
        let seer = if thread < threads { thread } else { threads - 1 };
        let (src, begin) = (Global::at(src.address), begin as u32);
        let samples = PhantomData;
        Ring { d, p, src, samples, input_rows, before, begin, inside, behind, beside, column, seer, plain, busy }
    }

    /// Where row `row` waits.
    #[inline(always)]
    fn stage(row: u32) -> Shared<u32> {
        Shared::at(row % Self::STAGES * Self::WORDS * 4)
    }

    /// The mbarrier that a row has come.
    #[inline(always)]
    fn mbarrier(row: u32) -> Shared<u64> {
        Shared::at(Self::STAGES * Self::WORDS * 4 + row % Self::STAGES * 8)
    }

    /// Which row of the image stands for each row of the strip, or [`NONE`].
    const LIST: Shared<u32> = Shared::at(Self::STAGES * (Self::WORDS * 4 + 8));

    /// Which samples of a row stand for those beside the image, or [`NONE`]: of words that are several.
    const SOURCES: Shared<u32> = Shared::at(Self::LIST.offset + MARCH_ROWS * 4);

    /// The sample where the row of the image that stands for a row of the strip starts.
    #[inline(always)]
    unsafe fn image_row(&self, row: u32) -> Option<u64> {
        // SAFETY: in the list, which is complete.
        match unsafe { self.d.shared_load(Self::LIST, row) } {
            NONE => None,
            mapped => Some(mapped as u64 * self.p.row_stride as u64),
        }
    }

    /// Samples between the start of a row's stage and its first.
    #[inline(always)]
    unsafe fn shift(&self, row: u32) -> u32 {
        if S::OF_WORD == 1 || PIECES {
            return 0;
        }
        // SAFETY: as above. A row of the constant has some shift, too.
        unsafe { self.d.shared_load(Self::LIST, row).wrapping_mul(self.p.row_stride) % S::OF_WORD }
    }

    /// Words of the buffer that are whole.
    #[inline(always)]
    fn whole_words(&self) -> u64 {
        let last = (self.p.height - 1) as u64 * self.p.row_stride as u64;
        (last + self.p.samples as u64) / S::OF_WORD as u64
    }

    /// Brings a row into its stage, if there is such a row.
    #[inline(always)]
    pub(super) unsafe fn bring(&self, row: u32) {
        if !self.busy {
            return;
        }
        // SAFETY: as below.
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

    /// Starts the bulk copy of what the image has of a row.
    #[inline(always)]
    unsafe fn copy(&self, row: u32, start: u64) {
        let to = Shared::at(Self::stage(row).offset + self.before / S::OF_WORD * 4);
        let (from, count) = ((start + self.begin as u64) / S::OF_WORD as u64, self.inside / S::OF_WORD);
        // SAFETY: the spans are in the image's row and in the stage, which nobody reads before the
        // next barrier; they start and end at multiples of 16 bytes.
        unsafe { self.d.bulk_copy(to, self.src, from, count, Self::mbarrier(row)) };
    }

    /// Brings a row that a bulk copy does not bring alone; without what is beside the image, where words are
    /// several samples.
    #[inline(always)]
    unsafe fn bring_some(&self, row: u32) {
        let (d, stage) = (self.d, Self::stage(row));
        // As in `complete`.
        let (thread, before) = (d.anew(d.thread_x()), d.anew(self.before));
        let constant = S::constant(self.p.constant);
        // SAFETY: in the stage, which nobody reads before the next barrier, and in the buffer.
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
                    // Above or below the image, where all is constant.
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

    /// Waits until the first row has come as far as [`complete`](Ring::complete) needs it.
    #[inline(always)]
    pub(super) unsafe fn wait_for_first(&self) {
        if S::OF_WORD > 1 && !PIECES {
            self.d.wait_copies::<{ AHEAD - 1 }>();
            self.d.barrier();
        }
    }

    /// Brings what is beside the image in a row, if there is such a row, where words are several samples: those
    /// lie anywhere in the row, most of them where it has just come.
    #[inline(always)]
    pub(super) unsafe fn complete(&self, row: u32) {
        if S::OF_WORD == 1 || self.plain || row >= self.input_rows {
            return;
        }
        // SAFETY: the row has come.
        unsafe {
            if PIECES {
                self.complete_words(row);
            } else {
                self.complete_samples(row);
            }
        }
    }

    /// The same where words are all inside or all beside.
    #[inline(always)]
    unsafe fn complete_words(&self, row: u32) {
        let d = self.d;
        // Anew, lest what follows from it is kept in registers from row to row.
        let (thread, before) = (d.anew(d.thread_x()), self.before / S::OF_WORD);
        if thread >= before + self.behind / S::OF_WORD {
            return;
        }
        let word = if thread < before { thread } else { thread + self.inside / S::OF_WORD };
        let mut samples = S::constant(self.p.constant);
        // SAFETY: this thread's word is in the stage, where nobody reads it before the next barrier, and its
        // sources are in the row.
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

    /// The same where words may be partly inside.
    #[inline(always)]
    unsafe fn complete_samples(&self, row: u32) {
        let d = self.d;
        // As above.
        let (thread, before) = (d.anew(d.thread_x()), d.anew(self.before));
        // SAFETY: as above.
        unsafe {
            let shift = self.shift(row);
            // The words that are not all inside.
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
                        // From a word that no other thread writes, if it is there.
                        let at = start.wrapping_add(column.wrapping_sub(self.begin));
                        let from = at / S::OF_WORD;
                        // Left of the strip numbers wrap, but that is not here.
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

    /// A sample of the row of the image that starts at `start`, from the image, as the bits that it is.
    #[inline(always)]
    unsafe fn far_sample(&self, start: u64, column: u32) -> u32 {
        // SAFETY: in the row.
        unsafe { S::load_bits(self.d, self.src.address, start + column as u64) }
    }

    /// The bits of sample `at` of a stage.
    #[inline(always)]
    unsafe fn bits_at(&self, row: u32, at: u32) -> u32 {
        // SAFETY: inside the stage.
        let word = unsafe { self.d.shared_load(Self::stage(row), at / S::OF_WORD) };
        let bits = 32 / S::OF_WORD;
        word >> (at % S::OF_WORD * bits) << (32 - bits) >> (32 - bits)
    }

    /// Waits until a row has come; what threads copied of it is there for others at the next barrier, and where
    /// words are several samples the row behind it, too.
    #[inline(always)]
    pub(super) unsafe fn wait(&self, row: u32) {
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

    /// What this thread needs of a row.
    #[inline(always)]
    pub(super) unsafe fn window(&self, row: u32) -> [S::Sum; WINDOW] {
        let group = P as u32 / S::OF_WORD;
        let (skipped, lead) = (Self::LEAD / P as u32, Self::LEAD % P as u32);
        let end = lead + P as u32 + Self::HALO;
        let (first, count) = ((self.seer + skipped) * group, end.div_ceil(P as u32) * group);
        let mut words = [0; WINDOW];
        // SAFETY: inside the stage, which has come.
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

    /// The first sample of this thread's window, counted from the strip's first.
    #[inline(always)]
    pub(super) fn window_start(&self) -> u32 {
        Self::LEAD + self.seer * P as u32
    }

    /// A sample, counted so, of a row that is still in the ring, as the bits that it is.
    #[inline(always)]
    pub(super) unsafe fn sample(&self, row: u32, index: u32) -> u32 {
        // SAFETY: inside the stage.
        unsafe { self.bits_at(row, index + self.shift(row)) }
    }
}

/// A word with other bits for sample `k`.
#[inline(always)]
fn with<S: Samples>(word: u32, k: u32, sample: u32) -> u32 {
    let bits = 32 / S::OF_WORD;
    word & !(u32::MAX >> (32 - bits) << (k * bits)) | sample << (k * bits)
}
