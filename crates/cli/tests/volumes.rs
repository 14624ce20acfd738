//! Volumes from files to files: verbs with `--volume`, and `apron slice`.

mod common;

use common::{Folder, decode};

/// Writes a volume of 2 planes of 2 rows of 3 voxels, whose samples are 100 z + 10 y + x.
fn scan(folder: &Folder) {
    let samples = [0u8, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112];
    folder.array("scan.npy", &[2, 2, 3], &samples);
}

#[test]
fn each_axis_is_filtered_by_its_own_parameters() {
    let folder = Folder::new();
    scan(&folder);
    // The second voxel is taken from the last, and the other way round.
    let mut mask = [0.0f32, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    folder.array("m.npy", &[2, 2, 3], &mask);
    mask.iter_mut().for_each(|tap| *tap = -*tap);
    folder.array("n.npy", &[2, 2, 3], &mask);
    for (verb, expected) in [
        // Along x alone, along z alone, and the mean of all voxels.
        ("box --size 3x1x1 --border crop", vec![1, 11, 101, 111]),
        ("box --size 1x1x2 --border crop", vec![50, 51, 52, 60, 61, 62]),
        ("box --size 3x2x2 --border crop", vec![56]),
        ("sobel --dz 1 --border crop,crop,replicate --out-type i16", vec![]),
        ("correlate --mask m.npy --border crop", vec![112 - 1]),
        ("convolve --mask n.npy --anchor 0,0,0 --border crop", vec![111]),
        ("separable --taps-x 1 --taps-y 1 --taps-z=-1,1 --border crop", vec![100; 6]),
        ("box --size 3x1x1 --region 1,1,1,1x1x1", vec![111]),
        ("unsharp --sigma 0,0,0 --region 1,0,0,2x1x2", vec![1, 2, 101, 102]),
        ("gaussian --sigma 0,0,0", vec![0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112]),
    ] {
        let words: Vec<&str> = verb.split(' ').collect();
        if expected.is_empty() {
            folder.fails(
                3,
                "height is 2, but must be 3 or more",
                &[&[words[0], "scan.npy", "o.npy", "--volume"], &words[1..]].concat(),
            );
            continue;
        }
        for device in ["cpu", "emulator", "reference"] {
            let arguments = [&[words[0], "scan.npy", "o.npy", "--volume", "--device", device], &words[1..]].concat();
            let ended = folder.run(&arguments);
            assert_eq!(ended.code, 0, "{ended:?}");
            assert_eq!(folder.read::<u8>("o.npy").1, expected, "{verb} on {device}");
        }
    }
    let (shape, _) = folder.read::<u8>("o.npy");
    assert_eq!(shape, [2, 2, 3]);
}

#[test]
fn pages_of_a_tiff_are_a_volume() {
    let folder = Folder::new();
    scan(&folder);
    folder.ok(&["gaussian", "scan.npy", "scan.tif", "--sigma", "0", "--volume"]);
    folder.ok(&["box", "scan.tif", "mean.tif", "--size", "1x1x2", "--border", "crop", "--volume"]);
    let report = folder.ok(&["box", "mean.tif", "mean.npy", "--size", "1", "--volume", "--json"]).stdout;
    assert_eq!(folder.read::<u8>("mean.npy").1, [50, 51, 52, 60, 61, 62]);
    assert!(report.contains("\"out_depth\":1") && report.contains("\"pages\":1"), "{report}");
}

/// Writes a volume of 90 planes of 40 rows of 50 voxels.
fn large(folder: &Folder) {
    let samples: Vec<u16> = (0..90 * 40 * 50u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 16) as u16).collect();
    folder.array("large.npy", &[90, 40, 50], &samples);
}

