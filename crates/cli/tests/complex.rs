//! Arrays of complex numbers: linear filters take them by parts, and everything else refuses them.

mod common;

use common::{Folder, header, npy};

/// Writes an array of complex64, by pairs of parts.
fn write(folder: &Folder, name: &str, shape: &str, parts: &[f32]) {
    let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
    folder.write(name, npy(&header("'<c8'", shape), &bytes));
}

/// Returns a header's type and shape, and the parts.
fn read(folder: &Folder, name: &str) -> (String, Vec<f64>) {
    let bytes = std::fs::read(folder.path(name)).unwrap();
    let start = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = String::from_utf8(bytes[10..start].to_vec()).unwrap();
    let single = header.contains("<c8");
    assert!(single || header.contains("<c16"), "{header}");
    let data = &bytes[start..];
    let parts = match single {
        true => data.chunks_exact(4).map(|part| f32::from_le_bytes(part.try_into().unwrap()).into()).collect(),
        false => data.chunks_exact(8).map(|part| f64::from_le_bytes(part.try_into().unwrap())).collect(),
    };
    (header, parts)
}

/// Two rows of three numbers: 1 + 10i to 6 + 60i.
const PARTS: [f32; 12] = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0, 5.0, 50.0, 6.0, 60.0];

#[test]
fn both_parts_are_filtered_alone() {
    let folder = Folder::new();
    write(&folder, "in.npy", "(2, 3)", &PARTS);
    let (real, both) =
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], |parts: [f64; 6]| parts.map(|part| [part, 10.0 * part]).concat());
    for (verb, expected) in [
        ("correlate --mask identity", both(real)),
        ("correlate --mask=-1,0,1 --border replicate", both([1.0, 2.0, 1.0, 1.0, 2.0, 1.0])),
        ("convolve --mask=-1,0,1 --border replicate", both([-1.0, -2.0, -1.0, -1.0, -2.0, -1.0])),
        ("correlate --mask 1,1,1 --divisor 2 --border crop", vec![3.0, 30.0, 7.5, 75.0]),
        ("separable --taps-x 1,1,1 --taps-y 1 --border wrap", both([6.0, 6.0, 6.0, 15.0, 15.0, 15.0])),
        ("box --size 3x2 --border crop", vec![3.5, 35.0]),
        ("gaussian --sigma 0", both(real)),
        ("unsharp --sigma 0 --amount 2", both(real)),
        ("sobel --dx 1 --ksize 1 --out-type f32", both([0.0, 2.0, 0.0, 0.0, 2.0, 0.0])),
        // The constant is a real number.
        (
            "correlate --mask 1,0,0 --border constant:7",
            vec![7.0, 0.0, 1.0, 10.0, 2.0, 20.0, 7.0, 0.0, 4.0, 40.0, 5.0, 50.0],
        ),
        (
            "correlate --mask 1,0,0 --border constant",
            vec![0.0, 0.0, 1.0, 10.0, 2.0, 20.0, 0.0, 0.0, 4.0, 40.0, 5.0, 50.0],
        ),
        ("correlate --mask identity --region 1,0,2x1", vec![2.0, 20.0, 3.0, 30.0]),
    ] {
        let words: Vec<&str> = verb.split(' ').collect();
        let words: Vec<String> = words.iter().map(|word| word.replace(',', " ")).collect();
        let words: Vec<String> =
            words.into_iter().map(|word| if word == "1 0 2x1" { "1,0,2x1".into() } else { word }).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for device in ["cpu", "emulator", "reference"] {
            let ended = folder.run(&[&[words[0], "in.npy", "out.npy", "--device", device], &words[1..]].concat());
            assert_eq!(ended.code, 0, "{verb} on {device}: {ended:?}");
            let (header, parts) = read(&folder, "out.npy");
            assert_eq!(parts, expected, "{verb} on {device}");
            assert!(header.contains("'<c8'"), "{header}");
        }
    }
}

