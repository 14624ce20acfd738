//! Filters of volumes: the problem that devices solve, and its passes.

use super::mask::check_anchor;
use super::{VolumeBorders, VolumeExtent, VolumeMask, VolumeRegion, VolumeShape, unstacked, voxels};
use crate::{Border, Cast, Error, PixelType, Result, Shape, Taps};
use apron_abi::BorderMode;

/// The weights of a filter of volumes.
#[derive(Clone, Debug, PartialEq)]
pub enum VolumeWeights {
    /// A mask: planes from the front, rows from the top, columns from the left, one fused multiply-add per tap.
    Dense(VolumeMask),
    /// Taps along x, y and z: the sums along one axis are the samples of the next. An axis whose only
    /// tap is 1 is left out.
    Separable([Taps; 3]),
}

impl VolumeWeights {
    /// Returns the number of taps along x, y and z.
    pub fn size(&self) -> [u32; 3] {
        match self {
            VolumeWeights::Dense(mask) => mask.size(),
            VolumeWeights::Separable(taps) => taps.each_ref().map(Taps::len),
        }
    }

    /// Returns the tap over the output voxel, along x, y and z.
    pub fn anchor(&self) -> [u32; 3] {
        match self {
            VolumeWeights::Dense(mask) => mask.anchor(),
            VolumeWeights::Separable(taps) => taps.each_ref().map(Taps::anchor),
        }
    }

    /// Returns the weights with another anchor.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an anchor outside the window.
    pub fn with_anchor(self, anchor: [u32; 3]) -> Result<VolumeWeights> {
        check_anchor(self.size(), anchor)?;
        Ok(match self {
            VolumeWeights::Dense(mask) => VolumeWeights::Dense(mask.with_anchor(anchor)?),
            VolumeWeights::Separable([x, y, z]) => VolumeWeights::Separable([
                x.with_anchor(anchor[0])?,
                y.with_anchor(anchor[1])?,
                z.with_anchor(anchor[2])?,
            ]),
        })
    }

    /// Returns the number of multiply-adds per output sample.
    pub fn count(&self) -> u64 {
        match self {
            VolumeWeights::Dense(mask) => mask.count() as u64,
            VolumeWeights::Separable(taps) => taps.iter().map(|taps| taps.len() as u64).sum(),
        }
    }
}

/// A filter of a volume.
///
/// Input and output are of any type. Sums are taken in [one type](VolumeFilter::sums) and become the output's once,
/// after the last axis, or after each. Constants of borders extend the volume itself, before the first axis, or what
/// each axis reads.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeFilter {
    /// Shape of the planes, one below the other.
    pub shape: Shape,
    /// Number of planes.
    pub depth: u32,
    /// Sample type of the input.
    pub src: PixelType,
    /// Sample type of the output.
    pub dst: PixelType,
    /// The weights.
    pub weights: VolumeWeights,
    /// Sums are divided by this before they are rounded: the number of voxels, for a mean.
    pub divisor: f64,
    /// How the quotients become integers.
    pub cast: Cast,
    /// Whether the sums along each axis are stored in the output's type before the next axis reads them, as SciPy's
    /// filters do: along z first, then y, then x. Such a filter is [several](VolumeFilter::stages), one after the other.
    pub stored: bool,
    /// The borders along x, y and z.
    pub borders: VolumeBorders,
    /// Voxels to compute.
    pub extent: VolumeExtent,
}

/// The output of a filter of a volume, and the position of its first window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeWindow {
    /// Shape of the output.
    pub out: VolumeShape,
    /// Column, row and plane of the input under the first tap, for the first output.
    pub origin: [i32; 3],
}

/// One correlation of a volume with a dense mask: a filter is one of them, or one along each axis. Numbers are of the
/// type of the sums, which f64 holds exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// The axis, 0 for x, of separable taps; `None` for a mask.
    pub axis: Option<usize>,
    /// Shape of what the pass reads.
    pub input: VolumeShape,
    /// Shape of what it writes.
    pub out: VolumeShape,
    /// Column, row and plane of the input under the first tap, for the first output.
    pub origin: [i32; 3],
    /// Taps along x, y and z.
    pub size: [u32; 3],
    /// The taps, plane by plane and row by row.
    pub taps: Vec<f64>,
    /// The index maps along x, y and z.
    pub modes: [BorderMode; 3],
    /// The samples outside, where a mode is constant.
    pub constants: [f64; 3],
    /// Sums are divided by this.
    pub divisor: f64,
}

impl VolumeFilter {
    pub(crate) const NAME: &'static str = "volume";

