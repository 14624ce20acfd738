//! The README's table of what runs where is what the probes find.

use apron::Device;
use apron_testkit::{features, gpu_or_skip};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const START: &str = "<!-- features: made by APRON_UPDATE=1 cargo test --test features -->\n";
const END: &str = "<!-- /features -->";

#[test]
fn the_readme_says_what_devices_have() {
    // One plan decides for both that run kernels, and the references are as plain as the CPU is fast.
    let kernels: Vec<Device> = [Device::emulator()].into_iter().chain(gpu_or_skip("features")).collect();
    let hosts = [Device::cpu(), Device::reference()];
    let table = features::table(&[("GPU and emulator", &kernels), ("CPU and reference", &hosts)]).unwrap();
    let readme = std::fs::read_to_string(README).unwrap();
    let (before, rest) = readme.split_once(START).expect("the README has the table's start");
    let (written, after) = rest.split_once(END).expect("the README has the table's end");
    if std::env::var("APRON_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(README, format!("{before}{START}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(written, table, "run it with APRON_UPDATE=1, and look at what changed");
}
