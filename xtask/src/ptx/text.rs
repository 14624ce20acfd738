//! A line-based parser of PTX as LLVM prints it, for the checks.

use std::collections::BTreeMap;

/// A PTX file.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// The first line, if that is a comment: the compiler that made the file.
    pub(super) header: String,
    /// Argument of `.version`.
    pub(super) version: String,
    /// Argument of `.target`.
    pub(super) target: String,
    /// The entries by name, with their parameters.
    pub(super) entries: BTreeMap<String, Vec<Parameter>>,
    /// Every instruction and directive, in order.
    pub(super) statements: Vec<Statement>,
}

/// A parameter as a launch sees it: `u64` and `b64` are equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    /// Size of an element in bytes.
    pub(super) element_bytes: u32,
    /// Number of elements.
    pub(super) count: u32,
    /// Alignment in bytes.
    pub(super) align: u32,
}

/// An instruction or directive.
#[derive(Debug)]
pub(super) struct Statement {
    /// Line number, from 1.
    pub(super) line: usize,
    /// The entry or function that contains it; empty outside of functions.
    pub(super) function: String,
    /// Text of the statement, without label and predicate.
    pub(super) text: String,
}

impl Statement {
    /// Returns the first word, such as `ld.global.u32` or `.pragma`.
    pub(super) fn opcode(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or("")
    }
}

impl Module {
    /// Parses `text`.
    pub(super) fn parse(text: &str) -> Module {
        let mut module = Module::default();
        if let Some(first) = text.lines().next().filter(|line| line.starts_with("//")) {
            module.header = first.to_string();
        }
        let mut function = String::new();
        let mut parameters_of = None;
        let mut depth = 0_i32;
        for (index, raw) in text.lines().enumerate() {
            let line = raw.split("//").next().unwrap_or("");
            if depth == 0 {
                if let Some((name, is_entry)) = declared(line) {
                    function = name.to_string();
                    if is_entry {
                        module.entries.entry(function.clone()).or_default();
                        parameters_of = Some(function.clone());
                    }
                }
                if let Some(entry) = &parameters_of {
                    // The list may be on the entry's line or on the lines after it.
                    for part in line.split(['(', ',', ')']) {
                        if let Some(parameter) = parameter(part) {
                            module.entries.entry(entry.clone()).or_default().push(parameter);
                        }
                    }
                }
            }
            for part in line.split([';', '{', '}']) {
                let text = without_label_and_predicate(part);
                match text.split_once(char::is_whitespace) {
                    Some((".version", argument)) => module.version = argument.trim().to_string(),
                    Some((".target", argument)) => module.target = argument.trim().to_string(),
                    _ => {}
                }
                if !text.is_empty() {
                    let text = text.to_string();
                    module.statements.push(Statement { line: index + 1, function: function.clone(), text });
                }
            }
            if line.contains('{') {
                parameters_of = None;
            }
            let before = depth;
            depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
            if depth == 0 && (before > 0 || line.contains('}')) {
                function.clear();
            }
        }
        module
    }

    /// Counts the barriers in `entry`.
    pub(super) fn barriers(&self, entry: &str) -> u32 {
        let is_barrier = |statement: &&Statement| {
            statement.function == entry
                && ["bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync"]
                    .iter()
                    .any(|name| statement.opcode().starts_with(name))
        };
        self.statements.iter().filter(is_barrier).count() as u32
    }

    /// Returns the maximum number of threads per block that the entry declares.
    pub(super) fn most_threads(&self, entry: &str) -> Option<u32> {
        let said = |statement: &Statement| match statement.text.split_whitespace().collect::<Vec<_>>()[..] {
            [".maxntid", threads] if statement.function == entry => threads.parse().ok(),
            _ => None,
        };
        self.statements.iter().find_map(said)
    }
}

/// Returns the name of the entry or function that a line declares, and whether it is an entry.
fn declared(line: &str) -> Option<(&str, bool)> {
    let mut words = line.split_whitespace();
    let kind = words.find(|word| [".entry", ".func"].contains(word))?;
    // A function's result is in parentheses before its name.
    let mut name = words.next()?;
    if name.starts_with('(') {
        name = line.split_once(')')?.1.trim();
    }
    Some((name.split('(').next()?, kind == ".entry"))
}

