//! NumPy's `.npy` files. Headers are not trusted: they are compared with the file's length before anything is
//! allocated. The crate `npyz`, which the tests use, trusts them: it allocates the header's claimed length, recurses on
//! nested brackets to any depth, and reads items one by one.

use crate::array_header::Entries;
use crate::error::{Error, Result, check_pixels};
use crate::read::{Source, starts_as_array};
use apron_core::{AnyImage, PixelType, Shape, check_memory, f16};
use std::io::{self, SeekFrom, Write};
use std::path::Path;

/// Magic bytes at the start of every file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Longest header that is read, in bytes; NumPy itself writes a few hundred and reads up to 10000.
const MAX_HEADER: usize = 1 << 16;

const TAKEN: &str = "arrays of bool, integers and floats, of shape (height, width) or (height, width, 1 to 4)";

const COMPLEX: &str = "complex arrays of shape (height, width) or (height, width, 1 to 2), and stacks of such images,";

const VOLUMES: &str = "volumes of bool, integers and floats, of shape (depth, height, width) or (depth, height, width, 1 to 4), and several of \
     them, of shape (n, depth, height, width),";

const STACKS: &str = "stacks of bool, integers and floats, of shape (n, height, width) or (n, height, width, 1 to 4)";

/// Sample types, by NumPy's names without the byte order.
const KINDS: [(&str, PixelType); 12] = [
    ("b1", PixelType::Bool),
    ("u1", PixelType::U8),
    ("i1", PixelType::I8),
    ("u2", PixelType::U16),
    ("i2", PixelType::I16),
    ("u4", PixelType::U32),
    ("i4", PixelType::I32),
    ("u8", PixelType::U64),
    ("i8", PixelType::I64),
    ("f2", PixelType::F16),
    ("f4", PixelType::F32),
    ("f8", PixelType::F64),
];

/// Types of complex numbers, and those of their parts: the real one, and then the imaginary one.
const COMPLEX_KINDS: [(&str, PixelType); 2] = [("c8", PixelType::F32), ("c16", PixelType::F64)];

/// The content of a header.
#[derive(Debug)]
struct Header {
    /// Byte order and type, such as `<f4`.
    descr: String,
    fortran: bool,
    shape: Vec<u64>,
    /// Number of items.
    items: u64,
}

/// The interpretation of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Taken {
    Image,
    Images,
    /// The planes of a volume, or of several.
    Volumes,
}

/// Reads an array as an image; complex numbers are taken only if `complex` says so.
pub(super) fn read(path: &Path, file: &mut dyn Source, max_pixels: u64, complex: bool) -> Result<AnyImage<'static>> {
    Images::open(path, file, max_pixels, (Taken::Image, complex))?.read(path, file, 0)
}

/// One image, or the images of a stack, in an array whose header has been read.
#[derive(Debug)]
pub(super) struct Images {
    header: Header,
    /// Shape of each image; complex numbers have two channels each, one for each part.
    shape: Shape,
    /// The type of the samples, or of the parts of complex numbers.
    pixel: PixelType,
    pub(super) complex: bool,
    pub(super) count: u32,
    /// Number of volumes, whose planes are the images; `None` without a dimension that counts them.
    pub(super) volumes: Option<u32>,
    /// Offset of the first sample, and size of each image, in bytes.
    start: u64,
    image_bytes: u64,
}

