//! Images of the workloads: generated in each run, always with the same samples.

use apron::{AnyImage, Image, Pixel, PixelType, Result, Shape, f16};
use std::f32::consts::TAU;
use std::fmt;

/// Description of a generated image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::verbs) struct Picture {
    pub(in crate::verbs) pixel: PixelType,
    pub(in crate::verbs) width: u32,
    /// Rows; those of a volume's planes, one below the other.
    pub(in crate::verbs) height: u32,
    /// Planes of a volume; 1 for an image.
    pub(in crate::verbs) planes: u32,
    pub(in crate::verbs) channels: u32,
    /// Pixels in memory between the end of a row and the start of the next.
    pub(in crate::verbs) gap: u32,
    pub(in crate::verbs) data: Data,
}

/// Distribution of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::verbs) enum Data {
    /// Uniformly distributed over all values; f32 over 0 to 1.
    Uniform,
    /// A single value.
    Constant,
    /// Slopes and waves with noise, as in photographs.
    Natural,
    /// Black and white in random order.
    TwoValued,
    /// Ascending from black to white, so that neighbours are equal.
    Sorted,
}

impl Data {
    pub(super) const ALL: [Data; 5] = [Data::Uniform, Data::Constant, Data::Natural, Data::TwoValued, Data::Sorted];

    pub(super) fn name(self) -> &'static str {
        match self {
            Data::Uniform => "uniform",
            Data::Constant => "constant",
            Data::Natural => "natural",
            Data::TwoValued => "two-valued",
            Data::Sorted => "sorted",
        }
    }
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Picture { pixel, width, height, planes, channels, gap, .. } = self;
        write!(f, "{pixel} {width}x{}", height / planes)?;
        if *planes > 1 {
            return write!(f, "x{planes}");
        }
        if *channels > 1 {
            write!(f, "x{channels}")?;
        }
        if *gap > 0 { write!(f, " of {}", width + gap) } else { Ok(()) }
    }
}

impl Picture {
    pub(in crate::verbs) fn samples(&self) -> u64 {
        self.width as u64 * self.height as u64 * self.channels as u64
    }

    pub(in crate::verbs) fn bytes(&self) -> u64 {
        self.samples() * self.pixel.size_bytes() as u64
    }

    /// Generates the image. A picture with gaps is a [part](AnyImage::region) of a wider image. f32 samples are u8
    /// values divided by 256, or have 24 random bits if uniform.
    pub(in crate::verbs) fn make(&self) -> Result<AnyImage<'static>> {
        let uniform = |index: u32| (mix(index) >> 8) as f32 / (1 << 24) as f32;
        match (self.pixel, self.data) {
            (PixelType::F32, Data::Uniform) => self.filled(uniform),
            (PixelType::F16, _) => self.bytewise(|byte| f16::from_f32(byte as f32 / 256.0)),
            (PixelType::F32, _) => self.bytewise(|byte| byte as f32 / 256.0),
            (PixelType::F64, _) => self.bytewise(|byte| byte as f64 / 256.0),
            (PixelType::U8, _) => self.bytewise(|byte| byte),
            (PixelType::U16, _) => self.bytewise(|byte| byte as u16 * 257),
            (PixelType::I16, _) => self.bytewise(|byte| byte as i16 - 128),
            (other, _) => Ok(apron_files::convert(self.bytewise(|byte| byte)?, other)?),
        }
    }

    fn bytewise<T: Pixel>(&self, of: impl Fn(u8) -> T) -> Result<AnyImage<'static>> {
        match self.data {
            Data::Uniform => self.filled(|index| of((mix(index) >> 24) as u8)),
            Data::Constant => self.filled(|_| of(77)),
            Data::TwoValued => self.filled(|index| of(if mix(index) >> 31 == 0 { 0 } else { 255 })),
            Data::Sorted => {
                let samples = self.samples() + self.gap as u64 * self.height as u64 * self.channels as u64;
                self.filled(|index| of((index as u64 * 256 / samples) as u8))
            }
            Data::Natural => {
                let row = (self.width + self.gap) * self.channels;
                let wave = |length: f32, height: f32, count: u32| -> Vec<f32> {
                    (0..count).map(|i| height * (i as f32 * TAU / length).sin()).collect()
                };
                let (across, down) = (wave(1531.0, 50.0, row), wave(2111.0, 40.0, self.height));
                let slanted = wave(257.0, 20.0, row + self.height);
                self.filled(|index| {
                    let (x, y) = ((index % row) as usize, (index / row) as usize);
                    let noise = (mix(index) >> 28) as f32 - 7.5;
                    of((128.0 + across[x] + down[y] + slanted[x + y] + noise).clamp(0.0, 255.0) as u8)
                })
            }
        }
    }

    /// Generates the image from a function of the sample's index.
    fn filled<T: Pixel>(&self, sample: impl Fn(u32) -> T) -> Result<AnyImage<'static>> {
        let shape = Shape::new(self.width + self.gap, self.height, self.channels)?;
        let samples: Vec<T> = (0..shape.samples() as u32).map(sample).collect();
        Ok(T::into_any(Image::new(shape.width, shape.height, shape.channels, samples)?))
    }
}

/// Scrambles the bits of an index, so that neighbouring indices give unrelated numbers.
pub(super) fn mix(index: u32) -> u32 {
    // Chris Wellons' lowbias32, which the peers' programs use as well.
    let mut bits = index;
    bits = (bits ^ bits >> 16).wrapping_mul(0x7feb_352d);
    bits = (bits ^ bits >> 15).wrapping_mul(0x846c_a68b);
    bits ^ bits >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron::{Device, Source};

    /// Returns the histogram of an image of this kind.
    fn counts(data: Data) -> Vec<u64> {
        let picture = Picture { pixel: PixelType::U8, width: 512, height: 256, planes: 1, channels: 1, gap: 0, data };
        let image = picture.make().unwrap();
        Device::cpu().histogram(Source::from(&image)).run().unwrap().counts().to_vec()
    }

    #[test]
    fn kinds_of_data_are_what_they_say() {
        let used = |counts: &[u64]| counts.iter().filter(|count| **count > 0).count();
        let uniform = counts(Data::Uniform);
        assert!(uniform.iter().all(|count| (350..700).contains(count)), "{uniform:?}");
        assert_eq!(counts(Data::Constant)[77], 512 * 256);
        assert_eq!(used(&counts(Data::TwoValued)), 2);
        assert_eq!(counts(Data::Sorted), [512; 256]);
        let natural = counts(Data::Natural);
        assert!((30..256).contains(&used(&natural)), "{natural:?}");
    }

    #[test]
    fn f32_samples_are_below_1_and_names_tell_channels() {
        let (pixel, data) = (PixelType::F32, Data::Uniform);
        let picture = Picture { pixel, width: 9, height: 5, planes: 1, channels: 3, gap: 0, data };
        let AnyImage::F32(image) = picture.make().unwrap() else { panic!() };
        assert!(image.rows().flatten().all(|sample| (0.0..1.0).contains(sample)));
        assert_eq!((picture.to_string(), picture.bytes()), ("f32 9x5x3".into(), 9 * 5 * 3 * 4));
        assert_eq!(Picture { channels: 1, ..picture }.to_string(), "f32 9x5");
        assert_eq!(Picture { channels: 1, height: 10, planes: 2, ..picture }.to_string(), "f32 9x5x2");
        assert_eq!(Picture { gap: 7, ..picture }.to_string(), "f32 9x5x3 of 16");
        assert_eq!(Picture { gap: 7, ..picture }.make().unwrap().shape().width, 16);
    }
}
