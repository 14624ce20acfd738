//! Filters from host memory to host memory by strips: copies and kernels of several strips run at the same time, and
//! only a few strips are on the GPU.

use super::{Backend, Solved, Storage};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::target::Room;
use crate::{AnyImage, AnyImageMut, Report, Result, Source};
use apron_core::{FilterProblem, Problem, Strip};
use apron_gpu::{Gpu, HostRows, HostRowsMut, Rows, StripJob, run_strips};
use apron_plan::Recipe;
use std::time::Duration;

/// Least and most bytes of input and output together per strip; approximate.
const STRIP_BYTES: (usize, usize) = (2 << 20, 8 << 20);
/// Most bytes per strip between pinned images, which the host need not copy: each copy costs the bus some 10 us.
const PINNED_BYTES: usize = 16 << 20;
/// Fewest rows per strip, in multiples of the window's rows: a compromise between uploading halo rows twice and waiting
/// for the last strips.
const WINDOWS: u32 = 2;
/// Fewest strips that are faster than the whole image.
const LEAST_STRIPS: u32 = 4;

/// Returns an image's rows as bytes.
pub(super) fn rows<'a>(image: &'a AnyImage<'_>) -> HostRows<'a> {
    let (shape, stride, sample) = (image.shape(), image.row_stride(), image.pixel_type().size_bytes());
    let bytes = (shape.row_samples() * sample) as u64;
    HostRows::new(image.spanned_bytes(), Rows { bytes, stride: (stride * sample) as u64, count: shape.height as u64 })
}

fn rows_mut<'a>(image: &'a mut AnyImageMut<'_>) -> HostRowsMut<'a> {
    let (shape, stride, sample) = (image.shape(), image.row_stride(), image.pixel_type().size_bytes());
    let bytes = (shape.row_samples() * sample) as u64;
    let rows = Rows { bytes, stride: (stride * sample) as u64, count: shape.height as u64 };
    HostRowsMut::new(image.spanned_bytes_mut(), rows)
}

/// Returns the strips of a large filter; `None` for a filter that is too small, or cannot be cut into strips.
fn strips(problem: &FilterProblem, at_a_time: usize, most_bytes: usize) -> Result<Option<Vec<Strip>>> {
    let (shape, out) = (problem.shape(), problem.window()?.out);
    let row = shape.row_samples() * problem.src().size_bytes() + out.row_samples() * problem.dst().size_bytes();
    let Some(first) = problem.strip(0..1)? else { return Ok(None) };
    let window: u32 = first.input.iter().map(|run| run.end - run.start).sum();
    let bytes = (row * out.height as usize / (2 * at_a_time)).clamp(STRIP_BYTES.0, most_bytes);
    let rows = ((bytes / row) as u32).max(WINDOWS * window);
    if out.height / rows < LEAST_STRIPS {
        return Ok(None);
    }
    let of = |start: u32| problem.strip(start..(start + rows).min(out.height)).transpose();
    (0..out.height).step_by(rows as usize).filter_map(of).collect::<Result<Vec<_>>>().map(Some)
}

/// Returns the jobs of the strips. `of_strip` has the index of each strip's recipe, and the last parameter the bytes
/// per input and output row.
fn jobs<'r>(
    recipes: &'r [Recipe],
    strips: &[Strip],
    of_strip: &[usize],
    (in_row, out_row): (usize, usize),
) -> Vec<StripJob<'r>> {
    let job = |(strip, &problem): (&Strip, &usize)| StripJob {
        recipe: &recipes[problem],
        input: strip.input.iter().map(|run| run.start as usize * in_row..run.end as usize * in_row).collect(),
        output: strip.output.start as usize * out_row..strip.output.end as usize * out_row,
    };
    strips.iter().zip(of_strip).map(job).collect()
}

