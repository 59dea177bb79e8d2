//! The sentences about two runs that the formats share.

use std::fmt::Display;

use trace::{Bytes, Phase};

use super::figures::Figure;
use super::layout::{grouped, line_of, short_path};
use crate::against::{
    AgainstReport, AloneDevice, ComparedDevice, ComparedLine, ComparedPeak, ComparedRequest, ComparedRun, Keeping,
    LineDifference, Parting, Surplus,
};
use crate::words::count;

/// The names of the runs.
pub(super) const NAMES: [&str; 2] = ["A", "B"];

/// The answer in one sentence. No full stop.
pub(super) fn headline(report: &AgainstReport) -> String {
    let Some(device) = report.focused() else { return words_of_absence(&report.alone) };
    let rank = if is_job(report) && !is_alike(report) { format!("rank {}: ", device.rank) } else { String::new() };
    rank + &answer(report, device)
}

/// The sentence about one device.
fn answer(report: &AgainstReport, device: &ComparedDevice) -> String {
    let peaks = words_of_peaks(device.peaks);
    if let Some(parting) = &device.parting {
        return format!("{}; {peaks}", words_of_parting(parting, &report.folder));
    }
    if let Some(line) = device.lines.first().filter(|_| is_kept_longer(device)) {
        return format!("the requests are equal, and {}; {peaks}", words_of_kept(line, &report.folder));
    }
    let (requests, many) = words_of_count(report, device);
    match report.runs.each_ref().map(|run| run.failed.as_deref()) {
        [None, None] => format!("no difference: {requests} of {} {many} equal; {peaks}", words_of_steps(device)),
        [Some(a), Some(b)] if a == b => format!("no difference: {requests} {many} equal; both runs {a}"),
        [Some(a), Some(b)] => format!("no difference: {requests} {many} equal; A {a}, B {b}"),
        [Some(end), None] => format!("no difference up to the end of A: {requests} {many} equal; A {end}"),
        [None, Some(end)] => format!("no difference up to the end of B: {requests} {many} equal; B {end}"),
    }
}

fn is_job(report: &AgainstReport) -> bool {
    report.devices.len() + report.alone.len() > 1
}

/// True if one sentence holds for all devices.
fn is_alike(report: &AgainstReport) -> bool {
    report.alone.is_empty() && report.devices.iter().all(|device| device.parting.is_none() && !is_kept_longer(device))
}

/// True if frees alone explain a different peak, and not the length of a run.
fn is_kept_longer(device: &ComparedDevice) -> bool {
    !device.lines.is_empty() && (device.keeping.is_some() || device.surplus.is_none())
}

/// The requests of all devices if all are alike, and the verb.
fn words_of_count(report: &AgainstReport, device: &ComparedDevice) -> (String, &'static str) {
    let all = report.devices.iter().map(|device| device.equal_requests).sum();
    let requests = if is_alike(report) { all } else { device.equal_requests };
    let noun = if requests == 1 { "request" } else { "requests" };
    (format!("{} {noun}", grouped(requests)), if requests == 1 { "is" } else { "are" })
}

fn words_of_steps(device: &ComparedDevice) -> String {
    match device.steps {
        0 => "the whole program".to_owned(),
        steps => count(steps, "step", "steps"),
    }
}

fn words_of_absence(alone: &[AloneDevice]) -> String {
    match [0, 1].map(|run| alone.iter().any(|device| device.run == run)) {
        [false, false] => "neither run used a GPU through PyTorch".to_owned(),
        [true, false] => "only A used a GPU through PyTorch".to_owned(),
        [false, true] => "only B used a GPU through PyTorch".to_owned(),
        [true, true] => "the runs used different ranks or devices".to_owned(),
    }
}

