//! Invalid files, atomic outputs, and work beyond its limits.

mod common;

use common::{Folder, IDENTITY, copy, decode, header, npy};

#[test]
fn pictures_that_lie_are_refused() {
    let folder = Folder::new();
    folder.png("a.png", 64, 64, &(0..64 * 64).map(|i| (i * i % 251) as u8).collect::<Vec<_>>());
    let whole = std::fs::read(folder.path("a.png")).unwrap();
    folder.write("half.png", &whole[..whole.len() / 2]);
    folder.write("stub.png", &whole[..20]);
    for format in ["jpg", "tif", "bmp", "pgm", "npy"] {
        let (good, cut) = (format!("good.{format}"), format!("half.{format}"));
        copy(&folder, "a.png", &good);
        let bytes = std::fs::read(folder.path(&good)).unwrap();
        folder.write(&cut, &bytes[..bytes.len() / 2]);
        std::fs::remove_file(folder.path(&good)).unwrap();
    }
    let mut huge = whole.clone();
    huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    let sum = crc(&huge[12..29]);
    huge[29..33].copy_from_slice(&sum.to_be_bytes());
    folder.write("huge.png", &huge);
    folder.write("huge.pgm", "P5 100000 100000 255\n12345");
    folder.write("cut.ppm", "P6 9 9 255\n12345");
    folder.write("zero.pgm", "P5 0 0 255\n");
    folder.write("noise.bmp", "BM and nothing more");
    folder.write("noise.tif", "II*\0\u{8}\0\0\0nothing");
    folder.write("noise.jpg", b"\xff\xd8\xff\xe0 nothing");
    folder.write("noise.xyz", "nothing");
    folder.write("empty.png", "");
    let names = folder.names();
    for name in names.iter().filter(|name| *name != "a.png") {
        folder.fails(3, name, &[&["correlate", name, "out.npy"], IDENTITY].concat());
        if name.starts_with("half") && *name != "half.npy" {
            folder.fails(3, "cut off", &["stats", name]);
        }
    }
    folder.fails(3, "missing.png", &[&["correlate", "missing.png", "out.npy"], IDENTITY].concat());
    folder.fails(3, "--max-pixels", &[&["correlate", "a.png", "out.npy", "--max-pixels", "4095"], IDENTITY].concat());
    folder.ok(&["correlate", "a.png", "out.npy", "--mask", "identity", "--max-pixels", "4096"]);
    folder.fails(3, "--max-pixels", &[&["correlate", "out.npy", "b.npy", "--max-pixels", "99"], IDENTITY].concat());
}

/// Headers that claim gigabytes, with a limit of one: the program reports an error instead of being killed.
#[cfg(target_os = "linux")]
#[test]
fn a_gigabyte_of_memory_is_enough_to_refuse_a_file() {
    let folder = Folder::new();
    folder.write("grey.pgm", "P5 16000 16000 255\n12345");
    folder.write("colour.ppm", "P6 16000 16000 65535\n12345");
    folder.write("text.ppm", "P3 16000 16000 65535\n1 2 3");
    folder.write("bits.pbm", "P4 16384 16384\n1");
    let mut bmp = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
    bmp.extend([16000u32, 16000].map(u32::to_le_bytes).concat());
    bmp.extend([1, 0, 24, 0].into_iter().chain([0; 30]));
    folder.write("large.bmp", bmp);
    // Tags of a TIFF: width, height, bits, compression, photometric, offset, channels, rows and bytes of its only
    // strip.
    let tags = [(256, 16000), (257, 16000), (258, 8), (259, 1), (262, 2), (273, 8), (277, 3), (278, 16000), (279, 5)];
    let mut tiff = b"II*\0\x10\0\0\0\x01\x02\x03\x04\x05\0\0\0".to_vec();
    tiff.extend((tags.len() as u16).to_le_bytes());
    for (tag, value) in tags {
        tiff.extend([u16::to_le_bytes(tag), u16::to_le_bytes(4)].concat());
        tiff.extend([1, value].map(u32::to_le_bytes).concat());
    }
    tiff.extend([0; 4]);
    folder.write("large.tif", tiff);
    folder.write("large.npy", npy(&header("'<f4'", "(16000, 16000)"), &[0; 64]));
    folder.png("a.png", 64, 64, &[7; 64 * 64]);
    let mut png = std::fs::read(folder.path("a.png")).unwrap();
    png[16..24].copy_from_slice(&[16000u32, 16000].map(u32::to_be_bytes).concat());
    png[25] = 6;
    png[24] = 16;
    let sum = crc(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    folder.write("large.png", &png);
    for name in folder.names().iter().filter(|name| *name != "a.png") {
        let start = std::time::Instant::now();
        let ended = folder.run_within(1_000_000, &["stats", name, "--device", "cpu"]);
        assert_eq!(ended.code, 3, "{name}: {ended:?}");
        assert!(ended.stderr.starts_with("apron: ") && ended.stderr.trim_end().lines().count() == 1, "{ended:?}");
        assert!(start.elapsed().as_secs() < 30, "{name} took {:?}", start.elapsed());
    }
    let ended = folder.run_within(1_000_000, &["stats", "a.png", "--device", "reference"]);
    assert_eq!(ended.code, 0, "{ended:?}");
}

/// Returns the checksum of a PNG chunk.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ *byte as u32, |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb88320 } else { sum >> 1 })
    })
}

