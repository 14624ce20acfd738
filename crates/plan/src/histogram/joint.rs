//! Recipes of histograms of many dimensions.

use super::check_counters;
use super::slices::{MAX_ROW_CELLS, RESIDENTS, SCATTER_RESIDENTS, rows_of, spacing_of};
use super::weighted::{Apart, blocks, buffer, in_blocks};
use crate::examples::{limit, shape, valid, whole_edges};
use crate::kernels;
use crate::recipe::{Steps, launch};
use crate::summation::halves;
use crate::variant::{For, Variant};
use crate::{Launch, Machine, Role, unsupported};
use apron_abi::{
    ElementType, Family, HistogramCellsParams, HistogramJointParams, HistogramMergeParams, HistogramScatterParams,
    JOINT_TAPS, JointColumn, Kernel, MERGE_BLOCK, MOST_SLICES, Params, SCATTER_BLOCK, SLICE_CELLS, SLICES_BLOCK,
    Spacing,
};
use apron_core::{Columns, JointHistogram, Kind, PixelType, Result};

/// Most cells.
const MAX_CELLS: u64 = 1 << 26;
/// Least rows per thread that justify another block: a thread takes four at a time.
const ROWS_PER_THREAD: u64 = 4;

/// A problem in the kernels' terms: the numbers of rows and cells, the launch parameters, and the columns and edges as
/// taps.
struct Joint {
    rows: u64,
    cells: u64,
    params: HistogramJointParams,
    taps: Vec<f32>,
}

impl Joint {
    fn of(problem: &JointHistogram) -> Result<Joint> {
        let rows = problem.columns.rows(problem.shape)?;
        let bins = problem.edges.iter().map(|edges| edges.bins() as u64);
        let cells = bins.fold(1, |cells: u64, bins| cells.saturating_mul(bins));
        if cells > MAX_CELLS {
            let what = format!("{cells} cells (at most {MAX_CELLS})");
            return Err(unsupported(JointHistogram::OPERATION, what, "take fewer bins, or use --device cpu"));
        }
        let (row, columns) = (problem.columns.row(), problem.edges.len() as u32);
        let params = HistogramJointParams { rows, row, columns, cells: cells as u32, slice: 0 };
        let double = problem.src == PixelType::F64;
        let (mut taps, mut edges) = (Vec::new(), Vec::new());
        let mut first = columns * JOINT_TAPS / if double { 2 } else { 1 };
        for (of, &column) in problem.edges.iter().zip(problem.columns.picked()) {
            let (bins, mut spacing) = (of.bins() as u32, Spacing::default());
            if double {
                edges.extend(of.values().iter().flat_map(|&edge| halves(edge)));
            } else {
                let (lower, last) = of.in_f32();
                spacing = spacing_of(&lower, last);
                edges.extend(lower);
            }
            taps.extend(JointColumn { spacing, column, bins, first }.taps().concat());
            first += bins + u32::from(double);
        }
        taps.extend(edges);
        Ok(Joint { rows, cells, params, taps })
    }

    /// Returns the launch that writes the cell of each row.
    fn finding(&self, src: PixelType, machine: &Machine) -> Result<Launch> {
        let kernel = kernels::find("histogram-joint", "cells", src.element(), ElementType::U32);
        let kernel = kernel.ok_or_else(|| {
            unsupported(JointHistogram::OPERATION, format!("columns of {src}"), "convert the samples to f64")
        })?;
        let launch = launch(kernel, blocks(self.rows, machine), Params::HistogramJointParams(self.params));
        Ok(Launch { taps: self.taps.clone().into(), ..launch })
    }
}

