//! Formulas of volumes: the computation of a filter, as data.

use super::{VolumeMask, VolumeWeights};
use crate::{Error, MAX_MASK_SIDE, PointOp, Result, Taps};

/// An expression over a volume: weights applied to it, and pointwise operations on the results.
///
/// Operands of a pointwise operation are computed in the type of the sums: f32 where input and output are floats of at
/// most 32 bits, else f64. Only the outermost operation rounds to the output's type.
#[derive(Clone, Debug, PartialEq)]
pub enum VolumeFormula {
    /// The volume itself.
    Volume,
    /// Sums of weighted samples, divided by a number.
    Sums {
        /// The weights.
        weights: VolumeWeights,
        /// What sums are divided by: 1, or the number of voxels of a mean.
        divisor: f64,
    },
    /// The standard deviation over windows of this width, height and depth, of sums in f64.
    Deviation([u32; 3]),
    /// A pointwise operation on one or two results.
    Pointwise {
        /// The operation.
        op: PointOp,
        /// The first operand.
        x: Box<VolumeFormula>,
        /// The second operand, if there is one.
        y: Option<Box<VolumeFormula>>,
    },
}

impl VolumeFormula {
    /// Correlates with a dense mask.
    pub fn dense(mask: VolumeMask) -> VolumeFormula {
        VolumeFormula::Sums { weights: VolumeWeights::Dense(mask), divisor: 1.0 }
    }

    /// Correlates along x, then along y, then along z.
    pub fn separable(taps: [Taps; 3]) -> VolumeFormula {
        VolumeFormula::Sums { weights: VolumeWeights::Separable(taps), divisor: 1.0 }
    }

    /// Averages over windows of this width, height and depth.
    ///
    /// # Errors
    /// [`Error::Parameter`] for sides of 0 or above [`MAX_MASK_SIDE`].
    pub fn mean(size: [u32; 3]) -> Result<VolumeFormula> {
        let ones = |side: u32| {
            if side == 0 || side > MAX_MASK_SIDE {
                return Err(Error::parameter("box", "size", side, format!("1 to {MAX_MASK_SIDE}")));
            }
            Taps::from_f64(vec![1.0; side as usize])
        };
        let weights = VolumeWeights::Separable([ones(size[0])?, ones(size[1])?, ones(size[2])?]);
        Ok(VolumeFormula::Sums { weights, divisor: voxels(size) })
    }

    /// Creates a pointwise operation on one or two results.
    pub fn of(op: PointOp, x: VolumeFormula, y: Option<VolumeFormula>) -> VolumeFormula {
        VolumeFormula::Pointwise { op, x: Box::new(x), y: y.map(Box::new) }
    }

    /// Adds up results, from the first to the last.
    pub fn sum(parts: [VolumeFormula; 3]) -> VolumeFormula {
        let [x, y, z] = parts;
        let add = PointOp::weighted(1.0, 1.0, 0.0);
        VolumeFormula::of(add, VolumeFormula::of(add, x, Some(y)), Some(z))
    }

    /// Returns the root of the sum of the squares of three results.
    pub fn magnitude(parts: [VolumeFormula; 3]) -> VolumeFormula {
        let [x, y, z] = parts;
        VolumeFormula::of(PointOp::Magnitude, VolumeFormula::of(PointOp::Magnitude, x, Some(y)), Some(z))
    }

    /// Returns the width, height and depth of the largest window.
    pub fn window(&self) -> [u32; 3] {
        match self {
            VolumeFormula::Volume => [1; 3],
            VolumeFormula::Sums { weights, .. } => weights.size(),
            VolumeFormula::Deviation(size) => *size,
            VolumeFormula::Pointwise { x, y, .. } => {
                let (first, second) = (x.window(), y.as_ref().map_or([1; 3], |y| y.window()));
                [0, 1, 2].map(|axis| first[axis].max(second[axis]))
            }
        }
    }

    /// Returns the multiply-adds per output sample.
    pub fn taps(&self) -> u64 {
        match self {
            VolumeFormula::Volume => 1,
            VolumeFormula::Sums { weights, .. } => weights.count(),
            VolumeFormula::Deviation(size) => 2 * size.iter().map(|&side| u64::from(side)).sum::<u64>(),
            VolumeFormula::Pointwise { x, y, .. } => x.taps() + y.as_ref().map_or(0, |y| y.taps()),
        }
    }
}

/// Returns the number of voxels of a window.
pub fn voxels(size: [u32; 3]) -> f64 {
    size.iter().map(|&side| f64::from(side)).product()
}
