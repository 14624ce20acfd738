//! How kernels by prefix sums divide an image: what means and local deviations share.

use apron_abi::{PREFIX_VECTOR, PrefixParams, WINDOWS_CHUNK};
use apron_core::{Border, PixelType, Shape, Window};

/// Lanes of a warp, each with a vector of samples.
const LANES: u32 = 32;

/// Most columns per output column of a strip.
const FEWEST: u32 = 3;

/// Bytes of a sector of memory. Strips begin at sectors.
const SECTOR: u32 = 32;

/// Windows of integers, summed by prefix sums along the rows.
pub(crate) struct Prefix {
    shape: Shape,
    src: PixelType,
    window: Window,
    /// Width and height of the windows, in pixels.
    size: [u32; 2],
    border: Border,
}

/// A kind of blocks.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// The kernel's stage.
    pub(crate) stage: &'static str,
    /// Warps per block.
    pub(crate) warps: u32,
    /// Least height of windows whose first sums come from a launch that sums chunks of rows, in rows.
    pub(crate) tall: u32,
}

/// The blocks of a launch and its parameters: those that means and deviations share.
pub(crate) struct Grid {
    pub(crate) blocks: [u32; 2],
    pub(crate) params: PrefixParams,
}

impl Prefix {
    /// Returns windows in rows that are wide enough; otherwise says which are not.
    pub(crate) fn of(
        shape: Shape,
        src: PixelType,
        window: Window,
        size: [u32; 2],
        border: Border,
    ) -> Result<Prefix, String> {
        let prefix = Prefix { shape, src, window, size, border };
        // Vectors outside the image are copies of vectors inside.
        if shape.width < size[0] + 2 * prefix.vector() {
            return Err(format!("windows of {} pixels in rows of {}", size[0], shape.width));
        }
        // The border map of vectors reaches one image's width to either side.
        let [width, vector, first] = [shape.width as i64, prefix.vector() as i64, window.origin_x as i64];
        let end = first + window.out.width as i64 + size[0] as i64 - 1;
        if first < vector - width || end > 2 * width - vector {
            return Err(format!("columns {first} to {} of rows of {width} pixels", end - 1));
        }
        Ok(prefix)
    }

    /// Returns the pixels per vector.
    fn vector(&self) -> u32 {
        PREFIX_VECTOR / (self.src.size_bytes() as u32 * self.shape.channels)
    }

    /// Returns the blocks of the first of some kinds that can divide the image; otherwise says what none divides. `rows`
    /// tells the output rows per block from the number of blocks side by side.
    pub(crate) fn grid(
        &self,
        kinds: impl Iterator<Item = Kind>,
        rows: impl Fn(Kind, u32) -> u32,
    ) -> Result<(&'static str, Grid), String> {
        let (width, out) = (self.shape.width, self.window.out);
        let mut divided = format!("windows of {} pixels", self.size[0]);
        for kind in kinds {
            let Some(strips) = Strips::of(self, kind.warps) else { continue };
            // With one strip more than is needed, none may read both ends of a row.
            let strips = [0, 1].map(|more| strips.with(strips.count + more, out.width));
            match strips.into_iter().find(|strips| !strips.divide_a_vector()) {
                Some(strips) => return Ok((kind.stage, self.blocks(kind, strips, rows))),
                None => divided = format!("rows of {width} pixels, whose both ends a block reads"),
            }
        }
        Err(divided)
    }

