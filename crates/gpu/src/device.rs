//! Devices: their list, and handles on opened ones.

use crate::error::{checked, driver};
use crate::lanes::Lanes;
use crate::module::Modules;
use crate::stream::Stream;
use crate::symbol::TapsSymbol;
use apron_abi::{Kernel, KernelFacts};
use apron_core::{DeviceInfo, Error, Result};
use apron_plan::Machine;
use cust::CudaApiVersion;
use cust::context::{Context, CurrentContext};
use cust::device::{Device, DeviceAttribute};
use cust::function::Function;
use cust::module::Module;
use cust::stream::Stream as CustStream;
use cust::sys::CUcontext;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Lowest CUDA version of drivers that accept the PTX, which is of version 8.1 for parameters over 4 KB.
const LOWEST_CUDA: (i32, i32) = (12, 1);

/// Returns the newest PTX target that runs on the device.
pub fn ptx_target(info: &DeviceInfo, modules: &Modules) -> Option<u32> {
    modules.targets().filter(|target| *target <= info.capability).max()
}

/// Queries the driver for the properties of a GPU.
fn query(ordinal: u32) -> cust::error::CudaResult<DeviceInfo> {
    let device = Device::get_device(ordinal)?;
    let attribute = |which| device.get_attribute(which).map(|value| value as u32);
    let version = CudaApiVersion::get()?;
    Ok(DeviceInfo {
        ordinal,
        name: device.name()?,
        capability: attribute(DeviceAttribute::ComputeCapabilityMajor)? * 10
            + attribute(DeviceAttribute::ComputeCapabilityMinor)?,
        multiprocessors: attribute(DeviceAttribute::MultiprocessorCount)?,
        memory_bytes: device.total_memory()? as u64,
        cuda_version: (version.major(), version.minor()),
    })
}

/// Queries an attribute that cust does not list.
fn attribute(which: cust::sys::CUdevice_attribute, ordinal: u32) -> Result<u32> {
    let mut value = 0;
    // SAFETY: writes only the variable; the ordinal is the driver's.
    let result = unsafe { cust::sys::cuDeviceGetAttribute(&mut value, which, ordinal as i32) };
    checked(result, || format!("asking GPU {ordinal}"))?;
    Ok(value as u32)
}

/// Loads the driver, without starting it.
///
/// # Errors
/// [`Error::NoDevice`] if there is none.
pub fn find_driver() -> Result<()> {
    apron_driver::load().map_err(|error| Error::NoDevice { device: "gpu".into(), reason: error.to_string() })
}

/// Loads and initialises the driver.
fn start_driver() -> Result<()> {
    let none = |reason: String| Error::NoDevice { device: "gpu".into(), reason };
    find_driver()?;
    cust::init(cust::CudaFlags::empty())
        .map_err(|error| none(format!("the NVIDIA driver does not start ({error}); nvidia-smi may say why")))
}

/// Returns all GPUs that the driver shows.
///
/// # Errors
/// [`Error::NoDevice`] if there is no driver, or it shows no GPU.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    start_driver()?;
    let count = Device::num_devices().map_err(|error| driver("counting GPUs", error))?;
    if count == 0 {
        return Err(Error::NoDevice { device: "gpu".into(), reason: "the driver shows no GPU".into() });
    }
    (0..count).map(|n| query(n).map_err(|error| driver(format!("asking GPU {n}"), error))).collect()
}

/// A GPU with a stream. Clones share both; [`new_stream`](Gpu::new_stream) shares the GPU.
#[derive(Clone)]
pub struct Gpu {
    pub(crate) device: Arc<OpenDevice>,
    pub(crate) stream: Arc<Stream>,
    /// GPUs that share its jobs from host memory.
    pub(crate) others: Arc<[Gpu]>,
    /// Whether recipes are timed.
    pub(crate) timed: bool,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu").field("ordinal", &self.info().ordinal).finish_non_exhaustive()
    }
}

