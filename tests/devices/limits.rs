//! The machine's limits are measured on GPUs, and refused on other devices.

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
    }
}

#[test]
fn other_devices_have_no_limits_to_measure() {
    for device in [Device::cpu(), Device::emulator(), Device::reference()] {
        let error = device.limit(Limit::Copy, 64).err().unwrap();
        assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("'copy'"), "{error}");
    }
}
