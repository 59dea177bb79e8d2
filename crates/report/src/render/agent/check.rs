//! The object of `check`, and of an out-of-memory error on a real GPU.

use causes::Role;
use serde_json::{Value, json};

use super::super::blame::{filling, find_filling_growth, find_stated};
use super::super::layout::words_of;
use super::super::verdict::without_limit;
use super::object::{Object, at_place, describe_cause, describe_remedy};
use crate::breakdown::Breakdown;
use crate::check::{CheckReport, Growth, Oom, Site};
use crate::finding::Finding;
use crate::real_run::RunReport;

/// The lines of the program with the most memory that are named.
const LINES: usize = 3;

/// Describes the answer of a dry run.
pub(super) fn describe(report: &CheckReport) -> Object {
    add(Object::of(report), report).or_next(report.larger.clone())
}

/// Describes the out-of-memory error that ended a real run.
pub(super) fn describe_error(run: &RunReport, error: &CheckReport) -> Object {
    add(Object::of(run), error)
}

fn add(object: Object, report: &CheckReport) -> Object {
    let (breakdown, sites) = filling(report);
    let cause = find_cause(report);
    let others = list_others(report, cause).map(|finding| describe_cause(finding, &report.folder));
    object
        .beside_verdict(describe_need(report))
        .row([("cause", describe_blame(report, cause))])
        .list("changes", list_changes(report, cause))
        .list_some("also", others)
        .some("ran_out", report.oom.as_ref().map(|oom| describe_request(oom, &report.folder)))
        .row([("memory", Some(describe_parts(breakdown)))])
        .list("lines", sites.iter().take(LINES).map(|site| describe_site(site, &report.folder)))
}

/// The findings beside the cause. The headline states the need.
fn list_others<'a>(report: &'a CheckReport, cause: Option<&'a Finding>) -> impl Iterator<Item = &'a Finding> {
    let is_other = move |finding: &&Finding| cause != Some(*finding) && finding.rule.role() != Role::Need;
    report.findings.iter().filter(is_other)
}

/// The remedies of the cause; without a cause the measured remedies of each finding.
fn list_changes(report: &CheckReport, cause: Option<&Finding>) -> Vec<Value> {
    let of_others = list_others(report, cause).filter(|_| cause.is_none()).flat_map(|finding| &finding.remedies);
    let measured = of_others.filter(|remedy| remedy.after_bytes.is_some());
    let remedies = cause.into_iter().flat_map(|finding| &finding.remedies).chain(measured);
    remedies.map(describe_remedy).chain(describe_segments(report)).collect()
}

fn describe_request(oom: &Oom, folder: &str) -> Value {
    let request = json!({"requested_bytes": oom.requested_bytes, "at": words_of(&oom.place)});
    at_place(request, oom.location.as_ref(), folder)
}

/// The need on the device, in parts, beside the device's memory. A program that fits needs what it takes under the limit.
fn describe_need(report: &CheckReport) -> [(&'static str, Option<Value>); 6] {
    let usage = if report.verdict.is_fit() { report.peak.usage } else { report.need.usage };
    let apart = usage.device_bytes - usage.reserved_bytes.min(usage.device_bytes);
    let is_open = !report.verdict.is_fit() && report.need.at_least.is_some();
    [
        ("need_bytes", Some(json!(usage.device_bytes))),
        ("need_is_lower_bound", is_open.then(|| json!(true))),
        ("device_bytes", Some(json!(report.gpu.available_bytes()))),
        ("allocated_bytes", Some(json!(usage.allocated_bytes))),
        ("reserved_bytes", Some(json!(usage.reserved_bytes))),
        ("context_bytes", Some(json!(apart))),
    ]
}

/// Expandable segments, for a program that fits only while PyTorch empties its cache.
fn describe_segments(report: &CheckReport) -> Option<Value> {
    let expandable = report.need.expandable_bytes.filter(|_| without_limit(report).is_some())?;
    Some(json!({
        "change": "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "standing": "estimated",
        "before_bytes": report.need.usage.device_bytes,
        "after_bytes": expandable,
        "how": "the recorded requests, replayed: PyTorch need not empty its cache, which takes time",
    }))
}

/// The finding of the headline, else the first finding of a program that does not fit.
fn find_cause(report: &CheckReport) -> Option<&Finding> {
    find_stated(report).or_else(|| report.findings.first().filter(|_| report.verdict.is_oom()))
}

/// The cause, with the growth that fills the device.
fn describe_blame(report: &CheckReport, cause: Option<&Finding>) -> Option<Value> {
    let growth = find_filling_growth(report).map(|growth| describe_growth(growth, &report.folder));
    let mut blame = cause.map(|finding| describe_cause(finding, &report.folder));
    if let (Some(blame), Some(growth)) = (&mut blame, &growth) {
        blame["growth"] = growth.clone();
    }
    blame.or(growth)
}

fn describe_growth(growth: &Growth, folder: &str) -> Value {
    let value = json!({"bytes_per_iteration": growth.bytes_per_iteration, "full_at": growth.full_at});
    at_place(value, growth.location.as_ref(), folder)
}

fn describe_parts(breakdown: &Breakdown) -> Value {
    breakdown.parts().iter().map(|part| (part.category.words().to_owned(), json!(part.bytes))).collect()
}

fn describe_site(site: &Site, folder: &str) -> Value {
    let value = json!({"bytes": site.bytes, "what": site.category.words(), "count": site.count});
    at_place(value, site.location.as_ref(), folder)
}
