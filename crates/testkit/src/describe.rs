//! Descriptions of cases for reports.

use crate::Case;
use crate::extents::Over;
use apron::PointOp;
use apron_core::{
    CellHistogram, CountProblem, Extent, FilterProblem, MapProblem, MeasureProblem, Problem, Scale, VolumeWeights,
};
use std::fmt;

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(method) = self.chosen {
            write!(f, "{method}: ")?;
        }
        match &self.problem {
            Problem::Filter(FilterProblem::Correlate(p)) => {
                let clamp = if p.clamp { " clamp" } else { "" };
                let (width, height) = (p.mask.width(), p.mask.height());
                let over = Over(p.extent, p.shape);
                write!(f, "{over} {}->{} mask {width}x{height} {}{clamp}", p.src, p.dst, p.border)
            }
            Problem::Filter(FilterProblem::Fft(p)) => {
                let over = Over(p.extent, p.shape);
                write!(f, "{over} {}->f32 transforms, mask {}x{} {}", p.src, p.mask.width(), p.mask.height(), p.border)
            }
            Problem::Filter(FilterProblem::Separable(p)) => {
                let over = Over(p.extent, p.shape);
                write!(f, "{over} {}->{} taps {}+{} {}", p.src, p.dst, p.taps_x.len(), p.taps_y.len(), p.border)
            }
            Problem::Filter(FilterProblem::LowRank(p)) => {
                let (over, (x, y)) = (Over(p.extent, p.shape), &p.terms[0]);
                write!(f, "{over} {}->f32 {} times taps {}+{} {}", p.src, p.terms.len(), x.len(), y.len(), p.border)
            }
            Problem::Filter(FilterProblem::Box(p)) => {
                let scale = if let Scale::Mean = p.scale { "mean" } else { "box" };
                let over = Over(p.extent, p.shape);
                write!(f, "{over} {}->{} {scale} {}x{} {}", p.src, p.dst, p.width, p.height, p.border)
            }
            Problem::Count(CountProblem::Bytes(p)) => {
                write!(f, "{} u8{}", p.shape, if p.per_channel { " per channel" } else { "" })
            }
            Problem::Count(CountProblem::Edges(p)) => {
                let apart = if p.per_channel { " per channel" } else { "" };
                let range = p.bins.range.map_or(String::new(), |(low, high)| format!(" {low:.1e}..{high:.1e}"));
                write!(f, "{} {} {} bins{range}{apart}", p.shape, p.src, p.bins.count)
            }
            Problem::Filter(FilterProblem::LocalStd(p)) => {
                let over = Over(p.extent, p.shape);
                write!(f, "{over} {}->{} window {}x{} {}", p.src, p.dst, p.width, p.height, p.border)
            }
            Problem::Filter(FilterProblem::Pointwise(p)) => {
                let types = p.second.map_or(p.src.to_string(), |second| format!("{},{second}", p.src));
                let op = match p.op {
                    PointOp::Weighted { a, b, c, threshold } => {
                        format!("weights {a:.1} {b:.1} {c:.0} from {threshold:.0}")
                    }
                    PointOp::Magnitude => "magnitude".into(),
                    PointOp::Direction => "direction".into(),
                    PointOp::Product => "product".into(),
                    PointOp::Deviation { n } => format!("deviation of {n}"),
                    PointOp::Alpha => "alpha".into(),
                    PointOp::Cast(cast) => format!("{:?} {:?}", cast.rounding, cast.overflow),
                    PointOp::Below { last } => format!("not above, up to {last}"),
                };
                write!(f, "{} {types}->{} {op}", p.shape, p.dst)
            }
            Problem::Filter(FilterProblem::Scaled(p)) => crate::scaled::describe(p, f),
            Problem::Filter(FilterProblem::Paired(p)) => crate::paired::describe(p, f),
            Problem::Filter(FilterProblem::Volume(p)) => {
                let [width, height, depth] = p.weights.size();
                let kind = if let VolumeWeights::Dense(_) = p.weights { "mask" } else { "taps" };
                write!(f, "{} of {} planes {}->{} {kind} ", p.shape, p.depth, p.src, p.dst)?;
                write!(f, "{width}x{height}x{depth} {} {}", p.borders, p.extent)
            }
            Problem::Filter(FilterProblem::Pad(p)) => {
                let over = Over(Extent::Region(p.region), p.shape);
                write!(f, "{over} {} {}", p.pixel, p.borders)
            }
            Problem::Count(CountProblem::Cells(p)) => describe_cells(p, f),
            Problem::Map(problem) => describe_map(problem, f),
            Problem::Measure(problem) => describe_measure(problem, f),
        }
    }
}

fn describe_cells(p: &CellHistogram, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let bins = p.edges.as_ref().map_or(String::new(), |edges| format!(" {} uneven bins", edges.bins()));
    let masked = if p.masked { " masked" } else { "" };
    write!(f, "{} {}{bins}{masked}{}", p.shape, p.src, apart(p.per_channel))
}

fn describe_map(problem: &MapProblem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match problem {
        MapProblem::Lookup(p) => write!(f, "{} u8 by {} tables", p.shape, p.tables),
        MapProblem::Equalize(p) => write!(f, "{} u8", p.shape),
        MapProblem::Clahe(p) => {
            let (across, down) = p.tiles;
            write!(f, "{} {} clip {} by {across}x{down} tiles", p.shape, p.src, p.clip)
        }
    }
}

fn describe_measure(problem: &MeasureProblem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match problem {
        MeasureProblem::Weighted(p) => {
            let (weights, bins) = (if p.single { "f32" } else { "f64" }, p.edges.bins());
            write!(f, "{} {} {weights} weights in {bins} uneven bins{}", p.shape, p.src, apart(p.per_channel))
        }
        MeasureProblem::Joint(p) => {
            let sides: Vec<String> = p.edges.iter().map(|edges| edges.bins().to_string()).collect();
            write!(f, "{} {} columns in {} uneven bins", p.shape, p.src, sides.join("x"))
        }
        MeasureProblem::Statistics(p) => write!(f, "{} {}{}", p.shape, p.src, apart(p.per_channel)),
    }
}

fn apart(per_channel: bool) -> &'static str {
    if per_channel { " per channel" } else { "" }
}
