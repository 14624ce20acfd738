//! Volumes: arrays whose chunks have three dimensions are read and written by planes.

use super::{LIMIT, array, bytes_codec, files, image, load, ome, put, store, zstd};
use apron_core::{AnyImage, PixelType, Shape};
use apron_files::{Error, ImageOutput, Metadata, PagesFile, ReadOptions, pixels, read_image, read_metadata};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Makes a volume of 11 planes of 29x23 pixels: the rows of an image.
fn planes(pixel: PixelType, channels: u32) -> Vec<AnyImage<'static>> {
    let stack = image(pixel, (23, 29 * 11, channels));
    let bytes = stack.bytes();
    let plane = |bytes: &[u8]| {
        AnyImage::from_bytes(pixel, Shape::new(23, 29, channels).unwrap(), |to| {
            to.copy_from_slice(bytes);
            Ok(())
        })
    };
    bytes.chunks_exact(bytes.len() / 11).map(|bytes| plane(bytes).unwrap()).collect()
}

fn samples(planes: &[AnyImage<'_>]) -> Vec<u8> {
    planes.iter().flat_map(|plane| plane.bytes().to_vec()).collect()
}

/// Reads all planes, also against their order, and the metadata.
#[track_caller]
fn read(path: &Path) -> (Vec<AnyImage<'static>>, Metadata) {
    let mut file = PagesFile::open(path, ReadOptions::new(LIMIT)).unwrap_or_else(|error| panic!("{error}"));
    let count = file.pages();
    let planes: Vec<_> = (1..=count).map(|page| file.read(page).unwrap().0).collect();
    for page in (1..=count).rev() {
        assert_eq!(file.read(page).unwrap().0, planes[page as usize - 1]);
    }
    assert!(matches!(file.read(count + 1), Err(Error::NoPage { .. })));
    let metadata = file.read(1).unwrap().1;
    (planes, metadata)
}

fn write(path: &Path, planes: &[AnyImage<'_>], metadata: &Metadata) -> Result<(), Error> {
    let output = ImageOutput::new(path, None)?;
    let mut draft = output.pages(planes.len() as u32)?;
    planes.iter().try_for_each(|plane| draft.write(plane, metadata))?;
    draft.finish()
}

#[test]
fn all_types_and_channels_are_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.zarr");
    for pixel in PixelType::ALL {
        for channels in [1, 3] {
            let planes = planes(pixel, channels);
            write(&path, &planes, &Metadata::default()).unwrap();
            let (shape, stored) = load(&path);
            assert_eq!(shape, if channels > 1 { vec![11, 29, 23, 3] } else { vec![11, 29, 23] });
            assert!(stored == samples(&planes));
            assert_eq!(read(&path).0, planes);
            assert_eq!(pixels(&path), Some(29 * 23));
        }
    }
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["scan.zarr"]);
    // Chunks of 64 in each direction, where there is no input.
    let large: Vec<_> = (0..65).map(|_| image(PixelType::U8, (70, 10, 1))).collect();
    write(&path, &large, &Metadata::default()).unwrap();
    let files: Vec<String> = files(&path).into_keys().collect();
    assert_eq!(files, ["c/0/0/0", "c/0/0/1", "c/1/0/0", "c/1/0/1", "zarr.json"]);
    assert_eq!(read(&path).0, large);
}

