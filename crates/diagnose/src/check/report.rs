//! The report, made of a diagnosis in one expression.

use report::{CheckReport, Gpu, SourceLink};
use trace::Process;

use super::Diagnosis;
use super::case::{Case, CheckCase};
use super::conditions::{is_only_first_step, untrained_bytes};
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
        next: asked.next.clone().filter(|_| measured.verdict.is_oom() && measured.passes.is_none()),
        verdict: measured.verdict,
        folder: asked.folder.clone(),
    }
}

fn gpu(asked: &CheckCase, case: &Case) -> Gpu {
    Gpu {
        name: case.launch.gpu_name.clone(),
        total_bytes: case.total(),
        others_bytes: case.total() - case.available(),
        context_bytes: case.context(),
        usable_bytes: case.usable(),
        assumed: asked.gpu_assumed,
    }
}
