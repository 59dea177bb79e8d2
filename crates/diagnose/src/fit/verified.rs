//! What runs after the search say of its plans: how long a step takes, and whether a fresh process comes to the same.

use remedies::BATCH_SIZE;
use report::Change;
use report::fit::{Effect, FitReport, FitVerdict, Plan, TimeSource};
use trace::Bytes;

use super::trial::Trial;

/// So much difference between two runs of one program is no news.
const SAME_BYTES: u64 = 2 << 20;

/// The report with counted times in place of typical ones: `unchanged` seconds a step, and those of each plan, where counted. A
/// plan of one change gives its time to the row of that change.
pub fn with_times(mut report: FitReport, unchanged: f64, plans: &[Option<f64>]) -> FitReport {
    for (plan, seconds) in report.plans.iter_mut().zip(plans) {
        if let Some(seconds) = seconds.filter(|_| unchanged > 0.0) {
            plan.cost.time_ratio = seconds / unchanged;
            plan.cost.time_source = TimeSource::Counted;
        }
    }
    for row in &mut report.tried {
        if let Effect::Helps { cost, .. } = &mut row.effect
            && let Some(plan) = report.plans.iter().find(|plan| is_alone(&row.change, plan))
        {
            *cost = plan.cost;
        }
    }
    report
}

/// Whether a plan is one change, with the smaller batches that go with it.
fn is_alone(change: &Change, plan: &Plan) -> bool {
    let belongs = |other: &Change| other == change || other.remedy == BATCH_SIZE;
    plan.changes.contains(change) && plan.changes.iter().all(belongs)
}

/// By how much a run of the first plan, or of the unchanged program that fits, differs from what the search saw of it.
pub fn depends_on_chance(report: &FitReport, trial: &Trial) -> Option<Bytes> {
    let expected = report.plans.first().map_or(report.before, |plan| plan.peak);
    let apart = trial.usage.allocated_bytes.0.abs_diff(expected.allocated_bytes.0);
    (apart > SAME_BYTES).then_some(Bytes(apart))
}

/// The report after the first plan, or the unchanged program that fits, was run in a process of its own, on a device of the
/// target's size. A plan that does not hold there is taken out; `true` says that the next one has to be run.
pub fn with_fresh_run(report: &mut FitReport, trial: &Trial) -> bool {
    if let Some(apart) = depends_on_chance(report, trial) {
        let note =
            format!("two runs of the same program differ by {apart}: its memory depends on chance or on the time");
        if !report.notes.contains(&note) {
            report.notes.push(note);
        }
    }
    if trial.is_done() {
        if let Some(plan) = report.plans.first_mut() {
            plan.retries = trial.retries;
        }
        return false;
    }
    if report.plans.is_empty() {
        report.verdict = FitVerdict::DoesNotFit;
        return false;
    }
    report.plans.remove(0);
    if report.plans.is_empty() {
        report.verdict = FitVerdict::DoesNotFit;
    }
    !report.plans.is_empty()
}
