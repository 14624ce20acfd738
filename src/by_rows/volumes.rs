//! Filters of volumes slab by slab: some planes of the result, from the planes that their windows see.

use super::regions::Strip;
use super::{Pool, ReadRows, STRIPS_AT_A_TIME, Whole, WriteRows, first_row, pipeline, read_runs, unsupported};
use crate::target::Room;
use crate::volumes::{
    VolumeExtent, VolumeFilterBuilder, VolumeFormula, VolumeRegion, VolumeShape, VolumeSource, parts,
};
use crate::{AnyImage, Border, Error, PixelType, Report, Result, Shape, Source};
use apron_core::sums_of;
use std::ops::Range;

const OPERATION: &str = "volume";

impl VolumeFilterBuilder<'_> {
    /// Runs the filter slab by slab: its volume, from the rows of its planes one below the other
    /// ([`VolumeSource::from_stack`] of [`ReadRows`]), and its result, to [`WriteRows`], need not fit into memory.
    /// Whole planes are read and written. The slabs that are read, computed and written at a time take at most `memory`
    /// bytes. The result has the bits of the whole volume's.
    ///
    /// ```
    /// use apron::volumes::{self, Volume};
    /// use apron::{Device, Result, WriteRows};
    /// use std::sync::Mutex;
    ///
    /// struct Rows(Mutex<Vec<u8>>);
    ///
    /// impl WriteRows for Rows {
    ///     fn write_rows(&self, _first: u32, bytes: &[u8]) -> Result<()> {
    ///         self.0.lock().unwrap().extend_from_slice(bytes);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let (device, volume) = (Device::cpu(), Volume::from_fn(2, 2, 90, 1, |_, _, z, _| (z * z / 32) as u8)?);
    /// let mean = volumes::mean([1, 1, 3])?;
    /// let rows = Rows(Mutex::default());
    /// let report = device.filter_volume(&volume, mean.clone()).run_rows(&rows, 128)?;
    /// assert!(report.why.ends_with("in 30 strips")); // of three planes
    /// let whole = device.filter_volume(&volume, mean).run()?.download::<u8>()?;
    /// assert_eq!(rows.0.into_inner().unwrap(), whole.packed()[..]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](VolumeFilterBuilder::run); [`Error::Unsupported`] for results of another size than the volume,
    /// [`Error::Parameter`] for too little memory for a slab of one plane, and the errors of reading and writing.
    pub fn run_rows(self, out: &dyn WriteRows, memory: u64) -> Result<Report> {
        let dst = self.out_type_of();
        self.depth()?;
        let VolumeFilterBuilder { device, source, formula, options, .. } = self;
        let (shape, src) = (source.shape()?, source.pixel_type());
        if options.extent != VolumeExtent::Same || options.borders.axes().contains(&Border::Crop) {
            return Err(unsupported(OPERATION, "a filter whose result has another size than the volume"));
        }
        let whole = Whole(source.stack.view());
        let rows: &dyn ReadRows = match &source.stack {
            Source::Rows(rows) => *rows,
            _ => &whole,
        };
        let height = shape.height;
        let first = first_row(out, height * shape.depth) / height;
        let wraps = options.borders.z == Border::Wrap;
        let reach = reach(&formula, options.anchor.map(|[.., z]| z));
        // What reads the volume itself copies a region of it.
        let has_regions = !reads_volume(&formula);
        // Without regions a slab's result has all planes that are read; of sums that are stored there are those of two
        // passes.
        let whole = dst.size_bytes() as u64 * (u64::from(!has_regions) + 2 * u64::from(options.stored));
        let between = whole + between(&formula, (src, dst));
        let slabs = slabs((shape, first), (src, dst, between), (reach, wraps), memory)?;
        let rows_of = |planes: &Range<u32>| planes.start * height..planes.end * height;
        // One device for all slabs: what is chosen by a volume's size is chosen by that of the whole.
        let device = device.for_slabs(parts::job(&formula, (&source.stack, source.depth), dst, &options, true));
        let solve = |slab: &Strip, stack: &AnyImage<'_>, pool: &Pool| {
            let planes = slab.read.iter().map(|run| run.end - run.start).sum();
            let source = VolumeSource::from_stack(stack, planes)?;
            let mut filter = VolumeFilterBuilder::new(&device, source, formula.clone()).out_type(dst);
            filter.options = options;
            let count = slab.rows.end - slab.rows.start;
            let (rows, first) = (count * height, slab.rows.start * height);
            if !has_regions {
                let result = filter.run()?;
                let report = result.report()?;
                let inner = result.stack().region(0, slab.above * height, shape.width, rows)?;
                return Ok((report, first, inner.into_host()?));
            }
            let region = VolumeRegion { corner: [0, 0, slab.above], size: [shape.width, height, count] };
            filter.options.extent = VolumeExtent::Region(region);
            let mut result = pool.take(dst, Shape { height: rows, ..shape.plane() })?;
            let solved = filter.solved(Some(&mut Room::Host(vec![result.view_mut()])))?;
            Ok((solved.made.report()?, first, result))
        };
        let read =
            |slab: &Strip, pool: &Pool| read_runs(rows, &slab.read.iter().map(rows_of).collect::<Vec<_>>(), pool);
        pipeline(&slabs, read, solve, out)
    }
}

