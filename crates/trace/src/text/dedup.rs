//! Repeated printings of one error.
//!
//! # Note [One error printed twice]
//! A traceback that is logged and raised again, a launcher that repeats its worker's last words, an exception "during
//! handling of the above": each prints the same error several times. Two printings are the same error if no statement
//! differs: device, numbers, rank, process. The later printing then adds missing parts (its traceback, numbers that
//! were cut off), and `occurrences` counts. Two errors with equal numbers cannot be distinguished from an error printed
//! twice; ranks can, since every rank names itself or its device. An error without any number is merged with the last
//! error of its kind.

use super::artifact::{OomKind, StatedOom};
use super::clue::Clue;

/// The number of latest errors to compare: printings of one error are not further apart.
pub(super) const NEAR: usize = 32;

/// Adds an error to `errors`, or merges the error with a recent one.
pub(super) fn add(errors: &mut Vec<StatedOom>, error: StatedOom) {
    let same = errors.iter_mut().rev().take(NEAR).find(|earlier| are_same(earlier, &error));
    match same {
        Some(earlier) => join(earlier, error),
        None => errors.push(error),
    }
}

fn are_same(a: &StatedOom, b: &StatedOom) -> bool {
    a.framework == b.framework
        && are_same_kind(a.kind, b.kind)
        && agree(a.rank, b.rank)
        && agree(a.pid, b.pid)
        && agree(a.device_index, b.device_index)
        && numbers(a).into_iter().zip(numbers(b)).all(|(a, b)| overlap(a, b))
        && (a.other_processes == b.other_processes || a.other_processes.is_empty() || b.other_processes.is_empty())
}

/// A process that ended, and the kernel's reason, are the same kind.
fn are_same_kind(a: OomKind, b: OomKind) -> bool {
    let is_end = |kind| matches!(kind, OomKind::Killed | OomKind::Ended);
    a == b || (is_end(a) && is_end(b))
}

fn agree<T: PartialEq + Copy>(a: Option<T>, b: Option<T>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// Two statements of one size may be rounded differently.
fn overlap(a: Option<super::StatedBytes>, b: Option<super::StatedBytes>) -> bool {
    let Some((a, b)) = a.zip(b) else { return true };
    a == b || (a.lowest <= b.nearest && b.nearest <= a.highest) || (b.lowest <= a.nearest && a.nearest <= b.highest)
}

fn numbers(oom: &StatedOom) -> [Option<super::StatedBytes>; 11] {
    [
        oom.requested_bytes,
        oom.total_bytes,
        oom.free_bytes,
        oom.allocated_bytes,
        oom.reserved_bytes,
        oom.reserved_unallocated_bytes,
        oom.private_pools_bytes,
        oom.process_bytes,
        oom.allowed_bytes,
        oom.other_allocations_bytes,
        oom.segment_reserve_bytes,
    ]
}

fn count(oom: &StatedOom) -> usize {
    numbers(oom).iter().flatten().count() + oom.other_processes.len()
}

/// Keeps the position of the first and the most complete statements.
fn join(earlier: &mut StatedOom, later: StatedOom) {
    let (fuller, other) =
        if count(&later) > count(earlier) { (later, earlier.clone()) } else { (earlier.clone(), later) };
    let kind = if other.kind == OomKind::Killed { OomKind::Killed } else { fuller.kind };
    let traceback = if fuller.traceback.is_empty() { other.traceback } else { fuller.traceback };
    *earlier = StatedOom {
        kind,
        traceback,
        line: earlier.line,
        last_line: other.last_line.max(fuller.last_line),
        occurrences: fuller.occurrences + other.occurrences,
        rank: fuller.rank.or(other.rank),
        pid: fuller.pid.or(other.pid),
        device_index: fuller.device_index.or(other.device_index),
        exception: fuller.exception.or(other.exception),
        series: fuller.series.or(other.series),
        clues: join_clues(fuller.clues, other.clues),
        ..fuller
    };
}

/// The clues of both printings, one of each kind.
fn join_clues(mut clues: Vec<Clue>, more: Vec<Clue>) -> Vec<Clue> {
    for clue in more {
        if clues.iter().all(|other| other.kind != clue.kind) {
            clues.push(clue);
        }
    }
    clues
}