/// State that all streams of a device share.
pub(crate) struct OpenDevice {
    info: DeviceInfo,
    modules: Modules,
    target: u32,
    /// Most shared memory per block, in bytes.
    shared_bytes: u32,
    f64_ratio: u32,
    // Declared before the context: modules are unloaded while it exists.
    kernels: [OnceLock<Module>; Kernel::ALL.len()],
    loading: Mutex<()>,
    taps_symbol: Mutex<TapsSymbol>,
    /// Threads for large copies; their streams and memory are freed while the context exists.
    pub(crate) lanes: Lanes,
    /// Number of allocations by the driver.
    allocations: AtomicU64,
    context: Context,
}

impl Gpu {
    /// Opens GPU `ordinal`, to run the kernels of `modules`.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is no driver or no such GPU, or if the driver or the GPU is too old.
    pub fn open(ordinal: u32, modules: Modules) -> Result<Gpu> {
        let none = |reason: String| Error::NoDevice { device: format!("gpu:{ordinal}"), reason };
        let found = devices()?;
        let Some(info) = found.get(ordinal as usize).cloned() else {
            return Err(none(format!("the driver shows {} GPU(s), numbered from 0", found.len())));
        };
        if info.cuda_version < LOWEST_CUDA {
            let (major, minor) = info.cuda_version;
            return Err(none(format!("its driver supports CUDA {major}.{minor}; 12.1 (driver 530) is needed")));
        }
        let Some(target) = ptx_target(&info, &modules) else {
            let lowest = modules.targets().min().unwrap_or(0);
            let (has, needs) = (info.capability, lowest);
            let reason = format!("{} has compute capability {}.{}", info.name, has / 10, has % 10);
            return Err(none(format!("{reason}; {}.{} is needed", needs / 10, needs % 10)));
        };
        let opening = |error| driver(format!("opening GPU {ordinal}"), error);
        let context = Device::get_device(ordinal).and_then(Context::new).map_err(opening)?;
        use cust::sys::CUdevice_attribute::*;
        let shared_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, ordinal)?;
        let f64_ratio = attribute(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, ordinal)?;
        let kernels = [const { OnceLock::new() }; Kernel::ALL.len()];
        let (loading, taps_symbol, lanes, allocations) = Default::default();
        let device = Arc::new(OpenDevice {
            info,
            modules,
            target,
            shared_bytes,
            f64_ratio,
            kernels,
            loading,
            taps_symbol,
            lanes,
            allocations,
            context,
        });
        device.keep_freed_memory();
        let stream = Stream::new(device.clone())?;
        Ok(Gpu { device, stream, others: [].into(), timed: true })
    }

    /// Returns the GPU with a new stream: work on the two streams is not ordered. GPUs that share its
    /// jobs keep their streams.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver cannot create a stream.
    pub fn new_stream(&self) -> Result<Gpu> {
        self.device.enter()?;
        Ok(Gpu { stream: Stream::new(self.device.clone())?, ..self.clone() })
    }

    /// Returns the GPU with a stream of the caller: work that either side enqueues runs in the order of the calls.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a stream of a context other than the GPU's primary one, or a stream that is being
    /// captured, and [`Error::Driver`].
    pub fn on_stream(&self, stream: Arc<CustStream>) -> Result<Gpu> {
        self.device.enter()?;
        Ok(Gpu { stream: Stream::of_caller(self.device.clone(), stream)?, ..self.clone() })
    }

    /// Returns the GPU without the events that time recipes.
    pub fn untimed(&self) -> Gpu {
        Gpu { timed: false, ..self.clone() }
    }

    /// Returns the stream on which work is enqueued.
    pub fn cust_stream(&self) -> &Arc<CustStream> {
        &self.stream.inner
    }

    /// Sets whether freed memory of this stream is kept for the next buffer of the same size; if not, kept memory is
    /// freed.
    pub fn keep_memory(&self, keep: bool) {
        if self.device.enter().is_ok() {
            self.stream.keep_spare(keep);
            if !keep {
                self.free_lanes();
            }
        }
    }

    /// Returns the number of allocations by the driver since the GPU was opened, on all its streams.
    pub fn allocations(&self) -> u64 {
        self.device.allocations.load(Ordering::Relaxed)
    }

    /// Returns the properties of the GPU.
    pub fn info(&self) -> &DeviceInfo {
        &self.device.info
    }

    /// Returns the properties that plans depend on.
    pub fn machine(&self) -> Machine {
        Machine {
            target: self.device.target,
            multiprocessors: self.device.info.multiprocessors,
            shared_bytes: self.device.shared_bytes,
            f64_ratio: self.device.f64_ratio,
            tuning: None,
        }
    }

    /// Waits for all work enqueued on the stream.
    ///
    /// # Errors
    /// [`Error::Driver`], for instance after a kernel that failed.
    pub fn synchronize(&self) -> Result<()> {
        self.device.enter()?;
        self.stream.uncaptured("waiting", "wait when the capture has ended")?;
        // Recorded work does not run: only the stream that allocates for it is waited for.
        let stream = self.stream.beside().unwrap_or_else(|| self.stream.clone());
        stream.inner.synchronize().map_err(|error| driver("waiting for the GPU", error))
    }
}

