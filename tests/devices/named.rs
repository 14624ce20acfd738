//! Named filters: the same on every device, also in chains, and refused with a reason.

use apron::filters::{self, Operator};
use apron::{
    Border, Borders, Device, DeviceImage, DeviceName, Error, ErrorKind, Extent, Formula, Image, PixelType, PointOp,
    Region, Result,
};
use apron_testkit::named::{Example, examples};

fn devices() -> Vec<Device> {
    let mut devices = vec![Device::reference(), Device::cpu(), Device::emulator()];
    devices.extend(apron_testkit::gpu_or_skip("named filters"));
    devices
}

fn photo() -> Image<'static, u8> {
    Image::new(41, 23, 3, (0..41 * 23 * 3).map(|i| (i * i % 251) as u8).collect::<Vec<_>>()).unwrap()
}

fn floats() -> Image<'static, f32> {
    Image::new(29, 31, 1, (0..29 * 31).map(|i| (i * i % 251) as f32 / 7.0 - 11.0).collect::<Vec<_>>()).unwrap()
}

/// Runs the examples of every named filter on u8 and on f32, with the example's output type and with f32.
fn all(device: &Device) -> Vec<(String, Result<DeviceImage>)> {
    let (photo, floats) = (photo(), floats());
    let run = |example: Example| {
        let results = [
            example.of(device, &photo).run(),
            example.of(device, &photo).out_type(PixelType::F32).run(),
            example.of(device, &floats).run(),
        ];
        results.map(|result| (example.text.clone(), result))
    };
    examples().flat_map(run).collect()
}

#[test]
fn every_filter_gives_the_same_on_every_device() {
    let [reference, others @ ..] = &devices()[..] else { unreachable!() };
    let expected = all(reference);
    for device in others {
        for ((text, found), (_, expected)) in all(device).iter().zip(&expected) {
            let samples = |result: &Result<DeviceImage>| result.as_ref().unwrap().download_any().unwrap();
            let mismatch = apron_testkit::first_mismatch(&samples(found), &samples(expected));
            assert_eq!(mismatch, None, "{text} on {}", device.name());
        }
    }
}

/// The generated methods, with their arguments, and the generated setters.
#[test]
fn methods_and_setters_give_the_filters_of_their_definitions() {
    let (device, photo) = (&Device::cpu(), &photo());
    let defined = |name: &str, values: &[(&str, &str)]| {
        let value = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
        let definition = filters::definitions().find(|definition| definition.name == name).unwrap();
        device.apply(photo, definition.formula(value).unwrap()).run()
    };
    for (found, expected) in [
        (device.sobel(photo, 1, 0).run(), defined("sobel", &[("dx", "1")])),
        (
            device.sobel(photo, 2, 1).ksize(5).scale(0.5).delta(2.0).run(),
            defined("sobel", &[("dx", "2"), ("dy", "1"), ("ksize", "5"), ("scale", "0.5"), ("delta", "2")]),
        ),
        (
            device.gradient(photo).operator(Operator::Scharr).direction(true).run(),
            defined("gradient", &[("operator", "scharr"), ("direction", "true")]),
        ),
        (
            device.gaussian_derivative(photo, (1.5, 0.7), (1, 2)).truncate(3.0).run(),
            defined("gaussian-derivative", &[("sigma", "1.5,0.7"), ("order", "1,2"), ("truncate", "3")]),
        ),
        (
            device.gaussian(photo, (3.0, 1.5)).run(),
            defined("gaussian-derivative", &[("sigma", "3,1.5"), ("order", "0")]),
        ),
        (device.laplacian_of_gaussian(photo, 1.2).run(), defined("laplacian-of-gaussian", &[("sigma", "1.2")])),
        (device.dog(photo, 1.0, 1.6).run(), defined("dog", &[("sigma-low", "1"), ("sigma-high", "1.6")])),
        (
            device.unsharp(photo, 1.5).amount(0.8).threshold(4.0).run(),
            defined("unsharp", &[("sigma", "1.5"), ("amount", "0.8"), ("threshold", "4")]),
        ),
        (device.motion_blur(photo, 9, 30.0).run(), defined("motion-blur", &[("length", "9"), ("angle", "30")])),
        (device.local_std(photo, (5, 3)).run(), defined("local-std", &[("size", "5x3")])),
    ] {
        assert_eq!(found.unwrap().download_any().unwrap(), expected.unwrap().download_any().unwrap());
    }
}

