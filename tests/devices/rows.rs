//! Histograms, statistics and lookups of images that are read by rows: the results of the whole image.

use apron::{
    AnyImage, Binning, Bins, Border, Borders, Device, Edges, Error, Formula, Image, LookupBuilder, PixelType, ReadRows,
    Result, Shape, Source, WriteRows, filters,
};
use apron_testkit::{Data, gpu_or_skip, random_image};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::ops::Range;
use std::sync::Mutex;

/// An image that is read by rows only, and the passes over it.
struct Rows {
    image: AnyImage<'static>,
    read: Mutex<u32>,
}

impl Rows {
    fn new(image: AnyImage<'static>) -> Rows {
        Rows { image, read: Mutex::new(0) }
    }

    /// Takes the number of passes over the image.
    fn passes(&self) -> u32 {
        std::mem::take(&mut *self.read.lock().unwrap()) / self.image.shape().height
    }
}

impl ReadRows for Rows {
    fn shape(&self) -> Shape {
        self.image.shape()
    }

    fn pixel_type(&self) -> PixelType {
        self.image.pixel_type()
    }

    fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()> {
        let strip = self.image.region(0, rows.start, self.shape().width, rows.end - rows.start)?;
        bytes.copy_from_slice(&strip.into_packed().bytes());
        *self.read.lock().unwrap() += rows.end - rows.start;
        Ok(())
    }
}

/// A result in memory.
#[derive(Default)]
pub(crate) struct Written(pub(crate) Mutex<Vec<u8>>);

impl WriteRows for Written {
    fn write_rows(&self, _: u32, bytes: &[u8]) -> Result<()> {
        self.0.lock().unwrap().extend(bytes);
        Ok(())
    }
}

fn images() -> Vec<Rows> {
    let mut rng = StdRng::seed_from_u64(9);
    let mut images = Vec::new();
    for pixel in PixelType::ALL {
        for (width, height, channels) in [(23, 57, 1), (8, 40, 3)] {
            let shape = Shape::new(width, height, channels).unwrap();
            let data = if channels == 1 { Data::Uniform } else { Data::Special };
            images.push(Rows::new(random_image(&mut rng, pixel, shape, data)));
        }
    }
    images
}

/// Memory for strips of a few rows.
fn memory(rows: &Rows) -> u64 {
    let shape = rows.shape();
    7 * 4 * (shape.row_samples() * rows.pixel_type().size_bytes()) as u64
}

fn mapping<'a>(device: &'a Device, operation: &str, source: Source<'a>) -> LookupBuilder<'a> {
    match operation {
        "equalize" => device.equalize(source),
        _ => device.lookup(source, (0..=255u8).map(|value| value.wrapping_mul(37)).collect::<Vec<_>>()),
    }
}

fn all(device: &Device) {
    for rows in images() {
        let (image, memory, pixel) = (&rows.image, memory(&rows), rows.pixel_type());
        let source = &rows as &dyn ReadRows;
        let edges = Binning::Between(Edges::new(vec![-1.0, 0.0, 3.0, 3.5, 200.0]).unwrap());
        let even = |count, range| Binning::Even(Bins { count, range });
        for binning in [even(256, None), even(10, None), even(64, Some((-0.5, 77.0))), edges] {
            for per_channel in [false, true] {
                let whole = device.histogram(image).binning(binning.clone()).per_channel(per_channel).run();
                let strips = device.histogram(source).binning(binning.clone()).per_channel(per_channel);
                match (whole, strips.run_rows(memory)) {
                    (Ok(whole), Ok((strips, report))) => {
                        assert_eq!(strips, whole, "{pixel} {binning:?} on {}", device.name());
                        assert!(report.why.contains(" strips"), "{}", report.why);
                        // Types that are not counted by value are read once more, for their range.
                        let floats = pixel.values().is_none();
                        let sought = matches!(binning, Binning::Even(Bins { range: None, .. }));
                        assert_eq!(rows.passes(), 1 + (floats && sought) as u32, "{pixel} {binning:?}");
                    }
                    // Floats without a range: NaN and infinities.
                    (whole, strips) => {
                        // GPUs name one end of the range where the host names both.
                        let [whole, strips] = [whole.err(), strips.err()].map(|error| error.unwrap().to_string());
                        let range = "histogram: the range of the samples is NaN";
                        assert!(whole.starts_with(range) && strips.starts_with(range), "{whole} {strips}");
                        rows.passes();
                    }
                }
                let percents = [0.0, 12.5, 50.0, 100.0];
                let whole = device.statistics(image).per_channel(per_channel).percentiles(percents);
                let strips = device.statistics(source).per_channel(per_channel).percentiles(percents);
                let (whole, (strips, _)) = (whole.run().unwrap(), strips.run_rows(memory).unwrap());
                // Compared as text, since NaN does not equal itself.
                assert_eq!(format!("{whole:?}"), format!("{strips:?}"), "{pixel} on {}", device.name());
                rows.passes();
            }
        }
        for (operation, passes) in [("equalize", 2), ("lookup", 1)] {
            let written = Written::default();
            match (
                mapping(device, operation, image.into()).run(),
                mapping(device, operation, source.into()).run_rows(&written, memory),
            ) {
                (Ok(whole), Ok(report)) => {
                    assert!(
                        written.0.into_inner().unwrap() == whole.download_any().unwrap().bytes()[..],
                        "{operation}"
                    );
                    assert_eq!((report.operation, rows.passes()), (operation, passes));
                }
                (whole, strips) => assert_eq!(whole.unwrap_err().to_string(), strips.unwrap_err().to_string()),
            }
        }
    }
}

