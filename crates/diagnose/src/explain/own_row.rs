//! The row of this process in the list of processes that a message has.
//!
//! In a container the driver knows a process by another id, so that the own row reads like that of another process.

use trace::Bytes;
use trace::text::{OtherProcess, StatedBytes};

use crate::rules::facts::input::Failure;
use crate::rules::facts::known::{Known, Source};

/// Two figures of one process differ by less.
const SAME: Bytes = Bytes::from_mib(700);

/// Takes the own row out of the list of a message, where the device cannot hold the program beside the listed processes. A figure of this process
/// below its reserved bytes is none.
pub(super) fn name_own_row(mut failure: Failure, total: Option<StatedBytes>) -> Failure {
    let (Some(reserved), Some(total)) = (failure.reserved, total) else { return failure };
    failure.process = failure.process.filter(|process| process.value.highest >= reserved.value.lowest);
    let own = failure.process.map_or(reserved, |process| process).nearest();
    let listed: Bytes = failure.others.iter().filter_map(size).sum();
    let free = failure.free.map(Known::nearest).unwrap_or_default();
    if listed + own + free <= total.nearest + Bytes(total.nearest.0 / 100) {
        return failure;
    }
    let Some(at) = position(&failure, own) else { return failure };
    let row = failure.others.remove(at);
    failure.is_own_row_a_guess = failure.others.iter().any(|other| is_near(other, size(&row).unwrap_or_default()));
    let bytes = row.bytes.map(|bytes| Known::new(bytes, Source::Message));
    failure.process = failure.process.or(bytes.filter(|bytes| bytes.value.highest >= reserved.value.lowest));
    failure
}

/// The place of the own row: of the rows with the program's bytes at least, the smallest; else a row within a context.
fn position(failure: &Failure, own: Bytes) -> Option<usize> {
    let sizes = || failure.others.iter().enumerate().filter_map(|(at, other)| Some((at, size(other)?)));
    let above = if failure.process.is_some() {
        None
    } else {
        sizes().filter(|(_, held)| *held >= own).min_by_key(|(_, held)| *held)
    };
    let near =
        || sizes().filter(|(_, held)| held.0.abs_diff(own.0) <= SAME.0).min_by_key(|(_, held)| held.0.abs_diff(own.0));
    above.or_else(near).map(|(at, _)| at)
}

fn size(other: &OtherProcess) -> Option<Bytes> {
    other.bytes.map(|bytes| bytes.nearest)
}

fn is_near(other: &OtherProcess, bytes: Bytes) -> bool {
    size(other).is_some_and(|held| held.0.abs_diff(bytes.0) <= SAME.0)
}
