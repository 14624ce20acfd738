//! Sources of kernels for the driver.

use apron_packed::Pack;
use std::borrow::Cow;

/// The kernels of a program.
#[derive(Clone, Copy, Debug)]
pub struct Modules {
    /// PTX, a file per kernel and target. A family may have its own pack.
    pub ptx: &'static [&'static Pack],
    /// Machine code, a file per kernel and target, which the driver need not compile.
    pub machine_code: &'static [&'static Pack],
    /// PTX of all kernels in one text, for one target; replaces both packs.
    pub whole: Option<(&'static str, u32)>,
}

impl Modules {
    /// Returns all targets for which a kernel has PTX.
    pub(crate) fn targets(&self) -> impl Iterator<Item = u32> {
        let files = self.ptx.iter().flat_map(|pack| pack.files).map(|file| file.target);
        files.filter(|_| self.whole.is_none()).chain(self.whole.map(|(_, target)| target))
    }

    /// Returns the machine code of an entry for exactly this compute capability, times ten.
    pub(crate) fn machine_code(&self, entry: &str, capability: u32) -> Option<Vec<u8>> {
        let packs = self.machine_code.iter().filter(|_| self.whole.is_none());
        packs.into_iter().find_map(|pack| pack.find(entry, capability).map(|file| pack.read(file)))
    }

    /// Returns the PTX of an entry for the newest target that runs on this compute capability, with that target.
    pub(crate) fn ptx(&self, entry: &str, capability: u32) -> Option<(Cow<'static, str>, u32)> {
        if let Some((text, target)) = self.whole {
            return (target <= capability).then_some((Cow::Borrowed(text), target));
        }
        let found = self.ptx.iter().find_map(|pack| pack.newest(entry, capability).map(|file| (pack, file)));
        found.map(|(pack, file)| {
            let text = String::from_utf8(pack.read(file)).expect("PTX is ASCII");
            (Cow::Owned(text), file.target)
        })
    }
}
