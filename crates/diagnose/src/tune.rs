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
mod pareto;
mod search;
mod traces;
mod trial;

use allocator::SimulatedDevice;
use allocator::replay::replay;
use allocator::settings::Settings;
use report::Finding;
use report::tune::{EmptyCache, Guide, Needs, Recommendation, Search, Setting, TuneReport, TunedDevice, TunedTrace};
use trace::{Bytes, Run};

pub use self::case::{EmptyCacheAt, Gpu, TuneCase, TuneError, Watch};
use self::search::SettingSearch;
use self::traces::{Trace, read_traces};
use self::trial::{Stage, outcome, worst};
use crate::explain::{ExplainInput, InputContents};
use crate::measure::least::{Least, find_least};

/// The figures of a search, on which its answer rests.
#[derive(Debug)]
struct Figures {
    /// The version of PyTorch whose allocator was replayed.
    torch: String,
    /// The replayed traces.
    traces: Vec<TunedTrace>,
    device: Option<TunedDevice>,
    /// The outcome of the recorded settings.
    current: Setting,
    /// The most bytes alive at once.
    limit_bytes: Bytes,
    packing_bytes: Option<Bytes>,
    /// The extent of the search.
    search: Search,
}

/// The answer to a case, before a run under the recommended setting.
#[derive(Debug)]
pub struct Tuning {
    version: String,
    folder: String,
    figures: Figures,
    empty_cache: Vec<EmptyCache>,
    guides: Vec<Guide>,
    settings: Vec<Setting>,
    front: Vec<Setting>,
    recommended: Option<Recommendation>,
    needs: Needs,
    findings: Vec<Finding>,
    notes: Vec<String>,
    made_up_data: Vec<String>,
}

/// Searches for the setting that suits `case`.
///
/// # Errors
/// Fails for inputs without a replayable history, and for positions of `empty_cache` outside every history.
pub fn tune(case: &TuneCase, watch: &dyn Watch) -> Result<Tuning, TuneError> {
    let traces = read_traces(case)?;
    let device = device(case, &traces);
    let stage = Stage::on(device.as_ref());
    let (limit_bytes, packing_bytes) = limit(&traces);
    let current = current(&traces, stage);
    let mut search = SettingSearch::new(&traces, stage, limit_bytes, watch);
    search.run();
    if search.trials.is_empty() {
        return Err(TuneError::Interrupted);
    }
    let figures = Figures {
        torch: traces.iter().map(|trace| trace.release).max().map(|release| release.to_string()).unwrap_or_default(),
        traces: report_traces(&traces, recorded_stage(case, &traces)),
        device,
        current,
        limit_bytes,
        packing_bytes,
        search: search.done(),
    };
    let empty_cache = empty_cache::empty_cache(case, &traces, stage)?;
    let guides = guides::guides(&search, &figures.current);
    sort_trials(&mut search, &figures);
    Ok(answer(case, &search, figures, empty_cache, guides))
}

/// Judges the replayed settings and sorts them, best first.
fn sort_trials(search: &mut SettingSearch<'_>, figures: &Figures) {
    let allowance = cost::allowance_us(spent_now(search, &figures.current), figures.limit_bytes.0);
    pareto::judge(&mut search.trials, &figures.current, allowance);
    pareto::sort(&mut search.trials, &figures.current);
}

fn answer(
    case: &TuneCase,
    search: &SettingSearch<'_>,
    figures: Figures,
    empty_cache: Vec<EmptyCache>,
    guides: Vec<Guide>,
) -> Tuning {
    let trials = &search.trials;
    let recommended = answer::recommendation(search, trials, &figures.current);
    let needs = needs(search, &figures, recommended.as_ref());
    let notes = answer::notes(case, search, &figures, recommended.as_ref(), &needs).into_iter();
    Tuning {
        version: case.version.clone(),
        folder: case.folder.clone(),
        settings: trials.iter().map(|trial| trial.setting.clone()).collect(),
        front: pareto::front(trials, &figures.current),
        findings: answer::findings(&figures, recommended.as_ref(), answer::of_default(trials)),
        notes: notes.chain(case.surroundings.sentences()).collect(),
        made_up_data: answer::list_made_up_data(case),
        figures,
        empty_cache,
        guides,
        recommended,
        needs,
    }
}

impl Tuning {
    /// Returns the recommended value of `PYTORCH_CUDA_ALLOC_CONF`; `None` if no setting is better.
    pub fn recommended_conf(&self) -> Option<&str> {
        self.recommended.as_ref().map(|recommended| recommended.setting.conf.as_str())
    }

    /// Checks that the search was ended before its end.
    pub fn is_interrupted(&self) -> bool {
        self.figures.search.interrupted
    }

    /// Returns the report, with what `run`, a run under the recommended setting, says of the prediction. `seconds`: the
    /// duration of search and run.
    pub fn report(self, run: Option<&Run>, seconds: f64) -> TuneReport {
        let (recommended, findings) = match (self.recommended, run) {
            (Some(recommended), Some(run)) => {
                let (recommended, findings) = measured::verify(recommended, self.findings, run);
                (Some(recommended), findings)
            }
            (recommended, _) => (recommended, self.findings),
        };
        let figures = self.figures;
        TuneReport {
            version: self.version,
            torch: figures.torch,
            traces: figures.traces,
            device: figures.device,
            savable_bytes: figures.current.reserved_bytes.saturating_sub(figures.limit_bytes),
            current: figures.current,
            recommended,
            settings: self.settings,
            front: self.front,
            guides: self.guides,
            empty_cache: self.empty_cache,
            limit_bytes: figures.limit_bytes,
            packing_bytes: figures.packing_bytes,
            needs: self.needs,
            search: figures.search,
            cost_model: cost::MODEL,
            findings,
            made_up_data: self.made_up_data,
            notes: self.notes,
            seconds,
            folder: self.folder,
        }
    }
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

fn report_traces(traces: &[Trace<'_>], stage: Stage) -> Vec<TunedTrace> {
    let replayed = |trace: &Trace<'_>| outcome(trace, &trace.program, &trace.settings, stage).reserved_bytes;
    traces.iter().map(|trace| trace.to_report(replayed(trace))).collect()
}

/// Returns the needs under the current and the recommended settings.
fn needs(search: &SettingSearch<'_>, figures: &Figures, recommended: Option<&Recommendation>) -> Needs {
    if figures.search.interrupted {
        return Needs::default();
    }
    let recommended = recommended.and_then(|recommended| search.settings(&recommended.setting.conf));
    let current = || need(search, figures.limit_bytes, |trace| &trace.settings);
    let then = || recommended.as_ref().and_then(|settings| need(search, figures.limit_bytes, |_| settings));
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
) -> Option<Least> {
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
    find_least(limit, enough, fits)
}
