//! Where a verb's image comes from, and where its result goes.

use crate::error::{Error, Result};
use apron::DeviceImage;
use apron::volumes::DeviceVolume;
use apron_files::MadeFolder;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The images of a verb.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Files {
    /// The image: PNG, JPEG, TIFF, BMP, PNM, .npy or .zarr, or - for the standard input; of several, a folder, or a
    /// quoted pattern such as "*.png", each
    #[arg(value_name = "IN", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The result, in the format that its extension says; a folder, as DIR/, for results of the images' names; or -
    /// for the standard output
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format on the standard output, or in a folder instead of the images' own: png, tif, npy or another
    #[arg(long, value_name = "EXT", value_parser = crate::offers::formats(), hide_possible_values = true)]
    pub(crate) format: Option<String>,
}

/// Source and destination of a verb.
pub(crate) enum Place {
    /// Reads one file and writes another.
    Files {
        /// Path of the image.
        input: PathBuf,
        /// Path of the result.
        output: PathBuf,
        /// Format of a result that goes to the standard output, or to a file between steps.
        format: Option<String>,
    },
    /// A step of a pipe: replaces this image by its result.
    Pipe(DeviceImage),
    /// A step of a pipe of volumes: replaces this one by its result.
    Volume(DeviceVolume),
}

/// The files of a verb, expanded.
pub(crate) enum Asked {
    /// One image to one result.
    One(Place),
    /// Images and their results in a folder.
    Folder(Images),
}

/// Images and their results in a folder.
pub(crate) struct Images {
    pub(crate) pairs: Vec<(PathBuf, PathBuf)>,
    /// Images that were given more than once, and are taken once.
    pub(crate) repeated: BTreeSet<PathBuf>,
    /// Removed at the end if it was made and nothing came into it.
    _folder: MadeFolder,
}

impl Files {
    /// Whether more than one image is asked for, or could be.
    pub(crate) fn are_many(&self) -> bool {
        self.inputs.len() != 1
            || ends_as_folder(&self.output)
            || is_pattern(&self.inputs[0])
            || is_folder(&self.inputs[0])
    }

    /// Expands patterns, and creates the folder.
    pub(crate) fn asked(self) -> Result<Asked> {
        let folder = ends_as_folder(&self.output);
        match &self.inputs[..] {
            [_] if !self.are_many()
                && is_folder(&self.output)
                && apron_files::check_extension(&self.output).is_err() =>
            {
                let output = self.output.display();
                Err(Error::Usage(format!("'{output}' is a folder; results in it are written to '{output}/'")))
            }
            [input] if !self.are_many() => match (self.format, self.output.as_os_str() == "-") {
                (None, true) => Err(Error::Usage("OUT is -, the standard output, which needs --format".into())),
                (Some(_), false) => Err(Error::Usage(
                    "--format is for results in a folder, OUT as DIR/, or on the standard output, OUT as -".into(),
                )),
                (format, _) => Ok(Asked::One(Place::Files { input: input.clone(), output: self.output, format })),
            },
            _ if !folder && (!self.output.is_dir() || apron_files::is_zarr(&self.output)) => {
                let output = self.output.display();
                Err(Error::Usage(format!(
                    "several images need a folder, and '{output}' is none; a new one is '{output}/'"
                )))
            }
            inputs => Ok(Asked::Folder(in_folder(inputs, &self.output, self.format.as_deref())?)),
        }
    }
}

/// Whether a path ends with a separator, and so can only be a folder of images. A folder of the
/// format Zarr is one image.
fn ends_as_folder(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(std::path::is_separator) && apron_files::extension(path) != "zarr"
}

/// Whether a path is a pattern. A path that exists is not.
fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '[']) && !path.exists()
}

/// Whether a path is a folder of images.
fn is_folder(path: &Path) -> bool {
    path.is_dir() && !apron_files::is_zarr(path)
}

