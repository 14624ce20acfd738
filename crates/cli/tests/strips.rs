//! Filters strip by strip: images that take more memory than `--memory` allows.
#![allow(missing_docs)]

mod common;

use common::Folder;

/// A pseudo-random image of `width` x `height` samples in the `.npy` format.
fn npy(descr: &str, (width, height): (usize, usize), size: usize) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({height}, {width}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let mut state = 1u32;
    bytes.extend((0..width * height * size).map(|i| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Floats of moderate size.
        if size == 4 && i % 4 == 3 { 0x3f } else { (state >> 24) as u8 }
    }));
    bytes
}

fn run(folder: &Folder, command: &str) -> common::Ended {
    folder.run(&command.split(' ').collect::<Vec<_>>())
}

#[test]
fn strips_give_the_bytes_of_the_whole() {
    let folder = Folder::new();
    folder.write("a.npy", npy("|u1", (300, 1200), 1));
    folder.write("f.npy", npy("<f4", (300, 900), 4));
    let ones = ["1"; 21].join(",");
    let by_axis = format!("--taps-x {ones} --taps-y {ones} --border wrap,reflect");
    let stored = format!("--taps-x 1,2,1 --taps-y {ones} --store-between-passes --anchor 2,20 --border constant:1");
    for (verb, image, options) in [
        ("gaussian", "a", "--sigma 2"),
        ("gaussian", "f", "--sigma 2,5 --border wrap"),
        ("correlate", "a", "--mask sobel-x --out-type i16 --border constant:7"),
        ("box", "f", "--size 21x33 --border reflect"),
        ("box", "a", "--size 9x9 --border crop"),
        ("gaussian", "a", "--sigma 2 --border wrap,reflect"),
        ("gradient", "a", "--operator scharr"),
        ("gradient", "f", "--direction --border wrap"),
        ("unsharp", "a", "--sigma 2"),
        ("local-std", "f", "--size 7"),
        ("separable", "f", "--taps-x 1,2,1 --taps-y 1,2,1,5 --full --border replicate"),
        // Boxes of floats to integers, which are separable filters; and taps of floats that are boxes.
        ("box", "f", "--size 3 --out-type u8"),
        ("local-mean", "f", "--size 3x5 --out-type i16 --border crop"),
        ("local-mean", "f", "--size 21 --out-type i32 --border constant:7 --rounding toward-zero"),
        ("box", "f", "--size 5 --out-type bool --border wrap"),
        ("box", "a", "--size 3 --border constant:0.5"),
        ("separable", "f", &by_axis),
        ("box", "a", "--size 3 --border replicate --store-between-passes"),
        ("gaussian", "a", "--sigma 2 --border wrap --store-between-passes"),
        ("separable", "f", &stored),
    ] {
        // Chunks of rows and intermediate results need more.
        let more = ["i32", "bool", "wrap,reflect", "--store"].iter().any(|part| options.contains(part));
        let memory = match (image, more) {
            ("a", false) => "0.4MB",
            ("a", true) => "1.2MB",
            (_, false) => "0.6MB",
            (_, true) => "3MB",
        };
        let whole = format!("{verb} {image}.npy whole.npy {options} --device cpu");
        let strips = format!("{verb} {image}.npy strips.npy {options} --device cpu --memory {memory} --json");
        let ended = run(&folder, &whole);
        assert_eq!(ended.code, 0, "{whole}: {ended:?}");
        let ended = run(&folder, &strips);
        assert!(ended.code == 0 && ended.stdout.contains(" strips"), "{strips}: {ended:?}");
        let [whole, strips] = ["whole.npy", "strips.npy"].map(|name| std::fs::read(folder.path(name)).unwrap());
        assert!(whole == strips, "{verb} {image} {options}");
    }
}

