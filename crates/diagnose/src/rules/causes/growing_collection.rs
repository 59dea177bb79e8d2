//! `growing-collection`: tensors are kept in a list, a dict, a cache or an exporter, step after step.
//!
//! Role growth, order 150.
//!
//! A loss or an output that is kept after its backward costs only its own bytes: backward has freed the tensors that its
//! graph saved. Such a tensor is a growing collection, not a retained graph. A tensor that each pass joins to the last ones grows, too
//! (Note `[Joined]` in `measure/joined.rs`).

use allocator::replay::AllocationChange;
use causes::CauseId;
use report::Finding;

use crate::measure::joined::find_joined;
use crate::measure::retention::Retention;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes, count};
use crate::rules::families::growth::{Remedied, find_growth};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

const CHANGE: Remedied =
    ("keep a number, or a detached copy on the CPU", "use .item() or .detach().cpu() where the result is stored");
/// Joined results of less than 1/20 of the live bytes are not reported.
const MIN_SHARE_DENOMINATOR: u64 = 20;

pub(super) const RULE: Rule = Rule { cause: CauseId::GrowingCollection, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_growth(facts, Retention::Collection, RULE.cause, CHANGE).or_else(|| find_joins(facts))
}

/// Finds results of all passes so far in one tensor on the device, which each pass copies to join its own.
fn find_joins(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.is_at_error() && facts.pressure.is_none())?, facts.moment()?);
    let joined = find_joined(view, moment)?;
    if joined.bytes.0.saturating_mul(MIN_SHARE_DENOMINATOR) < view.live_total(moment).0 {
        return None;
    }
    let (passes, held) = (joined.lives.len() + 1, joined.bytes);
    let event = facts.failure.as_ref().and_then(|failure| failure.event);
    let refused = event.and_then(|event| view.trace.events.get(event.0 as usize)).map(|event| event.stack);
    let is_join = refused == Some(joined.stack);
    let twice = if is_join { ", twice during the next join" } else { "" };
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!("each pass joins all results so far on the device: {held} after {passes} passes{twice}"),
        location: joined.location.clone(),
        evidence: vec![
            bytes("joined so far", held, Source::LiveAtError),
            bytes("added by a pass", joined.bytes_per_pass, Source::Lifetimes),
            count("joins", u64::try_from(joined.lives.len()).unwrap_or(u64::MAX), Source::Lifetimes),
        ],
        remedies: vec![advice(
            "keep each result on the CPU, and join them once",
            "append .detach().cpu() of each result, and only the results that are used, to a list; torch.cat of the list after the loop",
        )],
    };
    let edits = joined.lives.iter().map(|id| (*id, AllocationChange::LeaveOut)).collect();
    let lives = joined.lives.iter().copied();
    let removal =
        if is_join { Removal::with_failed(edits, AllocationChange::LeaveOut) } else { Removal::leave_out(lives) };
    let bytes = if is_join { held + held } else { held };
    Some(Cause { finding, bytes: Some(bytes), rank: Rank::Fault, removal: None }.with_removal(removal.estimated()))
}