fn words_of_parting(parting: &Parting, folder: &str) -> String {
    let subject = if parting.is_of_libraries {
        "the program's requests are equal, those inside libraries part"
    } else {
        "the runs part"
    };
    let step = parting.step.map_or_else(String::new, |step| format!(" at step {step}"));
    let what = match &parting.requests {
        [a, b] if parting.is_reordered => {
            let line = a.as_ref().or(b.as_ref()).map(|request| words_of_line(&request.line, folder));
            format!("{}: the same requests come in another order", line.unwrap_or_default())
        }
        [Some(a), Some(b)] => words_of_both(a, b, folder),
        [Some(one), None] => words_of_one(one, NAMES[0], folder),
        [None, Some(one)] => words_of_one(one, NAMES[1], folder),
        [None, None] => String::new(),
    };
    format!("{subject}{step}, {what}")
}

fn words_of_both(a: &ComparedRequest, b: &ComparedRequest, folder: &str) -> String {
    let end = |request: &ComparedRequest| if request.is_failed { ", where memory ran out" } else { "" };
    let lines = [a, b].map(|request| words_of_line(&request.line, folder));
    let (ends, sizes) = ([end(a), end(b)], [a.bytes, b.bytes]);
    if lines[0] == lines[1] {
        format!("{}: {} in A{}, {} in B{}", lines[0], sizes[0], ends[0], sizes[1], ends[1])
    } else {
        format!("{} for {} in A{}, {} for {} in B{}", sizes[0], lines[0], ends[0], sizes[1], lines[1], ends[1])
    }
}

fn words_of_one(one: &ComparedRequest, name: &str, folder: &str) -> String {
    let end = if one.is_failed { ", where memory ran out" } else { "" };
    format!("{}: {} only in {name}{end}", words_of_line(&one.line, folder), one.bytes)
}

fn words_of_kept(line: &LineDifference, folder: &str) -> String {
    let (name, more) = compare(line.bytes);
    format!("{name} keeps more: {} has {more} more at the peak", words_of_line(&line.line, folder))
}

/// The run with the larger figure, and the difference.
fn compare(bytes: [Bytes; 2]) -> (&'static str, Bytes) {
    if bytes[0] > bytes[1] { (NAMES[0], bytes[0] - bytes[1]) } else { (NAMES[1], bytes[1] - bytes[0]) }
}

fn words_of_peaks(peaks: [ComparedPeak; 2]) -> String {
    let allocated = peaks.map(|peak| peak.allocated_bytes);
    match compare(allocated) {
        (_, Bytes::ZERO) => format!("peak {} in both", allocated[0]),
        (name, more) => format!("the peak is {more} higher in {name}"),
    }
}

/// `train.py:40`, or the replacement for a missing line.
pub(super) fn words_of_line(line: &ComparedLine, folder: &str) -> String {
    match (&line.location, line.phase) {
        (Some(location), _) if line.is_of_library => format!("{} (in a library)", line_of(location, folder)),
        (Some(location), _) => line_of(location, folder),
        (None, Some(Phase::Backward)) => "backward, which runs no line of the program".to_owned(),
        (None, Some(phase)) => format!("{}, without a line", phase.name()),
        (None, None) => "no stack was recorded".to_owned(),
    }
}

/// `12.00 MiB in A, 14.00 MiB in B`, or one figure for both.
pub(super) fn words_of_pair<T: Display + PartialEq>(values: &[T; 2]) -> String {
    let [a, b] = values;
    if a == b { format!("{a} in both") } else { format!("{a} in A, {b} in B") }
}

/// `kept from step 1 on in B: train.py:40, which A frees in step 2`.
fn words_of_keeping(keeping: &Keeping, folder: &str) -> String {
    let Keeping { request, step, freed } = keeping;
    let longer = usize::from(freed[1].is_none_or(|b| freed[0].is_some_and(|a| b > a)));
    let (name, other) = (NAMES[longer], NAMES[1 - longer]);
    let sooner = freed[1 - longer].unwrap_or_default();
    let line = words_of_line(&request.line, folder);
    match freed[longer] {
        None => format!("kept from step {step} on in {name}: {line}, which {other} frees in step {sooner}"),
        Some(later) => {
            format!("kept from step {step} to step {later} in {name}: {line}, which {other} frees in step {sooner}")
        }
    }
}