    /// Returns the type of the sums: f32 where input and output are floats of at most 32 bits, else f64. Sums of f64
    /// are weighted by the f64 numbers of the taps.
    pub fn sums(&self) -> PixelType {
        sums_of(self.src, self.dst)
    }

    /// Returns width, height, depth and channels of the input.
    ///
    /// # Errors
    /// [`Error::Shape`] for planes that are not alike.
    pub fn volume(&self) -> Result<VolumeShape> {
        unstacked(self.shape, self.depth)
    }

    /// Returns the output's shape and the position of its windows.
    ///
    /// # Errors
    /// [`Error::Shape`] for a volume smaller than the window along an axis with border crop, and for full output that
    /// is too large, and for a region that is not inside the volume; [`Error::Parameter`] for border crop with full
    /// output or a region, for constants that the sums cannot hold, and for a divisor that is 0 or not finite.
    pub fn window(&self) -> Result<VolumeWindow> {
        let wrong = |what, value: String, limit: &str| Err(Error::parameter(VolumeFilter::NAME, what, value, limit));
        let volume = self.volume()?;
        self.borders.check(self.sums())?;
        if !self.divisor.is_finite() || self.divisor == 0.0 {
            return wrong("divisor", self.divisor.to_string(), "finite and not 0");
        }
        if let VolumeExtent::Region(region) = self.extent {
            region.check(volume)?;
        }
        let (size, anchor, borders) = (self.weights.size(), self.weights.anchor(), self.borders.axes());
        let (mut out, mut origin) = (volume.sides(), [0; 3]);
        for (axis, what) in ["width", "height", "depth"].into_iter().enumerate() {
            let (side, taps) = (out[axis], size[axis]);
            match (borders[axis], self.extent) {
                (Border::Crop, VolumeExtent::Same) if taps > side => {
                    let limit = format!("{taps} or more, the window's: the border is crop");
                    return Err(Error::Shape { what, value: side.to_string(), limit });
                }
                (Border::Crop, VolumeExtent::Same) => out[axis] = side - taps + 1,
                (Border::Crop, _) => {
                    return wrong(
                        "border",
                        "crop".into(),
                        "another, where the output is full or a region: crop sees nothing outside",
                    );
                }
                (_, VolumeExtent::Full) => (out[axis], origin[axis]) = (side + taps - 1, 1 - taps as i32),
                (_, VolumeExtent::Region(VolumeRegion { corner, size })) => {
                    (out[axis], origin[axis]) = (size[axis], corner[axis] as i32 - anchor[axis] as i32);
                }
                (_, VolumeExtent::Same) => origin[axis] = -(anchor[axis] as i32),
            }
        }
        let [width, height, depth] = out;
        Ok(VolumeWindow { out: VolumeShape::new(width, height, depth, volume.channels)?, origin })
    }

    /// Returns the filters whose results are stored, in order, and the last one, which gives the output: one filter for
    /// each axis along which there is a pass, z first. Each reads the result of the one before it. Where sums are stored
    /// once, the last one is this filter.
    ///
    /// A mean divides after each pass, as SciPy's does; other sums are divided after the last. One tap 1 is a pass where
    /// it changes the type, but a mean over one voxel and [`Taps::unit`] are none. Of a region each pass cuts its own
    /// axis, and the last one the rest.
    ///
    /// # Errors
    /// As [`window`](VolumeFilter::window); [`Error::Parameter`] for a mask whose sums are to be stored between passes.
    pub fn stages(&self) -> Result<(Vec<VolumeFilter>, VolumeFilter)> {
        let out = self.window()?.out.sides();
        let once = VolumeFilter { stored: false, ..self.clone() };
        let all = match &self.weights {
            VolumeWeights::Separable(all) if self.stored => all,
            VolumeWeights::Dense(_) if self.stored => {
                let limit = "left out: used with separable filters and means";
                return Err(Error::parameter(VolumeFilter::NAME, "store between passes", "asked for", limit));
            }
            _ => return Ok((Vec::new(), once)),
        };
        let lengths = all.each_ref().map(Taps::len);
        let is_mean = self.divisor != 1.0 && self.divisor == voxels(lengths);
        let mut axes: Vec<usize> = Vec::new();
        for axis in [2, 1, 0] {
            let changes_type = axes.is_empty() && !is_mean && !all[axis].is_unit() && self.src != self.dst;
            if all[axis].taps_f64() != [1.0] || changes_type {
                axes.push(axis);
            }
        }
        let Some((&last, before)) = axes.split_last().filter(|(_, before)| !before.is_empty()) else {
            return Ok((Vec::new(), once));
        };
        let (mut input, mut src) = (self.volume()?, self.src);
        let mut stage = |axis: usize, is_last: bool| {
            let mut along = [Taps::unit(), Taps::unit(), Taps::unit()];
            along[axis] = all[axis].clone();
            let divisor = match (is_mean, is_last) {
                (true, _) => f64::from(lengths[axis]),
                (false, true) => self.divisor,
                (false, false) => 1.0,
            };
            let (mut extent, mut sides) = (self.extent, input.sides());
            if let VolumeExtent::Region(region) = self.extent {
                // Passes along other axes see the volume around the region.
                let mut corner = [0; 3];
                for of in (0..3).filter(|of| *of == axis || is_last && !before.contains(of)) {
                    (corner[of], sides[of]) = (region.corner[of], region.size[of]);
                }
                extent = VolumeExtent::Region(VolumeRegion { corner, size: sides });
            }
            sides[axis] = out[axis];
            let (shape, depth) = (input.stacked(), input.depth);
            let weights = VolumeWeights::Separable(along);
            let filter = VolumeFilter { shape, depth, src, weights, divisor, extent, ..once.clone() };
            (input, src) = (VolumeShape::new(sides[0], sides[1], sides[2], input.channels)?, self.dst);
            Ok(filter)
        };
        let before: Vec<VolumeFilter> = before.iter().map(|&axis| stage(axis, false)).collect::<Result<_>>()?;
        Ok((before, stage(last, true)?))
    }

