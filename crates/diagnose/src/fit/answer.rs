//! What is known at the end of a search, or wherever it was cut short, as a report.

use report::fit::{Cost, Effect, Exactness, FitGpu, FitReport, FitVerdict, Plan, Tried, VramRow};
use report::{Assumption, Change};
use trace::Bytes;

use super::catalogue::Choosable;
use super::cost::{Tier, cost};
use super::plans::{Helpful, choosables, sets, tops};
use super::search::{Search, Standing, changes, is_helpful, took_effect};
use super::trial::{Ending, Trial};
use super::variant::Variant;
use crate::judge::saves;

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
    /// Further remarks.
    pub notes: Vec<String>,
}

/// The report of what `search` found.
pub fn fit(case: &FitCase, search: &Search) -> FitReport {
    let target = case.gpu.target_bytes;
    let plans = plans(search, target);
    let fits = search.standing(&[], target) == Standing::Fits;
    let need = search.base().map(|base| base.usage).unwrap_or_default();
    FitReport {
        gpu: case.gpu.clone(),
        verdict: match (fits, plans.is_empty()) {
            (true, _) => FitVerdict::Fits,
            (false, false) => FitVerdict::FitsWithPlan,
            (false, true) => FitVerdict::DoesNotFit,
        },
        before: need,
        tried: search.choosable().into_iter().filter_map(|option| judge_option(search, option)).collect(),
        by_vram: case.by_vram.iter().map(|(total, target)| row(search, *total, *target)).collect(),
        smallest_gpu: smallest_gpu(case, need.device_bytes),
        batch: search.base().and_then(|base| base.batch.clone()),
        assumptions: case.assumptions.clone(),
        notes: notes(case, search),
        runs: search.runs(),
        version: case.version.clone(),
        torch: search.base().and_then(|base| base.torch.clone()),
        floor: floor(search),
        folder: case.folder.clone(),
        plans,
        ..FitReport::default()
    }
}

