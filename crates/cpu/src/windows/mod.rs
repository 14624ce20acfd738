//! Sums over windows, in a time almost independent of the window's size.

mod along;
pub(crate) mod floats;
pub(crate) mod integers;
pub(crate) mod taps;

use crate::tiles;
use apron_abi::BorderMode;
use apron_core::{Accumulator, Border, Image, ImageMut, Pixel, Window};

/// Windows of an image.
pub(crate) struct Windows<'a, I: Pixel> {
    image: &'a Image<'a, I>,
    window: Window,
    /// Width of a window, in pixels.
    width: usize,
    /// Height of a window, in pixels.
    height: usize,
    mode: BorderMode,
    constant: f64,
}

impl<'a, I: Pixel> Windows<'a, I> {
    pub(crate) fn new(image: &'a Image<'a, I>, window: Window, (width, height): (u32, u32), border: Border) -> Self {
        let (mode, constant) = border.mode_of(I::PIXEL);
        Windows { image, window, width: width as usize, height: height as usize, mode, constant }
    }

    /// Computes the output, tile by tile; `seen` rows of input should stay in cache.
    pub(crate) fn run<O: Pixel, W: Default>(
        &self,
        out: ImageMut<'_, O>,
        seen: usize,
        tile: &(dyn Fn(&mut W, tiles::Tile<'_, O>) + Sync),
    ) {
        let halo = ((self.width - 1) * self.channels(), self.height - 1);
        tiles::for_each(out, halo, seen, tile);
    }

    fn channels(&self) -> usize {
        self.window.out.channels as usize
    }

    /// Row `y` of the extended image; `None` for a row of the constant.
    fn row(&self, y: i32) -> Option<&[I]> {
        self.source(y).map(|y| self.image.row(y as u32))
    }

    /// Returns the index of the image row that row `y` of the extended image repeats.
    fn source(&self, y: i32) -> Option<usize> {
        self.mode.map(y, self.image.height() as i32).map(|y| y as usize)
    }

    /// Returns the sum of each row of a window, from the top. The window is that of sample `sample` of output row `y`,
    /// counted from column `x`.
    pub(crate) fn rows_of(&self, x: usize, y: usize, sample: usize) -> impl Iterator<Item = i64>
    where
        I: integers::Integer,
    {
        let (channels, columns) = (self.channels(), self.image.width() as i32);
        let (x, y) = ((x + sample / channels) as i32 + self.window.origin_x, y as i32 + self.window.origin_y);
        let constant = I::from_sum(I::Sum::from_f64(self.constant));
        (y..y + self.height as i32).map(move |y| {
            let row = self.row(y);
            let at = |x| match (row, self.mode.map(x, columns)) {
                (Some(row), Some(x)) => row[x as usize * channels + sample % channels],
                _ => constant,
            };
            (x..x + self.width as i32).map(|x| at(x).whole() as i64).sum()
        })
    }

    /// Returns whether windows are so high that rows of the image repeat in them.
    fn repeats(&self) -> bool {
        self.height > 2 * self.image.height() as usize
    }
}
