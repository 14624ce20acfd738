//! The executor: runs recipes, whatever the operation.

use crate::buffer::GpuBuffer;
use crate::device::Gpu;
use crate::error::{checked, driver, not_recorded};
use crate::stream::Stream;
use apron_abi::{FEW_TAPS, FEWEST_TAPS, Layers, MAX_TAPS, TapSpace, Taps, ZEROED_BYTES};
use apron_core::Result;
use apron_plan::{Launch, MAX_GRID_ROWS, Recipe, Role};
use cust::event::{Event, EventFlags};
use cust::function::Function;
use std::ffi::c_void;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Measures the time of a recipe's launches on the GPU, available when they have finished.
pub struct Timer {
    /// Recorded before and behind the launches; taken when the timer is dropped.
    events: Option<[Event; 2]>,
    stream: Arc<Stream>,
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").finish_non_exhaustive()
    }
}

impl Timer {
    /// Records the start event on the stream.
    pub(crate) fn start(gpu: &Gpu) -> Result<Timer> {
        let event = || Event::new(EventFlags::DEFAULT).map_err(|error| driver("creating an event", error));
        let events = match gpu.stream.take_events() {
            Some(events) => events,
            None => [event()?, event()?],
        };
        let timer = Timer { events: Some(events), stream: gpu.stream.clone() };
        timer.record(0)?;
        Ok(timer)
    }

    /// Records the stop event on the stream.
    pub(crate) fn stop(self) -> Result<Timer> {
        self.record(1)?;
        Ok(self)
    }

    fn events(&self) -> &[Event; 2] {
        self.events.as_ref().expect("taken only when dropped")
    }

    fn record(&self, which: usize) -> Result<()> {
        self.events()[which].record(&self.stream.inner).map_err(|error| driver("timing kernels", error))
    }

    /// Waits for the launches, and returns their time.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver), also for a kernel that failed.
    pub fn elapsed(&self) -> Result<Duration> {
        self.stream.device.enter()?;
        let [start, stop] = self.events();
        let elapsed = stop.synchronize().and_then(|()| stop.elapsed_time_f32(start));
        elapsed
            .map(|milliseconds| Duration::from_secs_f64(milliseconds as f64 / 1e3))
            .map_err(|error| driver("timing kernels", error))
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(events) = self.events.take()
            && self.stream.device.enter().is_ok()
        {
            self.stream.put_events(events);
        }
    }
}

impl Gpu {
    /// Enqueues a recipe on `input` and returns its output, which is valid in stream order. There is no timer while the
    /// stream is [recorded](Gpu::record), and none on an [untimed](Gpu::untimed) handle.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](apron_core::Error::OutOfMemory), [`Error::Driver`](apron_core::Error::Driver), and
    /// [`Error::Unsupported`](apron_core::Error::Unsupported) for recipes that cannot be recorded.
    ///
    /// # Panics
    /// If the size of `input` differs from the recipe's input, or the recipe has no output.
    pub fn execute(&self, recipe: &Recipe, input: &GpuBuffer) -> Result<(GpuBuffer, Option<Timer>)> {
        self.execute_beside(recipe, input, None, None)
    }

