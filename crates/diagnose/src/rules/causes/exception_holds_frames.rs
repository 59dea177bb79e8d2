//! `exception-holds-frames`: a failed step was retried while the exception still held the tensors of the first try, or the program keeps exceptions.
//!
//! Role peak, order 120.
//!
//! A traceback refers to its frames, and the frames to their locals: inside `except` until the block ends, in a notebook
//! until the next error. Evidence: tensors that the failed try allocated are alive at a later error, or while a later
//! forward runs.

use std::collections::BTreeMap;

use causes::CauseId;
use report::{Contents, Evidence, Finding, Location};
use trace::{Action, Bytes, EventIndex, Moment, StackId};

use crate::measure::growth::stays;
use crate::measure::life::Life;
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes, count, text};
use crate::rules::families::held::Held;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// Shares below 1/20 of the live bytes are not reported.
const MIN_SHARE_DENOMINATOR: u64 = 20;

pub(super) const RULE: Rule = Rule { cause: CauseId::ExceptionHoldsFrames, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_in_tracebacks(facts).or_else(|| find_in_history(facts)).or_else(|| find_in_text(facts))
}

/// Finds tensors in the variables of functions in tracebacks: the agent searched all exceptions that were alive.
fn find_in_tracebacks(facts: &Facts) -> Option<Cause> {
    let held = Held::by(facts, "traceback")?;
    let first = held.records.first()?;
    let holders = match held.records.len() {
        1 => format!("the traceback of one exception ({})", first.what),
        count => format!("the tracebacks of {count} exceptions ({})", first.what),
    };
    let mut evidence = vec![
        count("exceptions with tensors", u64::try_from(held.records.len()).unwrap_or(u64::MAX), Source::LiveAtError),
        bytes("alive in their frames", held.bytes, Source::LiveAtError),
    ];
    if !first.file.is_empty() {
        let raised = Location { file: first.file.clone(), line: first.line, column: None };
        evidence.push(text("raised at", facts.at(&raised), Source::Traceback));
    }
    let message = format!("{} are held by {holders}", held.bytes);
    let mut found = cause(facts, message, held.location.clone(), evidence, Some(held.bytes));
    found.finding.remedies.insert(0, advice(
        "keep the text of an exception, not the exception",
        "str(error), or traceback.format_exc(); error.with_traceback(None) where the object is needed; a variable that holds the error beyond \
         its except block is deleted after use",
    ));
    Some(found.with_removal(held.freed(facts)))
}

/// A run with a measured need, a dry run, is left out: on a busy machine the tensors of a failed backward outlive it for a moment, so a
/// correct program may look the same.
fn find_in_history(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.need.is_none())?, facts.moment()?);
    let first = earlier_errors(view, moment).next()?;
    let (held, tensors, location) = failed_try_bytes(view, first, moment);
    if held.0.saturating_mul(MIN_SHARE_DENOMINATOR) < view.live_total(moment).0 || held == Bytes::ZERO {
        return None;
    }
    let times = earlier_errors(view, moment).count();
    let evidence = vec![
        count("earlier failed requests", u64::try_from(times).unwrap_or(u64::MAX), Source::OomEvents),
        bytes("allocated before the first error and still alive", held, Source::Lifetimes),
        count("tensors", tensors, Source::Lifetimes),
    ];
    let message = format!("{held} allocated by a failed try are still alive in the next try");
    Some(cause(facts, message, location, evidence, Some(held)))
}

/// Lists the failed requests before the moment that raised an error.
fn earlier_errors(view: &View, moment: Moment) -> impl Iterator<Item = EventIndex> {
    let before = view.trace.history.ooms().iter().map(|oom| oom.event).filter(move |oom| Moment::after(*oom) < moment);
    before.filter(|oom| !goes_on(view, *oom))
}

/// True for a workspace of a convolution: without it, cuDNN takes another algorithm, and the same call of the module, or of backward, goes on
/// (`aten/src/ATen/native/cudnn/Conv_v8.cpp`, 2.11).
fn goes_on(view: &View, failed: EventIndex) -> bool {
    let at = failed.0 as usize;
    let (Some(event), Some(rest)) = (view.trace.events.get(at), view.trace.events.get(at + 1..)) else { return false };
    let next = rest.iter().find(|event| matches!(event.action, Action::Alloc | Action::Oom));
    view.may_be_convolution(event.stack) && next.is_some_and(|next| view.is_same_call(event.stack, next.stack))
}

/// Returns the live bytes and tensors of the failed step at `moment`, and the line that allocated most bytes.
fn failed_try_bytes(view: &View, error: EventIndex, moment: Moment) -> (Bytes, u64, Option<Location>) {
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

/// Finds two errors of one process in one chain of tracebacks: the second was raised while the first was handled.
fn find_in_text(facts: &Facts) -> Option<Cause> {
    let pair = facts.stated.windows(2).find(|pair| is_error_while_handling(pair))?;
    let allocated = pair.last()?.allocated()?.nearest;
    let evidence = vec![
        count("errors in one chain of tracebacks", 2, Source::Message),
        bytes("allocated at the second", allocated, Source::Message),
        text(
            "unknown",
            "the share that the frames of the first error hold; a snapshot shows it".to_owned(),
            Source::Message,
        ),
    ];
    let message =
        "the second error was raised while the first was handled; the first traceback holds the tensors of the \
                   failed try"
            .to_owned();
    Some(cause(facts, message, facts.failed_at(), evidence, None))
}

fn is_error_while_handling(pair: &[trace::text::StatedOom]) -> bool {
    let [first, second] = pair else {
        return false;
    };
    let is_same_process =
        first.rank == second.rank && first.pid == second.pid && first.device_index == second.device_index;
    let chained = second.line > first.line && second.while_handling;
    let full =
        second.allocated().zip(second.total_bytes).is_some_and(|(held, total)| held.highest.0 * 2 >= total.lowest.0);
    is_same_process && chained && full
}

fn cause(
    facts: &Facts,
    message: String,
    location: Option<Location>,
    evidence: Vec<Evidence>,
    bytes: Option<Bytes>,
) -> Cause {
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message,
        location,
        evidence,
        remedies: vec![advice(
            "try again after the except block, not inside it",
            "set a flag in `except torch.OutOfMemoryError:` and retry below; in a notebook, run a cell that succeeds or \
             sys.last_traceback = None",
        )],
    };
    Cause { finding, bytes, rank: Rank::Fault, removal: None }
}
