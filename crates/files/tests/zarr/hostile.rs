//! Folders that are broken, or made to break a reader: each is refused with a typed error, within the limits.

use super::{LIMIT, array, bytes_codec, image, put, store, zstd};
use apron_core::{ErrorKind, PixelType};
use apron_files::{Error, RowsFile, read_image};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Asserts a typed error about the content that has this text.
#[track_caller]
fn refused(path: &Path, part: &str) {
    let check = |error: Error| {
        assert!(!matches!(error, Error::Decoder { .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains(part), "no '{part}' in '{error}'");
    };
    check(read_image(path, 1 << 12).unwrap_err());
    if let Err(error) = RowsFile::open(path, 1 << 12).map(|file| {
        let file = file.expect("by rows");
        let row = file.shape().row_samples() * file.pixel_type().size_bytes();
        let error = file.read_rows(0..file.shape().height, &mut vec![0; row * file.shape().height as usize]);
        check(error.unwrap_err());
    }) {
        check(error);
    }
}

#[test]
fn hostile_metadata_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let good = || array(&[29, 37], &[8, 16], "uint16", json!([bytes_codec(), zstd()]));
    let huge = 1u64 << 62;
    let shards = |chunk: Value, codecs: Value| {
        let configuration = json!({ "chunk_shape": chunk, "codecs": codecs, "index_codecs": [bytes_codec()] });
        json!([{ "name": "sharding_indexed", "configuration": configuration }])
    };
    let with = |pointer: &str, value: Value| {
        let mut metadata = good();
        *metadata.pointer_mut(pointer).unwrap() = value;
        metadata
    };
    let chunk = |chunk: Value| with("/chunk_grid/configuration/chunk_shape", chunk);
    for (metadata, part) in [
        (with("/shape", json!([100, 100])), "is more than 4096 pixels"),
        (with("/shape", json!([huge, huge])), "4294967295"),
        (with("/shape", json!([0, 37])), ""),
        (with("/shape", json!([29])), "its shape is [29]"),
        (with("/shape", json!([29, 37, 5])), "dimension 0 of shape [29, 37, 5] has size 29"),
        (with("/shape", json!([2, 29, 37])), "dimension 0 of shape [2, 29, 37] has size 2"),
        (with("/shape", json!("a")), "the metadata of the array cannot be read: "),
        (chunk(json!([8])), "chunks of 1 dimensions, in an array of 2"),
        (chunk(json!([8, 0])), "chunk grid"),
        (chunk(json!([huge, huge])), "is more than 4096 pixels"),
        (chunk(json!([1 << 20, 1 << 20])), "is more than 4096 pixels"),
        (with("/chunk_grid/name", json!("rectangular")), "chunk grid 'rectangular' is not supported"),
        (with("/chunk_key_encoding/name", json!("default_suffix")), "chunk key encoding 'default_suffix'"),
        (
            with("/data_type", json!("complex64")),
            "data type 'complex64' is not taken; taken are bool, uint8, int8, uint16",
        ),
        (with("/fill_value", json!(70000)), ""),
        (with("/codecs", json!([])), "no codec makes bytes"),
        (with("/codecs", json!([zstd(), bytes_codec()])), "codec 'zstd' is not where it can be"),
        (with("/codecs", json!([bytes_codec(), "lzma"])), "codec 'lzma' is not supported"),
        (with("/codecs", json!([bytes_codec(), { "name": "gzip", "configuration": { "level": 99 } }])), "codec 'gzip'"),
        (with("/codecs", shards(json!([3, 16]), json!([bytes_codec()]))), "do not divide"),
        (with("/codecs", shards(json!([0, 16]), json!([bytes_codec()]))), "codec 'sharding_indexed'"),
        (with("/codecs", shards(json!([8]), json!([bytes_codec()]))), "do not divide"),
        (with("/codecs", shards(json!([8, 8]), json!([]))), "no codec makes bytes"),
        (with("/zarr_format", json!(2)), "version 2"),
        (with("/node_type", json!("cube")), "node type 'cube'"),
    ] {
        put(path, "", &metadata);
        refused(path, part);
    }
    let mut metadata = chunk(json!([huge, huge]));
    metadata["codecs"] = shards(json!([1, 1]), json!([bytes_codec()]));
    put(path, "", &metadata);
    refused(path, "have more than 16777216 chunks");
    for (field, value, part) in [
        ("dimension_names", json!(["c", "x", "y"]), "3 names of dimensions"),
        ("dimension_names", json!(["x", "y"]), "dimension 'x' is where 'y' is expected"),
        ("storage_transformers", json!([{ "name": "lost" }]), "storage transformer 'lost'"),
        ("more", json!({ "must_understand": true, "a": 1 }), "the field 'more'"),
    ] {
        let mut metadata = good();
        metadata[field] = value;
        put(path, "", &metadata);
        refused(path, part);
    }
    let mut metadata = with("/shape", json!([3, 29, 37]));
    metadata["dimension_names"] = json!(["c", "y", "x"]);
    put(path, "", &metadata);
    refused(path, "dimension 'c', the channels, is not the last and has size 3");
    fs::write(path.join("zarr.json"), "{").unwrap();
    refused(path, "its JSON cannot be read: ");
}

#[test]
fn groups_that_are_no_images_say_what_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let group = |attributes: Value| json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes });
    put(path, "", &group(json!({ "title": "plate" })));
    put(path, "a", &group(json!({})));
    put(path, "b", &group(json!({})));
    refused(path, "without OME-Zarr's multiscales, and so no image; its members: a, b; its attributes: title");
    let image = |datasets: Value| group(json!({ "multiscales": [{ "datasets": datasets }] }));
    for (metadata, part) in [
        (image(json!([])), "name no dataset"),
        (image(json!([{ "path": "../a" }])), "which is not below it"),
        (image(json!([{ "path": "/a" }])), "which is not below it"),
        (image(json!([{ "path": "a" }])), "'a' is no array"),
        (image(json!([{ "path": "c" }])), "dataset 'c': a folder without a zarr.json"),
    ] {
        put(path, "", &metadata);
        refused(path, part);
    }
    fs::remove_file(path.join("zarr.json")).unwrap();
    fs::write(path.join(".zarray"), "{}").unwrap();
    refused(path, "Zarr of version 2");
    put(path, "x.zarr", &json!({}));
    fs::remove_file(path.join("x.zarr/zarr.json")).unwrap();
    refused(&path.join("x.zarr"), "a folder without a zarr.json");
}