#[test]
fn rows_give_the_results_of_the_whole_on_the_cpu() {
    all(&Device::cpu());
    all(&Device::reference());
}

#[test]
fn rows_give_the_results_of_the_whole_in_the_emulator() {
    all(&Device::emulator());
}

#[test]
fn rows_give_the_results_of_the_whole_on_the_gpu() {
    if let Some(gpu) = gpu_or_skip("rows of images") {
        all(&gpu);
    }
}

/// Compares all named filters by strips with the whole image's result, among them filters of several parts and of
/// several problems; returns the number of comparisons.
fn named_filters(device: &Device) -> usize {
    let mut rng = StdRng::seed_from_u64(21);
    let required = [
        ("sigma", "1.2"),
        ("sigma-low", "0.7"),
        ("sigma-high", "1.1"),
        ("size", "9x21"),
        ("length", "5"),
        ("dx", "1"),
        ("order", "1,2"),
        ("angle", "30"),
        ("size", "9x21"),
    ];
    let given = |name: &str| required.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
    let formulas = filters::definitions().map(|definition| (definition.name, definition.formula(given).unwrap()));
    let formulas: Vec<(&str, Formula)> = formulas.collect();
    let mut compared = 0;
    for (pixel, channels) in [(PixelType::F32, 1), (PixelType::U8, 4), (PixelType::U16, 2), (PixelType::F16, 1)] {
        let rows = Rows::new(random_image(&mut rng, pixel, Shape::new(19, 161, channels).unwrap(), Data::Uniform));
        let borders: [Borders; 6] = [
            Border::Reflect101.into(),
            Border::Wrap.into(),
            Border::Constant(3.0).into(),
            Borders::by_axis(Border::Wrap, Border::Replicate),
            Borders::by_axis(Border::Constant(2.0), Border::Wrap),
            Borders::by_axis(Border::Reflect, Border::Constant(1.0)),
        ];
        for (border, (name, formula)) in borders.iter().flat_map(|border| formulas.iter().map(move |of| (border, of))) {
            for (memory, keep_alpha) in [(60_000, false), (250_000, false), (250_000, true)] {
                if keep_alpha && channels % 2 == 1 {
                    continue;
                }
                let what = format!("{name} of {pixel} {border} {keep_alpha} on {}", device.name());
                let written = Written::default();
                let whole = device.apply(&rows.image, formula.clone()).border(*border).keep_alpha(keep_alpha);
                let strips = device.apply(&rows as &dyn ReadRows, formula.clone()).border(*border);
                match strips.keep_alpha(keep_alpha).run_rows(&written, memory) {
                    Ok(report) => assert!(report.why.contains(" strips"), "{what}: {report:?}"),
                    // Windows of many rows of four channels.
                    Err(Error::Parameter { parameter: "memory", .. }) => continue,
                    Err(error) => panic!("{what}: {error}"),
                }
                compared += 1;
                let whole = whole.run().unwrap().download_any().unwrap();
                assert!(written.0.into_inner().unwrap() == whole.bytes()[..], "{what}");
            }
        }
    }
    compared
}

#[test]
fn named_filters_by_rows_are_those_of_the_whole() {
    for device in [Device::cpu(), Device::reference()] {
        let compared = named_filters(&device);
        assert!(compared > 500, "{compared}");
    }
}

#[test]
fn named_filters_by_rows_are_those_of_the_whole_on_the_gpu() {
    if let Some(gpu) = gpu_or_skip("named filters by rows") {
        assert!(named_filters(&gpu) > 500);
    }
}

/// An image whose second half cannot be read.
struct Half;

impl ReadRows for Half {
    fn shape(&self) -> Shape {
        Shape { width: 10, height: 100, channels: 1 }
    }

    fn pixel_type(&self) -> PixelType {
        PixelType::U8
    }

    fn read_rows(&self, rows: Range<u32>, _: &mut [u8]) -> Result<()> {
        match rows.end {
            0..50 => Ok(()),
            end => Err(Error::Rows { what: format!("reading row {end}"), source: "the disk is gone".into() }),
        }
    }
}

#[test]
fn what_cannot_be_read_by_rows_says_so() {
    let device = Device::cpu();
    let half = &Half as &dyn ReadRows;
    let histogram = device.histogram(half).run_rows(400).unwrap_err().to_string();
    let statistics = device.statistics(half).run_rows(400).unwrap_err().to_string();
    let lookup = device.equalize(half).run_rows(&Written::default(), 400).unwrap_err().to_string();
    for error in [histogram, statistics, lookup] {
        assert!(error.contains("reading row 50") && error.contains("the disk is gone"), "{error}");
    }
    let error = device.histogram(half).run_rows(39).unwrap_err().to_string();
    assert!(error.contains("39 bytes") && error.contains("40 or more for one row"), "{error}");
    let roi = Image::new(10, 100, 1, vec![1u8; 1000]).unwrap();
    let error = device.histogram(half).roi_mask(&roi).run_rows(400).unwrap_err().to_string();
    assert!(error.contains("mask of a region"), "{error}");
    let error = device.clahe(half, 2.0, (2, 2)).run_rows(&Written::default(), 400).unwrap_err().to_string();
    assert!(error.contains("tables of tiles"), "{error}");
}
