//! A block's shared memory, poisoned at its start, with a shadow of each 32-bit word.

use apron_abi::Element;

/// Bytes that one shadow stands for. Kernels keep nothing narrower in shared memory; an access
/// that does is reported rather than checked wrongly.
const WORD_BYTES: usize = 4;

/// No thread, or several.
const NOBODY: u16 = u16::MAX;
const SEVERAL: u16 = u16::MAX - 1;

#[derive(Clone, Copy)]
struct Shadow {
    write_interval: u32,
    read_interval: u32,
    writer: u16,
    reader: u16,
    written_ever: bool,
    atomic: bool,
}

const UNTOUCHED: Shadow =
    Shadow { write_interval: 0, read_interval: 0, writer: NOBODY, reader: NOBODY, written_ever: false, atomic: false };

pub(crate) struct SharedMemory {
    bytes: Vec<u8>,
    shadow: Vec<Shadow>,
}

impl SharedMemory {
    pub(crate) fn new(bytes: u32) -> SharedMemory {
        let bytes = bytes as usize;
        SharedMemory { bytes: vec![0xa5; bytes], shadow: vec![UNTOUCHED; bytes.div_ceil(WORD_BYTES)] }
    }

    /// Starts a block: it finds nothing that another left.
    pub(crate) fn start_block(&mut self) {
        self.bytes.fill(0xa5);
        self.shadow.fill(UNTOUCHED);
    }

    #[inline]
    fn locate<T: Element>(&self, byte: u32) -> Result<std::ops::Range<usize>, String> {
        let (size, byte) = (size_of::<T>(), byte as usize);
        if byte + size > self.bytes.len() {
            return Err(format!("which has {} bytes: out of bounds", self.bytes.len()));
        }
        if !byte.is_multiple_of(size) || !size.is_multiple_of(WORD_BYTES) {
            return Err("misaligned, or narrower than 32 bits".into());
        }
        Ok(byte / WORD_BYTES..(byte + size) / WORD_BYTES)
    }

    #[inline]
    pub(crate) fn load<T: Element>(&mut self, byte: u32, thread: u16, interval: u32) -> Result<T, String> {
        let fail = |what: String| format!("reads {} from shared memory at byte {byte}, {what}", T::TYPE.name());
        let words = self.locate::<T>(byte).map_err(fail)?;
        for shadow in &mut self.shadow[words] {
            if !shadow.written_ever {
                return Err(fail("which nothing wrote".into()));
            }
            if shadow.write_interval == interval && shadow.writer != thread && shadow.writer != NOBODY {
                return Err(fail(race("write", shadow.writer)));
            }
            let alone = shadow.read_interval != interval || shadow.reader == thread || shadow.reader == NOBODY;
            shadow.reader = if alone { thread } else { SEVERAL };
            shadow.read_interval = interval;
        }
        Ok(T::read(&self.bytes[byte as usize..]))
    }

    #[inline]
    pub(crate) fn store<T: Element>(&mut self, byte: u32, value: T, thread: u16, interval: u32) -> Result<(), String> {
        let fail = |what: String| format!("writes {} to shared memory at byte {byte}, {what}", T::TYPE.name());
        let words = self.locate::<T>(byte).map_err(fail)?;
        for shadow in &mut self.shadow[words] {
            shadow.check_write(thread, interval, false).map_err(fail)?;
        }
        value.write(&mut self.bytes[byte as usize..]);
        Ok(())
    }

    #[inline]
    pub(crate) fn increment(&mut self, byte: u32, thread: u16, interval: u32) -> Result<(), String> {
        let fail = |what: String| format!("increments u32 in shared memory at byte {byte}, {what}");
        let words = self.locate::<u32>(byte).map_err(fail)?;
        let shadow = &mut self.shadow[words.start];
        if !shadow.written_ever {
            return Err(fail("which nothing wrote".into()));
        }
        shadow.check_write(thread, interval, true).map_err(fail)?;
        let bytes = &mut self.bytes[byte as usize..];
        u32::read(bytes).wrapping_add(1).write(bytes);
        Ok(())
    }
}

impl Shadow {
    /// Notes a write; atomic ones may meet each other.
    #[inline]
    fn check_write(&mut self, thread: u16, interval: u32, atomic: bool) -> Result<(), String> {
        if self.read_interval == interval && self.reader != thread && self.reader != NOBODY {
            return Err(race("read", self.reader));
        }
        if self.write_interval == interval && self.writer != NOBODY {
            let together = self.atomic && atomic;
            if self.writer != thread && !together {
                return Err(race("write", self.writer));
            }
            // A plain write and an atomic of one thread are in order; of the two, the plain one
            // is what another thread must not meet.
            self.atomic &= atomic;
            if self.writer != thread {
                self.writer = SEVERAL;
            }
        } else {
            (self.writer, self.write_interval, self.atomic) = (thread, interval, atomic);
        }
        self.written_ever = true;
        Ok(())
    }
}

fn race(kind: &str, other: u16) -> String {
    match other {
        SEVERAL => format!("data race with the {kind}s by several threads since the last barrier"),
        other => format!("data race with the {kind} by thread {other} since the last barrier"),
    }
}