#[test]
fn several_volumes_are_filtered_one_by_one() {
    let folder = Folder::new();
    let samples: Vec<u16> = (0..3 * 20 * 9 * 30u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 16) as u16).collect();
    folder.array("all.npy", &[3, 20, 9, 30], &samples);
    let filter = ["gaussian", "--sigma", "1,1,0.5", "--border", "wrap", "--volume"];
    let mut expected = Vec::new();
    for of_one in samples.chunks(20 * 9 * 30) {
        folder.array("one.npy", &[20, 9, 30], of_one);
        folder.ok(&[&filter[..1], &["one.npy", "o.npy"], &filter[1..]].concat());
        expected.extend(folder.read::<u16>("o.npy").1);
    }
    for memory in [&[][..], &["--memory", "30KB"]] {
        let arguments = [&filter[..1], &["all.npy", "o.npy", "--json"], &filter[1..], memory].concat();
        let report = folder.ok(&arguments).stdout;
        assert!(report.contains("\"volumes\":3") && report.contains("\"pages\":60"), "{report}");
        assert_eq!(folder.read::<u16>("o.npy"), (vec![3, 20, 9, 30], expected.clone()), "{memory:?}");
    }
    // One that is counted stays so.
    folder.array("one.npy", &[1, 60, 9, 30], &samples);
    for more in [&[][..], &["--memory", "100KB"], &["--memory", "100KB", "--resume"]] {
        folder.ok(&[&["box", "one.npy", "o.npy", "--size", "3", "--volume"], more].concat());
        assert_eq!(folder.read::<u16>("o.npy").0, [1, 60, 9, 30], "{more:?}");
    }
    folder.ok(&["box", "all.npy", "o.npy", "--size", "1x1x5", "--border", "crop", "--volume"]);
    assert_eq!(folder.read::<u16>("o.npy").0, [3, 16, 9, 30]);
    folder.array("flat.npy", &[3 * 20 * 9, 30], &samples);
    let statistics = |input: &[&str]| folder.ok(&[&["stats"], input, &["--json"]].concat()).stdout;
    let of = |report: String| report.split("\"statistics\"").nth(1).unwrap().to_string();
    assert_eq!(of(statistics(&["all.npy", "--volume"])), of(statistics(&["flat.npy"])));
    folder.fails(2, "only .npy files hold several volumes", &["box", "all.npy", "o.tif", "--size", "3", "--volume"]);
    folder.fails(3, "shape (3, 20, 9, 30) is not taken", &["box", "all.npy", "o.npy", "--size", "3", "--pages"]);
    folder.fails(
        3,
        "the 3 volumes have 16200 voxels",
        &["box", "all.npy", "o.npy", "--size", "3", "--volume", "--max-pixels", "9000"],
    );
}

#[test]
fn slabs_give_the_bytes_of_the_whole() {
    let folder = Folder::new();
    large(&folder);
    folder.ok(&["box", "large.npy", "large.tif", "--size", "1", "--volume"]);
    for (verb, options) in [
        ("gaussian", "--sigma 2,1,1.5 --truncate 3"),
        ("gaussian", "--sigma 1 --border wrap --out-type f32"),
        ("correlate", "--mask sharpen --border constant:7"),
        ("box", "--size 3x5x6 --anchor 0,2,5 --border reflect,wrap,wrap"),
        ("gradient", "--out-type f32 --border replicate"),
        ("local-std", "--size 3 --out-type i64"),
        ("gaussian", "--sigma 1 --store-between-passes --border constant:9"),
        ("separable", "--taps-x 1 --taps-y 1 --taps-z 1,2,3 --border wrap --in-type f64 --rounding toward-zero"),
    ] {
        let words: Vec<&str> = options.split(' ').collect();
        let [mut whole, mut slabs] = [Vec::new(), Vec::new()];
        for input in ["large.npy", "large.tif"] {
            for (output, memory) in [("w.npy", None), ("s.npy", Some("1.4MB"))] {
                let memory: Vec<&str> = memory.iter().flat_map(|memory| ["--memory", memory]).collect();
                let arguments = [&[verb, input, output, "--volume", "--json"], &words[..], &memory[..]].concat();
                let report = folder.ok(&arguments).stdout;
                assert_eq!(report.contains(" strips"), !memory.is_empty(), "{report}");
                let to = if memory.is_empty() { &mut whole } else { &mut slabs };
                to.push(std::fs::read(folder.path(output)).unwrap());
            }
        }
        assert!(whole == slabs, "{verb} {options}");
        assert!(whole[0] == whole[1], "{verb} {options}");
    }
    let whole = "memory is 500000, but must be 1440000 or more: with a result of another size the image is taken whole";
    for (code, part, line) in [
        (2, "or more for one plane", "gaussian large.npy o.npy --sigma 1 --volume --memory 40KB"),
        (2, whole, "box large.npy o.npy --size 3 --border crop --volume --memory 500KB"),
        (2, whole, "box large.npy o.npy --size 3 --full --volume --memory 500KB"),
        (2, whole, "box large.npy o.npy --size 3 --region 1,1,1,9x9x9 --volume --memory 500KB"),
        (3, "can be resumed", "box large.npy o.tif --size 3 --volume --memory 500KB --resume"),
    ] {
        folder.fails(code, part, &line.split(' ').collect::<Vec<_>>());
    }
    assert_eq!(folder.names(), ["large.npy", "large.tif", "s.npy", "w.npy"]);
}