#[test]
fn tiff_files_are_read_and_written_by_strips() {
    let folder = Folder::new();
    folder.write("a.npy", npy("<f4", (300, 900), 4));
    let mut files = Vec::new();
    for (command, said) in [
        ("correlate a.npy a.tif --mask identity --device cpu", false),
        ("gaussian a.tif whole.tif --sigma 2 --device cpu", false),
        ("gaussian a.tif strips.tif --sigma 2 --device cpu --memory 0.6MB --json", true),
        ("gaussian a.tif whole.npy --sigma 2 --device cpu", false),
        ("gaussian a.tif strips.npy --sigma 2 --device cpu --memory 0.6MB --json", true),
    ] {
        let ended = run(&folder, command);
        assert!(ended.code == 0 && ended.stdout.contains(" strips") == said, "{command}: {ended:?}");
        files.push(std::fs::read(folder.path(command.split(' ').nth(2).unwrap())).unwrap());
    }
    assert!(files[1] == files[2] && files[3] == files[4]);
    // The samples of the array.
    assert!(files[0].ends_with(&npy("<f4", (300, 900), 4)[200..]));
}

#[test]
fn counts_and_tables_by_strips_are_those_of_the_whole() {
    let folder = Folder::new();
    folder.write("a.npy", npy("|u1", (300, 1200), 1));
    folder.write("b.npy", npy("|u1", (100, 200), 1));
    folder.write("f.npy", npy("<f4", (300, 900), 4));
    folder.ok(&["correlate", "f.npy", "f.tif", "--mask", "identity"]);
    for command in [
        "histogram a.npy --out N.csv",
        "histogram f.npy --bins 1000 --out N.npy",
        "histogram f.tif --edges 0,0.25,0.5,1 --per-channel --out N.json",
        "stats a.npy --percentile 1,50 --json",
        "stats f.tif --percentile 1,50 --json",
        "equalize a.npy N.npy",
        "otsu a.npy N.npy",
        "match a.npy b.npy N.tif",
    ] {
        let name = command.split(' ').find(|word| word.starts_with('N'));
        let [whole, strips] = [("whole", ""), ("strips", " --memory 200KB")].map(|(name, memory)| {
            let command = format!("{} --device cpu{memory} --json", command.replace('N', name).replace(" --json", ""));
            let ended = run(&folder, &command);
            assert!(ended.code == 0 && ended.stdout.contains(" strips\"") != memory.is_empty(), "{command}: {ended:?}");
            ended.stdout
        });
        let statistics = |report: &str| report.split("\"statistics\"").nth(1).map(String::from);
        match name {
            None => assert!(statistics(&whole).is_some() && statistics(&whole) == statistics(&strips), "{strips}"),
            Some(name) => {
                let [whole, strips] = ["whole", "strips"].map(|to| std::fs::read(folder.path(&name.replace('N', to))));
                assert!(whole.unwrap() == strips.unwrap(), "{command}");
            }
        }
    }
}

#[test]
fn pipes_run_strip_by_strip_through_files_that_do_not_stay() {
    let folder = Folder::new();
    folder.write("a.npy", npy("|u1", (300, 1200), 1));
    let steps = "gaussian sigma=2 | sobel dx=1 out-type=f32 | equalize";
    let steps = [steps.replace(" | equalize", ""), "equalize | box size=9 | gradient".into()];
    for steps in &steps {
        let [whole, strips] = [("w.npy", None), ("s.npy", Some("0.4MB"))].map(|(output, memory)| {
            let memory = memory.map_or(vec![], |memory| vec!["--memory", memory]);
            let ended = folder.ok(&[&["pipe", "a.npy", output, steps, "--json"], &memory[..]].concat());
            assert_eq!(ended.stdout.contains(" strips"), !memory.is_empty(), "{ended:?}");
            assert!(!ended.stdout.contains(".apron-"), "{ended:?}");
            std::fs::read(folder.path(output)).unwrap()
        });
        assert!(whole == strips, "{steps}");
        assert_eq!(folder.names(), ["a.npy", "s.npy", "w.npy"]);
    }
    let ended = folder.run(&["pipe", "a.npy", "o.npy", "gaussian sigma=2 | clahe", "--memory", "0.4MB"]);
    assert!(ended.code == 2 && ended.stderr.contains("step 2 (clahe)"), "{ended:?}");
    assert_eq!(folder.names(), ["a.npy", "s.npy", "w.npy"]);
}

