//! Wrong usage, missing devices, and batches.

mod common;

use common::{Ended, Folder};
use serde_json::Value;

#[test]
fn values_that_can_never_be_right_are_found_without_the_input() {
    let folder = Folder::new();
    let correlate = |options: &[&str]| [&["correlate", "missing.png", "b.npy"][..], options].concat().join("|");
    let gaussian = |options: &[&str]| [&["gaussian", "missing.png", "b.npy"][..], options].concat().join("|");
    let cases = [
        ("sigma is -1", gaussian(&["--sigma", "-1"])),
        ("sigma", gaussian(&["--sigma", "nan"])),
        ("S or S,SY", gaussian(&["--sigma", "x"])),
        ("truncate", gaussian(&["--sigma", "1", "--truncate", "-2"])),
        ("radius", gaussian(&["--sigma", "1e9"])),
        ("--sigma", gaussian(&[])),
        ("border", gaussian(&["--sigma", "1", "--border", "mirror"])),
        ("border", gaussian(&["--sigma", "1", "--border", "constant:nan"])),
        (
            "one of bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64",
            gaussian(&["--sigma", "1", "--out-type", "f128"]),
        ),
        ("gpu:N", gaussian(&["--sigma", "1", "--device", "gpu:x"])),
        ("gpu:N", gaussian(&["--sigma", "1", "--device", "tpu"])),
        ("empty", correlate(&["--mask", ""])),
        ("2 taps long", correlate(&["--mask", "1 2; 3"])),
        ("finite", correlate(&["--mask", "1 nan"])),
        ("sobel-x, sobel-y", correlate(&["--mask", "blur"])),
        ("inside the mask: 0,0 to 1,1", correlate(&["--mask", "1 2; 3 4", "--anchor", "2,0"])),
        ("X,Y", correlate(&["--mask", "1 2", "--anchor", "-1,0"])),
        // A mask of equal weights is a box, which was not asked for.
        ("correlate: region is columns 0 to 0", correlate(&["--mask", "1 1", "--region", "0,0,0x0"])),
        ("N or T,B,L,R", "pad|missing|b.npy|--by|-20".into()),
        ("sum of taps", correlate(&["--mask", "-1 0 1", "--normalize"])),
        ("one row", "separable|missing|b.npy|--taps-x|1;2|--taps-y|1".into()),
        ("size is 0", "box|missing|b.npy|--size|0x3".into()),
        ("WxH", "box|missing|b.npy|--size|-3".into()),
        ("bins is 0", "histogram|missing|--bins|0".into()),
        ("range is 1,-1", "histogram|missing|--range|1,-1".into()),
        ("LO,HI", "histogram|missing|--range|5".into()),
        ("csv, json, npy", "histogram|missing|--out|a.txt".into()),
        ("png, svg", "histogram|missing|--plot|a.jpg".into()),
        ("--plot", "histogram|missing|--log".into()),
        ("'sm_1' for '--arch <ARCH>': must be one of sm_75, sm_80", "kernels|--arch|sm_1".into()),
        ("'x' for '--bins <N>': must be a whole number", "histogram|missing|--bins|x".into()),
        ("'-3' for '--max-pixels <N>': must be a whole number", gaussian(&["--sigma", "1", "--max-pixels", "-3"])),
        ("is larger than any", gaussian(&["--sigma", "1", "--max-pixels", "99999999999999999999"])),
        ("'x' for '--truncate <T>': must be a number", gaussian(&["--sigma", "1", "--truncate", "x"])),
        ("must be a whole number", "gradient|missing|b.npy|--ksize|x".into()),
        ("'0' for '--page <N>': must be a whole number from 1", gaussian(&["--sigma", "1", "--page", "0"])),
        ("'-1' for '--page <N>': must be a whole number from 1", gaussian(&["--sigma", "1", "--page", "-1"])),
        ("offset is 3 with --volume, but must be left out", correlate(&["--mask", "1", "--volume", "--offset", "3"])),
        ("clamp is asked for with --volume", correlate(&["--mask", "1", "--volume", "--clamp"])),
        ("'gif'", "box|missing|b.gif|--size|3".into()),
        ("''", "box|missing|b|--size|3".into()),
        ("unrecognized subcommand 'blur'", "blur|a|b".into()),
        ("--sigmoid", "gaussian|a|b|--sigmoid|3".into()),
    ];
    for (part, arguments) in cases {
        folder.fails(2, part, &arguments.split('|').collect::<Vec<_>>());
    }
    assert_eq!(folder.run(&[]).code, 2);
    assert!(folder.names().is_empty());
}

