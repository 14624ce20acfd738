//! Filters of every page: of TIFF files, and of stacks in `.npy` files.

mod common;

use common::{DATA, Folder, Tag, decode, header, npy, tiff};
use serde_json::Value;
use std::fs;

/// Columns and rows of the pages.
const SIZE: (u32, u32) = (23, 17);

/// Returns bytes that look random.
fn noise(count: usize, seed: u32) -> Vec<u8> {
    (0..count as u32).map(|i| ((i + 1000 * seed).wrapping_mul(2_654_435_761) >> 23) as u8).collect()
}

/// Returns the tags of a page of one strip of u8.
fn tags((width, height): (u32, u32)) -> Vec<Tag> {
    let (strip, size) = ([(273, 4, 1, DATA)], [(279, 4, 1, width * height)]);
    let start = [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)];
    start.into_iter().chain(strip).chain([(277, 3, 1, 1), (278, 3, 1, height)]).chain(size).collect()
}

/// Builds a TIFF of pages of these sizes, and returns their samples, too.
fn pages(sizes: &[(u32, u32)]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let pages: Vec<_> =
        (0..).zip(sizes).map(|(seed, &size)| (tags(size), noise((size.0 * size.1) as usize, seed))).collect();
    let file = tiff(&pages.iter().map(|(tags, data)| (&tags[..], &data[..])).collect::<Vec<_>>());
    (file, pages.into_iter().map(|(_, data)| data).collect())
}

/// Makes `stack.npy` of 5 pages, `colours.npy` of 2 and `three.tif`, and each page alone: `stack-0.npy` and so on.
fn folder() -> Folder {
    let folder = Folder::new();
    let (width, height) = (SIZE.0 as u64, SIZE.1 as u64);
    let mut stacks = Vec::new();
    for (name, count, channels) in [("stack", 5, 1), ("colours", 2, 3)] {
        let image = (width * height * channels) as usize;
        let shape = [count, height, width, channels];
        let shape = &shape[..if channels == 1 { 3 } else { 4 }];
        let samples = noise(image * count as usize, channels as u32);
        folder.array(&format!("{name}.npy"), shape, &samples);
        stacks.push((name, shape[1..].to_vec(), samples.chunks(image).map(<[u8]>::to_vec).collect::<Vec<_>>()));
    }
    let (file, data) = pages(&[SIZE; 3]);
    folder.write("three.tif", file);
    stacks.push(("three", vec![height, width], data));
    for (name, shape, pages) in stacks {
        for (index, page) in pages.iter().enumerate() {
            folder.array(&format!("{name}-{index}.npy"), &shape, page);
        }
    }
    folder
}

/// Returns the part of a `.npy` file after its header, whose size is a multiple of 64 bytes.
fn data(folder: &Folder, name: &str) -> Vec<u8> {
    let bytes = fs::read(folder.path(name)).unwrap();
    let header = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    bytes[10 + header..].to_vec()
}

#[test]
fn every_page_has_the_bits_it_has_alone() {
    let folder = folder();
    for command in [
        "gaussian IN OUT --sigma 2",
        "gaussian IN OUT --sigma 2 --out-type f32 --border wrap",
        "separable IN OUT --taps-x 1,2,1 --taps-y 1,2,1,5 --normalize",
        "correlate IN OUT --mask sobel-x --in-type i16",
        "convolve IN OUT --mask sharpen --rescale auto",
        "correlate IN OUT --mask 1,2,1 --divisor 4 --offset 3 --grey",
        "box IN OUT --size 5x3 --full",
        "gradient IN OUT --operator scharr",
        "equalize IN OUT",
        "clahe IN OUT --tiles 2x2",
        "pad IN OUT --by 1,2,3,4 --border reflect",
    ] {
        for (stack, count) in [("stack.npy", 5), ("colours.npy", 2), ("three.tif", 3)] {
            let words = |input: &str, output: &str| -> Vec<String> {
                command.split(' ').map(|word| word.replace("IN", input).replace("OUT", output)).collect()
            };
            let run = |words: Vec<String>, more: &[&str]| {
                let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
                folder.ok(&words)
            };
            let name = stack.split('.').next().unwrap();
            run(words(stack, "all.npy"), &["--pages"]);
            let mut alone = Vec::new();
            for page in 0..count {
                run(words(&format!("{name}-{page}.npy"), "one.npy"), &[]);
                alone.push(data(&folder, "one.npy"));
            }
            assert!(data(&folder, "all.npy") == alone.concat(), "{command} of {stack}");
            let typed = fs::read(folder.path("all.npy")).unwrap();
            let shape = npyz::NpyFile::new(&typed[..]).unwrap().shape().to_vec();
            let one = fs::read(folder.path("one.npy")).unwrap();
            let of_one = npyz::NpyFile::new(&one[..]).unwrap().shape().to_vec();
            assert_eq!(shape, [&[count], &of_one[..]].concat(), "{command} of {stack}");
            // TIFF has the same samples, where it has such types.
            if folder.run(&[&["correlate", "one.npy", "one.tif"], common::IDENTITY].concat()).code != 0 {
                continue;
            }
            run(words(stack, "all.tif"), &["--pages"]);
            for (page, alone) in (1..).zip(&alone) {
                let page = page.to_string();
                folder.ok(&["correlate", "all.tif", "page.npy", "--mask", "identity", "--page", &page]);
                assert!(data(&folder, "page.npy") == *alone, "page {page} of {command} of {stack}");
            }
        }
    }
}