impl Backend {
    /// Solves a filter's problem by strips on one GPU or several, if image and room are on the host and the filter is
    /// large enough; else returns `None`. Without a room the result of several GPUs is on the host, that of one is not.
    pub(super) fn by_strips(
        &self,
        gpu: &Gpu,
        problem: &FilterProblem,
        source: &Source<'_>,
        choice: &Choice<'_>,
        room: Option<&mut Room<'_>>,
    ) -> Result<Option<Solved>> {
        let Source::Host(image) = source else { return Ok(None) };
        let gpus: Vec<Gpu> = gpu.members().collect();
        let at_a_time: usize = gpus.iter().map(Gpu::strips_at_a_time).sum();
        let (shape, pixel) = (problem.window()?.out, problem.dst());
        let solve =
            |strips: &[Strip], output: HostRowsMut<'_>| self.on_gpus(&gpus, (problem, strips), image, output, choice);
        let pinned = gpu.is_pinned(image.spanned_bytes())?;
        let (report, storage) = match room {
            Some(Room::Host(targets)) => {
                let [target] = &mut targets[..] else { return Ok(None) };
                let pinned = pinned && gpu.is_pinned(target.spanned_bytes_mut())?;
                let most_bytes = if pinned { PINNED_BYTES } else { STRIP_BYTES.1 };
                let Some(strips) = strips(problem, at_a_time, most_bytes)? else { return Ok(None) };
                (solve(&strips, rows_mut(target))?, None)
            }
            None if gpu.is_team() => {
                let Some(strips) = strips(problem, at_a_time, STRIP_BYTES.1)? else { return Ok(None) };
                let mut report = None;
                let result = apron_cpu::image_from_bytes(pixel, shape, |bytes| {
                    report = solve(&strips, HostRowsMut::packed(bytes))?;
                    Ok(())
                });
                (report, Some(Storage::Host(vec![result?])))
            }
            _ => return Ok(None),
        };
        Ok(report.map(|report| Solved { shape, pixel, images: 1, storage, made: Made::on_host(report) }))
    }

    /// Solves a problem by these strips; `None` if memory for the copies cannot be allocated.
    fn on_gpus(
        &self,
        gpus: &[Gpu],
        (problem, strips): (&FilterProblem, &[Strip]),
        image: &AnyImage<'_>,
        output: HostRowsMut<'_>,
        choice: &Choice<'_>,
    ) -> Result<Option<Report>> {
        // Strips in the middle have one problem.
        let mut problems: Vec<&FilterProblem> = Vec::new();
        let mut of_strip = Vec::with_capacity(strips.len());
        for strip in strips {
            let known = problems.iter().position(|problem| **problem == strip.problem);
            of_strip.push(known.unwrap_or(problems.len()));
            if known.is_none() {
                problems.push(&strip.problem);
            }
        }
        let planned = |gpu: &Gpu| {
            let backend = Backend::Gpu(gpu.clone());
            let recipe = |problem: &&FilterProblem| backend.planned(&Problem::Filter((*problem).clone()), choice);
            problems.iter().map(recipe).collect::<Result<Vec<Recipe>>>()
        };
        let recipes = gpus.iter().map(planned).collect::<Result<Vec<_>>>()?;
        let in_row = image.shape().row_samples() * image.pixel_type().size_bytes();
        let out_row = problem.window()?.out.row_samples() * problem.dst().size_bytes();
        let shares: Vec<_> = gpus
            .iter()
            .cloned()
            .zip(recipes.iter().map(|recipes| jobs(recipes, strips, &of_strip, (in_row, out_row))))
            .collect();
        let Some(kernels) = run_strips(&shares, rows(image), output)? else { return Ok(None) };
        let recipe = &recipes[0][of_strip[of_strip.len() / 2]];
        let mut report = self.by_kernels(recipe, Duration::ZERO, kernels);
        let several = if gpus.len() > 1 { format!(", on {} GPUs", gpus.len()) } else { String::new() };
        report.why = format!("{}; in {} strips from host to host{several}", report.why, strips.len());
        Ok(Some(report))
    }
}