/// `B goes on for 1 step (12 requests)`.
fn words_of_surplus(surplus: &Surplus) -> String {
    let name = NAMES.get(surplus.run).copied().unwrap_or_default();
    let noun = if surplus.requests == 1 { "request" } else { "requests" };
    let requests = format!("{} {noun}", grouped(surplus.requests));
    match surplus.steps {
        0 => format!("{name} goes on with {requests}"),
        steps => format!("{name} goes on for {} ({requests})", count(steps, "step", "steps")),
    }
}

/// A rank or a device of one run.
fn words_of_alone(alone: &AloneDevice) -> String {
    let name = NAMES.get(alone.run).copied().unwrap_or_default();
    format!("rank {}, cuda:{} is only in {name}: {} at its peak", alone.rank, alone.device.0, alone.allocated_bytes)
}

/// The runs and their ends, by name.
pub(super) fn list_runs(report: &AgainstReport) -> Vec<Figure> {
    let words = |run: &ComparedRun| {
        let kind = if run.is_dry { ", a dry run" } else { "" };
        let end = run.failed.as_ref().map_or_else(String::new, |end| format!(", {end}"));
        format!("{}{kind}{end}", short_path(&run.path, &report.folder))
    };
    NAMES.into_iter().zip(report.runs.iter().map(words)).collect()
}

/// The figures of the device that the answer is about.
pub(super) fn list_peaks(report: &AgainstReport) -> Vec<Figure> {
    let Some(device) = report.focused() else { return Vec::new() };
    let unused = |peak: ComparedPeak| peak.reserved_bytes - peak.allocated_bytes;
    let reserved = words_of_pair(&device.peaks.map(|peak| peak.reserved_bytes));
    let mut figures = vec![
        ("peak", words_of_pair(&device.peaks.map(|peak| peak.allocated_bytes))),
        ("reserved", format!("{reserved}; unallocated {}", words_of_pair(&device.peaks.map(unused)))),
    ];
    if device.parting.is_some() {
        let without = words_of_pair(&device.unpaired_requests.map(grouped));
        let equal = grouped(device.equal_requests);
        figures.push(("requests", format!("{equal} are equal; without a counterpart {without}")));
    }
    figures.extend(device.keeping.as_ref().map(|keeping| ("freed", words_of_keeping(keeping, &report.folder))));
    figures.extend(device.surplus.as_ref().map(|surplus| ("length", words_of_surplus(surplus))));
    figures
}

/// The versions and settings that differ, a sentence each.
pub(super) fn list_settings(report: &AgainstReport) -> Vec<String> {
    report.settings.iter().map(|setting| format!("{}: {}", setting.name, words_of_pair(&setting.values))).collect()
}

/// The further ranks and devices, a sentence each.
pub(super) fn list_others(report: &AgainstReport) -> Vec<String> {
    let others = report.devices.iter().enumerate().filter(|(index, _)| report.focus != Some(*index));
    let words =
        |device: &ComparedDevice| format!("rank {}, cuda:{}: {}", device.rank, device.device.0, answer(report, device));
    others.map(|(_, device)| words(device)).chain(report.alone.iter().map(words_of_alone)).collect()
}

/// Further remarks, a sentence each.
pub(super) fn list_remarks(report: &AgainstReport) -> Vec<String> {
    let mut remarks = report.notes.clone();
    let moved = report.focused().map_or(0, |device| device.moved_lines);
    if moved > 0 {
        let lines = count(moved, "line was moved", "lines were moved");
        remarks.push(format!("{lines} by an edit of the program; the numbers are those of A"));
    }
    let [a, b] = &report.runs;
    let all = report.devices.iter().flat_map(|device| device.lines.iter().chain(&device.unpaired_lines));
    if a.is_dry != b.is_dry && all.into_iter().any(|line| line.line.is_of_library) {
        remarks.push(
            "memory of libraries, such as a workspace of cuBLAS or cuDNN, may differ between a phantom GPU and a real one"
                .to_owned(),
        );
    }
    remarks
}

#[cfg(test)]
mod tests;