/// Plans joint histograms. For f32 rows without weights, a launch finds and counts the cells if they need at most
/// [`MOST_SLICES`] slices as large as shared memory. Otherwise the first launch writes each row's cell. The cells are
/// then counted by slices or, if there are too many, by atomic additions to totals; weights are summed in order, per
/// cell of each 65536 rows, and then over all rows.
fn joint(problem: &JointHistogram, _: &Variant, machine: &Machine) -> Result<Steps> {
    let joint = Joint::of(problem)?;
    let Joint { rows, cells, .. } = joint;
    let slices = cells.div_ceil(u64::from(machine.shared_bytes / 4)) as u32;
    if problem.src == PixelType::F32 && problem.weights.is_none() && slices <= MOST_SLICES {
        return by_slices(problem, joint, slices, machine);
    }
    let finding = joint.finding(problem.src, machine)?;
    let mut buffers = vec![
        buffer(Role::Input, problem.src.element(), problem.shape.samples()),
        buffer(Role::Scratch, ElementType::U32, rows),
    ];
    let mut launches = vec![finding];
    if let Some(weights) = problem.weights {
        let (more, summing) = in_blocks(
            JointHistogram::OPERATION,
            rows,
            (cells as u32, Apart { each: 1, apart: 1 }),
            weights == PixelType::F32,
        )?;
        buffers.extend(more);
        launches.extend(summing);
        return Ok((buffers, launches));
    }
    if cells <= u64::from(MOST_SLICES * SLICE_CELLS) {
        let columns = rows_of(rows, cells, RESIDENTS, machine);
        check_counters(rows, columns)?;
        let params =
            HistogramCellsParams { pixels: rows, bins: cells as u32, channels: 1, apart: 1, ..Default::default() };
        let counting = launch(Kernel::histogram_joint_counts_u32_u32, 1, Params::HistogramCellsParams(params));
        let slices = cells.div_ceil(SLICE_CELLS as u64) as u32;
        buffers.push(buffer(Role::Scratch, ElementType::U32, u64::from(columns) * cells));
        launches.push(Launch { src: 1, dst: 2, blocks: [columns, slices], ..counting });
        launches.push(Launch { src: 2, dst: 3, ..sums(columns, cells) });
    } else {
        let most = u64::from(machine.multiprocessors * SCATTER_RESIDENTS);
        let enough = rows.div_ceil(u64::from(SCATTER_BLOCK) * ROWS_PER_THREAD).clamp(1, most) as u32;
        check_counters(rows, enough)?;
        let params = HistogramScatterParams {
            samples: rows,
            beside: 0,
            rounds: rows.div_ceil(u64::from(enough * SCATTER_BLOCK)) as u32,
            bins: cells as u32,
            channels: 1,
            step: 1,
            spacing: Spacing::default(),
        };
        let params = Params::HistogramScatterParams(params);
        // Sums of zero rows set the totals to 0.
        launches.push(Launch { src: 1, dst: 2, ..sums(0, cells) });
        launches.push(Launch { src: 1, dst: 2, ..launch(Kernel::histogram_joint_scattered_u32_u64, enough, params) });
    }
    buffers.push(buffer(Role::Output, ElementType::U64, cells));
    Ok((buffers, launches))
}

/// Plans one launch that finds and counts the cells, by slices as large as shared memory, and the sum of the rows of
/// counts.
fn by_slices(problem: &JointHistogram, joint: Joint, slices: u32, machine: &Machine) -> Result<Steps> {
    let Joint { rows, cells, .. } = joint;
    let slice = cells.div_ceil(u64::from(slices)) as u32;
    let most = u64::from(machine.multiprocessors / slices).min(MAX_ROW_CELLS / cells).max(1);
    let columns = rows.div_ceil(u64::from(SLICES_BLOCK) * ROWS_PER_THREAD).clamp(1, most) as u32;
    check_counters(rows, columns)?;
    let params = Params::HistogramJointParams(HistogramJointParams { slice, ..joint.params });
    let counting = Launch {
        blocks: [columns, slices],
        shared_bytes: slice * 4,
        taps: joint.taps.into(),
        ..launch(Kernel::histogram_joint_slices_f32_u32, columns, params)
    };
    let buffers = vec![
        buffer(Role::Input, ElementType::F32, problem.shape.samples()),
        buffer(Role::Scratch, ElementType::U32, u64::from(columns) * cells),
        buffer(Role::Output, ElementType::U64, cells),
    ];
    Ok((buffers, vec![counting, Launch { src: 1, dst: 2, ..sums(columns, cells) }]))
}

