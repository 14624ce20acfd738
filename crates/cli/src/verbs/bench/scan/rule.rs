//! The rule that a scan checks: cost follows the work.

/// Most growth of the time between neighbours, as a multiple of the growth of the work.
const STEP: f64 = 1.5;
/// Longest time, as a multiple of the limit's.
const TIMES: f64 = 3.0;
/// Times below this multiple of a launch are launch overhead, which need not grow with the work.
const LAUNCHES: f64 = 4.0;

/// The time of a point and the least time of its work, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) ms: f64,
    /// `None` on devices whose limits are not measured.
    pub(super) limit_ms: Option<f64>,
}

impl Cost {
    /// Returns the time as a multiple of the limit's.
    pub(super) fn times(&self) -> Option<f64> {
        self.limit_ms.map(|limit| self.ms / limit)
    }
}

/// Returns how a point breaks the rule; empty where it does not. `before` is its lower neighbour.
pub(super) fn broken(point: Cost, before: Option<Cost>, launch_ms: f64) -> Vec<String> {
    let mut broken = Vec::new();
    if let Some(times) = point.times().filter(|times| *times > TIMES) {
        broken.push(format!("{times:.1} x its limit"));
    }
    let floor = LAUNCHES * launch_ms;
    if let Some(before) = before.filter(|_| point.ms > floor) {
        let time = point.ms / before.ms.max(floor);
        let work = match (point.limit_ms, before.limit_ms) {
            (Some(limit), Some(before)) => (limit.max(floor) / before.max(floor)).max(1.0),
            _ => 1.0,
        };
        if time > STEP * work {
            broken.push(format!("{time:.1} x the time for {work:.1} x the work"));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_may_grow_as_the_work_does() {
        let cost = |ms, limit: f64| Cost { ms, limit_ms: Some(limit) };
        let none = Vec::<String>::new();
        assert_eq!(broken(cost(1.0, 0.4), Some(cost(0.5, 0.2)), 0.01), none);
        assert_eq!(broken(cost(1.0, 0.4), Some(cost(0.6, 0.39)), 0.01), ["1.7 x the time for 1.0 x the work"]);
        assert_eq!(broken(cost(1.0, 0.3), None, 0.01), ["3.3 x its limit"]);
        assert_eq!(broken(cost(4.0, 1.0), Some(cost(1.0, 1.0)), 0.01).len(), 2);
        // Launches alone may take any time up to 3 times the limit, which has one, too.
        assert_eq!(broken(cost(0.03, 0.012), Some(cost(0.005, 0.012)), 0.01), none);
        assert_eq!(broken(cost(0.03, 0.006), Some(cost(0.005, 0.006)), 0.01), ["5.0 x its limit"]);
        // Grown from below the floor: the floor counts.
        assert_eq!(broken(cost(0.05, 0.02), Some(cost(0.005, 0.001)), 0.01), none);
        assert_eq!(broken(Cost { ms: 2.0, limit_ms: None }, Some(Cost { ms: 1.0, limit_ms: None }), 0.0).len(), 1);
    }
}