#[test]
fn outputs_are_whole_or_not_there() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    folder.write("keep.npy", "precious");
    folder.write("bad.png", "P5 9 9 255\n1");
    std::fs::create_dir(folder.path("folder.npy")).unwrap();
    folder.fails(3, "cannot be written", &[&["correlate", "a.png", "no/such/b.npy"], IDENTITY].concat());
    folder.fails(3, "not a regular file", &[&["correlate", "a.png", "folder.npy"], IDENTITY].concat());
    folder.fails(3, "bad.png", &[&["correlate", "bad.png", "keep.npy"], IDENTITY].concat());
    folder.fails(3, "cannot be written", &["histogram", "a.png", "--out", "no/such.csv"]);
    folder.fails(3, "cannot be written", &["histogram", "a.png", "--plot", "no/such.png"]);
    assert_eq!(std::fs::read(folder.path("keep.npy")).unwrap(), b"precious");
    copy(&folder, "a.png", "keep.npy");
    assert_eq!(folder.read::<u8>("keep.npy").1, [3, 4]);
    // The output replaces its own input.
    folder.ok(&["correlate", "a.png", "a.png", "--mask", "2"]);
    assert_eq!(decode(&folder.path("a.png")).as_bytes(), [6, 8]);
    assert_eq!(folder.names(), ["a.png", "bad.png", "folder.npy", "keep.npy"]);
    // Output formats that do not support the result are refused first, without the input if possible.
    folder.fails(2, "u8", &[&["correlate", "missing.png", "b.png", "--out-type", "f32"], IDENTITY].concat());
    folder.array("f.npy", &[1, 1], &[1.0f32]);
    folder.fails(3, "--out-type u8", &[&["correlate", "f.npy", "b.png"], IDENTITY].concat());
    // Of verbs without --out-type.
    folder.fails(3, "--in-type u8", &["pad", "f.npy", "b.png", "--by", "0", "--device", "cpu"]);
    for verb in ["equalize", "otsu"] {
        folder.fails(3, "; --in-type converts the input", &[verb, "f.npy", "b.npy", "--device", "cpu"]);
    }
}