#[test]
fn tiff_files_and_stacks_are_made_of_each_other() {
    let folder = folder();
    let copy = |from: &str, to: &str| folder.ok(&["correlate", from, to, "--mask", "identity", "--pages"]).stderr;
    let told = copy("stack.npy", "a.tif");
    assert!(told.starts_with("correlate: a.tif 23x17x1 u8, 5 pages; ") && told.lines().count() == 1, "{told}");
    copy("a.tif", "b.npy");
    assert_eq!(folder.read::<u8>("b.npy"), folder.read::<u8>("stack.npy"));
    copy("colours.npy", "c.tif");
    copy("c.tif", "d.npy");
    assert_eq!(folder.read::<u8>("d.npy"), folder.read::<u8>("colours.npy"));
    // Another library's decoder reads the first page.
    assert_eq!(decode(&folder.path("a.tif")).as_bytes(), data(&folder, "stack-0.npy"));
    // One page is a stack of one.
    folder.write("one.tif", pages(&[SIZE]).0);
    copy("one.tif", "one.npy");
    assert_eq!(folder.read::<u8>("one.npy").0, [1, 17, 23]);
    // A stack of the sides of an image in colours is a stack.
    folder.array("s.npy", &[4, 2, 3], &[7u8; 24]);
    copy("s.npy", "t.npy");
    assert_eq!(folder.read::<u8>("t.npy").0, [4, 2, 3]);
    assert!(folder.ok(&["box", "s.npy", "i.tif", "--size", "1"]).stderr.contains(" 2x4x3 u8;"));
    assert!(folder.ok(&["box", "s.npy", "i.tif", "--size", "1", "--pages"]).stderr.contains(" 3x2x1 u8, 4 pages;"));
}

#[test]
fn pipes_jobs_and_folders_take_pages() {
    let folder = folder();
    let ended = folder.ok(&["pipe", "stack.npy", "all.npy", "gaussian sigma=2 | box size=3", "--pages", "--json"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&report["pages"], report["steps"].as_array().unwrap().len()), (&5.into(), 2), "{report}");
    assert!(report["total_ms"].as_f64() > report["kernels_ms"].as_f64() && report["out_width"] == 23, "{report}");
    let mut alone = Vec::new();
    for page in 0..5 {
        folder.ok(&["pipe", &format!("stack-{page}.npy"), "one.npy", "gaussian sigma=2 | box size=3"]);
        alone.extend(data(&folder, "one.npy"));
    }
    assert!(data(&folder, "all.npy") == alone);
    folder.write(
        "jobs.jsonl",
        "{\"verb\":\"pipe\",\"in\":\"stack.npy\",\"out\":\"job.npy\",\"steps\":\"gaussian sigma=2 | box size=3\",\"pages\":true}",
    );
    let ended = folder.ok(&["batch", "jobs.jsonl"]);
    assert!(ended.stdout.contains("\"pages\":5") && data(&folder, "job.npy") == alone, "{ended:?}");
    folder.ok(&["match", "stack.npy", "three-0.npy", "match.npy", "--pages"]);
    folder.ok(&["match", "stack-4.npy", "three-0.npy", "one.npy"]);
    assert!(data(&folder, "match.npy").ends_with(&data(&folder, "one.npy")));
    folder.ok(&["box", "stack.npy", "colours.npy", "three.tif", "out/", "--size", "1", "--pages"]);
    for name in ["stack.npy", "colours.npy"] {
        assert_eq!(folder.read::<u8>(&format!("out/{name}")), folder.read::<u8>(name));
    }
    let ended = folder.ok(&["box", "three.tif", "a.tif", "--size", "1", "--page", "3", "--json"]);
    assert!(!ended.stdout.contains("pages"), "{ended:?}");
}