/// `docs/filters.md` matches the definitions.
#[test]
fn the_page_of_filters_is_made_of_their_definitions() {
    let mut page = String::from(
        "# Named filters\n\nMade from the definitions in `src/filters` by `APRON_UPDATE=1 cargo test --test devices named`. Each is a verb \
         of the command line, a step of\npipes, and a method of `Device`; `apron VERB --help` has all options. Their conventions: \
         [named-filters.md](decisions/named-filters.md).\n",
    );
    for definition in filters::definitions() {
        let names: Vec<_> =
            [&definition.name].into_iter().chain(definition.aliases).map(|name| format!("`{name}`")).collect();
        page += &format!("\n## {}\n\n{}.\n\n{}\n\n", names.join(", "), definition.summary(), definition.about());
        if !definition.parameters.is_empty() {
            page += "| parameter | default | |\n|---|---|---|\n";
        }
        for parameter in definition.parameters {
            let default = match parameter.default() {
                Some(default) => format!("`{default}`"),
                None => "must be given".into(),
            };
            page += &format!("| `{}` | {default} | {} |\n", parameter.name, parameter.help());
        }
        let examples: Vec<_> =
            definition.examples.iter().map(|example| format!("    apron {} {example}", definition.name)).collect();
        let gap = if definition.parameters.is_empty() { "" } else { "\n" };
        let takes_volumes = apron::volumes::names().any(|name| name == definition.name);
        let volumes = if takes_volumes { " Volumes, too, with `--volume`." } else { "" };
        page += &format!("{gap}Source: {}.{volumes}\n\n{}\n", definition.source, examples.join("\n"));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/filters.md");
    if std::env::var("APRON_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(path, page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(written, page, "run it with APRON_UPDATE=1, and look at what changed");
}

#[test]
fn filters_follow_each_other_on_the_device() {
    let results: Vec<_> = devices()
        .iter()
        .map(|device| {
            let smooth = device.unsharp(&photo(), 1.0).run().unwrap();
            let edges = device.gradient(&smooth).border(Border::Replicate).run().unwrap();
            let report = edges.report().unwrap();
            // Two derivatives and the magnitude, in one pass on the CPU; the image is already on the device.
            let steps = if device.name() == DeviceName::Cpu { ("paired", 0) } else { ("pointwise", 2) };
            assert_eq!((report.operation, report.variant.matches(" + ").count()), steps);
            assert!(report.copy_in.is_zero() && report.method.is_none(), "{report:?}");
            edges.download::<u8>().unwrap()
        })
        .collect();
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_recorded_chain_has_named_filters() {
    for device in devices() {
        let work = |device: &Device, frame: &DeviceImage| device.gradient(frame).run();
        let mut chain = device.record(&photo(), work).unwrap();
        let expected = Device::reference().gradient(&photo()).run().unwrap().download::<u8>().unwrap();
        for _ in 0..2 {
            assert_eq!(chain.run().unwrap().download::<u8>().unwrap(), expected, "{}", device.name());
        }
    }
}

#[test]
fn directions_are_f32_unless_that_is_refused() {
    let device = Device::cpu();
    assert_eq!(device.gradient(&photo()).direction(true).run().unwrap().pixel_type(), PixelType::F32);
    let error = device.gradient(&photo()).direction(true).out_type(PixelType::U8).run().err().unwrap();
    assert!(matches!(error, Error::PixelType { found: PixelType::U8, .. }), "{error}");
}

#[test]
fn what_can_never_be_right_is_a_usage_error_everywhere() {
    let image = &photo();
    for device in devices() {
        let errors = [
            device.sobel(image, 0, 0).run().err(),
            device.sobel(image, 1, 0).ksize(2).run().err(),
            device.scharr(image, 1, 1).run().err(),
            device.laplacian(image).ksize(4).run().err(),
            device.laplacian_of_gaussian(image, 0.0).run().err(),
            device.dog(image, 2.0, 1.0).run().err(),
            device.sharpen(image).amount(f64::NAN).run().err(),
            device.unsharp(image, -1.0).run().err(),
            device.motion_blur(image, 0, 0.0).run().err(),
            device.local_std(image, (0, 3)).run().err(),
            // With border crop, blurs of two widths give images of two sizes.
            device.dog(image, 0.5, 1.0).border(Border::Crop).run().err(),
            device.dog(image, 0.5, 1.0).extent(Extent::Full).run().err(),
            device.sobel(image, 1, 0).border(Border::Crop).extent(Extent::Full).run().err(),
            device.sobel(image, 1, 0).border(Borders::by_axis(Border::Constant(1e39), Border::Wrap)).run().err(),
            device.apply(image, Formula::of(PointOp::Magnitude, Formula::Image, None)).run().err(),
            device.gradient(image).variant("no-such").run().err(),
            device.local_std(image, 3).variant("no-such").run().err(),
            device.local_std(image, 3).method(apron::Method::Box).run().err(),
        ];
        for (n, error) in errors.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("no error from call {n} on {}", device.name()));
            assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        }
    }
}

#[test]
fn a_region_is_a_part_of_the_whole_and_sees_around_it() {
    let (x, y, width, height) = (5, 3, 17, 9);
    let extent = Extent::Region(Region { x: x as i32, y: y as i32, width, height });
    let borders = Borders::by_axis(Border::Wrap, Border::Reflect);
    for device in devices() {
        let image = device.upload(&photo()).unwrap();
        let whole = [
            device.unsharp(&image, 1.5).border(borders).run(),
            device.gradient(&image).border(borders).run(),
            device.local_std(&image, (4, 7)).border(borders).run(),
        ];
        let parts = [
            device.unsharp(&image, 1.5).border(borders).extent(extent).run(),
            device.gradient(&image).border(borders).extent(extent).run(),
            device.local_std(&image, (4, 7)).border(borders).extent(extent).run(),
        ];
        for (n, (whole, part)) in whole.into_iter().zip(parts).enumerate() {
            let expected = whole.unwrap().region(x, y, width, height).unwrap().download::<u8>().unwrap();
            assert_eq!(part.unwrap().download::<u8>().unwrap(), expected, "filter {n} on {}", device.name());
        }
    }
}

#[test]
fn a_formula_of_ones_own() {
    for device in devices() {
        // The image minus its mean, with 127.5 added to centre the range.
        let detail = Formula::of(PointOp::weighted(1.0, -1.0, 127.5), Formula::Image, Some(Formula::Mean(3, 1)));
        let image = Image::new(3, 1, 1, vec![0u8, 30, 90]).unwrap();
        let out = device.apply(&image, detail).border(Border::Replicate).run().unwrap();
        // The means are 10, 40 and 70: 117.5, 117.5 and 147.5 round to even.
        assert_eq!(out.download::<u8>().unwrap().row(0), [118, 118, 148], "{}", device.name());
        let same = device.apply(&image, Formula::Image).out_type(PixelType::F32).run().unwrap();
        assert_eq!(same.download::<f32>().unwrap().row(0), [0.0, 30.0, 90.0]);
    }
}
