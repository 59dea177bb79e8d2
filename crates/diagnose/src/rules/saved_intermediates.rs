//! `saved-intermediates`: results from inside the model are put aside, for debugging, metrics or the next step.
//!
//! Two forms: one that adds up from step to step, and one that is replaced by the next step, and therefore still there
//! while that step's forward runs.

use std::collections::BTreeMap;

use report::{Contents, Finding, Location, Remedy, RuleId, Standing};
use trace::{Bytes, Moment, Phase, StackId};

use super::growth::{self, Change};
use super::{Cause, Rank, bytes, count};
use crate::facts::Facts;
use crate::measure::kept::Kept;
use crate::measure::life::Life;
use crate::measure::view::View;

const CHANGE: Change = (
    "move them to the CPU, or delete them when they are done with",
    "use .detach().cpu() where the result is put aside",
);

/// Less than this share of what is alive is not worth a word.
const SHARE: u64 = 50;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    find_growth(facts).or_else(|| stale(facts))
}

/// The form that adds up from step to step.
pub(super) fn find_growth(facts: &Facts) -> Option<Cause> {
    growth::find(facts, Kept::Intermediate, RuleId("saved-intermediates"), CHANGE)
}

/// Results of the step before that are alive while this step's activations are.
fn stale(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.kept.is_none())?, facts.moment?);
    let (location, bytes_, tensors) = largest(view, moment)?;
    let total = view.live_total(moment);
    if bytes_.0.saturating_mul(SHARE) < total.0 {
        return None;
    }
    let finding = Finding {
        rule: RuleId("saved-intermediates"),
        severity: report::Severity::Warning,
        message: format!("{bytes_} of results from the step before, made here, are still alive"),
        location: Some(location),
        evidence: vec![
            bytes("made in an earlier step", bytes_, "lifetimes in the history"),
            count("tensors", tensors, "lifetimes in the history"),
        ],
        remedies: vec![Remedy {
            remedy: "let go of them before the next forward".to_owned(),
            standing: Standing::Estimated,
            before_bytes: Some(total),
            after_bytes: Some(total - bytes_),
            how: "del the variable at the end of the step, or keep .detach().cpu(); reckoned as what was alive less these"
                .to_owned(),
        }],
    };
    Some(Cause { finding, bytes: Some(bytes_), rank: Rank::Fault })
}

/// The line that made most of the activations of earlier steps that are alive in a forward or backward.
fn largest(view: &View, moment: Moment) -> Option<(Location, Bytes, u64)> {
    let (step, phase) = view.timeline.at(moment.event()?)?;
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