/// Returns the launch that adds up rows of counts.
fn sums(rows: u32, cells: u64) -> Launch {
    let params = HistogramMergeParams { partials: rows, bins: cells as u32 };
    let blocks = (cells as u32).div_ceil(MERGE_BLOCK);
    launch(Kernel::histogram_slices_sums_u32_u64, blocks, Params::HistogramMergeParams(params))
}

fn cells(bins: [u32; 2]) -> JointHistogram {
    let (columns, edges) = (valid(Columns::all(2)), bins.map(whole_edges).to_vec());
    JointHistogram { shape: shape(20, 2), src: PixelType::F32, columns, edges, weights: None }
}

pub(crate) const VARIANTS: &[Variant] = &[Variant::new(
    "histogram-joint",
    Family::Histogram,
    "up to 2^26 cells, and 2^27 sums of weights in all",
    &For(joint),
)
.examples(|| vec![limit(cells([1 << 13; 2]), cells([1 << 13, (1 << 13) + 1]))])];

#[cfg(test)]
mod tests {
    use crate::{Machine, untuned as plan};
    use apron_abi::{JointColumn, Params};
    use apron_core::{Bins, Columns, Edges, JointHistogram, PixelType, Shape};

    fn problem(src: PixelType, sides: &[usize], rows: u32) -> JointHistogram {
        let even = |&count: &usize| Bins { count, range: Some((0.0, 1.0)) }.fixed_edges(PixelType::F64).unwrap();
        let edges: Vec<Edges> = sides.iter().map(even).collect();
        let columns = Columns::all(sides.len() as u32).unwrap();
        let shape = Shape::new(sides.len() as u32, rows, 1).unwrap();
        JointHistogram { shape, src, columns, edges, weights: None }
    }

    #[test]
    fn a_million_rows_in_32768_cells_take_one_launch_and_sums() {
        let recipe = plan(&problem(PixelType::F32, &[32; 3], 1 << 20).into(), None, &Machine::EMULATED).unwrap();
        assert_eq!(recipe.launches.len(), 2);
        let Params::HistogramJointParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
        assert_eq!(
            (params.rows, params.row, params.columns, params.cells, params.slice),
            (1 << 20, 3, 3, 32768, 32768)
        );
        // With a margin of 0 no sample is compared with an edge.
        let taps = recipe.launches[0].taps.as_chunks::<4>().0;
        for column in 0..3 {
            let of = JointColumn::of_taps(taps[2 * column], taps[2 * column + 1]);
            assert_eq!((of.column, of.bins, of.first), (column as u32, 32, 24 + 32 * column as u32));
            assert_eq!((of.spacing.per_unit, of.spacing.margin), (32.0, 0.0));
        }
        assert_eq!(recipe.launches[0].shared_bytes, 131072);
    }

    #[test]
    fn what_does_not_fit_takes_other_kernels() {
        let launches = |problem: JointHistogram| {
            let recipe = plan(&problem.into(), None, &Machine::EMULATED).unwrap();
            recipe.launches.iter().map(|launch| launch.kernel.facts().entry).collect::<Vec<_>>()
        };
        let of_bytes = launches(problem(PixelType::U8, &[16, 16], 100));
        let sums = "histogram_slices_sums_u32_u64";
        assert_eq!(of_bytes, ["histogram_joint_cells_u8_u32", "histogram_joint_counts_u32_u32", sums]);
        let many = launches(problem(PixelType::F32, &[512, 1024], 100));
        assert_eq!(many, ["histogram_joint_cells_f32_u32", sums, "histogram_joint_scattered_u32_u64"]);
        let weighted = JointHistogram { weights: Some(PixelType::F32), ..problem(PixelType::F64, &[4, 4], 100) };
        let kernels = launches(weighted);
        assert_eq!(kernels[..2], ["histogram_joint_cells_f64_u32", "histogram_weighted_f32_weights_u32_f64"]);
        let error = plan(&problem(PixelType::U8, &[1 << 13, (1 << 13) + 1], 9).into(), None, &Machine::EMULATED);
        assert!(error.unwrap_err().to_string().contains("67117056 cells (at most 67108864)"));
    }
}