#[test]
fn steps_of_a_pipe_on_volumes() {
    let folder = Folder::new();
    large(&folder);
    let (_, samples) = folder.read::<u16>("large.npy");
    folder.array("two.npy", &[2, 45, 40, 50], &samples);
    let steps = "gaussian sigma=2,1,1 | sobel dz=1 out-type=f64 border=wrap | box size=3x2x1 full";
    for (input, output) in [("large.npy", "o.npy"), ("two.npy", "o.npy"), ("large.npy", "o.tif")] {
        for line in [
            format!("gaussian {input} a.npy --sigma 2,1,1 --volume"),
            "sobel a.npy b.npy --dz 1 --out-type f64 --border wrap --volume".into(),
            "box b.npy c.npy --size 3x2x1 --full --volume".into(),
        ] {
            folder.ok(&line.split(' ').collect::<Vec<_>>());
        }
        folder.ok(&["pipe", input, output, steps, "--volume"]);
        if output.ends_with("tif") {
            folder.ok(&["box", output, "o.npy", "--size", "1", "--volume"]);
        }
        let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert!(read("o.npy") == read("c.npy"), "{input} {output}");
    }
    // By slabs, through files.
    let steps = "gaussian sigma=2,1,1 | sobel dz=1 out-type=f64 border=wrap";
    let report = folder.ok(&["pipe", "large.npy", "o.npy", steps, "--volume", "--memory", "1.2MB", "--json"]).stdout;
    assert!(report.matches(" strips").count() >= 2, "{report}");
    folder.ok(&["pipe", "large.npy", "c.npy", steps, "--volume"]);
    assert!(std::fs::read(folder.path("o.npy")).unwrap() == std::fs::read(folder.path("c.npy")).unwrap());
    let before = folder.names();
    for (part, steps, more) in [
        ("takes no volumes", "gaussian sigma=1 | equalize", ""),
        ("'volume' is for the whole pipe", "gaussian sigma=1 volume", ""),
        ("--pages", "gaussian sigma=1", "--pages"),
        ("step 2 (box)", "gaussian sigma=1 | box size=0", ""),
    ] {
        let more: Vec<&str> = more.split(' ').filter(|word| !word.is_empty()).collect();
        folder.fails(2, part, &[&["pipe", "large.npy", "n.npy", steps, "--volume"], &more[..]].concat());
    }
    folder.fails(2, "OUT is -", &["pipe", "large.npy", "-", "gaussian sigma=1", "--volume"]);
    assert_eq!(folder.names(), before);
}

