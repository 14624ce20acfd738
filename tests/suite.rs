//! The suite on every device; cases that a device cannot run here are reported, not silently skipped.

use apron::Device;
use apron_plan::VARIANTS;
use apron_testkit::{Case, Scale, check_each, exhaustive, gpu_or_skip, random_case, suite};
use std::collections::BTreeMap;

/// Runs the cases by every variant that supports them; returns how often each variant ran.
fn run(device: &Device, cases: impl IntoIterator<Item = Case>) -> BTreeMap<String, u32> {
    let mut ran = BTreeMap::new();
    let mut failures = Vec::new();
    for outcome in check_each(device, cases) {
        *ran.entry(format!("{} {}", outcome.operation, outcome.variant)).or_default() += 1;
        let name = format!("{} {} {}", outcome.operation, outcome.variant, outcome.case);
        failures.extend(outcome.failure.map(|failure| format!("{name}: {failure}")));
    }
    let count: u32 = ran.values().sum();
    assert!(count > 0, "no cases");
    assert!(failures.is_empty(), "{} of {count} failed on {}:\n{}", failures.len(), device.name(), failures.join("\n"));
    ran
}

/// Checks that the suite reached every variant, in spite of the variants' limits.
fn assert_all_variants_ran(ran: &BTreeMap<String, u32>) {
    for variant in VARIANTS.iter() {
        let name = format!("{} {}", variant.operation, variant.name);
        let times = ran.get(&name).copied().unwrap_or(0);
        assert!(times >= 20, "{name} ran {times} times: {ran:?}");
    }
}

/// Returns a random seed, printed, so that a failure can be repeated.
fn fresh_seed() -> u64 {
    let seed = match std::env::var("APRON_SEED") {
        Ok(seed) => seed.parse().expect("APRON_SEED is a number"),
        Err(_) => rand::random::<u32>() as u64,
    };
    println!("seed {seed} (repeat with APRON_SEED={seed})");
    seed
}

fn random_cases(count: u64) -> impl Iterator<Item = Case> {
    let seed = fresh_seed();
    (0..count).map(move |n| random_case(seed.wrapping_add(n)))
}

#[test]
fn suite_on_the_emulator() {
    assert_all_variants_ran(&run(&Device::emulator(), suite(Scale::Small, 1)));
}

#[test]
fn every_small_size_on_the_emulator() {
    run(&Device::emulator(), exhaustive(4, 4, 1));
}

#[test]
fn random_problems_on_the_emulator() {
    run(&Device::emulator(), random_cases(100));
}

#[test]
fn suite_on_the_cpu() {
    run(&Device::cpu(), suite(Scale::Small, 1));
}

#[test]
fn every_small_size_on_the_cpu() {
    run(&Device::cpu(), exhaustive(5, 5, 1));
}

#[test]
fn random_problems_on_the_cpu() {
    run(&Device::cpu(), random_cases(300));
}

#[test]
fn suite_on_the_gpu() {
    if let Some(gpu) = gpu_or_skip("the suite") {
        assert_all_variants_ran(&run(&gpu, suite(Scale::Full, 1)));
    }
}

#[test]
fn every_small_size_on_the_gpu() {
    if let Some(gpu) = gpu_or_skip("every small size") {
        run(&gpu, exhaustive(5, 5, 1));
    }
}

#[test]
fn random_problems_on_the_gpu() {
    if let Some(gpu) = gpu_or_skip("random problems") {
        run(&gpu, random_cases(2000));
    }
}