/// Checks that no table or plot, given by an option, would take the place of an image or of another output.
///
/// # Errors
/// If one would.
pub(crate) fn check_apart<'a>(
    outputs: &[(&str, Option<&'a Path>)],
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let mut taken: Vec<PathBuf> = inputs.into_iter().filter_map(real).collect();
    for (option, output) in outputs {
        let Some((output, of)) = output.and_then(|output| Some((output, real(output)?))) else { continue };
        if taken.contains(&of) {
            return Err(Error::Usage(format!("{option} {} would overwrite a file of this run", output.display())));
        }
        taken.push(of);
    }
    Ok(())
}

/// Pairs each image with its result in `folder`, which is created. No result may overwrite an image or another result.
fn in_folder(inputs: &[PathBuf], folder: &Path, format: Option<&str>) -> Result<Images> {
    if let Some(format) = format {
        apron_files::check_extension(&folder.join(format!("*.{}", format.trim_start_matches('.'))))?;
    }
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let mut results = BTreeMap::new();
    let (mut pairs, mut repeated) = (Vec::new(), BTreeSet::new());
    for input in resolved(inputs)? {
        let name = input.file_name().unwrap_or(OsStr::new(""));
        let mut output = folder.join(name);
        if let Some(format) = format {
            output.set_extension(format.trim_start_matches('.'));
        }
        match results.insert(output.clone(), input.clone()) {
            // Given twice, such as by its name and by a pattern.
            Some(other) if other == input || real(&other).is_some_and(|other| real(&input) == Some(other)) => {
                results.insert(output, other);
                repeated.insert(input);
                continue;
            }
            Some(other) => {
                let (other, input, output) = (other.display(), input.display(), output.display());
                return Err(Error::Usage(format!("{other} and {input} would both be written to {output}")));
            }
            None => {}
        }
        pairs.push((input, output));
    }
    let images: Vec<PathBuf> = pairs.iter().filter_map(|(input, _)| real(input)).collect();
    if let Some((_, output)) = pairs.iter().find(|(_, output)| real(output).is_some_and(|real| images.contains(&real)))
    {
        return Err(Error::Usage(format!("{} is one of the images, and would be overwritten", output.display())));
    }
    let folder = MadeFolder::new(folder).map_err(|error| Error::input(folder, error))?;
    Ok(Images { pairs, repeated, _folder: folder })
}

/// Expands patterns to the files that match, and folders to the images in them, sorted by name.
fn resolved(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for input in inputs {
        if is_folder(input) {
            let images = images_in(input).map_err(|error| Error::input(input, error))?;
            if images.is_empty() {
                return Err(Error::input(input, "no image is in this folder"));
            }
            paths.extend(images);
            continue;
        }
        if !is_pattern(input) {
            paths.push(input.clone());
            continue;
        }
        let before = paths.len();
        // As in shells, hidden files are matched only explicitly.
        let as_shells = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
        let matches = glob::glob_with(&input.to_string_lossy(), as_shells);
        let matches = matches.map_err(|error| Error::Usage(format!("pattern '{}': {error}", input.display())))?;
        for path in matches {
            let path = path.map_err(|error| Error::input(error.path(), error.error()))?;
            paths.extend((path.is_file() || apron_files::is_zarr(&path)).then_some(path));
        }
        if paths.len() == before {
            return Err(Error::input(input, "no file matches"));
        }
    }
    Ok(paths)
}

/// Returns the files in a folder with the extensions of images, except hidden ones, sorted by name.
fn images_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let paths: std::io::Result<Vec<PathBuf>> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let is_image = |path: &PathBuf| {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && apron_files::check_extension(path).is_ok() && !is_folder(path)
    };
    let mut images: Vec<PathBuf> = paths?.into_iter().filter(is_image).collect();
    images.sort();
    Ok(images)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(inputs: &[&str], output: &str, format: Option<&str>) -> Result<Asked> {
        let inputs = inputs.iter().map(PathBuf::from).collect();
        Files { inputs, output: output.into(), format: format.map(String::from) }.asked()
    }

    #[test]
    fn one_image_or_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("[b].png"), "").unwrap();
        std::fs::write(path("a.png"), "").unwrap();
        std::fs::write(path(".hidden.png"), "").unwrap();
        assert!(matches!(files(&["x.png"], "y.png", None), Ok(Asked::One(_))));
        // One image, though it is a folder.
        assert!(matches!(files(&["x.zarr/"], "y.zarr/", None), Ok(Asked::One(_))));
        // A name with the characters of a pattern that is the name of a file.
        assert!(matches!(files(&[&path("[b].png")], "y.png", None), Ok(Asked::One(_))));
        let Ok(Asked::Folder(asked)) = files(&[&path("*.png"), &path("a.png"), "x/c.jpg"], &path("new/"), Some(".tif"))
        else {
            panic!("a folder was asked for")
        };
        let names: Vec<String> = asked.pairs.iter().map(|(_, output)| output.display().to_string()).collect();
        assert_eq!(names, [path("new/[b].tif"), path("new/a.tif"), path("new/c.tif")]);
        assert_eq!(asked.repeated, BTreeSet::from([path("a.png").into()]));
        let spelt = [path("a.png"), path("./a.png"), path("new/../a.png")];
        let Ok(Asked::Folder(asked)) = files(&spelt.each_ref().map(String::as_str), &path("new/"), None) else {
            panic!("one image, spelt in three ways")
        };
        assert_eq!(asked.pairs, [(path("a.png").into(), path("new/a.png").into())]);
        assert_eq!(asked.repeated, spelt[1..].iter().map(PathBuf::from).collect());
        for (asked, part) in [
            (files(&["x.png"], "y.png", Some("tif")), "--format"),
            (files(&["x.png"], folder.path().to_str().unwrap(), None), "/'"),
            (files(&["x.png"], &path("other/"), Some("xyz")), "xyz"),
            (files(&["x.png", "z.png"], "y.png", None), "need a folder"),
            (files(&["x.png", "z.png"], "y.zarr/", None), "need a folder"),
            (files(&["x/a.png", "z/a.png"], &path(""), None), "would both be written"),
            (files(&[&path("*.jpg")], &path(""), None), "no file matches"),
            (files(&[&path("a**")], &path(""), None), "pattern"),
            (files(&[&path("*.png")], &path("new/.."), None), "overwritten"),
        ] {
            let Err(error) = asked else { panic!("{part}: taken") };
            assert!(error.line().contains(part), "{part}: {}", error.line());
        }
        assert!(!folder.path().join("other").exists());
    }
}
