//! Debug output of types: short, without samples, and without waiting for a device.

use apron::{
    Border, Borders, Constants, Device, DeviceName, Extent, Histogram256, Image, Limit, Mask, Method, PixelType,
    Region, Shape,
};

#[test]
fn names_that_people_type_and_read() {
    let shown: [(&dyn std::fmt::Display, &str); 12] = [
        (&Shape::new(640, 480, 3).unwrap(), "640x480x3"),
        (&PixelType::F16, "f16"),
        (&Border::Constant(7.5), "constant:7.5"),
        (&Borders::by_axis(Border::Wrap, Border::Crop), "wrap,crop"),
        (&Constants::new(&[1.0, 2.5]).unwrap(), "constant:1:2.5"),
        (&Method::LowRank, "low-rank"),
        (&DeviceName::Gpu(1), "gpu:1"),
        (&Limit::ToHost, "to-host"),
        (&apron::ErrorKind::Usage, "usage"),
        (&Extent::Full, "full"),
        (&Extent::Region(Region { x: -1, y: 2, width: 3, height: 4 }), "region 3x4 at -1,2"),
        (&Mask::from_rows([[-1.0, 0.5], [0.0, 2.0]]).unwrap(), "-1 0.5; 0 2"),
    ];
    for (value, text) in shown {
        assert_eq!(value.to_string(), text);
    }
    let mask = Mask::from_rows([[-1.0, 1e-30, 0.1], [0.0, 2.0, f32::MAX]]).unwrap();
    assert_eq!(mask.to_string().parse::<Mask>().unwrap(), mask);
}

#[test]
fn what_is_on_a_device_is_described_and_not_read() {
    let device = Device::cpu();
    let image = device.upload(&Image::new(3, 2, 1, vec![77u8; 6]).unwrap()).unwrap();
    let text = format!("{image:?}");
    assert!(text.contains("width: 3") && text.contains("\"cpu\"") && !text.contains("77"), "{text}");
    let filter = format!("{:?}", device.sobel(&image, 1, 0).border(Border::Wrap));
    assert!(filter.contains("Sobel") && filter.contains("Wrap") && filter.contains("Device"), "{filter}");
    let counting = format!("{:?}", device.histogram(&image).bins(17));
    assert!(counting.contains("count: 17"), "{counting}");
    let counted = format!("{:?}", device.histogram(&image).enqueue().unwrap());
    assert!(counted.starts_with("DeviceHistogram { device: \"cpu\""), "{counted}");
    let program = Histogram256::new(&device, [7u8; 5]).unwrap();
    assert!(format!("{program:?}").contains("bytes: 5"), "{program:?}");
    let chain = device.record(&image, |device, image| device.gaussian(image, 1.0).run()).unwrap();
    assert!(format!("{chain:?}").starts_with("Chain { input: DeviceImage"), "{chain:?}");
}
