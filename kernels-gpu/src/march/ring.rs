//! The rows of a strip on their way into shared memory.

use super::{Samples, WINDOW};
use crate::device::{Device, Global, Shared};
use apron_abi::{
    march_lead, march_piece, march_samples, march_stages, BorderMode, Element, MarchParams, MARCH_BLOCK, MARCH_ROWS,
};
use core::marker::PhantomData;

/// The ring, as one thread sees it, in words of 32 bits.
pub(super) struct Ring<'p, D, S, const P: usize, const K: usize, const C: usize> {
    pub(super) d: D,
    pub(super) p: &'p MarchParams,
    src: Global<u32>,
    samples: PhantomData<S>,
    input_rows: u32,
    /// The words of a row that the image has: from `begin` to `end`, of which `left` are beside it.
    left: u32,
    begin: u32,
    end: u32,
    /// Where in a stage this thread's word beside the image goes, or [`NONE`].
    beside: u32,
    /// Which sample it is, where a word is one; or [`NONE`] where it is the constant.
    column: u32,
    /// The thread whose window this one sees: itself, but behind the last output the last that has one.
    seer: u32,
    /// Whether the copy engine brings all of every row, which is so in most blocks.
    plain: bool,
    /// Whether this thread has to do with that.
    busy: bool,
}

/// No word, no sample, no row.
const NONE: u32 = u32::MAX;

/// Groups of copies by threads that may be on their way while a row is used: the rows ahead of it but one.
const PENDING: u32 = march_stages(f32::TYPE, 1) - 2;

impl<'p, D: Device, S: Samples, const P: usize, const K: usize, const C: usize> Ring<'p, D, S, P, K, C> {
    /// Words of a row in shared memory.
    const WORDS: u32 = march_samples(S::TYPE, P as u32, K as u32, C as u32) / S::OF_WORD;
    /// Rows of the ring.
    const STAGES: u32 = march_stages(S::TYPE, K as u32);
    /// Samples of the strip before the first that an output needs.
    const LEAD: u32 = march_lead(S::TYPE, K as u32, C as u32);
    /// Samples that an output needs beside its own.
    const HALO: u32 = ((K - 1) * C) as u32;

