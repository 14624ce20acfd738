//! Global memory: buffers at made-up addresses, with a shadow that records accesses.

use apron_abi::{Element, ElementType};
use std::fmt;

/// Distance between buffers, as a power of two: an index past the end of one is never in the next.
const SPACING_BITS: u32 = 44;

/// The accessing thread and the time: `interval` counts the barriers of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accessor {
    pub(crate) block: u32,
    pub(crate) thread: u16,
    pub(crate) interval: u32,
}

/// Recorded accesses of one element in the running launch.
#[derive(Clone, Copy)]
struct Shadow {
    written_ever: bool,
    /// Whether the writer's access was an atomic addition.
    atomic: bool,
    writer: Option<Accessor>,
    reader: Option<(u32, u16)>,
}

struct Buffer {
    element: ElementType,
    bytes: Vec<u8>,
    shadow: Vec<Shadow>,
}

/// RGBA pixels, 8 bits per channel.
struct Texture {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

/// Texture handles have this bit, which no address has.
const TEXTURE_BIT: u64 = 1 << 63;

/// The global memory of an emulated device, and its textures.
#[derive(Default)]
pub struct Memory {
    buffers: Vec<Buffer>,
    textures: Vec<Texture>,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("buffers", &self.buffers.len())
            .field("textures", &self.textures.len())
            .finish_non_exhaustive()
    }
}

impl Memory {
    /// Returns memory without buffers.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Adds a buffer that holds `bytes`, a whole number of elements, and returns its address.
    pub fn add_written(&mut self, element: ElementType, bytes: &[u8]) -> u64 {
        let elems = bytes.len() / element.size_bytes() as usize;
        self.add(Buffer { element, bytes: bytes.to_vec(), shadow: vec![Shadow::new(true); elems] })
    }

    /// Adds an uninitialised buffer, and returns its address.
    pub fn add_unwritten(&mut self, element: ElementType, elems: u64) -> u64 {
        // A pattern that no test expects, in case an unwritten byte is ever read.
        let bytes = vec![0xa5; (elems * element.size_bytes() as u64) as usize];
        self.add(Buffer { element, bytes, shadow: vec![Shadow::new(false); elems as usize] })
    }

    /// Adds a texture of `width` x `height` pixels and returns its handle.
    ///
    /// # Panics
    /// If `bytes` does not hold exactly these pixels.
    pub fn add_texture(&mut self, width: u32, height: u32, bytes: &[u8]) -> u64 {
        assert_eq!(bytes.len() as u64, width as u64 * height as u64 * 4, "size of the texture, in bytes");
        self.textures.push(Texture { width, height, bytes: bytes.to_vec() });
        TEXTURE_BIT | (self.textures.len() as u64 - 1)
    }

    /// Returns a pixel of a texture, clamped to its edge, its bytes as the f32 nearest to `byte / 255`.
    pub(crate) fn texel(&self, handle: u64, column: i32, row: i32) -> Result<[f32; 4], String> {
        let index = (handle & TEXTURE_BIT != 0).then_some(handle & !TEXTURE_BIT);
        let texture = index.and_then(|index| self.textures.get(index as usize));
        let texture = texture.ok_or_else(|| format!("reads a texture at {handle:#x}, where none is"))?;
        let clamp = |index: i32, n: u32| index.clamp(0, n as i32 - 1) as usize;
        let pixel = clamp(row, texture.height) * texture.width as usize + clamp(column, texture.width);
        Ok([0, 1, 2, 3].map(|channel| (texture.bytes[pixel * 4 + channel] as f64 / 255.0) as f32))
    }

    fn add(&mut self, buffer: Buffer) -> u64 {
        self.buffers.push(buffer);
        (self.buffers.len() as u64) << SPACING_BITS
    }

    /// Returns the bytes of the buffer at `address`, or the first element that nothing wrote.
    pub fn take(&mut self, address: u64) -> Result<Vec<u8>, String> {
        let buffer = &mut self.buffers[(address >> SPACING_BITS) as usize - 1];
        match buffer.shadow.iter().position(|shadow| !shadow.written_ever) {
            Some(element) => Err(format!("element {element} of the output was never written")),
            None => Ok(std::mem::take(&mut buffer.bytes)),
        }
    }

    /// Starts a launch: accesses of earlier launches are no races.
    pub(crate) fn start_launch(&mut self) {
        for shadow in self.buffers.iter_mut().flat_map(|buffer| &mut buffer.shadow) {
            *shadow = Shadow::new(shadow.written_ever);
        }
    }