#[test]
fn a_status_is_one_short_line_and_reasons_are_asked_for() {
    let folder = Folder::new();
    folder.png("a.png", 4, 1, &[0, 0, 100, 200]);
    let run = ["gaussian", "a.png", "b.png", "--sigma", "1", "--device", "auto"];
    let ended = folder.run(&run);
    assert!(ended.stderr.starts_with("gaussian: b.png 4x1x1 u8; separable, "), "{ended:?}");
    assert!(ended.stderr.lines().count() == 1 && ended.stderr.len() < 120, "{ended:?}");
    let ended = folder.run(&[&run[..], &["--verbose"]].concat());
    assert!(ended.stderr.contains("separable (the taps of an axis differ)"), "{ended:?}");
    let ended = folder.ok(&["histogram", "a.png", "--bins", "1", "--range", "100,101", "--out", "h.csv"]);
    assert!(ended.stderr.starts_with("histogram: 1 sample in 1 bin; "), "{ended:?}");
    let ended = folder.ok(&["box", "a.png", "new/", "--size", "1"]);
    assert!(ended.stderr.starts_with("1 image, total"), "{ended:?}");
}

/// Progress is shown on a terminal, and nowhere else.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_what_a_job_is_at() {
    let folder = Folder::new();
    folder.png("a.png", 64, 64, &[7; 64 * 64]);
    let program = common::program().into_string().unwrap();
    let on_terminal = |command: &str| {
        let line = format!("{program} {command} --device cpu");
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(folder.path("")).stdin(std::process::Stdio::null());
        script.output().ok().map(|ended| String::from_utf8_lossy(&ended.stdout).into_owned())
    };
    let gaussian = "gaussian a.png b.png --sigma 2";
    let Some(shown) = on_terminal(gaussian) else {
        eprintln!("skipped: there is no `script` to make a terminal");
        return;
    };
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("no '{part}' in {shown:?}"));
    assert!(at("reading a.png") < at("gaussian: b.png 64x64x1 u8"), "{shown:?}");
    assert_eq!(on_terminal(&format!("{gaussian} --quiet")).unwrap(), "");
    let ended = folder.ok(&["gaussian", "a.png", "b.png", "--sigma", "2"]);
    assert!(!ended.stderr.contains("reading"), "{ended:?}");
    // A warning has a line of its own.
    folder.array("stack.npy", &[2, 2, 3], &[1u8; 12]);
    folder.ok(&["box", "stack.npy", "two.tif", "--size", "1", "--pages"]);
    let shown = on_terminal("box two.tif b.png --size 1").unwrap();
    let (before, _) = shown.split_once("apron: warning").unwrap_or_else(|| panic!("{shown:?}"));
    assert!(before.contains("reading two.tif") && before.ends_with("\u{1b}[2K"), "{shown:?}");
}