impl Images {
    /// Reads the header of an image of at most `max_pixels` pixels, or of such images along the first dimension, or the
    /// first two. Complex numbers are taken only if `complex` says so.
    ///
    /// # Errors
    /// [`Error::Stack`] for a stack where an image is expected, [`Error::Complex`] for complex numbers where they are
    /// not taken, [`Error::TooLarge`], and [`Error::Content`] for what is never taken.
    pub(super) fn open(
        path: &Path,
        file: &mut dyn Source,
        max_pixels: u64,
        (taken, complex): (Taken, bool),
    ) -> Result<Images> {
        let wrong = |what: String| Error::content(path, what);
        let header = Header::read(file).map_err(wrong)?;
        let start = file.stream_position().map_err(|error| Error::read(path, error))?;
        let (of, text) = (header.descr.clone(), header.shape_text());
        let refused = |taken| wrong(format!("dtype '{of}', shape {text} is not taken; {taken} are"));
        let is_complex = header.is_complex();
        if is_complex && !complex {
            return Err(Error::Complex { path: path.into(), dtype: header.descr });
        }
        let refused = || {
            refused(match taken {
                _ if is_complex => COMPLEX,
                Taken::Image => TAKEN,
                Taken::Images => STACKS,
                Taken::Volumes => VOLUMES,
            })
        };
        let pixel = header.pixel().ok_or_else(refused)?;
        let parts = if is_complex { 2 } else { 1 };
        let (volumes, count, (height, width, channels)) = match (&header.shape[..], taken) {
            (sides, Taken::Image) => {
                (None, 1, sides_of_image(sides).ok_or_else(|| Error::stack(path, sides).unwrap_or_else(refused))?)
            }
            // A last dimension that may be channels is one.
            (&[volumes, planes, height, width], Taken::Volumes) if width > 4 && volumes * planes * height > 0 => {
                (Some(volumes), volumes * planes, (height, width, 1))
            }
            ([count, sides @ ..], _) if *count > 0 => (None, *count, sides_of_image(sides).ok_or_else(refused)?),
            _ => return Err(refused()),
        };
        if channels * parts > 4 {
            return Err(refused());
        }
        if taken != Taken::Image && header.fortran {
            let what =
                "the stack is in Fortran order, in which images do not lie one after the other; C order is taken";
            return Err(wrong(what.into()));
        }
        header.check_length(file).map_err(wrong)?;
        check_pixels(path, width, height, max_pixels)?;
        let shape = shape_of(path, (width, height, channels * parts))?;
        let most = || wrong(format!("the stack has {count} images; {} are taken", u32::MAX));
        let count = u32::try_from(count).map_err(|_| most())?;
        // No more than there are images.
        let volumes = volumes.map(|volumes| volumes as u32);
        let image_bytes = shape.samples() * pixel.size_bytes() as u64;
        Ok(Images { header, shape, pixel, complex: is_complex, count, volumes, start, image_bytes })
    }

    /// Whether samples of this type, or of the file's own, lie in the file as they lie in memory.
    pub(super) fn is_stored_as(&self, pixel: Option<PixelType>) -> bool {
        let swapped = self.header.is_foreign() && self.pixel.size_bytes() > 1;
        pixel.is_none_or(|pixel| pixel == self.pixel) && !self.header.fortran && !swapped
    }

    /// Returns where an image begins, in bytes.
    pub(super) fn offset(&self, index: u32) -> u64 {
        self.start + u64::from(index) * self.image_bytes
    }

    /// Reads an image, from 0.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::Content`].
    pub(super) fn read(&self, path: &Path, file: &mut dyn Source, index: u32) -> Result<AnyImage<'static>> {
        let wrong = |what: String| Error::content(path, what);
        let (header, shape) = (&self.header, self.shape);
        file.seek(SeekFrom::Start(self.offset(index))).map_err(|error| Error::read(path, error))?;
        let pixel = self.pixel;
        if header.fortran {
            check_memory::<u8>(shape.samples() * pixel.size_bytes() as u64, shape)
                .map_err(|error| wrong(error.to_string()))?;
        }
        let mut loaded = Ok(());
        let image = AnyImage::from_bytes(pixel, shape, |bytes| {
            loaded = if header.fortran {
                let mut stored = vec![0; bytes.len()];
                let parts = if self.complex { 2 } else { 1 };
                let items = Shape { channels: shape.channels / parts, ..shape };
                let size = pixel.size_bytes() * parts as usize;
                file.read_exact(&mut stored).map(|()| from_fortran(&stored, bytes, items, size))
            } else {
                file.fill(bytes)
            };
            if header.is_foreign() {
                bytes.chunks_exact_mut(pixel.size_bytes()).for_each(<[u8]>::reverse);
            }
            Ok(())
        });
        let image = image.map_err(|error| wrong(error.to_string()))?;
        loaded.map_err(|error| Error::read(path, error))?;
        Ok(image)
    }
}

/// Returns the shape of an image of this width, height and number of channels.
fn shape_of(path: &Path, (width, height, channels): (u64, u64, u64)) -> Result<Shape> {
    let side = |side: u64| u32::try_from(side).unwrap_or(u32::MAX);
    Shape::new(side(width), side(height), channels as u32).map_err(|error| Error::content(path, error))
}

/// Whether an array has complex numbers.
pub(super) fn is_complex(file: &mut dyn Source) -> bool {
    Header::read(file).is_ok_and(|header| header.is_complex())
}