#[test]
#[cfg(unix)]
fn a_killed_job_is_resumed() {
    let folder = Folder::new();
    folder.write("a.npy", npy("|u1", (300, 6000), 1));
    folder.ok(&["gaussian", "a.npy", "whole.npy", "--sigma", "5"]);
    let job = ["gaussian", "a.npy", "o.npy", "--sigma", "5", "--memory", "300KB", "--resume"];
    let strips = |stdout: &str| -> u32 {
        let before = stdout.split(" strips").next().unwrap();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let all = folder.ok(&[&job[..], &["--json"]].concat());
    std::fs::remove_file(folder.path("o.npy")).unwrap();

    folder.killed("o.npy", &[&job[..], &["--device", "reference"]].concat());
    assert_eq!(folder.names(), ["a.npy", "o.npy.partial", "o.npy.partial.json", "whole.npy"]);
    // The bits do not depend on the device, which may be another.
    let rest = folder.ok(&[&job[..], &["--json"]].concat());
    assert!(strips(&rest.stdout) < strips(&all.stdout), "{rest:?}");
    assert_eq!(folder.names(), ["a.npy", "o.npy", "whole.npy"]);
    let [whole, resumed] = ["whole.npy", "o.npy"].map(|name| std::fs::read(folder.path(name)).unwrap());
    assert!(whole == resumed);

    // A job with other options starts from row 0, and so does the same job on another image.
    std::fs::remove_file(folder.path("o.npy")).unwrap();
    folder.killed("o.npy", &[&job[..], &["--device", "reference"]].concat());
    folder.ok(&["gaussian", "a.npy", "o.npy", "--sigma", "4", "--memory", "300KB", "--resume"]);
    folder.ok(&["gaussian", "a.npy", "whole.npy", "--sigma", "4"]);
    let [whole, other] = ["whole.npy", "o.npy"].map(|name| std::fs::read(folder.path(name)).unwrap());
    assert!(whole == other);
    folder.killed("o.npy", &[&job[..], &["--device", "reference"]].concat());
    folder.write("a.npy", npy("<f4", (300, 1500), 4));
    folder.ok(&job);
    folder.ok(&["gaussian", "a.npy", "whole.npy", "--sigma", "5"]);
    let [whole, other] = ["whole.npy", "o.npy"].map(|name| std::fs::read(folder.path(name)).unwrap());
    assert!(whole == other);
    assert_eq!(folder.names(), ["a.npy", "o.npy", "whole.npy"]);
    folder.fails(2, "--resume is for one filter", &["pipe", "a.npy", "o.npy", "gaussian sigma=1", "--resume"]);
}

#[test]
fn files_that_are_read_whole_need_memory_for_it() {
    let folder = Folder::new();
    folder.write("a.npy", npy("|u1", (300, 1200), 1));
    let files = ["a.png", "a.jpg", "a.pgm"];
    for file in files {
        folder.ok(&["correlate", "a.npy", file, "--mask", "identity"]);
    }
    let order = "{'descr': '|u1', 'fortran_order': True, 'shape': (1200, 300), }";
    let fortran = [b"\x93NUMPY\x01\x00", &(order.len() as u16).to_le_bytes()[..], order.as_bytes(), &[0; 360_000]];
    folder.write("fortran.npy", fortran.concat());
    for file in files.iter().chain(&["fortran.npy"]) {
        let said = "memory is 1000000, but must be 1440000 or more: with a file of this kind the image is taken whole";
        folder.fails(2, said, &["gaussian", file, "o.npy", "--sigma", "2", "--memory", "1MB"]);
        folder.fails(2, said, &["stats", file, "--memory", "1MB"]);
        folder.ok(&["gaussian", file, "o.npy", "--sigma", "2", "--memory", "1440000"]);
        std::fs::remove_file(folder.path("o.npy")).unwrap();
    }
    let ended = folder.filter("a.png", &["stats", "-", "--memory", "1MB"]);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("1440000 or more: with the standard input the image is taken whole"), "{said}");
}

