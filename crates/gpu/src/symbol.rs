//! The constant symbol of a module for taps, which all streams of a device share.

use crate::error::{checked, driver};
use crate::stream::Stream;
use apron_abi::{MAX_TAPS, TAPS_SYMBOL, Taps};
use apron_core::Result;
use cust::event::{Event, EventFlags};
use cust::function::Function;
use cust::stream::StreamWaitEventFlags;
use cust::sys::{cuFuncGetModule, cuMemcpyHtoDAsync_v2, cuModuleGetGlobal_v2};
use std::ffi::CString;

/// The last use of the symbol, whose contents must stay until that is done.
#[derive(Default)]
pub(crate) struct TapsSymbol {
    last_use: Option<Event>,
}

impl TapsSymbol {
    /// Enqueues a copy of `taps` into the symbol of the kernel's module, after the last launch that reads the previous
    /// taps.
    pub(crate) fn fill(&mut self, function: &Function<'_>, stream: &Stream, taps: &[u8]) -> Result<()> {
        let operation = || format!("copying {} bytes of taps to constant memory", taps.len());
        if let Some(event) = self.last_use.take() {
            // The driver keeps the event until it was waited for, so it may be dropped here.
            let waiting = stream.inner.wait_event(event, StreamWaitEventFlags::DEFAULT);
            waiting.map_err(|error| driver(operation(), error))?;
        }
        let address = find(function)?;
        // SAFETY: the symbol holds `Taps`, whose first elements are written; from pageable memory the driver has taken
        // the bytes when the call returns.
        let copied =
            unsafe { cuMemcpyHtoDAsync_v2(address, taps.as_ptr().cast(), taps.len(), stream.inner.as_inner()) };
        checked(copied, operation)
    }

    /// Records that the launch just enqueued reads the symbol.
    pub(crate) fn used(&mut self, stream: &Stream) -> Result<()> {
        let event = Event::new(EventFlags::DISABLE_TIMING).and_then(|event| {
            event.record(&stream.inner)?;
            Ok(event)
        });
        self.last_use = Some(event.map_err(|error| driver("ordering uses of constant memory", error))?);
        Ok(())
    }
}

/// Returns the symbol's address in the kernel's module. cust's `Symbol` does not expose it, and its copies synchronize
/// the whole device.
fn find(function: &Function<'_>) -> Result<u64> {
    let name = CString::new(TAPS_SYMBOL).expect("no NUL in the name");
    let operation = || format!("finding {TAPS_SYMBOL} in the kernels");
    let (mut module, mut address, mut bytes) = (std::ptr::null_mut(), 0, 0);
    // SAFETY: the function is loaded; both calls write only the variables whose addresses they are given.
    unsafe {
        checked(cuFuncGetModule(&mut module, function.to_raw()), operation)?;
        checked(cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()), operation)?;
    }
    assert_eq!(bytes, size_of::<Taps<MAX_TAPS>>(), "size of {TAPS_SYMBOL}, in bytes");
    Ok(address)
}
