//! From a case to the report.

use report::{
    Assumption, Breakdown, CheckReport, Gpu, Location, Oom, Peak, Place, Rank, Usage, ValueShape,
    Verdict,
};
use trace::{Bytes, DeviceIndex, PhantomRecord, Phase, Process, Record, Run};

use crate::case::Case;
use crate::measure::records::{ended_by_oom, last_oom, phantom_records, records, steps, torch};
use crate::measure::usage::{fullest, fullest_device};
use crate::measure::view::View;
use crate::measure::{breakdown, growth, own, peak, records as noted, sites};
use crate::rules::{self, Facts};
use crate::verdict::verdict;

/// Everything that `check` says of `case`.
pub fn check(case: &Case) -> CheckReport {
    let mut report = frame(case);
    let Some((process, device, usage)) = subject(case) else {
        return report;
    };
    let view = View::new(process, device);
    measure(&mut report, case, &view, usage);
    report.findings = rules::findings(&Facts {
        case,
        view: &view,
        report: &report,
    });
    report
}

/// The process that ran out, else the one that used most: what the report is about.
fn subject(case: &Case) -> Option<(&Process, DeviceIndex, Usage)> {
    let failed = case
        .limited
        .processes
        .iter()
        .find(|process| ended_by_oom(process));
    let failed = failed.and_then(|process| {
        let (device, usage) = fullest_device(process, case.context())?;
        Some((process, device, usage))
    });
    failed.or_else(|| fullest(&case.limited, case.context()))
}

/// What can be said without looking at any device.
fn frame(case: &Case) -> CheckReport {
    let run = &case.limited;
    CheckReport {
        version: case.launch.oomph.clone(),
        torch: torch(run).map(str::to_owned),
        gpu: gpu(case),
        verdict: verdict(case),
        steps: run.processes.iter().map(steps).max().unwrap_or_default(),
        peak: Peak::default(),
        need: Usage::default(),
        spare_bytes: i64::try_from(case.total().0).unwrap_or(i64::MAX),
        oom: None,
        breakdown: Breakdown::default(),
        sites: Vec::new(),
        growth: None,
        findings: Vec::new(),
        assumptions: assumptions(run),
        value_shapes: value_shapes(run),
        ranks: ranks(case),
        notes: notes(case),
        seconds: case.seconds,
        folder: case.folder.clone(),
    }
}

fn gpu(case: &Case) -> Gpu {
    Gpu {
        name: case.launch.gpu_name.clone(),
        total_bytes: case.total(),
        context_bytes: case.context(),
        usable_bytes: case.usable(),
        assumed: case.gpu_assumed,
    }
}

fn measure(report: &mut CheckReport, case: &Case, view: &View, mut usage: Usage) {
    let shown = view
        .found
        .allocated_peak
        .map_or(Bytes::ZERO, |peak| peak.bytes);
    if usage.allocated_bytes == Bytes::ZERO {
        usage.allocated_bytes = shown; // The counters were never written: the trace is all there is.
    }
    report.peak = peak::peak(view, usage);
    report.need = need(case, usage);
    report.spare_bytes = difference(case.total(), report.need.device_bytes);
    report.oom = (report.verdict == Verdict::Oom).then(|| oom(view));
    if let Ok(parts) = breakdown::breakdown(view, usage.allocated_bytes) {
        report.breakdown = parts;
    }
    report
        .notes
        .extend(unaccounted(shown, usage.allocated_bytes));
    if let Some(peak) = view.found.allocated_peak {
        report.sites = sites::sites(view, peak.event);
    }
    report.growth = growth::growth(view, &report.peak, case.usable());
}

/// The peaks without a limit; those under the limit where it did not matter.
fn need(case: &Case, limited: Usage) -> Usage {
    let unlimited = case.unlimited.as_ref();
    let need = unlimited.and_then(|run| fullest(run, case.context()));
    need.map_or(limited, |(_, _, usage)| usage)
}

fn difference(a: Bytes, b: Bytes) -> i64 {
    let bytes = i64::try_from(a.0.abs_diff(b.0)).unwrap_or(i64::MAX);
    if a < b { -bytes } else { bytes }
}

fn unaccounted(shown: Bytes, counted: Bytes) -> Option<String> {
    let Bytes(difference) = Bytes(shown.0.abs_diff(counted.0));
    (difference != 0).then(|| {
        format!(
            "the trace shows a peak of {} bytes where the allocator counted {}: the breakdown is not exact",
            shown.0, counted.0
        )
    })
}

