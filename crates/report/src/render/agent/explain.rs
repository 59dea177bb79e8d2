//! The object of `explain`.

use serde_json::json;

use super::super::answer::focus;
use super::object::{Object, at_place, describe_cause, describe_remedy};
use crate::explain::ExplainReport;

/// Describes the reason for an error. The next command prints the page of the cause.
pub(super) fn describe(report: &ExplainReport) -> Object {
    let cause = report.findings.first();
    let remedies = cause.iter().flat_map(|finding| &finding.remedies).map(describe_remedy);
    let page = cause.map(|finding| ["oomph", "rule", finding.rule.name()].map(str::to_owned).to_vec());
    Object::of(report)
        .row([("cause", cause.map(|finding| describe_cause(finding, &report.folder)))])
        .list("changes", remedies)
        .list_some("also", report.findings.iter().skip(1).map(|finding| describe_cause(finding, &report.folder)))
        .some("ran_out", describe_request(report))
        .notes(&report.notes)
        .or_next(page)
}

/// The request that failed, by the history, else by PyTorch's message.
fn describe_request(report: &ExplainReport) -> Option<serde_json::Value> {
    if let Some(oom) = focus(report).and_then(|device| device.oom.as_ref()) {
        let request = json!({"requested_bytes": oom.requested_bytes, "free_bytes": oom.free_bytes});
        return Some(at_place(request, oom.location.as_ref(), &report.folder));
    }
    serde_json::to_value(report.ooms.get(report.focus_oom?)?).ok().map(|stated| match stated {
        serde_json::Value::Object(stated) => {
            stated.into_iter().filter(|(key, value)| key.ends_with("_bytes") && !value.is_null()).collect()
        }
        other => other,
    })
}