#[test]
fn what_cannot_run_strip_by_strip_says_so_and_leaves_nothing() {
    let folder = Folder::new();
    folder.write("a.npy", npy("|u1", (300, 1200), 1));
    for (command, code, part) in [
        ("gaussian a.npy o.npy --sigma 2 --memory 2KB --device cpu", 2, "or more for one row"),
        (
            "gaussian a.npy o.png --sigma 2 --memory 200KB --device cpu",
            2,
            "with an output other than .npy, TIFF and Zarr the image is taken whole",
        ),
        (
            "gaussian a.npy o.npy --sigma 2 --memory 200KB --in-type f32 --device cpu",
            2,
            "with --in-type the image is taken whole",
        ),
        (
            "gradient a.npy o.npy --memory 200KB --border crop --device cpu",
            2,
            "with a result of another size the image is taken whole",
        ),
        (
            "correlate a.npy o.npy --mask box3 --out-type f32 --method fft --memory 200KB --device cpu",
            2,
            "with --method fft the image is taken whole",
        ),
        ("gradient a.npy o.npy --memory 2KB --device cpu", 2, "or more for one strip"),
        ("gaussian a.npy o.npy --sigma 2 --memory 200KB --grey --device cpu", 2, "with --grey"),
        ("clahe a.npy o.npy --memory 200KB --device cpu", 2, "with tables of tiles"),
        ("otsu a.npy o.png --memory 200KB --device cpu", 2, "with a picture of the classes"),
        ("histogram2d a.npy --channels 0,0 --memory 200KB --device cpu", 2, "with pairs of channels"),
        ("pad a.npy o.npy --by 3 --memory 200KB --device cpu", 2, "with padding"),
        ("histogram a.npy --roi-mask a.npy --memory 200KB --device cpu", 2, "with --roi-mask"),
        ("histogram a.npy --out o.csv --memory 1KB --device cpu", 2, "or more for one row"),
        ("stats a.npy --memory 1KB --device cpu", 2, "or more for one row"),
        ("gaussian a.npy o.npy --sigma 2 --memory 2KB --resume --device cpu", 2, "or more for one row"),
        ("gaussian a.npy o.npy --sigma 2 --memory lots", 2, "with a unit"),
        ("gaussian a.npy o.npy --sigma 2 --memory 0GB", 2, "a number above 0"),
    ] {
        let ended = run(&folder, command);
        assert!(ended.code == code && ended.stderr.contains(part), "{command}: {ended:?}");
        assert_eq!(folder.names(), ["a.npy"], "{command}");
    }
}

/// The other image of `match` is read whole, and its samples are held while strips are matched.
#[test]
fn the_image_beside_counts_as_memory() {
    let folder = Folder::new();
    folder.write("a.npy", npy("|u1", (300, 1200), 1));
    folder.write("b.npy", npy("|u1", (200, 500), 1));
    let line = |memory: &str| format!("match a.npy b.npy o.npy --device cpu --memory {memory}");
    let ended = run(&folder, &line("10MB"));
    assert_eq!(ended.code, 0, "{ended:?}");
    let whole = std::fs::read(folder.path("o.npy")).unwrap();
    let ended = run(&folder, &line("400000"));
    assert!(ended.code == 0 && std::fs::read(folder.path("o.npy")).unwrap() == whole, "{ended:?}");
    std::fs::remove_file(folder.path("o.npy")).unwrap();
    let ended = run(&folder, &line("399999"));
    let part = "memory is 399999, but must be 400000 or more: with b.npy beside another the image is taken whole";
    assert!(ended.code == 2 && ended.stderr.contains(part) && !folder.path("o.npy").exists(), "{ended:?}");
    // Beside its 100,000 bytes the first image, of 360,000, has too little to be taken whole.
    folder.ok(&["match", "a.npy", "b.npy", "o.png", "--memory", "1540000"]);
    let ended = run(&folder, "match a.npy b.npy p.png --device cpu --memory 1539999");
    assert!(ended.code == 2 && ended.stderr.contains("memory is 1539999, but must be 1540000 or more"), "{ended:?}");
    assert!(ended.stderr.contains("; 100000 bytes of it are those of b.npy"), "{ended:?}");
}

