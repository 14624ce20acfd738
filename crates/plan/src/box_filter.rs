//! Recipes of box filters.

use crate::recipe::Steps;
use crate::variant::Variant;
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    BOX_BLOCK, BOX_CHUNK, BOX_PACKED, BoxParams, BoxSums, BoxTile, ElementType, Kernel, Params, SIMPLE_BLOCK,
};
use apron_core::{BoxFilter, PixelType, Result, Scale, Window};

pub(crate) const OPERATION: &str = "box";

/// One launch: sums along rows wait in shared memory.
pub(crate) fn chunks(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let refused = |what| Err(unsupported(OPERATION, what, "leave the variant to the plan"));
    let (bytes, channels) = (problem.src == PixelType::U8, problem.shape.channels);
    if bytes && problem.width > BOX_PACKED {
        return refused(format!("u8 windows over {BOX_PACKED} wide (this one is {})", problem.width));
    }
    let kind = if bytes { Kind::bytes(problem, &window) } else { Kind::floats(problem, &window) };
    let Some(grid) = kind.grid(problem, &window, machine) else {
        let size = format!("{}x{}", problem.width, problem.height);
        return refused(format!("windows of {size} with {} bytes of shared memory a block", machine.shared_bytes));
    };
    let stage = match bytes {
        true if problem.samples() <= BOX_PACKED as u64 => "small".into(),
        true => "large".into(),
        false => channels.to_string(),
    };
    let params = BoxParams {
        left: kind.left,
        top: kind.top,
        strip: grid.strip,
        rows: grid.rows,
        rows_at_once: 4,
        tile: grid.tile,
        ..params(problem, &window)
    };
    let kernel = find(problem, variant, &stage, problem.src.element(), problem.dst.element())?;
    let launch = Launch {
        kernel,
        blocks: [grid.strips, window.out.height.div_ceil(grid.rows)],
        shared_bytes: grid.tile.bytes,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::BoxParams(params),
        taps: Vec::new(),
    };
    let buffers = vec![
        Buffer { role: Role::Input, element: problem.src.element(), elems: problem.shape.samples() },
        Buffer { role: Role::Output, element: problem.dst.element(), elems: window.out.samples() },
    ];
    Ok((buffers, vec![launch]))
}

/// An output a thread, rows and then columns.
pub(crate) fn simple(problem: &BoxFilter, variant: &Variant) -> Result<Steps> {
    let window = problem.window()?;
    let (src, dst, out) = (problem.src.element(), problem.dst.element(), window.out);
    let sums = if problem.src == PixelType::U8 { ElementType::U32 } else { ElementType::F32 };
    // One more for the rows outside.
    let rows = problem.shape.height + 1;
    let launch = |kernel, rows: u32, src| Launch {
        kernel,
        blocks: [(out.width * out.channels).div_ceil(SIMPLE_BLOCK[0]), rows.div_ceil(SIMPLE_BLOCK[1])],
        shared_bytes: 0,
        reserved_bytes: 0,
        src,
        dst: src + 1,
        params: Params::BoxParams(params(problem, &window)),
        taps: Vec::new(),
    };
    let launches = vec![
        launch(find(problem, variant, "rows", src, sums)?, rows, 0),
        launch(find(problem, variant, "columns", sums, dst)?, out.height, 1),
    ];
    let between = rows as u64 * out.width as u64 * out.channels as u64;
    let buffers = vec![
        Buffer { role: Role::Input, element: src, elems: problem.shape.samples() },
        Buffer { role: Role::Scratch, element: sums, elems: between },
        Buffer { role: Role::Output, element: dst, elems: out.samples() },
    ];
    Ok((buffers, launches))
}

fn find(problem: &BoxFilter, variant: &Variant, stage: &str, src: ElementType, dst: ElementType) -> Result<Kernel> {
    Kernel::find(variant.family, variant.name, stage, src, dst).ok_or_else(|| {
        let what = format!("{} to {} pixels of {} channels", problem.src, problem.dst, problem.shape.channels);
        unsupported(OPERATION, what, "use --device cpu")
    })
}

/// What both variants need.
fn params(problem: &BoxFilter, window: &Window) -> BoxParams {
    let (mode, constant) = problem.border.mode();
    let (factor, divisor) = match problem.scale {
        Scale::Mean => (1.0 / problem.samples() as f64, problem.samples() as f64),
        Scale::Tap(tap) => (tap as f64, 0.0),
    };
    BoxParams {
        factor,
        divisor,
        scale: problem.scale.factor(problem.samples()),
        plain: is_plain(problem) as u32,
        constant,
        border: mode as u32,
        width: problem.shape.width,
        height: problem.shape.height,
        out_width: window.out.width,
        out_height: window.out.height,
        channels: problem.shape.channels,
        window_x: problem.width,
        window_y: problem.height,
        origin_x: window.origin_x,
        origin_y: window.origin_y,
        ..BoxParams::default()
    }
}

