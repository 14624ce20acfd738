//! Timing, to be deleted.
use apron_core::*;
use std::time::Instant;
fn time<R>(name: &str, f: impl Fn() -> R) {
    let mut best = f64::MAX;
    let mut all = vec![];
    let c0 = cpu();
    for _ in 0..15 {
        let t = Instant::now();
        let r = f();
        let e = t.elapsed().as_secs_f64() * 1e3;
        drop(r);
        best = best.min(e);
        all.push(e);
    }
    all.sort_by(f64::total_cmp);
    let c1 = cpu();
    println!(
        "{name:32} best {best:8.2} median {:8.2} ms; cpu/2 user {:.1} sys {:.1}",
        all[7],
        (c1.0 - c0.0) as f64 * 5. / 15.,
        (c1.1 - c0.1) as f64 * 5. / 15.
    );
}
fn main() {
    let n = 4096u32;
    let f: Vec<f32> = (0..n * n).map(|i| (i.wrapping_mul(2654435761) >> 8) as f32 / 1e6).collect();
    let b: Vec<u8> = (0..n * n).map(|i| (i.wrapping_mul(2654435761) >> 24) as u8).collect();
    let f = Image::new(n, n, 1, f).unwrap();
    let b = Image::new(n, n, 1, b).unwrap();
    let c = Image::new(n, n, 1, vec![7u8; (n * n) as usize]).unwrap();
    let m = |s: u32| Mask::new(s, s, (0..s * s).map(|i| i as f32 * 0.013).collect::<Vec<_>>()).unwrap();
    let t = |r: u32| Taps::new((0..2 * r + 1).map(|i| i as f32 * 0.013).collect::<Vec<_>>()).unwrap();
    let d = Border::default();
    for s in [1, 7] {
        time(&format!("f32 dense {s}"), || apron_cpu::correlate::<f32, f32>(&f, &m(s), d, false).unwrap());
    }
    time("f32 3 channels dense 7", || {
        let p = f.packed();
        let f = Image::new(n / 3, n, 3, &p[..(n / 3 * n * 3) as usize]).unwrap();
        apron_cpu::correlate::<f32, f32>(&f, &m(7), d, false).unwrap()
    });
    for s in [7] {
        time(&format!("u8->u8 dense {s}"), || apron_cpu::correlate::<u8, u8>(&b, &m(s), d, false).unwrap());
        time(&format!("u8->f32 dense {s}"), || apron_cpu::correlate::<u8, f32>(&b, &m(s), d, false).unwrap());
    }
    for r in [8] {
        time(&format!("f32 separable radius {r}"), || apron_cpu::separable::<f32, f32>(&f, &t(r), &t(r), d).unwrap());
        time(&format!("u8->u8 separable radius {r}"), || apron_cpu::separable::<u8, u8>(&b, &t(r), &t(r), d).unwrap());
    }
    time("byte histogram", || apron_cpu::byte_histogram(&b, false));
    time("byte histogram 4 channels", || {
        let p = b.packed();
        apron_cpu::byte_histogram(&Image::new(n / 4, n, 4, &p[..]).unwrap(), true)
    });
    time("byte histogram constant", || apron_cpu::byte_histogram(&c, false));
    time("histogram u8", || apron_cpu::histogram(&b, &Bins::default(), false).unwrap());
    time("histogram f32 auto", || apron_cpu::histogram(&f, &Bins::default(), false).unwrap());
    time("histogram f32 range", || {
        apron_cpu::histogram(&f, &Bins { count: 256, range: Some((0., 16.)) }, false).unwrap()
    });
    time("alloc and touch 64 MiB", || {
        use rayon::prelude::*;
        let mut v = vec![0f32; 1 << 24];
        v.par_chunks_mut(1 << 18).for_each(|c| c.fill(1.0));
        v
    });
    if std::env::args().len() > 1 {
        let t = Instant::now();
        let _ = apron_reference::correlate::<f32, f32>(&f, &m(7), d, false);
        println!("reference dense 7 {:?}", t.elapsed());
        let t1 = Instant::now();
        let _ = apron_reference::separable::<f32, f32>(&f, &t_(8), &t_(8), d);
        println!("reference separable 8 {:?}", t1.elapsed());
        let t = Instant::now();
        let _ = apron_reference::correlate::<u8, u8>(&b, &m(7), d, false);
        println!("reference u8 dense 7 {:?}", t.elapsed());
        let t = Instant::now();
        let _ = apron_reference::byte_histogram(&b, false);
        println!("reference bytes {:?}", t.elapsed());
    }
}
fn t_(r: u32) -> Taps {
    Taps::new((0..2 * r + 1).map(|i| i as f32 * 0.013).collect::<Vec<_>>()).unwrap()
}

fn cpu() -> (u64, u64) {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let v: Vec<&str> = s.split(' ').collect();
    (v[13].parse().unwrap(), v[14].parse().unwrap())
}
