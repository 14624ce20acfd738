//! Operations on images that are recorded once and run again.

use crate::device::Device;
use crate::error::raised;
use crate::image::{Image, check};
use apron::{DeviceImage, Error, Result};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

impl Device {
    pub(crate) fn recorded(&self, py: Python<'_>, image: &Image, function: Py<PyAny>) -> PyResult<Chain> {
        check(&self.device)?;
        let (has_channels, raised_in) = (image.has_channels, Arc::new(Mutex::new(None)));
        let failed = raised_in.clone();
        let work = move |device: &apron::Device, image: &DeviceImage| -> Result<Vec<Image>> {
            Python::attach(|py| {
                let given = Image { device: device.clone(), image: image.clone(), has_channels };
                let called = function.call1(py, (given,)).and_then(|results| images_of(results.bind(py)));
                called.map_err(|error| {
                    // Kept, since this exception is raised, and not the error that is returned here.
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Error::parameter("record", "function", "one that raises", "one that does not")
                })
            })
        };
        let recorded = py.detach(|| self.device.record(&image.image, work));
        let chain = recorded.map_err(|error| of_function(&raised_in, error))?;
        Ok(Chain { chain: Mutex::new(chain), raised_in })
    }
}

/// Returns the exception that the recorded function raised, if any; otherwise Apron's error.
fn of_function(raised_in: &Mutex<Option<PyErr>>, error: Error) -> PyErr {
    raised_in.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_else(|| raised(error))
}

fn images_of(results: &Bound<'_, PyAny>) -> PyResult<Vec<Image>> {
    if let Ok(image) = results.cast::<Image>() {
        return Ok(vec![image.get().clone()]);
    }
    results.try_iter()?.map(|one| Ok(one?.cast_into::<Image>()?.get().clone())).collect()
}

/// Operations on an image that were recorded by `Device.record`: a GPU runs them as one graph, by one launch.
///
/// >>> import apron, numpy as np
/// >>> device = apron.Device("cpu")
/// >>> frame = device.upload(np.zeros((2, 3), np.uint8))
/// >>> chain = device.record(frame, lambda frame: frame.box(3, 1).filter("sharpen"))
/// >>> chain.load(np.full((2, 3), 9, np.uint8))
/// >>> chain.run()[0].download()
/// array([[9, 9, 9],
///        [9, 9, 9]], dtype=uint8)
#[pyclass(frozen, module = "apron")]
pub(crate) struct Chain {
    chain: Mutex<apron::Chain<'static, Vec<Image>>>,
    raised_in: Arc<Mutex<Option<PyErr>>>,
}

#[pymethods]
impl Chain {
    /// Replaces the chain's input by an array or an image of the same shape and type.
    fn load(&self, py: Python<'_>, image: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(image) = image.cast::<Image>() {
            let image = image.get();
            return py.detach(|| self.chain().load(&image.image)).map_err(raised);
        }
        Device::on_host(image, |image| py.detach(|| self.chain().load(&image)).map_err(raised)).map(drop)
    }

    /// Runs the operations, and returns a list of the resulting images; the next run overwrites them. On a GPU, returns
    /// as soon as the work is enqueued.
    fn run(&self, py: Python<'_>) -> PyResult<Vec<Image>> {
        py.detach(|| self.chain().run().cloned()).map_err(|error| of_function(&self.raised_in, error))
    }

    /// The time of the last run, in seconds; on a GPU from the start of its first kernel to the end of its last. Waits
    /// for the run.
    fn elapsed(&self, py: Python<'_>) -> PyResult<f64> {
        py.detach(|| self.chain().elapsed()).map_err(raised).map(|time| time.as_secs_f64())
    }
}

impl Chain {
    fn chain(&self) -> MutexGuard<'_, apron::Chain<'static, Vec<Image>>> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
