//! The search for allocator settings that suit a recorded program.
//!
//! Every figure is a replay of the recorded requests through the model of PyTorch's allocator. The model is first
//! checked against the recording under the recorded settings, and the report states the result.

mod answer;
mod candidates;
mod case;
mod conf;
mod cost;
mod effect;
mod empty_cache;
mod guides;
mod lines;
mod measured;
mod need;
mod pareto;
mod search;
mod traces;
mod trial;

use allocator::SimulatedDevice;
use allocator::replay::replay;
use allocator::settings::Settings;
use report::tune::{Needs, Setting, TuneReport, TunedDevice};
use trace::Bytes;

pub use self::case::{EmptyCacheAt, Gpu, TuneCase, TuneError, Watch};
pub use self::measured::with_measured;
use self::search::SettingSearch;
use self::traces::{Trace, read_traces};
use self::trial::{Stage, outcome, worst};
use crate::explain::{ExplainInput, InputContents};

/// Returns the report of `tune` for `case`.
///
/// # Errors
/// Fails for inputs without a replayable history, and for positions of `empty_cache` outside every history.
pub fn tune(case: &TuneCase, watch: &dyn Watch) -> Result<TuneReport, TuneError> {
    let traces = read_traces(case)?;
    let device = device(case, &traces);
    let stage = Stage::on(device.as_ref());
    let (limit, packing) = limit(&traces);
    let current = current(&traces, stage);
    let mut search = SettingSearch::new(&traces, stage, limit, watch);
    search.run();
    if search.trials.is_empty() {
        return Err(TuneError::Interrupted);
    }
    let mut report = TuneReport {
        version: case.version.clone(),
        torch: traces.iter().map(|trace| trace.release).max().map(|release| release.to_string()).unwrap_or_default(),
        device,
        limit_bytes: limit,
        packing_bytes: packing,
        search: search.done(),
        cost_model: cost::MODEL,
        folder: case.folder.clone(),
        empty_cache: empty_cache::empty_cache(case, &traces, stage)?,
        guides: guides::guides(&search, &current),
        ..TuneReport::default()
    };
    report.traces = report_traces(&traces, recorded_stage(case, &traces));
    report.savable_bytes = current.reserved_bytes.saturating_sub(limit);
    report.current = current;
    decide(case, &mut search, &mut report);
    Ok(report)
}

/// Sorts the replayed settings and fills the report with the conclusions.
fn decide(case: &TuneCase, search: &mut SettingSearch<'_>, report: &mut TuneReport) {
    let allowance = cost::allowance_us(spent_now(search, &report.current), report.limit_bytes.0);
    pareto::judge(&mut search.trials, &report.current, allowance);
    pareto::sort(&mut search.trials, &report.current);
    let trials = &search.trials;
    report.settings = trials.iter().map(|trial| trial.setting.clone()).collect();
    report.front = pareto::front(trials, &report.current);
    report.recommended = answer::recommendation(search, trials, &report.current);
    report.needs = needs(search, report);
    report.findings = answer::findings(report, answer::of_default(trials));
    report.notes = answer::notes(case, search, report);
}

/// Returns the present cost of driver calls; if the program runs out now, the cost on a device that is never full.
fn spent_now(search: &SettingSearch<'_>, current: &Setting) -> u64 {
    if !current.oom {
        return current.cost_us;
    }
    self::current(search.traces, Stage::default()).cost_us
}

