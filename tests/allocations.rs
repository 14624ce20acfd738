//! Repeated work allocates no memory for samples: checked by the allocator on the host, and by the device on a GPU.

use apron::{Bins, Border, Borders, Device, DeviceImage, Image, Mask, PixelType, Result, Taps};
use apron_testkit::gpu_or_skip;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The system's allocator, which records the largest request since the last reset.
struct Noting;

static LARGEST: AtomicUsize = AtomicUsize::new(0);
/// Tests run concurrently, and would record each other's requests.
static ALONE: Mutex<()> = Mutex::new(());

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static NOTING: Noting = Noting;

/// Returns the size in bytes of the largest allocation of `work`.
fn largest(work: impl FnOnce()) -> usize {
    LARGEST.store(0, Ordering::Relaxed);
    work();
    LARGEST.load(Ordering::Relaxed)
}

const SIDE: u32 = 2048;

fn frame() -> Image<'static, f32> {
    let samples: Vec<f32> = (0..SIDE * SIDE).map(|i| (i.wrapping_mul(2_654_435_761) >> 12) as f32).collect();
    Image::new(SIDE, SIDE, 1, samples).unwrap()
}

fn bytes() -> Image<'static, u8> {
    let samples: Vec<u8> = (0..SIDE * SIDE).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    Image::new(SIDE, SIDE, 1, samples).unwrap()
}

#[test]
fn no_memory_for_samples_on_the_cpu() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let cpu = Device::cpu();
    let (floats, bytes) = (cpu.upload(&frame()).unwrap(), cpu.upload(&bytes()).unwrap());
    let (mut of_floats, mut of_bytes) =
        (cpu.zeros(floats.shape(), PixelType::F32).unwrap(), cpu.zeros(floats.shape(), PixelType::U8).unwrap());
    let mask = || Mask::new(3, 3, [0.5f32, 1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, 8.5]).unwrap();
    let table: Vec<u8> = (0..=255).rev().collect();
    let samples = (SIDE * SIDE) as usize;
    let check = |name: &str, work: &mut dyn FnMut() -> Result<()>| {
        let asked = largest(|| work().unwrap());
        println!("{name}: {asked} bytes at most at a time");
        // Buffers of rows per thread and lists of tiles are allowed: a quarter of the smallest image is 1 MiB.
        assert!(asked < samples / 4, "{name} asks for {asked} bytes");
    };
    check("gaussian f32", &mut || cpu.gaussian(&floats, 3.0).run_into(&mut of_floats));
    check("mask f32", &mut || cpu.correlate(&floats, mask()).run_into(&mut of_floats));
    check("mean f32", &mut || cpu.box_filter(&floats, 31, 31).run_into(&mut of_floats));
    check("gaussian u8", &mut || cpu.gaussian(&bytes, 3.0).run_into(&mut of_bytes));
    check("mean u8", &mut || cpu.box_filter(&bytes, 31, 31).run_into(&mut of_bytes));
    check("lookup", &mut || cpu.lookup(&bytes, &table[..]).run_into(&mut of_bytes));
    check("equalize", &mut || cpu.equalize(&bytes).run_into(&mut of_bytes));
    // Checks the measurement itself: a new image is recorded.
    assert!(largest(|| drop(cpu.gaussian(&bytes, 3.0).run().unwrap())) >= samples);
}

/// Repeats work on a GPU, into existing images and into new ones.
fn rounds(gpu: &Device, frame: &DeviceImage, bytes: &DeviceImage, words: &DeviceImage) -> Result<()> {
    let long = Taps::new((0..99).map(|i| i as f32 / 99.0).collect::<Vec<_>>())?;
    // More taps than a launch takes as parameters.
    let wide = Mask::new(80, 80, (0..6400).map(|i| ((i * 37) % 101) as f32).collect::<Vec<_>>())?;
    let mut out = gpu.zeros(frame.shape(), PixelType::F32)?;
    let mut small = gpu.zeros(bytes.shape(), PixelType::U8)?;
    for _ in 0..3 {
        gpu.gaussian(frame, 2.0).run_into(&mut out)?;
        gpu.separable(frame, long.clone(), long.clone()).run_into(&mut out)?;
        gpu.box_filter(frame, 41, 41).run_into(&mut out)?;
        gpu.correlate(bytes, wide.clone()).out_type(PixelType::F32).run()?;
        gpu.gaussian(words, 2.0).run()?;
        gpu.gradient(bytes).run_into(&mut small)?;
        gpu.local_std(bytes, 5).run_into(&mut small)?;
        gpu.correlate(bytes, "0 1; 2 3".parse::<Mask>()?)
            .border(Borders::by_axis(Border::Wrap, Border::Reflect))
            .run()?;
        gpu.equalize(bytes).run_into(&mut small)?;
        gpu.clahe(bytes, 2.0, (4, 4)).run_into(&mut small)?;
        gpu.lookup(bytes, (0..=255).rev().collect::<Vec<u8>>()).run_into(&mut small)?;
        gpu.histogram(bytes).enqueue()?.download()?;
        gpu.histogram(frame).bins(Bins { count: 300, range: Some((0.0, 1e6)) }).enqueue()?.download()?;
        // A part with gaps between rows needs temporary copies.
        gpu.gaussian(&bytes.region(3, 5, 100, 50)?, 1.0).run_into(small.region_mut(7, 9, 100, 50)?)?;
    }
    Ok(())
}

#[test]
fn no_memory_at_all_on_the_gpu() {
    let Some(gpu) = gpu_or_skip("repeated work that allocates nothing") else { return };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let words = Image::new(300, 200, 1, (0..60000u32).map(|i| (i * 7) as u16).collect::<Vec<_>>()).unwrap();
    let [frame, bytes, words] = [gpu.upload(&frame()), gpu.upload(&bytes()), gpu.upload(&words)].map(Result::unwrap);
    let part = bytes.region(0, 0, 512, 300).unwrap();
    let work = || rounds(&gpu, &frame, &part, &words).unwrap();
    // Checks the measurement itself: without kept memory, each round allocates.
    work();
    let before = gpu.allocations();
    work();
    let each = gpu.allocations() - before;
    assert!(each > 30, "{each}");
    gpu.keep_memory(true);
    work();
    let before = gpu.allocations();
    (0..5).for_each(|_| work());
    assert_eq!(gpu.allocations(), before, "{each} without keeping");
    // Kept memory is returned, and the device still works.
    gpu.keep_memory(false);
    work();
    assert!(gpu.allocations() > before);
}
