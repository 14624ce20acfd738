//! The machine's limits are measured on GPUs and on the CPU, and refused on other devices.

use apron::{Device, Error, Limit};

#[test]
fn a_gpu_measures_every_limit() {
    let Some(gpu) = apron_testkit::gpu_or_skip("the machine's limits") else { return };
    for limit in Limit::ALL {
        let mut run = gpu.limit(limit, (1 << 20) + 4).unwrap();
        assert!(run.amount() > 1 << 20, "{limit:?}: {}", run.amount());
        for _ in 0..3 {
            assert!(!run.run().unwrap().is_zero(), "{limit:?}");
        }
        (0..5).for_each(|_| run.enqueue().unwrap());
        let times = run.times().unwrap();
        assert!(times.len() == 5 && times.iter().all(|time| !time.is_zero()), "{limit:?}: {times:?}");
        assert!(run.times().unwrap().is_empty());
        // Dropped while it runs: the next measurement must not be affected.
        run.enqueue().unwrap();
    }
}

#[test]
fn the_cpu_measures_its_cores_and_its_memory() {
    for limit in [Limit::Ffma, Limit::Copy, Limit::Read] {
        let mut run = Device::cpu().limit(limit, (1 << 20) + 4).unwrap();
        assert!(run.amount() > 1 << 20 && !run.run().unwrap().is_zero(), "{limit:?}: {}", run.amount());
    }
    let error = Device::cpu().limit(Limit::ToHost, 64).err().unwrap();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let error = Device::cpu().limit(Limit::Read, u64::MAX).err().unwrap();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
}

#[test]
fn other_devices_have_no_limits_to_measure() {
    for device in [Device::emulator(), Device::reference()] {
        let error = device.limit(Limit::Copy, 64).err().unwrap();
        assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("'copy'"), "{error}");
    }
}
