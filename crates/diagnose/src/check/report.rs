//! The report, made of a diagnosis in one expression.

use report::{CheckReport, Gpu, SourceLink};
use trace::run::EndReason;
use trace::{Bytes, Process};

use super::Diagnosis;
use super::case::{Case, CheckCase};
use super::remarks::list_all_assumptions;

/// Returns the report of `diagnosis`; `links` as in [`Diagnosis::report`].
pub(super) fn make_report(diagnosis: &Diagnosis, links: Vec<Option<SourceLink>>) -> CheckReport {
    let Diagnosis { asked, case, measured, findings, remarks } = diagnosis;
    let (run, measured) = (case.limited, measured.clone());
    CheckReport {
        version: case.launch.oomph.clone(),
        torch: run.torch().map(str::to_owned),
        gpu: gpu(asked, case),
        steps: run.processes.iter().map(Process::step_count).max().unwrap_or_default(),
        only_first_step: is_only_first_step(case),
        untrained_bytes: untrained_bytes(case),
        peak: measured.peak,
        need: measured.need,
        oom: measured.oom,
        breakdown: measured.breakdown,
        sites: measured.sites,
        growth: measured.growth,
        findings: SourceLink::join(findings.clone(), links),
        assumptions: list_all_assumptions(asked, case),
        value_shapes: measured.value_shapes,
        ranks: measured.ranks,
        notes: remarks.clone(),
        seconds: asked.seconds,
        next: asked.next.clone().filter(|_| measured.verdict.is_oom()),
        verdict: measured.verdict,
        folder: asked.folder.clone(),
    }
}

/// True if the program was stopped after a single step, and would have made more.
fn is_only_first_step(case: &Case) -> bool {
    let mut ends = case.limited.processes.iter().filter_map(|process| process.end.as_ref());
    case.launch.steps == 1 && ends.any(|end| end.reason == EndReason::Steps)
}

/// Bytes of the parameters that an optimizer holds and no step trained, of the rank with the most; see [`CheckReport::untrained_bytes`].
fn untrained_bytes(case: &Case) -> Option<Bytes> {
    let of_process = |process: &Process| Bytes(process.untrained.iter().map(|untrained| untrained.bytes).sum());
    let most = case.limited.processes.iter().map(of_process).max()?;
    (most.0 > 0).then_some(most)
}

fn gpu(asked: &CheckCase, case: &Case) -> Gpu {
    Gpu {
        name: case.launch.gpu_name.clone(),
        total_bytes: case.total(),
        context_bytes: case.context(),
        usable_bytes: case.usable(),
        assumed: asked.gpu_assumed,
    }
}