/// Returns height, width and channels of an image of these sides; `None` if an image has other ones.
pub(super) fn sides_of_image(sides: &[u64]) -> Option<(u64, u64, u64)> {
    let (height, width, channels) = match *sides {
        [height, width] => (height, width, 1),
        [height, width, channels @ 1..=4] => (height, width, channels),
        _ => return None,
    };
    (height > 0 && width > 0).then_some((height, width, channels))
}

/// Returns shape, sample type and offset of the samples of an array that lies in the file as an image lies in memory,
/// and whether they are parts of complex numbers, which are taken only if `complex` says so; `None` for any other file.
pub(super) fn layout(
    path: &Path,
    file: &mut dyn Source,
    max_pixels: u64,
    complex: bool,
) -> Result<Option<(Shape, PixelType, u64, bool)>> {
    if !starts_as_array(path, file)? {
        return Ok(None);
    }
    let wrong = |what: String| Error::content(path, what);
    let header = Header::read(file).map_err(wrong)?;
    let start = file.stream_position().map_err(|error| Error::read(path, error))?;
    let Some(pixel) = header.pixel() else { return Ok(None) };
    let Some((height, width, channels)) = sides_of_image(&header.shape) else { return Ok(None) };
    let is_complex = header.is_complex();
    let channels = if is_complex { channels * 2 } else { channels };
    let unread = (is_complex && !complex) || channels > 4;
    if unread || header.fortran || (header.is_foreign() && pixel.size_bytes() > 1) {
        return Ok(None);
    }
    header.check_length(file).map_err(wrong)?;
    check_pixels(path, width, height, max_pixels)?;
    Ok(Some((shape_of(path, (width, height, channels))?, pixel, start, is_complex)))
}

/// Returns the number of pixels of an array, or of each image of a stack, from its header.
pub(super) fn pixels(file: &mut dyn Source) -> Option<u64> {
    let header = Header::read(file).ok()?;
    let of_each = || header.shape.get(1..).and_then(sides_of_image);
    let sides = sides_of_image(&header.shape).or_else(of_each);
    Some(sides.map_or(header.items, |(height, width, _)| height.saturating_mul(width)))
}

/// Returns the bytes of an array's items, from its header; of types that become others, of the largest. `None` for
/// complex numbers unless `complex` takes them.
pub(super) fn item_bytes(file: &mut dyn Source, complex: bool) -> Option<u64> {
    let header = Header::read(file).ok().filter(|header| complex || !header.is_complex())?;
    let parts = if header.is_complex() { 2 } else { 1 };
    let each = header.pixel().map_or(8, |pixel| parts * pixel.size_bytes() as u64);
    Some(header.items.saturating_mul(each))
}

/// Copies items of `size` bytes from Fortran order, planes last, to rows of pixels.
fn from_fortran(stored: &[u8], out: &mut [u8], shape: Shape, size: usize) {
    let (width, height) = (shape.width as usize, shape.height as usize);
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let places = places.flat_map(|(x, y)| (0..shape.channels as usize).map(move |c| y + height * (x + width * c)));
    for (item, from) in out.chunks_exact_mut(size).zip(places) {
        item.copy_from_slice(&stored[from * size..][..size]);
    }
}

/// Real numbers with at most two dimensions.
pub(super) struct Numbers {
    pub(super) shape: Vec<u64>,
    pub(super) values: Vec<f64>,
    /// The first integer that f64 does not hold, and that is rounded.
    pub(super) rounded: Option<i128>,
}

