//! `other-process-memory`: another process holds memory of the device. (Ranks of one job on one device are
//! `wrong-device`.)
//!
//! In a container the driver does not know this process by its own id, so that its own line reads like another's. A
//! single "other" whose share holds all that PyTorch reserved here, where the error names no line of its own, is this
//! process.

use report::{Evidence, Finding, Remedy, RuleId, Severity};
use trace::Bytes;
use trace::text::{OtherProcess, StatedBytes};

use super::{Cause, Rank, advice, bytes, wrong_device};
use crate::facts::{Facts, Failure};

/// Less than this share of the device is not worth a word.
const SHARE: u64 = 20;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    from_error(facts).or_else(|| from_table(facts))
}

fn from_error(facts: &Facts) -> Option<Cause> {
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
        remedies: vec![end_them()],
    };
    Some(Cause { finding, bytes: Some(held), rank: Rank::Setting })
}

fn end_them() -> Remedy {
    advice(
        "end those processes, or use another device",
        "nvidia-smi names them; CUDA_VISIBLE_DEVICES picks another device. A notebook's kernel or a killed job's \
         workers may still be there",
    )
}

/// `nvidia-smi`'s list. When it was made is not known, and who in it belongs to the job only where an error names its
/// process; so it decides nothing beside an error that counts processes itself.
fn from_table(facts: &Facts) -> Option<Cause> {
    let card = facts.card?;
    let failure = facts.failure.as_ref();
    if failure.is_some_and(|failure| failure.is_hosts() || failure.process.is_some() || !failure.others.is_empty()) {
        return None;
    }
    let total = card.total_bytes.or(facts.device.total)?.nearest;
    let own = |pid: Option<u32>| pid.is_some() && facts.stated.iter().any(|oom| oom.pid == pid);
    let others = card.processes.iter().flatten().filter(|process| !own(process.pid));
    let sizes: Vec<(String, Bytes)> = others
        .filter_map(|process| {
            let pid = process.pid.map_or_else(|| "of unknown id".to_owned(), |pid| pid.to_string());
            Some((format!("process {pid}, {}", process.name), process.bytes?.nearest))
        })
        .collect();
    let held: Bytes = sizes.iter().map(|(_, held)| *held).sum();
    if sizes.is_empty() || held.0.saturating_mul(SHARE) < total.0 {
        return None;
    }
    let decides = failure.is_some_and(|failure| agrees(failure, total, held));
    let finding = Finding {
        rule: RuleId("other-process-memory"),
        severity: if facts.fatal && decides { Severity::Error } else { Severity::Warning },
        message: format!("nvidia-smi lists {} with {held} of the GPU's {total}", processes(sizes.len())),
        location: None,
        evidence: sizes.iter().map(|(what, held)| bytes(what, *held, "nvidia-smi")).collect(),
        remedies: vec![end_them()],
    };
    Some(Cause { finding, bytes: Some(held), rank: Rank::Setting })
}

/// Whether the error leaves room for what the list says: it names neither itself nor others, but what it does not account
/// for has to hold them, and they are enough to be the reason.
fn agrees(failure: &Failure, total: Bytes, held: Bytes) -> bool {
    let (Some(free), Some(reserved), Some(missing)) = (failure.free, failure.reserved, failure.missing()) else {
        return false;
    };
    held >= missing && held <= total - free.lowest - reserved.lowest
}

fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
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
