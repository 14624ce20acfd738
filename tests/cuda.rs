//! The caller's CUDA streams and memory: ordered with Apron's work, in shared memory, with the CPU's bits.
#![cfg(feature = "gpu")]

use apron::cust::context::Context;
use apron::cust::device::Device as CudaDevice;
use apron::cust::memory::{CopyDestination, DeviceBuffer, DevicePointer, DeviceSlice};
use apron::cust::stream::{Stream, StreamFlags};
use apron::cust::sys;
use apron::{Border, Device, DeviceImage, Error, Image, Mask, Pixel, PixelType, Result, Shape, Source};
use apron_testkit::gpu_or_skip;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

const WIDTH: u32 = 210;
const HEIGHT: u32 = 77;

fn shape() -> Shape {
    Shape::new(WIDTH, HEIGHT, 1).unwrap()
}

fn bytes(seed: u32) -> Image<'static, u8> {
    let samples: Vec<u8> = (0..WIDTH * HEIGHT).map(|i| (i.wrapping_mul(seed | 1) >> 3) as u8).collect();
    Image::new(WIDTH, HEIGHT, 1, samples).unwrap()
}

fn floats(seed: u32) -> Image<'static, f32> {
    let samples: Vec<f32> = bytes(seed).packed().iter().map(|&byte| f32::from(byte) / 7.0).collect();
    Image::new(WIDTH, HEIGHT, 1, samples).unwrap()
}

/// Returns the samples with `gap` more after each row, which are `value`.
fn with_gaps<T: Pixel>(image: &Image<'_, T>, gap: usize, value: T) -> Vec<T> {
    image.rows().flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(value, gap))).collect()
}

/// Held shared by users of the legacy stream, such as cust's copies, and exclusively while a stream is captured: cust's
/// streams synchronise with the legacy stream, whose use would invalidate the capture.
static LEGACY_STREAM: RwLock<()> = RwLock::new(());

fn shared() -> RwLockReadGuard<'static, ()> {
    LEGACY_STREAM.read().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a GPU, a handle on it for a new stream of the test, that stream, and the context that keeps it usable.
fn on_own_stream(what: &str) -> Option<(Device, Device, Arc<Stream>, Context)> {
    let gpu = gpu_or_skip(what)?;
    let context = Context::new(CudaDevice::get_device(0).unwrap()).unwrap();
    let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None).unwrap());
    let device = gpu.on_stream(stream.clone()).unwrap();
    Some((gpu, device, stream, context))
}

fn ok(code: sys::CUresult) {
    assert_eq!(code, sys::cudaError_enum::CUDA_SUCCESS);
}

fn blurred<'a>(device: &'a Device, image: impl Into<Source<'a>>) -> DeviceImage {
    device.gaussian(image, 2.5).border(Border::Wrap).run().unwrap()
}

fn sharpened(device: &Device, image: &DeviceImage) -> DeviceImage {
    device.correlate(image, apron::filters::named_mask("sharpen").unwrap()).run().unwrap()
}

#[test]
fn devices_without_cuda_refuse() {
    // Without a driver cust cannot create a stream; images are refused before that.
    for device in [Device::cpu(), Device::emulator(), Device::reference()] {
        assert!(device.cust_stream().is_none());
        let image = device.upload(&bytes(3)).unwrap();
        assert!(image.cust_stream().is_none());
        assert!(image.device_pointer::<u8>().unwrap().is_none());
        assert!(matches!(image.device_pointer::<f32>(), Err(Error::PixelType { .. })));
        assert!(matches!(image.clone().into_cust::<u16>(), Err(Error::PixelType { .. })));
        assert_eq!(image.row_stride(), u64::from(WIDTH));
        drop(image.region(1, 1, 2, 2).unwrap());
        let nowhere = DevicePointer::<u8>::from_raw(4096);
        // SAFETY: refused, and so never accessed.
        let refused = unsafe { DeviceImage::from_address(&device, nowhere, shape(), WIDTH as usize) };
        assert!(matches!(refused, Err(Error::Unsupported { operation: "from_address", .. })));
    }
}

