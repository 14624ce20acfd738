//! Seeds of the targets: small files of every format, sample type and number of channels, and texts of each kind.

use apron_core::{AnyImage, PixelType, Shape};
use apron_files::ImageOutput;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Targets of pictures, and their file extensions.
const PICTURES: [(&str, &[&str]); 6] = [
    ("npy", &["npy"]),
    ("png", &["png"]),
    ("jpeg", &["jpg"]),
    ("tiff", &["tif"]),
    ("bmp", &["bmp"]),
    ("pnm", &["pgm", "ppm"]),
];

/// Arrays that are only masks, or in layouts that Apron does not write: type, shape, order, bytes of data.
const ARRAYS: [(&str, &str, &str, usize); 4] = [
    ("<f8", "(2, 3)", "True", 48),
    (">i2", "(2, 2, 2)", "True", 16),
    ("|i1", "(5,)", "False", 5),
    ("<u8", "(1, 2)", "False", 16),
];

/// Formats that Apron only reads, and texts.
const OTHERS: [(&str, &str); 12] = [
    ("pnm", "P1 3 2 101010"),
    ("pnm", "P2\n# plain\n2 2 15 1 2 3 15"),
    ("pnm", "P3 1 1 255 1 2 3"),
    ("pnm", "P4 9 1 \u{7f}\u{1}"),
    ("pnm", "P7\nWIDTH 1\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n1234"),
    ("mask", "1 2 1; 2 4 2; 1 2 1"),
    ("mask", "-1,0 1e-3;\t.5 -inf 3"),
    ("mask", "constant:-3.5,wrap"),
    ("mask", "gaussian3"),
    ("pipe", "gaussian sigma=2 | correlate mask='-1 0 1; -2 0 2' out-type=i16"),
    ("pipe", "a \"b'|'c\" | | d"),
    ("pipe", "|\t x=\"\" '"),
];

/// Writes the seeds of a target into the folder, which is created if necessary.
pub(crate) fn write(target: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for (number, (_, text)) in OTHERS.iter().enumerate().filter(|(_, (of, _))| *of == target) {
        fs::write(folder.join(format!("{number}.txt")), text)?;
    }
    for (number, (descr, shape, order, size)) in ARRAYS.into_iter().enumerate().filter(|_| target == "npy") {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
        let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        file.extend(format!("{header:<117}\n").bytes().chain((0..size).map(|byte| byte as u8 * 3)));
        fs::write(folder.join(format!("{number}.npy")), file)?;
    }
    let extensions = PICTURES.into_iter().filter(|(of, _)| *of == target).flat_map(|(_, extensions)| extensions);
    for extension in extensions {
        for (pixel, channels) in PixelType::ALL.into_iter().flat_map(|pixel| (1..=4).map(move |n| (pixel, n))) {
            let path = folder.join(format!("{pixel}-{channels}.{extension}"));
            let output = ImageOutput::new(&path, None)?;
            if output.check(pixel, channels).is_ok() {
                output.write(&image(pixel, channels)?)?;
            }
        }
    }
    Ok(())
}

fn image(pixel: PixelType, channels: u32) -> apron_core::Result<AnyImage<'static>> {
    AnyImage::from_bytes(pixel, Shape::new(5, 4, channels)?, |bytes| {
        bytes.iter_mut().zip(0..).for_each(|(byte, i)| *byte = (i * 37 % 63) as u8);
        Ok(())
    })
}
