//! Bilinear interpolation between the tables of the tiles around a pixel.

/// Returns the tiles whose centres are before and after a pixel, along an axis of `count` tiles, and their weights.
/// `inverse` is the reciprocal of a tile's side in f32, as in OpenCV.
#[inline(always)]
pub fn between_tiles(position: u32, inverse: f32, count: u32) -> ([u32; 2], [f32; 2]) {
    let place = position as f32 * inverse - 0.5;
    // Floor: -0.5 is the least place.
    let before = if place < 0.0 { -1.0 } else { place as u32 as f32 };
    let weight = place - before;
    let tile = |number: f32| {
        let number = if number < 0.0 { 0 } else { number as u32 };
        if number < count { number } else { count - 1 }
    };
    ([tile(before), tile(before + 1.0)], [1.0 - weight, weight])
}

/// Returns the bilinear interpolation of four tables' entries: of the tiles above, then of the tiles below.
#[inline(always)]
pub fn bilinear([above, below]: [[f32; 2]; 2], across: [f32; 2], down: [f32; 2]) -> f32 {
    let row = |[left, right]: [f32; 2]| left * across[0] + right * across[1];
    row(above) * down[0] + row(below) * down[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centres_of_tiles_have_one_weight() {
        assert_eq!(between_tiles(0, 0.125, 4), ([0, 0], [0.5, 0.5]));
        assert_eq!(between_tiles(4, 0.125, 4), ([0, 1], [1.0, 0.0]));
        assert_eq!(between_tiles(31, 0.125, 4), ([3, 3], [0.625, 0.375]));
        assert_eq!(bilinear([[8.0, 16.0], [0.0, 4.0]], [0.25, 0.75], [0.5, 0.5]), 8.5);
    }
}