#[test]
fn doubles_channels_pages_volumes_and_streams() {
    let folder = Folder::new();
    let bytes: Vec<u8> = PARTS.iter().flat_map(|part| f64::from(*part).to_be_bytes()).collect();
    // Two numbers a pixel, of f64, in the other byte order.
    folder.write("two.npy", npy(&header("'>c16'", "(3, 1, 2)"), &bytes));
    folder.ok(&["correlate", "two.npy", "out.npy", "--mask", "0;0;1", "--border", "constant:5:6"]);
    let (header, parts) = read(&folder, "out.npy");
    assert!(header.contains("'<c16'") && header.contains("(3, 1, 2)"), "{header}");
    assert_eq!(parts, [3.0, 30.0, 4.0, 40.0, 5.0, 50.0, 6.0, 60.0, 5.0, 0.0, 6.0, 0.0]);
    folder.ok(&["box", "two.npy", "out.npy", "--size", "1", "--out-type", "f64"]);
    assert_eq!(read(&folder, "out.npy").1, PARTS.map(f64::from));

    write(&folder, "stack.npy", "(3, 1, 2)", &PARTS);
    let line = ["correlate", "stack.npy", "out.npy", "--mask", "0 0 1", "--border", "constant:9", "--pages"];
    folder.ok(&line);
    let (header, parts) = read(&folder, "out.npy");
    assert!(header.contains("(3, 1, 2)"), "{header}");
    assert_eq!(parts, [2.0, 20.0, 9.0, 0.0, 4.0, 40.0, 9.0, 0.0, 6.0, 60.0, 9.0, 0.0]);

    folder.ok(&["box", "stack.npy", "out.npy", "--size", "1x1x3", "--border", "crop", "--volume"]);
    let (header, parts) = read(&folder, "out.npy");
    assert!(header.contains("(1, 1, 2)"), "{header}");
    assert_eq!(parts, [3.0, 30.0, 4.0, 40.0]);
    let line = ["box", "stack.npy", "out.npy", "--size", "1x1x3", "--border", "constant", "--volume"];
    folder.ok(&line);
    assert_eq!(read(&folder, "out.npy").1[2..4], [2.0, 20.0]);

    write(&folder, "in.npy", "(2, 3)", &PARTS);
    let out = folder.filter("in.npy", &["box", "-", "-", "--format", "npy", "--size", "1", "--device", "cpu"]);
    folder.write("out.npy", out.stdout);
    assert_eq!(read(&folder, "out.npy").1, PARTS.map(f64::from));
}

#[test]
fn strips_have_the_bits_of_the_whole() {
    let folder = Folder::new();
    let parts: Vec<f32> = (0..2 * 2000 * 200u32).map(|part| (part.wrapping_mul(0x9e37_79b9) >> 8) as f32).collect();
    write(&folder, "in.npy", "(2000, 200)", &parts);
    for border in ["reflect", "constant:3"] {
        let line = ["gaussian", "in.npy", "whole.npy", "--sigma", "2", "--border", border];
        folder.ok(&line);
        let strips = ["gaussian", "in.npy", "strips.npy", "--sigma", "2", "--border", border, "--memory", "800KB"];
        folder.ok(&strips);
        let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert!(bytes("whole.npy") == bytes("strips.npy"), "{border}");
        assert!(read(&folder, "strips.npy").0.contains("'<c8'"));
    }
    folder.fails(
        2,
        "u8 for complex64 numbers",
        &["gaussian", "in.npy", "no.npy", "--sigma", "2", "--out-type", "u8", "--memory", "800KB"],
    );
    folder.fails(3, "'<c8' is complex", &["stats", "in.npy", "--memory", "800KB"]);
    folder.fails(3, "'<c8' is complex", &["equalize", "in.npy", "no.npy", "--memory", "800KB"]);
    folder.fails(3, "'<c8' is complex", &["gradient", "in.npy", "no.npy", "--memory", "800KB"]);
    assert!(!folder.path("no.npy").exists());
}

