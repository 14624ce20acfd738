//! Serial table lookups and equalisation.

use apron_core::{Clahe, FromSum, Image, Pixel, Result, between_tiles, bilinear, check_memory, equalizing};

/// Replaces each sample by its entry in `tables`: 256 entries for all channels, or 256 per channel.
///
/// ```
/// use apron_core::Image;
///
/// let negative: Vec<u8> = (0..=255).rev().collect();
/// let image = Image::new(2, 1, 1, vec![0u8, 55])?;
/// assert_eq!(apron_reference::lookup(&image, &negative).row(0), [255, 200]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Panics
/// If there is another number of entries.
pub fn lookup(image: &Image<u8>, tables: &[u8]) -> Image<'static, u8> {
    let channels = image.channels() as usize;
    assert!(tables.len() == 256 || tables.len() == 256 * channels, "a table for all channels, or one for each");
    let apart = tables.len() / 256;
    let mut found = Vec::with_capacity(image.shape().samples() as usize);
    for row in image.rows() {
        for (i, &sample) in row.iter().enumerate() {
            found.push(tables[i % apart * 256 + sample as usize]);
        }
    }
    Image::new(image.width(), image.height(), image.channels(), found).expect("the input's shape")
}

/// Equalises the histogram of each channel, as OpenCV's `equalizeHist`.
///
/// ```
/// use apron_core::Image;
///
/// let image = Image::new(4, 1, 1, vec![7u8, 9, 9, 200])?;
/// // Of three samples above the least, two are at most 9: 255 * 2 / 3.
/// assert_eq!(apron_reference::equalize(&image).row(0), [0, 170, 170, 255]);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn equalize(image: &Image<u8>) -> Image<'static, u8> {
    let counts = crate::byte_histogram(image, true);
    let tables: Vec<u8> = counts.chunks(256).flat_map(equalizing).collect();
    lookup(image, &tables)
}

/// Equalises each channel adaptively by tiles, as OpenCV's `createCLAHE`; u8 and u16.
///
/// ```
/// use apron_core::{Clahe, Image, PixelType};
///
/// // One tile, no limit: the share of samples that are not above a value, times 255.
/// let image = Image::new(2, 2, 1, vec![10u8, 20, 20, 30])?;
/// let clahe = Clahe { shape: image.shape(), src: PixelType::U8, clip: 0.0, tiles: (1, 1) };
/// assert_eq!(apron_reference::clahe(&image, &clahe)?.packed()[..], [64, 191, 191, 255]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Clahe::check`].
pub fn clahe<T: Pixel + FromSum<f32>>(image: &Image<T>, clahe: &Clahe) -> Result<Image<'static, T>> {
    clahe.check()?;
    let (channels, (across, down), tile) = (image.channels(), clahe.tiles, clahe.tile());
    let index = |sample: T| sample.to_f32() as usize;
    let number = u64::from(clahe.tiles.0) * u64::from(clahe.tiles.1) * u64::from(image.channels());
    check_memory::<f32>(number * clahe.values() as u64, "tables of tiles")?;
    let mut tables: Vec<Vec<f32>> = Vec::new();
    for channel in 0..channels {
        for ty in 0..down {
            for tx in 0..across {
                let mut counts = vec![0; clahe.values()];
                for y in ty * tile.1..(ty + 1) * tile.1 {
                    for x in tx * tile.0..(tx + 1) * tile.0 {
                        let (x, y) = (reflected(x, image.width()), reflected(y, image.height()));
                        counts[index(image.sample(x, y, channel))] += 1;
                    }
                }
                tables.push(clahe.table(counts).map(|entry| T::from_sum(entry).to_f32()).collect());
            }
        }
    }
    let mut equalized = Vec::with_capacity(image.shape().samples() as usize);
    for y in 0..image.height() {
        let (rows, weights_y) = between_tiles(y, 1.0 / tile.1 as f32, down);
        for x in 0..image.width() {
            let (columns, weights_x) = between_tiles(x, 1.0 / tile.0 as f32, across);
            for channel in 0..channels {
                let value = index(image.sample(x, y, channel));
                let of = |ty: u32, tx: u32| tables[((channel * down + ty) * across + tx) as usize][value];
                let four = rows.map(|ty| columns.map(|tx| of(ty, tx)));
                equalized.push(T::from_sum(bilinear(four, weights_x, weights_y)));
            }
        }
    }
    Image::new(image.width(), image.height(), channels, equalized)
}

/// Maps a position beyond the end of an axis of `length` pixels into it, by reflect101.
fn reflected(position: u32, length: u32) -> u32 {
    if length == 1 {
        return 0;
    }
    let around = position % (2 * length - 2);
    around.min(2 * length - 2 - around)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::PixelType;

    #[test]
    fn a_table_a_channel() {
        let image = Image::new(1, 2, 2, vec![1u8, 1, 2, 2]).unwrap();
        let tables: Vec<u8> = (0..=255u8).map(|value| value.wrapping_mul(3)).chain((0..=255).rev()).collect();
        assert_eq!(lookup(&image, &tables).packed()[..], [3, 254, 6, 253]);
    }

    #[test]
    fn channels_are_equalised_apart() {
        let image = Image::new(3, 1, 2, vec![1u8, 5, 2, 5, 3, 5]).unwrap();
        assert_eq!(equalize(&image).row(0), [0, 5, 128, 5, 255, 5]);
    }

    #[test]
    fn beyond_the_end_the_image_is_reflected() {
        assert_eq!([3, 4, 5, 6, 7].map(|at| reflected(at, 4)), [3, 2, 1, 0, 1]);
        assert_eq!(reflected(7, 1), 0);
    }

    #[test]
    fn two_tiles_are_blended() {
        // Tiles of two columns: [0, 0] and [9, 9]. A tile's table has 255 for its own value and all above, and 0 below:
        // in the left tile 9 maps to 255, too, in the right one 0 to 0. Columns are at -0.5, 0, 0.5 and 1 between the
        // tile centres.
        let image = Image::new(4, 1, 1, vec![0u8, 0, 9, 9]).unwrap();
        let two = Clahe { shape: image.shape(), src: PixelType::U8, clip: 0.0, tiles: (2, 1) };
        assert_eq!(clahe(&image, &two).unwrap().row(0), [255, 255, 255, 255]);
        let image = Image::new(4, 1, 1, vec![9u8, 9, 0, 0]).unwrap();
        // Column 2: value 0 is 0 in the left table and 255 in the right; the mean, 127.5, rounds to the even 128.
        assert_eq!(clahe(&image, &two).unwrap().row(0), [255, 255, 128, 255]);
    }
}
