//! Lookup tables and equalisation strip by strip.

use super::{Pool, ReadRows, Whole, WriteRows, first_row, pipeline, read_runs, strips, unsupported};
use crate::backend::Tables;
use crate::lookup::Asked;
use crate::target::Room;
use crate::{AnyImage, Bins, Device, Histogram, LookupBuilder, Report, Result, Source};
use apron_core::{equalizing, matching};
use std::ops::Range;
use std::slice;

impl LookupBuilder<'_> {
    /// Runs the operation strip by strip: its image, from [`ReadRows`], and its result, to [`WriteRows`], need not fit
    /// into memory. The images of all strips that are read, computed and written at a time take at most `memory` bytes.
    /// The result has the bits of the whole image's. To equalise or match, the image is read twice.
    ///
    /// ```
    /// use apron::{Device, Error, Image, WriteRows};
    /// use std::sync::Mutex;
    ///
    /// struct Bytes(Mutex<Vec<u8>>);
    ///
    /// impl WriteRows for Bytes {
    ///     fn write_rows(&self, _: u32, bytes: &[u8]) -> Result<(), Error> {
    ///         self.0.lock().unwrap().extend(bytes);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let (image, out) = (Image::from_fn(1, 4, 1, |_, y, _| [7u8, 9, 9, 200][y as usize])?, Bytes(Mutex::default()));
    /// let report = Device::cpu().equalize(&image).run_rows(&out, 8)?;
    /// assert_eq!((out.0.into_inner().unwrap(), report.operation), (vec![0, 170, 170, 255], "equalize"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](LookupBuilder::run); [`Error::Unsupported`](crate::Error::Unsupported) for CLAHE,
    /// [`Error::Parameter`](crate::Error::Parameter) for too little memory for one row, and the errors
    /// of reading and writing.
    pub fn run_rows(self, out: &dyn WriteRows, memory: u64) -> Result<Report> {
        let LookupBuilder { device, source, lookup, choice } = self;
        let lookup = lookup?;
        let operation = match &lookup {
            Asked::Tables(tables) => tables.operation(),
            Asked::Matching(_) => "match",
        };
        if let Asked::Tables(tables) = &lookup {
            tables.check(&source)?;
        }
        let whole = Whole(source.view());
        let rows: &dyn ReadRows = match &source {
            Source::Rows(rows) => *rows,
            _ => &whole,
        };
        let strips = strips(operation, rows, (first_row(out, rows.shape().height), 2), memory)?;
        let (tables, counted) = match lookup {
            Asked::Tables(Tables::Lookup(tables)) => (tables, None),
            Asked::Tables(Tables::Equalize) => {
                let (counts, report) = counts(device, rows, memory)?;
                (counts.counts().chunks(256).flat_map(equalizing).collect(), Some(report))
            }
            Asked::Tables(Tables::Clahe { .. }) => return Err(unsupported(operation, "tables of tiles")),
            Asked::Matching(reference) => {
                let (counts, report) = counts(device, rows, memory)?;
                (matching(&counts, &reference)?, Some(report))
            }
        };
        let solve = |strip: &Range<u32>, image: &AnyImage<'_>, pool: &Pool| {
            let mut result = pool.take(image.pixel_type(), image.shape())?;
            let looking_up = device.lookup(image, &tables[..]).variant(choice.variant);
            let solved = looking_up.solved(Some(&mut Room::Host(vec![result.view_mut()])))?;
            Ok((solved.made.report()?, strip.start, result))
        };
        let report = pipeline(&strips, |strip, pool| read_runs(rows, slice::from_ref(strip), pool), solve, out)?;
        let report = counted.into_iter().fold(report, |report, part| report.joined(&part));
        Ok(Report { operation, ..report })
    }
}

/// Counts the bytes of each channel.
fn counts(device: &Device, rows: &dyn ReadRows, memory: u64) -> Result<(Histogram, Report)> {
    let bins = Bins { count: 256, range: Some((0.0, 256.0)) };
    device.histogram(rows).bins(bins).per_channel(true).run_rows(memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    /// Notes where strips of a result lie in memory.
    struct Places(Mutex<BTreeSet<usize>>);

    impl WriteRows for Places {
        fn write_rows(&self, _first: u32, bytes: &[u8]) -> Result<()> {
            self.0.lock().unwrap().insert(bytes.as_ptr().addr());
            Ok(())
        }
    }

    /// Rows of bytes, and the most rows that a read may take.
    struct Few(u32);

    impl ReadRows for Few {
        fn shape(&self) -> crate::Shape {
            crate::Shape { width: 100, height: 64, channels: 1 }
        }

        fn pixel_type(&self) -> crate::PixelType {
            crate::PixelType::U8
        }

        fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()> {
            assert!(rows.end - rows.start <= self.0, "{rows:?}");
            bytes.fill(rows.start as u8);
            Ok(())
        }
    }

    #[test]
    fn no_more_rows_are_read_than_memory_holds() {
        let (device, reference) = (Device::cpu(), Image::new(2, 1, 1, vec![3u8, 9]).unwrap());
        // Counting takes twice the rows, since it writes none.
        let rows: &dyn ReadRows = &Few(4);
        for lookup in [device.equalize(rows), device.match_histogram(rows, &reference)] {
            lookup.run_rows(&Places(Mutex::default()), 8 * 2 * 100).unwrap();
        }
    }

    #[test]
    fn strips_of_the_result_use_memory_again() {
        let image = Image::from_fn(1 << 16, 64, 1, |x, y, _| (x * 7 + y) as u8).unwrap();
        let (device, reference) = (Device::cpu(), Image::new(2, 1, 1, vec![3u8, 9]).unwrap());
        for lookup in [device.equalize(&image), device.match_histogram(&image, &reference)] {
            let places = Places(Mutex::default());
            let report = lookup.run_rows(&places, 8 << 16).unwrap();
            assert!(report.why.contains("in 64 strips"), "{}", report.why);
            // One is computed, one is written, and one is spare.
            assert!(places.0.lock().unwrap().len() <= 3, "{:?}", places.0);
        }
    }
}
