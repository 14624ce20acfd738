//! Features of devices: probes, small calls whose results must equal the reference's, and the table made from them.

use crate::case::{Data, SINGLES, random_image};
use crate::named;
use apron::{
    AnyImage, Bins, Border, Borders, Constants, Device, DeviceImage, Error, Extent, FilterBuilder, Formula, ImageMut,
    Mask, Method, PixelType, Region, Result, Shape, Table, Taps, filters,
};
use rand::SeedableRng;
use rand::rngs::StdRng;

/// A row of the table: a feature, in parts that a device may or may not support.
struct Feature {
    name: &'static str,
    parts: Vec<(String, Probe)>,
}

/// A probe: runs a call on a device, and returns all numbers of its result.
pub(crate) type Probe = Box<dyn Fn(&Device) -> Result<Vec<f64>>>;

/// Makes the table in Markdown: a line per feature, and a column per named group of devices.
///
/// # Errors
/// A device whose result differs from the reference's, and any error other than missing support.
pub fn table(columns: &[(&str, &[Device])]) -> Result<String, String> {
    let heads: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = format!("| | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(columns.len()));
    for Feature { name, parts } in features() {
        let all: Vec<&str> = parts.iter().map(|(part, _)| part.as_str()).collect();
        let mut cells = vec![format!("{name}: {}", all.join(", "))];
        for (column, devices) in columns {
            let had = devices.iter().map(|device| has(&parts, device, name)).collect::<Result<Vec<_>, _>>()?;
            if let Some(other) = had.iter().find(|other| **other != had[0]) {
                return Err(format!("{name}: devices of {column} have {:?} and {other:?}", had[0]));
            }
            cells.push(match &had[0][..] {
                [] => "no".into(),
                some if some.len() == parts.len() => "yes".into(),
                some => some.join(", "),
            });
        }
        text += &format!("| {} |\n", cells.join(" | "));
    }
    Ok(text)
}

/// Returns the names of the parts that a device supports.
fn has<'p>(parts: &'p [(String, Probe)], device: &Device, feature: &str) -> Result<Vec<&'p str>, String> {
    let mut had = Vec::new();
    for (part, probe) in parts {
        let wrong = |what: String| format!("{feature}, {part} on {}: {what}", device.name());
        match (probe(device), probe(&Device::reference())) {
            (Ok(found), Ok(expected)) => {
                let same = found.len() == expected.len()
                    && found.iter().zip(&expected).all(|(found, expected)| found.to_bits() == expected.to_bits());
                if !same {
                    return Err(wrong("not the reference's result".into()));
                }
                had.push(part.as_str());
            }
            (Err(Error::Unsupported { .. }), Ok(_)) => {}
            (found, expected) => return Err(wrong(format!("{:?}, reference {:?}", found.err(), expected.err()))),
        }
    }
    Ok(had)
}

const PIXELS: [PixelType; 12] = PixelType::ALL;
const SIZE: (u32, u32) = (27, 20);

fn image(pixel: PixelType, channels: u32) -> AnyImage<'static> {
    let shape = Shape::new(SIZE.0, SIZE.1, channels).expect("a valid shape");
    random_image(&mut StdRng::seed_from_u64(5), pixel, shape, Data::Uniform)
}

fn photo() -> AnyImage<'static> {
    image(PixelType::U8, 3)
}

/// Returns all samples of an image.
fn samples(image: Result<DeviceImage>) -> Result<Vec<f64>> {
    Ok(values(&image?.download_any()?))
}

pub(crate) fn values(image: &AnyImage<'_>) -> Vec<f64> {
    apron_core::each_type!(image, image => image.packed().iter().map(|&sample| apron_core::Sample::to_f64(sample)).collect())
}

/// Returns a mask of many different taps.
fn mask(width: u32, height: u32) -> Mask {
    let taps: Vec<f32> = (0..width * height).map(|i| ((i * 37 % 101) as f32 - 50.0) / 64.0).collect();
    Mask::new(width, height, taps).expect("a valid mask")
}

/// Returns a mask of 17x17 taps of rank two: a sum of two separable masks.
fn two_bells() -> Mask {
    let bells = [(1.0, 8.0), (2.0, 4.0)].map(|(sigma, cut)| filters::gaussian(sigma, cut).expect("a valid sigma"));
    let tap = |(x, y): (usize, usize)| bells.iter().map(|bell| bell.taps()[x] * bell.taps()[y]).sum();
    let taps: Vec<f32> = (0..17).flat_map(|y| (0..17).map(move |x| (x, y))).map(tap).collect();
    Mask::new(17, 17, taps).expect("a valid mask")
}

