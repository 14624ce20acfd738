//! A block's shared memory, filled with a pattern at the block's start, with a shadow per 32-bit word.

use apron_abi::Element;
use std::collections::{HashMap, VecDeque};

/// Bytes per shadow. Kernels keep no narrower elements in shared memory; a narrower access is reported rather than
/// checked wrongly.
const WORD_BYTES: usize = 4;

/// Stand for no thread, and for several threads.
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
    /// Event after which a copy becomes visible.
    copied: Option<Copied>,
}

const UNTOUCHED: Shadow = Shadow {
    write_interval: 0,
    read_interval: 0,
    writer: NOBODY,
    reader: NOBODY,
    written_ever: false,
    atomic: false,
    copied: None,
};

/// Event after which a copy becomes visible.
#[derive(Clone, Copy)]
enum Copied {
    /// A bulk asynchronous copy: visible to threads that have waited for this mbarrier at least this number of times.
    Mbarrier(u32, u32),
    /// A thread's copy: visible to no thread, until that thread has waited for it.
    Thread,
}

/// The copies of a thread that it has not waited for: their byte offsets, by group; the last group is open.
type Groups = VecDeque<Vec<u32>>;

/// An mbarrier, which tells threads that a copy is complete.
#[derive(Default)]
struct Mbarrier {
    /// Barriers passed when it was initialized.
    started: u32,
    given: u32,
    /// Number of times that each thread has waited for it, by thread number; threads beyond the end have not waited.
    waited: Vec<u32>,
}

pub(crate) struct SharedMemory {
    bytes: Vec<u8>,
    shadow: Vec<Shadow>,
    /// The mbarriers, with their byte offsets: too few for a map.
    mbarriers: Vec<(u32, Mbarrier)>,
    copies: HashMap<u16, Groups>,
}

impl SharedMemory {
    pub(crate) fn new(bytes: u32) -> SharedMemory {
        let bytes = bytes as usize;
        SharedMemory {
            bytes: vec![0xa5; bytes],
            shadow: vec![UNTOUCHED; bytes.div_ceil(WORD_BYTES)],
            mbarriers: Vec::new(),
            copies: HashMap::new(),
        }
    }

