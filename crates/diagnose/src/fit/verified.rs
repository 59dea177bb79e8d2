//! The runs after the search: the time of a step for each plan, and the result of a fresh process.

use remedies::{BATCH_SIZE, OWN_OPTIONS};
use report::fit::{Effect, Exactness, FitVerdict, Plan, Prefer, TimeSource, Tried};
use report::{Change, Usage};
use trace::Bytes;

use super::cost::{Price, arrange, permille, tier};
use super::found::FoundPlans;
use super::trial::Trial;

/// Smaller differences between two runs of one program are not reported.
const SAME_BYTES: u64 = 2 << 20;

/// The weight of a plan without a margin, in parts of a step: PyTorch releases its cache to get through.
const MARGIN: f64 = 0.5;

/// The counted seconds of a step.
#[derive(Clone, Debug)]
pub struct StepTimes {
    /// The seconds of the unchanged program.
    pub unchanged: f64,
    /// The seconds of each plan, in the order of the plans; `None` where they were not counted.
    pub plans: Vec<Option<f64>>,
}

/// A run to confirm a plan in a separate process.
#[derive(Clone, Debug, PartialEq)]
pub struct Unconfirmed {
    /// The changes of the plan; empty for the unchanged program.
    pub changes: Vec<Change>,
    /// The use of memory that the search saw.
    pub usage: Usage,
}

impl Unconfirmed {
    /// Returns the difference between `trial` and the search's own run, if it is too large for chance to be excluded.
    pub fn depends_on_chance(&self, trial: &Trial) -> Option<Bytes> {
        let apart = trial.usage.allocated_bytes.0.abs_diff(self.usage.allocated_bytes.0);
        (apart > SAME_BYTES).then_some(Bytes(apart))
    }
}

impl FoundPlans {
    /// Lists the runs in separate processes, on a device of the target's size, to make in order until a run ends well:
    /// the plans, or the unchanged program that fits.
    pub fn list_unconfirmed(&self) -> Vec<Unconfirmed> {
        match self.verdict {
            FitVerdict::DoesNotFit => Vec::new(),
            _ if self.plans.is_empty() => vec![Unconfirmed { changes: Vec::new(), usage: self.before }],
            _ => {
                let plan = |plan: &Plan| Unconfirmed { changes: plan.changes.clone(), usage: plan.peak };
                self.plans.iter().map(plan).collect()
            }
        }
    }

    /// Returns the plans confirmed by the runs of [`FoundPlans::list_unconfirmed`].
    #[must_use]
    pub fn confirm(self, fresh: &[Trial]) -> FoundPlans {
        let failed = fresh.iter().filter(|trial| !trial.is_done()).count();
        let retries = fresh.last().filter(|trial| trial.is_done()).map(|trial| trial.retries);
        let mut plans: Vec<Plan> = self.plans.into_iter().skip(failed).collect();
        if let (Some(plan), Some(retries)) = (plans.first_mut(), retries) {
            plan.retries = retries;
        }
        let holds = failed == 0 || !plans.is_empty();
        FoundPlans { verdict: if holds { self.verdict } else { FitVerdict::DoesNotFit }, plans, ..self }
    }

    /// Returns a note for each difference between the search's runs and the `fresh` ones.
    pub(super) fn note_chance(&self, fresh: &[Trial]) -> Vec<String> {
        let unconfirmed = self.list_unconfirmed();
        let apart = unconfirmed.iter().zip(fresh).filter_map(|(plan, trial)| plan.depends_on_chance(trial));
        let mut notes = Vec::new();
        for apart in apart {
            let note =
                format!("two runs of the same program differ by {apart}: its memory depends on chance or on the time");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }

    /// Returns the plans with counted times, where they were counted, in place of typical ones.
    #[must_use]
    pub(super) fn with_times(self, times: Option<&StepTimes>) -> FoundPlans {
        let Some(StepTimes { unchanged, plans: seconds }) = times else { return self };
        let prefer = self.prefer;
        let ratios =
            seconds.iter().map(|seconds| seconds.filter(|_| *unchanged > 0.0).map(|seconds| seconds / unchanged));
        let ratios = ratios.chain(std::iter::repeat(None));
        let plans = self.plans.into_iter().zip(ratios).map(|(plan, ratio)| match ratio {
            Some(ratio) => with_ratio(plan, ratio),
            None => plan,
        });
        let mut plans: Vec<Plan> = plans.collect();
        plans.sort_by_key(|plan| price_of(plan, prefer));
        FoundPlans { plans, ..self }
    }

    /// Returns the row of a change with the cost of the plan of this change alone.
    pub(super) fn price(&self, tried: Tried) -> Tried {
        match (tried.effect, self.plans.iter().find(|plan| is_alone(&tried.change, plan))) {
            (Effect::Helps { peak, .. }, Some(plan)) => {
                Tried { change: tried.change, effect: Effect::Helps { peak, cost: plan.cost } }
            }
            (effect, _) => Tried { change: tried.change, effect },
        }
    }
}

fn with_ratio(mut plan: Plan, ratio: f64) -> Plan {
    plan.cost.time_ratio = ratio;
    plan.cost.time_source = TimeSource::Counted;
    plan
}

/// The place of a plan among others, by its counted time.
fn price_of(plan: &Plan, prefer: Prefer) -> Price {
    let edits =
        plan.changes.iter().filter(|change| ![OWN_OPTIONS, BATCH_SIZE].contains(&change.remedy.as_str())).count();
    let ratio = plan.cost.time_ratio;
    let tier = tier(plan.cost.exactness, ratio, edits == 0);
    let altering = usize::from(plan.cost.exactness >= Exactness::OtherNumerics);
    let margin = if plan.retries { MARGIN } else { 0.0 };
    let times = (permille(ratio.max(1.0) + margin), permille(ratio + margin));
    arrange(prefer, tier, altering, times, (plan.changes.len(), edits))
}

/// True if a plan is a single change, with its smaller batches.
fn is_alone(change: &Change, plan: &Plan) -> bool {
    let belongs = |other: &Change| other == change || other.remedy == BATCH_SIZE;
    plan.changes.contains(change) && plan.changes.iter().all(belongs)
}

#[cfg(test)]
mod tests {
    use report::fit::{Cost, Exactness};