/// Whether a multiply-add in f32, at 2^23 where the spacing is 1, rounds every sum of bytes to the right integer,
/// which is one of the output's.
///
/// The sums are integers below 2^23. A product with the tap itself is then exact before it is rounded, in the
/// multiply-add as in f64. A mean is never halfway between two integers where the number of samples, `n`, is odd:
/// it is at least `1 / (2 n)` away, and the product with the rounded reciprocal is off by less.
fn is_plain(problem: &BoxFilter) -> bool {
    let samples = problem.samples();
    if samples >= 1 << 15 {
        return false;
    }
    match problem.scale {
        Scale::Mean => samples % 2 == 1,
        Scale::Tap(tap) => tap >= 0.0 && 255.0 * samples as f64 * tap as f64 <= 255.0,
    }
}

/// What differs between bytes and f32.
struct Kind {
    sums: BoxSums,
    /// The image's column and row where the first strip and block start.
    left: i32,
    top: i32,
    /// Samples of an output row for each column of a strip.
    pixels: u32,
    /// Columns of a strip, at most.
    most: u32,
}

/// Strips and blocks.
struct Grid {
    strip: u32,
    strips: u32,
    rows: u32,
    tile: BoxTile,
}

impl Kind {
    fn bytes(problem: &BoxFilter, window: &Window) -> Kind {
        let pixels = [4, 2, 1, 1][problem.shape.channels as usize - 1];
        Kind { sums: BoxSums::Bytes, left: window.origin_x, top: window.origin_y, pixels, most: BOX_BLOCK }
    }

    /// Where chunks of the image start.
    fn floats(problem: &BoxFilter, window: &Window) -> Kind {
        let chunk = BOX_CHUNK as i32;
        let start = |origin: i32| origin.div_euclid(chunk) * chunk;
        let channels = problem.shape.channels;
        let most = BOX_BLOCK / channels / BOX_CHUNK * BOX_CHUNK;
        let (left, top) = (start(window.origin_x), start(window.origin_y));
        Kind { sums: BoxSums::Floats(channels), left, top, pixels: 1, most }
    }

    /// Threads that have a column of the strip.
    fn threads(&self, strip: u32) -> u32 {
        match self.sums {
            BoxSums::Floats(channels) => strip * channels,
            BoxSums::Bytes => strip,
        }
    }

    /// The strips and blocks that are done first, by a count of what a multiprocessor does: none if shared memory
    /// does not hold the rows of the narrowest strip.
    fn grid(&self, problem: &BoxFilter, window: &Window, machine: &Machine) -> Option<Grid> {
        let mut best: Option<(u64, Grid)> = None;
        let columns = (window.out.width as i32 + window.origin_x - self.left) as u32;
        let before = (problem.height - 1) as i32 + window.origin_y - self.top;
        for strip in (BOX_CHUNK..=self.most).step_by(BOX_CHUNK as usize) {
            let tile = BoxTile::of(self.sums, [problem.width, problem.height], strip);
            let residents = residents(tile.bytes, machine);
            if residents == 0 {
                break;
            }
            let strips = columns.div_ceil(strip * self.pixels);
            let slots = residents * machine.multiprocessors;
            let most = (slots / strips).clamp(1, window.out.height.div_ceil(BOX_CHUNK));
            for segments in [most, most.div_ceil(2), most.div_ceil(4)] {
                let rows = window.out.height.div_ceil(segments).next_multiple_of(BOX_CHUNK);
                let blocks = strips * window.out.height.div_ceil(rows);
                let steps = (rows + before as u32).div_ceil(BOX_CHUNK) as u64;
                let chunks = self.threads(tile.chunks * BOX_CHUNK);
                // A step's work, which blocks on a multiprocessor share, and what each waits for barriers.
                let work = (chunks + 2 * self.threads(strip)) as u64;
                let together = blocks.div_ceil(machine.multiprocessors).min(residents) as u64;
                let waves = blocks.div_ceil(slots) as u64;
                let cost = waves * steps * (work * together + WAIT);
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, Grid { strip, strips, rows, tile }));
                }
            }
        }
        best.map(|(_, grid)| grid)
    }
}

/// What a block waits at each step, in units of the work on a sample.
const WAIT: u64 = 700;

/// Blocks that share a multiprocessor, as far as shared memory goes, of which the driver keeps 1 KiB for each; and no
/// more than the registers are for.
fn residents(bytes: u32, machine: &Machine) -> u32 {
    if bytes > machine.shared_bytes { 0 } else { ((machine.shared_bytes + 1024) / (bytes + 1024)).clamp(1, 3) }
}
