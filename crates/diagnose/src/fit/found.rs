//! The plans that a search found.

use report::fit::{Cost, Exactness, FitVerdict, Plan, Prefer};
use report::{Change, Usage};
use trace::Bytes;

use super::cost::{Tier, cost};
use super::plans::{Helpful, choosables, sets, tops};
use super::search::{Search, Standing, changes};
use super::trial::Trial;
use super::variant::Variant;

/// The plans that a search found for a target.
#[derive(Clone, Debug)]
pub struct FoundPlans {
    pub(super) verdict: FitVerdict,
    /// The need of the unchanged program.
    pub(super) before: Usage,
    /// The plans, cheapest first.
    pub(super) plans: Vec<Plan>,
    /// The trial with the lowest need.
    pub(super) floor: Option<Plan>,
    /// The order of the plans.
    pub(super) prefer: Prefer,
}

impl FoundPlans {
    /// Returns the plans with which the program of `search` fits `target`.
    pub fn of(search: &Search, target: Bytes) -> FoundPlans {
        let plans = list_plans(search, target);
        let fits = search.standing(&[], target) == Standing::Fits;
        FoundPlans {
            verdict: match (fits, plans.is_empty()) {
                (true, _) => FitVerdict::Fits,
                (false, false) => FitVerdict::FitsWithPlan,
                (false, true) => FitVerdict::DoesNotFit,
            },
            before: search.base().map(|base| base.usage).unwrap_or_default(),
            plans,
            floor: floor(search),
            prefer: search.choice.prefer,
        }
    }

    /// The result: the program fits unchanged, with a plan, or not at all.
    pub fn verdict(&self) -> FitVerdict {
        self.verdict
    }

    /// The plans, cheapest first.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// The trial with the lowest need, whether it fits or not; `None` if no change lowers the need.
    pub fn floor(&self) -> Option<&Plan> {
        self.floor.as_ref()
    }
}

/// Every set that fits and is not beaten in both memory and time; the cheapest is the first. A set that still fits with a
/// change less is left out.
fn list_plans(search: &Search, target: Bytes) -> Vec<Plan> {
    let candidates = search.candidates(true);
    let fits = |set: &[&Helpful]| search.standing(&changes(set), target) == Standing::Fits;
    let most = Tier::ALL.into_iter().flat_map(|tier| tops(&candidates, tier));
    let shrunk = Tier::ALL.into_iter().filter_map(|tier| search.shrink(&candidates, tier, target, 1).0);
    let fitting: Vec<Vec<&Helpful>> =
        sets(&candidates, search.choice.prefer).into_iter().chain(shrunk).chain(most).filter(|set| fits(set)).collect();
    let mut unbeaten: Vec<Plan> = fewer_blocks(search, target).into_iter().collect();
    for set in fitting.iter().filter(|set| is_minimal(set, &fitting)) {
        if let Some(plan) = make_plan_of(search, set, target)
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

/// True if no smaller set of the same changes fits.
fn is_minimal(set: &[&Helpful], fitting: &[Vec<&Helpful>]) -> bool {
    let holds =
        |other: &Vec<&Helpful>| other.iter().all(|one| set.iter().any(|two| one.option.change == two.option.change));
    !fitting.iter().any(|other| other.len() < set.len() && holds(other))
}

/// True if `one` is as good as `other` in memory, time and results.
fn beats(one: &Plan, other: &Plan) -> bool {
    one.peak.device_bytes <= other.peak.device_bytes
        && one.cost.time_ratio <= other.cost.time_ratio
        && one.cost.exactness <= other.cost.exactness
}

/// A set that was run and fits.
pub(super) fn make_plan_of(search: &Search, set: &[&Helpful], target: Bytes) -> Option<Plan> {
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
        settings: Vec::new(),
        command: Vec::new(),
    })
}

/// A cost with the effect on results in this program.
pub(super) fn in_program(cost: Cost, trial: &Trial) -> Cost {
    let least = if trial.alters { Exactness::OtherNumerics } else { Exactness::Identical };
    Cost { exactness: cost.exactness.max(least), ..cost }
}

/// The set with the lowest need of all that were run: no plan gets below it by much.
fn floor(search: &Search) -> Option<Plan> {
    let helpful = search.candidates(true);
    let most = Tier::ALL.into_iter().flat_map(|tier| tops(&helpful, tier));
    let ran = sets(&helpful, search.choice.prefer).into_iter().chain(most).filter_map(|set| {
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
        settings: Vec::new(),
        command: Vec::new(),
    })
}
