//! Volumes in Zarr arrays on the command line.
#![allow(missing_docs)]

mod common;

use common::Folder;
use serde_json::Value;

/// Makes a volume of 20 planes of 31x45 voxels of u16, and the same with chunks of 8x16x10 and names of its axes.
fn scans() -> (Folder, Vec<u16>) {
    let folder = Folder::new();
    let samples: Vec<u16> = (0..20 * 45 * 31u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 16) as u16).collect();
    folder.array("scan.npy", &[20, 45, 31], &samples);
    folder.ok(&["box", "scan.npy", "default.zarr", "--size", "1", "--volume"]);
    // An empty array with other chunks, which a result of the same shape takes over.
    let text = std::fs::read_to_string(folder.path("default.zarr/zarr.json")).unwrap();
    let mut metadata: Value = serde_json::from_str(&text).unwrap();
    metadata["chunk_grid"]["configuration"]["chunk_shape"] = serde_json::json!([8, 16, 10]);
    metadata["dimension_names"] = serde_json::json!(["z", "y", "x"]);
    metadata["attributes"] = serde_json::json!({ "stain": "none" });
    std::fs::create_dir(folder.path("empty.zarr")).unwrap();
    folder.write("empty.zarr/zarr.json", metadata.to_string());
    (folder, samples)
}

fn metadata(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.path(name).join("zarr.json")).unwrap()).unwrap()
}

#[test]
fn arrays_and_zarrs_have_the_same_results() {
    let (folder, samples) = scans();
    folder.ok(&["box", "default.zarr", "back.npy", "--size", "1", "--volume"]);
    assert_eq!(folder.read::<u16>("back.npy"), (vec![20, 45, 31], samples));
    folder.ok(&["gaussian", "scan.npy", "whole.npy", "--sigma", "2,2,1", "--volume"]);
    folder.ok(&["gaussian", "default.zarr", "soft.zarr", "--sigma", "2,2,1", "--volume"]);
    folder.ok(&["box", "soft.zarr", "back.npy", "--size", "1", "--volume"]);
    assert_eq!(folder.read::<u16>("back.npy"), folder.read::<u16>("whole.npy"));
    // The result may take its input's place, and have another shape.
    folder.ok(&["box", "soft.zarr", "soft.zarr", "--size", "1x1x20", "--border", "crop", "--volume"]);
    assert_eq!(metadata(&folder, "soft.zarr")["shape"], serde_json::json!([1, 45, 31]));
    // To a TIFF and back, and page by page.
    folder.ok(&["box", "default.zarr", "scan.tif", "--size", "1", "--volume"]);
    folder.ok(&["box", "scan.tif", "back.zarr", "--size", "3x3x1", "--volume", "--border", "wrap"]);
    folder.ok(&["box", "default.zarr", "pages.zarr", "--size", "3", "--pages", "--border", "wrap"]);
    for name in ["back", "pages"] {
        folder.ok(&["box", &format!("{name}.zarr"), &format!("{name}.npy"), "--size", "1", "--volume"]);
    }
    let (back, pages) = (folder.read::<u16>("back.npy"), folder.read::<u16>("pages.npy"));
    assert_eq!(back.0, pages.0);
    assert!(back.1.iter().zip(&pages.1).all(|(one, other)| one.abs_diff(*other) <= 1));
    assert!(!folder.names().iter().any(|name| name.starts_with('.')));
}

