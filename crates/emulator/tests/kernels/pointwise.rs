//! Pointwise kernels with a grid-stride loop, as for images beyond 2^30 samples.

use apron_abi::Params;
use apron_core::{PixelType, PointOp, Pointwise, Problem, Shape};
use apron_emulator::{execute, execute_beside};
use apron_plan::{Machine, plan};

#[test]
fn few_blocks_do_the_work_of_many() {
    let shape = Shape::new(1031, 7, 1).unwrap();
    let (src, second, dst) = (PixelType::U8, Some(PixelType::U8), PixelType::U8);
    let problem = Pointwise { shape, src, second, dst, op: PointOp::weighted(1.0, -1.0, 7.0) };
    let mut recipe = plan(&Problem::from(problem), None, &Machine::EMULATED).unwrap();
    assert_eq!(recipe.launches[0].blocks, [8, 1]);
    let x: Vec<u8> = (0..shape.samples()).map(|i| (i * 7 % 256) as u8).collect();
    let y: Vec<u8> = (0..shape.samples()).map(|i| (i * i % 251) as u8).collect();
    let expected: Vec<u8> = x.iter().zip(&y).map(|(x, y)| (*x as i32 - *y as i32 + 7).clamp(0, 255) as u8).collect();
    for blocks in [8, 3, 1] {
        recipe.launches[0].blocks = [blocks, 1];
        assert_eq!(execute_beside(&recipe, &x, &y).unwrap(), expected, "{blocks} blocks");
    }
    // A read beyond the image is reported.
    let Params::PointwiseParams(params) = &mut recipe.launches[0].params else { panic!("{recipe:?}") };
    params.samples += 1;
    assert!(execute_beside(&recipe, &x, &y).is_err());
}

#[test]
fn few_blocks_convert_what_many_do() {
    // Two blocks of 2048 samples and three samples more.
    let shape = Shape::new(4099, 1, 1).unwrap();
    let op = PointOp::Weighted { a: 1.0, b: 0.0, c: -0.0, threshold: 0.0 };
    let problem = Pointwise { shape, src: PixelType::I16, second: None, dst: PixelType::F32, op };
    let mut recipe = plan(&Problem::from(problem), None, &Machine::EMULATED).unwrap();
    assert_eq!(recipe.launches[0].blocks, [3, 1]);
    let samples: Vec<i16> = (0..4099).map(|i: i32| (i * 31 - 32768) as i16).collect();
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_ne_bytes()).collect();
    let expected: Vec<u8> = samples.iter().flat_map(|sample| (*sample as f32).to_ne_bytes()).collect();
    for blocks in [3, 2, 1] {
        recipe.launches[0].blocks = [blocks, 1];
        assert_eq!(execute(&recipe, &bytes).unwrap(), expected, "{blocks} blocks");
    }
    let Params::PointwiseParams(params) = &mut recipe.launches[0].params else { panic!("{recipe:?}") };
    params.samples += 1;
    assert!(execute(&recipe, &bytes).is_err());
}
