//! Operations on values that give images: tables, and equalised histograms.

use super::{Backend, HOST_WHY, Solved, host_image, placed};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::target::Room;
use crate::{AnyImage, AnyImageMut, Error, Image, PixelType, Report, Result, Source};
use apron_core::{Clahe, Equalize, Lookup, Problem, Tone};
use std::time::{Duration, Instant};

/// What becomes of an image's values.
#[derive(Debug)]
pub(crate) enum Toning {
    /// They are replaced by those of tables: 256 for all channels, or 256 for each.
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

    /// What is wrong with it for an image.
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
    /// An image with other values; into the room, if there is one.
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
        let (problem, tables) = match toning {
            Toning::Lookup(tables) => {
                let tone = Tone::Lookup(Lookup { shape, tables: (tables.len() / 256) as u32 });
                (Problem::Tone(tone), Some(row(tables)?))
            }
            Toning::Equalize => (Problem::Tone(Tone::Equalize(Equalize { shape })), None),
            Toning::Clahe { clip, tiles } => {
                (Problem::Tone(Tone::Clahe(Clahe { shape, src: pixel, clip: *clip, tiles: *tiles })), None)
            }
        };
        let recipe = self.planned(&problem, choice)?;
        let beside = tables.as_ref().map(Source::from);
        let (written, made) = self.run_kernels(&recipe, source, beside.as_ref(), room)?;
        let storage = written.map(|written| written.into_storage(pixel, shape)).transpose()?;
        Ok(Solved { shape, pixel, images: 1, storage, made })
    }

    fn toned_by_host(&self, toning: &Toning, input: &AnyImage<'_>) -> Result<AnyImage<'static>> {
        let parallel = matches!(self, Backend::Cpu);
        if let Toning::Clahe { clip, tiles } = toning {
            let clahe = Clahe { shape: input.shape(), src: input.pixel_type(), clip: *clip, tiles: *tiles };
            return match (input, parallel) {
                (AnyImage::U8(image), true) => apron_cpu::clahe(image, &clahe).map(AnyImage::U8),
                (AnyImage::U8(image), false) => apron_reference::clahe(image, &clahe).map(AnyImage::U8),
                (AnyImage::U16(image), true) => apron_cpu::clahe(image, &clahe).map(AnyImage::U16),
                (AnyImage::U16(image), false) => apron_reference::clahe(image, &clahe).map(AnyImage::U16),
                _ => unreachable!("the type was checked"),
            };
        }
        let AnyImage::U8(image) = input else { unreachable!("the type was checked") };
        Ok(AnyImage::U8(match (toning, parallel) {
            (Toning::Lookup(tables), true) => apron_cpu::lookup(image, tables),
            (Toning::Lookup(tables), false) => apron_reference::lookup(image, tables),
            (_, true) => apron_cpu::equalize(image),
            (_, false) => apron_reference::equalize(image),
        }))
    }
}

/// All cores write the result where it belongs.
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
        _ => unreachable!("the types were checked"),
    }
}

/// Bytes as an image of one row.
fn row(bytes: &[u8]) -> Result<Image<'_, u8>> {
    Image::new(bytes.len() as u32, 1, 1, bytes)
}
