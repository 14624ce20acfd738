//! Marching: blocks that go down a strip of the image row by row, each input row read once.
//!
//! A block of [`MARCH_BLOCK`] threads owns a strip of four samples a thread and a number of output
//! rows. Input rows wait in a ring of [`MARCH_STAGES`] rows of shared memory, which the copy engine
//! fills that many rows ahead, so that no thread waits for memory. A thread keeps the sums of all
//! output rows that the present input row is under, and adds its share to each:
//!
//! ```text
//! for each input row under the strip:
//!     wait until it has come; barrier            (and nobody reads the row before it any more)
//!     start the row that takes that row's place
//!     sums[k] = sums[k - 1] + what mask row k makes of this row      (from the last k down)
//!     store sums[last]
//! ```
//!
//! A sum moves to the next register in the addition itself, so nothing is shifted. In the few blocks
//! that see what lies beside the image, threads copy those samples, one each, as far ahead.
//!
//! Launch contract: the device has a copy engine, the buffers are as large as the parameters say and
//! start at multiples of 16 bytes, as do input rows, the shared memory is [`apron_abi::march_bytes`], and
//! the parameters are those that the plan gives.

mod dense;
mod separable;

pub use dense::Dense;
pub use separable::Separable;

use crate::device::{Device, Global, Shared};
use apron_abi::{march_lead, march_quads, BorderMode, MarchParams, MARCH_BLOCK, MARCH_STAGES};

/// Samples that a thread may need from a row: four outputs, the lead and the mask over four channels.
const WINDOW: usize = 72;

/// What a filter makes of a row: the sums of four adjacent outputs, for each row of its mask.
trait Rows<const K: usize, const C: usize> {
    /// Adds a row to all sums, each moved on by one mask row. Sample `i * C + p` of the window is under
    /// mask column `i` of output `p`.
    ///
    /// # Safety
    /// The launch's taps are those of the filter.
    unsafe fn add<D: Device>(d: D, sums: &mut [[f32; 4]; K], window: &[f32; WINDOW]);
}

/// Runs a filter of `K` mask rows over images of `C` channels.
///
/// # Safety
/// The launch contract holds.
#[inline(always)]
unsafe fn march<D: Device, F: Rows<K, C>, const K: usize, const C: usize>(
    d: D,
    src: Global<f32>,
    dst: Global<f32>,
    p: &MarchParams,
) {
    let strip = d.block_x() as i32 * MARCH_BLOCK as i32 * 4;
    // A grid may have more rows of blocks than were asked for.
    let first_row = d.block_y() * p.rows;
    if first_row >= p.out_height {
        return;
    }
    let last_row = if p.out_height - first_row < p.rows { p.out_height } else { first_row + p.rows };
    let input_rows = last_row - first_row + p.halo_rows;
    let out = p.first + strip + d.thread_x() as i32 * 4;
    let whole = p.whole != 0 && out >= 0 && out + 4 <= p.out_samples as i32;
    let mut out_row = first_row as u64 * p.out_samples as u64;
    let mut sums = [[0.0; 4]; K];
    // SAFETY: the caller's promise.
    unsafe {
        let ring = Ring::<D, K, C>::start(d, src, p, p.left + strip, first_row as i32 + p.origin_y, input_rows);
        let mut row = 0;
        while row < p.ahead {
            ring.bring(row);
            row += 1;
        }
        let mut row = 0;
        while row < input_rows {
            ring.wait(row);
            d.barrier();
            ring.bring(row + p.ahead);
            F::add(d, &mut sums, &ring.window(row));
            if row >= p.halo_rows {
                if whole {
                    d.store4(dst, out_row + out as u64, sums[K - 1]);
                } else {
                    store_some(d, dst, out_row, out, p.out_samples, sums[K - 1]);
                }
                out_row += p.out_samples as u64;
            }
            row += 1;
        }
    }
}

/// Stores those of four outputs that are in the row, and at any place.
///
/// # Safety
/// The row is the output's.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // an iterator over the array would keep it in local memory
unsafe fn store_some<D: Device>(d: D, dst: Global<f32>, row: u64, first: i32, samples: u32, four: [f32; 4]) {
    for k in 0..4 {
        let sample = first + k as i32;
        if sample >= 0 && sample < samples as i32 {
            // SAFETY: in the row.
            unsafe { d.store(dst, row + sample as u64, four[k]) };
        }
    }
}

/// The rows of a strip on their way into shared memory.
struct Ring<'p, D, const K: usize, const C: usize> {
    d: D,
    src: Global<f32>,
    p: &'p MarchParams,
    input_rows: u32,
    /// The samples of a row that the image has: from `begin` to `end`, of which `left` are beside it.
    left: u32,
    begin: u32,
    end: u32,
    /// Where in a stage this thread's sample beside the image goes, or [`NONE`].
    beside: u32,
    /// Where in an image's row it comes from, or [`NONE`] where it is the constant.
    column: u32,
    /// The thread whose window this one sees: itself, but behind the last output the last that has one.
    seer: u32,
    /// Whether the copy engine brings all of every row, which is so in most blocks.
    plain: bool,
}

/// No sample.
const NONE: u32 = u32::MAX;