#[test]
fn chunks_and_metadata_of_the_input_are_kept() {
    let (folder, _) = scans();
    // Files that are not there are zeros; the constant reaches the first plane and the last.
    let constant = ["box", "empty.zarr", "out.zarr", "--size", "1x1x3", "--border", "constant:90", "--volume"];
    folder.ok(&constant);
    let (input, output) = (metadata(&folder, "empty.zarr"), metadata(&folder, "out.zarr"));
    assert_eq!(input, output);
    let is_there = |name: &str| folder.path("out.zarr/c").join(name).exists();
    assert!(is_there("0/0/0") && is_there("2/2/3") && !is_there("1") && !is_there("3"));
    folder.ok(&["box", "out.zarr", "out.npy", "--size", "1", "--volume"]);
    let plane = |level| vec![level; 45 * 31];
    let expected = [plane(30), vec![0; 18 * 45 * 31], plane(30)].concat();
    assert_eq!(folder.read::<u16>("out.npy"), (vec![20, 45, 31], expected));
    folder.ok(&["box", "out.zarr", "wide.zarr", "--size", "1", "--out-type", "f32", "--volume"]);
    let wide = metadata(&folder, "wide.zarr");
    assert_eq!((&wide["chunk_grid"], &wide["attributes"]), (&input["chunk_grid"], &input["attributes"]));
}

#[test]
fn slices_of_a_zarr_are_those_of_the_array() {
    let (folder, _) = scans();
    for options in ["--at 0", "", "--axis y --at 44", "--axis x --max"] {
        let words: Vec<&str> = options.split_whitespace().collect();
        folder.ok(&[&["slice", "scan.npy", "a.npy"], &words[..]].concat());
        folder.ok(&[&["slice", "default.zarr", "b.npy"], &words[..]].concat());
        folder.ok(&[&["slice", "default.zarr", "b.zarr"], &words[..]].concat());
        folder.ok(&["box", "b.zarr", "c.npy", "--size", "1"]);
        let expected = folder.read::<u16>("a.npy");
        assert_eq!(folder.read::<u16>("b.npy"), expected, "{options}");
        assert_eq!(folder.read::<u16>("c.npy"), expected, "{options}");
    }
}

#[test]
fn refusals_leave_no_folder() {
    let (folder, _) = scans();
    folder.array("flat.npy", &[20, 31], &[0u8; 620]);
    folder.ok(&["box", "flat.npy", "flat.zarr", "--size", "1"]);
    let lie = metadata(&folder, "default.zarr").to_string().replace("[20,45,31]", "[4294967295,45,31]");
    std::fs::create_dir(folder.path("lie.zarr")).unwrap();
    folder.write("lie.zarr/zarr.json", lie);
    std::fs::create_dir_all(folder.path("broken.zarr/c/0/0")).unwrap();
    folder.write("broken.zarr/zarr.json", metadata(&folder, "default.zarr").to_string());
    folder.write("broken.zarr/c/0/0/0", "no chunk");
    let bytes: Vec<u8> = [1f32; 24].iter().flat_map(|part| part.to_le_bytes()).collect();
    folder.write("complex.npy", common::npy(&common::header("'<c8'", "(2, 2, 3)"), &bytes));
    for (code, part, line) in [
        (3, "its shape is [20, 31]; a volume has planes", "box flat.zarr o.zarr --size 3 --volume"),
        (3, "its shape is [20, 31]; a volume has planes", "slice flat.zarr o.npy"),
        (3, "before rows and columns only size 1", "box default.zarr o.zarr --size 3"),
        (3, "voxels; 27899 are taken", "box default.zarr o.zarr --size 3 --volume --max-pixels 27899"),
        (3, "31x45 is more than 1000 pixels", "box default.zarr o.zarr --size 3 --volume --max-pixels 1000"),
        (3, "voxels; 268435456 are taken", "box lie.zarr o.zarr --size 3 --volume"),
        (3, "chunk [0, 0, 0]", "box broken.zarr o.zarr --size 3 --volume"),
        (3, "height is 45", "box default.zarr o.zarr --size 3x99x3 --border crop --volume"),
        (3, "o.zarr: complex numbers are written to .npy alone", "box complex.npy o.zarr --size 1 --volume"),
        (
            2,
            "o.png: only .npy and TIFF files hold several images, and Zarr arrays",
            "box default.zarr o.png --size 3 --volume",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        folder.fails(code, part, &words);
        assert!(!folder.names().iter().any(|name| name.starts_with('.') || name.starts_with("o.")), "{line}");
    }
}
