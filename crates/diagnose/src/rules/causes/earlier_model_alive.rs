//! `earlier-model-alive`: a model that the program no longer calls is still on the device, with its gradients and its optimizer's state.
//!
//! Role growth, order 165.
//!
//! The run without a limit shows that the program calls other modules later, and this one no more. A copy that was never called, such as
//! an average of weights, is no earlier model.

use std::collections::BTreeSet;

use causes::CauseId;
use report::{Finding, Severity};
use trace::run::RootRecord;
use trace::{Bytes, LifetimeId, Moment, StackId};

use crate::measure::fate::Fate;
use crate::measure::life::Life;
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes, text};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// Models of less than 1/50 of the live bytes are not reported.
const MIN_SHARE_DENOMINATOR: u64 = 50;

pub(super) const RULE: Rule = Rule { cause: CauseId::EarlierModelAlive, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let (view, fate) = (facts.view.filter(|_| facts.is_at_error())?, facts.fate.as_ref()?);
    let moment = facts.moment()?;
    let roots = list_abandoned(view, fate);
    let held = list_blocks(view, moment, &roots);
    let total: Bytes = held.iter().map(|(_, _, block)| *block).sum();
    if total.0.saturating_mul(MIN_SHARE_DENOMINATOR) < view.live_total(moment).0 || held.is_empty() {
        return None;
    }
    let what = match roots.as_slice() {
        [root] => format!("an earlier {}, no longer called, is alive with {total}", root.name),
        roots => format!("{} earlier models, no longer called, are alive with {total}", roots.len()),
    };
    let first = held.iter().min_by_key(|(id, ..)| *id).and_then(|(_, stack, _)| view.call_location(*stack));
    let names: BTreeSet<&str> = roots.iter().map(|root| root.name.as_str()).collect();
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Error,
        message: what,
        location: first,
        evidence: vec![
            bytes("parameters, gradients and optimizer state of earlier models", total, Source::LiveAtError),
            text("models", names.into_iter().collect::<Vec<_>>().join(", "), Source::LiveAtError),
        ],
        remedies: vec![advice(
            "delete the earlier model before the next is made",
            "del model, optimizer and every output that keeps their graph (or leave the function that has them), keep numbers or .cpu() state of \
             a result; torch.cuda.empty_cache() is not needed",
        )],
    };
    let lives = held.iter().map(|(id, ..)| *id);
    let cause = Cause { finding, bytes: Some(total), rank: Rank::Fault, removal: None };
    Some(cause.with_removal(Removal::leave_out(lives)))
}

/// The roots that were called before the error and are not called later, while others are.
fn list_abandoned<'v>(view: &'v View, fate: &Fate<'v>) -> Vec<&'v RootRecord> {
    let (roots, later) = (&view.trace.process.roots, &fate.later.trace.process.roots);
    let called = roots.iter().map(|root| root.last_call).max().unwrap_or_default();
    let goes_on = later.iter().any(|root| root.last_call > called) || roots.iter().any(|root| root.is_running);
    let is_last = |root: &&RootRecord| {
        let again = later.iter().find(|other| other.number == root.number);
        again.is_some_and(|again| again.last_call == root.last_call && again.name == root.name)
    };
    let left =
        roots.iter().filter(|root| goes_on && root.last_call > 0 && !root.is_running && !root.addresses.is_empty());
    left.filter(is_last).collect()
}

/// The live blocks that belong to these roots alone.
fn list_blocks(view: &View, moment: Moment, roots: &[&RootRecord]) -> Vec<(LifetimeId, StackId, Bytes)> {
    let numbers: BTreeSet<u32> = roots.iter().map(|root| root.number).collect();
    let in_use = view.trace.process.roots.iter().filter(|root| !numbers.contains(&root.number));
    let in_use: BTreeSet<u64> = in_use.flat_map(|root| root.addresses.iter().copied()).collect();
    let own: BTreeSet<u64> = roots.iter().flat_map(|root| root.addresses.iter().copied()).collect();
    let live = view.live_with_ids(moment);
    let held = live.filter(|(_, life, _)| own.contains(&life.address().0) && !in_use.contains(&life.address().0));
    held.map(|(id, life, _)| (id, life.stack, life.block())).collect()
}
