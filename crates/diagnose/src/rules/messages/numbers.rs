//! The cause that the numbers of a message decide, without a history.
//!
//! # Note [Messages]
//! PyTorch's message states sizes of one instant, rounded to two decimals. The first true line of the table decides; further true lines are
//! remarks. R is the request, S its segment, T the device, F free, A allocated, U reserved and unallocated, V = A + U; N is the memory of the
//! own process outside PyTorch, O the memory of foreign processes, X the unexplained rest of the device, L the limit of the own process.
//!
//! | | | cause |
//! |---|---|---|
//! | 1 | V + R > L and F >= S | `small-gpu-fraction` |
//! | 2 | F >= S | `unclear`: the device had room |
//! | 3 | R is 16 PiB or more, or half of U waits for other streams | `unclear`: no size of a tensor; freed blocks that are still active |
//! | 4 | R <= F + U and U >= T / 10 | `fragmentation` |
//! | 5 | R >= T / 2 | `one-huge-request` |
//! | 6 | O (else X, if 1.5 GiB and 15 % of T) frees enough, and the rest fits: A + R + N <= T | `other-process-memory` |
//! | 7 | N >= 1.5 GiB and T / 10, and R <= F + U + N less a context | `non-pytorch-memory` |
//! | 8 | A >= 90 % of T - O, or A + R > T - O - N | `need-exceeds-device` |
//! | 9 | R <= F + U, R - F >= T / 20, and O + X + N <= T / 20: little else is held | `fragmentation` |
//! | 10 | | `unclear` |
//!
//! U is without the bytes that wait for other streams, by PyTorch's table beside the message. The row of the own process in the list of processes
//! is found in `explain/own_row.rs`.

mod figures;
mod undecided;
mod words;

use causes::CauseId;
use report::words::count;
use report::{Remedy, Severity};
use trace::Bytes;

pub(super) use self::figures::Numbers;
use self::undecided::undecided;
use super::joined;
use super::logged_growth;
use super::phases;
use crate::rules::advice::switches;
use crate::rules::causes::other_process_memory::{end_largest, listed_processes};
use crate::rules::causes::unclear::place_of_advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, text};
use crate::rules::rule::{Cause, Rank};

/// The causes between which the table decides.
const DECIDED: [CauseId; 7] = [
    CauseId::SmallGpuFraction,
    CauseId::OneHugeRequest,
    CauseId::Fragmentation,
    CauseId::OtherProcessMemory,
    CauseId::NonPytorchMemory,
    CauseId::NeedExceedsDevice,
    CauseId::Unclear,
];

/// Keeps the decided cause of the table, and makes remarks of further causes.
pub(super) fn decide(mut causes: Vec<Cause>, facts: &Facts) -> Vec<Cause> {
    if let Some(unclear) = undecided(facts) {
        causes.retain(|cause| !is_of_table(cause) || is_listed(cause, facts));
        causes.push(unclear);
        return causes;
    }
    let Some(numbers) = Numbers::of(facts) else { return causes };
    if let Some(growth) = logged_growth::find(facts) {
        causes.retain(|cause| !is_of_table(cause));
        causes.push(growth);
        return causes;
    }
    let listed = causes.iter().any(|cause| is_listed(cause, facts));
    if let Some(mut joined) = joined::find(facts).filter(|_| !listed && numbers.is_undecided()) {
        joined.finding.evidence.push(text("sum", numbers.words(), Source::Message));
        phases::add(&mut joined, facts);
        causes.retain(|cause| !is_of_table(cause));
        causes.push(joined);
        return causes;
    }
    let decided = if listed { CauseId::OtherProcessMemory } else { numbers.cause() };
    causes.retain(|cause| cause.finding.rule == decided || !is_answer(cause, &numbers));
    for cause in causes.iter_mut().filter(|cause| is_of_table(cause) && cause.finding.rule != decided) {
        to_remark(cause, &numbers);
    }
    if !causes.iter().any(|cause| cause.finding.rule == decided) {
        causes.push(numbers.to_cause(decided, facts));
    }
    for cause in causes.iter_mut().filter(|cause| cause.finding.rule == decided) {
        answer(cause, decided, &numbers, facts);
    }
    causes
}

