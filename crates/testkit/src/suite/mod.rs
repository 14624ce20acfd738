//! The suite: every variant, every border, every type, at ordinary and at hostile sizes.

mod filters;
mod histograms;
mod strips;

use crate::case::{Case, Data, SINGLES};
use crate::{casts, doubles, halves, methods, pad, paired, pointwise, scaled, values, volumes};
use apron::{Border, PixelType};

/// Size of the suite's images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Sizes for the emulator, which take seconds.
    Small,
    /// These and larger sizes, for devices that compute at full speed.
    Full,
}

/// Types that the kernels read, with every type that they write.
fn types() -> impl Iterator<Item = (PixelType, PixelType)> {
    let sources = [PixelType::U8, PixelType::F32];
    sources.into_iter().flat_map(|src| SINGLES.map(|dst| (src, dst)))
}

/// Returns all borders, with a constant that is no sample of any image.
pub(crate) fn borders() -> [Border; 6] {
    let mut borders = Border::ALL;
    borders[0] = Border::Constant(300.5);
    borders
}

/// Makes the suite's cases for a seed.
pub fn suite(scale: Scale, seed: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut number = seed.wrapping_mul(1_000_003);
    let mut next = || {
        number = number.wrapping_add(1);
        number
    };
    filters::small(&mut cases, &mut next);
    strips::strips(&mut cases, &mut next);
    doubles::doubles(scale, &mut next, &mut cases);
    halves::halves(scale, &mut next, &mut cases);
    casts::casts(&mut next, &mut cases);
    volumes::volumes(scale, &mut next, &mut cases);
    strips::small_means(&mut cases, &mut next);
    crate::extents::extents(&mut cases, &mut next);
    filters::special(&mut cases, &mut next);
    histograms::histograms(&mut cases, &mut next);
    methods::boxes(scale, &mut next, &mut cases);
    methods::low_ranks(scale, &mut next, &mut cases);
    methods::chosen(&mut next, &mut cases);
    pointwise::points(scale, &mut next, &mut cases);
    pointwise::deviations(scale, &mut next, &mut cases);
    paired::pairs(&mut next, &mut cases);
    scaled::scaled_sums(&mut next, &mut cases);
    pad::pads(scale, &mut next, &mut cases);
    paired::nested(&mut next, &mut cases);
    values::cases(scale, &mut next, &mut cases);
    strips::pieces(&mut cases, &mut next);
    if scale == Scale::Full {
        filters::large(&mut cases, &mut next);
        histograms::large(&mut cases, &mut next);
    }
    crate::fft::transforms(&mut next, &mut cases);
    crate::examples::limits(&mut cases, next);
    cases
}

/// Returns every image with sides up to `side` pixels, every mask with sides up to `mask` taps, and every border that
/// leaves windows, dense and separable.
pub fn exhaustive(side: u32, mask: u32, seed: u64) -> impl Iterator<Item = Case> {
    let pairs = |most: u32| (1..=most).flat_map(move |a| (1..=most).map(move |b| (a, b)));
    pairs(side).flat_map(move |size| {
        pairs(mask).flat_map(move |mask| {
            let fits = mask.0 <= size.0 && mask.1 <= size.1;
            let borders = borders().into_iter().filter(move |border| *border != Border::Crop || fits);
            borders.enumerate().map(move |(n, border)| {
                let seed = seed + (size.0 * 1000 + size.1 * 100 + mask.0 * 10 + mask.1) as u64;
                let shape = (size.0, size.1, 1);
                let types = (PixelType::F32, PixelType::F32);
                if (n as u32 + size.0 + mask.1).is_multiple_of(2) {
                    Case::correlate(seed, shape, types, mask, border, Data::Uniform)
                } else {
                    Case::separable(seed, shape, types, mask, border, Data::Uniform)
                }
            })
        })
    })
}