fn taps(count: u32) -> Taps {
    Taps::new(mask(count, 1).taps()).expect("valid taps")
}

/// Makes one part per value.
fn each<T: std::fmt::Display + Clone + 'static>(
    values: impl IntoIterator<Item = T>,
    probe: impl Fn(&Device, T) -> Result<Vec<f64>> + Copy + 'static,
) -> Vec<(String, Probe)> {
    let part = |value: T| (value.to_string(), Box::new(move |device: &Device| probe(device, value.clone())) as Probe);
    values.into_iter().map(part).collect()
}

pub(crate) fn part(name: &str, probe: impl Fn(&Device) -> Result<Vec<f64>> + 'static) -> (String, Probe) {
    (name.into(), Box::new(probe))
}

/// Makes a part that filters a photo.
fn of_photo(
    name: &str,
    make: impl for<'a> Fn(&'a Device, &'a AnyImage<'a>) -> FilterBuilder<'a> + 'static,
) -> (String, Probe) {
    part(name, move |device| samples(make(device, &photo()).run()))
}

fn features() -> Vec<Feature> {
    let mut features = filtering();
    features.push(Feature { name: "volumes", parts: crate::volumes::probes() });
    features.extend(counting());
    features
}

fn filtering() -> Vec<Feature> {
    use PixelType::{F32, U8};
    let borders =
        Border::ALL.map(|border| if let Border::Constant(_) = border { Border::Constant(7.0) } else { border });
    let part_of = Extent::Region(Region { x: 3, y: -2, width: 9, height: 30 });
    vec![
        Feature {
            name: "dense masks",
            parts: each(PIXELS, |device, pixel| {
                samples(device.correlate(&image(pixel, 1), mask(5, 4)).out_type(F32).run())
            }),
        },
        Feature {
            name: "low-rank masks (sums of separable ones)",
            parts: each(SINGLES, |device, pixel| {
                let image = image(pixel, 1);
                let filter = device.correlate(&image, two_bells()).out_type(F32);
                samples(filter.method(Method::LowRank).run())
            }),
        },
        Feature {
            name: "masks by Fourier transforms",
            parts: each(SINGLES, |device, pixel| {
                let image = image(pixel, 1);
                samples(device.correlate(&image, mask(5, 4)).out_type(F32).method(Method::Fft).run())
            }),
        },
        Feature {
            name: "separable filters",
            parts: each(PIXELS, |device, pixel| {
                samples(device.separable(&image(pixel, 1), taps(5), taps(4)).out_type(F32).run())
            }),
        },
        Feature {
            name: "means over windows",
            parts: each(PIXELS, |device, pixel| samples(device.box_filter(&image(pixel, 1), 7, 5).run())),
        },
        Feature {
            name: "output",
            parts: each(PIXELS, |device, pixel| {
                samples(device.correlate(&image(U8, 1), mask(3, 3)).out_type(pixel).run())
            }),
        },
        Feature {
            name: "channels",
            parts: each(1..=4u32, |device, channels| samples(device.correlate(&image(U8, channels), mask(3, 3)).run())),
        },
        Feature {
            name: "borders",
            parts: each(borders, |device, border| samples(device.correlate(&photo(), mask(3, 5)).border(border).run())),
        },
        Feature {
            name: "borders and extents",
            parts: vec![
                of_photo("a border by axis", |device, photo| {
                    let borders = Borders::by_axis(Border::Wrap, Border::Constant(9.0));
                    device.correlate(photo, mask(3, 5)).border(borders)
                }),
                of_photo("constants by channel", |device, photo| {
                    device
                        .correlate(photo, mask(3, 5))
                        .border(Constants::new(&[9.0, 0.0, 255.0]).expect("three numbers"))
                }),
                of_photo("full output", |device, photo| device.correlate(photo, mask(3, 5)).extent(Extent::Full)),
                of_photo("regions that see the image around them", move |device, photo| {
                    device.correlate(photo, mask(3, 5)).extent(part_of)
                }),
                part("isolated regions", |device| {
                    let part = device.upload(&photo())?.region(3, 2, 11, 9)?;
                    samples(device.correlate(&part, mask(3, 5)).run())
                }),
            ],
        },
        Feature {
            name: "padding and cropping",
            parts: each(PIXELS, |device, pixel| {
                let (part, borders) =
                    (Region { x: -3, y: 2, width: 40, height: 9 }, Borders::by_axis(Border::Wrap, Border::Crop));
                samples(device.pad(&image(pixel, 3), part).border(borders).run())
            }),
        },
        Feature {
            name: "alpha kept as it is",
            parts: vec![
                part("of a filter", |device| {
                    samples(device.correlate(&image(U8, 4), mask(3, 5)).keep_alpha(true).run())
                }),
                part("of a named filter", |device| {
                    samples(device.gradient(&image(U8, 2)).out_type(F32).keep_alpha(true).run())
                }),
            ],
        },
        Feature {
            name: "results in existing images",
            parts: vec![
                part("whole", |device| {
                    let mut out = device.zeros(Shape::new(SIZE.0, SIZE.1, 3)?, U8)?;
                    device.gradient(&photo()).run_into(&mut out)?;
                    samples(Ok(out))
                }),
                part("a part", |device| {
                    let mut out = device.zeros(Shape::new(SIZE.0 + 5, SIZE.1 + 3, 3)?, U8)?;
                    device.gaussian(&photo(), 1.5).run_into(out.region_mut(3, 1, SIZE.0, SIZE.1)?)?;
                    samples(Ok(out))
                }),
                part("rows with a stride, on the host", |device| {
                    let stride = SIZE.0 as usize * 3 + 7;
                    let mut out = vec![0u8; stride * SIZE.1 as usize];
                    let rows = ImageMut::with_row_stride(SIZE.0, SIZE.1, 3, stride, &mut out)?;
                    device.equalize(&photo()).run_into(rows)?;
                    Ok(out.into_iter().map(f64::from).collect())
                }),
            ],
        },
        Feature {
            name: "batches of images",
            parts: vec![
                part("by filters", |device| batch(device, |device, images| device.gaussian(images, 1.5).run())),
                part("by named filters", |device| batch(device, |device, images| device.gradient(images).run())),
                part("planar channels", |device| {
                    batch(device, |device, planes| device.correlate(planes, mask(5, 3)).run())
                }),
            ],
        },
        Feature {
            name: "weights",
            parts: vec![
                of_photo("even sides and any anchor", |device, photo| {
                    device.correlate(photo, mask(2, 4).with_anchor(0, 3).expect("a tap"))
                }),
                of_photo("64x64 taps", |device, photo| device.correlate(photo, mask(64, 64))),
                part("255x255 taps to f32", |device| {
                    let few = image(U8, 1).region(0, 0, 3, 2)?.into_owned();
                    samples(device.correlate(&few, mask(255, 255)).out_type(F32).run())
                }),
                part("255x255 taps to u8", |device| {
                    let few = image(U8, 1).region(0, 0, 3, 2)?.into_owned();
                    samples(device.correlate(&few, mask(255, 255)).run())
                }),
                part("a divisor and an offset", |device| {
                    let formula = Formula::Dense("-1 0 1; 2 0 -2; 3 0 3".parse()?).scaled(1.0 / 6.0, 10.5);
                    samples(device.apply(&photo(), formula).run())
                }),
                of_photo("4096 taps an axis", |device, photo| device.separable(photo, taps(4096), taps(3))),
                of_photo("5000 taps an axis", |device, photo| device.separable(photo, taps(5000), taps(3))),
            ],
        },
        Feature { name: "named filters", parts: named() },
    ]
}