    /// As [`execute`](Gpu::execute), with a second input for recipes that take one, and into an existing output if one
    /// is given.
    ///
    /// # Errors
    /// As [`execute`](Gpu::execute).
    ///
    /// # Panics
    /// As [`execute`](Gpu::execute), if `beside` is missing, if its size or the output's differs from the recipe's, and
    /// if the output overlaps an input.
    pub fn execute_beside(
        &self,
        recipe: &Recipe,
        input: &GpuBuffer,
        beside: Option<&GpuBuffer>,
        output: Option<&GpuBuffer>,
    ) -> Result<(GpuBuffer, Option<Timer>)> {
        self.device.enter()?;
        let given: Vec<&GpuBuffer> = [Some(input), beside, output].into_iter().flatten().collect();
        for buffer in &given {
            self.stream.wait_for(buffer.home())?;
        }
        let graph = self.stream.beside().is_some() || self.stream.is_captured()?;
        if graph && shares_state(recipe) {
            let variant = format!("variant {}", recipe.variant);
            return Err(not_recorded(&self.device, &variant, "leave the variant to the plan"));
        }
        let operation = recipe.operation;
        let buffers = recipe.buffers.iter().map(|spec| match (spec.role, output) {
            (Role::Output, Some(output)) => {
                assert_eq!(output.len_bytes(), recipe.size_bytes(spec), "size of the output, in bytes");
                let read = [Some(input), beside].into_iter().flatten();
                assert!(read.into_iter().all(|read| !read.overlaps(output)), "an output apart from what is read");
                Ok(Some(output.clone()))
            }
            (Role::Scratch | Role::Output, _) => {
                GpuBuffer::uninitialized(self, operation, recipe.size_bytes(spec)).map(Some)
            }
            (Role::Input | Role::Beside | Role::Texture { .. } | Role::Zeroed, _) => Ok(None),
        });
        let mut buffers = buffers.collect::<Result<Vec<_>>>()?;
        // Kernels are loaded, and compiled on first use, before the start event.
        let mut launches: Vec<Prepared<'_>> = Vec::with_capacity(recipe.launches.len());
        for launch in &recipe.launches {
            launches.push(Prepared::new(self, operation, launch, &launches)?);
        }
        // Locked until everything is enqueued: the stream's next recipe reuses the texture.
        let mut texture = self.stream.texture();

        let timer = if graph || !self.timed { None } else { Some(Timer::start(self)?) };
        let mut enqueue = || {
            let mut addresses = Vec::with_capacity(buffers.len());
            for (spec, buffer) in recipe.buffers.iter().zip(&buffers) {
                addresses.push(match (spec.role, buffer) {
                    (Role::Zeroed, _) => {
                        assert!(spec.size_bytes() <= ZEROED_BYTES, "size of the zeroed memory, in bytes");
                        self.stream.zeroed()?
                    }
                    (Role::Texture { width, height }, _) => texture.fill(&self.stream, input, width, height)?,
                    (_, Some(buffer)) => buffer.address(),
                    (role, None) => {
                        let given =
                            if role == Role::Beside { beside.expect("what is beside the input") } else { input };
                        assert!(given.len_bytes() >= recipe.size_bytes(spec), "size of the input, in bytes");
                        given.address()
                    }
                });
            }
            launches.iter().try_for_each(|launch| launch.enqueue(self, recipe, &addresses))
        };
        let enqueued = enqueue();
        // The given buffers must not be freed before the work that uses them is done, even if a launch failed.
        let waits = given.into_iter().map(|buffer| buffer.home().wait_for(&self.stream));
        let waits = waits.collect::<Vec<_>>().into_iter().collect::<Result<()>>();
        enqueued.and(waits)?;
        let timer = timer.map(Timer::stop).transpose()?;
        let output = recipe.buffers.iter().position(|spec| spec.role == Role::Output).expect("a recipe has an output");
        Ok((buffers[output].take().expect("allocated above"), timer))
    }
}

/// Returns whether a recipe uses a texture or a constant symbol, which other recipes reuse.
fn shares_state(recipe: &Recipe) -> bool {
    let texture = recipe.buffers.iter().any(|buffer| matches!(buffer.role, Role::Texture { .. }));
    texture || recipe.launches.iter().any(|launch| launch.kernel.facts().taps == TapSpace::Symbol)
}

/// A launch with its kernel loaded, and its taps copied if they are in global memory.
struct Prepared<'a> {
    launch: &'a Launch,
    function: Function<'a>,
    /// Shared with the launches of the recipe whose taps are the same.
    global_taps: Option<Rc<GpuBuffer>>,
}

impl<'a> Prepared<'a> {
    fn new(gpu: &'a Gpu, operation: &'static str, launch: &'a Launch, before: &[Prepared<'a>]) -> Result<Prepared<'a>> {
        let function = gpu.device.function(launch.kernel)?;
        allow_shared(gpu, &function, launch.shared_bytes + launch.reserved_bytes)?;
        let global_taps = match launch.kernel.facts().taps {
            TapSpace::Global => {
                let same = before.iter().find(|before| Arc::ptr_eq(&before.launch.taps, &launch.taps));
                match same.and_then(|same| same.global_taps.clone()) {
                    Some(taps) => Some(taps),
                    None => Some(Rc::new(GpuBuffer::from_bytes(gpu, operation, &bytes_of(&launch.taps))?)),
                }
            }
            _ => None,
        };
        Ok(Prepared { launch, function, global_taps })
    }

    fn enqueue(&self, gpu: &Gpu, recipe: &Recipe, addresses: &[u64]) -> Result<()> {
        let launch = self.launch;
        let facts = launch.kernel.facts();
        let (mut src, mut dst) = (addresses[launch.src], addresses[launch.dst]);
        let mut params = launch.params_at(addresses);
        let (grid, mut layers) = grid(launch.blocks, recipe.images, recipe.steps(launch));
        let mut arguments: Vec<*mut c_void> =
            vec![(&raw mut src).cast(), (&raw mut dst).cast(), params.address(), (&raw mut layers).cast()];
        // Only the array in use is initialised: zeroing them takes as long as some launches.
        let (mut fewest_taps, mut few_taps, mut parameter_taps);
        let mut taps_address = self.global_taps.as_ref().map_or(0, |taps| taps.address());
        // Locked until the launch is enqueued, so that no other taps overwrite the symbol before.
        let mut symbol = None;
        match facts.taps {
            TapSpace::None => {}
            TapSpace::FewestParameter => {
                fewest_taps = parameter::<FEWEST_TAPS>(&launch.taps);
                arguments.push((&raw mut fewest_taps).cast());
            }
            TapSpace::SmallParameter => {
                few_taps = parameter::<FEW_TAPS>(&launch.taps);
                arguments.push((&raw mut few_taps).cast());
            }
            TapSpace::Parameter => {
                parameter_taps = parameter::<MAX_TAPS>(&launch.taps);
                arguments.push((&raw mut parameter_taps).cast());
            }
            TapSpace::Symbol => {
                let symbol = symbol.insert(gpu.device.taps_symbol());
                symbol.fill(&self.function, &gpu.stream, &bytes_of(&launch.taps))?;
            }
            TapSpace::Global => arguments.push((&raw mut taps_address).cast()),
        }
        let block = (facts.block[0], facts.block[1], 1);
        let shared_bytes = launch.shared_bytes + launch.reserved_bytes;
        // SAFETY: the arguments are of the entry's types, which come from the same table, and the
        // driver copies them before the call returns; the plan keeps the kernel's launch contract.
        let launched = unsafe { gpu.stream.inner.launch(&self.function, grid, block, shared_bytes, &arguments) };
        // Even after a failed launch: the copy has replaced the previous taps.
        let used = symbol.map_or(Ok(()), |mut symbol| symbol.used(&gpu.stream));
        launched.map_err(|error| {
            driver(format!("launching {} with {:?} blocks of {:?}", facts.entry, launch.blocks, facts.block), error)
        })?;
        used
    }
}

