//! The array of a folder: the folder itself, or the largest of an OME-Zarr image.

use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use zarrs::array::ArrayMetadataV3;

/// Name of the files with metadata.
pub(super) const METADATA: &str = "zarr.json";

/// Largest file of metadata, in bytes: groups may repeat the metadata of all their arrays.
const MOST: u64 = 64 << 20;

/// An array, and where it was found.
pub(super) struct Found {
    /// The array's folder.
    pub(super) folder: PathBuf,
    pub(super) metadata: ArrayMetadataV3,
    /// Names of the dimensions: the array's, or else the axes of the OME-Zarr image; empty if there are none.
    pub(super) names: Vec<Option<String>>,
    /// The metadata as they are.
    pub(super) array: Map<String, Value>,
    /// Attributes of the OME-Zarr image, and the array's path in it.
    pub(super) group: Option<(Map<String, Value>, String)>,
}

impl Found {
    /// Finds the array of a folder.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Content`] for a folder that is no array and no OME-Zarr image.
    pub(super) fn of(path: &Path) -> Result<Found> {
        let first = object(path, path)?;
        match node_type(&first) {
            "array" => Found::array(path, path.into(), first, None, Vec::new()),
            "group" => {
                let attributes = match first.get("attributes") {
                    Some(Value::Object(attributes)) => attributes.clone(),
                    _ => Map::new(),
                };
                let Some(image) = multiscale(&attributes) else { return Err(no_image(path, &attributes)) };
                let Some(inner) = image["datasets"][0]["path"].as_str() else {
                    return Err(Error::content(path, "its OME-Zarr metadata name no dataset"));
                };
                let parts: Vec<Component<'_>> = Path::new(inner).components().collect();
                if parts.is_empty() || parts.iter().any(|part| !matches!(part, Component::Normal(_))) {
                    return Err(Error::content(
                        path,
                        format!("its dataset has the path '{inner}', which is not below it"),
                    ));
                }
                let axes = image["axes"].as_array().map(Vec::as_slice).unwrap_or_default();
                let axes = axes.iter().map(|axis| axis["name"].as_str().map(String::from)).collect();
                let folder = path.join(inner);
                let array = object(path, &folder)?;
                if node_type(&array) != "array" {
                    return Err(Error::content(path, format!("its dataset '{inner}' is no array")));
                }
                Found::array(path, folder, array, Some((attributes.clone(), inner.into())), axes)
            }
            other => Err(Error::content(path, format!("node type '{other}' is neither array nor group"))),
        }
    }

    fn array(
        path: &Path,
        folder: PathBuf,
        array: Map<String, Value>,
        group: Option<(Map<String, Value>, String)>,
        axes: Vec<Option<String>>,
    ) -> Result<Found> {
        let metadata: ArrayMetadataV3 = serde_json::from_value(Value::Object(array.clone()))
            .map_err(|error| Error::content(path, format!("the metadata of the array cannot be read: {error}")))?;
        let unknown = metadata.additional_fields.iter().find(|(_, field)| field.must_understand());
        if let Some((name, _)) = unknown {
            return Err(Error::content(path, format!("the array has the field '{name}', which is not supported")));
        }
        if let Some(transformer) = metadata.storage_transformers.first() {
            let name = transformer.name();
            return Err(Error::content(
                path,
                format!("the array has the storage transformer '{name}', which is not supported"),
            ));
        }
        let dimensions = metadata.shape.len();
        let own = metadata.dimension_names.as_ref().filter(|names| names.iter().any(Option::is_some));
        let names = own.cloned().unwrap_or(axes);
        if !names.is_empty() && names.len() != dimensions {
            let what = format!("{} names of dimensions, and {dimensions} dimensions", names.len());
            return Err(Error::content(path, what));
        }
        Ok(Found { folder, metadata, names, array, group })
    }
}

/// Reads the metadata in a folder; errors name `path`.
fn object(path: &Path, folder: &Path) -> Result<Map<String, Value>> {
    let file = folder.join(METADATA);
    match std::fs::metadata(&file) {
        Ok(facts) if !facts.is_file() => return Err(Error::content(&file, "not a regular file")),
        Ok(facts) if facts.len() > MOST => {
            return Err(Error::content(&file, format!("{} bytes of metadata are more than {MOST}", facts.len())));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let old = [".zarray", ".zgroup"].iter().any(|name| folder.join(name).exists());
            let what =
                if old { "Zarr of version 2, and only version 3 is read" } else { "a folder without a zarr.json" };
            let inner = folder.strip_prefix(path).unwrap_or(folder).display().to_string();
            let what = if inner.is_empty() { what.into() } else { format!("dataset '{inner}': {what}") };
            return Err(Error::content(path, what));
        }
        Err(error) => return Err(Error::read(&file, error)),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let read = File::open(&file).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    read.map_err(|error| Error::read(&file, error))?;
    let object: Map<String, Value> = serde_json::from_slice(&bytes)
        .map_err(|error| Error::content(&file, format!("its JSON cannot be read: {error}")))?;
    match object.get("zarr_format") {
        Some(version) if version == 3 => Ok(object),
        Some(version) => Err(Error::content(path, format!("Zarr of version {version}, and only version 3 is read"))),
        None => Err(Error::content(path, "its zarr.json has no zarr_format")),
    }
}

fn node_type(object: &Map<String, Value>) -> &str {
    object.get("node_type").and_then(Value::as_str).unwrap_or("")
}

/// Returns the first OME-Zarr image of a group's attributes, which versions before 0.5 have at their top.
fn multiscale(attributes: &Map<String, Value>) -> Option<&Value> {
    let images = attributes.get("ome").and_then(|ome| ome.get("multiscales")).or(attributes.get("multiscales"));
    images?.get(0).filter(|image| image.is_object())
}

/// Makes the error for a group that is no image, with what it has.
fn no_image(path: &Path, attributes: &Map<String, Value>) -> Error {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let members = entries.filter(|entry| entry.path().join(METADATA).is_file());
    let mut members: Vec<String> = members.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    members.sort();
    let more = members.len().saturating_sub(8);
    members.truncate(8);
    let listed = |names: &[String]| if names.is_empty() { "none".into() } else { names.join(", ") };
    let keys: Vec<String> = attributes.keys().take(8).cloned().collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = format!(
        "a Zarr group without OME-Zarr's multiscales, and so no image; its members: {}{more}; its attributes: {}",
        listed(&members),
        listed(&keys),
    );
    Error::content(path, what)
}
