//! Local statistics of windows: parameters.

/// Parameters of the local standard deviation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LocalParams {
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Width of the window, in pixels.
    pub window_x: u32,
    /// Height of the window, in pixels.
    pub window_y: u32,
    /// Input column of the first window's first pixel.
    pub origin_x: i32,
    /// Input row of the first window's first pixel.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// The value outside the image, where the border is constant.
    pub constant: f32,
}
