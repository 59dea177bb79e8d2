//! The sentences and maps of `sweep` that the formats share.

mod gpus;
mod map;

use std::collections::BTreeMap;

use crate::sweep::{PointVerdict, SweepDevice, SweepPoint, SweepReport};
use crate::words::{count, grouped};

pub(super) use self::gpus::list_gpus;
pub(super) use self::map::list_maps;

/// The answer in one sentence. No full stop.
pub(super) fn headline(report: &SweepReport) -> String {
    let answer = match report.gpus.as_slice() {
        [] => "no GPU was asked for".to_owned(),
        [gpu] => format!("{} the {}", said(report, gpu), gpu.name),
        [.., _] if report.configurations == 1 => describe_gpus(report),
        [.., _] => {
            let by_size = by_capacity(report);
            let words = |gpu: &&SweepDevice| format!("{} fit the {}", grouped(fitting(report, gpu)), gpu.name);
            let ends: Vec<String> = by_size.first().into_iter().chain(by_size.last()).map(words).collect();
            format!("of {} {}", configurations(report), ends.join(", and "))
        }
    };
    let failed = list_failed(report).len() as u64;
    let failed = if failed == 0 { String::new() } else { format!("; in {} the program fails", grouped(failed)) };
    let partial = if report.is_partial { "; some are missing, the same command goes on" } else { "" };
    format!("{answer}{failed}{partial}")
}

/// The answer for one configuration on several GPUs.
fn describe_gpus(report: &SweepReport) -> String {
    let fits: Vec<&SweepDevice> = by_capacity(report).into_iter().filter(|gpu| fitting(report, gpu) > 0).collect();
    let whole = report.gpus.len();
    match fits.first() {
        None => format!("the program fits none of the {whole} GPUs"),
        Some(smallest) => {
            format!("the program fits {} of {whole} GPUs; the smallest is the {}", fits.len(), smallest.name)
        }
    }
}

fn said(report: &SweepReport, gpu: &SweepDevice) -> String {
    let fits = fitting(report, gpu);
    let verb = if report.configurations == 1 { "fits" } else { "fit" };
    format!("{} of {} {verb}", grouped(fits), configurations(report))
}

fn configurations(report: &SweepReport) -> String {
    let noun = if report.configurations == 1 { "configuration" } else { "configurations" };
    format!("{} {noun}", grouped(report.configurations))
}

fn fitting(report: &SweepReport, gpu: &SweepDevice) -> u64 {
    report.points.iter().filter(|point| point.gpu == gpu.name && point.verdict.is_good()).count() as u64
}

/// The GPUs, the smallest first.
pub(super) fn by_capacity(report: &SweepReport) -> Vec<&SweepDevice> {
    let mut gpus: Vec<&SweepDevice> = report.gpus.iter().collect();
    gpus.sort_by_key(|gpu| gpu.capacity_bytes);
    gpus
}

/// The name without the maker.
fn short_name(name: &str) -> &str {
    name.trim_start_matches("NVIDIA ").trim_start_matches("GeForce ")
}

/// The configurations in which the program fails, each once, by the error.
fn list_failed(report: &SweepReport) -> BTreeMap<u64, &SweepPoint> {
    let failed = report.points.iter().filter(|point| point.verdict == PointVerdict::Failed);
    failed.map(|point| (point.number, point)).collect()
}

/// Says that the workers have different versions of PyTorch, whose needs are not comparable.
fn describe_versions(report: &SweepReport) -> Option<String> {
    let mut versions: BTreeMap<&str, u64> = BTreeMap::new();
    for torch in report.points.iter().filter_map(|point| point.torch.as_deref()) {
        *versions.entry(torch).or_default() += 1;
    }
    let named: Vec<String> = versions.iter().map(|(torch, points)| format!("{torch} ({})", grouped(*points))).collect();
    let words = "workers have different versions of PyTorch, whose needs differ";
    (named.len() > 1).then(|| format!("{words}: {}; `torch` in points.jsonl says which", named.join(", ")))
}

/// Sentences on the way to the figures, on failures, and the notes.
pub(super) fn list_remarks(report: &SweepReport) -> Vec<String> {
    let mut remarks = vec![effort(report)];
    remarks.extend(describe_sharing(report));
    remarks.extend(describe_versions(report));
    let mut errors: BTreeMap<&str, Vec<&SweepPoint>> = BTreeMap::new();
    for point in list_failed(report).into_values() {
        errors.entry(point.error.as_deref().unwrap_or("an error")).or_default().push(point);
    }
    for (error, points) in errors.iter().take(3) {
        let first = points.first().map_or_else(String::new, |point| words_of(point));
        let others = points.len() - 1;
        let others = if others == 0 { String::new() } else { format!(" and {others} more") };
        remarks.push(format!("{first}{others}: {error}"));
    }
    if errors.len() > 3 {
        remarks.push(format!(
            "{} more; `error` in points.jsonl has them",
            count(errors.len() as u64 - 3, "error", "errors")
        ));
    }
    remarks.extend(report.notes.iter().cloned());
    remarks
}

/// `batch=8 dtype=bf16`.
pub(super) fn words_of(point: &SweepPoint) -> String {
    let words: Vec<String> =
        point.params.iter().map(|(name, value)| format!("{name}={}", options::to_text(value))).collect();
    words.join(" ")
}

fn effort(report: &SweepReport) -> String {
    let SweepReport { runs, replayed, kept, seconds, .. } = report;
    let replays = match replayed {
        0 => String::new(),
        _ => format!(
            ", {} replayed between runs that foretold one another to the byte",
            count(*replayed, "configuration", "configurations")
        ),
    };
    let kept = if *kept == 0 { String::new() } else { format!(", {} kept from an earlier call", grouped(*kept)) };
    format!("{} in {seconds:.0} s{replays}{kept}", count(*runs, "dry run", "dry runs"))
}

/// Which GPUs one run answers for.
fn describe_sharing(report: &SweepReport) -> Option<String> {
    let shared = report.gpus.iter().filter(|gpu| gpu.name != gpu.run_for).count();
    (shared > 0).then(|| {
        "one dry run answers for all GPUs of a compute capability: the need does not depend on the size of the memory".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_with_another_pytorch_are_named() {
        let check = |versions: &[&str], expected: Option<&str>| {
            let point = |torch: &&str| SweepPoint { torch: Some((*torch).to_owned()), ..SweepPoint::default() };
            let report = SweepReport { points: versions.iter().map(point).collect(), ..SweepReport::default() };
            let found = list_remarks(&report).into_iter().find(|remark| remark.contains("versions of PyTorch"));
            let words = found.as_deref().and_then(|words| words.split(": ").nth(1));
            assert_eq!(words, expected, "{versions:?}");
        };
        check(&["2.11.0", "2.11.0"], None);
        check(&["2.11.0", "2.10.0", "2.11.0"], Some("2.10.0 (1), 2.11.0 (2); `torch` in points.jsonl says which"));
    }
}