#[test]
fn broken_chunks_are_refused() {
    let image = image(PixelType::U16, (37, 29, 1));
    let index = json!([bytes_codec(), "crc32c"]);
    let shards = |codecs: Value| {
        let configuration = json!({ "chunk_shape": [4, 8], "codecs": codecs, "index_codecs": index });
        json!([{ "name": "sharding_indexed", "configuration": configuration }])
    };
    let blosc = json!({ "name": "blosc", "configuration": {
        "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0,
    } });
    let gzip = json!({ "name": "gzip", "configuration": { "level": 5 } });
    for codecs in [
        json!([bytes_codec()]),
        json!([bytes_codec(), gzip]),
        json!([bytes_codec(), blosc]),
        json!([bytes_codec(), zstd(), "crc32c"]),
        shards(json!([bytes_codec(), zstd()])),
        shards(shards(json!([bytes_codec(), zstd()]))),
    ] {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), &array(&[29, 37], &[16, 32], "uint16", codecs.clone()), &image.bytes());
        let chunk = folder.path().join("c/0/0");
        let whole = fs::read(&chunk).unwrap();
        for length in [0, 1, 3, 7, 15, whole.len() / 2, whole.len() - 1] {
            fs::write(&chunk, &whole[..length]).unwrap();
            refused(folder.path(), "");
        }
        fs::write(&chunk, [&whole[..], &vec![0; 1 << 20]].concat()).unwrap();
        refused(folder.path(), "");
        // Changed bytes are refused, or change samples; none is a panic that gets through, nor takes
        // memory without limit.
        for at in (0..whole.len()).step_by(7) {
            let mut changed = whole.clone();
            changed[at] ^= 0x85;
            fs::write(&chunk, &changed).unwrap();
            let _ = read_image(folder.path(), 1 << 12);
        }
        fs::remove_file(&chunk).unwrap();
        fs::create_dir(&chunk).unwrap();
        refused(folder.path(), "not a regular file");
        // A chunk that is not there has the fill value.
        fs::remove_dir(&chunk).unwrap();
        let read = read_image(folder.path(), LIMIT).unwrap();
        assert!(read.bytes()[..64].iter().all(|byte| *byte == 0) && read.bytes()[64..74] == image.bytes()[64..74]);
    }
}

#[test]
fn small_chunks_that_decode_to_much_are_refused() {
    use std::io::Write;
    let much = vec![0u8; 64 << 20];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    gzip.write_all(&much).unwrap();
    let mut claims = zstd::bulk::compress(&much, 3).unwrap();
    for (codec, bytes) in [
        (json!({ "name": "gzip", "configuration": { "level": 5 } }), gzip.finish().unwrap()),
        (self::zstd(), claims.clone()),
        (self::zstd(), {
            // The size of the content, in the frame's header, becomes 2^62 bytes and some.
            claims[4] |= 0xc0;
            claims
        }),
    ] {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "", &array(&[29, 37], &[29, 37], "uint8", json!([bytes_codec(), codec])));
        fs::create_dir_all(folder.path().join("c/0")).unwrap();
        fs::write(folder.path().join("c/0/0"), bytes).unwrap();
        refused(folder.path(), "chunk [0, 0]");
    }
}
