//! Devices: by name, and in forked processes.

use crate::chain::Chain;
use crate::error::raised;
use crate::image::Image;
use apron::DeviceName;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;
use std::{process, thread};

/// The process that loaded the module: only this process has the CPU's threads.
static LOADED_BY: LazyLock<u32> = LazyLock::new(process::id);

/// The process that may have opened a GPU, 0 if none has: CUDA does not survive a fork.
static GPU_OF: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The devices of the `with` statements that the thread is in; the innermost is used.
    static CURRENT: RefCell<Vec<apron::Device>> = const { RefCell::new(Vec::new()) };
}

/// Where work is done: on the CPU, a GPU or the emulator, or on the device that is estimated to finish first.
///
/// >>> import apron
/// >>> apron.Device("cpu")
/// Device("cpu")
/// >>> with apron.Device("emulator"):
/// ...     apron.ndimage.uniform_filter1d([0.0, 3.0, 6.0], 3)
/// array([1., 3., 5.])
///
/// In a ``with`` statement, the calling thread uses the device for arrays on the host; otherwise it uses ``"auto"``.
///
/// Parameters
/// ----------
/// name : str
///     ``"auto"``, ``"cpu"``, ``"gpu"`` or ``"gpu:1"``, ``"emulator"`` (the GPU's kernels on the host) or ``"reference"``.
///
/// Raises
/// ------
/// ValueError
///     For another name.
/// RuntimeError
///     For a GPU that does not exist, and in a process that was forked from one that has used a GPU.
#[pyclass(frozen, module = "apron")]
pub(crate) struct Device {
    pub(crate) device: apron::Device,
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (name = "auto"))]
    fn new(py: Python<'_>, name: &str) -> PyResult<Device> {
        let device_name: DeviceName = name.parse().map_err(raised)?;
        if !matches!(device_name, DeviceName::Cpu | DeviceName::Emulator | DeviceName::Reference) {
            own_gpu()?;
        }
        let device = py.detach(|| apron::Device::open(device_name)).map_err(raised)?;
        Ok(Device { device })
    }

    /// The name by which the device was opened.
    #[getter]
    fn name(&self) -> String {
        self.device.name().to_string()
    }

    /// Uses the device for arrays on the host, in the calling thread, until the end of the ``with`` statement.
    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        CURRENT.with_borrow_mut(|devices| devices.push(slf.device.clone()));
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        CURRENT.with_borrow_mut(Vec::pop);
    }

    /// Waits for all work of the device.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.device.synchronize()).map_err(raised)
    }

    /// Copies an array of shape (height, width) or (height, width, channels) to the device, as an `Image`. An array on
    /// the same GPU, with ``__cuda_array_interface__`` or ``__dlpack__``, is copied there, on its stream.
    fn upload(&self, py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<Image> {
        self.uploaded(py, array)
    }

    /// Copies several arrays of one shape and type to the device, as a batch, one `Image`: filters process all of them
    /// in one launch.
    fn upload_batch(&self, py: Python<'_>, arrays: Vec<Bound<'_, PyAny>>) -> PyResult<Image> {
        self.uploaded_batch(py, arrays)
    }

    /// Records the operations of a function, which takes an image and returns one image or several. A GPU then runs all
    /// operations by one launch. Calls that read a result, such as `download`, cannot be recorded.
    fn record(&self, py: Python<'_>, image: &Image, function: Py<PyAny>) -> PyResult<Chain> {
        self.recorded(py, image, function)
    }

    /// Returns the same device with a new stream: on a GPU its work runs concurrently with that of other streams.
    fn new_stream(&self, py: Python<'_>) -> PyResult<Device> {
        py.detach(|| self.device.new_stream()).map_err(raised).map(|device| Device { device })
    }

    fn __repr__(&self) -> String {
        format!("Device(\"{}\")", self.device.name())
    }
}

