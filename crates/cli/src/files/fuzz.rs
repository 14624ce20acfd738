//! Hostile files: random mutations of good ones go through the readers, which refuse them or read them, within the
//! limits, and without a panic of their own. `cargo xtask fuzz --seconds 60` does so for a minute.

use super::{array, decode, mask_of, picture, read_numbers};
use crate::error::Error;
use apron::{AnyImage, Border, Mask, PixelType, Shape};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

/// Largest image that is read, in pixels.
const MAX_PIXELS: u64 = 1 << 14;
/// Far above what any of these files takes, and far below what a loop that does not end takes.
const LONGEST: Duration = Duration::from_secs(20);
/// Bytes at which parsers branch.
const BYTES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b','];
/// What the mutants of literals are made of.
const LITERALS: [&str; 6] =
    ["1 2 1; 2 4 2; 1 2 1", "-1,0 1e-3;\t.5 -inf 3", "constant:-3.5", "gaussian", "1e39", "5x3"];

#[test]
fn a_thousand_mutants() {
    Fuzzer::new(rand::random()).run(|done, _| done < 1000);
}

#[test]
#[ignore = "takes APRON_FUZZ_SECONDS seconds: cargo xtask fuzz"]
fn mutants_for_some_time() {
    let seconds = std::env::var("APRON_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(60);
    let seed = std::env::var("APRON_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(rand::random);
    Fuzzer::new(seed).run(|_, took| took.as_secs() < seconds);
}

struct Fuzzer {
    seed: u64,
    rng: StdRng,
    /// Good files, and mutants that were read all the same.
    corpus: Vec<Vec<u8>>,
}

impl Fuzzer {
    fn new(seed: u64) -> Fuzzer {
        Fuzzer { seed, rng: StdRng::seed_from_u64(seed), corpus: good_files() }
    }

    fn run(mut self, go_on: impl Fn(u64, Duration) -> bool) {
        println!("seed {}", self.seed);
        let (start, good) = (Instant::now(), self.corpus.len());
        let (mut done, mut read) = (0, 0);
        while go_on(done, start.elapsed()) {
            let mutant = self.mutant();
            let before = Instant::now();
            let taken = self.image(&mutant, done) | self.numbers(&mutant, done);
            assert!(before.elapsed() < LONGEST, "seed {}, mutant {done} took {:?}", self.seed, before.elapsed());
            self.literal();
            read += u64::from(taken);
            // From which further mutants come, as long as they are few and small.
            if taken && self.corpus.len() < 4 * good && mutant.len() < 1 << 16 {
                self.corpus.push(mutant);
            }
            done += 1;
        }
        println!("{done} mutants of {good} files, {read} of them read, in {:.1} s", start.elapsed().as_secs_f64());
    }

    /// A file of the corpus after some changes.
    fn mutant(&mut self) -> Vec<u8> {
        let mut bytes = self.corpus[self.rng.random_range(0..self.corpus.len())].clone();
        for _ in 0..self.rng.random_range(1..6) {
            let at = self.rng.random_range(0..=bytes.len());
            let end = (at + self.rng.random_range(0..20)).min(bytes.len());
            match self.rng.random_range(0..7) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => bytes.splice(at..at, bytes[at..end].to_vec()).for_each(drop),
                3 => {
                    let other = &self.corpus[self.rng.random_range(0..self.corpus.len())];
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[at.min(other.len())..]);
                }
                // Most decide in the header.
                4 if at < end => bytes[at % 64.min(end)] = BYTES[self.rng.random_range(0..BYTES.len())],
                5 if at < end => bytes[at..end].fill(BYTES[self.rng.random_range(0..BYTES.len())]),
                _ if at < end => bytes[at] ^= 1 << self.rng.random_range(0..8),
                _ => {}
            }
        }
        if self.rng.random() {
            with_checksums(&mut bytes);
        }
        bytes
    }

    /// Reads the mutant as an image; whether it is one. One that is comes back from the file that it is written to.
    fn image(&self, mutant: &[u8], number: u64) -> bool {
        let (path, seed) = (Path::new("mutant"), self.seed);
        match decode(path, Cursor::new(mutant), MAX_PIXELS) {
            Ok(image) => {
                assert!(image.shape().pixels() <= MAX_PIXELS, "seed {seed}, mutant {number}: {}", image.shape());
                let again = decode(path, Cursor::new(as_array(&image)), MAX_PIXELS).unwrap();
                assert!(
                    again.bytes() == image.bytes() && again.shape() == image.shape(),
                    "seed {seed}, mutant {number}"
                );
                true
            }
            Err(error) => {
                // Decoders of pictures are other people's, and their panics are caught; none is ours.
                let ours = mutant.starts_with(array::MAGIC) && error.line().contains("gave up");
                assert!(error.exit() == 3 && !ours, "seed {seed}, mutant {number}: {error}");
                false
            }
        }
    }

    /// Reads the mutant as a mask; whether it is one.
    fn numbers(&self, mutant: &[u8], number: u64) -> bool {
        let path = Path::new("mutant");
        let mask = read_numbers(path, Cursor::new(mutant)).and_then(|numbers| mask_of(path, numbers));
        let wrong = mask.as_ref().err().map(Error::exit);
        assert!(matches!(wrong, None | Some(3)), "seed {}, mutant {number}: {mask:?}", self.seed);
        wrong.is_none()
    }

    /// Parses a mutant of the literals in every way there is.
    fn literal(&mut self) {
        let mut letters: Vec<char> = LITERALS[self.rng.random_range(0..LITERALS.len())].chars().collect();
        let alphabet: Vec<char> = LITERALS.concat().chars().chain(['|', '"', '\'', '=', 'ß', '\u{0}']).collect();
        for _ in 0..self.rng.random_range(0..8) {
            let (at, letter) = (self.rng.random_range(0..=letters.len()), self.rng.random_range(0..alphabet.len()));
            match self.rng.random_range(0..3) {
                0 => letters.insert(at, alphabet[letter]),
                1 if at < letters.len() => drop(letters.remove(at)),
                _ => letters.truncate(at.max(1)),
            }
        }
        let text: String = letters.into_iter().collect();
        // What is parsed is what was written: from its own taps comes the same mask.
        if let Ok(mask) = text.parse::<Mask>() {
            let rows = mask.taps().chunks(mask.width() as usize);
            let rows: Vec<String> = rows.map(|row| row.iter().map(|tap| format!("{tap} ")).collect()).collect();
            assert_eq!(rows.join(";").parse::<Mask>().unwrap(), mask, "'{text}'");
        }
        if let Ok(border) = text.parse::<Border>() {
            assert_eq!(border.to_string().parse::<Border>().unwrap(), border, "'{text}'");
        }
        let _ = crate::args::mask(&text, true);
        let _ = crate::args::taps(&text, true);
        let _ = crate::verbs::pipe::words(&text);
    }
}

