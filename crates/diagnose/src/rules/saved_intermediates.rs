//! `saved-intermediates`: results from inside the model are kept for debugging, metrics or the next step.
//!
//! Role growth, order 160.
//!
//! Two forms: results that add up from step to step, and results that the next step replaces, alive while the next forward
//! runs.

use std::collections::BTreeMap;

use causes::CauseId;
use report::{Contents, Finding, Location, Remedy, Standing};
use trace::{Bytes, Moment, Phase, StackId};

use super::growth::{Change, find_growth};
use super::input::Facts;
use super::known::{Source, bytes, count};
use super::rule::{Cause, Check, Rank, Rule};
use crate::measure::life::Life;
use crate::measure::retention::Retention;
use crate::measure::view::View;

const CHANGE: Change =
    ("move them to the CPU, or delete them after use", "use .detach().cpu() where the result is stored");

/// Shares below 1/50 of the live bytes are not reported.
const MIN_SHARE_DENOMINATOR: u64 = 50;

pub(super) const RULE: Rule = Rule { cause: CauseId::SavedIntermediates, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let growth = find_growth(facts, Retention::Intermediate, RULE.cause, CHANGE);
    growth.or_else(|| find_stale(facts))
}

/// Finds results of the previous step that are alive together with this step's activations.
fn find_stale(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.pressure.is_none())?, facts.moment()?);
    let (location, held, tensors) = largest_line(view, moment)?;
    let total = view.live_total(moment);
    if held.0.saturating_mul(MIN_SHARE_DENOMINATOR) < total.0 {
        return None;
    }
    let finding = Finding {
        rule: RULE.cause,
        severity: report::Severity::Warning,
        message: format!("{held} of results that the previous step allocated here are still alive"),
        location: Some(location),
        evidence: vec![
            bytes("allocated in an earlier step", held, Source::Lifetimes),
            count("tensors", tensors, Source::Lifetimes),
        ],
        remedies: vec![Remedy {
            remedy: "free them before the next forward".to_owned(),
            standing: Standing::Estimated,
            before_bytes: Some(total),
            after_bytes: Some(total - held),
            how:
                "del the variable at the end of the step, or keep .detach().cpu(); estimated as the memory in use less \
                  these results"
                    .to_owned(),
        }],
    };
    Some(Cause { finding, bytes: Some(held), rank: Rank::Fault })
}

/// The line that allocated most activations of earlier steps that are alive in a forward or backward.
fn largest_line(view: &View, moment: Moment) -> Option<(Location, Bytes, u64)> {
    let (step, phase) = view.timeline.at(moment.event_before()?)?;
    if !matches!(phase, Phase::Forward | Phase::Backward) {
        return None;
    }
    let mut stacks: BTreeMap<StackId, (Bytes, u64)> = BTreeMap::new();
    for (life, contents) in view.live_after(moment) {
        if contents == Contents::Activations && view.step_of(life).is_some_and(|made| made < step) {
            let held = stacks.entry(life.stack).or_default();
            *held = (held.0 + life.block(), held.1 + 1);
        }
    }
    let mut lines: BTreeMap<Location, (Bytes, u64)> = BTreeMap::new();
    for (stack, (bytes, tensors)) in stacks {
        let held = lines.entry(view.own_line(stack)?).or_default();
        *held = (held.0 + bytes, held.1 + tensors);
    }
    let most = lines.into_iter().max_by_key(|(_, (bytes, _))| *bytes);
    most.map(|(line, (bytes, tensors))| (line, bytes, tensors))
}
