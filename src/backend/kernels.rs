//! Kernels: from a problem to a recipe, and from the recipe to what it writes.

use super::{Backend, Storage, host_image};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::target::Room;
use crate::{AnyImage, DeviceImage, Error, PixelType, Report, Result, Shape, Source};
use apron_core::Problem;
#[cfg(feature = "gpu")]
use apron_gpu::{Gpu, GpuBuffer};
#[cfg(feature = "gpu")]
use apron_plan::ROW_ALIGNMENT;
use apron_plan::{Machine, Recipe};
use bytemuck::Pod;
use std::time::{Duration, Instant};

/// The output of a recipe, valid when its kernels are done.
pub(crate) enum Written {
    /// Output bytes of each image.
    Host(Vec<Vec<u8>>),
    #[cfg(feature = "gpu")]
    Gpu(apron_gpu::GpuBuffer),
}

impl Written {
    /// Waits for the kernels, and returns the elements.
    pub(crate) fn read<T: Pod>(&self) -> Result<Vec<T>> {
        match self {
            Written::Host(all) => Ok(bytemuck::pod_collect_to_vec(&all[0])),
            #[cfg(feature = "gpu")]
            Written::Gpu(buffer) => {
                let mut elements = vec![T::zeroed(); buffer.len_bytes() as usize / size_of::<T>()];
                buffer.read(bytemuck::cast_slice_mut(&mut elements))?;
                Ok(elements)
            }
        }
    }

    /// Waits for the kernels, and runs `take` on the elements.
    pub(crate) fn with<T: Pod, R>(&self, take: impl FnOnce(&[T]) -> R) -> Result<R> {
        match self {
            Written::Host(all) => Ok(take(&bytemuck::pod_collect_to_vec(&all[0]))),
            #[cfg(feature = "gpu")]
            Written::Gpu(buffer) => buffer.with_bytes(|bytes| take(bytemuck::cast_slice(bytes))),
        }
    }

    /// Converts the output to an image's samples, on the device where they are.
    pub(super) fn into_storage(self, pixel: PixelType, shape: Shape) -> Result<Storage> {
        match self {
            Written::Host(all) => {
                let images = all.iter().map(|bytes| {
                    AnyImage::from_bytes(pixel, shape, |out| {
                        out.copy_from_slice(bytes);
                        Ok(())
                    })
                });
                Ok(Storage::Host(images.collect::<Result<_>>()?))
            }
            #[cfg(feature = "gpu")]
            Written::Gpu(buffer) => Ok(Storage::Gpu(buffer)),
        }
    }
}

impl Backend {
    /// Plans a problem for this device, which has to run kernels.
    pub(super) fn planned(&self, problem: &Problem, choice: &Choice<'_>) -> Result<Recipe> {
        let machine = Machine { tuning: choice.tuning, ..self.machine().expect("a device that runs kernels") };
        let recipe = choice.of(problem.operation(), |variant| apron_plan::plan(problem, variant, &machine));
        recipe.map_err(|error| self.refusing(error))
    }

    /// Runs a recipe on an image and its second input, if any. Returns the output unless it went into `room`.
    pub(super) fn run_kernels(
        &self,
        recipe: &Recipe,
        source: &Source<'_>,
        beside: Option<&Source<'_>>,
        room: Option<&mut Room<'_>>,
    ) -> Result<(Option<Written>, Made)> {
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => {
                let images = source.images();
                let recipe = &recipe.clone().for_images(images).ok_or_else(|| Error::Unsupported {
                    operation: recipe.operation,
                    device: self.name().to_string(),
                    what: format!("{images} images at once by variant {}", recipe.variant),
                    hint: "leave the variant to the plan, or filter each image by itself".into(),
                })?;
                let (input, copy_in) = self.import_timed(source, recipe.operation)?;
                let beside = beside.map(|beside| self.import_timed(beside, recipe.operation)).transpose()?;
                let copy_in = copy_in + beside.as_ref().map_or(Duration::ZERO, |(_, time)| *time);
                let beside = beside.as_ref().map(|(image, _)| image);
                let (output, timer) = match room {
                    Some(room) => (None, execute_into(gpu, recipe, &input, beside, room)?),
                    None => {
                        let (output, timer) = execute(gpu, recipe, &input, beside, None)?;
                        (Some(Written::Gpu(output)), timer)
                    }
                };
                let report = self.by_kernels(recipe, copy_in, Duration::ZERO);
                Ok((output, Made { report, before: Vec::new(), timer }))
            }
            _ => {
                // The emulator takes one image of a batch at a time: only the GPU's executor knows the layout of
                // batches.
                let start = Instant::now();
                let emulated = (0..source.images()).map(|index| {
                    let beside = beside.map(|beside| host_image(beside, index)).transpose()?;
                    emulate(recipe, &host_image(source, index)?, beside.as_ref())
                });
                let all = emulated.collect::<Result<Vec<_>>>()?;
                let made = Made::on_host(self.by_kernels(recipe, Duration::ZERO, start.elapsed()));
                let Some(room) = room else { return Ok((Some(Written::Host(all)), made)) };
                for (index, bytes) in all.iter().enumerate() {
                    room.write(index, |out| {
                        out.copy_from_slice(bytes);
                        Ok(())
                    })?;
                }
                Ok((None, made))
            }
        }
    }

    /// Returns the image on this device, and the time of the copy to it.
    pub(super) fn import_timed(&self, source: &Source<'_>, operation: &'static str) -> Result<(DeviceImage, Duration)> {
        let imported = self.import(source, operation)?;
        let copy_in = if let Source::Host(_) = source { imported.made.report.copy_in } else { Duration::ZERO };
        Ok((imported, copy_in))
    }

    /// Returns the report of a recipe.
    pub(super) fn by_kernels(&self, recipe: &Recipe, copy_in: Duration, kernels: Duration) -> Report {
        let report = self.report(recipe.operation, recipe.variant, &recipe.why, copy_in);
        Report { grid: recipe.grid(), kernels, ..report }
    }

    /// Puts the name of this device into an error of the plan, which knows no devices.
    fn refusing(&self, error: Error) -> Error {
        match error {
            Error::Unsupported { operation, what, hint, .. } => {
                Error::Unsupported { operation, device: self.name().to_string(), what, hint }
            }
            other => other,
        }
    }
}

