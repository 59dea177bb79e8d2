//! The sentences of `fit` that the formats share.

use options::Form;
use serde_json::Value;

use super::layout::line_of;
use super::phrases::{part_of, shorten_gpu, without_unit_of};
use super::verdict::made_up;
use crate::change::Change;
use crate::finding::Location;
use crate::fit::{Cost, Exactness, FitCause, FitReport, FitVerdict, Mend, Plan, SizeKind, TimeSource};
use crate::stopped::Stopped;
use crate::words::words_of_stop;

/// The answer in one sentence, the verdict first. No full stop.
pub(super) fn headline(report: &FitReport) -> String {
    let gpu = &report.gpu;
    let name = format!("{}{}", shorten_gpu(&gpu.name), made_up(&report.made_up_data));
    let (need, target) = (report.before.device_bytes, gpu.target_bytes);
    let usable = format!("{} to use", part_of(target, gpu.total_bytes));
    if let Some(most) = &report.max_batch {
        let name = if most.with.is_empty() { name } else { format!("{name} with {}", named(&most.with)) };
        let peak = most.peak.map_or_else(String::new, |peak| format!("{} needed, ", peak.device_bytes));
        let (of, size_name, least) = words_of_size(most.what);
        return match (most.independent, most.size) {
            (true, _) => {
                let setting = if most.name.is_empty() { String::new() } else { format!(" ({})", most.name) };
                format!("the peak does not depend on the {size_name}{setting}: {need} needed on {name}, {usable}")
            }
            (false, 0) => format!("not {least} fits {name}: {usable}"),
            (false, size) => format!("a {of} of {size} is the largest that fits {name}: {peak}{usable}"),
        };
    }
    if let Some(cause) = &report.cause {
        return headline_of_cause(report, cause, &name, &usable);
    }
    match (report.verdict, report.plans.first()) {
        (FitVerdict::Unknown, _) => {
            let stopped =
                report.stop.as_ref().map_or_else(String::new, |stopped| describe_stop(stopped, &report.folder));
            format!("no plan was tried for {name}: {need} so far, {usable}{stopped}")
        }
        (FitVerdict::Fits, _) => format!("fits {name} as it is: {} to spare ({need} needed, {usable})", target - need),
        (_, Some(plan)) => {
            let after = plan.peak.device_bytes;
            let before = without_unit_of(need, after);
            format!("fits {name} with {}: {after} needed, not {before} ({usable})", named(&plan.changes))
        }
        (_, None) if report.interrupted => {
            format!("no plan was found before the interruption: {need} needed on {name}, {usable}")
        }
        (_, None) => format!("does not fit {name}, and no allowed change makes it fit: {need} needed, {usable}"),
    }
}

/// A program that fits once a mistake is mended, with the figures of the mended program where it was run.
fn headline_of_cause(report: &FitReport, cause: &FitCause, name: &str, usable: &str) -> String {
    let place = Location { file: cause.file.clone(), line: cause.line, column: None };
    let place = if cause.line > 0 { format!(" ({})", line_of(&place, &report.folder)) } else { String::new() };
    // The rest of the sentence tells of the proof.
    let how = cause.how.split_once(';').map_or(cause.how.as_str(), |(how, _)| how);
    let need = report.before.device_bytes;
    match (&cause.mend, report.plans.first()) {
        (Some(Mend { peak, is_enough: true, .. }), _) => {
            let after = peak.device_bytes;
            let before = without_unit_of(need, after);
            format!("fits {name} once a mistake is mended{place}: {how}: {after} needed, not {before} ({usable})")
        }
        (Some(_), Some(plan)) => {
            let after = plan.peak.device_bytes;
            let (before, changes) = (without_unit_of(need, after), named(&plan.changes));
            format!("fits {name} with a mistake mended{place} and {changes}: {after} needed, not {before} ({usable})")
        }
        _ => {
            let figures = cause.before_bytes.zip(cause.after_bytes).map_or_else(String::new, |(before, after)| {
                format!(": {after} allocated at the error, not {}", without_unit_of(before, after))
            });
            format!("fits {name} once a mistake is mended{place}: {how}{figures}")
        }
    }
}

/// The words for a size, its setting, and the least of it.
fn words_of_size(what: SizeKind) -> (&'static str, &'static str, &'static str) {
    match what {
        SizeKind::Batch => ("batch", "batch size", "one sample"),
        SizeKind::Length => ("sequence length", "sequence length", "the shortest sequence"),
        SizeKind::Resolution => ("resolution", "resolution", "the smallest image"),
    }
}

/// `; the first dry run was stopped by you (Ctrl-C) after 40 s, at step 1, forward (train.py:41)`.
fn describe_stop(stopped: &Stopped, folder: &str) -> String {
    let line = stopped.location.as_ref().map_or_else(String::new, |at| format!(" ({})", line_of(at, folder)));
    format!("; the first dry run was stopped by {}{line}", words_of_stop(stopped, None))
}

/// The changes of a plan, joined to a sentence. The smaller batch size of an accumulation is not listed beside the accumulation
/// itself.
pub fn named(changes: &[Change]) -> String {
    let accumulates = changes.iter().any(|change| change.remedy == remedies::GRADIENT_ACCUMULATION);
    let chosen = changes.iter().filter(|change| !(accumulates && change.remedy == remedies::BATCH_SIZE));
    let names: Vec<String> = chosen.map(short).collect();
    match names.as_slice() {
        [] => "no change".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A change without its `arg` setting, which the list of lines shows; options of the program's own as they are typed.
fn short(change: &Change) -> String {
    if change.remedy == remedies::OWN_OPTIONS {
        let settings: Vec<String> = change.settings.iter().map(|(key, value)| own_setting(key, value)).collect();
        return settings.join(" and ");
    }
    let mut short = change.clone();
    short.settings.remove(remedies::setting::ARG);
    short.to_string()
}

/// A setting of the program's own: `--amp`, `--accumulate 2`, `train.batch=8`, `BATCH=8`, `train.batch: 8 in config.yaml`.
pub(super) fn own_setting(key: &str, value: &Value) -> String {
    let text = options::to_text(value);
    match options::form_of(key) {
        Form::Option if *value == Value::Bool(true) => key.to_owned(),
        Form::Option => format!("{key} {text}"),
        Form::Override | Form::Variable => format!("{}={text}", options::name_of(key)),
        Form::File => {
            let (file, name) = key.rsplit_once('#').unwrap_or_default();
            format!("{name}: {text} in {file}")
        }
    }
}

/// The effect on the program's results.
pub fn exactness(exactness: Exactness) -> &'static str {
    match exactness {
        Exactness::Identical => "identical",
        Exactness::UpToRounding => "same up to rounding",
        Exactness::OtherNumerics => "other numerics",
        Exactness::OtherModel => "another model",
    }
}

/// `identical, 1.33x the time (counted)`.
pub(super) fn price(cost: &Cost) -> String {
    let source = match cost.time_source {
        TimeSource::Counted => "counted",
        TimeSource::Typical => "typically",
    };
    format!("{}, {:.2}x the time ({source})", exactness(cost.exactness), cost.time_ratio)
}

/// A plan in a line: changes, peak, cost.
pub(super) fn line(plan: &Plan) -> String {
    format!("{}: {}, {}", named(&plan.changes), plan.peak.device_bytes, price(&plan.cost))
}
