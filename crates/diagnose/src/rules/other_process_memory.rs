//! `other-process-memory`: another process holds memory of the device. (Ranks of one job on one device are
//! `wrong-device`.)
//!
//! In a container the driver does not know this process by its own id, so that its own line reads like another's. A
//! single "other" whose share holds all that PyTorch reserved here, where the error names no line of its own, is this
//! process.

use report::{Evidence, Finding, RuleId, Severity};
use trace::Bytes;
use trace::text::{OtherProcess, StatedBytes};

use super::{Cause, Rank, advice, bytes, wrong_device};
use crate::facts::{Facts, Failure};

/// Less than this share of the device is not worth a word.
const SHARE: u64 = 20;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| !failure.is_hosts() && !wrong_device::is_stated(facts))?;
    let total = facts.device.total?;
    let (held, evidence) = named(failure).or_else(|| difference(facts, failure, total))?;
    if held.0.saturating_mul(SHARE) < total.nearest.0 {
        return None;
    }
    let decides = failure.missing().is_some_and(|missing| held >= missing);
    let finding = Finding {
        rule: RuleId("other-process-memory"),
        severity: if facts.fatal && decides { Severity::Error } else { Severity::Warning },
        message: format!("other processes hold {held} of the device's {}", total.nearest),
        location: None,
        evidence,
        remedies: vec![advice(
            "end those processes, or use another device",
            "nvidia-smi names them; CUDA_VISIBLE_DEVICES picks another device. A notebook's kernel or a killed job's \
             workers may still be there",
        )],
    };
    Some(Cause { finding, bytes: Some(held), rank: Rank::Setting })
}

/// What the error says of others.
fn named(failure: &Failure) -> Option<(Bytes, Vec<Evidence>)> {
    let others = others(failure);
    let sizes = others.iter().filter_map(|other| Some((other.pid, other.bytes?.nearest)));
    let evidence: Vec<Evidence> =
        sizes.map(|(pid, held)| bytes(&format!("process {pid}"), held, failure.counters_source)).collect();
    let held = others.iter().filter_map(|other| Some(other.bytes?.nearest)).sum();
    (!evidence.is_empty()).then_some((held, evidence))
}

/// The processes named that are not this one.
pub(crate) fn others(failure: &Failure) -> &[OtherProcess] {
    let own = |other: &OtherProcess| {
        let (Some(size), Some(reserved)) = (other.bytes, failure.reserved) else {
            return false;
        };
        failure.process.is_none() && size.highest >= reserved.lowest
    };
    match failure.others.as_slice() {
        [only] if own(only) => &[],
        others => others,
    }
}

/// What is neither free nor this process's, where the error names this process and nobody else.
fn difference(facts: &Facts, failure: &Failure, total: StatedBytes) -> Option<(Bytes, Vec<Evidence>)> {
    let (free, own) = (failure.free?, failure.process.filter(|_| failure.others.is_empty())?);
    let held = (total - free - own).lowest;
    let source = failure.counters_source;
    let evidence = vec![
        bytes("device", total.nearest, source),
        bytes("free", free.nearest, source),
        bytes("this process", own.nearest, source),
    ];
    (held > Bytes::ZERO && facts.fatal).then_some((held, evidence))
}
