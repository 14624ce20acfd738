//! Memory that jobs may take.

use std::path::Path;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bytes(pub(crate) u64);

impl std::str::FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1u64,
            "kb" => 1000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            "t" | "tib" => 1 << 40,
            _ => return Err("must be a number of bytes with a unit, such as 2GiB, 500MB or 1000000".into()),
        };
        match number.parse::<f64>() {
            Ok(number) if number > 0.0 => Ok(Bytes((number * unit as f64) as u64)),
            _ => Err("must be a number above 0, such as 2GiB".into()),
        }
    }
}

/// Images and intermediate results of an operation on a whole image or volume, in sizes of its input.
pub(crate) const WHOLE: u64 = 4;

/// Checks that `--memory`, if it is given, suffices for an image of `bytes` that is taken whole because of `what`.
///
/// # Errors
/// If it does not.
pub(crate) fn check_whole(bytes: u64, asked: Option<Bytes>, what: &str) -> Result<(), apron::Error> {
    let needed = bytes.saturating_mul(WHOLE);
    match asked {
        Some(Bytes(memory)) if memory < needed => {
            let limit = format!("{needed} or more: with {what} the image is taken whole");
            Err(apron::Error::parameter("strips", "memory", memory, limit))
        }
        _ => Ok(()),
    }
}

/// The memory of a job by strips, of which the files have a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// All of it, in bytes.
    all: u64,
    /// What files hold decoded.
    held: u64,
    /// Whether the input holds more if there is more memory: up to a quarter of it, as `hold` of files is asked for.
    grows: bool,
}

impl Budget {
    pub(crate) fn new(all: u64, held: u64, grows: bool) -> Budget {
        Budget { all, held, grows }
    }

    /// Adds what another file holds.
    pub(crate) fn beside(self, held: u64) -> Budget {
        Budget { held: self.held.saturating_add(held), ..self }
    }

    /// Returns what is left for strips.
    pub(crate) fn left(&self) -> u64 {
        self.all.saturating_sub(self.held)
    }

    /// Turns an error about what is left into one about the whole: the value that was asked for, and a limit that is
    /// enough for strips and files.
    pub(crate) fn error(&self, error: apron::Error) -> apron::Error {
        let enough = |least: u64| {
            let short = least.saturating_add(self.held).saturating_sub(self.all);
            // Of what is added a file that grows takes a quarter.
            self.all.saturating_add(if self.grows { short.saturating_add(short.div_ceil(3) + 1) } else { short })
        };
        let why = if self.held == 0 { "" } else { " and what the files hold decoded" };
        restated(error, self.all, enough, why)
    }
}

/// Restates an error about too little memory: the value is `all`, and the limit what `enough` makes of the one that the
/// error has, with `why` behind it.
pub(crate) fn restated(error: apron::Error, all: u64, enough: impl Fn(u64) -> u64, why: &str) -> apron::Error {
    let apron::Error::Parameter { operation, parameter: "memory", value, limit } = error else { return error };
    let number = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (least, rest) = limit.split_at(number(&limit));
    match least.parse() {
        Ok(least) => {
            let unit = &value[number(&value)..];
            apron::Error::parameter(
                operation,
                "memory",
                format!("{all}{unit}"),
                format!("{}{rest}{why}", enough(least)),
            )
        }
        Err(_) => apron::Error::Parameter { operation, parameter: "memory", value, limit },
    }
}

/// Bytes that an image takes per pixel while it is decoded, filtered and encoded: up to four channels as read, as a
/// result and as f32 in between, and what encoders hold.
const BYTES_PER_PIXEL: u64 = 32;

/// Returns the number of images processed at a time: one per processor, or fewer, so that their memory, estimated from
/// the largest image, is at most half of what is available; or what was asked for, which images that are too large to be
/// taken whole beside others have one after the other.
pub(crate) fn images_at_once<'a>(images: impl Iterator<Item = &'a Path>, asked: Option<Bytes>) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let fit = match asked {
        Some(Bytes(memory)) => {
            let bytes = |path| apron_files::sample_bytes(path, &apron_files::ReadOptions::new(u64::MAX));
            memory / images.filter_map(bytes).max().unwrap_or(0).saturating_mul(WHOLE).max(1)
        }
        None => {
            let largest = images.filter_map(apron_files::pixels).max().unwrap_or(0);
            available() / 2 / (largest * BYTES_PER_PIXEL).max(1)
        }
    };
    processors.min(usize::try_from(fit).unwrap_or(usize::MAX)).max(1)
}

/// Returns the memory that this process may still take, in bytes: the least that the system, the control group and the
/// limit on the process leave.
pub(crate) fn available() -> u64 {
    let limits = [of_system(), of_group(), of_process()];
    limits.into_iter().flatten().min().unwrap_or(4 << 30)
}

/// Returns the bytes that a file such as `/proc/meminfo` lists under a name.
fn told(file: &str, name: &str) -> Option<u64> {
    let facts = std::fs::read_to_string(file).ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}

fn of_system() -> Option<u64> {
    told("/proc/meminfo", "MemAvailable:")
}

fn of_group() -> Option<u64> {
    let number = |name: &str| {
        let text = std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

/// Addresses that the allocator of glibc reserves for a thread, whether it uses them or not: they count, too.
const OF_THREAD: u64 = 64 << 20;

fn of_process() -> Option<u64> {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
        let taken = told("/proc/self/status", "VmSize:").unwrap_or(0);
        let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        // The allocator also works without the addresses of further threads; so an eighth is left in any case.
        Some(limit.saturating_sub(taken.saturating_add(threads.saturating_mul(OF_THREAD))).max(limit / 8))
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_images_are_fewer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, shape: &str| {
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
            bytes.extend((header.len() as u16).to_le_bytes());
            bytes.extend(header.as_bytes());
            std::fs::write(folder.path().join(name), bytes).unwrap();
            folder.path().join(name)
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let (small, large) = (write("a.npy", "(10, 20)"), write("b.npy", "(100000, 100000)"));
        assert_eq!(images_at_once([small.as_path()].into_iter(), None), processors);
        assert_eq!(images_at_once([small.as_path(), &large].into_iter(), None), 1);
        assert_eq!(images_at_once([Path::new("/no/such")].into_iter(), None), processors);
        // Within the memory that was asked for: 800 bytes for each image that is taken whole.
        let at_once = |memory| images_at_once([small.as_path()].into_iter(), Some(Bytes(memory)));
        assert_eq!((at_once(1 << 30), at_once(799), at_once(800), at_once(1599)), (processors, 1, 1, 1));
        assert_eq!(at_once(1600), processors.min(2));
    }
}
