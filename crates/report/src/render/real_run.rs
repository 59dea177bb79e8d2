//! The sentences about the end of a real run. Each stands alone, and none has a full stop.

use super::layout::line_of;
use super::verdict::sentence;
use crate::finding::Location;
use crate::real_run::{End, HostKill, LastAllocation, RunReport, Silence, StoppedRank, UsedMemory};
use crate::words::count;

/// The answer: the headline of `check` for a run that memory ended, else the end with the use of memory.
pub(super) fn headline(report: &RunReport) -> String {
    if let Some(check) = &report.out_of_memory {
        return sentence(check);
    }
    let end = words_of_end(report);
    let end = if end.is_empty() { end } else { end + "; " };
    if !report.is_recorded {
        return end + "no process that could be recorded used a GPU through PyTorch";
    }
    let reason = if report.end == End::Good { "" } else { "; no request for memory failed at the end" };
    format!("{end}{}{reason}", words_of_memory(report.memory.as_ref()))
}

/// The sentences behind the answer.
pub(super) fn list_remarks(report: &RunReport) -> Vec<String> {
    let folder = &report.folder;
    let mut remarks = Vec::new();
    remarks.extend(report.host.as_ref().and_then(words_of_kills));
    remarks.extend(report.silence.as_ref().map(|silence| words_of_silence(silence, folder)));
    remarks.extend(report.caught.as_ref().map(|caught| {
        let times = count(caught.errors, "out-of-memory error was", "out-of-memory errors were");
        format!("{times} caught{}", at(caught.location.as_ref(), folder))
    }));
    remarks.extend(report.unrecorded.iter().map(|reason| format!("allocations were not recorded: {reason}")));
    remarks.extend(report.gaps.iter().map(|gap| format!("not recorded: {gap}")));
    remarks.extend(report.notes.iter().cloned());
    remarks.extend(report.unapplied.iter().map(|it| format!("{} was not applied: {}", it.remedy, it.reason)));
    remarks
}

/// The end of a program that did not end well: `ended after step 1 with ValueError (train.py:40)`.
pub fn words_of_failure(report: &RunReport) -> Option<String> {
    (report.end != End::Good).then(|| words_of_end(report))
}

fn words_of_end(report: &RunReport) -> String {
    let Some(StoppedRank { rank, steps }) = report.stopped_first else { return words_of_last(report, report.steps) };
    let when = if steps > 0 { format!("after step {steps}") } else { "before its first step".to_owned() };
    let last = words_of_last(report, 0);
    format!("rank {rank} stopped first, {when}, without a last record, as if killed; the program {last}")
}

/// The end of the program after `steps`, where they are known.
fn words_of_last(report: &RunReport, steps: u32) -> String {
    let after = if steps > 0 { format!(" after step {steps}") } else { String::new() };
    match &report.end {
        End::Good if steps > 0 => count(steps, "step", "steps"),
        End::Good => String::new(),
        End::Open => format!("recorded up to step {}, without an end: it runs, or was killed", steps + 1),
        End::Signal { signal } => format!("ended{after} by {}", words_of_signal(*signal, report.host.as_ref())),
        End::Status { error: Some(raised), .. } => {
            let rank = raised.rank.map(|rank| format!("rank {rank} ")).unwrap_or_default();
            format!("{rank}ended{after} with {}{}", raised.type_name, at(raised.location.as_ref(), &report.folder))
        }
        End::Status { status, error: None } if (129..=159).contains(status) => {
            let signal = words_of_signal(status - 128, report.host.as_ref());
            format!("ended{after} with exit status {status}, as a shell does after {signal}")
        }
        End::Status { status, error: None } => format!("ended{after} with exit status {status}"),
    }
}

/// The name of a signal, and its sender as far as the counters of the kernel tell.
fn words_of_signal(number: i32, host: Option<&HostKill>) -> String {
    let (name, why) = name_signal(number);
    let why = match (number, host.map(|host| host.processes)) {
        (9, Some(0)) => ", by a scheduler, a launcher or a user: the kernel killed nothing for want of host memory",
        (9, Some(_)) => " for want of host memory",
        _ => why,
    };
    if name.is_empty() { format!("signal {number}") } else { format!("{name} (signal {number}){why}") }
}

/// The name of a signal (signal(7)), and the usual sender.
fn name_signal(number: i32) -> (&'static str, &'static str) {
    match number {
        1 => ("SIGHUP", ": the terminal was closed"),
        2 => ("SIGINT", ": it was interrupted, as by Ctrl-C"),
        6 => ("SIGABRT", ": a library has given up"),
        7 => ("SIGBUS", ": a mapped file was cut, or shared memory is full"),
        9 => ("SIGKILL", ", as by the kernel for want of host memory, or by a scheduler"),
        11 => ("SIGSEGV", ": a library has read or written a wrong address"),
        15 => ("SIGTERM", ", as by a scheduler or a launcher"),
        _ => ("", ""),
    }
}

/// The processes that the kernel killed for want of host memory; `None` if it killed none.
fn words_of_kills(host: &HostKill) -> Option<String> {
    let of = if host.is_of_group { "of this control group" } else { "of this machine" };
    let limit = host.limit_bytes.map(|limit| format!(" (limit {limit})")).unwrap_or_default();
    (host.processes > 0).then(|| {
        format!(
            "the kernel killed {} {of} for want of host memory{limit}; the largest process of the program had {} resident",
            count(host.processes, "process", "processes"),
            host.largest_process_bytes
        )
    })
}

fn words_of_memory(known: Option<&UsedMemory>) -> String {
    let Some(known) = known else { return "no memory was allocated".to_owned() };
    let rank = known.rank.map(|rank| format!("rank {rank}, ")).unwrap_or_default();
    let (allocated, reserved) = (known.allocated_peak_bytes, known.reserved_peak_bytes);
    let spare = known.spare_bytes.map(|spare| format!(", {spare} to spare")).unwrap_or_default();
    let others = known.others_bytes.zip(known.total_bytes);
    let others = others.map(|(others, total)| format!("; other processes and contexts used {others} of its {total}"));
    format!(
        "at most {allocated} allocated, {reserved} reserved ({rank}{}){spare}{}",
        known.gpu,
        others.unwrap_or_default()
    )
}

fn words_of_silence(silence: &Silence, folder: &str) -> String {
    let is_job = silence.last.iter().map(|last| last.ranks.len()).sum::<usize>() > 1;
    let places = silence.last.iter().map(|LastAllocation { ranks, step, location }| {
        let who = if is_job { words_of_ranks(ranks) + " " } else { String::new() };
        format!("{who}at step {step}{}", at(location.as_ref(), folder))
    });
    let places = places.collect::<Vec<_>>().join(", ");
    format!("nothing was allocated in the last {} s; last {places}", silence.seconds)
}

fn words_of_ranks(ranks: &[u32]) -> String {
    let numbers: Vec<String> = ranks.iter().map(u32::to_string).collect();
    format!("{} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, numbers.join(", "))
}

fn at(place: Option<&Location>, folder: &str) -> String {
    place.map_or_else(String::new, |location| format!(" ({})", line_of(location, folder)))
}

#[cfg(test)]
mod tests;