fn notes(case: &FitCase, search: &Search) -> Vec<String> {
    let shown = |file| str::strip_prefix(file, &case.folder).map_or(file, |inside| inside.trim_start_matches('/'));
    let saved = search.base().iter().flat_map(|base| &base.saved).map(|file| shown(file)).collect();
    let said = case.notes.iter().cloned();
    said.chain(note_unreplayed(search))
        .chain(note_side_streams(search))
        .chain(without_batch(search))
        .chain(saves::note_left(&saved))
        .collect()
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

/// The smallest GPU that has `need`, with its own context in place of that of the GPU that was asked about.
fn smallest_gpu(case: &FitCase, need: Bytes) -> Option<FitGpu> {
    let elsewhere = |context: Bytes| need - case.context_bytes + context;
    case.gpus.iter().find(|(gpu, context)| elsewhere(*context) <= gpu.target_bytes).map(|(gpu, _)| gpu.clone())
}

/// Every set that fits and is not beaten in both memory and time; the cheapest is the first. A set that still fits with a
/// change less is left out.
fn plans(search: &Search, target: Bytes) -> Vec<Plan> {
    let candidates = search.candidates(true);
    let fits = |set: &[&Helpful]| search.standing(&changes(set), target) == Standing::Fits;
    let most = Tier::ALL.into_iter().flat_map(|tier| tops(&candidates, tier));
    let shrunk = Tier::ALL.into_iter().filter_map(|tier| search.shrink(&candidates, tier, target, 1).0);
    let fitting: Vec<Vec<&Helpful>> =
        sets(&candidates).into_iter().chain(shrunk).chain(most).filter(|set| fits(set)).collect();
    let mut unbeaten: Vec<Plan> = fewer_blocks(search, target).into_iter().collect();
    for set in fitting.iter().filter(|set| is_minimal(set, &fitting)) {
        if let Some(plan) = plan(search, set, target)
            && !unbeaten.iter().any(|other| beats(other, &plan))
        {
            unbeaten.push(plan);
        }
    }
    unbeaten
}

/// The cheapest plan with no more checkpointed blocks than it needs. The time is the time with all blocks, until operators are counted.
fn fewer_blocks(search: &Search, target: Bytes) -> Option<Plan> {
    let fewest = search.with_fewest_blocks(target)?;
    let all = search.cheapest(target)?;
    let candidates = search.candidates(true);
    let set: Vec<&Helpful> = candidates.iter().filter(|helpful| all.contains(&helpful.option.change)).collect();
    make_plan(search, fewest, target, cost(&choosables(&set)))
}

/// Whether no smaller set of the same changes is among those that fit.
fn is_minimal(set: &[&Helpful], fitting: &[Vec<&Helpful>]) -> bool {
    let holds =
        |other: &Vec<&Helpful>| other.iter().all(|one| set.iter().any(|two| one.option.change == two.option.change));
    !fitting.iter().any(|other| other.len() < set.len() && holds(other))
}

/// Whether `one` is as good as `other` in memory, time and results.
fn beats(one: &Plan, other: &Plan) -> bool {
    one.peak.device_bytes <= other.peak.device_bytes
        && one.cost.time_ratio <= other.cost.time_ratio
        && one.cost.exactness <= other.cost.exactness
}

/// A set that was run and fits.
fn plan(search: &Search, set: &[&Helpful], target: Bytes) -> Option<Plan> {
    make_plan(search, changes(set), target, cost(&choosables(set)))
}

/// The plan of changes that were run and fit.
fn make_plan(search: &Search, changes: Vec<Change>, target: Bytes, cost: Cost) -> Option<Plan> {
    if search.standing(&changes, target) != Standing::Fits {
        return None;
    }
    let limited = search.trial(&Variant::within(changes.clone(), target));
    let trial = limited.or_else(|| search.trial(&Variant::need(changes.clone())))?;
    Some(Plan {
        changes: search.to_make(&Variant::need(changes)),
        peak: trial.usage,
        fits: true,
        retries: trial.retries,
        cost: in_program(cost, trial),
        places: trial.applied.clone(),
    })
}

/// A cost with what becomes of the results in this program.
fn in_program(cost: Cost, trial: &Trial) -> Cost {
    let least = if trial.alters { Exactness::OtherNumerics } else { Exactness::Identical };
    Cost { exactness: cost.exactness.max(least), ..cost }
}

/// The set with the lowest need of all that were run: no plan gets below it by much.
fn floor(search: &Search) -> Option<Plan> {
    let helpful = search.candidates(true);
    let most = Tier::ALL.into_iter().flat_map(|tier| tops(&helpful, tier));
    let ran = sets(&helpful).into_iter().chain(most).filter_map(|set| {
        let trial = search.trial(&Variant::need(changes(&set))).filter(|trial| trial.is_done())?;
        Some((set, trial))
    });
    let (set, trial) = ran.min_by_key(|(_, trial)| trial.usage.device_bytes)?;
    Some(Plan {
        changes: search.to_make(&Variant::need(changes(&set))),
        peak: trial.usage,
        fits: false,
        retries: trial.retries,
        cost: cost(&choosables(&set)),
        places: trial.applied.clone(),
    })
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
    });
    VramRow { total_bytes: total, target_bytes: target, plan: unchanged.or_else(|| cheapest(search, target)) }
}

fn cheapest(search: &Search, target: Bytes) -> Option<Plan> {
    let helpful = search.candidates(true);
    search.cheapest_set(&helpful, target).and_then(|set| plan(search, &set, target))
}

/// The effect of an option alone.
fn judge_option(search: &Search, option: Choosable) -> Option<Tried> {
    let trial = search.trial(&Variant::need(vec![option.change.clone()]))?;
    let before = search.base()?.usage;
    let effect = match &trial.ending {
        Ending::Failed { message } => Effect::Fails { message: message.clone() },
        Ending::RanOut => Effect::Fails { message: "it ran out of memory without a limit".to_owned() },
        Ending::Done if !took_effect(trial, option.spec.name) => {
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
