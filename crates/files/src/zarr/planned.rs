//! The metadata of an array that is written: the input's, where they suit the result.

use super::codecs::{Codecs, SHARDS, product};
use super::layout::{Layout, name_of};
use super::read::grid;
use crate::metadata::Kept;
use apron_core::{PixelType, Shape};
use serde_json::{Map, Value, json};
use zarrs::metadata::v3::MetadataV3;

/// Rows and columns of a chunk of an image, where no input says other ones.
const SIDE: u64 = 512;

/// Planes, rows and columns of a chunk of a volume.
const SIDE_OF_VOLUME: u64 = 64;

/// Largest row of an input's chunks that is taken over, in bytes: it is in memory until it is whole.
const MOST_ROW: u64 = 1 << 30;

/// Largest layer of chunks of a volume that is taken over from an input, in bytes per layer.
const MOST_PLANES: u64 = 1 << 33;

/// The metadata that are written beside the samples.
pub(super) struct Planned<'a> {
    pub(super) array: Map<String, Value>,
    pub(super) layout: Layout,
    /// Attributes of the group, and the array's path in it.
    pub(super) group: Option<(Value, &'a str)>,
}

impl<'a> Planned<'a> {
    /// Takes over the input's metadata that suit the image, or the volume of this many planes.
    pub(super) fn of(kept: Option<&'a Kept>, (shape, planes): (Shape, Option<u32>), pixel: PixelType) -> Planned<'a> {
        // An input without a dimension of channels, and its group, do not describe the channels of the result; nor do
        // metadata of an image describe a volume, or the other way round.
        let suits = |kept: &&Kept| (kept.channels.is_some() || shape.channels == 1) && kept.volume == planes.is_some();
        let Some(kept) = kept.filter(suits) else {
            let layout = Layout { shape, planes, pixel, leading: 0, channels: shape.channels > 1 };
            return Planned { array: described(&layout, None), layout, group: None };
        };
        let layout = Layout { shape, planes, pixel, leading: kept.leading, channels: kept.channels.is_some() };
        let group = kept.group.as_ref().map(|(attributes, inner)| (with_first_dataset(attributes), &inner[..]));
        Planned { array: described(&layout, Some(kept)), layout, group }
    }
}

/// Returns the metadata of an array.
fn described(layout: &Layout, kept: Option<&Kept>) -> Map<String, Value> {
    let Shape { width, height, channels } = layout.shape;
    let name = name_of(layout.pixel);
    let sizes = |planes: u64, rows: u64, columns: u64| layout.over(1, [planes, rows, columns, u64::from(channels)]);
    let side = if layout.planes.is_some() { SIDE_OF_VOLUME } else { SIDE };
    let (chunks, codecs) = kept.and_then(|kept| taken_over(layout, kept)).unwrap_or_else(|| {
        let grid = json!({ "name": "regular", "configuration": { "chunk_shape": sizes(side, side, side) } });
        let codecs = json!([
            { "name": "bytes", "configuration": { "endian": "little" } },
            { "name": "zstd", "configuration": { "level": 3, "checksum": false } },
        ]);
        (grid, codecs)
    });
    let of_input = |field: &str| kept.and_then(|kept| kept.array.get(field)).cloned();
    let same_type = of_input("data_type").is_some_and(|of| of == name || of["name"] == name);
    let fill = if same_type { of_input("fill_value") } else { None };
    let keys = of_input("chunk_key_encoding");
    let mut array = Map::new();
    array.insert("zarr_format".into(), 3.into());
    array.insert("node_type".into(), "array".into());
    array.insert("shape".into(), json!(sizes(layout.planes.unwrap_or(1).into(), height.into(), width.into())));
    array.insert("data_type".into(), name.into());
    array.insert("chunk_grid".into(), chunks);
    let keys = keys.unwrap_or_else(|| json!({ "name": "default", "configuration": { "separator": "/" } }));
    array.insert("chunk_key_encoding".into(), keys);
    array.insert(
        "fill_value".into(),
        fill.unwrap_or_else(|| if layout.pixel == PixelType::Bool { false.into() } else { 0.into() }),
    );
    array.insert("codecs".into(), codecs);
    for field in ["attributes", "dimension_names"] {
        array.extend(of_input(field).map(|value| (field.into(), value)));
    }
    array
}

/// Returns the grid and the codecs of the input, if they suit the image.
fn taken_over(layout: &Layout, kept: &Kept) -> Option<(Value, Value)> {
    if kept.channels != layout.channels.then_some(layout.shape.channels) {
        return None;
    }
    let (chunks, mut codecs) = (kept.array.get("chunk_grid")?.clone(), kept.array.get("codecs")?.clone());
    codecs.as_array_mut()?.iter_mut().for_each(|codec| retyped(codec, layout.pixel));
    let shape = grid(&serde_json::from_value(chunks.clone()).ok()?, layout.dimensions()).ok()?;
    let metadata: Vec<MetadataV3> = serde_json::from_value(codecs.clone()).ok()?;
    Codecs::new(&metadata, &shape).ok()?;
    // Chunks that are larger than the result's leading dimensions would hold nothing but fill values there.
    let lines = layout.lines_of(layout.parts(&shape.iter().map(|size| size.get()).collect::<Vec<_>>()));
    let most = if layout.planes.is_some() { MOST_PLANES } else { MOST_ROW };
    let fits = shape.iter().take(layout.leading).all(|size| size.get() == 1)
        && (lines * layout.line_bytes()) as u64 <= most
        && product(&shape).is_some_and(|samples| samples <= MOST_ROW / layout.pixel.size_bytes() as u64);
    fits.then_some((chunks, codecs))
}

/// Makes an input's codec one for samples of another type.
fn retyped(codec: &mut Value, pixel: PixelType) {
    let size = pixel.size_bytes();
    let name = codec.as_str().or_else(|| codec["name"].as_str()).unwrap_or_default().to_string();
    match &name[..] {
        // Bytes need no order, and may have none.
        "bytes" if size > 1 && codec.get("configuration").and_then(|of| of.get("endian")).is_none() => {
            *codec = json!({ "name": "bytes", "configuration": { "endian": "little" } });
        }
        "blosc" => {
            if let Some(typesize) = codec.pointer_mut("/configuration/typesize") {
                *typesize = size.into();
            }
        }
        SHARDS => {
            if let Some(inner) = codec.pointer_mut("/configuration/codecs").and_then(Value::as_array_mut) {
                inner.iter_mut().for_each(|codec| retyped(codec, pixel));
            }
        }
        _ => {}
    }
}

/// Returns the attributes of a group with its first image and, of that, the first dataset alone.
fn with_first_dataset(attributes: &Map<String, Value>) -> Value {
    let mut attributes = Value::Object(attributes.clone());
    for at in ["/ome/multiscales", "/multiscales"] {
        let Some(images) = attributes.pointer_mut(at).and_then(Value::as_array_mut) else { continue };
        images.truncate(1);
        let datasets = images.first_mut().and_then(|image| image.get_mut("datasets")).and_then(Value::as_array_mut);
        if let Some(datasets) = datasets {
            datasets.truncate(1);
        }
    }
    attributes
}