/// Returns the samples of a batch's results; the images of the batch are the photo's channels.
fn batch(device: &Device, run: impl Fn(&Device, &DeviceImage) -> Result<DeviceImage>) -> Result<Vec<f64>> {
    let photo = photo();
    let AnyImage::U8(photo) = &photo else { unreachable!("photos are u8") };
    let results = run(device, &device.upload_batch(&photo.planes())?)?.download_batch_any()?;
    Ok(results.into_iter().flat_map(|result| values(&result)).collect())
}

/// Makes the parts for all named filters, by their examples, and for a formula without a name.
fn named() -> Vec<(String, Probe)> {
    vec![
        part("all that `apron filters` lists", |device| {
            let results = named::examples().map(|example| samples(example.of(device, &photo()).run()));
            Ok(results.collect::<Result<Vec<_>>>()?.concat())
        }),
        part("a formula of one's own", |device| {
            let mask = filters::named_mask("emboss").expect("a known mask");
            samples(device.apply(&photo(), Formula::Dense(mask)).run())
        }),
    ]
}

fn counting() -> Vec<Feature> {
    use PixelType::{F32, U8, U16};
    let numbers = |counts: &[u64]| counts.iter().map(|&count| count as f64).collect::<Vec<_>>();
    vec![
        Feature {
            name: "histograms",
            parts: each(PIXELS, move |device, pixel| {
                let histogram = device.histogram(&image(pixel, 3)).per_channel(true).run()?;
                Ok(numbers(histogram.counts()))
            }),
        },
        Feature {
            name: "bins",
            parts: vec![
                part("even ones", move |device| {
                    let bins = Bins { count: 1000, range: Some((-0.5, 0.75)) };
                    Ok(numbers(device.histogram(&image(F32, 1)).bins(bins).run()?.counts()))
                }),
                part("a million", move |device| {
                    let bins = Bins { count: 1_000_000, range: Some((-0.5, 0.75)) };
                    Ok(numbers(device.histogram(&image(F32, 1)).bins(bins).run()?.counts()))
                }),
                part("between edges", move |device| {
                    Ok(numbers(device.histogram(&photo()).edges([0.0, 16.0, 64.0, 255.0]).run()?.counts()))
                }),
            ],
        },
        Feature {
            name: "histograms under a mask, over the range of the selected samples",
            parts: each(PIXELS, move |device, pixel| {
                let roi = image(U8, 1);
                let bins = Bins { count: 50, range: None };
                let histogram = device.histogram(&image(pixel, 3)).roi_mask(&roi).bins(bins).per_channel(true).run()?;
                Ok(histogram.edges().iter().copied().chain(numbers(histogram.counts())).collect())
            }),
        },
        Feature {
            name: "weighted and 2-D histograms",
            parts: vec![
                part("by numbers", |device| {
                    let weights: Vec<f64> = (0..SIZE.0 * SIZE.1).map(|i| f64::from(i) / 7.0).collect();
                    Ok(device.weighted_histogram(&photo(), &weights).run()?.sums)
                }),
                part("by an image on the device", move |device| {
                    let weights = device.upload(&image(F32, 1))?;
                    Ok(device.weighted_histogram(&photo(), &weights).run()?.sums)
                }),
                part("2-D", move |device| {
                    Ok(numbers(&device.histogram2d(&photo(), [0, 2]).bins([16, 16]).run()?.counts))
                }),
            ],
        },
        Feature {
            name: "histograms of many dimensions",
            parts: each(PIXELS, move |device, pixel| {
                let histogram = device.histogramdd(&image(pixel, 3)).run()?;
                Ok(histogram
                    .edges
                    .iter()
                    .flat_map(apron::Edges::values)
                    .copied()
                    .chain(numbers(&histogram.cells))
                    .collect())
            })
            .into_iter()
            .chain([
                part("weights", |device| {
                    let weights: Vec<f64> = (0..SIZE.0 * SIZE.1).map(|i| f64::from(i) / 7.0).collect();
                    Ok(device.histogramdd(&photo()).bins(4).run_weighted(&weights)?.0.cells)
                }),
                part("mutual information of two images", |device| {
                    let histogram = device.histogramdd(Table::of_images([&photo(), &photo()])).columns([0, 4]).run()?;
                    let information = histogram.information()?;
                    Ok(vec![information.mutual, information.normalized])
                }),
                part("sparse", |device| {
                    let (histogram, _) = device.histogramdd(&photo()).bins(2000).run_sparse()?;
                    Ok(histogram.cells.iter().flat_map(|&(cell, count)| [cell as f64, count as f64]).collect())
                }),
            ])
            .collect(),
        },
        Feature {
            name: "minimum, maximum, mean, deviation",
            parts: each(PIXELS, |device, pixel| {
                let all = device.statistics(&image(pixel, 2)).per_channel(true).run()?;
                Ok(all.iter().flat_map(|one| [one.min, one.max, one.mean, one.std]).collect())
            }),
        },
        Feature {
            name: "percentiles",
            parts: each(PIXELS, |device, pixel| {
                let all = device.statistics(&image(pixel, 2)).percentiles([1.0, 50.0, 99.5]).run()?;
                Ok(all[0].percentiles.clone())
            }),
        },
        Feature {
            name: "Otsu's threshold",
            parts: each([U8, U16], |device, pixel| Ok(vec![f64::from(device.otsu(&image(pixel, 1))?)])),
        },
        Feature {
            name: "tables",
            parts: vec![
                part("lookup", |device| {
                    let table: Vec<u8> = (0..=255u8).map(|value| value ^ 0x55).collect();
                    samples(device.lookup(&photo(), table).run())
                }),
                part("equalize", |device| samples(device.equalize(&photo()).run())),
                part("match", |device| {
                    let photo = photo();
                    samples(device.match_histogram(&photo, &photo.region(2, 3, 9, 8)?).run())
                }),
            ],
        },
        Feature {
            name: "CLAHE",
            parts: each([U8, U16], |device, pixel| samples(device.clahe(&image(pixel, 1), 2.0, (3, 2)).run())),
        },
        Feature {
            name: "recorded chains",
            parts: vec![part("of any filters", |device| {
                let mut chain = device.record(&photo(), |device, frame| device.gradient(frame).run())?;
                samples(Ok(chain.run()?.clone()))
            })],
        },
    ]
}