/// The caller's work and Apron's alternate on one stream, without synchronisation.
#[test]
fn one_order_with_the_callers_work() {
    let _shared = shared();
    let Some((_, device, stream, _context)) = on_own_stream("one order with the caller's work") else { return };
    assert!(Arc::ptr_eq(device.cust_stream().unwrap(), &stream));
    let cpu = Device::cpu();
    let mut input = device.upload(&bytes(3)).unwrap();
    assert!(Arc::ptr_eq(input.cust_stream().unwrap(), &stream));
    let count = (WIDTH * HEIGHT) as usize;
    let collected = DeviceBuffer::<u8>::zeroed(count * 200).unwrap();
    for round in 0..200 {
        // The caller's work: half of the input becomes the round's number.
        let half = count / 2;
        let first = input.device_pointer::<u8>().unwrap().unwrap().as_raw();
        // SAFETY: half of the image's memory, in the order of its stream.
        ok(unsafe { sys::cuMemsetD8Async(first, round as u8, half, stream.as_inner()) });
        let result = blurred(&device, &input);
        // Apron's work into the input, then the caller's copy of the result.
        device.box_filter(&result, 3, 3).run_into(&mut input).unwrap();
        let from = result.device_pointer::<u8>().unwrap().unwrap().as_raw();
        let to = collected.as_device_ptr().as_raw() + (count * round) as u64;
        // SAFETY: both hold `count` bytes; the stream runs the copy before it frees the result.
        ok(unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, count, stream.as_inner()) });
    }
    stream.synchronize().unwrap();
    let mut found = vec![0u8; count * 200];
    collected.copy_to(&mut found).unwrap();
    let mut expected = bytes(3).into_packed();
    for (round, found) in found.chunks(count).enumerate() {
        expected[..count / 2].fill(round as u8);
        let image = Image::new(WIDTH, HEIGHT, 1, expected).unwrap();
        let result = blurred(&cpu, &image);
        assert!(result.download::<u8>().unwrap().packed()[..] == *found, "round {round}");
        expected = cpu.box_filter(&result, 3, 3).run().unwrap().download::<u8>().unwrap().into_packed();
    }
}

/// Counts per bin on the device have a pointer, and counts that the host would have to convert do not.
#[test]
fn counts_where_the_device_has_them() {
    let (bytes, floats) = (bytes(5), floats(5));
    let edges = || [0.0, 3.0, 4.5, 30.0];
    for device in [Device::cpu(), Device::emulator()] {
        let counted = device.histogram(&bytes).enqueue().unwrap();
        assert!(counted.device_pointer().is_none() && counted.cust_stream().is_none());
    }
    let Some((_, device, stream, _context)) = on_own_stream("counts on the device") else { return };
    let _shared = shared();
    let words = Image::new(WIDTH, HEIGHT, 1, bytes.packed().iter().map(|&of| u16::from(of) * 257).collect::<Vec<_>>());
    let words = words.unwrap();
    let values = || apron::Bins::of_values(PixelType::U16).unwrap();
    for counting in [
        device.histogram(&bytes),
        device.histogram(&words).bins(values()),
        device.histogram(&words).bins(apron::Bins { count: 100, range: Some((0.0, 65536.0)) }),
        device.histogram(&floats),
        device.histogram(&floats).edges(edges()),
    ] {
        let counted = counting.enqueue().unwrap();
        assert!(Arc::ptr_eq(counted.cust_stream().unwrap(), &stream));
        let expected = counted.download().unwrap();
        let mut counts = vec![0u64; expected.counts().len()];
        let first = counted.device_pointer().unwrap();
        stream.synchronize().unwrap();
        // SAFETY: the device has as many counts as `counts`.
        unsafe { DeviceSlice::from_raw_parts(first, counts.len()) }.copy_to(&mut counts).unwrap();
        assert_eq!(counts, expected.counts());
        assert!(counts.iter().sum::<u64>() > 0);
    }
    for counting in [device.histogram(&bytes).edges(edges()), device.histogram(&words)] {
        assert!(counting.enqueue().unwrap().device_pointer().is_none());
    }
}

