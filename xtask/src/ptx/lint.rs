//! Checks of PTX files that do not depend on the compiler.

use super::Failure;
use super::text::{Module, Parameter, Statement};

/// The PTX version of all files: kernel parameters of more than 4 KB, driver 530 and later.
pub(super) const VERSION: &str = "8.1";

/// The kernel table's facts about an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) entry: &'static str,
    /// Barriers for targets before sm_90, and from it on.
    pub(super) barriers: [u32; 2],
    /// Threads per block.
    pub(super) threads: u32,
    /// Resident blocks per multiprocessor.
    pub(super) residents: u32,
}

/// Checks a file for `target`, which must have exactly the entries `expected`.
pub(super) fn lint(file: &str, module: &Module, target: &str, expected: &[Expected]) -> Vec<Failure> {
    let mut failures = Vec::new();
    let mut fail = |entry: &str, found: String, expected: String| {
        failures.push(Failure { file: file.into(), entry: entry.into(), found, expected });
    };
    if module.version != VERSION {
        fail("", format!(".version {}", module.version), format!(".version {VERSION}"));
    }
    if module.target != target {
        fail("", format!(".target {}", module.target), format!(".target {target}"));
    }
    for Expected { entry, barriers, threads, .. } in expected {
        if !module.entries.contains_key(*entry) {
            fail(entry, "no such entry".into(), "an entry, as the kernel table says".into());
            continue;
        }
        let barriers = barriers[usize::from(super::number(target) >= 90)];
        if module.barriers(entry) != barriers {
            let found = format!("{} barriers", module.barriers(entry));
            fail(entry, found, format!("{barriers}, as the kernel table says"));
        }
        if module.most_threads(entry) != Some(*threads) {
            let found = module.most_threads(entry).map_or("none".into(), |threads| threads.to_string());
            fail(entry, format!(".maxntid {found}"), format!("{threads}, as the kernel table says"));
        }
    }
    for entry in module.entries.keys() {
        if !expected.iter().any(|expected| expected.entry == entry) {
            fail(entry, "an entry".into(), "none: the kernel table has it not in this family".into());
        }
    }
    for statement in &module.statements {
        for expected in faults(statement) {
            fail(&statement.function, format!("`{}` in line {}", statement.text, statement.line), expected.to_string());
        }
    }
    failures
}

/// Returns the rules that a statement violates, each phrased as the expectation.
fn faults(statement: &Statement) -> Vec<&'static str> {
    let opcode = statement.opcode();
    let parts: Vec<&str> = opcode.split('.').collect();
    let has = |part: &str| parts.contains(&part);
    let words: Vec<&str> = statement.text.split_whitespace().collect();
    let mut faults = Vec::new();
    if words.contains(&".local") || has("local") || statement.text.contains("__local_depot") {
        faults.push("no local memory: it is slow, and lies where a register should be");
    }
    if parts[0] == "call" {
        faults.push("no call: everything is inlined");
    }
    if words.contains(&".extern") && words.contains(&".func") {
        faults.push("no external function: nothing links one");
    }
    if statement.text.contains("nounroll") {
        faults.push("no nounroll pragma");
    }
    // The `[...]` operand of these instructions is an address, whose state space must be explicit.
    if ["ld", "ldu", "st", "atom", "red"].contains(&parts[0]) {
        let spaces = ["global", "shared", "param", "const", "local", "shared::cta", "shared::cluster"];
        if !parts.iter().any(|part| spaces.contains(part)) {
            faults.push("a state space in the instruction, not generic addressing");
        }
    }
    if ["cvta", "isspacep"].contains(&parts[0]) {
        faults.push("no generic addresses");
    }
    // The approximate square root promises nothing for subnormal numbers, and its callers check the result.
    if has("ftz") && !parts.starts_with(&["sqrt", "approx"]) {
        faults.push("no flush of subnormal numbers to zero");
    }
    if ["atom", "red"].contains(&parts[0])
        && parts.iter().any(|part| ["f16", "f32", "f64", "f16x2", "bf16"].contains(part))
    {
        faults.push("no atomic sum of floats: its bits would vary from run to run");
    }
    if [".file", ".loc", ".section"].contains(&opcode) {
        faults.push("no debug information: it holds the building machine's paths");
    }
    faults
}

/// Compares two files by the properties that must not depend on the compiler.
pub(super) fn compare(file: &str, committed: &Module, rebuilt: &Module) -> Vec<Failure> {
    let mut failures = Vec::new();
    let mut fail = |entry: &str, found: String, expected: String| {
        failures.push(Failure { file: file.into(), entry: entry.into(), found, expected });
    };
    for entry in committed.entries.keys().filter(|&entry| !rebuilt.entries.contains_key(entry)) {
        fail(entry, "an entry".into(), "none, as rebuilt".into());
    }
    for (entry, parameters) in &rebuilt.entries {
        let Some(found) = committed.entries.get(entry) else {
            fail(entry, "no such entry".into(), "an entry, as rebuilt".into());
            continue;
        };
        if found != parameters {
            fail(entry, list(found), format!("{}, as rebuilt", list(parameters)));
        }
        let (found, expected) = (committed.barriers(entry), rebuilt.barriers(entry));
        if found != expected {
            fail(entry, format!("{found} barriers"), format!("{expected}, as rebuilt"));
        }
    }
    failures
}