impl<'p, D: Device, const K: usize, const C: usize> Ring<'p, D, K, C> {
    /// Samples of a row in shared memory.
    const SAMPLES: u32 = (MARCH_BLOCK + march_quads(K as u32, C as u32) - 1) * 4;

    /// Readies the signals, and maps this thread's sample beside the image.
    ///
    /// # Safety
    /// As all methods: the launch is as [`march`] says.
    #[inline(always)]
    unsafe fn start(d: D, src: Global<f32>, p: &'p MarchParams, strip_left: i32, top: i32, input_rows: u32) -> Self {
        let border = BorderMode::from_u32(p.border);
        // What threads whose outputs are in the image need, and what of it the image has.
        let outputs = p.out_samples as i32 - (strip_left - p.left) - p.first;
        let needed = outputs.div_euclid(4) + if outputs % 4 == 0 { 0 } else { 1 };
        let needed = needed * 4 + (march_quads(K as u32, C as u32) as i32 - 1) * 4;
        let needed = strip_left + if needed < Self::SAMPLES as i32 { needed } else { Self::SAMPLES as i32 };
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
        let (before, behind) = ((begin - strip_left) as u32, (needed - end) as u32);
        let thread = d.thread_x();
        let (mut beside, mut column) = (NONE, NONE);
        if thread < before + behind {
            beside = if thread < before { thread } else { thread + (end - begin) as u32 };
            let at = strip_left + beside as i32;
            let pixel = at.div_euclid(C as i32);
            if let Some(mapped) = border.map(pixel, p.samples as i32 / C as i32) {
                column = (mapped * C as i32 + at - pixel * C as i32) as u32;
            }
        }
        // SAFETY: the signals and the list are there, and nobody uses them before the barrier.
        unsafe {
            if thread == 0 {
                for stage in 0..MARCH_STAGES {
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
        let (left, begin, end) = (before, begin as u32, end as u32);
        let last = (needed - strip_left) as u32 / 4 - march_quads(K as u32, C as u32);
        let seer = if thread < last { thread } else { last };
        Ring { d, src, p, input_rows, left, begin, end, beside, column, seer, plain }
    }

    /// Where row `row` waits.
    #[inline(always)]
    fn stage(row: u32) -> Shared<f32> {
        Shared::at(row % MARCH_STAGES * Self::SAMPLES * 4)
    }

    /// The signal that a row has come.
    #[inline(always)]
    fn signal(row: u32) -> Shared<u64> {
        Shared::at(MARCH_STAGES * Self::SAMPLES * 4 + row % MARCH_STAGES * 8)
    }

    /// Which row of the image stands for each row of the strip, or [`NONE`].
    const LIST: Shared<u32> = Shared::at(MARCH_STAGES * (Self::SAMPLES * 4 + 8));

    /// Where the row of the image that stands for a row of the strip starts.
    #[inline(always)]
    unsafe fn image_row(&self, row: u32) -> Option<u64> {
        // SAFETY: in the list, which is complete.
        match unsafe { self.d.shared_load(Self::LIST, row) } {
            NONE => None,
            mapped => Some(mapped as u64 * self.p.samples as u64),
        }
    }

    /// Brings a row into its stage, if there is such a row.
    #[inline(always)]
    unsafe fn bring(&self, row: u32) {
        // SAFETY: as below.
        unsafe {
            if self.plain {
                if row < self.input_rows && self.d.thread_x() == 0 {
                    self.copy(row, self.image_row(row).unwrap_or(0));
                }
            } else {
                if row < self.input_rows {
                    self.bring_beside(row);
                }
                self.d.end_copies();
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

    /// Brings a row of a block that sees what is beside the image.
    #[inline(always)]
    unsafe fn bring_beside(&self, row: u32) {
        let (d, stage) = (self.d, Self::stage(row));
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
                        d.shared_store(stage, self.left + index, self.p.constant);
                        index += MARCH_BLOCK;
                    }
                    if d.thread_x() == 0 {
                        d.signal(Self::signal(row));
                    }
                }
            }
            if self.beside != NONE {
                match self.image_row(row) {
                    Some(start) if self.column != NONE => {
                        d.start_copy(stage, self.beside, self.src, start + self.column as u64);
                    }
                    _ => d.shared_store(stage, self.beside, self.p.constant),
                }
            }
        }
    }

    /// Waits until a row has come; what threads copied of it is there for others at the next barrier.
    #[inline(always)]
    unsafe fn wait(&self, row: u32) {
        // SAFETY: each row has its signal.
        unsafe {
            self.d.signal_wait(Self::signal(row), row / MARCH_STAGES);
            if !self.plain {
                self.d.wait_copies::<{ MARCH_STAGES - 2 }>();
            }
        }
    }

    /// What this thread needs of a row.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // as in `store_some`
    unsafe fn window(&self, row: u32) -> [f32; WINDOW] {
        let lead = march_lead(K as u32, C as u32) as usize;
        let mut window = [0.0; WINDOW];
        for quad in 0..march_quads(K as u32, C as u32) {
            // SAFETY: inside the stage, which has come.
            let four = unsafe { self.d.shared_load4(Self::stage(row), (self.seer + quad) * 4) };
            for k in 0..4 {
                let index = quad as usize * 4 + k;
                if index >= lead {
                    window[index - lead] = four[k];
                }
            }
        }
        window
    }
}