#[test]
fn what_is_not_linear_and_what_holds_no_complex_numbers_is_refused() {
    let folder = Folder::new();
    write(&folder, "in.npy", "(2, 3)", &PARTS);
    write(&folder, "stack.npy", "(2, 2, 3)", &[PARTS, PARTS].concat());
    write(&folder, "three.npy", "(1, 2, 3)", &PARTS);
    folder.array("real.npy", &[2, 3], &[0u8; 6]);
    for (code, part, line) in [
        (3, "'<c8' is complex", "gradient in.npy o.npy"),
        (3, "'<c8' is complex", "gradient in.npy o.npy --direction"),
        (3, "'<c8' is complex", "local-std in.npy o.npy --size 3"),
        (3, "'<c8' is complex", "unsharp in.npy o.npy --sigma 1 --threshold 2"),
        (3, "'<c8' is complex", "sobel in.npy o.npy --dx 1 --delta 3"),
        (3, "'<c8' is complex", "correlate in.npy o.npy --mask 1 --clamp"),
        (3, "'<c8' is complex", "correlate in.npy o.npy --mask 1 --offset 1"),
        (3, "'<c8' is complex", "box in.npy o.npy --size 3 --keep-alpha"),
        (3, "'<c8' is complex", "box in.npy o.npy --size 3 --grey"),
        (3, "'<c8' is complex", "box in.npy o.npy --size 3 --in-type f32"),
        (3, "'<c8' is complex", "box in.npy o.npy --size 3 --rescale auto"),
        (3, "without --clamp, --grey, --in-type", "box in.npy o.npy --size 3 --grey"),
        (2, "out-type is u8 for complex64 numbers, but must be f32", "box in.npy o.npy --size 3 --out-type u8"),
        (2, "out-type is f64 for complex64 numbers, but must be f32", "box in.npy o.npy --size 3 --out-type f64"),
        (3, "o.png: complex numbers are written to .npy alone", "box in.npy o.png --size 3"),
        (3, "o.tif: complex numbers are written to .npy alone", "box in.npy o.tif --size 3"),
        (3, "o.tif: complex numbers are written to .npy alone", "box stack.npy o.tif --size 3 --volume"),
        (3, "o.tif: complex numbers are written to .npy alone", "box stack.npy o.tif --size 3 --pages"),
        (2, "number of constants is 2, but must be 1", "box in.npy o.npy --size 3 --border constant:1:2"),
        (
            2,
            "constant beside complex numbers is 1, but must be 0",
            "box stack.npy o.npy --size 3 --border constant:1 --volume",
        ),
        (3, "'<c8' is complex", "gradient stack.npy o.npy --volume"),
        (2, "out-type is u8 for complex64", "box stack.npy o.npy --size 3 --volume --out-type u8"),
        (3, "'<c8' is complex", "slice stack.npy o.npy"),
        (3, "(height, width, 1 to 2)", "box three.npy o.npy --size 3"),
        (3, "'<c8' is complex", "histogram in.npy"),
        (3, "'<c8' is complex", "histogram2d in.npy --channels 0,1"),
        (3, "is complex", "histogramdd in.npy"),
        (3, "'<c8' is complex", "histogram real.npy --roi-mask in.npy"),
        (3, "'<c8' is not taken; real numbers are", "histogram real.npy --weights in.npy"),
        (3, "'<c8' is not taken; real numbers are", "correlate real.npy o.npy --mask in.npy"),
        (3, "'<c8' is complex", "stats in.npy"),
        (3, "'<c8' is complex", "otsu in.npy o.npy"),
        (3, "'<c8' is complex", "equalize in.npy o.npy"),
        (3, "'<c8' is complex", "clahe in.npy o.npy"),
        (3, "'<c8' is complex", "match in.npy real.npy o.npy"),
        (3, "'<c8' is complex", "match real.npy in.npy o.npy"),
        (3, "'<c8' is complex", "pad in.npy o.npy --by 1"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        folder.fails(code, part, &words);
        assert!(["o.npy", "o.png", "o.tif"].iter().all(|name| !folder.path(name).exists()), "{line}");
    }
    folder.fails(3, "'<c8' is complex", &["pipe", "in.npy", "o.npy", "box size=3"]);
}
