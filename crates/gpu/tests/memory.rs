//! Exhausted device memory is an error that leaves the device usable, and nothing leaks.

use apron_core::{ByteHistogram, Error, Problem, Shape};
use apron_gpu::{Gpu, GpuBuffer, Modules};

/// PTX that the driver compiles.
const MODULES: Modules = Modules { ptx: &[&apron_ptx::PTX], machine_code: &[], whole: None };

fn gpu() -> Option<Gpu> {
    match Gpu::open(0, MODULES) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            let required = std::env::var("APRON_REQUIRE_GPU").is_ok_and(|value| value == "1");
            assert!(!required, "APRON_REQUIRE_GPU is 1, but: {error}");
            eprintln!("skipped on the GPU: device memory ({error})");
            None
        }
    }
}

/// Counts 1000 bytes of value 7.
fn count(gpu: &Gpu) {
    let shape = Shape::new(1000, 1, 1).unwrap();
    let recipe =
        apron_plan::plan(&Problem::from(ByteHistogram { shape, per_channel: false }), None, &gpu.machine()).unwrap();
    let input = GpuBuffer::from_bytes(gpu, "test", &[7; 1000]).unwrap();
    let (output, _) = gpu.execute(&recipe, &input).unwrap();
    let mut counts = vec![0; 256 * 8];
    output.read(&mut counts).unwrap();
    assert_eq!(counts[7 * 8..8 * 8], 1000u64.to_ne_bytes());
}

#[test]
fn out_of_memory_is_an_error_after_which_the_device_works() {
    let Some(gpu) = gpu() else { return };
    count(&gpu);
    let memory = gpu.info().memory_bytes;
    for bytes in [memory * 2, 1 << 45, u64::MAX] {
        let error = GpuBuffer::uninitialized(&gpu, "test", bytes).expect_err("more than there is");
        assert!(matches!(error, Error::OutOfMemory { .. } | Error::Driver { .. }), "{error}");
        assert!(error.to_string().contains(&bytes.to_string()), "{error}");
        count(&gpu);
    }
}

#[test]
fn freed_memory_is_used_again() {
    let Some(gpu) = gpu() else { return };
    // A quarter of the memory, ten times: works only if each allocation is freed.
    let quarter = gpu.info().memory_bytes / 4;
    for _ in 0..10 {
        GpuBuffer::uninitialized(&gpu, "test", quarter).unwrap();
    }
    count(&gpu);
}

#[test]
fn an_empty_buffer_can_be_read() {
    let Some(gpu) = gpu() else { return };
    GpuBuffer::from_bytes(&gpu, "test", &[]).unwrap().read(&mut []).unwrap();
}