/// Images pass from the GPU's own stream to two streams of the caller's and back, and each use waits
/// for the previous one.
#[test]
fn images_cross_to_and_from_the_callers_streams() {
    let _shared = shared();
    let Some((gpu, first, _, _context)) = on_own_stream("images that cross to the caller's streams") else { return };
    let second = gpu.on_stream(Arc::new(Stream::new(StreamFlags::DEFAULT, None).unwrap())).unwrap();
    let cpu = Device::cpu();
    for seed in 0..100 {
        let image = floats(seed);
        let expected = sharpened(&cpu, &blurred(&cpu, &blurred(&cpu, &image)));
        let uploaded = gpu.upload(&image).unwrap();
        let one = blurred(&first, &uploaded);
        drop(uploaded);
        let two = blurred(&second, &one);
        drop(one);
        let _overwritten = first.upload(&floats(seed + 9)).unwrap();
        let three = sharpened(&gpu, &two);
        drop(two);
        assert!(three.download::<f32>().unwrap() == expected.download::<f32>().unwrap(), "seed {seed}");
    }
}

#[test]
fn images_in_the_callers_buffers() {
    let _shared = shared();
    let Some((_, device, _, _context)) = on_own_stream("images in the caller's buffers") else { return };
    let cpu = Device::cpu();
    // Rows that kernels can read in place, and rows that they cannot: 46, 6 and 0 samples after each row.
    for (seed, gap) in [(3, 46), (5, 6), (7, 0)] {
        let (image, stride) = (bytes(seed), WIDTH as usize + gap);
        let expected = blurred(&cpu, &image).download::<u8>().unwrap();
        let counts = cpu.histogram(&image).run().unwrap();
        let samples = with_gaps(&image, gap, 0xee);

        // Shared: the caller keeps the buffer, and may read it at any time.
        let shared = Arc::new(DeviceBuffer::from_slice(&samples).unwrap());
        let photo = DeviceImage::from_cust(&device, shared.clone(), shape(), stride).unwrap();
        let address = photo.device_pointer::<u8>().unwrap().unwrap().as_raw();
        assert_eq!((address, photo.row_stride()), (shared.as_device_ptr().as_raw(), stride as u64));
        assert!(photo.download::<u8>().unwrap() == image);
        assert!(blurred(&device, &photo).download::<u8>().unwrap() == expected);
        assert_eq!(device.histogram(&photo).run().unwrap(), counts);

        // Owned by the image: written, and given back.
        let room = DeviceBuffer::from_slice(&vec![0xddu8; samples.len()]).unwrap();
        let address = room.as_device_ptr().as_raw();
        let mut result = DeviceImage::from_cust(&device, room, shape(), stride).unwrap();
        device.gaussian(&photo, 2.5).border(Border::Wrap).run_into(&mut result).unwrap();
        let room = result.into_cust::<u8>().unwrap();
        assert_eq!(room.as_device_ptr().as_raw(), address);
        let mut found = vec![0; samples.len()];
        room.copy_to(&mut found).unwrap();
        assert!(found == with_gaps(&expected, gap, 0xdd), "gap {gap}");

        // A shared buffer is not written, even if the image is its only user.
        let mut photo = photo;
        let error = device.gaussian(&image, 1.0).run_into(&mut photo).unwrap_err();
        assert!(error.to_string().contains("shared"), "{error}");
        assert!(photo.into_cust::<u8>().is_err());
        shared.copy_to(&mut found).unwrap();
        assert!(found == samples);
    }
}