/// Reads an array of real numbers with at most two dimensions.
pub(super) fn read_numbers(path: &Path, file: &mut dyn Source, max_items: u64) -> Result<Numbers> {
    let wrong = |what: String| Error::content(path, what);
    let header = Header::read(file).map_err(wrong)?;
    let parse: fn([u8; 8]) -> f64 = match header.kind() {
        // Each parser reads its type from the start of eight bytes.
        "f2" => |b| f16::from_ne_bytes([b[0], b[1]]).to_f64(),
        "f4" => |b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]]) as f64,
        "f8" => f64::from_ne_bytes,
        "i1" => |b| b[0] as i8 as f64,
        "u1" => |b| b[0] as f64,
        "i2" => |b| i16::from_ne_bytes([b[0], b[1]]) as f64,
        "u2" => |b| u16::from_ne_bytes([b[0], b[1]]) as f64,
        "i4" => |b| i32::from_ne_bytes([b[0], b[1], b[2], b[3]]) as f64,
        "u4" => |b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]) as f64,
        "i8" => |b| i64::from_ne_bytes(b) as f64,
        "u8" => |b| u64::from_ne_bytes(b) as f64,
        _ => {
            return Err(wrong(format!(
                "dtype '{}' is not taken; real numbers are: i1 to u8, f2, f4, f8",
                header.descr
            )));
        }
    };
    let exact: fn([u8; 8]) -> Option<i128> = match header.kind() {
        "i8" => |b| Some(i64::from_ne_bytes(b).into()),
        "u8" => |b| Some(u64::from_ne_bytes(b).into()),
        _ => |_| None,
    };
    let size = usize::from(header.kind().as_bytes()[1] - b'0');
    if header.shape.len() > 2 {
        return Err(wrong(format!("shape {} is not taken; one or two dimensions are", header.shape_text())));
    }
    if header.items > max_items {
        return Err(wrong(format!("shape {} is not taken; at most {max_items} numbers are", header.shape_text())));
    }
    header.check_length(file).map_err(wrong)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| Error::read(path, error))?;
    let mut rounded = None;
    let mut numbers: Vec<f64> = Vec::with_capacity(header.items as usize);
    for item in bytes.chunks_exact(size) {
        let mut eight = [0; 8];
        eight[..size].copy_from_slice(item);
        if header.is_foreign() {
            eight[..size].reverse();
        }
        let number = parse(eight);
        rounded = rounded.or_else(|| exact(eight).filter(|&exact| number as i128 != exact));
        numbers.push(number);
    }
    if let (true, [height, width]) = (header.fortran, &header.shape[..]) {
        let (height, width) = (*height as usize, *width as usize);
        numbers = (0..height * width).map(|item| numbers[item / width + item % width * height]).collect();
    }
    Ok(Numbers { shape: header.shape, values: numbers, rounded })
}

impl Header {
    fn read(file: &mut dyn Source) -> Result<Header, String> {
        let broken = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => "the .npy header is cut off".to_string(),
            _ => error.to_string(),
        };
        let mut start = [0; 8];
        file.read_exact(&mut start).map_err(broken)?;
        let mut length = [0; 4];
        let known = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(format!(".npy version {version} is not known")),
        };
        file.read_exact(&mut length[..known]).map_err(broken)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HEADER {
            return Err(format!("the .npy header says it is {length} bytes long; {MAX_HEADER} are taken"));
        }
        let mut text = vec![0; length];
        file.read_exact(&mut text).map_err(broken)?;
        Header::parse(&text).ok_or_else(|| "the .npy header is not NumPy's".to_string())?
    }

    /// Parses the header's dictionary; `None` if there is none.
    fn parse(text: &[u8]) -> Option<Result<Header, String>> {
        let text = std::str::from_utf8(text).ok()?.trim();
        let entries = Entries::parse(text)?;
        let mut shape = Vec::new();
        for side in entries.shape {
            let Ok(side) = side.parse::<u64>() else { return Some(Err(format!("the shape's {side} is no size"))) };
            shape.push(side);
        }
        let items = shape.iter().try_fold(1u64, |items, side| items.checked_mul(*side));
        let Some(items) = items else { return Some(Err(format!("shape {shape:?} is larger than any file"))) };
        Some(Ok(Header { descr: entries.descr.into(), fortran: entries.fortran, shape, items }))
    }

    /// Returns the type without its byte order; empty for types that are not plain numbers.
    fn kind(&self) -> &str {
        let kind = self.descr.strip_prefix(['<', '>', '=', '|']).unwrap_or(&self.descr);
        if kind.len() == 2 || kind == "c16" { kind } else { "" }
    }

    /// Returns the sample type, or that of the parts of complex numbers; `None` for types that images do not have.
    fn pixel(&self) -> Option<PixelType> {
        let mut kinds = KINDS.iter().chain(&COMPLEX_KINDS);
        kinds.find(|(kind, _)| *kind == self.kind()).map(|(_, pixel)| *pixel)
    }

    fn is_complex(&self) -> bool {
        COMPLEX_KINDS.iter().any(|(kind, _)| *kind == self.kind())
    }

    /// Whether the byte order differs from the machine's.
    fn is_foreign(&self) -> bool {
        self.descr.starts_with(if cfg!(target_endian = "little") { '>' } else { '<' })
    }

    fn shape_text(&self) -> String {
        shape_text(&self.shape)
    }

    /// Checks that the file holds as many bytes as its header promises.
    fn check_length(&self, file: &mut dyn Source) -> Result<(), String> {
        let parts = if self.is_complex() { 2 } else { 1 };
        let size = self.pixel().map_or(0, PixelType::size_bytes) * parts;
        let mut rest = || {
            let position = file.stream_position()?;
            let end = file.seek(SeekFrom::End(0))?;
            file.seek(SeekFrom::Start(position))?;
            Ok(end.saturating_sub(position))
        };
        let found = rest().map_err(|error: io::Error| error.to_string())?;
        match self.items.checked_mul(size as u64) {
            Some(needed) if needed == found => Ok(()),
            needed => {
                let needed = needed.map_or("more than any file holds".into(), |needed| needed.to_string());
                let shape = self.shape_text();
                Err(format!("holds {found} bytes of data, but shape {shape} of '{}' needs {needed}", self.descr))
            }
        }
    }
}

