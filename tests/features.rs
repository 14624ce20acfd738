//! The table in docs/features.md matches the results of the probes.

use apron::Device;
use apron_testkit::{features, gpu_or_skip};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/features.md");
const START: &str = "<!-- features: made by APRON_UPDATE=1 cargo test --test features -->\n";
const END: &str = "<!-- /features -->";

#[test]
fn the_page_says_what_devices_have() {
    // Both devices that run kernels share one plan, and the reference supports what the CPU supports.
    let kernels: Vec<Device> = [Device::emulator()].into_iter().chain(gpu_or_skip("features")).collect();
    let hosts = [Device::cpu(), Device::reference()];
    let table = features::table(&[("GPU and emulator", &kernels), ("CPU and reference", &hosts)]).unwrap();
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(START).expect("the page has the table's start");
    let (written, after) = rest.split_once(END).expect("the page has the table's end");
    if std::env::var("APRON_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(PAGE, format!("{before}{START}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(written, table, "run it with APRON_UPDATE=1, and look at what changed");
}