    use super::super::trial::Ending;
    use super::*;

    const COST: Cost = Cost { exactness: Exactness::UpToRounding, time_ratio: 1.03, time_source: TimeSource::Typical };

    fn found(plans: Vec<Vec<Change>>) -> FoundPlans {
        let plan = |changes| Plan {
            changes,
            peak: Usage::default(),
            fits: true,
            retries: false,
            cost: COST,
            places: Vec::new(),
            settings: Vec::new(),
            command: Vec::new(),
        };
        let verdict = if plans.is_empty() { FitVerdict::Fits } else { FitVerdict::FitsWithPlan };
        let plans: Vec<Plan> = plans.into_iter().map(plan).collect();
        let prefer = Prefer::Results;
        FoundPlans { verdict, before: Usage::default(), plans, floor: None, prefer }
    }

    fn tried(name: &str) -> Tried {
        Tried { change: Change::new(name), effect: Effect::Helps { peak: Usage::default(), cost: COST } }
    }

    /// A change has a single time, wherever the report shows it; a change without a plan of its own keeps its usual
    /// price.
    #[test]
    fn counted_times_replace_typical_ones() {
        let accumulation = vec![Change::new("gradient-accumulation"), Change::new("batch-size").with("size", 8)];
        let both = vec![Change::new("lora"), Change::new("autocast")];
        let counted = StepTimes { unchanged: 2.0, plans: vec![Some(2.76), Some(1.0)] };
        let timed = found(vec![accumulation, both]).with_times(Some(&counted));
        let ratios: Vec<f64> = timed.plans.iter().map(|plan| plan.cost.time_ratio).collect();
        assert_eq!(ratios, [0.5, 1.38], "in the order of the counted times");
        let alone = [tried("gradient-accumulation"), tried("lora")].map(|row| match timed.price(row).effect {
            Effect::Helps { cost, .. } => (cost.time_ratio, cost.time_source),
            other => panic!("{other:?}"),
        });
        assert_eq!(alone, [(1.38, TimeSource::Counted), (1.03, TimeSource::Typical)]);
    }

    #[test]
    fn a_plan_that_does_not_hold_in_a_fresh_process_is_left_out() {
        let run = |ending| Trial { ending, retries: true, ..Trial::default() };
        let two = || vec![vec![Change::new("lora")], vec![Change::new("autocast")]];
        // Plans; fresh runs; the verdict, the number of plans left, and whether the first one retries.
        let cases = [
            (two(), vec![], FitVerdict::FitsWithPlan, 2, false),
            (two(), vec![Ending::Done], FitVerdict::FitsWithPlan, 2, true),
            (two(), vec![Ending::RanOut, Ending::Done], FitVerdict::FitsWithPlan, 1, true),
            (two(), vec![Ending::RanOut, Ending::RanOut], FitVerdict::DoesNotFit, 0, false),
            (vec![], vec![Ending::Done], FitVerdict::Fits, 0, false),
            (vec![], vec![Ending::RanOut], FitVerdict::DoesNotFit, 0, false),
        ];
        for (plans, endings, verdict, left, retries) in cases {
            let fresh: Vec<Trial> = endings.into_iter().map(run).collect();
            let confirmed = found(plans).confirm(&fresh);
            let first = confirmed.plans.first().is_some_and(|plan| plan.retries);
            assert_eq!((confirmed.verdict, confirmed.plans.len(), first), (verdict, left, retries), "{fresh:?}");
        }
    }
}