#[test]
fn a_page_that_fails_is_named_and_leaves_nothing() {
    let folder = folder();
    let (mixed, data) = pages(&[SIZE, SIZE, (9, 4)]);
    folder.write("mixed.tif", mixed);
    folder.ok(&["box", "mixed.tif", "mixed.out.tif", "--size", "1", "--pages"]);
    folder.ok(&["box", "mixed.out.tif", "third.npy", "--size", "1", "--page", "3"]);
    assert_eq!(folder.read::<u8>("third.npy"), (vec![4, 9], data[2].clone()));
    // A page of another width than the file has bytes for: the last, so that the ones before it are written.
    let broken = |name: &str, tag: usize, value: u32| {
        let (mut file, _) = pages(&[SIZE; 3]);
        let entry = file.len() - (SIZE.0 * SIZE.1) as usize - 4 - 12 * (9 - tag) + 8;
        file[entry..entry + 4].copy_from_slice(&value.to_le_bytes());
        folder.write(name, file);
    };
    broken("wide.tif", 0, 60000);
    broken("far.tif", 5, 1 << 23);
    broken("packed.tif", 3, 34712);
    let whole = fs::read(folder.path("three.tif")).unwrap();
    folder.write("cut.tif", &whole[..whole.len() - 1]);
    folder.write("shorter.tif", &whole[..whole.len() / 2]);
    folder.write("none.tif", b"II*\0\0\0\0\0");
    let stack = fs::read(folder.path("stack.npy")).unwrap();
    folder.write("cut.npy", &stack[..stack.len() - 1]);
    folder.write("huge.npy", npy(&header("'|u1'", "(4294967296, 65536, 65536)"), &[]));
    folder.write("many.npy", npy(&header("'|u1'", "(1000000000000, 10, 10)"), &[0; 100]));
    folder.write("none.npy", npy(&header("'|u1'", "(0, 10, 10)"), &[]));
    folder.write("there.npy", "precious");
    fs::write(folder.path("there.tif"), "precious").unwrap();
    let names = folder.names();
    for (input, part) in [
        ("mixed.tif", "page 3: there.npy: 9x4x1 u8 differs from the first image, 23x17x1 u8"),
        ("wide.tif", "page 3: wide.tif: "),
        ("far.tif", "page 3: far.tif: the file is cut off"),
        ("packed.tif", "page 3: packed.tif: "),
        ("cut.tif", "page 3: cut.tif: the file is cut off"),
        ("shorter.tif", "shorter.tif: the file is cut off or broken: no page follows page "),
        ("none.tif", "none.tif: the TIFF has no page"),
        ("cut.npy", "cut.npy: holds 1954 bytes of data, but shape (5, 17, 23)"),
        ("huge.npy", "larger than any file"),
        ("many.npy", "many.npy: holds 100 bytes of data"),
        ("none.npy", "shape (0, 10, 10) is not taken; stacks of"),
        ("stack-0.npy", "shape (17, 23) is not taken; stacks of"),
        ("missing.npy", "missing.npy"),
    ] {
        for output in ["there.npy", "there.tif", "new.npy", "new.tif"] {
            if input == "mixed.tif" && output != "there.npy" {
                continue;
            }
            folder.fails(3, part, &["gaussian", input, output, "--sigma", "1", "--pages", "--device", "cpu"]);
            assert_eq!(folder.names(), names, "{input} {output}");
        }
    }
    for name in ["there.npy", "there.tif"] {
        assert_eq!(fs::read(folder.path(name)).unwrap(), b"precious");
    }
    // The type is the stack's, unless one is asked for.
    folder.array("i64.npy", &[2, 1, 2], &[1i64, 2, 300, 4]);
    let identity = [&["correlate", "i64.npy", "i64.out.npy", "--pages"], common::IDENTITY].concat();
    let ended = folder.run(&identity);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(folder.read::<i64>("i64.out.npy"), (vec![2, 1, 2], vec![1, 2, 300, 4]));
    assert_eq!(folder.run(&[&identity[..], &["--in-type", "u16"]].concat()).code, 0);
    assert_eq!(folder.read::<u16>("i64.out.npy"), (vec![2, 1, 2], vec![1, 2, 300, 4]));
    // The limit of pixels applies to each page.
    let limited = |pixels: &str| {
        let arguments = ["box", "mixed.tif", "new.tif", "--size", "1", "--pages", "--max-pixels", pixels];
        folder.run(&[&arguments[..], &["--device", "cpu"]].concat())
    };
    assert_eq!(limited("391").code, 0);
    let ended = limited("390");
    assert!(ended.code == 3 && ended.stderr.contains("page 1: mixed.tif: 23x17 is more than 390 pixels"), "{ended:?}");
}