#[test]
fn chunks_of_all_shapes_and_codecs_are_read_and_kept() {
    let index = json!([bytes_codec(), "crc32c"]);
    let shards = |inner: &[u64], codecs: Value| {
        json!({ "name": "sharding_indexed", "configuration": {
            "chunk_shape": inner, "codecs": codecs, "index_codecs": index, "index_location": "end",
        } })
    };
    let gzip = json!({ "name": "gzip", "configuration": { "level": 5 } });
    let turned = |order: &[u64]| json!({ "name": "transpose", "configuration": { "order": order } });
    for (shape, chunks, codecs) in [
        (&[11, 29, 23][..], &[4, 8, 16][..], json!([bytes_codec(), gzip])),
        (&[11, 29, 23], &[1, 29, 23], json!([bytes_codec()])),
        (&[11, 29, 23], &[11, 1, 7], json!([bytes_codec(), zstd()])),
        (&[11, 29, 23], &[64, 64, 64], json!([bytes_codec(), zstd()])),
        (&[11, 29, 23], &[3, 10, 23], json!([turned(&[2, 0, 1]), bytes_codec(), zstd()])),
        (&[11, 29, 23, 3], &[2, 9, 8, 3], json!([bytes_codec(), zstd()])),
        (&[11, 29, 23, 3], &[5, 29, 8, 1], json!([bytes_codec(), gzip])),
        (&[11, 29, 23, 3], &[5, 40, 30, 2], json!([bytes_codec()])),
        (&[1, 11, 29, 23], &[1, 3, 8, 8], json!([bytes_codec(), zstd()])),
        (&[1, 1, 11, 29, 23, 3], &[1, 1, 3, 8, 8, 3], json!([bytes_codec(), zstd()])),
        (&[11, 29, 23], &[8, 16, 16], json!([shards(&[4, 8, 8], json!([bytes_codec(), zstd()]))])),
        (&[11, 29, 23, 3], &[4, 32, 12, 3], json!([shards(&[2, 8, 12, 1], json!([bytes_codec(), gzip]))])),
        (
            &[11, 29, 23],
            &[16, 32, 32],
            json!([shards(&[8, 16, 16], json!([shards(&[2, 4, 4], json!([bytes_codec()]))]))]),
        ),
    ] {
        let what = format!("{shape:?} {chunks:?} {codecs}");
        let folder = tempfile::tempdir().unwrap();
        let planes = planes(PixelType::U16, if shape.ends_with(&[3]) { 3 } else { 1 });
        let mut metadata = array(shape, chunks, "uint16", codecs);
        metadata["attributes"] = json!({ "voxel": [2.0, 0.5, 0.5] });
        metadata["fill_value"] = 9.into();
        if shape.len() == 3 {
            metadata["dimension_names"] = json!(["z", "y", "x"]);
        }
        store(folder.path(), &metadata, &samples(&planes));
        let (found, kept) = read(folder.path());
        assert!(found == planes, "{what}");
        let path = folder.path().join("again.zarr");
        write(&path, &planes, &kept).unwrap();
        assert!(load(&path).1 == samples(&planes), "{what}");
        assert!(read(&path).0 == planes, "{what}");
        let written: Value = serde_json::from_slice(&files(&path)["zarr.json"]).unwrap();
        let input: Value = serde_json::from_slice(&files(folder.path())["zarr.json"]).unwrap();
        for field in ["shape", "codecs", "chunk_grid", "attributes", "dimension_names", "fill_value", "data_type"] {
            assert_eq!(written[field], input[field], "{what}");
        }
        // Of fewer planes, of another type.
        let fewer = &self::planes(PixelType::F32, planes[0].shape().channels)[..2];
        write(&path, fewer, &kept).unwrap();
        assert!(read(&path).0 == fewer && load(&path).1 == samples(fewer), "{what}");
    }
}

#[test]
fn chunks_that_are_not_there_are_the_fill_value() {
    let folder = tempfile::tempdir().unwrap();
    let mut metadata = array(&[11, 29, 23], &[4, 8, 16], "uint16", json!([bytes_codec(), zstd()]));
    metadata["fill_value"] = 300.into();
    let planes = planes(PixelType::U16, 1);
    store(folder.path(), &metadata, &samples(&planes));
    fs::remove_file(folder.path().join("c/1/2/0")).unwrap();
    let (found, kept) = read(folder.path());
    let value = |image: &AnyImage<'_>, x: usize, y: usize| match image {
        AnyImage::U16(image) => image.row(y as u32)[x],
        _ => panic!("another type"),
    };
    for (z, (found, plane)) in found.iter().zip(&planes).enumerate() {
        for (y, x) in (0..29).flat_map(|y| (0..23).map(move |x| (y, x))) {
            let gone = (4..8).contains(&z) && (16..24).contains(&y) && x < 16;
            assert_eq!(value(found, x, y), if gone { 300 } else { value(plane, x, y) }, "{x} {y} {z}");
        }
    }
    // Nor are chunks of nothing else written.
    let path = folder.path().join("again.zarr");
    write(&path, &found, &kept).unwrap();
    assert!(!path.join("c/1/2/0").exists() && path.join("c/1/2/1").is_file());
    assert_eq!(read(&path).0, found);
}

#[test]
fn ome_metadata_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let planes = planes(PixelType::U16, 1);
    let metadata = array(&[1, 1, 11, 29, 23], &[1, 1, 4, 8, 16], "uint16", json!([bytes_codec(), zstd()]));
    let mut group = ome(folder.path(), "tczyx", metadata.clone());
    store(&folder.path().join("scale/0"), &metadata, &samples(&planes));
    let (found, kept) = read(folder.path());
    assert_eq!(found, planes);
    let path = folder.path().join("again.zarr");
    write(&path, &planes, &kept).unwrap();
    group["attributes"]["ome"]["multiscales"][0]["datasets"].as_array_mut().unwrap().truncate(1);
    let written: Value = serde_json::from_slice(&files(&path)["zarr.json"]).unwrap();
    assert_eq!(written, group);
    assert_eq!(read(&path).0, planes);
    // An image has no place among them, nor a volume among those of an image.
    ImageOutput::new(&path, None).unwrap().with_metadata(kept).write(&planes[0]).unwrap();
    assert_eq!(load(&path).0, [29, 23]);
    write(&path, &planes, &read_metadata(&path, 1)).unwrap();
    assert_eq!(load(&path).0, [11, 29, 23]);
}

