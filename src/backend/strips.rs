//! Filters from host memory to host memory by strips: copies and kernels of several strips run at the same time, and only a
//! few strips are on the GPU.

use super::{Backend, Solved};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::target::Room;
use crate::{AnyImage, AnyImageMut, Result, Source};
use apron_core::{FilterProblem, Problem, Strip};
use apron_gpu::{Gpu, HostRows, HostRowsMut, Rows, StripJob};
use apron_plan::Recipe;
use std::time::Duration;

/// Least and most bytes of input and output together per strip, about.
const STRIP_BYTES: (usize, usize) = (2 << 20, 8 << 20);
/// Fewer strips than these are not worth it.
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

/// Returns the strips that a large filter is cut into; `None` for one that is not worth it, or has none.
fn strips(problem: &FilterProblem, at_a_time: usize) -> Result<Option<Vec<Strip>>> {
    let (shape, out) = (problem.shape(), problem.window()?.out);
    let row = shape.row_samples() * problem.src().size_bytes() + out.row_samples() * problem.dst().size_bytes();
    let Some(first) = problem.strip(0..1)? else { return Ok(None) };
    // Three times the rows of a window, so that few rows are copied twice.
    let window: u32 = first.input.iter().map(|run| run.end - run.start).sum();
    let bytes = (row * out.height as usize / (2 * at_a_time)).clamp(STRIP_BYTES.0, STRIP_BYTES.1);
    let rows = ((bytes / row) as u32).max(3 * window);
    if out.height / rows < LEAST_STRIPS {
        return Ok(None);
    }
    let of = |start: u32| problem.strip(start..(start + rows).min(out.height)).transpose();
    (0..out.height).step_by(rows as usize).filter_map(of).collect::<Result<Vec<_>>>().map(Some)
}

impl Backend {
    /// Solves a filter's problem by strips, where image and room are on the host, and it is worth it; else `None`.
    pub(super) fn by_strips(
        &self,
        gpu: &Gpu,
        problem: &FilterProblem,
        source: &Source<'_>,
        choice: &Choice<'_>,
        room: &mut Room<'_>,
    ) -> Result<Option<Solved>> {
        let (Source::Host(image), Room::Host(targets)) = (source, room) else { return Ok(None) };
        let ([target], Some(strips)) = (&mut targets[..], strips(problem, gpu.strips_at_a_time())?) else {
            return Ok(None);
        };
        // Strips in the middle have one recipe.
        let mut recipes: Vec<(&FilterProblem, Recipe)> = Vec::new();
        let mut of_strip = Vec::with_capacity(strips.len());
        for strip in &strips {
            let known = recipes.iter().position(|(problem, _)| **problem == strip.problem);
            of_strip.push(match known {
                Some(known) => known,
                None => {
                    recipes.push((&strip.problem, self.planned(&Problem::Filter(strip.problem.clone()), choice)?));
                    recipes.len() - 1
                }
            });
        }
        let (input, output) = (rows(image), rows_mut(target));
        let in_row = image.shape().row_samples() * image.pixel_type().size_bytes();
        let out_row = problem.window()?.out.row_samples() * problem.dst().size_bytes();
        let jobs = strips.iter().zip(&of_strip).map(|(strip, &recipe)| StripJob {
            recipe: &recipes[recipe].1,
            input: strip.input.iter().map(|run| run.start as usize * in_row..run.end as usize * in_row).collect(),
            output: strip.output.start as usize * out_row..strip.output.end as usize * out_row,
        });
        let jobs: Vec<StripJob<'_>> = jobs.collect();
        let Some(kernels) = gpu.run_strips(&jobs, input, output)? else { return Ok(None) };
        let recipe = &recipes[of_strip[of_strip.len() / 2]].1;
        let mut report = self.by_kernels(recipe, Duration::ZERO, kernels);
        report.why = format!("{}; in {} strips from host to host", report.why, jobs.len());
        let (shape, pixel) = (problem.window()?.out, problem.dst());
        Ok(Some(Solved { shape, pixel, images: 1, storage: None, made: Made::on_host(report) }))
    }
}