/// Apron's own images become buffers, and buffers are dropped while work on them is pending.
#[test]
fn buffers_come_and_go() {
    let _shared = shared();
    let Some((_, device, _, _context)) = on_own_stream("buffers that come and go") else { return };
    let cpu = Device::cpu();
    for seed in 0..100 {
        let expected = blurred(&cpu, &floats(seed)).download::<f32>().unwrap();
        let buffer = DeviceBuffer::from_slice(&floats(seed).packed()).unwrap();
        let image = DeviceImage::from_cust(&device, buffer, shape(), WIDTH as usize).unwrap();
        let result = blurred(&device, &image);
        drop(image);
        let _overwritten = DeviceBuffer::from_slice(&floats(seed + 1).packed()).unwrap();
        let buffer = result.into_cust::<f32>().unwrap();
        let mut found = vec![0.0; buffer.len()];
        buffer.copy_to(&mut found).unwrap();
        assert!(found == expected.packed()[..], "seed {seed}");
        if seed > 0 {
            continue;
        }
        let image = device.upload(&floats(seed)).unwrap();
        let clone = image.clone();
        assert!(image.into_cust::<f32>().is_err());
        assert!(clone.region(0, 1, 4, 4).unwrap().into_cust::<f32>().is_err());
        assert_eq!(clone.into_cust::<f32>().unwrap().len(), (WIDTH * HEIGHT) as usize);
    }
}

/// Images at addresses: several in one allocation, an operation in place, and windows that read around the image.
#[test]
fn images_at_addresses() {
    let _shared = shared();
    let Some((_, device, stream, _context)) = on_own_stream("images at addresses") else { return };
    let cpu = Device::cpu();
    let image = bytes(11);
    let gap = 38;
    let stride = WIDTH as usize + gap;
    let memory = DeviceBuffer::from_slice(&with_gaps(&image, gap, 0xcc)).unwrap();
    let at = |x: u64, y: u64, shape: Shape| {
        let first = DevicePointer::<u8>::from_raw(memory.as_device_ptr().as_raw() + y * stride as u64 + x);
        // SAFETY: the memory is dropped last, and used on one stream only.
        unsafe { DeviceImage::from_address(&device, first, shape, stride) }
    };
    // In place, by operations whose windows overlap their output, and by pointwise ones.
    let (all, mut same) = (at(0, 0, shape()).unwrap(), at(0, 0, shape()).unwrap());
    let sobel = apron::filters::named_mask("sobel-x").unwrap();
    device.gaussian(&all, 2.5).run_into(&mut same).unwrap();
    device.lookup(&all, (0..=255).rev().collect::<Vec<u8>>()).run_into(&mut same).unwrap();
    device.correlate(&all, sobel.clone()).run_into(&mut same).unwrap();
    let expected = cpu.gaussian(&image, 2.5).run().unwrap();
    let expected = cpu.lookup(&expected, (0..=255).rev().collect::<Vec<u8>>()).run().unwrap();
    let expected = cpu.correlate(&expected, sobel).run().unwrap();
    // From a part to a part that overlaps it.
    let part = Shape::new(100, 50, 1).unwrap();
    let (from, mut to) = (at(5, 3, part).unwrap(), at(16, 8, part).unwrap());
    device.box_filter(&from, 5, 5).run_into(&mut to).unwrap();
    stream.synchronize().unwrap();
    let mut found = vec![0; memory.len()];
    memory.copy_to(&mut found).unwrap();

    let before = expected.download::<u8>().unwrap();
    let mean = cpu.box_filter(&before.region(5, 3, 100, 50).unwrap(), 5, 5).run().unwrap().download::<u8>().unwrap();
    let mut expected = with_gaps(&before, gap, 0xcc);
    for (y, row) in mean.rows().enumerate() {
        expected[(8 + y) * stride + 16..][..100].copy_from_slice(row);
    }
    assert!(found == expected);

    // Errors that the driver's facts about the address reveal.
    for refused in [at(0, 0, Shape { height: 1 << 20, ..shape() }), at(1 << 40, 0, shape())] {
        let error = refused.expect_err("outside");
        assert!(matches!(error, Error::Parameter { .. }), "{error}");
    }
    let (on_host, floats) = (vec![0u8; 64], memory.as_device_ptr().as_raw() + 2);
    let few = Shape::new(4, 4, 1).unwrap();
    // SAFETY: both are refused, and so never accessed.
    let refused = unsafe {
        [
            DeviceImage::from_address(&device, DevicePointer::<u8>::from_raw(on_host.as_ptr() as u64), few, 4),
            DeviceImage::from_address(&device, DevicePointer::<f32>::from_raw(floats), few, 4),
        ]
    };
    for refused in refused {
        let error = refused.expect_err("no place for it");
        assert!(matches!(error, Error::Parameter { parameter: "address", .. }), "{error}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let _shared = shared();
    let Some((gpu, device, _, context)) = on_own_stream("streams and buffers that do not fit") else { return };
    let refuse = |found: Result<DeviceImage>, part: &str| {
        let error = found.expect_err("refused").to_string();
        assert!(error.contains(part), "{error}");
    };
    let buffer = || DeviceBuffer::from_slice(&[0u8; 100]).unwrap();
    let of = |width, height, stride| {
        let shape = Shape { width, height, channels: 1 };
        DeviceImage::from_cust(&device, buffer(), shape, stride)
    };
    refuse(of(10, 10, 9), "row stride is 9");
    refuse(of(10, 10, 11), "number of samples is 100, but must be 109");
    refuse(of(0, 10, 10), "width");
    refuse(of(10, 10, usize::MAX), "number of samples");
    drop(of(10, 9, 11).unwrap());
    assert!(matches!(Device::cpu().on_stream(gpu.cust_stream().unwrap().clone()), Err(Error::Unsupported { .. })));

    // A stream and memory of another context.
    use apron::cust::context::legacy;
    let flags = legacy::ContextFlags::SCHED_AUTO;
    let other = legacy::Context::create_and_push(flags, CudaDevice::get_device(0).unwrap()).unwrap();
    let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None).unwrap());
    let elsewhere = Arc::new(buffer());
    let error = gpu.on_stream(stream.clone()).expect_err("another context");
    assert!(error.to_string().contains("another context"), "{error}");
    refuse(DeviceImage::from_cust(&device, elsewhere.clone(), Shape::new(10, 10, 1).unwrap(), 10), "another context");
    legacy::CurrentContext::set_current(&other).unwrap();
    drop((stream, elsewhere));
    drop(other);
    drop(context);
    // The device still works.
    assert!(
        blurred(&device, &bytes(3)).download::<u8>().unwrap() == {
            blurred(&Device::cpu(), &bytes(3)).download::<u8>().unwrap()
        }
    );
}

