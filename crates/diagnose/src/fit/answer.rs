//! The state of a finished or interrupted search, as a report.

use std::collections::BTreeMap;
use std::ffi::OsString;

use remedies::{BATCH_SIZE, OWN_OPTIONS};
use report::fit::{Effect, FitGpu, FitReport, FitVerdict, MaxBatch, OwnSetting, Plan, Tried, VramRow};
use report::{Assumption, Part};
use serde_json::Value;
use trace::run::Ended;
use trace::{Bytes, Run};

use super::catalogue::Choosable;
use super::cost::cost;
use super::found::{FoundPlans, in_program, make_plan_of};
use super::search::{Search, Standing, is_helpful, took_effect};
use super::trial::{Ending, Trial};
use super::variant::Variant;
use crate::judge::halt::find_stop;
use crate::judge::made_up::list_made_up;
use crate::judge::surroundings::Surroundings;
use crate::measure::usage::find_peak;

/// The source of a batch size that an option of the command line sets.
const OPTION: &str = "option";

/// The launcher's facts about a search.
#[derive(Clone, Debug, Default)]
pub struct FitCase {
    /// oomph's own version.
    pub version: String,
    /// The folder that paths are shown relative to.
    pub folder: String,
    /// The GPU that was asked about.
    pub gpu: FitGpu,
    /// Other sizes of memory to find a plan for.
    pub by_vram: Vec<(Bytes, Bytes)>,
    /// Its context.
    pub context_bytes: Bytes,
    /// GPUs by size, the smallest first, each with its context.
    pub gpus: Vec<(FitGpu, Bytes)>,
    /// Figures that were assumed, not measured.
    pub assumptions: Vec<Assumption>,
    /// The words of the command that prints the first plan as a patch.
    pub emit: Vec<String>,
    /// The words that start the program.
    pub command: Vec<String>,
}

/// The runs of the launcher after the search, and the account of all runs.
#[derive(Debug, Default)]
pub struct FitRuns {
    /// The runs of [`FoundPlans::list_unconfirmed`], in its order, up to the first that ended well.
    pub fresh: Vec<Trial>,
    /// The contents at the peak of the floor, if no plan fits.
    pub floor_holds: Vec<Part>,
    /// The largest batch that fits, on request.
    pub max_batch: Option<MaxBatch>,
    /// The number of dry runs.
    pub dry_runs: u32,
    /// The number of results taken from the run cache.
    pub cached: u32,
    /// The remark of the run cache.
    pub remark: Option<String>,
    /// What the launcher knows of the runs' surroundings.
    pub surroundings: Surroundings,
    /// True if a signal ended the search early.
    pub is_interrupted: bool,
    /// The duration in seconds.
    pub seconds: f64,
}

/// The report of what `search` found, after later runs of the plans that were `found`.
pub fn fit(case: &FitCase, search: &Search, found: FoundPlans, runs: FitRuns) -> FitReport {
    let notes = notes(search).chain(found.note_chance(&runs.fresh)).chain(runs.remark);
    let notes = notes.chain(runs.surroundings.sentences()).collect();
    let tried = search.choosable().into_iter().filter_map(|option| judge_option(search, option));
    let tried = tried.map(|tried| found.price(tried)).collect();
    let confirmed = found.confirm(&runs.fresh);
    let described = |plan: Plan| describe_settings(case, search, plan);
    FitReport {
        version: case.version.clone(),
        torch: search.base().and_then(|base| base.torch.clone()),
        gpu: case.gpu.clone(),
        verdict: confirmed.verdict,
        next: (confirmed.verdict == FitVerdict::FitsWithPlan).then(|| case.emit.clone()),
        before: confirmed.before,
        plans: confirmed.plans.into_iter().map(described).collect(),
        floor: confirmed.floor.map(described),
        floor_holds: runs.floor_holds,
        tried,
        by_vram: case.by_vram.iter().map(|(total, target)| row(search, *total, *target)).collect(),
        smallest_gpu: smallest_gpu(case, confirmed.before.device_bytes),
        batch: search.base().and_then(|base| base.batch.clone()),
        max_batch: runs.max_batch,
        made_up_data: search.base().map(|base| base.made_up_data.clone()).unwrap_or_default(),
        assumptions: case.assumptions.clone(),
        notes,
        effects: runs.surroundings.effects,
        runs: runs.dry_runs,
        kept: runs.cached,
        interrupted: runs.is_interrupted,
        stop: None,
        seconds: runs.seconds,
        cause: None,
        prefer: search.choice.prefer,
        kept_seconds: None,
        folder: case.folder.clone(),
    }
}

/// A plan with the program's own settings among its changes, and the command line with them.
fn describe_settings(case: &FitCase, search: &Search, plan: Plan) -> Plan {
    let Some(base) = search.base() else { return plan };
    let words: Vec<OsString> = case.command.iter().map(OsString::from).collect();
    // The default of an option is edited with the rest of the source.
    let is_typed = |name: &String| options::spelling_in(&words, std::slice::from_ref(name)).is_some();
    let of_option = base.batch.as_ref().filter(|batch| batch.source == OPTION && is_typed(&batch.name));
    let mut settings = Vec::new();
    for change in &plan.changes {
        let is_batch = change.remedy == BATCH_SIZE && of_option.is_some();
        for (key, value) in &change.settings {
            let setting = if change.remedy == OWN_OPTIONS {
                let from = base.own.iter().find(|own| own.key == *key).map(|own| own.value.clone());
                OwnSetting { key: key.clone(), from: from.unwrap_or_default(), to: value.clone() }
            } else if let Some(batch) = of_option.filter(|_| is_batch && key == remedies::setting::SIZE) {
                OwnSetting { key: batch.name.clone(), from: batch.size.into(), to: value.clone() }
            } else {
                continue;
            };
            settings.push(setting);
        }
    }
    let command = command_with(&case.command, &settings);
    Plan { settings, command, ..plan }
}

