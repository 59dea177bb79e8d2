//! `wrong-device`: several processes of one job use one device, for example every rank on GPU 0.
//!
//! Role job, order 10.
//!
//! (Earlier versions of `check` called the rule `shared-device`.)

use causes::CauseId;
use report::{Evidence, Finding, Severity};
use trace::Bytes;
use trace::text::StatedBytes;

use crate::judge::sharing::Shared;
use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Failure, RankFacts, Sharing};
use crate::rules::facts::known::{Known, Source, bytes, count, text};
use crate::rules::rule::{Cause, Check, Rank, Rule};

const DRY_RUN: Source = Source::DryRun;
const SOURCE: Source = Source::SumOfPeaks;

pub(super) const RULE: Rule = Rule { cause: CauseId::WrongDevice, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_in_dry_run(facts).or_else(|| find_in_errors(facts)).or_else(|| find_in_snapshots(facts))
}

/// Finds processes of a dry run on one device.
fn find_in_dry_run(facts: &Facts) -> Option<Cause> {
    let Sharing::Together(found) = &facts.fleet.sharing else { return None };
    let full = facts.is_fatal() || facts.device.total.is_some_and(|total| found.together > total.nearest());
    let mut evidence: Vec<Evidence> =
        found.held.iter().map(|(rank, held)| bytes(&format!("held by rank {rank}"), *held, DRY_RUN)).collect();
    evidence.push(bytes("together, at most", found.together, SOURCE));
    let severity = if full { Severity::Error } else { Severity::Warning };
    let mut cause = cause(severity, dry_run_message(found), evidence, Some(found.together));
    cause.finding.location.clone_from(&found.astray);
    Some(cause)
}

/// The message: all processes work on the device, or some work on another device.
fn dry_run_message(found: &Shared) -> String {
    let Shared { device, together, visitors, .. } = found;
    let processes = found.held.len();
    match *visitors {
        0 => format!("{processes} processes use device {device}, up to {together} together"),
        visitors => {
            format!(
                "{visitors} of {processes} processes on device {device} work on another device; up to {together} together"
            )
        }
    }
}

/// Checks that the texts show ranks of the same job as the other processes on the device.
pub(super) fn is_shared_by_ranks(facts: &Facts) -> bool {
    find_in_errors(facts).is_some()
}

/// Finds ranks whose errors name the same device, or a foreign device with other processes on it.
fn find_in_errors(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    let ranks: Vec<(u32, u32)> = facts.stated.iter().filter_map(|oom| Some((oom.rank?, oom.device_index?))).collect();
    let (_, device) = ranks.first()?;
    let mut others_of_job: Vec<u32> = ranks.iter().filter(|(_, on)| on == device).map(|(rank, _)| *rank).collect();
    others_of_job.sort_unstable();
    others_of_job.dedup();
    let misplaced = others_of_job.len() > 1 || others_of_job.iter().any(|rank| rank != device);
    let neighbours = failure.others.as_slice();
    let is_job = others_of_job.len() > 1 || neighbours.iter().any(|other| is_alike(failure, other.bytes));
    if !misplaced || neighbours.is_empty() || !is_job {
        return None;
    }
    let held: Bytes = neighbours.iter().filter_map(|other| Some(other.bytes?.nearest)).sum();
    let names = others_of_job.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let evidence = vec![
        text("ranks that ran out of memory there", names, Source::Prefixes),
        count("other processes on the device", u64::try_from(neighbours.len()).unwrap_or(u64::MAX), Source::Message),
        bytes("held by them", held, Source::Message),
    ];
    let message = format!("several ranks of the job use device {device}; the other processes on it hold {held}");
    Some(cause(facts.severity(), message, evidence, Some(held)))
}

/// True for a process about as large as this one: ranks of a job are alike, and a number alone may be that of a hidden device.
fn is_alike(failure: &Failure, other: Option<StatedBytes>) -> bool {
    let own = failure.process.or(failure.reserved).map(Known::nearest);
    own.zip(other).is_some_and(|(own, other)| own.0.abs_diff(other.nearest.0) <= own.0 / 3)
}

/// Finds snapshots of several ranks that all show one device. Equal numbers may be different devices: a dry run knows better.
fn find_in_snapshots(facts: &Facts) -> Option<Cause> {
    if facts.fleet.sharing != Sharing::Unknown {
        return None;
    }
    let astray: Vec<&RankFacts> = facts.fleet.ranks.iter().filter(|rank| rank.device != rank.rank).collect();
    let device = astray.first()?.device;
    let there: Vec<&RankFacts> = facts.fleet.ranks.iter().filter(|rank| rank.device == device).collect();
    if there.len() < 2 {
        return None;
    }
    let together: Bytes = there.iter().map(|rank| rank.reserved.value).sum();
    let evidence = there.iter().map(|rank| rank.reserved.row(&format!("reserved by rank {}", rank.rank))).collect();
    let message = format!(
        "{} ranks use device {device}, {together} together; correct only if each was started with its own device in \
         CUDA_VISIBLE_DEVICES",
        there.len()
    );
    Some(cause(facts.severity(), message, evidence, Some(together)))
}

fn cause(severity: Severity, message: String, evidence: Vec<Evidence>, bytes: Option<Bytes>) -> Cause {
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity,
        message,
        location: None,
        evidence,
        remedies: vec![advice(
            "give each process its own device",
            "torch.cuda.set_device(local_rank) before anything touches CUDA, and map_location in torch.load",
        )],
    };
    Cause { finding, bytes, rank: Rank::Setting, removal: None }
}
