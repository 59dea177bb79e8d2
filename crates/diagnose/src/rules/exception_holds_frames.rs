//! `exception-holds-frames`: a step failed and was tried again while the exception still held the first try's tensors.
//!
//! A traceback refers to its frames, and they to their locals. Inside `except` that is so until the block ends; in a
//! notebook until the next error. What decides: tensors that the failed try had made are alive at a later error, or
//! while a later forward runs.

use std::collections::BTreeMap;

use report::{Contents, Evidence, Finding, Location, RuleId, Value};
use trace::{Bytes, EventIndex, Moment, StackId};

use super::{Cause, Rank, advice, bytes, count};
use crate::facts::Facts;
use crate::measure::growth::stays;
use crate::measure::life::Life;
use crate::measure::view::View;

/// Less than this share of what is alive is not worth a word.
const SHARE: u64 = 20;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    from_history(facts).or_else(|| from_text(facts))
}

fn from_history(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view?, facts.moment?);
    let first = view.found.ooms().iter().map(|oom| oom.event).find(|oom| Moment::after(*oom) < moment)?;
    let (held, tensors, location) = held(view, first, moment);
    if held.0.saturating_mul(SHARE) < view.live_total(moment).0 || held == Bytes::ZERO {
        return None;
    }
    let evidence = vec![
        count("requests that failed before", failed_before(view, moment), "the history's oom events"),
        bytes("made before the first error and still alive", held, "lifetimes in the history"),
        count("tensors", tensors, "lifetimes in the history"),
    ];
    let message = format!("{held} that a try had made before it ran out of memory are still alive in the next try");
    Some(cause(facts, message, location, evidence, Some(held)))
}

fn failed_before(view: &View, moment: Moment) -> u64 {
    let before = view.found.ooms().iter().filter(|oom| Moment::after(oom.event) < moment).count();
    u64::try_from(before).unwrap_or(u64::MAX)
}

/// What was made in the step that the error ended and is alive at `moment`, and the line that made most of it.
fn held(view: &View, error: EventIndex, moment: Moment) -> (Bytes, u64, Option<Location>) {
    let step = view.timeline.step(error);
    let mut stacks: BTreeMap<StackId, Bytes> = BTreeMap::new();
    let mut tensors = 0;
    for (life, contents) in view.live_after(moment) {
        let in_try = life.begun().is_some_and(|begun| begun < error && view.timeline.step(begun) == step);
        if in_try && !stays(contents) && matches!(contents, Contents::Activations | Contents::Temporaries) {
            *stacks.entry(life.stack).or_default() += life.block();
            tensors += 1;
        }
    }
    let most = stacks.iter().max_by_key(|(_, bytes)| **bytes).and_then(|(stack, _)| view.own_line(*stack));
    (stacks.values().copied().sum(), tensors, most)
}

/// Two errors of one process in one chain of tracebacks: the second was raised while the first was handled.
fn from_text(facts: &Facts) -> Option<Cause> {
    let pair = facts.stated.windows(2).find(|pair| handled(pair))?;
    let allocated = pair.last()?.allocated()?.nearest;
    let evidence = vec![
        count("errors in one chain of tracebacks", 2, "the error's text"),
        bytes("allocated at the second", allocated, "the error's text"),
        Evidence {
            what: "what is not known".to_owned(),
            value: Value::Text("how much of it the first error's frames hold: a snapshot would say".to_owned()),
            source: "the error's text",
        },
    ];
    let message =
        "the second error was raised while the first was handled, whose traceback holds all that the failed try \
                   had made"
            .to_owned();
    Some(cause(facts, message, facts.failed_at(), evidence, None))
}

fn handled(pair: &[trace::text::StatedOom]) -> bool {
    let [first, second] = pair else {
        return false;
    };
    let same = first.rank == second.rank && first.pid == second.pid && first.device_index == second.device_index;
    let chained = second.line > first.line && second.while_handling;
    let full =
        second.allocated().zip(second.total_bytes).is_some_and(|(held, total)| held.highest.0 * 2 >= total.lowest.0);
    same && chained && full
}

fn cause(
    facts: &Facts,
    message: String,
    location: Option<Location>,
    evidence: Vec<Evidence>,
    bytes: Option<Bytes>,
) -> Cause {
    let finding = Finding {
        rule: RuleId("exception-holds-frames"),
        severity: facts.severity(),
        message,
        location,
        evidence,
        remedies: vec![advice(
            "try again after the except block, not inside it",
            "set a flag in `except torch.OutOfMemoryError:` and retry below; in a notebook, run a cell that works or \
             sys.last_traceback = None",
        )],
    };
    Cause { finding, bytes, rank: Rank::Fault }
}