#[test]
fn a_volume_is_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.zarr");
    let names = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    let small = image(PixelType::U8, (5, 4, 1));
    let other = image(PixelType::U8, (4, 5, 1));
    let none = Metadata::default();
    let output = ImageOutput::new(&path, None).unwrap();
    let mut draft = output.pages(2).unwrap();
    draft.write(&small, &none).unwrap();
    assert!(matches!(draft.write(&other, &none), Err(Error::Uneven { .. })));
    let error = draft.finish().unwrap_err().to_string();
    assert!(error.contains("1 of 2 images were written"), "{error}");
    let mut draft = output.pages(1).unwrap();
    draft.write(&small, &none).unwrap();
    assert!(draft.write(&small, &none).unwrap_err().to_string().contains("all 1 images are there already"));
    drop(draft);
    drop(output.pages(3).unwrap());
    assert!(names().is_empty(), "{:?}", names());
    write(&path, &[small.view(), small.view()], &none).unwrap();
    let before = files(&path);
    let mut draft = output.pages(9).unwrap();
    draft.write(&other, &none).unwrap();
    drop(draft);
    assert_eq!((names(), files(&path)), (vec!["out.zarr".into()], before));
    // The system's error, of a name that is taken by a file.
    write(&path, &[other.view()], &none).unwrap();
    assert_eq!((names(), load(&path).0), (vec!["out.zarr".into()], vec![1, 5, 4]));
}

#[test]
fn hostile_volumes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let good = || array(&[11, 29, 23], &[4, 8, 16], "uint16", json!([bytes_codec(), zstd()]));
    let huge = 1u64 << 62;
    let with = |pointer: &str, value: Value| {
        let mut metadata = good();
        *metadata.pointer_mut(pointer).unwrap() = value;
        metadata
    };
    let named = |shape: Value, names: Value| {
        let mut metadata = good();
        metadata["shape"] = shape;
        metadata["dimension_names"] = names;
        metadata
    };
    let shape = |shape: Value| with("/shape", shape);
    let chunk = |chunk: Value| with("/chunk_grid/configuration/chunk_shape", chunk);
    for (metadata, part) in [
        (shape(json!([29, 23])), "its shape is [29, 23]; a volume has planes, rows, columns, and maybe channels"),
        (shape(json!([11, 100, 100])), "100x100 is more than 4096 pixels"),
        (shape(json!([0, 29, 23])), "0 planes"),
        (shape(json!([huge, 29, 23])), "4611686018427387904 planes; 1 to 4294967295 are taken"),
        (shape(json!([huge, huge, huge])), ""),
        (shape(json!([11, 0, 23])), "0"),
        (
            shape(json!([2, 11, 29, 23])),
            "dimension 0 of shape [2, 11, 29, 23] has size 2; before planes, rows and columns",
        ),
        (chunk(json!([8, 8])), "chunks of 2 dimensions, in an array of 3"),
        (chunk(json!([0, 8, 8])), "chunk grid"),
        (chunk(json!([huge, 8, 8])), "is more than 4096 pixels"),
        (chunk(json!([1 << 30, 1, 1])), "is more than 4096 pixels"),
        (chunk(json!([1 << 21, 1 << 21, 1 << 21])), "is more than 4096 pixels"),
        (named(json!([3, 29, 23]), json!(["c", "y", "x"])), "dimension 'c' is where the planes of a volume"),
        (named(json!([29, 23, 3]), json!(["y", "x", "c"])), "its shape is [29, 23, 3]; a volume has planes"),
        (named(json!([29, 23, 11]), json!(["y", "x", "z"])), "dimension 'y' is where the planes of a volume"),
        (named(json!([11, 29, 23]), json!(["z", "x", "y"])), "dimension 'x' is where 'y' is expected"),
        (with("/data_type", json!("complex64")), "data type 'complex64' is not taken"),
    ] {
        put(path, "", &metadata);
        let error = match PagesFile::open(path, ReadOptions::new(1 << 12)) {
            Ok(mut file) => file.read(1).unwrap_err(),
            Err(error) => error,
        };
        assert!(!matches!(error, Error::Decoder { .. }), "{error}");
        assert!(error.to_string().contains(part), "no '{part}' in '{error}'");
    }
    put(path, "", &good());
    // A volume is no image.
    assert!(read_image(path, LIMIT).unwrap_err().to_string().contains("has size 11"));
    fs::create_dir_all(path.join("c/1/0")).unwrap();
    fs::write(path.join("c/1/0/1"), "no chunk").unwrap();
    let mut file = PagesFile::open(path, ReadOptions::new(LIMIT)).unwrap();
    assert!(file.read(4).is_ok());
    let error = file.read(5).unwrap_err().to_string();
    assert!(error.contains("chunk [1, 0, 1]"), "{error}");
    // Few bytes that become many.
    let bomb = zstd::bulk::compress(&vec![0; 1 << 24], 1).unwrap();
    fs::write(path.join("c/1/0/1"), bomb).unwrap();
    let error = file.read(5).unwrap_err().to_string();
    assert!(error.contains("chunk [1, 0, 1]"), "{error}");
}
