//! Zarr arrays: what `zarrs` writes is read, what is written is read by `zarrs`, and hostile folders are refused.
#![cfg(feature = "zarr")]
#![allow(missing_docs)]

mod hostile;
mod volumes;

use apron_core::{AnyImage, PixelType, Shape};
use apron_files::{Error, ImageOutput, Metadata, ReadOptions, RowsFile, pixels, read_image, read_metadata, read_page};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use zarrs::array::{Array, ArrayBytes, ArrayMetadata};
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{Bytes, ListableStorageTraits, ReadableStorageTraits, StoreKey, WritableStorageTraits};

const LIMIT: u64 = 1 << 24;

/// Makes an image of numbers that differ from pixel to pixel.
fn image(pixel: PixelType, (width, height, channels): (u32, u32, u32)) -> AnyImage<'static> {
    let image = AnyImage::from_bytes(pixel, Shape::new(width, height, channels).unwrap(), |bytes| {
        // No float is a NaN or infinite.
        let byte = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8 & 0x3f;
        bytes.iter_mut().zip(0..).for_each(|(to, i)| *to = byte(i));
        Ok(())
    });
    image.unwrap()
}

/// Returns the metadata of an array.
fn array(shape: &[u64], chunks: &[u64], data_type: &str, codecs: Value) -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": 0, "codecs": codecs,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunks } },
        "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
    })
}

fn bytes_codec() -> Value {
    json!({ "name": "bytes", "configuration": { "endian": "little" } })
}

fn zstd() -> Value {
    json!({ "name": "zstd", "configuration": { "level": 1, "checksum": true } })
}

/// Writes an array as `zarrs` does.
fn store(folder: &Path, metadata: &Value, samples: &[u8]) {
    let store = Arc::new(MemoryStore::new());
    let metadata = ArrayMetadata::V3(serde_json::from_value(metadata.clone()).unwrap());
    let array = Array::new_with_metadata(store.clone(), "/", metadata).unwrap();
    array.store_metadata().unwrap();
    array.store_array_subset(&array.subset_all(), ArrayBytes::from(samples.to_vec())).unwrap();
    for key in store.list().unwrap() {
        let path = folder.join(key.as_str());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, store.get(&key).unwrap().unwrap()).unwrap();
    }
}

/// Reads an array as `zarrs` does.
fn load(folder: &Path) -> (Vec<u64>, Vec<u8>) {
    let store = MemoryStore::new();
    for (name, bytes) in files(folder) {
        store.set(&StoreKey::new(name).unwrap(), Bytes::from(bytes)).unwrap();
    }
    let array = Array::open(Arc::new(store), "/").unwrap();
    let samples = array.retrieve_array_subset(&array.subset_all()).unwrap();
    (array.shape().to_vec(), samples.into_fixed().unwrap().into_owned())
}

/// Returns the files of a folder, by their names.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_string();
            files.insert(name, fs::read(path).unwrap());
        }
    }
    files
}

fn put(folder: &Path, name: &str, metadata: &Value) {
    fs::create_dir_all(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("zarr.json"), metadata.to_string()).unwrap();
}

/// Compares rows that are read in pieces with the whole image.
#[track_caller]
fn check_rows(path: &Path, whole: &AnyImage<'_>) {
    let file = RowsFile::open(path, LIMIT).unwrap().expect("it can be read by rows");
    assert_eq!((file.shape(), file.pixel_type(), file.pages()), (whole.shape(), whole.pixel_type(), 1));
    let height = whole.shape().height;
    let row = whole.bytes().len() / height as usize;
    for rows in [0..height, 3..4, 5..12, 11..height, 0..1, height - 1..height, 2..height - 1] {
        let mut bytes = vec![0; (rows.end - rows.start) as usize * row];
        file.read_rows(rows.clone(), &mut bytes).unwrap();
        assert!(bytes == whole.bytes()[rows.start as usize * row..rows.end as usize * row], "{rows:?}");
    }
}