#[test]
#[cfg(unix)]
fn a_killed_job_is_resumed() {
    let folder = Folder::new();
    let samples: Vec<u8> = (0..4 * 80 * 40 * 50u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    for (input, shape) in [("one.npy", &[320, 40, 50][..]), ("four.npy", &[4, 80, 40, 50])] {
        folder.array(input, shape, &samples);
        folder.ok(&["gaussian", input, "whole.npy", "--sigma", "2,2,3", "--volume"]);
        folder.ok(&["box", input, "other.npy", "--size", "3", "--volume"]);
        let options = ["--volume", "--memory", "500KB", "--resume"];
        let job = [&["gaussian", input, "o.npy", "--sigma", "2,2,3"], &options[..]].concat();
        let slow = [&job[..], &["--device", "reference"]].concat();
        let kernels = |stdout: &str| stdout.split("in ").nth(1).unwrap().to_string();
        let all = folder.ok(&[&job[..], &["--json"]].concat());
        std::fs::remove_file(folder.path("o.npy")).unwrap();

        folder.killed("o.npy", &slow);
        let left = [input, "o.npy.partial", "o.npy.partial.json", "other.npy", "whole.npy"];
        assert!(left.iter().all(|name| folder.path(name).exists()), "{:?}", folder.names());
        let rest = folder.ok(&[&job[..], &["--json"]].concat());
        assert_ne!(kernels(&rest.stdout), kernels(&all.stdout), "{input}: from the first plane on");
        let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert!(read("o.npy") == read("whole.npy"), "{input}");
        assert!(!folder.path("o.npy.partial").exists() && !folder.path("o.npy.partial.json").exists());

        // Another filter starts anew.
        folder.killed("o.npy", &slow);
        folder.ok(&[&["box", input, "o.npy", "--size", "3"], &options[..]].concat());
        assert!(read("o.npy") == read("other.npy"), "{input}");
    }
}

#[test]
fn numbers_of_a_volume_are_those_of_all_its_planes() {
    let folder = Folder::new();
    large(&folder);
    let (_, samples) = folder.read::<u16>("large.npy");
    folder.array("flat.npy", &[90 * 40, 50], &samples);
    folder.ok(&["box", "large.npy", "large.tif", "--size", "1", "--volume"]);
    for verb in ["stats --percentile 1,50", "histogram --bins 20", "histogram --range 0,1000 --bins 7"] {
        let words: Vec<&str> = verb.split(' ').collect();
        let of = |input: &[&str]| {
            let report = folder.ok(&[&[words[0]], input, &words[1..], &["--json"]].concat()).stdout;
            let from = report.find("\"statistics\"").or_else(|| report.find("\"histogram\":")).unwrap();
            (report[from..].to_string(), report.contains(" strips"))
        };
        let (flat, _) = of(&["flat.npy"]);
        for input in ["large.npy", "large.tif"] {
            assert_eq!(of(&[input, "--volume"]), (flat.clone(), false), "{verb} {input}");
            // Strips begin and end inside planes.
            assert_eq!(of(&[input, "--volume", "--memory", "101KB"]), (flat.clone(), true), "{verb} {input}");
        }
    }
    folder.fails(2, "--roi-mask", &["histogram", "large.npy", "--volume", "--roi-mask", "flat.npy"]);
}

#[test]
fn slices_along_each_axis() {
    let folder = Folder::new();
    scan(&folder);
    for (options, expected) in [
        ("--at 0", vec![0, 1, 2, 10, 11, 12]),
        ("", vec![100, 101, 102, 110, 111, 112]),
        ("--axis y --at 1", vec![10, 11, 12, 110, 111, 112]),
        ("--axis x --at 2", vec![2, 12, 102, 112]),
        ("--axis y --max", vec![10, 11, 12, 110, 111, 112]),
    ] {
        let words: Vec<&str> = options.split_whitespace().collect();
        folder.ok(&[&["slice", "scan.npy", "s.png"], &words[..]].concat());
        assert_eq!(decode(&folder.path("s.png")).as_bytes(), expected, "{options}");
    }
}

#[test]
fn what_can_never_be_right_is_refused_and_leaves_no_file() {
    let folder = Folder::new();
    scan(&folder);
    folder.array("flat.npy", &[2, 3], &[0u8; 6]);
    folder.array("uneven.npy", &[1, 2, 1, 1, 5], &[0u8; 10]);
    folder.array("two.npy", &[2, 2, 2, 5], &[0u8; 40]);
    folder.png("photo.png", 2, 1, &[1, 2]);
    let mut cut = std::fs::read(folder.path("scan.npy")).unwrap();
    cut.truncate(cut.len() - 1);
    std::fs::write(folder.path("cut.npy"), cut).unwrap();
    for (code, part, line) in [
        (2, "sigma is '1,2'", "gaussian scan.npy o.npy --sigma 1,2 --volume"),
        (2, "three values are for --volume", "gaussian scan.npy o.npy --sigma 1,2,3"),
        (2, "sigma is '1,2,3'", "unsharp scan.npy o.npy --sigma 1,2,3"),
        (2, "border is of two axes", "box scan.npy o.npy --size 3 --border wrap,wrap --volume"),
        (2, "number of borders is 3", "box scan.npy o.npy --size 3 --border wrap,wrap,wrap"),
        (2, "anchor is 0,0", "box scan.npy o.npy --size 3 --anchor 0,0 --volume"),
        (2, "anchor is 0,0,3", "box scan.npy o.npy --size 3 --anchor 0,0,3 --volume"),
        (2, "filter is 'emboss'", "emboss scan.npy o.npy --volume"),
        (2, "ksize is 5", "sobel scan.npy o.npy --dx 1 --ksize 5 --volume"),
        (2, "dz is 1", "unsharp scan.npy o.npy --sigma 1 --dz 1 --volume"),
        (2, "--volume", "sobel scan.npy o.npy --dz 1"),
        (2, "divisor is 2 with --volume", "correlate scan.npy o.npy --mask sharpen --divisor 2 --volume"),
        (2, "or three, as WxHxD", "box scan.npy o.npy --size 3x3 --volume"),
        (2, "region is", "box scan.npy o.npy --size 3 --region 0,0,1x1 --volume"),
        (2, "region is 0,0,0,1x1x1", "box scan.npy o.npy --size 3 --region 0,0,0,1x1x1"),
        (2, "X,Y,Z,WxHxD", "box scan.npy o.npy --size 3 --region 0,0,0,1x1 --volume"),
        (3, "planes of the region is 1 to 3", "box scan.npy o.npy --size 3 --region 0,0,1,1x1x2 --volume"),
        (2, "border is crop", "box scan.npy o.npy --size 1 --region 0,0,1,1x1x1 --border crop --volume"),
        (2, "number of taps", "box scan.npy o.npy --size 60000 --volume --max-pixels 12"),
        (2, "full output", "box scan.npy o.npy --size 3 --full --volume --max-pixels 12"),
        (3, "height is 2", "box scan.npy o.npy --size 3 --border crop --volume"),
        (3, "12 voxels", "box scan.npy o.npy --size 3 --volume --max-pixels 6"),
        (3, "flat.npy", "box flat.npy o.npy --size 3 --volume"),
        (3, "uneven.npy", "box uneven.npy o.npy --size 3 --volume"),
        (3, "cut.npy", "box cut.npy o.npy --size 3 --volume"),
        (3, "photo.png", "box photo.png o.npy --size 3 --volume"),
        (3, "missing.npy", "box missing.npy o.npy --size 3 --volume"),
        (2, "o.png", "box scan.npy o.png --size 3 --volume"),
        (2, "place is 2", "slice scan.npy o.png --at 2"),
        (2, "x, y or z", "slice scan.npy o.png --axis w"),
        (3, "flat.npy", "slice flat.npy o.png"),
        (3, "holds 2 volumes of 5x2x2x1", "slice two.npy o.png"),
        (2, "takes no --pages", "slice scan.npy o.npy --pages"),
        (2, "takes no --resume", "slice scan.npy o.npy --resume"),
        (2, "takes no --page:", "slice scan.npy o.npy --page 2"),
        (2, "takes no --variant", "slice scan.npy o.npy --variant parallel"),
        // A plane has 6 bytes, and the volume 12.
        (2, "memory is 23, but must be 24", "slice scan.npy o.npy --memory 23"),
        (2, "memory is 47, but must be 48", "slice scan.npy o.npy --axis x --memory 47"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        folder.fails(code, part, &words);
        assert!(!folder.path("o.npy").exists() && !folder.path("o.png").exists(), "{line}");
    }
}