/// Enqueues a chain that reads and writes existing images.
fn chain(device: &Device, frame: &DeviceImage, middle: &mut DeviceImage, out: &mut DeviceImage) -> Result<()> {
    device.gaussian(frame, 2.5).border(Border::Wrap).run_into(&mut *middle)?;
    device.gradient(&*middle).run_into(out)
}

/// The caller captures Apron's work into a graph, and launches it for frame after frame.
#[test]
fn work_in_the_callers_graph() {
    let _alone = LEGACY_STREAM.write().unwrap_or_else(PoisonError::into_inner);
    let Some((_, device, stream, _context)) = on_own_stream("work in the caller's graph") else { return };
    device.keep_memory(true);
    let frame = device.upload(&bytes(1)).unwrap();
    let [mut middle, mut out] = [0, 1].map(|_| device.zeros(shape(), PixelType::U8).unwrap());
    let capture = |mode: sys::CUstreamCaptureMode, work: &mut dyn FnMut()| {
        let (mut graph, mut launched) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the stream is the test's own, and the calls write only the handles.
        unsafe {
            ok(sys::cuStreamBeginCapture_v2(stream.as_inner(), mode));
            work();
            ok(sys::cuStreamEndCapture(stream.as_inner(), &mut graph));
            ok(sys::cuGraphInstantiateWithFlags(&mut launched, graph, 0));
            ok(sys::cuGraphDestroy(graph));
        }
        launched
    };
    // Work that would synchronise, allocate or read host memory is refused, and does not invalidate the capture.
    let elsewhere = Device::gpu(0).unwrap().upload(&bytes(1)).unwrap();
    let empty = capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED, &mut || {
        let refused = [
            device.synchronize().err(),
            device.upload(&bytes(1)).err(),
            frame.download::<u8>().err(),
            device.gaussian(&frame, 2.5).out_type(PixelType::F32).run().err(),
            device.gaussian(&elsewhere, 2.5).run().err(),
            device.histogram(&frame).run().err(),
            device.new_stream().unwrap().gaussian(&frame, 1.0).run().err(),
            device.on_stream(stream.clone()).err(),
        ];
        for (n, error) in refused.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("{n} is not refused"));
            assert!(matches!(error, Error::Unsupported { .. } | Error::Parameter { .. }), "{n}: {error}");
        }
    });
    // SAFETY: the graph is empty.
    ok(unsafe { sys::cuGraphExecDestroy(empty) });

    // Runs once before the capture, so that all memory is allocated.
    chain(&device, &frame, &mut middle, &mut out).unwrap();
    let allocations = device.allocations();
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    let graph = capture(mode, &mut || chain(&device, &frame, &mut middle, &mut out).unwrap());
    assert_eq!(device.allocations(), allocations);
    let cpu = Device::cpu();
    let address = frame.device_pointer::<u8>().unwrap().unwrap();
    for seed in 2..100 {
        let image = bytes(seed);
        // SAFETY: the memory of the frame, in the order of its stream; the graph's images still exist.
        unsafe {
            let (from, count) = (image.packed().as_ptr().cast(), (WIDTH * HEIGHT) as usize);
            ok(sys::cuMemcpyHtoDAsync_v2(address.as_raw(), from, count, stream.as_inner()));
            ok(sys::cuGraphLaunch(graph, stream.as_inner()));
        }
        let expected = cpu.gradient(&blurred(&cpu, &image)).run().unwrap();
        assert!(out.download::<u8>().unwrap() == expected.download::<u8>().unwrap(), "seed {seed}");
        // Other work of the handle, in the same kept memory.
        let other = blurred(&device, &frame).download::<u8>().unwrap();
        assert!(other == blurred(&cpu, &image).download::<u8>().unwrap(), "seed {seed}");
    }
    // SAFETY: created above, and not used any more.
    ok(unsafe { sys::cuGraphExecDestroy(graph) });
}

