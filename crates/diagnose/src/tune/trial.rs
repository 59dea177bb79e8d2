//! The replay of all traces under one setting.

use allocator::replay::{Program, ReplayOutcome, replay};
use allocator::{Settings, SimulatedDevice};
use report::tune::{Setting, TunedDevice};
use trace::Bytes;

use super::cost::{calls, cost_us};
use super::traces::Trace;

/// The device of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    /// The total memory and other processes' share; `None` for a device that is never full.
    pub(super) device: Option<(Bytes, Bytes)>,
}

impl Stage {
    /// Returns a stage on `device` with other processes' share; never full for `None`.
    pub(super) fn on(device: Option<&TunedDevice>) -> Stage {
        Stage { device: device.map(|device| (device.total_bytes, device.total_bytes - device.usable_bytes)) }
    }

    /// Returns a fresh simulated device.
    pub(super) fn simulated(self) -> SimulatedDevice {
        let (total, used) = self.device.unwrap_or((Bytes(SimulatedDevice::NEVER_FULL_BYTES), Bytes::ZERO));
        SimulatedDevice::new(total.0, used.0)
    }
}

/// Returns the result of one replay.
pub(super) fn outcome(trace: &Trace<'_>, program: &Program, settings: &Settings, stage: Stage) -> Setting {
    to_setting(&replay(program, settings, trace.rules(), stage.simulated()), settings)
}

fn to_setting(outcome: &ReplayOutcome, settings: &Settings) -> Setting {
    let stats = &outcome.stats;
    let (calls, retries) = (calls(stats, settings), stats.num_alloc_retries);
    Setting {
        conf: String::new(),
        reserved_bytes: outcome.peak_reserved_bytes(),
        allocated_bytes: outcome.peak_allocated_bytes(),
        segments: stats.segment.all.peak,
        retries,
        oom: outcome.failed.is_some() || stats.num_ooms > 0,
        cost_us: cost_us(&calls, retries),
        calls,
        too_costly: false,
        reserved_bytes_by_trace: Vec::new(),
    }
}

/// Returns the largest value of each figure.
pub(super) fn worst(conf: String, outcomes: Vec<Setting>) -> Setting {
    let by_trace =
        if outcomes.len() > 1 { outcomes.iter().map(|one| one.reserved_bytes).collect() } else { Vec::new() };
    let mut worst = Setting { conf, reserved_bytes_by_trace: by_trace, ..Setting::default() };
    for one in outcomes {
        worst.reserved_bytes = worst.reserved_bytes.max(one.reserved_bytes);
        worst.allocated_bytes = worst.allocated_bytes.max(one.allocated_bytes);
        worst.segments = worst.segments.max(one.segments);
        worst.retries = worst.retries.max(one.retries);
        worst.oom |= one.oom;
        if one.cost_us >= worst.cost_us {
            (worst.cost_us, worst.calls) = (one.cost_us, one.calls);
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use report::tune::Calls;

    use super::*;

    #[test]
    fn of_several_traces_the_worst_of_each_figure_counts() {
        let one = Setting { reserved_bytes: Bytes(5), retries: 2, cost_us: 7, ..Setting::default() };
        let calls = Calls { cuda_malloc: 9, ..Calls::default() };
        let other =
            Setting { reserved_bytes: Bytes(3), segments: 4, oom: true, cost_us: 900, calls, ..Setting::default() };
        let expected = Setting {
            conf: "x".to_owned(),
            reserved_bytes: Bytes(5),
            segments: 4,
            retries: 2,
            oom: true,
            cost_us: 900,
            calls,
            reserved_bytes_by_trace: vec![Bytes(5), Bytes(3)],
            ..Setting::default()
        };
        assert_eq!(worst("x".to_owned(), vec![one.clone(), other]), expected);
        assert_eq!(worst(String::new(), vec![one.clone()]), one);
    }
}