/// Pads taps to a parameter array.
fn parameter<const MOST: usize>(taps: &[f32]) -> Taps<MOST> {
    let mut all = Taps([0.0; MOST]);
    all.0[..taps.len()].copy_from_slice(taps);
    all
}

/// Dynamic shared memory per block that needs no opt-in, in bytes.
const FREE_SHARED: u32 = 48 * 1024;

/// Opts a kernel in to its dynamic shared memory. The limit belongs to the kernel, which another thread may be about to
/// launch with more: it is set to the device's maximum.
fn allow_shared(gpu: &Gpu, function: &Function<'_>, bytes: u32) -> Result<()> {
    if bytes <= FREE_SHARED {
        return Ok(());
    }
    use cust::sys::{CUfunction_attribute, cuFuncSetAttribute};
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let most = bytes.max(gpu.device.shared_bytes());
    // SAFETY: the function is loaded, and the call only sets a number of it.
    let result = unsafe { cuFuncSetAttribute(function.to_raw(), attribute, most as i32) };
    checked(result, || format!("taking {bytes} bytes of shared memory a block"))
}

/// Returns CUDA's grid for `columns` x `rows` blocks, for a batch of images with strides `steps`. CUDA allows 65535
/// blocks in y and z; z counts the images of a batch. For a single image with more rows of blocks, z counts layers of
/// rows, and surplus rows of the last layer do nothing.
fn grid([columns, rows]: [u32; 2], images: u32, (src_step, dst_step): (u32, u32)) -> ((u32, u32, u32), Layers) {
    if images > 1 {
        return ((columns, rows, images), Layers { src_step, dst_step, rows: 0 });
    }
    let layers = rows.div_ceil(MAX_GRID_ROWS).max(1);
    let rows = rows.div_ceil(layers);
    ((columns, rows, layers), Layers { src_step: 0, dst_step: 0, rows })
}

/// Returns the bytes of taps, for a copy to the device.
fn bytes_of(taps: &[f32]) -> Vec<u8> {
    taps.iter().flat_map(|tap| tap.to_ne_bytes()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn grids_hold_every_row_of_blocks() {
        let grid = |blocks| {
            let (grid, layers) = super::grid(blocks, 1, (7, 7));
            assert_eq!((layers.src_step, layers.dst_step, layers.rows), (0, 0, grid.1));
            grid
        };
        assert_eq!(grid([7, 1]), (7, 1, 1));
        assert_eq!(grid([7, 65535]), (7, 65535, 1));
        for rows in [65536, 65537, 131_071, 1 << 20, (1 << 30) + 1] {
            let (_, y, z) = grid([1, rows]);
            assert!(y <= 65535 && z <= 65535, "{rows}: {y} x {z}");
            let all = y as u64 * z as u64;
            assert!((rows as u64..rows as u64 + z as u64).contains(&all), "{rows}: {y} x {z}");
        }
    }

    #[test]
    fn images_of_a_batch_are_layers() {
        let (grid, layers) = super::grid([7, 3], 5, (2, 1));
        assert_eq!((grid, layers.src_step, layers.dst_step, layers.rows), ((7, 3, 5), 2, 1, 0));
    }
}