#[test]
fn all_types_and_channels_are_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image.zarr");
    for pixel in PixelType::ALL {
        for channels in 1..=4 {
            for (width, height) in [(37, 29), (1100, 530)] {
                let image = image(pixel, (width, height, channels));
                let output = ImageOutput::new(&path, Some(pixel)).unwrap();
                assert!(output.takes_rows() && !output.is_array());
                output.write(&image).unwrap();
                let read = read_image(&path, LIMIT).unwrap();
                assert_eq!((read.shape(), read.pixel_type()), (image.shape(), pixel));
                assert!(read.bytes() == image.bytes(), "{pixel} {channels}");
                check_rows(&path, &image);
                let (shape, samples) = load(&path);
                let [h, w, c] = [height, width, channels].map(u64::from);
                assert_eq!(shape, if channels > 1 { vec![h, w, c] } else { vec![h, w] });
                assert!(samples[..] == image.bytes()[..]);
                assert_eq!(pixels(&path), Some(h * w));
            }
        }
    }
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["image.zarr"]);
    let options = ReadOptions { pixel: Some(PixelType::F32), ..ReadOptions::new(LIMIT) };
    assert_eq!(read_page(&path, &options).unwrap().image.pixel_type(), PixelType::F32);
    let page = ReadOptions { page: 2, ..ReadOptions::new(LIMIT) };
    assert!(matches!(read_page(&path, &page), Err(Error::NoPage { pages: 1, .. })));
}

#[test]
fn chunks_of_all_codecs_are_read() {
    let index = json!([bytes_codec(), "crc32c"]);
    let shards = |location: &str, inner: &[u64], codecs: Value| {
        json!({ "name": "sharding_indexed", "configuration": {
            "chunk_shape": inner, "codecs": codecs, "index_codecs": index, "index_location": location,
        } })
    };
    let blosc = json!({ "name": "blosc", "configuration": {
        "cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 2, "blocksize": 0,
    } });
    let gzip = json!({ "name": "gzip", "configuration": { "level": 5 } });
    let big = json!({ "name": "bytes", "configuration": { "endian": "big" } });
    let turned = |order: &[u64]| json!({ "name": "transpose", "configuration": { "order": order } });
    for (shape, chunks, codecs) in [
        (&[29, 37, 3][..], &[8, 16, 3][..], json!([bytes_codec(), gzip])),
        (&[29, 37, 3], &[8, 16, 1], json!([bytes_codec(), blosc])),
        (&[29, 37, 3], &[10, 64, 2], json!([big, zstd(), "crc32c"])),
        (&[29, 37, 2], &[64, 5, 4], json!([bytes_codec()])),
        (&[29, 37], &[7, 37], json!([turned(&[1, 0]), bytes_codec(), zstd()])),
        (&[29, 37, 3], &[8, 12, 3], json!([turned(&[2, 0, 1]), bytes_codec(), gzip])),
        (&[1, 1, 29, 37], &[1, 1, 8, 8], json!([bytes_codec(), zstd()])),
        (&[1, 29, 37, 4], &[2, 9, 37, 4], json!([bytes_codec(), zstd()])),
        (&[29, 37], &[16, 32], json!([shards("end", &[4, 8], json!([bytes_codec(), zstd()]))])),
        (&[29, 37, 3], &[8, 40, 4], json!([shards("start", &[4, 20, 2], json!([bytes_codec(), blosc]))])),
        (
            &[29, 37],
            &[16, 32],
            json!([shards("end", &[8, 16], json!([shards("end", &[4, 4], json!([bytes_codec(), gzip]))]))]),
        ),
        (&[29, 37], &[16, 32], json!([turned(&[1, 0]), shards("end", &[8, 8], json!([bytes_codec()])), zstd()])),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let channels = if [3, 4, 2].contains(shape.last().unwrap()) { *shape.last().unwrap() as u32 } else { 1 };
        let image = image(PixelType::U16, (37, 29, channels));
        store(folder.path(), &array(shape, chunks, "uint16", codecs.clone()), &image.bytes());
        let read = read_image(folder.path(), LIMIT).unwrap_or_else(|error| panic!("{codecs}: {error}"));
        assert_eq!(read.shape(), image.shape());
        assert!(read.bytes() == image.bytes(), "{codecs}");
        check_rows(folder.path(), &image);
        // What is written with these metadata has the same chunks.
        let path = folder.path().join("again.zarr");
        let output = ImageOutput::new(&path, None).unwrap().with_metadata(read_metadata(folder.path(), 1));
        output.write(&image).unwrap();
        assert!(load(&path).1[..] == image.bytes()[..]);
        let written: Value = serde_json::from_slice(&files(&path)["zarr.json"]).unwrap();
        if !chunks.starts_with(&[2]) {
            let input: Value = serde_json::from_slice(&files(folder.path())["zarr.json"]).unwrap();
            assert_eq!((&written["codecs"], &written["chunk_grid"]), (&input["codecs"], &input["chunk_grid"]));
        }
        assert_eq!(written["shape"], json!(shape));
    }
}