    /// Returns the passes in order, of sums that are not stored between them.
    ///
    /// # Errors
    /// As [`window`](VolumeFilter::window).
    pub fn passes(&self) -> Result<Vec<Pass>> {
        let (window, volume, sums) = (self.window()?, self.volume()?, self.sums());
        let modes = self.borders.axes().map(|border| border.mode_of(sums).0);
        let constants = self.borders.axes().map(|border| border.mode_of(sums).1);
        let divisor = self.divisor;
        let all = match &self.weights {
            VolumeWeights::Dense(mask) => {
                let (taps, size) = (mask.taps_for(sums), mask.size());
                let VolumeWindow { out, origin } = window;
                return Ok(vec![Pass {
                    axis: None,
                    input: volume,
                    out,
                    origin,
                    size,
                    taps,
                    modes,
                    constants,
                    divisor,
                }]);
            }
            VolumeWeights::Separable(all) => all,
        };
        let (mut passes, mut input, mut outside): (Vec<Pass>, _, _) = (Vec::new(), volume, constants);
        for (axis, taps) in all.iter().enumerate() {
            let taps: Vec<f64> = taps.taps_for(sums);
            let is_last = axis == 2 && passes.is_empty();
            // A region is cut out along an axis by the pass along it.
            let is_whole = window.out.sides()[axis] == volume.sides()[axis];
            if taps[..] == [1.0] && is_whole && !is_last {
                continue;
            }
            let (mut out, mut origin, mut size) = (input, [0; 3], [1; 3]);
            *[&mut out.width, &mut out.height, &mut out.depth][axis] = window.out.sides()[axis];
            (origin[axis], size[axis]) = (window.origin[axis], taps.len() as u32);
            // What the passes before make of samples outside along this axis, which are all alike.
            let constants = [outside[axis]; 3];
            outside = outside.map(|outside| match sums {
                PixelType::F64 => taps.iter().fold(0.0, |sum, &tap| tap.mul_add(outside, sum)),
                _ => f64::from(taps.iter().fold(0.0, |sum, &tap| (tap as f32).mul_add(outside as f32, sum))),
            });
            passes.push(Pass { axis: Some(axis), input, out, origin, size, taps, modes, constants, divisor: 1.0 });
            input = out;
        }
        if let Some(last) = passes.last_mut() {
            last.divisor = divisor;
        }
        Ok(passes)
    }
}