/// Notes that this process uses a GPU.
///
/// # Errors
/// `RuntimeError` if this process was forked from one that used a GPU.
pub(crate) fn own_gpu() -> PyResult<()> {
    let own = process::id();
    match GPU_OF.compare_exchange(0, own, Relaxed, Relaxed) {
        Err(other) if other != own => Err(PyRuntimeError::new_err(format!(
            "apron: process {own} was forked from {other}, which has used a GPU, and CUDA does not work in both: \
             start processes by 'spawn' or 'forkserver'"
        ))),
        _ => Ok(()),
    }
}

/// Returns the given device. Without one, returns the device for arrays on the host: that of a `with` statement,
/// otherwise `auto`, or the CPU in a process that was forked from one that has used a GPU.
///
/// # Errors
/// `RuntimeError` for a GPU in a forked process.
pub(crate) fn chosen(given: Option<&Device>) -> PyResult<apron::Device> {
    static AUTO: LazyLock<apron::Device> = LazyLock::new(apron::Device::auto);
    let chosen = given.map(|given| given.device.clone()).or_else(|| CURRENT.with_borrow(|all| all.last().cloned()));
    match chosen {
        Some(device) => {
            if !matches!(device.name(), DeviceName::Cpu | DeviceName::Emulator | DeviceName::Reference) {
                own_gpu()?;
            }
            Ok(device)
        }
        None if own_gpu().is_err() => Ok(apron::Device::cpu()),
        None => Ok(AUTO.clone()),
    }
}

/// Number of multiply-adds that one thread finishes before other threads have woken.
const SMALL: usize = 1 << 18;

/// Number of multiply-adds from which on work must be interruptible by Ctrl-C.
const LONG: usize = 1 << 26;

/// Interval at which signals are handled during work.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter's lock. `cost` is its number of multiply-adds: small work runs on one thread. A
/// forked process has none of the threads of its parent, and uses new ones.
///
/// # Errors
/// Apron's error, or the exception of a signal handler, such as `KeyboardInterrupt` by Ctrl-C. In that case the work
/// has ended, too: on the CPU before its next rows.
pub(crate) fn work<R: Send>(
    py: Python<'_>,
    cost: usize,
    work: impl FnOnce() -> apron::Result<R> + Send,
) -> PyResult<R> {
    py.detach(|| {
        if cost <= SMALL {
            return apron_cpu::serially(work).map_err(raised);
        }
        let own = process::id();
        let pool = if *LOADED_BY == own { None } else { Some(forked_threads(own)?) };
        if cost < LONG { on(pool, work).map_err(raised) } else { interruptibly(pool, work) }
    })
}

/// Runs `work` on the threads of `pool`, or of the global pool.
fn on<R: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> R + Send) -> R {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Runs `work` on another thread, while this one handles signals.
fn interruptibly<R: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> apron::Result<R> + Send) -> PyResult<R> {
    let (job, (sender, receiver)) = (apron_cpu::Job::default(), mpsc::channel::<()>());
    // A scope, since the work borrows: the scope ends after the thread.
    thread::scope(|scope| {
        let working = scope.spawn(|| {
            let _done = sender;
            on(pool, || job.run(work))
        });
        let mut handled = Ok(());
        while handled.is_ok() && receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            handled = Python::attach(|py| py.check_signals());
        }
        if handled.is_err() {
            job.stop();
        }
        let result = working.join().unwrap_or_else(|panic| resume_unwind(panic));
        handled?;
        result.expect("work that was not stopped").map_err(raised)
    })
}

/// Returns the thread pool of a forked process.
fn forked_threads(own: u32) -> PyResult<&'static ThreadPool> {
    static POOL: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);
    let mut pool = POOL.lock().unwrap_or_else(|error| error.into_inner());
    match *pool {
        Some((of, pool)) if of == own => Ok(pool),
        _ => {
            let threads = ThreadPoolBuilder::new().build();
            let threads = threads.map_err(|error| PyRuntimeError::new_err(format!("apron: no threads: {error}")))?;
            // Leaked, since the pool lives as long as the process.
            let made: &'static ThreadPool = Box::leak(Box::new(threads));
            *pool = Some((own, made));
            Ok(made)
        }
    }
}

/// Records the process that loads the module.
pub(crate) fn loaded() {
    LazyLock::force(&LOADED_BY);
}