#[test]
fn a_limit_on_memory_is_enough() {
    let folder = Folder::new();
    folder.write("a.npy", npy("|u1", (300, 1200), 1));
    folder.write("b.npy", npy("|u1", (20, 5), 1));
    folder.array("v.npy", &[40, 60, 50], &vec![7u16; 40 * 60 * 50]);
    // Zarr arrays hold chunks beside the strips.
    folder.ok(&["box", "a.npy", "a.zarr", "--size", "1"]);
    folder.ok(&["box", "v.npy", "v.zarr", "--size", "1", "--volume"]);
    for command in [
        "gaussian a.npy o.npy --sigma 2",
        "gaussian a.npy o.zarr --sigma 2",
        "gaussian a.zarr o.npy --sigma 2",
        "gradient a.zarr o.zarr",
        "stats a.zarr",
        "otsu a.zarr",
        "equalize a.zarr o.npy",
        "match a.npy b.npy o.npy",
        "match a.zarr b.npy o.npy",
        "gaussian v.npy o.npy --sigma 1 --volume",
        "gaussian v.npy o.zarr --sigma 1 --volume",
        "gaussian v.zarr o.zarr --sigma 1 --volume",
        "stats v.zarr --volume",
    ] {
        for memory in ["1KB", "30KB"] {
            let ended = run(&folder, &format!("{command} --device cpu --memory {memory}"));
            if ended.code == 0 {
                continue;
            }
            let said = format!("memory is {}", memory.replace("KB", "000"));
            assert!(ended.code == 2 && ended.stderr.contains(&said), "{command}: {ended:?}");
            let limit = ended.stderr.split("must be ").nth(1).unwrap().split(' ').next().unwrap();
            let again = run(&folder, &format!("{command} --device cpu --memory {limit}"));
            assert_eq!(again.code, 0, "{command}: {ended:?}, then {again:?}");
        }
    }
}

#[test]
fn with_little_memory_the_files_own_errors_are_told() {
    let folder = Folder::new();
    let whole = npy("|u1", (300, 1200), 1);
    folder.write("a.npy", &whole);
    folder.write("cut.npy", &whole[..200_000]);
    folder.ok(&["correlate", "a.npy", "a.png", "--mask", "identity"]);
    for (code, part, command) in [
        (3, "a.npy: 300x1200 is more than 1000 pixels", "stats a.npy --memory 100KB --max-pixels 1000"),
        (3, "a.png: 300x1200 is more than 1000 pixels", "stats a.png --memory 100KB --max-pixels 1000"),
        (
            3,
            "cut.npy: holds 199926 bytes of data, but shape (1200, 300)",
            "gaussian cut.npy o.npy --sigma 2 --memory 100KB",
        ),
        (3, "no.npy: No such file", "gaussian no.npy o.npy --sigma 2 --memory 100KB"),
    ] {
        folder.fails(code, part, &command.split(' ').collect::<Vec<_>>());
    }
}

/// A file of limited size stands for a full disk.
#[test]
#[cfg(unix)]
fn errors_of_writing_name_the_output() {
    let folder = Folder::new();
    folder.write("a.npy", npy("|u1", (300, 1200), 1));
    folder.array("v.npy", &[400, 30, 30], &vec![7u8; 360_000]);
    for command in [
        "gaussian a.npy o.npy --sigma 2 --memory 200KB",
        "gaussian a.npy o.npy --sigma 2 --memory 200KB --resume",
        "equalize a.npy o.npy --memory 200KB",
        "gaussian v.npy o.npy --sigma 1 --memory 200KB --volume",
        "gaussian v.npy o.npy --sigma 1 --memory 200KB --volume --resume",
    ] {
        let ended = folder.run_small(100, &command.split(' ').chain(["--device", "cpu"]).collect::<Vec<_>>());
        assert!(
            ended.code == 3 && ended.stderr.starts_with("apron: o.npy: cannot be written: "),
            "{command}: {ended:?}"
        );
        assert!(ended.stderr.contains("File too large"), "{ended:?}");
    }
}