fn parameter(text: &str) -> Option<Parameter> {
    let mut words = text.split_whitespace();
    if words.next() != Some(".param") {
        return None;
    }
    let (mut align, mut element_bytes, mut count) = (None, 0, 1);
    // `.ptr` and the words after it describe the memory to which the parameter points.
    let mut pointer = false;
    while let Some(word) = words.next() {
        match word {
            ".ptr" => pointer = true,
            ".align" => {
                let value = words.next()?.parse().ok()?;
                if !pointer {
                    align = Some(value);
                }
            }
            _ => {
                let bits = word.strip_prefix('.').map(|rest| rest.trim_start_matches(|c: char| c.is_alphabetic()));
                if let Some(bits) = bits.and_then(|bits| bits.parse::<u32>().ok()) {
                    element_bytes = bits / 8;
                } else if let Some((_, length)) = word.trim_end_matches(']').split_once('[') {
                    count = length.parse().ok()?;
                }
            }
        }
    }
    Some(Parameter { element_bytes, count, align: align.unwrap_or(element_bytes) })
}

fn without_label_and_predicate(text: &str) -> &str {
    let mut text = text.trim();
    while let Some((first, rest)) = text.split_once(char::is_whitespace) {
        if !first.starts_with('@') && !first.ends_with(':') {
            return text;
        }
        text = rest.trim_start();
    }
    if text.ends_with(':') { "" } else { text }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A valid file for sm_90: entry `one` with a barrier, entry `two` without.
    pub(in crate::ptx) const GOOD: &str = "\
// rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8, target sm_90; made by `cargo xtask ptx`
.version 8.1
.target sm_90
.address_size 64

.extern .shared .align 16 .b8 apron_shared[];

.visible .func dead(
	.param .b64 dead_param_0
)
.noreturn
{
	trap; exit;
}
.visible .entry one(
	.param .u64 .ptr .align 1 one_param_0,
	.param .align 8 .b8 one_param_1[48]
)
.maxntid 256
{
	.reg .pred 	%p<12>;
	ld.param.b64 	%rd1, [one_param_1+8];
$L__BB1_2:
	// begin inline asm
	ld.global.nc.u32 %r5, [%rd5];
	// end inline asm
	@%p1 bra 	$L__BB1_2;
	bar.sync 	0;
	st.shared.f32 [%r5], %f1;
	@!%p1 st.global.u32 [%rd5], %r5; red.shared.add.u32 [%r5], 1;
	ret;
}
.visible .entry two(.param .u32 two_param_0)
.maxntid 32
{ ret; }
";

    #[test]
    fn reads_version_target_entries_and_parameters() {
        let module = Module::parse(GOOD);
        assert_eq!((module.version.as_str(), module.target.as_str()), ("8.1", "sm_90"));
        assert!(module.header.starts_with("// rustc 1.96.0"));
        let names: Vec<&String> = module.entries.keys().collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(
            module.entries["one"],
            [Parameter { element_bytes: 8, count: 1, align: 8 }, Parameter { element_bytes: 1, count: 48, align: 8 }]
        );
        assert_eq!(module.entries["two"], [Parameter { element_bytes: 4, count: 1, align: 4 }]);
    }

    #[test]
    fn barriers_belong_to_their_entry() {
        let module = Module::parse(GOOD);
        assert_eq!((module.barriers("one"), module.barriers("two")), (1, 0));
        let module = Module::parse(&GOOD.replace("{ ret; }", "{ bar.sync 0; @%p1 barrier.sync 0; bar.warp.sync 1; }"));
        assert_eq!((module.barriers("one"), module.barriers("two")), (1, 2));
    }

    #[test]
    fn statements_lose_labels_predicates_and_comments() {
        let texts = |line: &str| -> Vec<String> {
            Module::parse(line).statements.into_iter().map(|statement| statement.text).collect()
        };
        assert_eq!(texts("$L: @!%p1 st.global.u32 [%rd1], %r1; ret; // call"), ["st.global.u32 [%rd1], %r1", "ret"]);
        assert_eq!(texts("$L__BB1_2:"), [""; 0]);
    }
}