fn oom(view: &View) -> Oom {
    let message = error_message(view.process);
    let Some(Record::Oom {
        requested_bytes,
        step,
        phase,
        module,
        frames,
        ..
    }) = last_oom(view.process)
    else {
        return Oom {
            message,
            ..Oom::default()
        };
    };
    let script_dir = noted::script_dir(view.process);
    let line = frames
        .iter()
        .find(|(_, file, _)| own::is_own(file, script_dir));
    Oom {
        requested_bytes: Bytes(*requested_bytes),
        place: Place {
            step: Some(*step),
            phase: Phase::from_name(phase),
            module: Some(module.clone()).filter(|module| !module.is_empty()),
        },
        location: line.map(|(_, file, line)| location(file, *line)),
        message,
    }
}

fn error_message(process: &Process) -> String {
    let message = process
        .records
        .iter()
        .rev()
        .find_map(|record| match record {
            Record::Error {
                oom: true, message, ..
            } => Some(message.clone()),
            _ => None,
        });
    message.unwrap_or_default()
}

fn location(file: &str, line: u32) -> Location {
    Location {
        file: file.to_owned(),
        line,
        column: None,
    }
}

fn assumptions(run: &Run) -> Vec<Assumption> {
    let all = phantom_records(run).filter_map(|record| match record {
        PhantomRecord::Assumption { id, text, bytes } => Some((id, text, Bytes(*bytes))),
        _ => None,
    });
    let mut assumptions: Vec<Assumption> = Vec::new();
    for (id, text, bytes) in all {
        match assumptions.iter_mut().find(|known| known.id == *id) {
            Some(known) => known.bytes = known.bytes.max(bytes),
            None => assumptions.push(Assumption {
                id: id.clone(),
                text: text.clone(),
                bytes,
            }),
        }
    }
    assumptions
}

fn value_shapes(run: &Run) -> Vec<ValueShape> {
    let shapes = records(run).filter_map(|record| match record {
        Record::ValueShape {
            op,
            file,
            line,
            count,
            fraction,
        } => Some(ValueShape {
            op: op.clone(),
            location: location(file, *line),
            count: *count,
            fraction: *fraction,
        }),
        _ => None,
    });
    shapes.collect()
}

fn ranks(case: &Case) -> Vec<Rank> {
    let processes = &case.limited.processes;
    if processes.len() < 2 {
        return Vec::new();
    }
    let mut ranks: Vec<Rank> = processes
        .iter()
        .filter_map(|process| rank(process, case.context()))
        .collect();
    ranks.sort_by_key(|rank| (rank.rank, rank.device));
    ranks
}

fn rank(process: &Process, context: Bytes) -> Option<Rank> {
    let (device, peak) = fullest_device(process, context)?;
    Some(Rank {
        rank: process.rank(),
        device: device.0,
        peak,
        oom: ended_by_oom(process),
    })
}

fn notes(case: &Case) -> Vec<String> {
    let run = &case.limited;
    let mut notes: Vec<String> = records(run).filter_map(note).collect();
    let missing = phantom_records(run).filter_map(|record| match record {
        PhantomRecord::Missing { symbol } => Some(format!(
            "the program called {symbol}, which the phantom GPU lacks"
        )),
        _ => None,
    });
    notes.extend(missing);
    notes.extend(few_steps(case));
    notes
}

fn note(record: &Record) -> Option<String> {
    match record {
        Record::InitializersSkipped { count, bytes } => {
            let bytes = Bytes(*bytes);
            Some(format!(
                "{count} initialisers of large host tensors ({bytes}) were skipped: memory is the same"
            ))
        }
        Record::ValueRead { file, line, count } => Some(format!(
            "{file}:{line} read values that a GPU would have computed ({count}x); zeros were answered"
        )),
        _ => None,
    }
}

/// That the program ended by itself with fewer steps than were asked for.
fn few_steps(case: &Case) -> Option<String> {
    let done = case
        .limited
        .processes
        .iter()
        .map(steps)
        .max()
        .unwrap_or_default();
    let (wanted, fits) = (case.launch.steps, verdict(case) == Verdict::Fits);
    (fits && done < wanted)
        .then(|| format!("the program ended after {done} of {wanted} optimizer steps"))
}
