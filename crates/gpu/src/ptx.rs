//! PTX text, the part of it that one kernel needs, and machine code beside it.

use apron_abi::Family;
use std::borrow::Cow;

/// PTX text for one family and the lowest architecture that it runs on.
#[derive(Clone, Copy, Debug)]
pub struct Ptx {
    /// The family whose entries it holds.
    pub family: Family,
    /// Compute capability times ten: 75 for sm_75.
    pub target: u32,
    /// The text.
    pub text: &'static str,
    /// What ptxas makes of all of it for just this architecture, if it was kept: it loads in milliseconds.
    pub machine_code: Option<&'static [u8]>,
}

impl Ptx {
    /// The text with one entry alone, since the driver compiles all that it is given: 28 kernels of
    /// a family take it over a second. All of the text where it is not laid out as LLVM does.
    pub(crate) fn of_entry(&self, entry: &str) -> Cow<'static, str> {
        let only = only(self.text, entry);
        only.map_or(Cow::Borrowed(self.text), Cow::Owned)
    }
}

/// What stands before the first function, and the entry: its lines up to the brace that closes it.
/// No entry calls a function; the PTX check sees to that.
fn only(text: &str, entry: &str) -> Option<String> {
    let is_function = |line: &&str| line.starts_with('.') && (line.contains(".entry ") || line.contains(".func "));
    let start = format!(".visible .entry {entry}(");
    let header = text.lines().take_while(|line| !is_function(line));
    let body = text.lines().skip_while(|line| !line.starts_with(&start));
    let end = body.clone().position(|line| line == "}")?;
    Some(header.chain(body.take(end + 1)).flat_map(|line| [line, "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_abi::Kernel;

    const FILES: [(Family, &str); 12] = [
        (Family::Boxes, include_str!("../../../kernels-gpu/ptx/box.sm_90.ptx")),
        (Family::Conv1d, include_str!("../../../kernels-gpu/ptx/conv1d.sm_90.ptx")),
        (Family::Conv2d, include_str!("../../../kernels-gpu/ptx/conv2d.sm_90.ptx")),
        (Family::March, include_str!("../../../kernels-gpu/ptx/march.sm_90.ptx")),
        (Family::Patch, include_str!("../../../kernels-gpu/ptx/patch.sm_90.ptx")),
        (Family::Words, include_str!("../../../kernels-gpu/ptx/words.sm_90.ptx")),
        (Family::Rgba, include_str!("../../../kernels-gpu/ptx/rgba.sm_90.ptx")),
        (Family::Histogram, include_str!("../../../kernels-gpu/ptx/histogram.sm_90.ptx")),
        (Family::Limits, include_str!("../../../kernels-gpu/ptx/limits.sm_90.ptx")),
        (Family::Pointwise, include_str!("../../../kernels-gpu/ptx/pointwise.sm_90.ptx")),
        (Family::Local, include_str!("../../../kernels-gpu/ptx/local.sm_90.ptx")),
        (Family::Lookup, include_str!("../../../kernels-gpu/ptx/lookup.sm_90.ptx")),
    ];

    #[test]
    fn every_kernel_has_its_part() {
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            let (_, text) = FILES.iter().find(|(family, _)| *family == facts.family).unwrap();
            let part = only(text, facts.entry).unwrap();
            assert!(part.starts_with("// rustc") && part.contains("\n.version 8.1\n.target sm_90\n"), "{part}");
            assert_eq!(part.matches(".entry ").count(), 1, "{}", facts.entry);
            assert!(part.contains(&format!(".visible .entry {}(", facts.entry)));
            assert!(part.len() < text.len() && !part.contains(".func "), "{}", facts.entry);
            // What the entry names is declared before it.
            for name in ["apron_shared", "apron_taps"] {
                let declared = part.find(name);
                let used = part.rfind(name);
                assert!(declared == used || declared < part.find(".entry "), "{}: {name}", facts.entry);
            }
        }
    }

    #[test]
    fn text_of_another_layout_stays_whole() {
        let ptx =
            Ptx { family: Family::Rgba, target: 75, text: ".version 8.1\n.entry a() { ret; }\n", machine_code: None };
        for entry in ["a", "b"] {
            assert!(matches!(ptx.of_entry(entry), Cow::Borrowed(text) if text == ptx.text));
        }
        assert_eq!(only(".visible .entry a(\n)\n{\n\tret;\n", "a"), None);
    }
}