#[cfg(unix)]
#[test]
fn outputs_have_the_permissions_of_other_files_and_links_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    copy(&folder, "a.png", "b.png");
    let mode = |name: &str| std::fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("a.png"), mode("b.png"));
    // A private file stays private.
    std::fs::set_permissions(folder.path("b.png"), std::fs::Permissions::from_mode(0o600)).unwrap();
    copy(&folder, "a.png", "b.png");
    assert_eq!(mode("b.png") & 0o777, 0o600);
    std::os::unix::fs::symlink("b.png", folder.path("link.png")).unwrap();
    folder.ok(&["correlate", "a.png", "link.png", "--mask", "2"]);
    assert!(std::fs::symlink_metadata(folder.path("link.png")).unwrap().is_symlink());
    assert_eq!(decode(&folder.path("b.png")).as_bytes(), [6, 8]);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_followed() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    std::fs::create_dir(folder.path("far")).unwrap();
    for (name, to) in [("first.png", "far/second.png"), ("far/second.png", "third.png"), ("lost.png", "no/such.png")] {
        std::os::unix::fs::symlink(to, folder.path(name)).unwrap();
    }
    copy(&folder, "a.png", "first.png");
    for name in ["first.png", "far/second.png"] {
        assert!(std::fs::symlink_metadata(folder.path(name)).unwrap().is_symlink(), "{name}");
    }
    assert!(std::fs::symlink_metadata(folder.path("far/third.png")).unwrap().is_file());
    assert_eq!(decode(&folder.path("first.png")).as_bytes(), [3, 4]);
    folder.fails(3, "lost.png: cannot be written", &[&["correlate", "a.png", "lost.png"], IDENTITY].concat());
    std::os::unix::fs::symlink("round.png", folder.path("round.png")).unwrap();
    folder.fails(3, "round.png: cannot be written", &[&["correlate", "a.png", "round.png"], IDENTITY].concat());
}

#[cfg(unix)]
#[test]
fn a_file_that_is_read_only_stays() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    for name in ["keep.png", "keep.csv", "keep.svg"] {
        folder.write(name, "precious");
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(0o444)).unwrap();
    }
    let part = |name: &str| format!("{name}: cannot be written: the file is read-only");
    folder.fails(3, &part("keep.png"), &[&["correlate", "a.png", "keep.png"], IDENTITY].concat());
    folder.fails(3, &part("keep.csv"), &["histogram", "a.png", "--out", "keep.csv"]);
    folder.fails(3, &part("keep.svg"), &["histogram", "a.png", "--plot", "keep.svg"]);
    for name in ["keep.png", "keep.csv", "keep.svg"] {
        assert_eq!(std::fs::read(folder.path(name)).unwrap(), b"precious");
    }
}

/// Results that need more memory than there is are refused with an error that names the bytes.
#[cfg(target_os = "linux")]
#[test]
fn results_beyond_memory_are_refused() {
    let folder = Folder::new();
    folder.array("a.npy", &[5, 5, 2], &[7u16; 50]);
    folder.array("grey.npy", &[5, 5], &[7u16; 25]);
    for (arguments, part) in [
        (&["histogram2d", "a.npy", "--channels", "0,1", "--bins", "16777216", "--range", "0,9"][..], "pairs of bins"),
        (&["pad", "a.npy", "b.npy", "--by", "20000", "--max-pixels", "99999999999"], "40005x40005x2"),
        (&["box", "a.npy", "b.npy", "--size", "3", "--region", "0,0,16384x16384"], "16384x16384x2"),
        (&["clahe", "grey.npy", "b.npy", "--tiles", "400x400", "--max-pixels", "99999999999"], "tables of tiles"),
        (&["histogramdd", "a.npy", "--bins", "20000", "--range", "0,9"], "400000000 cells; a sparse result takes more"),
    ] {
        for device in ["cpu", "reference"] {
            let ended = folder.run_within(1_000_000, &[arguments, &["--device", device]].concat());
            // The reference's tables are floats, and so larger.
            assert_eq!(ended.code, 3, "{device}: {ended:?}");
            assert!(ended.stderr.contains(part) && ended.stderr.contains("bytes"), "{ended:?}");
        }
    }
    assert_eq!(folder.names(), ["a.npy", "grey.npy"]);
}

#[cfg(unix)]
#[test]
fn pipes_are_no_files() {
    let folder = Folder::new();
    folder.png("a.png", 1, 1, &[3]);
    assert!(std::process::Command::new("mkfifo").arg(folder.path("pipe.npy")).status().unwrap().success());
    folder.fails(3, "not a regular file", &[&["correlate", "pipe.npy", "b.png"], IDENTITY].concat());
    folder.fails(3, "not a regular file", &["correlate", "a.png", "b.png", "--mask", "pipe.npy"]);
}