    /// Readies the signals, and maps what lies beside the image.
    ///
    /// # Safety
    /// As all methods: the launch is as [`march`](super) says.
    #[inline(always)]
    pub(super) unsafe fn start(
        d: D,
        src: Global<S>,
        p: &'p MarchParams,
        strip_left: i32,
        top: i32,
        input_rows: u32,
    ) -> Self {
        let border = BorderMode::from_u32(p.border);
        // What threads whose outputs are in the image need, and what of it the image has.
        let outputs = p.out_samples as i32 - (strip_left - p.left) - p.first;
        let threads = (outputs as u32).div_ceil(P as u32);
        let needed = (Self::LEAD + threads * P as u32 + Self::HALO).next_multiple_of(march_piece(S::TYPE));
        let row = Self::WORDS * S::OF_WORD;
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
        let (before, behind) = ((begin - strip_left) as u32 / S::OF_WORD, (needed - end) as u32 / S::OF_WORD);
        let words = (end - begin) as u32 / S::OF_WORD;
        // Which sample of an image's row stands for the one of that word in a stage.
        let source = |word: u32, sample: u32| {
            let at = strip_left + (word * S::OF_WORD + sample) as i32;
            let pixel = at.div_euclid(C as i32);
            let mapped = border.map(pixel, p.samples as i32 / C as i32);
            mapped.map_or(NONE, |mapped| (mapped * C as i32 + at - pixel * C as i32) as u32)
        };
        let place = |index: u32| if index < before { index } else { index + words };
        let thread = d.thread_x();
        let (mut beside, mut column) = (NONE, NONE);
        if thread < before + behind {
            beside = place(thread);
            if S::OF_WORD == 1 {
                column = source(beside, 0);
            }
        }
        // SAFETY: the signals and the lists are there, and nobody uses them before the barrier.
        unsafe {
            if S::OF_WORD > 1 {
                let mut sample = thread;
                while sample < (before + behind) * S::OF_WORD {
                    let word = place(sample / S::OF_WORD);
                    d.shared_store(Self::SOURCES, sample, source(word, sample % S::OF_WORD));
                    sample += MARCH_BLOCK;
                }
            }
            if thread == 0 {
                for stage in 0..Self::STAGES {
                    d.signal_start(Self::signal(stage));
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
        let plain = before + behind == 0 && p.border != BorderMode::Constant as u32;
        let (left, begin, end) = (before, begin as u32 / S::OF_WORD, end as u32 / S::OF_WORD);
        let seer = if thread < threads { thread } else { threads - 1 };
        let src = Global::at(src.address);
        let busy = !plain || thread == 0;
        Ring { d, p, src, samples: PhantomData, input_rows, left, begin, end, beside, column, seer, plain, busy }
    }

    /// Where row `row` waits.
    #[inline(always)]
    fn stage(row: u32) -> Shared<u32> {
        Shared::at(row % Self::STAGES * Self::WORDS * 4)
    }

    /// The signal that a row has come.
    #[inline(always)]
    fn signal(row: u32) -> Shared<u64> {
        Shared::at(Self::STAGES * Self::WORDS * 4 + row % Self::STAGES * 8)
    }

    /// Which row of the image stands for each row of the strip, or [`NONE`].
    const LIST: Shared<u32> = Shared::at(Self::STAGES * (Self::WORDS * 4 + 8));

    /// Which samples of a row stand for those beside the image, or [`NONE`]: of words that are several.
    const SOURCES: Shared<u32> = Shared::at(Self::LIST.offset + MARCH_ROWS * 4);

    /// The word where the row of the image that stands for a row of the strip starts.
    #[inline(always)]
    unsafe fn image_row(&self, row: u32) -> Option<u64> {
        // SAFETY: in the list, which is complete.
        match unsafe { self.d.shared_load(Self::LIST, row) } {
            NONE => None,
            mapped => Some(mapped as u64 * (self.p.samples / S::OF_WORD) as u64),
        }
    }

    /// Brings a row into its stage, if there is such a row.
    #[inline(always)]
    pub(super) unsafe fn bring(&self, row: u32) {
        if !self.busy {
            return;
        }
        // SAFETY: as below.
        unsafe {
            if self.plain {
                if row < self.input_rows {
                    self.copy(row, self.image_row(row).unwrap_or(0));
                }
            } else {
                if row < self.input_rows {
                    self.bring_some(row);
                }
                if S::OF_WORD == 1 {
                    self.d.end_copies();
                }
            }
        }
    }

    /// Lets the copy engine bring what the image has of a row.
    #[inline(always)]
    unsafe fn copy(&self, row: u32, start: u64) {
        let to = Shared::at(Self::stage(row).offset + self.left * 4);
        // SAFETY: the spans are in the image's row and in the stage, which nobody reads before the
        // next barrier; they start and end at multiples of 16 bytes.
        unsafe { self.d.copy(to, self.src, start + self.begin as u64, self.end - self.begin, Self::signal(row)) };
    }

    /// Brings a row of a block that sees what is beside the image; without that, where words are several samples.
    #[inline(always)]
    unsafe fn bring_some(&self, row: u32) {
        let (d, stage) = (self.d, Self::stage(row));
        let constant = S::constant(self.p.constant);
        // SAFETY: in the stage, which nobody reads before the next barrier.
        unsafe {
            match self.image_row(row) {
                Some(start) if self.begin < self.end => {
                    if d.thread_x() == 0 {
                        self.copy(row, start);
                    }
                }
                _ => {
                    // Above or below the image, where all is constant.
                    let mut index = d.thread_x();
                    while index < self.end - self.begin {
                        d.shared_store(stage, self.left + index, constant);
                        index += MARCH_BLOCK;
                    }
                    if d.thread_x() == 0 {
                        d.signal(Self::signal(row));
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

    /// Brings what is beside the image in a row, if there is such a row, where words are several samples: those
    /// lie anywhere in the row, most of them where it has just come.
    #[inline(always)]
    pub(super) unsafe fn complete(&self, row: u32) {
        if S::OF_WORD == 1 || self.beside == NONE || row >= self.input_rows {
            return;
        }
        let (d, stage) = (self.d, Self::stage(row));
        let bits = 32 / S::OF_WORD;
        let mut word = S::constant(self.p.constant);
        // SAFETY: the row has its signal; this thread's word is in the stage, where nobody reads it before the
        // next barrier, and its sources are in the row.
        unsafe {
            d.signal_wait(Self::signal(row), row / Self::STAGES);
            if let Some(start) = self.image_row(row) {
                let sources = d.shared_load4(Self::SOURCES, d.thread_x() * S::OF_WORD);
                for k in 0..S::OF_WORD {
                    let source = sources[k as usize];
                    if source != NONE {
                        let from = source / S::OF_WORD;
                        let whole = if from >= self.begin && from < self.end {
                            d.shared_load(stage, self.left + from - self.begin)
                        } else {
                            d.load(self.src, start + from as u64)
                        };
                        let sample = whole >> (source % S::OF_WORD * bits) << (32 - bits) >> (32 - bits);
                        let rest = word & !((u32::MAX >> (32 - bits)) << (k * bits));
                        word = rest | sample << (k * bits);
                    }
                }
            }
            d.shared_store(stage, self.beside, word);
        }
    }

    /// Waits until a row has come; what threads copied of it is there for others at the next barrier.
    #[inline(always)]
    pub(super) unsafe fn wait(&self, row: u32) {
        // SAFETY: each row has its signal.
        unsafe {
            self.d.signal_wait(Self::signal(row), row / Self::STAGES);
            if S::OF_WORD == 1 && !self.plain {
                self.d.wait_copies::<PENDING>();
            }
        }
    }

    /// What this thread needs of a row.
    #[inline(always)]
    pub(super) unsafe fn window(&self, row: u32) -> [f32; WINDOW] {
        let group = P as u32 / S::OF_WORD;
        let (skipped, lead) = (Self::LEAD / P as u32, Self::LEAD % P as u32);
        let end = lead + P as u32 + Self::HALO;
        let mut window = [0.0; WINDOW];
        for n in 0..end.div_ceil(P as u32) {
            let at = (self.seer + skipped + n) * group;
            // SAFETY: inside the stage, which has come.
            let words = unsafe {
                if group == 4 {
                    self.d.shared_load4(Self::stage(row), at)
                } else {
                    let [a, b] = self.d.shared_load2(Self::stage(row), at);
                    [a, b, 0, 0]
                }
            };
            for w in 0..group {
                let samples = S::unpack(self.d, words[w as usize]);
                for k in 0..S::OF_WORD {
                    let index = n * P as u32 + w * S::OF_WORD + k;
                    if index >= lead && index < end {
                        window[(index - lead) as usize] = samples[k as usize];
                    }
                }
            }
        }
        window
    }

    /// One sample of this thread's window, of a row that is still in the ring, as the bits that it is.
    #[inline(always)]
    pub(super) unsafe fn sample(&self, row: u32, index: u32) -> u32 {
        let at = Self::LEAD + self.seer * P as u32 + index;
        // SAFETY: inside the stage.
        let word = unsafe { self.d.shared_load(Self::stage(row), at / S::OF_WORD) };
        let bits = 32 / S::OF_WORD;
        word >> (at % S::OF_WORD * bits) << (32 - bits) >> (32 - bits)
    }
}
