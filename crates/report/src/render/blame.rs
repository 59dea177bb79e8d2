//! The second and third sentence of a headline: the cause with its place, and the change with its figure.

use std::collections::BTreeMap;

use causes::{CauseId, Role};
use trace::Bytes;

use super::layout::short_line;
use super::phrases::{capitalize, describe_growth, without_unit_of};
use crate::breakdown::{Breakdown, Contents};
use crate::check::{CheckReport, Growth, Site};
use crate::finding::{Finding, Location, Severity, Standing, Without};

/// A line with less than 1/4 of the largest part is not named.
const LEAST_PART: u64 = 4;

/// The growth of the headline: the device is full by it, and by no other cause.
pub(super) fn find_filling_growth(report: &CheckReport) -> Option<&Growth> {
    let growth = report.growth.as_ref().filter(|growth| growth.full_at.is_some() && !growth.is_harmless())?;
    let is_meant = report.mistake.is_none_or(|cause| cause.role() == Role::Growth || is_holder(cause));
    is_meant.then_some(growth)
}

/// The finding of the headline: the cause of the failed request. `None` if only the need exceeds the device.
pub(super) fn find_stated(report: &CheckReport) -> Option<&Finding> {
    let first = report.findings.first().filter(|_| report.verdict.is_oom())?;
    let is_assumed = matches!(&report.verdict, crate::check::Verdict::Oom { assumed, .. } if !assumed.is_empty());
    let is_cause =
        !matches!(first.rule.role(), Role::Need | Role::Caught | Role::Retries | Role::Shapes | Role::Unclear)
            && first.severity == Severity::Error;
    let is_stated = if find_filling_growth(report).is_some() {
        is_holder(first.rule) || first.rule.role() == Role::Growth
    } else {
        is_cause && !is_assumed
    };
    is_stated.then_some(first)
}

/// `full at step 9 of 1,000; 512.00 MiB stay of each step (train.py:41), kept in the list `outputs``.
pub(super) fn words_of_growth(growth: &Growth, report: &CheckReport) -> String {
    describe_growth(growth, report.mistake, growth.location.as_ref(), |at| short_line(at, &report.folder))
}

/// The holder of a loop's tensors by a finding.
pub(super) fn words_of_holder(report: &CheckReport) -> Option<String> {
    let holder = find_stated(report).filter(|finding| is_holder(finding.rule))?;
    Some(capitalize(&holder.message))
}

/// The cause with its place; without a cause the largest part of the memory.
pub(super) fn words_of_cause(report: &CheckReport) -> Option<String> {
    let Some(finding) = find_stated(report) else { return words_of_largest(report) };
    let line = finding.location.as_ref().map(|location| format!(" ({})", short_line(location, &report.folder)));
    let freed = finding.without.filter(|without| !has_figure(finding) && without.lowers_peak());
    let without = freed.map(|without| format!(", without it {} allocated by then", without.after_bytes));
    Some(capitalize(&finding.message) + &line.unwrap_or_default() + &without.unwrap_or_default())
}

/// `Largest: activations 24.41 GiB, of these 23.44 GiB at train.py:41`.
fn words_of_largest(report: &CheckReport) -> Option<String> {
    let (breakdown, sites) = filling(report);
    let part = breakdown.parts().first()?;
    let lines = sites.iter().filter(|site| site.category == part.category);
    let mut by_line: BTreeMap<&Location, Bytes> = BTreeMap::new();
    for (location, bytes) in lines.filter_map(|site| Some((site.location.as_ref()?, site.bytes))) {
        *by_line.entry(location).or_default() += bytes;
    }
    let is_large = |bytes: Bytes| bytes.0.saturating_mul(LEAST_PART) >= part.bytes.0;
    let most = by_line.into_iter().max_by_key(|(_, bytes)| *bytes).filter(|(_, bytes)| is_large(*bytes));
    let at = most.map(|(location, bytes)| {
        let of =
            if bytes.to_string() == part.bytes.to_string() { String::new() } else { format!(", of these {bytes}") };
        format!("{of} at {}", short_line(location, &report.folder))
    });
    let words = if part.category == Contents::Other { "other tensors" } else { part.category.words() };
    Some(format!("Largest: {words} {}{}", part.bytes, at.unwrap_or_default()))
}

/// The contents of the memory, in the run of the headline's figures: at the need of a program that does not fit, else at the
/// peak under the limit.
pub(super) fn filling(report: &CheckReport) -> (&Breakdown, &[Site]) {
    match report.need.filling.as_ref().filter(|_| report.verdict.is_oom()) {
        Some(filling) => (&filling.breakdown, &filling.sites),
        None => (&report.breakdown, &report.sites),
    }
}

/// The change, with its figure if one was verified.
pub(super) fn words_of_change(report: &CheckReport) -> Option<String> {
    let finding = find_changed(report)?;
    let expandable = report.need.expandable_bytes.filter(|need| *need <= report.gpu.available_bytes());
    match expandable.filter(|_| finding.rule == CauseId::Fragmentation && has_figure(finding)) {
        Some(need) => Some(format!("{}: needs {need}", capitalize(&finding.remedies.first()?.remedy))),
        None => describe_change(finding),
    }
}

/// `Keep a number: 4.00 MiB allocated by then, not 1.39 GiB`, `Try: halve the batch`; `None` without a remedy.
pub(super) fn describe_change(finding: &Finding) -> Option<String> {
    let remedy = finding.remedies.first()?;
    let Some((before, after)) = remedy.before_bytes.zip(remedy.after_bytes).filter(|_| has_figure(finding)) else {
        return Some(format!("Try: {}", remedy.remedy));
    };
    // A proof counts allocated bytes, up to the failed request.
    let is_proof = |without: Without| (without.before_bytes, without.after_bytes) == (before, after);
    let what = if finding.without.is_some_and(is_proof) { "allocated by then" } else { "at the peak" };
    Some(format!("{}: {after} {what}, not {}", capitalize(&remedy.remedy), without_unit_of(before, after)))
}

/// True if the first remedy was verified.
fn has_figure(finding: &Finding) -> bool {
    finding.remedies.first().is_some_and(|remedy| remedy.standing == Standing::Verified)
}

/// The finding of the headline's change: the stated finding, or the finding about the need.
fn find_changed(report: &CheckReport) -> Option<&Finding> {
    let need = report.findings.first().filter(|finding| finding.rule.role() == Role::Need && report.verdict.is_oom());
    find_stated(report).or(need)
}

/// True for a cause with a holder of a loop's tensors.
fn is_holder(cause: CauseId) -> bool {
    matches!(cause, CauseId::ExceptionHoldsFrames | CauseId::ReferenceCycle)
}
