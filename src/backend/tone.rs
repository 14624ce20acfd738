//! Operations on the values of samples: lookup tables and histogram equalisation.

use super::host::bytes;
use super::{Backend, HOST_WHY, Solved, host_image, placed};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::target::Room;
use crate::{AnyImage, AnyImageMut, Error, Image, PixelType, Report, Result, Source};
use apron_core::{Clahe, Equalize, Lookup, MapProblem};
use std::time::{Duration, Instant};

/// An operation on the values of an image.
#[derive(Debug)]
pub(crate) enum Toning {
    /// Table lookup: 256 bytes for all channels, or 256 per channel.
    Lookup(Vec<u8>),
    Equalize,
    Clahe {
        clip: f64,
        tiles: (u32, u32),
    },
}

impl Toning {
    pub(crate) fn operation(&self) -> &'static str {
        match self {
            Toning::Lookup(_) => "lookup",
            Toning::Equalize => "equalize",
            Toning::Clahe { .. } => "clahe",
        }
    }

    /// Checks the operation against the image.
    fn check(&self, source: &Source<'_>) -> Result<()> {
        let (operation, shape, found) = (self.operation(), source.shape(), source.pixel_type());
        match self {
            Toning::Clahe { clip, tiles } => Clahe { shape, src: found, clip: *clip, tiles: *tiles }.check(),
            _ if found != PixelType::U8 => Err(Error::PixelType { operation, found, expected: "u8".into() }),
            Toning::Lookup(tables) if ![1, shape.channels as usize].map(|n| n * 256).contains(&tables.len()) => {
                let limit = format!("256, or 256 for each of {} channels", shape.channels);
                Err(Error::parameter(operation, "length of the tables", tables.len(), limit))
            }
            _ => Ok(()),
        }
    }
}

impl Backend {
    /// Applies the operation to an image; the result goes into `room`, if there is one.
    pub(crate) fn tone(
        &self,
        toning: &Toning,
        source: &Source<'_>,
        choice: &Choice<'_>,
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        toning.check(source)?;
        source.check_alone(toning.operation())?;
        let (shape, pixel) = (source.shape(), source.pixel_type());
        if let Some(room) = &room {
            room.check(shape, pixel, 1)?;
        }
        if let Backend::Cpu | Backend::Reference = self {
            let name = self.host_variant(toning.operation(), choice)?;
            let input = host_image(source, 0)?;
            let start = Instant::now();
            let outputs = match (self, &mut room) {
                (Backend::Cpu, Some(Room::Host(out))) => {
                    toned_by_cpu(toning, &input, out[0].view())?;
                    Vec::new()
                }
                _ => vec![self.toned_by_host(toning, &input)?],
            };
            let storage = placed(outputs, room)?;
            let report = self.report(toning.operation(), name, HOST_WHY, Duration::ZERO);
            let made = Made::on_host(Report { kernels: start.elapsed(), ..report });
            return Ok(Solved { shape, pixel, images: 1, storage, made });
        }
        let (problem, tables): (MapProblem, _) = match toning {
            Toning::Lookup(tables) => {
                (Lookup { shape, tables: (tables.len() / 256) as u32 }.into(), Some(row(tables)?))
            }
            Toning::Equalize => (Equalize { shape }.into(), None),
            Toning::Clahe { clip, tiles } => (Clahe { shape, src: pixel, clip: *clip, tiles: *tiles }.into(), None),
        };
        let recipe = self.planned(&problem.into(), choice)?;
        let beside = tables.as_ref().map(Source::from);
        let (written, made) = self.run_kernels(&recipe, source, beside.as_ref(), room)?;
        let storage = written.map(|written| written.into_storage(pixel, shape)).transpose()?;
        Ok(Solved { shape, pixel, images: 1, storage, made })
    }

    fn toned_by_host(&self, toning: &Toning, input: &AnyImage<'_>) -> Result<AnyImage<'static>> {
        let (operation, parallel) = (toning.operation(), matches!(self, Backend::Cpu));
        match (toning, input) {
            (Toning::Lookup(tables), image) if parallel => {
                Ok(AnyImage::U8(apron_cpu::lookup(bytes(operation, image)?, tables)))
            }
            (Toning::Lookup(tables), image) => {
                Ok(AnyImage::U8(apron_reference::lookup(bytes(operation, image)?, tables)))
            }
            (Toning::Equalize, image) if parallel => Ok(AnyImage::U8(apron_cpu::equalize(bytes(operation, image)?))),
            (Toning::Equalize, image) => Ok(AnyImage::U8(apron_reference::equalize(bytes(operation, image)?))),
            (&Toning::Clahe { clip, tiles }, input) => {
                let clahe = Clahe { shape: input.shape(), src: input.pixel_type(), clip, tiles };
                match input {
                    AnyImage::U16(image) if parallel => apron_cpu::clahe(image, &clahe).map(AnyImage::U16),
                    AnyImage::U16(image) => apron_reference::clahe(image, &clahe).map(AnyImage::U16),
                    image if parallel => apron_cpu::clahe(bytes(operation, image)?, &clahe).map(AnyImage::U8),
                    image => apron_reference::clahe(bytes(operation, image)?, &clahe).map(AnyImage::U8),
                }
            }
        }
    }
}

/// Runs the operation on all cores, which write the result in place.
fn toned_by_cpu(toning: &Toning, input: &AnyImage<'_>, out: AnyImageMut<'_>) -> Result<()> {
    let of = |clip, tiles| Clahe { shape: input.shape(), src: input.pixel_type(), clip, tiles };
    match (toning, input, out) {
        (Toning::Lookup(tables), AnyImage::U8(image), AnyImageMut::U8(out)) => {
            apron_cpu::lookup_into(image, tables, out)
        }
        (Toning::Equalize, AnyImage::U8(image), AnyImageMut::U8(out)) => apron_cpu::equalize_into(image, out),
        (Toning::Clahe { clip, tiles }, AnyImage::U8(image), AnyImageMut::U8(out)) => {
            apron_cpu::clahe_into(image, &of(*clip, *tiles), out)
        }
        (Toning::Clahe { clip, tiles }, AnyImage::U16(image), AnyImageMut::U16(out)) => {
            apron_cpu::clahe_into(image, &of(*clip, *tiles), out)
        }
        (_, input, out) => Err(Error::PixelType {
            operation: toning.operation(),
            found: out.pixel_type(),
            expected: input.pixel_type().to_string(),
        }),
    }
}

/// Views bytes as an image of one row.
fn row(bytes: &[u8]) -> Result<Image<'_, u8>> {
    Image::new(bytes.len() as u32, 1, 1, bytes)
}
