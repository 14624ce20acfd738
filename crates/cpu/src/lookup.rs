//! Parallel table lookups and equalisation.

use crate::{pages, parallel};
use apron_core::{Clahe, FromSum, Image, ImageMut, Pixel, Result, between_tiles, bilinear, check_memory, equalizing};

/// Replaces each sample by its entry in `tables`: 256 entries for all channels, or 256 per channel.
///
/// ```
/// use apron_core::Image;
///
/// let negative: Vec<u8> = (0..=255).rev().collect();
/// let image = Image::new(2, 1, 1, vec![0u8, 55])?;
/// assert_eq!(apron_cpu::lookup(&image, &negative)?.row(0), [255, 200]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`](apron_core::Error::Parameter) if there is too little memory.
///
/// # Panics
/// If there is another number of entries.
pub fn lookup(image: &Image<u8>, tables: &[u8]) -> Result<Image<'static, u8>> {
    pages::filled(image.shape(), |out| lookup_into(image, tables, out))
}

/// As [`lookup`], into an existing image.
///
/// # Errors
/// [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
///
/// # Panics
/// As [`lookup`].
pub fn lookup_into(image: &Image<u8>, tables: &[u8], out: ImageMut<'_, u8>) -> Result<()> {
    let channels = image.channels() as usize;
    assert!(tables.len() == 256 || tables.len() == 256 * channels, "a table for all channels, or one for each");
    let (tables, _) = tables.as_chunks::<256>();
    by_rows(image, out, |y, out| {
        let row = image.row(y);
        match tables {
            [table] => out.iter_mut().zip(row).for_each(|(out, &sample)| *out = table[sample as usize]),
            _ => {
                for (out, pixel) in out.chunks_exact_mut(channels).zip(row.chunks_exact(channels)) {
                    for ((out, &sample), table) in out.iter_mut().zip(pixel).zip(tables) {
                        *out = table[sample as usize];
                    }
                }
            }
        }
    })
}

/// Equalises the histogram of each channel, as OpenCV's `equalizeHist`.
///
/// # Errors
/// [`Error::Parameter`](apron_core::Error::Parameter) if there is too little memory.
pub fn equalize(image: &Image<u8>) -> Result<Image<'static, u8>> {
    pages::filled(image.shape(), |out| equalize_into(image, out))
}

/// As [`equalize`], into an existing image.
///
/// # Errors
/// [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn equalize_into(image: &Image<u8>, out: ImageMut<'_, u8>) -> Result<()> {
    let counts = crate::byte_histogram(image, true);
    let tables: Vec<u8> = counts.chunks(256).flat_map(equalizing).collect();
    lookup_into(image, &tables, out)
}

/// Equalises each channel adaptively by tiles, as OpenCV's `createCLAHE`; u8 and u16.
///
/// # Errors
/// As [`Clahe::check`].
pub fn clahe<T: Pixel + FromSum<f32>>(image: &Image<T>, clahe: &Clahe) -> Result<Image<'static, T>> {
    pages::filled(image.shape(), |out| clahe_into(image, clahe, out))
}

/// As [`clahe`], into an existing image.
///
/// # Errors
/// As [`clahe`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn clahe_into<T: Pixel + FromSum<f32>>(image: &Image<T>, clahe: &Clahe, out: ImageMut<'_, T>) -> Result<()> {
    clahe.check()?;
    let tables = u64::from(clahe.tiles.0) * u64::from(clahe.tiles.1) * u64::from(image.channels());
    check_memory::<T>(tables * clahe.values() as u64, "tables of tiles")?;
    let (channels, (across, down), values) = (image.channels() as usize, clahe.tiles, clahe.values());
    let (tile_width, tile_height) = clahe.tile();
    let (width, height) = (image.width(), image.height());
    let index = |sample: T| sample.to_f32() as usize;
    // Image column of each tile column.
    let columns: Vec<usize> = (0..tile_width * across).map(|x| reflected(x, width) as usize).collect();
    let tables: Vec<Vec<T>> = parallel::map((down * across) as usize * channels, &|number| {
        let (channel, tile) = (number % channels, (number / channels) as u32);
        let (tx, ty) = (tile % across, tile / across);
        let columns = &columns[(tx * tile_width) as usize..][..tile_width as usize];
        let mut counts = vec![0; values];
        for y in ty * tile_height..(ty + 1) * tile_height {
            let row = image.row(reflected(y, height));
            columns.iter().for_each(|x| counts[index(row[x * channels + channel])] += 1);
        }
        clahe.table(counts).map(T::from_sum).collect()
    });
    let across_image: Vec<_> = (0..width).map(|x| between_tiles(x, 1.0 / tile_width as f32, across)).collect();
    by_rows(image, out, |y, out| {
        let (rows, weights_y) = between_tiles(y, 1.0 / tile_height as f32, down);
        let row = image.row(y).chunks_exact(channels);
        for ((out, pixel), (columns, weights_x)) in out.chunks_exact_mut(channels).zip(row).zip(&across_image) {
            for (channel, (out, &sample)) in out.iter_mut().zip(pixel).enumerate() {
                let value = index(sample);
                let of = |ty: u32, tx: u32| tables[(ty * across + tx) as usize * channels + channel][value].to_f32();
                let four = rows.map(|ty| columns.map(|tx| of(ty, tx)));
                *out = T::from_sum(bilinear(four, *weights_x, weights_y));
            }
        }
    })
}

/// Lets `fill` write the rows of an image with the shape of another, in parallel.
fn by_rows<T: Pixel>(image: &Image<T>, mut out: ImageMut<'_, T>, fill: impl Fn(u32, &mut [T]) + Sync) -> Result<()> {
    out.check(image.shape())?;
    let (row, stride) = (image.shape().row_samples(), out.row_stride());
    parallel::chunks(out.spanned_mut(), stride, &|y, out| fill(y as u32, &mut out[..row]));
    Ok(())
}

/// Maps a position beyond the end of an axis of `length` pixels into it, by reflect101.
fn reflected(position: u32, length: u32) -> u32 {
    apron_abi::BorderMode::Reflect101.map(position as i32, length as i32).expect("inside, by reflection") as u32
}
