//! The object of `fit`.

use serde_json::{Value, json};

use super::super::fit::{exactness, named};
use super::super::layout::short_path;
use super::object::Object;
use crate::fit::{FitCause, FitReport, MaxBatch, Placed, Plan};
use crate::words::quote_all;

/// Describes the plans, cheapest first, or the largest size that fits.
pub(super) fn describe(report: &FitReport) -> Object {
    // A search for a size states the need of the size, not of the unchanged program.
    let need = report.max_batch.is_none().then_some(report.before.device_bytes);
    let (target, total) = (report.gpu.target_bytes, report.gpu.total_bytes);
    let object = Object::of(report)
        .beside_verdict([
            ("need_bytes", need.map(|bytes| json!(bytes))),
            ("target_bytes", Some(json!(target))),
            ("device_bytes", Some(json!(total))),
        ])
        .row([("cause", report.cause.as_ref().map(|cause| describe_cause(cause, &report.folder)))])
        .list("changes", report.plans.iter().map(|plan| describe_plan(plan, report)));
    match &report.max_batch {
        Some(most) => object.row([("largest", Some(describe_size(most)))]),
        None => object,
    }
}

fn describe_plan(plan: &Plan, report: &FitReport) -> Value {
    let mut value = json!({
        "change": named(&plan.changes),
        "standing": "verified",
        "before_bytes": report.before.device_bytes,
        "after_bytes": plan.peak.device_bytes,
        "results": exactness(plan.cost.exactness),
        "time_ratio": plan.cost.time_ratio,
    });
    if !plan.command.is_empty() {
        value["command"] = json!(quote_all(&plan.command));
    }
    let edits: Vec<Value> = plan.places.iter().filter_map(|place| describe_place(place, &report.folder)).collect();
    if !edits.is_empty() {
        value["edits"] = json!(edits);
    }
    value
}

/// `train.py:23: (loss / 8).backward()`; `None` for a change without a line.
fn describe_place(place: &Placed, folder: &str) -> Option<Value> {
    (place.line > 0).then(|| json!(format!("{}:{}: {}", short_path(&place.file, folder), place.line, place.text)))
}

fn describe_cause(cause: &FitCause, folder: &str) -> Value {
    json!({
        "rule": cause.rule,
        "message": cause.what,
        "how": cause.how,
        "file": short_path(&cause.file, folder),
        "line": cause.line,
        "before_bytes": cause.before_bytes,
        "after_bytes": cause.after_bytes,
        "is_enough": cause.mend.as_ref().map(|mend| mend.is_enough),
    })
}

fn describe_size(most: &MaxBatch) -> Value {
    let tried: Vec<Value> = most.tried.iter().map(|tried| json!([tried.size, tried.fits])).collect();
    json!({
        "setting": most.name,
        "size": if most.independent { Value::Null } else { json!(most.size) },
        "peak_bytes": most.peak.map(|peak| peak.device_bytes),
        "bytes_per_further": most.bytes_per_sample,
        "tried": tried,
    })
}