#[test]
fn codecs_are_changed_for_another_type_and_dropped_for_other_channels() {
    let folder = tempfile::tempdir().unwrap();
    let blosc = json!({ "name": "blosc", "configuration": {
        "cname": "zstd", "clevel": 3, "shuffle": "shuffle", "typesize": 1, "blocksize": 0,
    } });
    let mut metadata = array(&[29, 37, 3], &[8, 16, 3], "uint8", json!([{ "name": "bytes" }, blosc]));
    metadata["fill_value"] = 7.into();
    metadata["attributes"] = json!({ "stain": "none", "scale": [0.5, 0.1] });
    metadata["dimension_names"] = json!(["y", "x", "c"]);
    store(folder.path(), &metadata, &image(PixelType::U8, (37, 29, 3)).bytes());
    let path = folder.path().join("again.zarr");
    let written = |pixel, channels| -> Value {
        let image = image(pixel, (37, 29, channels));
        let output = ImageOutput::new(&path, None).unwrap().with_metadata(read_metadata(folder.path(), 1));
        output.write(&image).unwrap();
        assert!(read_image(&path, LIMIT).unwrap().bytes() == image.bytes());
        assert!(load(&path).1[..] == image.bytes()[..]);
        serde_json::from_slice(&files(&path)["zarr.json"]).unwrap()
    };
    let floats = written(PixelType::F32, 3);
    assert_eq!(floats["codecs"][0]["configuration"]["endian"], "little");
    assert_eq!(floats["codecs"][1]["configuration"]["typesize"], 4);
    assert_eq!((&floats["fill_value"], &floats["attributes"]["scale"]), (&json!(0), &json!([0.5, 0.1])));
    let grey = written(PixelType::U8, 1);
    assert_eq!((&grey["shape"], &grey["dimension_names"]), (&json!([29, 37, 1]), &metadata["dimension_names"]));
    assert_eq!((&grey["codecs"][1]["name"], &grey["fill_value"]), (&json!("zstd"), &json!(7)));
}

/// Makes a group with an OME-Zarr image of two sizes.
fn ome(folder: &Path, axes: &str, inner: Value) -> Value {
    let axes: Vec<Value> = axes.chars().map(|name| json!({ "name": name.to_string() })).collect();
    let scale = |of: f64| json!([{ "type": "scale", "scale": vec![of; axes.len()] }]);
    let group = json!({ "zarr_format": 3, "node_type": "group", "attributes": { "ome": { "version": "0.5", "multiscales": [{
        "axes": axes,
        "datasets": [
            { "path": "scale/0", "coordinateTransformations": scale(1.0) },
            { "path": "scale/1", "coordinateTransformations": scale(2.0) },
        ],
    }] }, "other": [1, 2] } });
    put(folder, "", &group);
    put(folder, "scale/0", &inner);
    group
}

#[test]
fn ome_metadata_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(PixelType::U16, (37, 29, 1));
    let metadata = array(&[1, 1, 29, 37], &[1, 1, 8, 16], "uint16", json!([bytes_codec(), zstd()]));
    let mut group = ome(folder.path(), "czyx", metadata.clone());
    store(&folder.path().join("scale/0"), &metadata, &image.bytes());
    assert!(read_image(folder.path(), LIMIT).unwrap().bytes() == image.bytes());
    let path = folder.path().join("again.zarr");
    ImageOutput::new(&path, None).unwrap().with_metadata(read_metadata(folder.path(), 1)).write(&image).unwrap();
    let files = files(&path);
    let names: Vec<&str> = files.keys().map(String::as_str).filter(|name| !name.contains("/c/")).collect();
    assert_eq!(names, ["scale/0/zarr.json", "scale/zarr.json", "zarr.json"]);
    assert_eq!(files.len(), 3 + 4 * 3);
    group["attributes"]["ome"]["multiscales"][0]["datasets"].as_array_mut().unwrap().truncate(1);
    let written: Value = serde_json::from_slice(&files["zarr.json"]).unwrap();
    assert_eq!(written, group);
    let written: Value = serde_json::from_slice(&files["scale/0/zarr.json"]).unwrap();
    assert_eq!((&written["shape"], &written["chunk_grid"]), (&metadata["shape"], &metadata["chunk_grid"]));
    assert!(read_image(&path, LIMIT).unwrap().bytes() == image.bytes());
    check_rows(&path, &image);
    // Without a dimension for channels, colours are an array of their own.
    let colours = self::image(PixelType::U16, (5, 4, 3));
    ImageOutput::new(&path, None).unwrap().with_metadata(read_metadata(folder.path(), 1)).write(&colours).unwrap();
    assert_eq!(load(&path).0, [4, 5, 3]);
}