#[test]
fn masks_of_any_size_and_anchor() {
    let folder = Folder::new();
    folder.array("a.npy", &[2, 2], &[1.0f32, 2.0, 3.0, 4.0]);
    for (anchor, expected) in [("0,0", 1.0f32), ("1,0", 0.0), ("0,1", 0.0)] {
        let mask = ["--mask", "1 0; 0 0", "--anchor", anchor, "--border", "constant"];
        folder.ok(&[&["correlate", "a.npy", "b.npy"][..], &mask].concat());
        assert_eq!(folder.read::<f32>("b.npy").1[0], expected, "{anchor}");
    }
    // A mask larger than the image.
    let ones = ["1 1 1 1 1 1 1"; 7].join(";");
    folder.ok(&["correlate", "a.npy", "b.npy", "--mask", &ones, "--border", "constant"]);
    assert_eq!(folder.read::<f32>("b.npy").1, [10.0; 4]);
    let crop = ["correlate", "a.npy", "b.npy", "--device", "cpu", "--border", "crop", "--mask"];
    folder.fails(3, "no full window", &[&crop[..], &[&ones]].concat());
}

#[test]
fn every_window_has_an_anchor() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 4], &[6u8, 0, 12, 3]);
    folder.array("alpha.npy", &[1, 2, 2], &[6u8, 1, 0, 2]);
    let run = |options: &[&str], x: u32, y: u32| {
        let anchor = format!("{x},{y}");
        let more = ["--border", "constant", "--anchor", &anchor];
        folder.ok(&[&[options[0], "a.npy", "b.npy"], &options[1..], &more].concat());
        folder.read::<u8>("b.npy").1
    };
    // Windows that begin at the pixel, and windows that end at it.
    for (options, y, begin, end) in [
        (&["box", "--size", "3x1"][..], 0, [6, 5, 5, 1], [2, 2, 6, 5]),
        (&["separable", "--taps-x", "1 0 2", "--taps-y", "1"], 0, [30, 6, 12, 3], [12, 0, 30, 6]),
        (&["gaussian", "--sigma", "0.1", "--truncate", "10"], 1, [0, 12, 3, 0], [0, 6, 0, 12]),
    ] {
        assert_eq!((run(options, 0, y), run(options, 2, y)), (begin.to_vec(), end.to_vec()), "{options:?}");
    }
    folder.ok(&["box", "alpha.npy", "b.npy", "--size", "2x1", "--border", "wrap", "--anchor", "0,0", "--keep-alpha"]);
    assert_eq!(folder.read::<u8>("b.npy").1, [3, 1, 3, 2]);
    folder.fails(2, "anchor is 3", &["box", "missing", "b.npy", "--size", "3", "--anchor", "3,0"]);
    folder.fails(
        2,
        "anchor is 1",
        &["separable", "missing", "b.npy", "--taps-x", "1 1", "--taps-y", "1", "--anchor", "0,1"],
    );
    folder.fails(2, "anchor is 9", &["gaussian", "missing", "b.npy", "--sigma", "1", "--anchor", "9,0"]);
}

#[test]
fn devices_and_variants_that_are_not_there() {
    let folder = Folder::new();
    folder.png("a.png", 1, 1, &[1]);
    let run = ["box", "a.png", "b.png", "--size", "1"];
    folder.fails(2, "variant", &[&run[..], &["--device", "cpu", "--variant", "fast"]].concat());
    let said = "stats, by a histogram: variant is 'fast'";
    folder.fails(2, said, &["stats", "a.png", "--device", "cpu", "--variant", "fast"]);
    folder.fails(4, "no gpu", &[&run[..], &["--device", "gpu:99"]].concat());
    match apron::devices() {
        Ok(_) => eprintln!("skipped: there is a GPU"),
        Err(_) => folder.fails(4, "--device cpu", &[&run[..], &["--device", "gpu"]].concat()),
    }
    assert_eq!(folder.names(), ["a.png"]);
}

