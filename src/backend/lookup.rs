//! Operations on the values of samples: lookup tables and histogram equalisation.

use super::{Backend, HOST_WHY, Solved, bytes, host_image, placed};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::target::Room;
use crate::{AnyImage, AnyImageMut, Error, Image, PixelType, Report, Result, Source};
use apron_core::{Clahe, Equalize, Lookup, MapProblem};
use std::time::{Duration, Instant};

/// Lookup tables of an operation: given ones, or those that it computes from its image.
#[derive(Debug)]
pub(crate) enum Tables {
    /// Table lookup: 256 bytes for all channels, or 256 per channel.
    Lookup(Vec<u8>),
    Equalize,
    Clahe {
        clip: f64,
        tiles: (u32, u32),
    },
}

impl Tables {
    pub(crate) fn operation(&self) -> &'static str {
        match self {
            Tables::Lookup(_) => "lookup",
            Tables::Equalize => "equalize",
            Tables::Clahe { .. } => "clahe",
        }
    }

    /// Checks the operation against the image.
    pub(crate) fn check(&self, source: &Source<'_>) -> Result<()> {
        let (operation, shape, found) = (self.operation(), source.shape(), source.pixel_type());
        match self {
            Tables::Clahe { clip, tiles } => Clahe { shape, src: found, clip: *clip, tiles: *tiles }.check(),
            _ if found != PixelType::U8 => Err(Error::PixelType { operation, found, expected: "u8".into() }),
            Tables::Lookup(tables) if ![1, shape.channels as usize].map(|n| n * 256).contains(&tables.len()) => {
                let limit = format!("256, or 256 for each of {} channels", shape.channels);
                Err(Error::parameter(operation, "length of the tables", tables.len(), limit))
            }
            _ => Ok(()),
        }
    }
}

impl Backend {
    /// Applies the operation to an image; the result goes into `room`, if there is one.
    pub(crate) fn look_up(
        &self,
        lookup: &Tables,
        source: &Source<'_>,
        choice: &Choice<'_>,
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        lookup.check(source)?;
        source.check_alone(lookup.operation())?;
        let (shape, pixel) = (source.shape(), source.pixel_type());
        if let Some(room) = &room {
            room.check(shape, pixel, 1)?;
        }
        if let Backend::Cpu | Backend::Reference = self {
            let name = self.host_variant(lookup.operation(), choice)?;
            let input = host_image(source, 0)?;
            let start = Instant::now();
            let outputs = match (self, &mut room) {
                (Backend::Cpu, Some(Room::Host(out))) => {
                    look_up_on_cpu(lookup, &input, out[0].view())?;
                    Vec::new()
                }
                _ => vec![self.look_up_on_host(lookup, &input)?],
            };
            let storage = placed(outputs, room)?;
            let report = self.report(lookup.operation(), name, HOST_WHY, Duration::ZERO);
            let made = Made::on_host(Report { kernels: start.elapsed(), ..report });
            return Ok(Solved { shape, pixel, images: 1, storage, made });
        }
        let (problem, tables): (MapProblem, _) = match lookup {
            Tables::Lookup(tables) => {
                (Lookup { shape, tables: (tables.len() / 256) as u32 }.into(), Some(row(tables)?))
            }
            Tables::Equalize => (Equalize { shape }.into(), None),
            Tables::Clahe { clip, tiles } => (Clahe { shape, src: pixel, clip: *clip, tiles: *tiles }.into(), None),
        };
        let recipe = self.planned(&problem.into(), choice)?;
        let beside = tables.as_ref().map(Source::from);
        let (written, made) = self.run_kernels(&recipe, source, beside.as_ref(), room)?;
        let storage = written.map(|written| written.into_storage(pixel, shape)).transpose()?;
        Ok(Solved { shape, pixel, images: 1, storage, made })
    }

    fn look_up_on_host(&self, lookup: &Tables, input: &AnyImage<'_>) -> Result<AnyImage<'static>> {
        let (operation, parallel) = (lookup.operation(), matches!(self, Backend::Cpu));
        match (lookup, input) {
            (Tables::Lookup(tables), image) if parallel => {
                Ok(AnyImage::U8(apron_cpu::lookup(bytes(operation, image)?, tables)?))
            }
            (Tables::Lookup(tables), image) => {
                Ok(AnyImage::U8(apron_reference::lookup(bytes(operation, image)?, tables)))
            }
            (Tables::Equalize, image) if parallel => Ok(AnyImage::U8(apron_cpu::equalize(bytes(operation, image)?)?)),
            (Tables::Equalize, image) => Ok(AnyImage::U8(apron_reference::equalize(bytes(operation, image)?))),
            (&Tables::Clahe { clip, tiles }, input) => {
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
fn look_up_on_cpu(lookup: &Tables, input: &AnyImage<'_>, out: AnyImageMut<'_>) -> Result<()> {
    let of = |clip, tiles| Clahe { shape: input.shape(), src: input.pixel_type(), clip, tiles };
    match (lookup, input, out) {
        (Tables::Lookup(tables), AnyImage::U8(image), AnyImageMut::U8(out)) => {
            apron_cpu::lookup_into(image, tables, out)
        }
        (Tables::Equalize, AnyImage::U8(image), AnyImageMut::U8(out)) => apron_cpu::equalize_into(image, out),
        (Tables::Clahe { clip, tiles }, AnyImage::U8(image), AnyImageMut::U8(out)) => {
            apron_cpu::clahe_into(image, &of(*clip, *tiles), out)
        }
        (Tables::Clahe { clip, tiles }, AnyImage::U16(image), AnyImageMut::U16(out)) => {
            apron_cpu::clahe_into(image, &of(*clip, *tiles), out)
        }
        (_, input, out) => Err(Error::PixelType {
            operation: lookup.operation(),
            found: out.pixel_type(),
            expected: input.pixel_type().to_string(),
        }),
    }
}

/// Views bytes as an image of one row.
fn row(bytes: &[u8]) -> Result<Image<'_, u8>> {
    Image::new(bytes.len() as u32, 1, 1, bytes)
}
