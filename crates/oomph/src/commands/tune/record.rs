//! A program is recorded on the phantom, tuned, and run once more under the setting that was found.

use std::time::Instant;

use diagnose::{Contents, ExplainInput, Gpu, TuneCase, with_measured};
use report::tune::TuneReport;

use super::arguments::Tune;
use super::watching::Watching;
use crate::ExitStatus;
use crate::args::Check;
use crate::commands::check::{Pass, fail_without_facts, plan, ran_out, record};
use crate::error::Error;
use crate::rundir::Place;

/// Records, tunes, verifies and prints.
pub(super) fn run(arguments: &Tune, program: &Check, started: Instant) -> Result<ExitStatus, Error> {
    let recorded = recorded(program)?;
    let case = TuneCase { inputs: vec![recorded.input], ..super::case(arguments)? };
    let case = TuneCase { device: case.device.or(Some(recorded.gpu)), ..case };
    let watching = Watching::start();
    let mut report = diagnose::tune(&case, &watching)?;
    drop(watching);
    report = verified(program, report)?;
    report.seconds = started.elapsed().as_secs_f64();
    super::show(arguments, &report)
}

/// What the first run left.
struct Recorded {
    input: ExplainInput,
    gpu: Gpu,
}

/// A program that runs out is recorded once more without a limit, to its end.
fn recorded(program: &Check) -> Result<Recorded, Error> {
    let plan = plan(program)?;
    let place = Place::make(None)?;
    let (mut facts, mut run) = record(&plan, place.path(), Pass::Limited)?;
    fail_without_facts(&facts, &run, place.path())?;
    if ran_out(&run) {
        let whole = Place::make(None)?;
        (facts, run) = record(&plan, whole.path(), Pass::Unlimited)?;
    }
    let path = facts.command.join(" ");
    let profile = &plan.card.profile;
    let gpu = Gpu { name: profile.name.clone(), total: profile.total_bytes, context: profile.context_bytes };
    Ok(Recorded { input: ExplainInput { path, rank: None, contents: Contents::Run(run, Some(facts)) }, gpu })
}

/// Runs the program under the setting that was found, if one was.
fn verified(program: &Check, report: TuneReport) -> Result<TuneReport, Error> {
    let Some(recommended) = report.recommended.as_ref().filter(|_| !report.search.interrupted) else {
        return Ok(report);
    };
    let program = Check { conf: Some(recommended.setting.conf.clone()), ..program.clone() };
    let plan = plan(&program)?;
    let place = Place::make(None)?;
    let (_, run) = record(&plan, place.path(), Pass::Limited)?;
    Ok(with_measured(report, &run))
}