/// Small files of every format, sample type and number of channels.
fn good_files() -> Vec<Vec<u8>> {
    let mut files = vec![b"\x93NUMPY\x01\x00".to_vec(), b"P5 3 2 255\n123456".to_vec(), Vec::new()];
    for (descr, shape, order, size) in [
        ("<f8", "(2, 3)", "True", 48),
        (">i2", "(2, 2, 2)", "True", 16),
        ("|i1", "(5,)", "False", 5),
        ("<u8", "(1, 2)", "False", 16),
    ] {
        let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
        file.extend(format!("{header:<117}\n").bytes().chain((0..size).map(|byte| byte * 3)));
        files.push(file);
    }
    for pixel in PixelType::ALL {
        for channels in 1..=4 {
            let shape = Shape::new(5, 4, channels).unwrap();
            let image = AnyImage::from_bytes(pixel, shape, |bytes| {
                bytes.iter_mut().zip(0..).for_each(|(byte, i)| *byte = (i * 37 % 63) as u8);
                Ok(())
            });
            let image = image.unwrap();
            files.push(as_array(&image));
            for extension in picture::EXTENSIONS.split(", ") {
                let format = picture::Format::of_extension(extension).unwrap();
                let mut file = Cursor::new(Vec::new());
                if format.check(pixel, Some(channels)).is_ok() {
                    picture::write(&mut file, format, &image).unwrap();
                    files.push(file.into_inner());
                }
            }
        }
    }
    files
}

fn as_array(image: &AnyImage<'_>) -> Vec<u8> {
    let mut file = Vec::new();
    array::write(&mut file, image).unwrap();
    file
}

/// Makes the checksums of a PNG's chunks right, without which nothing in them is looked at.
fn with_checksums(bytes: &mut [u8]) {
    let mut at = 8;
    while let Some(&[a, b, c, d]) = bytes.get(at..at + 4).filter(|_| bytes.starts_with(b"\x89PNG")) {
        let end = at + 8 + u32::from_be_bytes([a, b, c, d]) as usize;
        if end + 4 > bytes.len() {
            return;
        }
        let sum = !bytes[at + 4..end].iter().fold(!0u32, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
        });
        bytes[end..end + 4].copy_from_slice(&sum.to_be_bytes());
        at = end + 4;
    }
}

#[test]
fn the_good_files_are_good() {
    let read = |file: &Vec<u8>| decode(Path::new("good"), Cursor::new(file), MAX_PIXELS).is_ok();
    // But for the start of a header, nothing at all, and arrays of types and shapes that only masks have.
    assert_eq!(good_files().iter().filter(|file| !read(file)).count(), 5);
    let mut png = good_files().into_iter().find(|file| file.starts_with(b"\x89PNG")).unwrap();
    let whole = png.clone();
    png[29] ^= 1;
    assert!(!read(&png));
    with_checksums(&mut png);
    assert_eq!(png, whole);
}