#[test]
fn pages_are_told_of_and_have_their_limits() {
    let folder = folder();
    let names = folder.names();
    for (command, code, part) in [
        ("box three.tif a.tif --size 1 --pages --page 2", 2, "'--pages' cannot be used with '--page <N>'"),
        ("box three.tif a.tif --size 1 --pages --memory 1GB", 2, "'--pages' cannot be used with '--memory <SIZE>'"),
        ("box three.tif a.tif --size 1 --pages --resume", 2, "'--pages' cannot be used with '--resume'"),
        ("stats three.tif --pages", 2, "unexpected argument '--pages'"),
        ("histogram three.tif --pages", 2, "unexpected argument '--pages'"),
        ("otsu three.tif --pages", 2, "unexpected argument '--pages'"),
        ("box three.tif a.png --size 1 --pages", 2, "a.png: only .npy and TIFF files hold several images"),
        ("box three.tif - --format tif --size 1 --pages", 2, "-: only .npy and TIFF files hold several images"),
        ("box - a.tif --size 1 --pages", 2, "IN is -, the standard input"),
        ("box stack.npy a.npy --size 1", 3, "shape (5, 17, 23) is that of 5 images, and not of one"),
        ("box stack.npy a.npy --size 1", 3, "; --volume of stats, histogram and filters takes them as one"),
        ("box colours.npy a.npy --size 1", 3, "shape (2, 17, 23, 3) is that of 2 images"),
        ("stats stack.npy", 3, "; --volume of stats, histogram and filters takes them as one"),
        ("gaussian stack.npy a.npy --sigma -1 --pages", 2, "apron: gaussian"),
    ] {
        folder.fails(code, part, &command.split(' ').chain(["--device", "cpu"]).collect::<Vec<_>>());
        assert_eq!(folder.names(), names, "{command}");
    }
    let pipe = ["pipe", "stack.npy", "a.npy", "box size=1 pages", "--device", "cpu"];
    folder.fails(2, "'pages' is for the whole pipe", &pipe);
    folder.png("a.png", 1, 1, &[3]);
    folder.fails(3, "neither a TIFF nor a .npy file", &["box", "a.png", "a.tif", "--size", "1", "--pages"]);
    let fortran = header("'|u1'", "(2, 3, 4)").replace("False", "True");
    folder.write("fortran.npy", npy(&fortran, &[0; 24]));
    folder.fails(3, "Fortran order", &["box", "fortran.npy", "a.tif", "--size", "1", "--pages"]);
}

/// A stack that is larger than the memory there is, and so are the TIFF made of it and the stack made of that.
#[cfg(target_os = "linux")]
#[test]
fn a_stack_may_be_larger_than_memory() {
    const PAGES: u64 = 250;
    const PAGE: u64 = 1 << 20;
    /// In KiB: less than the pages have.
    const MEMORY: u32 = 150_000;
    let folder = Folder::new();
    let head = npy(&header("'|u1'", &format!("({PAGES}, 1024, 1024)")), &[]);
    folder.write("a.npy", &head);
    // All but the last page are holes of the file.
    let file = fs::OpenOptions::new().write(true).open(folder.path("a.npy")).unwrap();
    file.set_len(head.len() as u64 + PAGES * PAGE).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[7; 1000], head.len() as u64 + (PAGES - 1) * PAGE).unwrap();
    for (from, to) in [("a.npy", "b.tif"), ("b.tif", "c.npy")] {
        let ended = folder.run_within(MEMORY, &["pad", from, to, "--by", "0", "--pages", "--device", "cpu"]);
        assert_eq!(ended.code, 0, "{from}: {ended:?}");
    }
    let (first, last) = (fs::read(folder.path("a.npy")).unwrap(), fs::read(folder.path("c.npy")).unwrap());
    let samples = (PAGES * PAGE) as usize;
    assert!(first[first.len() - samples..] == last[last.len() - samples..]);
    // The same samples as one image do not fit.
    folder.write("d.npy", npy(&header("'|u1'", &format!("({}, 1024)", PAGES * 1024)), &first[head.len()..]));
    let ended = folder.run_within(MEMORY, &["clahe", "d.npy", "e.npy", "--device", "cpu"]);
    assert!(ended.code == 3 && ended.stderr.contains("memory"), "{ended:?}");
}