fn list(parameters: &[Parameter]) -> String {
    let texts: Vec<String> = parameters
        .iter()
        .map(|parameter| format!("{}x{} B align {}", parameter.count, parameter.element_bytes, parameter.align))
        .collect();
    format!("parameters ({})", texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::text::tests::GOOD;
    use super::*;

    const TABLE: &[Expected] = &[
        Expected { entry: "one", barriers: [1; 2], threads: 256, residents: 1 },
        Expected { entry: "two", barriers: [0; 2], threads: 32, residents: 1 },
    ];

    fn failures(text: &str) -> Vec<Failure> {
        lint("x.sm_90.ptx", &Module::parse(text), "sm_90", TABLE)
    }

    #[test]
    fn a_good_file_passes() {
        assert_eq!(failures(GOOD), []);
    }

    /// Inserts `fault` into entry `two`, and expects one failure that names it.
    #[track_caller]
    fn planted(fault: &str, expected: &str) {
        let found = failures(&GOOD.replace("{ ret; }", &format!("{{\n\t{fault}\n\tret;\n}}")));
        assert_eq!(found.len(), 1, "{fault}: {found:?}");
        assert_eq!(found[0].entry, "two", "{fault}");
        let shown = found[0].to_string();
        assert!(shown.contains(expected) && shown.contains("x.sm_90.ptx"), "{fault}: {shown}");
    }

    #[test]
    fn statements_that_may_not_be() {
        planted(".local .align 4 .b8 \t__local_depot1[16];", "local memory");
        planted("ld.local.u32 %r1, [%rd1];", "local memory");
        planted("mov.b64 \t%SPL, __local_depot1;", "local memory");
        planted("call.uni (retval0), dead, (param0);", "no call");
        planted("@%p1 call dead;", "no call");
        planted(".pragma \"nounroll\";", "nounroll");
        planted("cvta.to.global.u64 %rd1, %rd2;", "no generic addresses");
        planted("isspacep.shared %p1, %rd1;", "no generic addresses");
        planted("fma.rn.ftz.f32 %f1, %f2, %f3, %f4;", "subnormal");
        planted("sqrt.rn.ftz.f32 %f1, %f2;", "subnormal");
        planted("red.global.add.f32 [%rd1], %f1;", "atomic sum");
        planted("atom.shared::cta.add.f64 %fd1, [%r2], %fd2;", "atomic sum");
        planted(".loc 1 2 3", "debug information");
    }

    #[test]
    fn generic_accesses() {
        for access in ["ld.u32 %r1, [%rd1];", "ld.volatile.f32 %f1, [%rd1];", "@!%p2 st.v4.f32 [%rd1], {%f1, %f2};"] {
            planted(access, "state space");
        }
        planted("atom.add.u32 %r1, [%rd1], 1;", "state space");
        planted("red.relaxed.gpu.add.u32 [%rd1], 1;", "state space");
        let good = "ld.const.f32 %f1, [m]; atom.shared::cta.add.u32 %r1, [%r2], 1; redux.sync.add.s32 %r1, %r2, %r3;";
        assert_eq!(failures(&GOOD.replace("{ ret; }", &format!("{{ {good} ret; }}"))), []);
    }

    #[test]
    fn external_functions() {
        let text = GOOD.replace(".visible .func dead", ".extern .func memcpy(.param .b64 a);\n.visible .func dead");
        assert!(failures(&text)[0].to_string().contains("external function"));
    }

    #[test]
    fn version_and_target() {
        assert!(failures(&GOOD.replace(".version 8.1", ".version 6.0"))[0].to_string().contains(".version 6.0"));
        assert!(failures(&GOOD.replace(".target sm_90", ".target sm_75"))[0].to_string().contains(".target sm_75"));
    }

    #[test]
    fn entries_and_barriers_of_the_table() {
        // Renamed: one entry is unknown, and one is missing.
        let found = failures(&GOOD.replace(".entry two", ".entry three"));
        assert_eq!(found.iter().map(|failure| failure.entry.as_str()).collect::<Vec<_>>(), ["two", "three"]);
        planted("bar.sync 0;", "1 barriers");
        let found = failures(&GOOD.replace("bar.sync", "bar.arrive"));
        assert!(found[0].to_string().contains("0 barriers"), "{found:?}");
        let found = failures(&GOOD.replace(".maxntid 32\n", ""));
        assert!(found[0].to_string().contains(".maxntid none; expected 32"), "{found:?}");
    }

    #[test]
    fn another_compiler_may_change_code_but_no_interface() {
        let committed = Module::parse(GOOD);
        let differences = |text: &str| compare("x", &committed, &Module::parse(text));
        assert_eq!(
            differences(&GOOD.replace("ld.global.nc.u32", "ld.global.u32").replace(".u64 .ptr", ".b64 .ptr")),
            []
        );
        assert_eq!(differences(&GOOD.replace("[48]", "[56]"))[0].entry, "one");
        assert_eq!(differences(&GOOD.replace(".align 8 .b8", ".align 4 .b8"))[0].entry, "one");
        assert_eq!(differences(&GOOD.replace(".u32 two", ".u64 two"))[0].entry, "two");
        assert_eq!(differences(&GOOD.replace("bar.sync", "bar.arrive"))[0].entry, "one");
        assert_eq!(differences(&GOOD.replace(".entry two", ".entry three")).len(), 2);
    }
}