#[test]
fn strips_of_any_height_give_the_files_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(PixelType::U16, (37, 61, 3));
    let metadata = array(&[61, 37, 3], &[16, 10, 2], "uint16", json!([bytes_codec(), zstd()]));
    put(folder.path(), "input", &metadata);
    let kept: Metadata = read_metadata(&folder.path().join("input"), 1);
    let (whole, strips) = (folder.path().join("whole.zarr"), folder.path().join("strips.zarr"));
    ImageOutput::new(&whole, None).unwrap().with_metadata(kept.clone()).write(&image).unwrap();
    let row = image.bytes().len() / 61;
    for heights in [&[1][..], &[7], &[16], &[17], &[61], &[3, 50], &[48, 1], &[32]] {
        let output = ImageOutput::new(&strips, None).unwrap().with_metadata(kept.clone());
        let written = output.write_rows(image.shape(), PixelType::U16, |draft| {
            let mut next = 0;
            for height in heights.iter().cycle() {
                let end = 61.min(next + height);
                draft.write_rows(next as u32, &image.bytes()[next * row..end * row])?;
                next = end;
                if next == 61 {
                    break;
                }
            }
            Ok(())
        });
        written.unwrap();
        assert!(files(&whole) == files(&strips), "{heights:?}");
    }
    // Chunks that would not stay decoded are decoded into their place.
    let mut file = RowsFile::open(&whole, LIMIT).unwrap().unwrap();
    file.hold(0);
    for rows in [0..61u32, 5..50, 16..32, 15..61] {
        let mut bytes = vec![7; rows.len() * row];
        file.read_rows(rows.clone(), &mut bytes).unwrap();
        assert!(bytes == image.bytes()[rows.start as usize * row..rows.end as usize * row], "{rows:?}");
    }
    // Rows that are read stay decoded.
    let file = RowsFile::open(&whole, LIMIT).unwrap().unwrap();
    let mut bytes = vec![0; 30 * row];
    file.read_rows(0..30, &mut bytes).unwrap();
    fs::remove_dir_all(whole.join("c")).unwrap();
    file.read_rows(2..32, &mut bytes).unwrap();
    assert!(bytes == image.bytes()[2 * row..32 * row]);
}

#[test]
fn an_output_is_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.zarr");
    let names = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    let small = image(PixelType::U8, (5, 4, 1));
    let fails = |rows: &[(u32, usize)], error: bool| {
        let output = ImageOutput::new(&path, None).unwrap();
        let written = output.write_rows(small.shape(), PixelType::U8, |draft| {
            rows.iter().try_for_each(|(first, count)| draft.write_rows(*first, &vec![1; count * 5]))?;
            if error { Err("no more".into()) } else { Ok(()) }
        });
        let error = written.unwrap_err();
        assert!(matches!(error, Error::Write { .. }), "{error}");
        error.to_string()
    };
    assert!(fails(&[(0, 4)], true).contains("no more"));
    assert!(fails(&[(0, 2)], false).contains("rows from 2 on are missing"));
    assert!(fails(&[(2, 2), (0, 2)], false).contains("row 2 comes where row 0 is expected"));
    assert!(names().is_empty(), "{:?}", names());
    ImageOutput::new(&path, None).unwrap().write(&small).unwrap();
    let before = files(&path);
    fails(&[(0, 1)], true);
    assert_eq!((names(), files(&path)), (vec!["out.zarr".into()], before));
    // Another one takes its place, with nothing of it.
    fs::write(path.join("of-before"), "").unwrap();
    ImageOutput::new(&path, None).unwrap().write(&image(PixelType::U8, (600, 4, 1))).unwrap();
    assert_eq!((names(), files(&path).len()), (vec!["out.zarr".into()], 3));
    for (name, what) in
        [("other.zarr", "not a Zarr"), ("file.zarr", "not a folder"), ("no/out.zarr", "there is no folder")]
    {
        let path = folder.path().join(name);
        match name {
            "other.zarr" => fs::create_dir(&path).unwrap(),
            "file.zarr" => fs::write(&path, "").unwrap(),
            _ => {}
        }
        let Err(error) = ImageOutput::new(&path, None) else { panic!("{name}: taken") };
        assert!(error.to_string().contains(what), "{error}");
    }
    assert!(ImageOutput::stdout("zarr", None).is_err());
    #[cfg(unix)]
    {
        let link = folder.path().join("link.zarr");
        std::os::unix::fs::symlink("out.zarr", &link).unwrap();
        ImageOutput::new(&link, None).unwrap().write(&small).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(read_image(&path, LIMIT).unwrap().bytes() == small.bytes());
    }
}
