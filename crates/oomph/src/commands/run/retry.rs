//! `--retry`: runs a program that ran out of memory again, with a verified plan. See Note [Retries] in `crates/diagnose/src/real/retry.rs`.

use std::path::PathBuf;
use std::vec;

use base::run_dir;
use diagnose::{FullDevice, NoRetry, Real, describe_plan, list_real_plans};
use drive::run_folder;
use report::Usage;
use report::fit::{FitVerdict, Plan};

use super::search::{self, SearchScope};
use super::stop::Stop;
use super::watching::Outlets;
use super::{EndedRun, Runner};
use crate::error::Error;
use crate::output;

/// The runs of one command line.
struct Series<'a> {
    runner: &'a Runner<'a>,
    /// The folder of the first run, which holds those of the others.
    folder: PathBuf,
    last: EndedRun,
    /// `None` before the search.
    plans: Option<Plans>,
}

/// The untried plans, and the need of the unchanged program.
struct Plans {
    left: vec::IntoIter<Plan>,
    before: Usage,
}

/// Repeats a run as long as memory ends it and a plan is left. Returns the status of the last run.
pub(super) fn retry(runner: &Runner, first: EndedRun) -> u8 {
    let most = runner.arguments.retry.unwrap_or_default();
    let mut series = Series { runner, folder: first.folder.clone(), last: first, plans: None };
    let stop = (1..=most).find_map(|number| series.run_next(number, most).err());
    match stop {
        None | Some(Stop::Done) => {}
        Some(Stop::No(why)) => output::say(&format!("oomph: no retry: {why}")),
        Some(Stop::Interrupted(signal)) => {
            output::say("oomph: no retry: the search was interrupted");
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
        Some(Stop::Failed(error)) => output::failure(&error),
    }
    series.last.status
}

impl Series<'_> {
    /// Runs the program with the next plan.
    fn run_next(&mut self, number: u32, most: u32) -> Result<(), Stop> {
        if !self.last.ran_out || self.runner.attendant.asked_to_end().is_some() {
            return Err(Stop::Done);
        }
        let device = self.permit()?;
        let plans = match &mut self.plans {
            Some(plans) => plans,
            None => self.plans.insert(find_plans(self.runner, &device)?),
        };
        let plan = plans.left.next().ok_or(NoRetry::NoMorePlans)?;
        let words = describe_plan(&plan, &plans.before);
        output::say(&format!("oomph: retry {number} of {most} with {words}, verified by dry runs on {device}"));
        let folder =
            run_folder::make_lasting(Some(&self.folder.join(format!("retry{number}")))).map_err(Error::from)?;
        let outlets = Outlets::open(self.runner.arguments, &self.runner.spec.command)?;
        self.last = self.runner.run(folder, &plan.changes, outlets)?;
        Ok(())
    }

    /// The device of the last run, if the program may run again.
    fn permit(&self) -> Result<FullDevice, Stop> {
        let run = run_dir::read(&self.last.folder).map_err(Error::from)?;
        Ok(Real::permit_retry(&run, &self.last.launched, self.runner.arguments.resumes)?)
    }
}

/// Searches for plans: first plans that keep the results, then plans that need a permission.
fn find_plans(runner: &Runner, device: &FullDevice) -> Result<Plans, Stop> {
    let is_allowed = runner.arguments.retry_changes_results;
    output::say(&format!("oomph: searches for a change with which it fits {device}; Ctrl-C ends the search"));
    let mut has_batch = true;
    for scope in [SearchScope::SameResults, SearchScope::OtherResults, SearchScope::SmallerBatch] {
        if scope == SearchScope::SmallerBatch && !has_batch {
            break;
        }
        let report = search::search(runner, device, scope)?;
        has_batch = report.batch.as_ref().is_some_and(|batch| batch.size > 1);
        let plans = list_real_plans(&report);
        match plans.first() {
            None if report.verdict == FitVerdict::Fits => return Err(NoRetry::Fits.into()),
            None => {}
            Some(plan) if scope != SearchScope::SameResults && !is_allowed => {
                return Err(NoRetry::ChangesResults(describe_plan(plan, &report.before)).into());
            }
            Some(_) => return Ok(Plans { left: plans.into_iter(), before: report.before }),
        }
    }
    Err(NoRetry::NoPlan.into())
}