/// Returns the requested device, else the device of the recording.
fn device(case: &TuneCase, traces: &[Trace<'_>]) -> Option<TunedDevice> {
    let of_gpu = |gpu: &Gpu| TunedDevice {
        name: gpu.name.clone(),
        total_bytes: gpu.total,
        usable_bytes: gpu.total - gpu.context,
    };
    case.device.as_ref().map(of_gpu).or_else(|| recorded_on(case, traces))
}

/// Returns the device of the run, else the device that an error in the history describes.
fn recorded_on(case: &TuneCase, traces: &[Trace<'_>]) -> Option<TunedDevice> {
    let launches = case.inputs.iter().filter_map(|input| match &input.contents {
        InputContents::Run(_, Some(launch)) => Some(launch),
        _ => None,
    });
    let of_launch = launches.map(|launch| TunedDevice {
        name: launch.gpu_name.clone(),
        total_bytes: Bytes(launch.device_total_bytes),
        usable_bytes: Bytes(launch.device_total_bytes) - Bytes(launch.device_context_bytes),
    });
    let of_error = traces.iter().filter_map(|trace| trace.capacity).min().map(|usable| TunedDevice {
        name: "the memory that the recorded error tells of".to_owned(),
        total_bytes: usable,
        usable_bytes: usable,
    });
    of_launch.min_by_key(|device| device.usable_bytes).or(of_error)
}

/// Returns the device of the recording; never full for a recording without a limit.
fn recorded_stage(case: &TuneCase, traces: &[Trace<'_>]) -> Stage {
    let is_unlimited =
        |input: &ExplainInput| matches!(&input.contents, InputContents::Run(_, Some(launch)) if launch.unlimited);
    if case.inputs.iter().any(is_unlimited) {
        return Stage::default();
    }
    Stage::on(recorded_on(case, traces).as_ref())
}

/// Returns the largest limit and the largest packing of all traces.
fn limit(traces: &[Trace<'_>]) -> (Bytes, Option<Bytes>) {
    let limits: Vec<(Bytes, Option<Bytes>)> = traces.iter().map(|trace| trace.limit).collect();
    let packing = limits.iter().map(|&(_, packing)| packing).collect::<Option<Vec<Bytes>>>();
    let limit = limits.iter().map(|&(limit, _)| limit).max().unwrap_or_default();
    (limit, packing.and_then(|packings| packings.into_iter().max()))
}

/// Replays each trace under its recorded settings.
fn current(traces: &[Trace<'_>], stage: Stage) -> Setting {
    let outcomes = traces.iter().map(|trace| outcome(trace, &trace.program, &trace.settings, stage));
    worst(traces.first().map(|trace| trace.conf.clone()).unwrap_or_default(), outcomes.collect())
}

fn report_traces(traces: &[Trace<'_>], stage: Stage) -> Vec<report::tune::TunedTrace> {
    let replayed = |trace: &Trace<'_>| outcome(trace, &trace.program, &trace.settings, stage).reserved_bytes;
    traces.iter().map(|trace| trace.to_report(replayed(trace))).collect()
}

/// Returns the needs under the current and the recommended settings.
fn needs(search: &SettingSearch<'_>, report: &TuneReport) -> Needs {
    if report.search.interrupted {
        return Needs::default();
    }
    let recommended = report.recommended.as_ref().and_then(|recommended| search.settings(&recommended.setting.conf));
    let current = || need(search, report.limit_bytes, |trace| &trace.settings);
    let then = || recommended.as_ref().and_then(|settings| need(search, report.limit_bytes, |_| settings));
    let (current, then) = rayon::join(current, then);
    Needs {
        current_bytes: current.map(|need| need.bytes),
        recommended_bytes: then.map(|need| need.bytes),
        contradicted_at: [current, then].into_iter().flatten().find_map(|need| need.contradicted_at),
    }
}

fn need<'s>(
    search: &'s SettingSearch<'_>,
    limit: Bytes,
    settings: impl Fn(&'s Trace<'_>) -> &'s Settings + Sync,
) -> Option<need::Need> {
    let reserved =
        |trace: &'s Trace<'_>| outcome(trace, &trace.program, settings(trace), Stage::default()).reserved_bytes;
    let enough = search.traces.iter().map(reserved).max()?;
    let fits = |bytes: Bytes| {
        search.traces.iter().all(|trace| {
            let device = SimulatedDevice::new(bytes.0, 0);
            let outcome = replay(&trace.program, settings(trace), trace.rules(), device);
            outcome.failed.is_none() && outcome.stats.num_ooms == 0
        })
    };
    need::need(limit, enough, fits)
}
