//! Runs the command line in a new folder, and makes its files.
#![allow(dead_code)] // each test file uses a part

use image::{ExtendedColorType, ImageEncoder};
use npyz::WriterBuilder;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Returns the program: the one that cargo built, or `APRON_PROGRAM` on machines without cargo.
pub(crate) fn program() -> std::ffi::OsString {
    std::env::var_os("APRON_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_apron").into())
}

/// A temporary folder.
pub(crate) struct Folder(tempfile::TempDir);

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Exit code; -1 if a signal ended the program.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Folder {
    /// Makes an empty folder.
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    /// Runs `apron` in the folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.run_with(&[], arguments)
    }

    /// Runs `apron` in the folder, with additional environment variables.
    pub(crate) fn run_with(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Ended {
        let mut command = Command::new(program());
        command.env_remove("APRON_VARIANT").env_remove("APRON_LOG").envs(environment.iter().copied());
        self.ended(command.args(arguments))
    }

    /// Runs `apron` in the folder, with its address space limited to `kib` KiB.
    pub(crate) fn run_within(&self, kib: u32, arguments: &[&str]) -> Ended {
        let mut command = Command::new("sh");
        command.env_remove("APRON_VARIANT").env_remove("APRON_LOG");
        command.args(["-c", &format!("ulimit -v {kib}; exec \"$0\" \"$@\"")]).arg(program()).args(arguments);
        self.ended(&mut command)
    }

    /// Runs `apron` in the folder, with its files limited to `blocks` blocks of 512 or 1024 bytes.
    pub(crate) fn run_small(&self, blocks: u32, arguments: &[&str]) -> Ended {
        let mut command = Command::new("sh");
        command.env_remove("APRON_VARIANT").env_remove("APRON_LOG");
        // The signal would end the program; without it writing is an error.
        command.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
        self.ended(command.arg(program()).args(arguments))
    }

    /// Starts a slow job that can be resumed, and kills it when it has noted rows of its output.
    pub(crate) fn killed(&self, output: &str, arguments: &[&str]) {
        let mut job = Command::new(program());
        let mut job = job.args(arguments).current_dir(self.0.path()).stderr(Stdio::null()).spawn().unwrap();
        let start = std::time::Instant::now();
        loop {
            let note = fs::read_to_string(self.path(&format!("{output}.partial.json"))).unwrap_or_default();
            let rows = note.split("\"rows\":").nth(1).and_then(|rows| rows.trim_end_matches('}').parse::<u32>().ok());
            if rows.is_some_and(|rows| rows > 0) {
                break;
            }
            assert!(start.elapsed().as_secs() < 60 && job.try_wait().unwrap().is_none(), "{note}");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        job.kill().unwrap();
        job.wait().unwrap();
    }

    /// Runs `apron` in the folder with a file as its standard input; its output is binary.
    pub(crate) fn filter(&self, input: &str, arguments: &[&str]) -> Output {
        let input = fs::File::open(self.path(input)).unwrap();
        Command::new(program()).args(arguments).current_dir(self.0.path()).stdin(input).output().unwrap()
    }

    fn ended(&self, command: &mut Command) -> Ended {
        let Output { status, stdout, stderr } =
            command.current_dir(self.0.path()).stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ended { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Runs `apron` on the CPU, and asserts success.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Ended {
        let ended = self.run(&[arguments, &["--device", "cpu"]].concat());
        assert_eq!(ended.code, 0, "{arguments:?}: {ended:?}");
        ended
    }

    /// Runs `apron`, and asserts that it fails with this code and a single line that contains `part`.
    pub(crate) fn fails(&self, code: i32, part: &str, arguments: &[&str]) {
        let ended = self.run(arguments);
        assert_eq!(ended.code, code, "{arguments:?}: {ended:?}");
        assert!(ended.stderr.starts_with("apron: ") && ended.stderr.trim_end().lines().count() == 1, "{ended:?}");
        assert!(ended.stderr.contains(part), "{arguments:?}: no '{part}' in {ended:?}");
    }

    /// Writes raw bytes.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Writes an array.
    pub(crate) fn array<T: npyz::Serialize + npyz::AutoSerialize + Copy>(
        &self,
        name: &str,
        shape: &[u64],
        items: &[T],
    ) {
        let file = fs::File::create(self.path(name)).unwrap();
        let mut writer = npyz::WriteOptions::new().default_dtype().shape(shape).writer(file).begin_nd().unwrap();
        writer.extend(items.iter().copied()).unwrap();
        writer.finish().unwrap();
    }

    /// Reads an array, and returns its shape and its items.
    pub(crate) fn read<T: npyz::Deserialize>(&self, name: &str) -> (Vec<u64>, Vec<T>) {
        let bytes = fs::read(self.path(name)).unwrap();
        let array = npyz::NpyFile::new(&bytes[..]).unwrap();
        (array.shape().to_vec(), array.into_vec().unwrap())
    }

    /// Writes a PNG of u8 samples with 1 to 4 channels.
    pub(crate) fn png(&self, name: &str, width: u32, height: u32, bytes: &[u8]) {
        let colour = match bytes.len() as u32 / (width * height) {
            1 => ExtendedColorType::L8,
            2 => ExtendedColorType::La8,
            3 => ExtendedColorType::Rgb8,
            _ => ExtendedColorType::Rgba8,
        };
        let file = fs::File::create(self.path(name)).unwrap();
        image::codecs::png::PngEncoder::new(file).write_image(bytes, width, height, colour).unwrap();
    }

    /// Returns the sorted names in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Options of a filter that does not change samples.
pub(crate) const IDENTITY: &[&str] = &["--mask", "identity", "--device", "cpu"];

/// Reads a file, and writes its samples to another.
pub(crate) fn copy(folder: &Folder, from: &str, to: &str) {
    folder.ok(&["correlate", from, to, "--mask", "identity"]);
}

/// Decodes a picture of any format.
pub(crate) fn decode(path: &Path) -> image::DynamicImage {
    image::ImageReader::open(path).unwrap().with_guessed_format().unwrap().decode().unwrap()
}

/// Builds a `.npy` file from a header and data.
pub(crate) fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// Builds the header of an array in C order.
pub(crate) fn header(descr: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")
}

/// Placeholder for the offset of the page's data in a tag's value.
pub(crate) const DATA: u32 = 1 << 24;

/// Number, type, count, and value or offset of the values.
pub(crate) type Tag = (u16, u16, u32, u32);

/// Builds a TIFF file of pages, each with tags and the values that do not fit into a tag.
pub(crate) fn tiff(pages: &[(&[Tag], &[u8])]) -> Vec<u8> {
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    for (index, (tags, data)) in pages.iter().enumerate() {
        let data_at = file.len() as u32 + 2 + 12 * tags.len() as u32 + 4;
        file.extend((tags.len() as u16).to_le_bytes());
        for (tag, kind, count, value) in *tags {
            let value = if *value >= DATA { data_at + value - DATA } else { *value };
            file.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
            file.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
        }
        let next = if index + 1 < pages.len() { data_at + data.len() as u32 } else { 0 };
        file.extend(next.to_le_bytes());
        file.extend(*data);
    }
    file
}