/// Whether a formula reads the volume itself, not only its windows.
fn reads_volume(formula: &VolumeFormula) -> bool {
    match formula {
        VolumeFormula::Volume => true,
        VolumeFormula::Sums { .. } | VolumeFormula::Deviation(_) => false,
        VolumeFormula::Pointwise { x, y, .. } => reads_volume(x) || y.as_ref().is_some_and(|y| reads_volume(y)),
    }
}

/// Returns the number of planes that windows see on the side where they see more; their anchor is their
/// own unless it is given.
fn reach(formula: &VolumeFormula, anchor: Option<u32>) -> u32 {
    let of = |side: u32, anchor: u32| anchor.max(side - 1 - anchor);
    match formula {
        VolumeFormula::Volume => 0,
        VolumeFormula::Sums { weights, .. } => of(weights.size()[2], anchor.unwrap_or(weights.anchor()[2])),
        VolumeFormula::Deviation([.., side]) => of(*side, side / 2),
        VolumeFormula::Pointwise { x, y, .. } => reach(x, anchor).max(y.as_ref().map_or(0, |y| reach(y, anchor))),
    }
}

/// Returns the bytes of intermediate results per voxel and channel, at most.
fn between(formula: &VolumeFormula, (src, dst): (PixelType, PixelType)) -> u64 {
    let sums = sums_of(src, dst).size_bytes() as u64;
    match formula {
        VolumeFormula::Volume => 0,
        VolumeFormula::Sums { .. } if src.is_computed() && dst.is_computed() => 0,
        VolumeFormula::Sums { .. } => 16,
        // The samples, their squares, and the sums of both, in f64.
        VolumeFormula::Deviation(_) => 32,
        VolumeFormula::Pointwise { x, y, .. } => {
            let types = (src, sums_of(src, dst));
            2 * sums + between(x, types).max(y.as_ref().map_or(0, |y| between(y, types)))
        }
    }
}

/// Returns the slabs from a plane on whose images together take at most `memory` bytes; the one that is computed has
/// `between` bytes of intermediate results per voxel and channel that it reads.
fn slabs(
    (shape, first): (VolumeShape, u32),
    (src, dst, between): (PixelType, PixelType, u64),
    (reach, wraps): (u32, bool),
    memory: u64,
) -> Result<Vec<Strip>> {
    let plane = shape.plane().samples();
    // Intermediate results are those of the slab that is computed; twice, since some stay beside their successors.
    let read = plane * (STRIPS_AT_A_TIME * src.size_bytes() as u64 + 2 * between);
    let made = plane * STRIPS_AT_A_TIME * dst.size_bytes() as u64;
    let of = |planes: Range<u32>| Strip::of(planes, (shape.depth, reach), wraps);
    let middle = shape.depth / 2;
    let seen: u64 = of(middle..middle + 1).read.iter().map(|run| u64::from(run.end - run.start)).sum();
    let one = seen * read + made;
    if one > memory {
        let (value, limit) = (format!("{memory} bytes"), format!("{one} or more for one plane"));
        return Err(Error::parameter(OPERATION, "memory", value, limit));
    }
    let planes = (1 + (memory - one) / (read + made)).min(shape.depth.into()) as u32;
    Ok((first..shape.depth)
        .step_by(planes as usize)
        .map(|z| of(z..z.saturating_add(planes).min(shape.depth)))
        .collect())
}