/// Completes the decided cause: its sentence, its sum and its remedies.
fn answer(cause: &mut Cause, decided: CauseId, numbers: &Numbers, facts: &Facts) {
    if decided == CauseId::Unclear {
        cause.finding.message = numbers.sentence(decided);
    }
    if !names_listed(cause) {
        cause.finding.remedies = numbers.remedies(decided);
        name_processes(cause, facts);
    }
    cause.finding.severity = facts.severity();
    if numbers.is_no_size() {
        cause.finding.evidence.retain(|row| row.what != "requested");
    } else {
        cause.finding.evidence.push(text("sum", numbers.words(), Source::Message));
        add_switches(cause, facts);
    }
    phases::add(cause, facts);
}

/// Makes a remark of a cause beside the decided one. Its advice stays only if its bytes would serve the request.
fn to_remark(cause: &mut Cause, numbers: &Numbers) {
    cause.finding.severity = Severity::Info;
    cause.rank = Rank::Aside;
    if !numbers.would_serve(cause.finding.rule, cause.bytes.unwrap_or_default()) {
        cause.finding.remedies.clear();
    }
}

/// Names the processes that the message lists in the advice to end them.
fn name_processes(cause: &mut Cause, facts: &Facts) {
    let Some(failure) = facts.failure.as_ref().filter(|_| cause.finding.rule == CauseId::OtherProcessMemory) else {
        return;
    };
    let mut others: Vec<(Bytes, u32)> =
        failure.others.iter().filter_map(|other| Some((other.bytes?.nearest, other.pid))).collect();
    others.sort_unstable_by(|a, b| b.cmp(a));
    let Some(((bytes, pid), rest)) = others.split_first() else {
        let listed = facts.device.total.map(|total| listed_processes(facts, total.nearest())).unwrap_or_default();
        if !listed.is_empty() {
            cause.finding.remedies = vec![end_largest(&listed)];
        }
        return;
    };
    let more = if rest.is_empty() {
        String::new()
    } else {
        format!(" and {}", count(rest.len(), "smaller one", "smaller ones"))
    };
    if let Some(first) = cause.finding.remedies.first_mut().filter(|_| !failure.is_own_row_a_guess) {
        first.remedy = format!("end process {pid} ({bytes}){more} that nvidia-smi lists, or use another device");
    }
}

/// Adds the switches of the program that ran out, before the general advice.
fn add_switches(cause: &mut Cause, facts: &Facts) {
    if matches!(cause.finding.rule, CauseId::OtherProcessMemory | CauseId::SmallGpuFraction) {
        return;
    }
    let switches: Vec<Remedy> = facts.programs.iter().flat_map(|program| switches::of_application(*program)).collect();
    let at = place_of_advice(cause);
    cause.finding.remedies.splice(at..at, switches);
}

fn names_listed(cause: &Cause) -> bool {
    let source = Source::NvidiaSmi.to_string();
    cause.finding.evidence.iter().any(|row| row.source == source)
}

/// True for a cause that `nvidia-smi` shows: a tenth of the device at least, with room for it beside the figures of the message.
fn is_listed(cause: &Cause, facts: &Facts) -> bool {
    if Numbers::of(facts).is_some() && cause.finding.severity != Severity::Error {
        return false;
    }
    let total = facts.card.and_then(|card| card.total_bytes).map(|total| total.nearest);
    cause.finding.rule == CauseId::OtherProcessMemory
        && names_listed(cause)
        && cause.bytes.zip(total).is_some_and(|(held, total)| held.0.saturating_mul(10) >= total.0)
}

fn is_of_table(cause: &Cause) -> bool {
    DECIDED.contains(&cause.finding.rule)
}

/// True for a cause of the whole device, never a remark; so are blocks that wait for other streams.
fn is_answer(cause: &Cause, numbers: &Numbers) -> bool {
    let answers = [CauseId::OneHugeRequest, CauseId::NeedExceedsDevice, CauseId::Unclear];
    answers.contains(&cause.finding.rule) || (cause.finding.rule == CauseId::Fragmentation && numbers.is_waiting())
}