/// The words that start a program with settings; empty where its command line stays as it is.
fn command_with(command: &[String], settings: &[OwnSetting]) -> Vec<String> {
    let values: BTreeMap<String, Value> =
        settings.iter().map(|setting| (setting.key.clone(), setting.to.clone())).collect();
    let words: Vec<OsString> = command.iter().map(OsString::from).collect();
    let changed = options::change_command(&words, &values);
    let variables: Vec<String> =
        options::list_variables(&values).map(|(name, value)| format!("{name}={value}")).collect();
    if changed == words && variables.is_empty() {
        return Vec::new();
    }
    let env = (!variables.is_empty()).then(|| "env".to_owned());
    let changed = changed.iter().map(|word| word.to_string_lossy().into_owned());
    env.into_iter().chain(variables).chain(changed).collect()
}

/// The report of a search whose first dry run, of the unchanged program, was stopped.
pub fn fit_stopped(case: &FitCase, run: &Run, ended: &Ended, surroundings: Surroundings, seconds: f64) -> FitReport {
    FitReport {
        version: case.version.clone(),
        torch: run.torch().map(str::to_owned),
        gpu: case.gpu.clone(),
        verdict: FitVerdict::Unknown,
        before: find_peak(run, case.context_bytes),
        made_up_data: list_made_up(run),
        assumptions: case.assumptions.clone(),
        notes: surroundings.sentences().collect(),
        effects: surroundings.effects,
        interrupted: true,
        stop: find_stop(run, Some(ended), None),
        seconds,
        folder: case.folder.clone(),
        ..FitReport::default()
    }
}

fn notes(search: &Search) -> impl Iterator<Item = String> {
    let known = [note_unreplayed(search), note_side_streams(search), without_batch(search)];
    let missing = search.base().iter().flat_map(|base| &base.missing).cloned().collect::<Vec<_>>();
    known.into_iter().flatten().chain(missing)
}

/// That settings of the allocator were not looked for.
fn note_unreplayed(search: &Search) -> Option<String> {
    let why = search.base()?.unreplayed.as_ref()?;
    Some(format!("no settings of the allocator were looked for: {why}"))
}

/// That the figures of a program with side streams are lower bounds.
fn note_side_streams(search: &Search) -> Option<String> {
    search.base()?.side_streams.then(|| {
        "blocks that a side stream used (`record_stream`) come back at once in these runs, so the figures are lower bounds: `oomph check` \
         with the changes counts them as late as they can come back"
            .to_owned()
    })
}

/// That no remedy could make the batches smaller.
fn without_batch(search: &Search) -> Option<String> {
    search.base()?.why_no_batch().map(str::to_owned)
}

/// The smallest GPU with room for `need`, with its own context instead of the requested GPU's.
fn smallest_gpu(case: &FitCase, need: Bytes) -> Option<FitGpu> {
    let elsewhere = |context: Bytes| need - case.context_bytes + context;
    case.gpus.iter().find(|(gpu, context)| elsewhere(*context) <= gpu.target_bytes).map(|(gpu, _)| gpu.clone())
}

/// The cheapest plan for another size of memory.
fn row(search: &Search, total: Bytes, target: Bytes) -> VramRow {
    let unchanged = (search.standing(&[], target) == Standing::Fits).then(|| Plan {
        changes: Vec::new(),
        peak: search.base().map(|base| base.usage).unwrap_or_default(),
        fits: true,
        retries: false,
        cost: cost(&[]),
        places: Vec::new(),
        settings: Vec::new(),
        command: Vec::new(),
    });
    VramRow { total_bytes: total, target_bytes: target, plan: unchanged.or_else(|| cheapest(search, target)) }
}

fn cheapest(search: &Search, target: Bytes) -> Option<Plan> {
    let helpful = search.candidates(true);
    search.cheapest_set(&helpful, target).and_then(|set| make_plan_of(search, &set, target))
}

/// The effect of an option alone.
fn judge_option(search: &Search, option: Choosable) -> Option<Tried> {
    let trial = search.trial(&Variant::need(vec![option.change.clone()]))?;
    let before = search.base()?.usage;
    let effect = match &trial.ending {
        Ending::Failed { message } => Effect::Fails { message: message.clone() },
        Ending::RanOut => Effect::Fails { message: "it ran out of memory without a limit".to_owned() },
        Ending::Done if option.is_own() && !search.holds(&option, trial) && is_helpful(trial, &option, before) => {
            Effect::NotApplicable { why: "it does something else than its name says".to_owned() }
        }
        Ending::Done if !took_effect(trial, &option.change.remedy) => {
            Effect::NotApplicable { why: why(trial).unwrap_or_else(|| "it found nothing to change".to_owned()) }
        }
        Ending::Done if is_helpful(trial, &option, before) => {
            Effect::Helps { peak: trial.usage, cost: in_program(cost(&[&option]), trial) }
        }
        Ending::Done => Effect::Nothing { peak: trial.usage, why: why(trial) },
    };
    Some(Tried { change: option.change, effect })
}

fn why(trial: &Trial) -> Option<String> {
    trial.rejected.first().map(|placed| placed.text.clone())
}