fn lines(ended: &Ended) -> Vec<Value> {
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_batch_runs_what_it_can() {
    let folder = Folder::new();
    folder.png("a.png", 4, 1, &[0, 0, 100, 200]);
    let jobs = r##"# jobs
{"verb":"correlate","in":"a.png","out":"c.npy","mask":"-1 0 1","out-type":"i16"}

{"verb":"box","in":"a.png","out":"b.png","size":2,"device":"reference","border":"constant:-3"}
{"verb":"histogram","in":"a.png","out":"h.csv","bins":2,"range":"-1,1","per-channel":true}
{"verb":"gaussian","in":"missing.png","out":"g.png","sigma":1.5}
{"verb":"gaussian","in":"a.png","out":"g.png","sigma":-1}
{"verb":"gaussian","in":"a.png","out":"g.png","sigma":1,"sigmoid":false}
{"verb":"gaussian","in":"a.png","out":"g.png","sigma":true}
{"verb":"gaussian","in":"a.png","out":"g.png","sigma":1,"quiet":"yes"}
{"verb":"gaussian","in":"a.png","sigma":1}
{"verb":"verify","in":"a.png"}
{"verb":"blur","in":"a.png"}
{"verb":"box",
{"verb":"gaussian","in":"-a.png","out":"g.png","sigma":0}
{"verb":"correlate","in":"a.png","out":"d.npy","mask":"identity","clamp":true,"normalize":false}
"##;
    folder.write("jobs.jsonl", jobs);
    folder.png("-a.png", 1, 1, &[5]);
    let ended = folder.run(&["batch", "jobs.jsonl", "--device", "cpu"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(ended.stderr, "apron: 9 of 14 jobs failed\n");
    let results = lines(&ended);
    let codes: Vec<_> = results.iter().map(|result| result["exit"].as_u64().unwrap_or(0)).collect();
    assert_eq!(codes, [0, 0, 0, 3, 2, 2, 2, 2, 2, 2, 2, 3, 0, 0], "{ended:?}");
    let places: Vec<_> = results.iter().map(|result| result["line"].as_u64().unwrap()).collect();
    assert_eq!(places, [2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    assert_eq!((&results[1]["device"], &results[0]["device"]), (&"reference".into(), &"cpu".into()));
    assert_eq!(results[2]["ok"], true);
    assert!(results[5]["error"].as_str().unwrap().contains("unknown key 'sigmoid'"));
    assert_eq!(folder.read::<i16>("c.npy").1, [0, 100, 200, 0]);
    assert_eq!(folder.read::<f32>("d.npy").1, [0.0, 0.0, 1.0, 1.0]);
    let csv = std::fs::read_to_string(folder.path("h.csv")).unwrap();
    assert_eq!(csv, "channel,bin,low,high,count\n0,0,-1,0,0\n0,1,0,1,2\n");
}

#[test]
fn jobs_may_be_a_list_and_have_lists() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 4], &[0u8, 0, 100, 200]);
    let jobs = r#"[
  {"verb": "correlate", "in": "a.npy", "out": "b.npy", "mask": [[0, 0, 0], [0, 0, 1], [0, 0, 0]], "anchor": [1, 1]},
  {"verb": "stats", "in": "a.npy", "percentile": [0, 100], "gray": true},
  {"verb": "info"},
  {"verb": "box", "in": "a.npy", "out": "c.npy", "size": [[3], 1]},
  7
]"#;
    folder.write("jobs.json", format!("\u{feff}{jobs}"));
    let ended = folder.run(&["batch", "jobs.json", "--device", "cpu"]);
    let results = lines(&ended);
    assert_eq!((ended.code, results.len()), (1, 5), "{ended:?}");
    let told = |index: usize| (&results[index]["job"], &results[index]["ok"]);
    let expected = [true, true, true, false, false];
    for (index, ok) in expected.into_iter().enumerate() {
        assert_eq!(told(index), (&(index + 1).into(), &ok.into()), "{ended:?}");
    }
    assert_eq!(folder.read::<u8>("b.npy").1, [0, 100, 200, 100]);
    assert_eq!(results[1]["statistics"][0]["percentiles"][1]["value"], 200.0);
    assert!(results[2]["cpu_threads"].as_u64().unwrap() > 0);
    // Lines after a byte order mark, too.
    folder.write("jobs.jsonl", "\u{feff}{\"verb\":\"box\",\"in\":\"a.npy\",\"out\":\"c.npy\",\"size\":1}\n");
    assert_eq!(lines(&folder.ok(&["batch", "jobs.jsonl"])).len(), 1);
    folder.write("broken.json", "[{},");
    folder.fails(3, "broken.json: not a list of jobs", &["batch", "broken.json"]);
}

#[test]
fn a_good_batch_and_no_batch() {
    let folder = Folder::new();
    folder.png("a.png", 1, 1, &[1]);
    folder.write("jobs.jsonl", "{\"verb\":\"box\",\"in\":\"a.png\",\"out\":\"b.png\",\"size\":\"3x1\"}");
    let ended = folder.ok(&["batch", "jobs.jsonl", "--quiet"]);
    assert_eq!((lines(&ended).len(), ended.stderr.as_str()), (1, ""));
    folder.write("jobs.jsonl", "# nothing to do\n");
    assert_eq!(folder.ok(&["batch", "jobs.jsonl"]).stdout, "");
    folder.fails(3, "missing.jsonl", &["batch", "missing.jsonl"]);
    folder.write("one.jsonl", "{\"verb\":\"blur\"}");
    folder.fails(1, "1 of 1 job failed", &["batch", "one.jsonl"]);
    folder.write("bytes.jsonl", [0xff, 0xfe]);
    folder.fails(3, "bytes.jsonl", &["batch", "bytes.jsonl"]);
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = Folder::new();
    folder.png("a.png", 1, 1, &[1]);
    let mut child = std::process::Command::new(common::program())
        .args(["histogram", "a.png", "--bins", "1000000", "--device", "cpu", "--quiet"])
        .current_dir(folder.path(""))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(0), 0));
}