/// Formats a shape as NumPy does.
pub(super) fn shape_text(sides: &[u64]) -> String {
    let sides: Vec<String> = sides.iter().map(u64::to_string).collect();
    match &sides[..] {
        [side] => format!("({side},)"),
        _ => format!("({})", sides.join(", ")),
    }
}

/// Writes a header; `kind` is a type without its byte order.
pub(super) fn write_header(file: &mut impl Write, kind: &str, shape: &[u64]) -> io::Result<()> {
    let order = match kind {
        "b1" | "u1" | "i1" => '|',
        _ if cfg!(target_endian = "little") => '<',
        _ => '>',
    };
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    // A shape of one side needs the comma to be a tuple.
    let sides = if shape.len() == 1 { sides.trim_end() } else { sides.trim_end_matches(", ") };
    let mut text = format!("{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({sides}), }}");
    // The data starts at a multiple of 64 bytes.
    let padding = 63 - (MAGIC.len() + 4 + text.len()) % 64;
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    file.write_all(MAGIC)?;
    file.write_all(&[1, 0])?;
    file.write_all(&(text.len() as u16).to_le_bytes())?;
    file.write_all(text.as_bytes())
}

/// Writes counts or other integers as int64.
pub(super) fn write_integers(file: &mut impl Write, shape: &[u64], integers: &[u64]) -> io::Result<()> {
    write_header(file, "i8", shape)?;
    integers.iter().try_for_each(|integer| file.write_all(&(*integer as i64).to_ne_bytes()))
}

/// Writes sums as float64.
pub(super) fn write_floats(file: &mut impl Write, shape: &[u64], floats: &[f64]) -> io::Result<()> {
    write_header(file, "f8", shape)?;
    floats.iter().try_for_each(|float| file.write_all(&float.to_ne_bytes()))
}

/// Whether an image has the form of complex numbers: floats of 32 or 64 bits, and two channels for each number.
pub(super) fn has_parts(pixel: PixelType, channels: u32) -> bool {
    COMPLEX_KINDS.iter().any(|(_, of)| *of == pixel) && channels.is_multiple_of(2)
}

/// Writes the header of an image, or of images along `leading` dimensions of these sizes; with `complex`, of the
/// numbers whose parts the channels [are](has_parts).
pub(super) fn write_image_header(
    file: &mut impl Write,
    leading: &[u32],
    (shape, pixel): (Shape, PixelType),
    complex: bool,
) -> io::Result<()> {
    let kinds = if complex { &COMPLEX_KINDS[..] } else { &KINDS };
    let kind = kinds.iter().find(|(_, of)| *of == pixel).map_or("", |(kind, _)| kind);
    let Shape { width, height, channels } = shape;
    let channels = if complex { channels / 2 } else { channels };
    let channels = Some(channels).filter(|channels| *channels > 1);
    let shape: Vec<u64> = leading.iter().copied().chain([height, width]).chain(channels).map(u64::from).collect();
    write_header(file, kind, &shape)
}

/// Writes an image, of shape (height, width), or (height, width, channels) if it has several channels; with `complex`,
/// of the numbers whose parts the channels are.
pub(super) fn write(file: &mut impl Write, image: &AnyImage<'_>, complex: bool) -> io::Result<()> {
    write_image_header(file, &[], (image.shape(), image.pixel_type()), complex)?;
    file.write_all(&image.bytes())
}
