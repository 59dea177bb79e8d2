//! `wrong-device`: several processes use one device, as when every rank of a job stays on GPU 0.
//!
//! `check` once called it `shared-device`; it is the catalogue's `wrong-device`, and has one name in both commands.

use report::{Evidence, Finding, RuleId, Severity, Value};
use trace::Bytes;

use super::other_process_memory::others;
use super::{Cause, Rank, advice, bytes, count};
use crate::facts::{Facts, RankFacts};
use crate::measure::sharing::Shared;

/// Where a process's share comes from.
const LEDGER: &str = "the phantom's ledger";
/// Where a check's sum comes from.
const SOURCE: &str = "the sum of each process's own peak";

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    measured(facts).or_else(|| stated(facts)).or_else(|| seen(facts))
}

/// Processes of a dry run whose ledgers are known.
fn measured(facts: &Facts) -> Option<Cause> {
    let found = facts.shared.as_ref()?;
    let full = facts.fatal || facts.device.total.is_some_and(|total| found.together > total.nearest);
    let mut evidence: Vec<Evidence> =
        found.held.iter().map(|(rank, held)| bytes(&format!("held by rank {rank}"), *held, LEDGER)).collect();
    evidence.push(bytes("together at most", found.together, SOURCE));
    let severity = if full { Severity::Error } else { Severity::Warning };
    let mut cause = cause(severity, measured_message(found), evidence, Some(found.together));
    cause.finding.location.clone_from(&found.astray);
    Some(cause)
}

/// All of them work there, or some only left something.
fn measured_message(found: &Shared) -> String {
    let Shared { device, together, visitors, .. } = found;
    let processes = found.held.len();
    match *visitors {
        0 => format!("{processes} processes use device {device}, up to {together} together"),
        visitors => {
            format!("{visitors} of {processes} processes on device {device} work on another; up to {together} together")
        }
    }
}

/// Whether the texts say that the others on the device are ranks of the same job.
pub(super) fn is_stated(facts: &Facts) -> bool {
    stated(facts).is_some()
}

/// Ranks whose errors name the same device, or an error that names several processes like this one on it.
fn stated(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    let ranks: Vec<(u32, u32)> = facts.stated.iter().filter_map(|oom| Some((oom.rank?, oom.device_index?))).collect();
    let (_, device) = ranks.first()?;
    let mut others_of_job: Vec<u32> = ranks.iter().filter(|(_, on)| on == device).map(|(rank, _)| *rank).collect();
    others_of_job.sort_unstable();
    others_of_job.dedup();
    let misplaced = others_of_job.len() > 1 || others_of_job.iter().any(|rank| rank != device);
    let neighbours = others(failure);
    if !misplaced || neighbours.is_empty() {
        return None;
    }
    let held: Bytes = neighbours.iter().filter_map(|other| Some(other.bytes?.nearest)).sum();
    let names = others_of_job.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let evidence = vec![
        Evidence {
            what: "ranks that ran out there".to_owned(),
            value: Value::Text(names),
            source: "prefixes in the text",
        },
        count(
            "other processes on the device",
            u64::try_from(neighbours.len()).unwrap_or(u64::MAX),
            failure.counters_source,
        ),
        bytes("held by them", held, failure.counters_source),
    ];
    let message = format!("several ranks of the job use device {device}; the others there hold {held}");
    Some(cause(facts.severity(), message, evidence, Some(held)))
}

/// Snapshots of several ranks that all show one device.
fn seen(facts: &Facts) -> Option<Cause> {
    if !facts.explains {
        return None;
    }
    let astray: Vec<&RankFacts> = facts.ranks.iter().filter(|rank| rank.device != rank.rank).collect();
    let device = astray.first()?.device;
    let there: Vec<&RankFacts> = facts.ranks.iter().filter(|rank| rank.device == device).collect();
    if there.len() < 2 {
        return None;
    }
    let together: Bytes = there.iter().map(|rank| rank.reserved).sum();
    let evidence = there
        .iter()
        .map(|rank| bytes(&format!("reserved by rank {}", rank.rank), rank.reserved, "its snapshot"))
        .collect();
    let message = format!(
        "{} ranks use device {device}, {together} together; it is right only if each was started with a device of its \
         own in CUDA_VISIBLE_DEVICES",
        there.len()
    );
    Some(cause(facts.severity(), message, evidence, Some(together)))
}

fn cause(severity: Severity, message: String, evidence: Vec<Evidence>, bytes: Option<Bytes>) -> Cause {
    let finding = Finding {
        rule: RuleId("wrong-device"),
        severity,
        message,
        location: None,
        evidence,
        remedies: vec![advice(
            "give each process a device of its own",
            "torch.cuda.set_device(local_rank) before anything touches CUDA, and map_location in torch.load",
        )],
    };
    Cause { finding, bytes, rank: Rank::Setting }
}