/// Returns the type of the sums between volumes of these types.
pub fn sums_of(src: PixelType, dst: PixelType) -> PixelType {
    let floats = [src, dst].iter().all(|pixel| matches!(pixel, PixelType::F32 | PixelType::F16));
    if floats { PixelType::F32 } else { PixelType::F64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(weights: VolumeWeights, borders: VolumeBorders, extent: VolumeExtent) -> VolumeFilter {
        let (shape, src, dst) = (Shape::new(5, 12, 2).unwrap(), PixelType::U8, PixelType::U8);
        let (divisor, cast, stored) = (1.0, Cast::default(), false);
        VolumeFilter { shape, depth: 3, src, dst, weights, divisor, cast, stored, borders, extent }
    }

    fn taps(taps: &[f64]) -> Taps {
        Taps::from_f64(taps).unwrap()
    }

    #[test]
    fn windows_along_each_axis() {
        let mask = VolumeWeights::Dense(VolumeMask::new(3, 2, 1, [1.0; 6]).unwrap());
        let of = |borders: VolumeBorders, extent| filter(mask.clone(), borders, extent).window().unwrap();
        let shape = |w, h, d| VolumeShape::new(w, h, d, 2).unwrap();
        let same = of(Border::Wrap.into(), VolumeExtent::Same);
        assert_eq!((same.out, same.origin), (shape(5, 4, 3), [-1, -1, 0]));
        let full = of(Border::Wrap.into(), VolumeExtent::Full);
        assert_eq!((full.out, full.origin), (shape(7, 5, 3), [-2, -1, 0]));
        let region = VolumeExtent::Region(VolumeRegion { corner: [4, 0, 1], size: [1, 2, 2] });
        let part = of(Border::Wrap.into(), region);
        assert_eq!((part.out, part.origin), (shape(1, 2, 2), [3, -1, 1]));
        let crop = of(VolumeBorders::by_axis(Border::Crop, Border::Wrap, Border::Crop), VolumeExtent::Same);
        assert_eq!((crop.out, crop.origin), (shape(3, 4, 3), [0, -1, 0]));
    }

    #[test]
    fn later_passes_see_what_the_earlier_ones_make_of_constants() {
        let all = [taps(&[0.5, 0.25]), taps(&[1.0]), taps(&[2.0, 1.0, 3.0])];
        let borders = VolumeBorders::by_axis(Border::Constant(1.0), Border::Wrap, Border::Constant(8.0));
        let passes = filter(VolumeWeights::Separable(all), borders, VolumeExtent::Same).passes().unwrap();
        let [x, z] = &passes[..] else { panic!("{passes:?}") };
        assert_eq!((x.constants[0], x.size, x.origin), (1.0, [2, 1, 1], [-1, 0, 0]));
        assert_eq!((z.constants[2], z.size, z.origin), (6.0, [1, 1, 3], [0, 0, -1]));
        // A region along an axis has a pass along it.
        let region = VolumeExtent::Region(VolumeRegion { corner: [0, 1, 0], size: [5, 2, 3] });
        let all = [taps(&[1.0]), taps(&[1.0]), taps(&[2.0, 1.0])];
        let passes = filter(VolumeWeights::Separable(all), borders, region).passes().unwrap();
        let [y, z] = &passes[..] else { panic!("{passes:?}") };
        assert_eq!((y.axis, y.origin, y.out.sides(), z.axis), (Some(1), [0, 1, 0], [5, 2, 3], Some(2)));
        // Nothing but ones is one pass, which copies.
        let none = [taps(&[1.0]), taps(&[1.0]), taps(&[1.0])];
        assert_eq!(filter(VolumeWeights::Separable(none), borders, VolumeExtent::Same).passes().unwrap().len(), 1);
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        let mask = || VolumeWeights::Dense(VolumeMask::new(1, 5, 1, [1.0; 5]).unwrap());
        let good = || filter(mask(), Border::Wrap.into(), VolumeExtent::Same);
        let region = |corner, size| VolumeExtent::Region(VolumeRegion { corner, size });
        for (wrong, part) in [
            (VolumeFilter { borders: Border::Crop.into(), ..good() }, "height is 4, but must be 5 or more"),
            (VolumeFilter { borders: Border::Crop.into(), extent: VolumeExtent::Full, ..good() }, "border is crop"),
            (VolumeFilter { extent: region([4, 0, 0], [2, 1, 1]), ..good() }, "columns of the region is 4 to 6"),
            (VolumeFilter { extent: region([0; 3], [1, 1, 0]), ..good() }, "planes of the region is 0 to 0"),
            (
                VolumeFilter { borders: Border::Crop.into(), extent: region([0; 3], [1; 3]), ..good() },
                "another, where the output is full or a region",
            ),
            (VolumeFilter { divisor: 0.0, ..good() }, "divisor is 0"),
            (VolumeFilter { depth: 5, ..good() }, "depth is 5"),
            (VolumeFilter { borders: Border::Constant(f64::INFINITY).into(), ..good() }, "constant is inf"),
        ] {
            let error = wrong.window().unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        let error = mask().with_anchor([0, 5, 0]).unwrap_err();
        assert!(error.to_string().contains("anchor is 0,5,0"), "{error}");
    }

    #[test]
    fn sums_of_integers_are_f64() {
        use PixelType::{F16, F32, F64, U8};
        assert_eq!([(F16, F32), (F32, F16), (F32, F32)].map(|(src, dst)| sums_of(src, dst)), [F32; 3]);
        assert_eq!([(U8, F32), (F32, U8), (F64, F32), (U8, U8)].map(|(src, dst)| sums_of(src, dst)), [F64; 4]);
    }
}