#[test]
fn shells_and_manuals_know_every_verb() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = folder.run(&["completions", shell]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{shell}");
        assert!(ended.stdout.contains("gaussian") && ended.stdout.contains("truncate"), "{shell}");
    }
    // Options with named values complete to the names, and not to files.
    let script = folder.run(&["completions", "bash"]).stdout;
    let offered = |option: &str| {
        let part =
            script.split("apron__subcmd__correlate)").nth(1).unwrap().split(&format!("{option})")).nth(1).unwrap();
        part.lines().nth(1).unwrap().to_string()
    };
    for (option, name) in [
        ("--device", "reference"),
        ("--mask", "sobel-x"),
        ("--out-type", "i16"),
        ("--in-type", "f16"),
        ("--border", "replicate"),
        ("--method", "low-rank"),
        ("--format", "png"),
        ("--rescale", "auto"),
        // Neither names nor files.
        ("--tolerance", ""),
        ("--variant", ""),
    ] {
        assert!(offered(option).contains(name) && !offered(option).contains("compgen -f"), "{}", offered(option));
    }
    folder.fails(2, "bash", &["completions", "cmd"]);
    let page = folder.run(&["man"]);
    assert!(
        page.code == 0 && page.stdout.contains(".TH apron 1") && page.stdout.contains("apron\\-gaussian"),
        "{page:?}"
    );
    folder.run(&["man", "share/man1"]);
    let pages: Vec<_> =
        std::fs::read_dir(folder.path("share/man1")).unwrap().map(|page| page.unwrap().path()).collect();
    let help = folder.run(&["--help"]).stdout;
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs: Vec<&str> =
        verbs.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help").collect();
    assert!(verbs.contains(&"pipe") && pages.len() == verbs.len() + 1, "{verbs:?} {pages:?}");
    for verb in verbs {
        let page = std::fs::read_to_string(folder.path(&format!("share/man1/apron-{verb}.1"))).unwrap();
        assert!(page.contains("Example") && page.contains(&format!("apron {verb} ").replace('-', "\\-")), "{verb}");
    }
    folder.write("file", "");
    folder.fails(3, "file", &["man", "file"]);
}