/// Threads with separate streams and threads on a common stream, with kept memory.
#[test]
fn threads_that_keep_memory() {
    let _shared = shared();
    let Some((gpu, common, _, _context)) = on_own_stream("threads that keep memory") else { return };
    common.keep_memory(true);
    let mask = Mask::new(9, 7, (0..63).map(|i| ((i * 5) % 31) as f32 - 15.0).collect::<Vec<_>>()).unwrap();
    std::thread::scope(|scope| {
        for (seed, device) in [(3, gpu.new_stream().unwrap()), (5, common.clone()), (7, common.clone())] {
            let mask = mask.clone();
            scope.spawn(move || {
                device.keep_memory(true);
                let (cpu, image) = (Device::cpu(), floats(seed));
                let expected = cpu.correlate(&blurred(&cpu, &image), mask.clone()).run().unwrap();
                let expected = expected.download::<f32>().unwrap();
                let image = device.upload(&image).unwrap();
                let mut out = device.zeros(shape(), PixelType::F32).unwrap();
                for round in 0..500 {
                    device.correlate(&blurred(&device, &image), mask.clone()).run_into(&mut out).unwrap();
                    if round % 10 == 0 {
                        assert!(out.download::<f32>().unwrap() == expected, "seed {seed}, round {round}");
                    }
                }
            });
        }
    });
}