#[test]
fn samples_above_the_files_largest_are_refused() {
    let folder = Folder::new();
    let files: &[(&str, &[u8], &str)] = &[
        ("a.pgm", b"P5 2 2 15\n\x01\x0f\x10\x02", "sample 2 is 16, above the file's largest value 15"),
        ("b.pgm", b"P5 2 1 1000\n\x03\xe8\x03\xe9", "sample 1 is 1001, above the file's largest value 1000"),
        ("c.ppm", b"P6 1 1 99\n\x63\x64\x00", "sample 1 is 100, above the file's largest value 99"),
        ("d.pgm", b"P2 2 1 7\n 7\n8\n", "sample 1 is 8, above the file's largest value 7"),
        ("e.ppm", b"P3 1 1 255\n0 256 1", "sample 1 is 256, above the file's largest value 255"),
        ("f.pam", b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 3\nTUPLTYPE GRAYSCALE\nENDHDR\n\x04", "sample 0 is 4"),
    ];
    for (name, bytes, part) in files {
        folder.write(name, bytes);
        folder.fails(3, part, &[&["correlate", name, "out.npy"], IDENTITY].concat());
    }
    // Samples up to the maximum are scaled to the full range, and bytes after the image are ignored.
    folder.write("good.pgm", b"P5 3 1 15\n\x00\x01\x0f\xff");
    folder.write("text.pgm", b"P2\n# levels\n3 1 15 0 1 15");
    for name in ["good.pgm", "text.pgm"] {
        copy(&folder, name, "good.npy");
        assert_eq!(folder.read::<u8>("good.npy").1, [0, 17, 255], "{name}");
    }
}

#[test]
fn work_beyond_the_limit_is_refused_before_it_begins() {
    let folder = Folder::new();
    folder.array("a.npy", &[10, 10], &[7u16; 100]);
    folder.array("mask.npy", &[400, 400], &[1.0f32; 160_000]);
    let run = |verb: &str, options: &[&str]| {
        folder.run(&[&[verb, "a.npy", "b.npy", "--device", "cpu", "--max-pixels", "120"], options].concat())
    };
    for (verb, options, part) in [
        ("box", &["--size", "3x1", "--full"][..], ""),
        ("box", &["--size", "3x3", "--full"], "full output is 12x12, but must be up to 120 pixels"),
        ("correlate", &["--mask", "mask.npy"], "160000 a sample, and so 16000000 products"),
        ("correlate", &["--mask", "mask.npy", "--full"], "full output is 409x409"),
        ("log", &["--sigma", "2", "--full"], "full output is"),
        ("clahe", &["--tiles", "1x1"], "1x1, whose tables have 65536 values"),
    ] {
        let ended = run(verb, options);
        assert_eq!(ended.code, if part.is_empty() { 0 } else { 2 }, "{ended:?}");
        assert!(part.is_empty() || ended.stderr.contains(part) && ended.stderr.contains("--max-pixels"), "{ended:?}");
    }
    folder.fails(2, "4096x4096, whose tables have", &["clahe", "a.npy", "b.npy", "--tiles", "4096", "--device", "cpu"]);
}

#[test]
fn decoders_and_parsers_are_not_quoted_raw() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    let mut png = std::fs::read(folder.path("a.png")).unwrap();
    png[20] ^= 1; // of the width, in the first chunk
    folder.write("crc.png", png);
    folder.write("letter.pgm", "P5\n3 x\n255\n123456789");
    folder.write("dark.pgm", "P5\n3 3\n0\n123456789");
    folder.write("text.png", "no PNG begins so");
    for (name, part) in [
        ("crc.png", "crc.png: the PNG cannot be decoded: CRC error: "),
        ("letter.pgm", "letter.pgm: the PNM cannot be decoded: a number in its header is not made of digits\n"),
        ("dark.pgm", "dark.pgm: the PNM cannot be decoded: its largest value is 0, but must be 1 to 65535\n"),
        ("text.png", "text.png: by its first bytes not a picture that is known: PNG, JPEG, "),
    ] {
        folder.fails(3, part, &["stats", name]);
    }
    folder.fails(
        2,
        "': border is 'foo', but must be ",
        &["gaussian", "a.png", "b.png", "--sigma", "1", "--border", "foo"],
    );
    folder.fails(2, "': device is 'foo', but must be ", &["stats", "a.png", "--device", "foo"]);
    folder.fails(2, "(1 tap), but must be 2 taps long", &["correlate", "a.png", "b.png", "--mask", "1 2; 3"]);
    let jobs = [
        ("\"info\"", r#"the job is "info", but must be a JSON object, such as {"verb":"info"}"#),
        (r#"{"verb":"info""#, "not a JSON object: its end is missing"),
        (r#"{"verb":"info","verb":1}"#, "not a JSON object: the key 'verb' is there twice"),
        ("{verb:1}", "not a JSON object: key must be a string, and found 'verb:1}'"),
        (r#"{"verb":"histogram","in":"a.png","out":"-"}"#, "'out' is -, the standard output"),
        (r#"{"verb":"box","in":"a.png","out":"-","size":3,"format":"png"}"#, "'out' is -, the standard output"),
        (r#"{"verb":"batch"}"#, "'batch' is no job: a job is one of the image verbs, "),
    ];
    folder.write("jobs", jobs.map(|(job, _)| job).join("\n"));
    let ended = folder.run(&["batch", "jobs", "--quiet"]);
    for (line, (job, expected)) in ended.stdout.lines().zip(jobs) {
        let told: serde_json::Value = serde_json::from_str(line).unwrap();
        let error = told["error"].as_str().unwrap();
        assert!(error.starts_with(expected) && !error.contains(" line "), "{job}: {error}");
    }
    assert_eq!(ended.stdout.lines().count(), jobs.len(), "{ended:?}");
    let ended = folder.filter("jobs", &["batch", "-", "--quiet"]);
    assert_eq!(ended.stdout.iter().filter(|byte| **byte == b'\n').count(), jobs.len(), "{ended:?}");
    folder.write("list", "[{\"verb\":\"info\"},\n{\"verb\" 5}]");
    folder.fails(3, "list: not a list of jobs: line 2: expected `:`, and found '5}]'", &["batch", "list"]);
}

#[test]
fn a_filter_of_many_products_is_told_of() {
    let folder = Folder::new();
    folder.write("mask.npy", npy(&header("'|u1'", "(4000, 4000)"), &vec![0; 16_000_000]));
    folder.png("a.png", 600, 400, &vec![0; 600 * 400 * 3]);
    folder.png("small.png", 4, 4, &[0; 48]);
    let run = |from: &str, more: &[&str]| {
        let command = [&["correlate", from, "b.npy", "--mask", "mask.npy", "--device", "cpu"], more].concat();
        folder.run(&command)
    };
    // The wrong variant ends it after the warning.
    let ended = run("a.png", &["--variant", "none"]);
    let warning = "apron: warning: this filter is up to 1.2e13 products of taps and samples, and may take long\n";
    assert!(ended.stderr.starts_with(warning), "{ended:?}");
    assert!(!run("a.png", &["--variant", "none", "--quiet"]).stderr.contains("warning"));
    assert!(!run("small.png", &["--variant", "none"]).stderr.contains("warning"));
    // All pages together have as many, and a step of a pipe is a filter, too.
    folder.array("stack.npy", &[20, 60, 100], &[0u8; 120_000]);
    let told = |input: &str, more: &[&str]| {
        let step = "box size=1 | correlate mask=mask.npy variant=none";
        let ended = folder.run(&[&["pipe", input, "b.npy", step, "--device", "cpu"], more].concat());
        ended.stderr.contains("warning: this filter is up to")
    };
    assert!(run("stack.npy", &["--pages", "--variant", "none"]).stderr.contains("up to 1.9e12 products"));
    assert!(told("a.png", &[]) && told("stack.npy", &["--pages"]) && !told("a.png", &["--quiet"]));
}
