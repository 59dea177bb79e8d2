//! The report, made of a diagnosis in one expression.

use causes::{CauseId, Role};
use report::{CheckReport, Gpu, SourceLink, Verdict};
use trace::{Bytes, Process, Run};

use super::Diagnosis;
use super::case::{Case, CheckCase};
use super::conditions::{is_only_first_step, untrained_bytes};
use super::remarks::list_all_assumptions;
use super::subject::find_subject;
use crate::judge::halt::find_stop;
use crate::judge::made_up::list_made_up;

/// Returns the steps of the rank that ran out, else the most of any process.
fn count_steps(run: &Run, rank: Option<u32>) -> u32 {
    let is_meant = |process: &&Process| rank.is_none_or(|rank| process.identity.rank == rank);
    run.processes.iter().filter(is_meant).map(Process::step_count).max().unwrap_or_default()
}

/// Returns the report of `diagnosis`; `links` as in [`Diagnosis::report`].
pub(super) fn make_report(diagnosis: &Diagnosis, links: Vec<Option<SourceLink>>) -> CheckReport {
    let Diagnosis { asked, case, measured, findings, mistake, remarks } = diagnosis;
    let (run, measured) = (case.limited, measured.clone());
    CheckReport {
        version: case.launch.oomph.clone(),
        torch: run.torch().map(str::to_owned),
        gpu: gpu(asked, case),
        steps: count_steps(run, measured.oom.as_ref().and_then(|oom| oom.rank)),
        only_first_step: is_only_first_step(case),
        untrained_bytes: untrained_bytes(case),
        peak: measured.peak,
        need: measured.need,
        oom: measured.oom,
        breakdown: measured.breakdown,
        sites: measured.sites,
        growth: measured.growth,
        stop: find_stop(run, case.launch.ended.as_ref(), subject(case)),
        made_up_data: list_made_up(run),
        unapplied: list_unapplied(case),
        mistake: *mistake,
        findings: SourceLink::join(findings.clone(), links),
        assumptions: list_all_assumptions(asked, case),
        value_shapes: measured.value_shapes,
        life: measured.visited,
        ranks: measured.ranks,
        notes: [remarks.as_slice(), &asked.surroundings.remarks].concat(),
        effects: asked.surroundings.effects.clone(),
        seconds: asked.seconds,
        next: asked
            .next
            .clone()
            .filter(|_| measured.verdict.is_oom() && measured.passes.is_none() && !is_in_source(*mistake)),
        larger: asked.larger.clone().filter(|_| has_room(&measured.verdict, case.available())),
        verdict: measured.verdict,
        folder: asked.folder.clone(),
    }
}

/// The process that the report is about.
fn subject<'a>(case: &Case<'a>) -> Option<&'a Process> {
    find_subject(case).map(|(process, ..)| process)
}

/// Lists the remedies that no process applied.
fn list_unapplied(case: &Case) -> Vec<String> {
    let records = || case.limited.processes.iter().flat_map(|process| &process.remedies);
    let is_applied = |name: &str| records().any(|record| record.applied && record.remedy == name);
    let mut names: Vec<String> =
        records().map(|record| record.remedy.clone()).filter(|name| !is_applied(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// True for a mistake that a change to the source removes, and no search for settings and sizes.
fn is_in_source(mistake: Option<CauseId>) -> bool {
    mistake.is_some_and(|cause| matches!(cause.role(), Role::Growth | Role::Peak))
}

/// True if the program leaves a tenth of the memory.
fn has_room(verdict: &Verdict, available: Bytes) -> bool {
    match verdict {
        Verdict::Fits { spare_bytes, .. } | Verdict::FitsSoFar { spare_bytes, .. } => spare_bytes.0 >= available.0 / 10,
        Verdict::Oom { .. } | Verdict::Incomplete { .. } => false,
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