    /// Starts a block: discards the contents and the record of the previous block.
    pub(crate) fn start_block(&mut self) {
        self.bytes.fill(0xa5);
        self.shadow.fill(UNTOUCHED);
        self.mbarriers.clear();
        self.copies.clear();
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
            let has_come = match shadow.copied {
                None => true,
                Some(Copied::Thread) => false,
                Some(Copied::Mbarrier(mbarrier, times)) => {
                    let found = self.mbarriers.iter().find(|(byte, _)| *byte == mbarrier);
                    let waited = found.and_then(|(_, mbarrier)| mbarrier.waited.get(thread as usize));
                    waited.is_some_and(|waited| *waited >= times)
                }
            };
            if !has_come {
                return Err(fail("which is being copied, and was not waited for".into()));
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

    /// Stores for a bulk asynchronous copy that the thread started: visible after the mbarrier, not after the
    /// barrier.
    pub(crate) fn store_copied<T: Element>(
        &mut self,
        byte: u32,
        value: T,
        mbarrier: u32,
        thread: u16,
        interval: u32,
    ) -> Result<(), String> {
        self.store(byte, value, thread, interval)?;
        let times = self.mbarrier(mbarrier).map_or(0, |mbarrier| mbarrier.given) + 1;
        let words = self.locate::<T>(byte)?;
        for shadow in &mut self.shadow[words] {
            shadow.copied = Some(Copied::Mbarrier(mbarrier, times));
            shadow.writer = NOBODY;
        }
        Ok(())
    }

    /// Starts a copy of an element of 4 or 8 bytes by a thread.
    pub(crate) fn start_copy<T: Element>(
        &mut self,
        byte: u32,
        value: T,
        thread: u16,
        interval: u32,
    ) -> Result<(), String> {
        self.store(byte, value, thread, interval)?;
        let words = self.locate::<T>(byte)?;
        let groups = self.copies.entry(thread).or_insert_with(|| Groups::from([Vec::new()]));
        let open = groups.back_mut().expect("a group is open");
        for word in words {
            self.shadow[word].copied = Some(Copied::Thread);
            open.push((word * WORD_BYTES) as u32);
        }
        Ok(())
    }

    /// Commits a thread's open group of copies.
    pub(crate) fn end_copies(&mut self, thread: u16) {
        self.copies.entry(thread).or_insert_with(|| Groups::from([Vec::new()])).push_back(Vec::new());
    }

    /// Waits for all committed groups of a thread's copies except the last `pending`; from then on they count as
    /// stores of the thread at this time.
    pub(crate) fn wait_copies(&mut self, pending: u32, thread: u16, interval: u32) {
        let Some(groups) = self.copies.get_mut(&thread) else { return };
        while groups.len() > pending as usize + 1 {
            for byte in groups.pop_front().expect("not empty") {
                let shadow = &mut self.shadow[byte as usize / WORD_BYTES];
                (shadow.copied, shadow.write_interval) = (None, interval);
            }
        }
    }

    /// Initializes an mbarrier.
    pub(crate) fn init_mbarrier(&mut self, byte: u32, thread: u16, interval: u32) -> Result<(), String> {
        self.store(byte, 0u64, thread, interval)?;
        self.mbarriers.retain(|(other, _)| *other != byte);
        self.mbarriers.push((byte, Mbarrier { started: interval, ..Mbarrier::default() }));
        Ok(())
    }

    /// Returns the mbarrier at a byte offset.
    fn mbarrier(&mut self, byte: u32) -> Option<&mut Mbarrier> {
        self.mbarriers.iter_mut().find(|(other, _)| *other == byte).map(|(_, mbarrier)| mbarrier)
    }

    /// Completes a phase of an mbarrier.
    pub(crate) fn arrive_mbarrier(&mut self, byte: u32, interval: u32) -> Result<(), String> {
        match self.mbarrier(byte) {
            Some(mbarrier) if mbarrier.started < interval => {
                mbarrier.given += 1;
                Ok(())
            }
            _ => Err(format!("arrives at the mbarrier at byte {byte}, which was not there before the last barrier")),
        }
    }

    /// Waits until an mbarrier has completed `times + 1` phases.
    pub(crate) fn wait_mbarrier(&mut self, byte: u32, times: u32, thread: u16) -> Result<(), String> {
        let fail = |what: &str| Err(format!("waits for the mbarrier at byte {byte}, {what}"));
        let Some(mbarrier) = self.mbarrier(byte) else { return fail("which nobody initialized") };
        // An mbarrier holds only the parity of its phase.
        match mbarrier.given.checked_sub(times) {
            Some(1) => {}
            Some(0) | None => return fail("whose phase nobody completes"),
            Some(_) => return fail("whose next phase completed before this thread waited"),
        }
        let thread = thread as usize;
        if mbarrier.waited.len() <= thread {
            mbarrier.waited.resize(thread + 1, 0);
        }
        mbarrier.waited[thread] = times + 1;
        Ok(())
    }

    /// Changes a number atomically.
    #[inline]
    pub(crate) fn update(
        &mut self,
        byte: u32,
        thread: u16,
        interval: u32,
        change: impl FnOnce(u32) -> u32,
    ) -> Result<(), String> {
        let fail = |what: String| format!("updates u32 in shared memory at byte {byte}, {what}");
        let words = self.locate::<u32>(byte).map_err(fail)?;
        let shadow = &mut self.shadow[words.start];
        if !shadow.written_ever {
            return Err(fail("which nothing wrote".into()));
        }
        shadow.check_write(thread, interval, true).map_err(fail)?;
        let bytes = &mut self.bytes[byte as usize..];
        change(u32::read(bytes)).write(bytes);
        Ok(())
    }
}

impl Shadow {
    /// Records a write; atomic writes may coincide.
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
            // A plain write and an atomic addition of one thread are ordered; other threads race with the plain
            // write.
            self.atomic &= atomic;
            if self.writer != thread {
                self.writer = SEVERAL;
            }
        } else {
            (self.writer, self.write_interval, self.atomic) = (thread, interval, atomic);
        }
        self.written_ever = true;
        self.copied = None;
        Ok(())
    }
}

fn race(kind: &str, other: u16) -> String {
    match other {
        SEVERAL => format!("data race with the {kind}s by several threads since the last barrier"),
        other => format!("data race with the {kind} by thread {other} since the last barrier"),
    }
}