    fn blocks(&self, kind: Kind, strips: Strips, rows: impl Fn(Kind, u32) -> u32) -> Grid {
        let (shape, out, [window_x, window_y]) = (self.shape, self.window.out, self.size);
        // Two blocks share the rows of a strip at the edges; not if rows are not aligned, since then no strip is faster
        // than those at the edges, nor if blocks have several warps, since then at most two per block are at the edges.
        let shared = shape.width.is_multiple_of(self.vector()) && kind.warps == 1;
        let edges = if shared { strips.edges() } else { [0; 2] };
        let Strips { count: strips, outputs, .. } = strips;
        let has_chunks = window_y >= kind.tall;
        // The two blocks of a strip at the edges have whole chunks, too.
        let halves = u32::from(edges != [0; 2]);
        let multiple = if has_chunks { WINDOWS_CHUNK << halves } else { 2 };
        let across = strips + edges[0] + edges[1];
        let rows = rows(kind, across).min(out.height).max(2).next_multiple_of(multiple);
        let blocks = [across, out.height.div_ceil(rows)];
        // First row of the last block.
        let last = (blocks[1] - 1) * rows + halves * rows / 2;
        let chunks = if has_chunks { last / WINDOWS_CHUNK + window_y / WINDOWS_CHUNK } else { 0 };
        let (border, constant) = self.border.mode_of(self.src);
        let samples = shape.row_samples() as u32;
        let params = PrefixParams {
            totals: if chunks > 0 { 2 } else { 0 },
            totals_pitch: samples.next_multiple_of(self.vector() * shape.channels),
            chunks,
            row_stride: samples,
            row_samples: samples,
            width: shape.width,
            height: shape.height,
            out_width: out.width,
            out_height: out.height,
            window_x,
            window_y,
            origin_x: self.window.origin_x,
            origin_y: self.window.origin_y,
            outputs,
            strips,
            edges,
            rows,
            border: border as u32,
            constant: repeated(self.src, constant),
            ..PrefixParams::default()
        };
        Grid { blocks, params }
    }
}

/// How the columns of the output are divided into strips of equal width. All numbers are in pixels.
#[derive(Clone, Copy)]
struct Strips {
    count: u32,
    /// Output columns per strip.
    outputs: u32,
    /// Input column of the first window's first pixel.
    origin: i32,
    /// Input width, and width of the windows.
    sizes: [u32; 2],
    /// Pixels per vector, and per sector of memory.
    vector: u32,
    sector: u32,
}

impl Strips {
    /// Returns the strips for blocks of `warps` warps; none if the windows leave too few outputs.
    fn of(prefix: &Prefix, warps: u32) -> Option<Strips> {
        let (window, [window_x, _]) = (&prefix.window, prefix.size);
        let pixel = prefix.src.size_bytes() as u32 * prefix.shape.channels;
        let (vector, sector) = (PREFIX_VECTOR / pixel, SECTOR / pixel);
        let strip = LANES * warps * vector;
        // The first window may start anywhere in a vector.
        let room = strip.saturating_sub(window_x + vector) / sector * sector;
        if room < strip / FEWEST {
            return None;
        }
        let (count, sizes) = (window.out.width.div_ceil(room), [prefix.shape.width, window_x]);
        Some(Strips { count, outputs: room, origin: window.origin_x, sizes, vector, sector })
    }

    /// Returns `count` strips of equal width for `width` output columns, or less if they are fewer sectors.
    fn with(self, count: u32, width: u32) -> Strips {
        let outputs = width.div_ceil(count).next_multiple_of(self.sector);
        Strips { count: width.div_ceil(outputs), outputs, ..self }
    }

    /// Returns the first input column of a strip, and the column behind its last.
    fn columns(&self, strip: u32) -> [i32; 2] {
        let first = (strip * self.outputs) as i32 + self.origin;
        [first, first + (self.outputs + self.sizes[1]) as i32]
    }

    /// Returns whether an edge of the image divides a vector. Vectors are aligned to the right edge in strips where one
    /// could contain it; no vector may then contain the left edge.
    fn divide_a_vector(&self) -> bool {
        let (width, vector) = (self.sizes[0] as i32, self.vector as i32);
        (0..self.count).map(|strip| self.columns(strip)).any(|[first, end]| {
            end + vector > width && width % vector != 0 && (width - first + vector - 1) / vector * vector > width
        })
    }

    /// Returns the number of strips that read columns left of the image, and of others that read columns right of it.
    fn edges(&self) -> [u32; 2] {
        let before = (0..self.count).take_while(|&strip| self.columns(strip)[0] < 0).count() as u32;
        let is_behind = |strip: &u32| self.columns(*strip)[1] > self.sizes[0] as i32;
        [before, (before..self.count).rev().take_while(is_behind).count() as u32]
    }
}

/// Returns a word full of a constant's bits.
fn repeated(pixel: PixelType, constant: f64) -> u32 {
    match pixel {
        PixelType::U8 => constant as u32 * 0x0101_0101,
        _ => (constant as i32 as u32 & 0xffff) * 0x0001_0001,
    }
}
