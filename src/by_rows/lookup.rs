//! Lookup tables and equalisation strip by strip.

use super::{Pool, ReadRows, Whole, WriteRows, first_row, pipeline, read_runs, strips, unsupported};
use crate::backend::Tables;
use crate::target::Room;
use crate::{AnyImage, Bins, Device, LookupBuilder, Report, Result, Source};
use apron_core::equalizing;
use std::ops::Range;
use std::slice;

impl LookupBuilder<'_> {
    /// Runs the operation strip by strip: its image, from [`ReadRows`], and its result, to [`WriteRows`], need not fit
    /// into memory. The images of all strips that are read, computed and written at a time take at most `memory` bytes.
    /// The result has the bits of the whole image's. To equalise, the image is read twice.
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
        let operation = lookup.operation();
        lookup.check(&source)?;
        let whole = Whole(source.view());
        let rows: &dyn ReadRows = match &source {
            Source::Rows(rows) => *rows,
            _ => &whole,
        };
        let strips = strips(operation, rows, (first_row(out, rows.shape().height), 2), memory)?;
        let (tables, counted) = match lookup {
            Tables::Lookup(tables) => (tables, None),
            Tables::Equalize => {
                let (tables, report) = equalizing_tables(device, rows, memory)?;
                (tables, Some(report))
            }
            Tables::Clahe { .. } => return Err(unsupported(operation, "tables of tiles")),
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

/// Returns the tables that equalise the channels of an image of bytes.
fn equalizing_tables(device: &Device, rows: &dyn ReadRows, memory: u64) -> Result<(Vec<u8>, Report)> {
    let bins = Bins { count: 256, range: Some((0.0, 256.0)) };
    let (counts, report) = device.histogram(rows).bins(bins).per_channel(true).run_rows(memory)?;
    Ok((counts.counts().chunks(256).flat_map(equalizing).collect(), report))
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
