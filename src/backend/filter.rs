//! Filters: from an image to an image, by kernels or on the host.

use super::{Backend, HOST_WHY, Solved, host_image, placed};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::target::Room;
use crate::{Error, Report, Result, Source};
use apron_core::{FilterProblem, Problem, check_memory};
use std::time::{Duration, Instant};

impl Backend {
    /// Solves a filter's problem for one image or for two; the result goes into `room`, if there is one. `why` is the
    /// reason for the problem's method.
    pub(crate) fn filter(
        &self,
        problem: &FilterProblem,
        why: &str,
        source: &Source<'_>,
        beside: Option<&Source<'_>>,
        choice: &Choice<'_>,
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        let (dst, window) = (problem.dst(), problem.window()?);
        if let FilterProblem::Pointwise(problem) = problem {
            let of = |source: &Source<'_>| (source.shape(), source.pixel_type());
            problem.check_images(of(source), beside.map(of))?;
        }
        let (shape, images) = (window.out, source.images());
        if let Some(second) = beside.map(Source::images).filter(|second| *second != images) {
            return Err(Error::Shape {
                what: "number of images",
                value: second.to_string(),
                limit: images.to_string(),
            });
        }
        if let Some(room) = &room {
            room.check(shape, dst, images)?;
        }
        #[cfg(feature = "gpu")]
        if let (Backend::Gpu(gpu), None) = (self, beside)
            && let Some(mut solved) = self.by_strips(gpu, problem, source, choice, room.as_deref_mut())?
        {
            solved.made.report.of_method(problem, why);
            return Ok(solved);
        }
        let (storage, mut made) = match self {
            Backend::Cpu | Backend::Reference => {
                // The CPU device checks its memory where it allocates.
                if let Backend::Reference = self {
                    check_memory::<u8>(shape.samples().saturating_mul(dst.size_bytes() as u64), shape)?;
                }
                let name = self.host_variant(problem.operation(), choice)?;
                let (mut outputs, mut took) = (Vec::new(), Duration::ZERO);
                for index in 0..images {
                    let input = host_image(source, index)?;
                    let beside = beside.map(|beside| host_image(beside, index)).transpose()?;
                    let start = Instant::now();
                    match (self, &mut room) {
                        (Backend::Cpu, Some(Room::Host(out))) => {
                            apron_cpu::any::filter_into(problem, &input, beside.as_ref(), out[index as usize].view())?;
                        }
                        (Backend::Cpu, _) => outputs.push(apron_cpu::any::filter(problem, &input, beside.as_ref())?),
                        _ => outputs.push(apron_reference::any::filter(problem, &input, beside.as_ref())?),
                    }
                    took += start.elapsed();
                }
                let storage = placed(outputs, room)?;
                let report = self.report(problem.operation(), name, HOST_WHY, Duration::ZERO);
                (storage, Made::on_host(Report { kernels: took, ..report }))
            }
            _ => {
                let recipe = self.planned(&Problem::Filter(problem.clone()), choice)?;
                let (written, made) = self.run_kernels(&recipe, source, beside, room)?;
                (written.map(|written| written.into_storage(dst, shape)).transpose()?, made)
            }
        };
        made.report.of_method(problem, why);
        Ok(Solved { shape, pixel: dst, images, storage, made })
    }
}
