//! Errors say what is wrong, in the caller's terms, and what helps.

mod common;

use common::Folder;

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn hints_can_be_followed() {
    let folder = Folder::new();
    folder.png("a.png", 4, 3, &[9; 36]);
    folder.png("clear.png", 2, 1, &[9, 100, 9, 255]);
    folder.array("f.npy", &[40, 50], &[0.5f32; 2000]);
    folder.array("u16.npy", &[2, 2], &[1u16, 2, 3, 4]);
    // What helps, and what would not.
    for (code, line, helps, not) in [
        (2, "gradient a.png o.png --direction", "; write .npy, or use --rescale auto\n", "-type"),
        (
            2,
            "box a.png o.jpg --size 1 --out-type f32 --rescale auto",
            "; write .npy, or use --out-type u8\n",
            "--rescale",
        ),
        (2, "box a.png o.jpg --size 1 --out-type f32", "use --out-type u8, perhaps with --rescale auto\n", "--in-type"),
        (3, "box u16.npy o.jpg --size 1", "; write .npy, or use --in-type u8 or --out-type u8\n", "--rescale"),
        (3, "box u16.npy o.jpg --size 1 --rescale auto", "or use --in-type u8 or --out-type u8\n", "--rescale"),
        (3, "box f.npy o.png --size 1", "use --rescale auto, --in-type u8 or --out-type u8\n", " of a filter"),
        (3, "box f.npy o.png --size 1 --memory 1KB", "o.png: PNG does not hold f32 samples; ", "memory is"),
        (
            3,
            "box clear.png o.tif --size 1",
            "the format takes alpha beside colours alone, and 1 pixel is not",
            "has no alpha",
        ),
    ] {
        folder.fails(code, helps, &words(line));
        assert!(!folder.run(&words(line)).stderr.contains(not), "{line}");
    }
    for line in [
        "gradient a.png o.png --direction --rescale auto",
        "box a.png o.jpg --size 1 --out-type u8 --rescale auto",
        "box u16.npy o.jpg --size 1 --rescale auto --out-type u8",
        "box f.npy o.png --size 1 --in-type u8",
        "box clear.png o.tif --size 1 --background 0",
    ] {
        folder.ok(&words(line));
    }
}

#[test]
fn errors_of_options_name_the_option_and_its_limit() {
    let folder = Folder::new();
    folder.png("a.png", 4, 3, &[9; 36]);
    folder.array("v.npy", &[3, 4, 5], &[1u8; 60]);
    for (code, part, line) in [
        (
            2,
            "apron: border is constant:1:2, but must be one constant for each channel: 3",
            "box a.png o.png --size 3 --border constant:1:2",
        ),
        (2, "sigma is inf, but must be 0 or more, and finite", "gaussian a.png o.png --sigma inf"),
        (2, "columns 0 to 0, but must be 1 or more columns", "box a.png o.png --size 3 --region 0,0,0x0"),
        (2, "'-1' for '--percentile <P,..>': must be numbers from 0 to 100", "stats a.png --percentile -1"),
        (2, "'-5' for '--memory <SIZE>': must be a number", "stats a.png --memory -5"),
        (2, "tolerance is -1, but must be ", "correlate a.png o.npy --mask box3 --out-type f32 --tolerance -1"),
        (2, "'-1' for '--at <N>'", "slice v.npy o.npy --at -1"),
        (2, "'-1x2' for '--tiles <WxH>': must be ", "clahe a.png o.png --tiles -1x2"),
        (
            2,
            "9007199254740993 must be an integer that f64 holds, as 9007199254740992",
            "histogram a.png --range 0,9007199254740993",
        ),
        (2, "must be an integer that f64 holds", "histogram2d a.png --channels 0,1 --range 0,9007199254740993"),
        (2, "must be an integer that f64 holds", "histogramdd a.png --range 0,9007199254740993"),
    ] {
        folder.fails(code, part, &words(line));
    }
}

#[test]
fn a_folder_that_is_missing_or_meant_is_named() {
    let folder = Folder::new();
    folder.png("a.png", 4, 3, &[9; 36]);
    std::fs::create_dir(folder.path("there")).unwrap();
    for output in ["gone/o.png", "gone/o.npy", "gone/o.zarr"] {
        if output.ends_with("zarr") && !cfg!(feature = "zarr") {
            continue;
        }
        folder.fails(3, "cannot be written: there is no folder gone\n", &["box", "a.png", output, "--size", "3"]);
    }
    folder.fails(
        2,
        "'there' is a folder; results in it are written to 'there/'",
        &["box", "a.png", "there", "--size", "3"],
    );
    folder.ok(&["box", "a.png", "there/", "--size", "3"]);
    assert!(folder.path("there/a.png").is_file());
}

#[test]
fn without_a_verb_the_help_is_told() {
    let ended = Folder::new().run(&[]);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""));
    let help = Folder::new().run(&["-h"]).stdout;
    assert!(
        help.contains("gaussian") && help.contains("histogram") && help.trim_end() == ended.stderr.trim_end(),
        "{ended:?}"
    );
}

#[test]
fn no_table_or_plot_takes_the_place_of_an_image() {
    let folder = Folder::new();
    folder.png("a.png", 4, 3, &[9; 12]);
    folder.array("w.npy", &[3, 4], &[1.0f64; 12]);
    folder.array("t.npy", &[3, 4], &[1.0f32; 12]);
    let read = || folder.names().iter().map(|name| std::fs::read(folder.path(name)).unwrap()).collect::<Vec<_>>();
    let before = read();
    for line in [
        "histogram a.png --plot a.png",
        "histogram a.png --plot ./a.png",
        "histogram t.npy --roi-mask a.png --plot a.png",
        "histogram t.npy --out t.npy",
        "histogram a.png --weights w.npy --out w.npy",
        "histogram2d t.npy --channels 0,0 --out t.npy",
        "histogramdd t.npy --out t.npy",
        "histogramdd t.npy --bins 2 --weights w.npy --out w.npy",
    ] {
        folder.fails(2, "would overwrite a file of this run", &words(line));
    }
    assert!(before == read());
}