/// Runs a recipe on images that were imported to the GPU. Rows with gaps are read in place if the kernels can.
#[cfg(feature = "gpu")]
fn execute(
    gpu: &Gpu,
    recipe: &Recipe,
    image: &DeviceImage,
    beside: Option<&DeviceImage>,
    output: Option<&GpuBuffer>,
) -> Result<(GpuBuffer, Option<apron_gpu::Timer>)> {
    // Kernels read rows without gaps at an address that is a multiple of 16 bytes; other images are copied.
    let packed = |image: &DeviceImage| {
        let buffer = image.gpu_buffer(recipe.operation)?;
        // Batches are made without gaps.
        let copy = || buffer.packed(gpu, recipe.operation, image.rows());
        if image.is_packed() && buffer.is_aligned_to(ROW_ALIGNMENT) { Ok(buffer.clone()) } else { copy() }
    };
    let beside = beside.map(packed).transpose()?;
    let buffer = image.gpu_buffer(recipe.operation)?;
    let gaps = !image.is_packed() && buffer.is_aligned_to(ROW_ALIGNMENT) && beside.is_none();
    match gaps.then(|| recipe.clone().with_row_stride(image.shape, image.row_stride)).flatten() {
        Some(recipe) => gpu.execute_beside(&recipe, buffer, None, output),
        None => gpu.execute_beside(recipe, &packed(image)?, beside.as_ref(), output),
    }
}

/// Runs a recipe into `room`. Kernels write directly only to rows without gaps, in memory that they do not read; any
/// other room gets a copy of the result.
#[cfg(feature = "gpu")]
fn execute_into(
    gpu: &Gpu,
    recipe: &Recipe,
    image: &DeviceImage,
    beside: Option<&DeviceImage>,
    room: &mut Room<'_>,
) -> Result<Option<apron_gpu::Timer>> {
    let overlaps = |read: &DeviceImage, buffer| matches!(&*read.storage, Storage::Gpu(read) if read.overlaps(buffer));
    let read = |buffer| overlaps(image, buffer) || beside.is_some_and(|beside| overlaps(beside, buffer));
    if let Room::Gpu { buffer, rows, .. } = &*room
        && buffer.is_on(gpu)
    {
        if rows.is_packed() && buffer.is_aligned_to(ROW_ALIGNMENT) && !read(buffer) {
            return execute(gpu, recipe, image, beside, Some(buffer)).map(|(_, timer)| timer);
        }
        let (output, timer) = execute(gpu, recipe, image, beside, None)?;
        let packed = rows.bytes * rows.count;
        for index in 0..image.images {
            buffer.image(index, rows.span()).copy_rows(&output.image(index, packed), *rows)?;
        }
        return Ok(timer);
    }
    let (output, timer) = execute(gpu, recipe, image, beside, None)?;
    for index in 0..image.images {
        room.write(index as usize, |bytes| output.image(index, bytes.len() as u64).read(bytes))?;
    }
    Ok(timer)
}

/// Runs a recipe in the emulator, and returns its output.
fn emulate(recipe: &Recipe, image: &AnyImage<'_>, beside: Option<&AnyImage<'_>>) -> Result<Vec<u8>> {
    let (shape, row_stride) = (image.shape(), image.row_stride());
    let gaps = row_stride != shape.row_samples() && beside.is_none();
    match gaps.then(|| recipe.clone().with_row_stride(shape, row_stride as u64)).flatten() {
        Some(recipe) => apron_emulator::execute(&recipe, image.spanned_bytes()),
        None => {
            apron_emulator::execute_beside(recipe, &image.bytes(), &beside.map_or(Default::default(), AnyImage::bytes))
        }
    }
}