    /// Returns the buffer that holds a `T` at `address`, the byte offset, and the elements that it covers.
    fn locate<T: Element>(&mut self, address: u64) -> Result<(&mut Buffer, usize, std::ops::Range<usize>), String> {
        let size = T::TYPE.size_bytes() as usize;
        let (number, offset) = (address >> SPACING_BITS, (address & ((1 << SPACING_BITS) - 1)) as usize);
        let buffer = (number as usize).checked_sub(1).and_then(|index| self.buffers.get_mut(index));
        let Some(buffer) = buffer else { return Err("outside every buffer".into()) };
        if offset + size > buffer.bytes.len() {
            return Err(format!(
                "at byte {offset} of buffer {number}, which has {}: out of bounds",
                buffer.bytes.len()
            ));
        }
        let element = buffer.element.size_bytes() as usize;
        if !offset.is_multiple_of(size) || !size.is_multiple_of(element) {
            return Err(format!("at byte {offset} of buffer {number} of {}: misaligned", buffer.element.name()));
        }
        Ok((buffer, offset, offset / element..(offset + size) / element))
    }

    pub(crate) fn load<T: Element>(&mut self, address: u64, by: Accessor) -> Result<T, String> {
        let fail = |what: String| format!("reads {} from global memory at {address:#x}, {what}", T::TYPE.name());
        let (buffer, offset, elements) = self.locate::<T>(address).map_err(fail)?;
        for index in elements {
            let shadow = &mut buffer.shadow[index];
            if !shadow.written_ever {
                return Err(fail(format!("element {index}, which nothing wrote")));
            }
            if let Some(writer) = shadow.writer {
                // Loads go through the read-only cache: even the writer itself may see the old value.
                return Err(fail(format!("element {index}: {}", race(shadow.atomic, writer))));
            }
            shadow.reader = Some((by.block, by.thread));
        }
        Ok(T::read(&buffer.bytes[offset..]))
    }

    pub(crate) fn store<T: Element>(&mut self, address: u64, value: T, by: Accessor) -> Result<(), String> {
        let fail = |what: String| format!("writes {} to global memory at {address:#x}, {what}", T::TYPE.name());
        let (buffer, offset, elements) = self.locate::<T>(address).map_err(fail)?;
        for index in elements {
            let shadow = &mut buffer.shadow[index];
            if let Some((block, thread)) = shadow.reader {
                let what = format!("element {index}: data race with the read by block {block}, thread {thread}");
                return Err(fail(what));
            }
            if let Some(writer) = shadow.writer {
                let ordered = writer.block == by.block && (writer.thread == by.thread || writer.interval < by.interval);
                if !ordered || shadow.atomic {
                    return Err(fail(format!("element {index}: {}", race(shadow.atomic, writer))));
                }
            }
            shadow.writer = Some(by);
            shadow.written_ever = true;
        }
        value.write(&mut buffer.bytes[offset..]);
        Ok(())
    }

    /// Adds atomically, and returns the previous value. Additions order no other accesses, so during a launch an
    /// element that is added to may only be added to: even the thread with the last addition knows that only from the
    /// sum.
    pub(crate) fn atomic_add(&mut self, address: u64, value: u64, by: Accessor) -> Result<u64, String> {
        let fail = |what: String| format!("adds to u64 in global memory at {address:#x}, {what}");
        let (buffer, offset, elements) = self.locate::<u64>(address).map_err(fail)?;
        for index in elements {
            let shadow = &mut buffer.shadow[index];
            if !shadow.written_ever {
                return Err(fail(format!("element {index}, which nothing wrote")));
            }
            if let Some((block, thread)) = shadow.reader {
                let what = format!("element {index}: data race with the read by block {block}, thread {thread}");
                return Err(fail(what));
            }
            if let Some(writer) = shadow.writer.filter(|_| !shadow.atomic) {
                return Err(fail(format!("element {index}: {}", race(false, writer))));
            }
            (shadow.writer, shadow.atomic) = (Some(by), true);
        }
        let bytes = &mut buffer.bytes[offset..];
        let before = u64::read(bytes);
        before.wrapping_add(value).write(bytes);
        Ok(before)
    }

    /// Returns the index of the first element of the buffer at `address` that is not all zeros.
    pub fn first_not_zero(&self, address: u64) -> Option<usize> {
        let buffer = &self.buffers[(address >> SPACING_BITS) as usize - 1];
        let byte = buffer.bytes.iter().position(|byte| *byte != 0)?;
        Some(byte / buffer.element.size_bytes() as usize)
    }
}

fn race(atomic: bool, Accessor { block, thread, .. }: Accessor) -> String {
    let access = if atomic { "addition" } else { "write" };
    format!("data race with the {access} by block {block}, thread {thread}")
}

impl Shadow {
    fn new(written_ever: bool) -> Shadow {
        Shadow { written_ever, atomic: false, writer: None, reader: None }
    }
}
