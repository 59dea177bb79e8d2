//! The least saving of a cause and of a remedy: what saves next to nothing of the missing memory is no advice.

use causes::{CauseId, Role};
use report::Severity;
use trace::Bytes;

use crate::rules::facts::input::Facts;
use crate::rules::facts::known::Known;
use crate::rules::rule::Cause;
use crate::rules::rule::removal::AtNeed;

/// Less than 1/50 of the missing bytes is no remedy.
const LEAST_SHARE: u64 = 50;

/// Makes a proven cause of little memory a remark without remedies, and drops the remedies that save little.
pub(in crate::rules) fn drop_small(cause: &mut Cause, facts: &Facts, missing: Option<Bytes>) {
    let Some(without) = cause.without() else { return };
    // Without the cause of a growth the whole need is another.
    let grows = cause.removal.as_ref().is_some_and(|removal| removal.at_need == AtNeed::Unknown);
    let device = facts.device.total.map(Known::nearest);
    let need = facts.need.as_ref().filter(|_| !grows).map(|need| need.value.bytes);
    let of_need = need.zip(device).map(|(need, device)| need - device);
    let lacking = missing.unwrap_or_default().max(of_need.unwrap_or_default());
    let is_small = |bytes: Bytes| bytes.0.saturating_mul(LEAST_SHARE) < lacking.0;
    let saved = without.freed_bytes.max(without.before_bytes - without.after_bytes);
    // A setting frees no allocated bytes.
    let is_setting = without.freed_bytes == Bytes::ZERO && without.served == Some(true);
    if !is_setting && is_small(saved) {
        cause.finding.severity = Severity::Info;
    }
    if cause.finding.severity == Severity::Info {
        cause.finding.remedies.clear();
    }
    cause.finding.remedies.retain(|remedy| {
        let saved = remedy.before_bytes.zip(remedy.after_bytes).map(|(before, after)| before - after);
        is_setting || !saved.is_some_and(is_small)
    });
}

/// Drops the advice of a smaller batch where memory that grows comes first: every batch fills the device, later.
pub(in crate::rules) fn drop_batches_beside_growth(causes: &mut [Cause]) {
    let grows = causes.first().is_some_and(|first| {
        first.finding.rule.role() == Role::Growth
            && first.removal.as_ref().is_some_and(|it| it.at_need == AtNeed::Unknown)
    });
    for cause in causes.iter_mut().filter(|_| grows) {
        if matches!(cause.finding.rule, CauseId::NeedExceedsDevice | CauseId::BatchTooLarge) {
            cause.finding.remedies.clear();
        }
    }
}