impl OpenDevice {
    /// Returns the driver's ordinal of the GPU.
    pub(crate) fn ordinal(&self) -> u32 {
        self.info.ordinal
    }

    /// Most shared memory per block, in bytes.
    pub(crate) fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// Returns the GPU's primary context, which this retains.
    pub(crate) fn context(&self) -> CUcontext {
        self.context.as_raw()
    }

    pub(crate) fn count_allocation(&self) {
        self.allocations.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes the context current on this thread; the driver keeps a current context per thread.
    pub(crate) fn enter(&self) -> Result<()> {
        CurrentContext::set_current(&self.context).map_err(|error| driver("entering the GPU's context", error))
    }

    /// Lets the device's memory pool keep freed memory for later allocations, which then take microseconds. Without
    /// support by the driver, allocations are only slower.
    fn keep_freed_memory(&self) {
        use cust::sys::{CUmemPool_attribute, cuDeviceGetDefaultMemPool, cuMemPoolSetAttribute};
        let mut pool = std::ptr::null_mut();
        let mut threshold = u64::MAX;
        // SAFETY: both calls write or read only the variables whose addresses they are given.
        unsafe {
            let found = cuDeviceGetDefaultMemPool(&mut pool, self.info.ordinal as i32);
            if found == cust::sys::cudaError_enum::CUDA_SUCCESS {
                let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
                cuMemPoolSetAttribute(pool, attribute, (&raw mut threshold).cast());
            }
        }
    }

    /// Returns the kernel's function: from its machine code if the driver accepts it, else from its PTX, which is
    /// compiled on first use.
    pub(crate) fn function(&self, kernel: Kernel) -> Result<Function<'_>> {
        let facts = kernel.facts();
        let module = self.module(kernel)?;
        module.get_function(facts.entry).map_err(|error| driver(format!("finding kernel {}", facts.entry), error))
    }

    /// Returns the taps in constant memory, which all streams share.
    pub(crate) fn taps_symbol(&self) -> MutexGuard<'_, TapsSymbol> {
        self.taps_symbol.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn module(&self, kernel: Kernel) -> Result<&Module> {
        let KernelFacts { entry, .. } = kernel.facts();
        self.load(&self.kernels[kernel as usize], || {
            // Machine code that an older driver rejects is replaced by PTX.
            let code = self.modules.machine_code(entry, self.info.capability);
            if let Some(module) = code.and_then(|code| Module::from_cubin(&code[..], &[]).ok()) {
                return Ok(module);
            }
            let (text, target) = self.modules.ptx(entry, self.info.capability).ok_or_else(|| Error::NoDevice {
                device: format!("gpu:{}", self.info.ordinal),
                reason: format!("this build has no kernel {entry} for sm_{}", self.info.capability),
            })?;
            let loading = || format!("loading kernel {entry} for sm_{target}");
            Module::from_ptx(text, &[]).map_err(|error| driver(loading(), error))
        })
    }

    /// Returns the contents of the slot, which a single thread loads while others wait.
    fn load<'a, T>(&self, slot: &'a OnceLock<T>, load: impl FnOnce() -> Result<T>) -> Result<&'a T> {
        if slot.get().is_none() {
            let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
            if slot.get().is_none() {
                let _ = slot.set(load()?);
            }
        }
        Ok(slot.get().expect("loaded above"))
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // Unloading needs the context; if that is lost, the modules are lost with it.
        let _ = self.enter();
        self.kernels.iter_mut().for_each(|module| drop(module.take()));
        self.lanes.free();
    }
}
