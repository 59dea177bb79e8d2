//! Messages whose figures do not decide: no figures, a size that is none, or a program's own table of the device.

use causes::CauseId;
use report::Finding;
use trace::Bytes;
use trace::text::{DeviceTable, Framework, OomKind};

use super::words::{find_wrong_size, is_beyond_arc, sentence_of_no_size, split_for_arc};
use super::{Numbers, add_switches};
use crate::rules::causes::need_exceeds_device::need_less;
use crate::rules::causes::small_gpu_fraction;
use crate::rules::causes::unclear;
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::known::{Known, Source, bytes, text};
use crate::rules::facts::sizes::is_no_size;
use crate::rules::messages::phases;
use crate::rules::rule::{Cause, Rank};

/// Returns the answer to a message of PyTorch's allocator, or of a library below, whose figures do not decide.
pub(super) fn undecided(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| failure.is_fatal)?;
    if facts.view.is_some() || facts.need.is_some() || Numbers::of(facts).is_some() {
        return None;
    }
    let is_wrong = failure.requested.is_some_and(|size| is_no_size(size.nearest()));
    if failure.is_hosts() && !is_wrong {
        return None;
    }
    let table = facts.device_table.as_ref().filter(|_| failure.is_allocators() && failure.requested.is_none());
    let mut cause = match (failure.kind, table) {
        _ if is_wrong => of_no_size(facts, failure),
        (OomKind::Rejected, _) => small_gpu_fraction::of_rejection(facts, failure),
        (_, Some(table)) => of_table(table, facts),
        _ => unclear::of_message(facts, failure),
    };
    add_limit_of_arc(&mut cause, failure);
    if !is_wrong {
        add_switches(&mut cause, facts);
    }
    phases::add(&mut cause, facts);
    Some(cause)
}

/// Names Arc's limit for one allocation, which Intel's extension states without the figures of the device.
fn add_limit_of_arc(cause: &mut Cause, failure: &Failure) {
    let requested = failure.requested.map(Known::nearest).filter(|size| is_beyond_arc(*size) && !is_no_size(*size));
    if let Some(requested) = requested.filter(|_| failure.framework == Framework::Xpu) {
        cause.finding.message = format!("{requested} were refused: Arc GPUs take at most 4 GiB in one allocation");
        cause.finding.remedies.insert(0, split_for_arc());
    }
}

/// The answer to a request of more than any device has.
fn of_no_size(facts: &Facts, failure: &Failure) -> Cause {
    let finding = Finding {
        without: None,
        rule: CauseId::Unclear,
        severity: facts.severity(),
        message: sentence_of_no_size(),
        location: failure.location.clone(),
        evidence: vec![text("the error", failure.message.clone(), Source::Message)],
        remedies: vec![find_wrong_size()],
    };
    Cause { finding, bytes: None, rank: Rank::Unclear, removal: None }
}

/// The answer to a message without figures, beside a program's table: PyTorch fills the device if it holds four fifths of it.
fn of_table(table: &DeviceTable, facts: &Facts) -> Cause {
    let DeviceTable { total_bytes: total, free_bytes: free, reserved_bytes: reserved, .. } = *table;
    let is_full = reserved.0.saturating_mul(5) >= total.0.saturating_mul(4);
    let rest = total - reserved - free;
    let sentence =
        format!("PyTorch holds {reserved} of the device's {total}, and {free} are free, by the table beside the error");
    let finding = Finding {
        without: None,
        rule: if is_full { CauseId::NeedExceedsDevice } else { CauseId::Unclear },
        severity: facts.severity(),
        message: if is_full {
            sentence
        } else {
            format!("{sentence}: it may have been written after memory was freed")
        },
        location: facts.failed_at(),
        evidence: list_figures(table, rest),
        remedies: if is_full { need_less(None) } else { unclear::record_more() },
    };
    Cause { finding, bytes: None, rank: if is_full { Rank::Need } else { Rank::Unclear }, removal: None }
}

fn list_figures(table: &DeviceTable, rest: Bytes) -> Vec<report::Evidence> {
    let rows = [("reserved by PyTorch", table.reserved_bytes), ("free", table.free_bytes), ("of others", rest)];
    rows.into_iter().map(|(what, size)| bytes(what, size, Source::Message)).collect()
}
