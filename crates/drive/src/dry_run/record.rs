//! Runs a program under given conditions and reads what the run recorded.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use base::{Error, interrupt, run_dir};
use diagnose::{RecordedRun, Runs};
use run::rerun::{self, Aim, Reason};
use run::spec::merge_ends;
use run::{Conditions, Environment, Route};
use trace::Run;
use trace::run::{Ended, Launch};

use crate::dry_run::facts::gather_facts;
use crate::dry_run::failure;
use crate::dry_run::own_files;
use crate::dry_run::program::Program;
use crate::dry_run::replaced;
use crate::guard::world::World;
use crate::process::launch::{self, Start, Stdio};
use crate::run_folder;

/// A recorded run.
pub struct Recording {
    /// The conditions and the end.
    pub launch: Launch,
    /// The records.
    pub run: Run,
    /// The run directory.
    pub folder: PathBuf,
}

impl Recording {
    /// Fails where the run left nothing to report.
    pub fn check_facts(&self) -> Result<(), Error> {
        failure::check_facts(&self.launch, &self.run, &self.folder)
    }

    /// Fails where the program raised an error, be it after its first steps, or left nothing to report.
    pub fn check_end(&self) -> Result<(), Error> {
        failure::check_end(&self.launch, &self.run, &self.folder)
    }

    /// True if the user asked for the end of the run.
    pub(crate) fn is_stopped_by_user(&self) -> bool {
        self.launch.ended.as_ref().is_some_and(|ended| ended.user_stop().is_some())
    }

    /// Returns the run; fails where it left nothing to report.
    fn checked(self) -> Result<RecordedRun, Error> {
        self.check_facts()?;
        Ok(RecordedRun { launch: self.launch, run: self.run })
    }
}

/// Runs the program once, or each rank that was asked for once.
pub fn record(program: &Program, conditions: &Conditions, folder: &Path) -> Result<Recording, Error> {
    record_again(program, conditions, None, folder)
}

/// The same; `reason` is that of a run after the first.
fn record_again(
    program: &Program,
    conditions: &Conditions,
    reason: Option<Reason>,
    folder: &Path,
) -> Result<Recording, Error> {
    if interrupt::has_come() {
        return Err(Error::Interrupted);
    }
    let spec = &program.spec;
    let mut launch = spec.launch(conditions);
    run_folder::write_launch(folder, &launch)?;
    let outside = program.outside.next(folder)?;
    let start = |route| {
        let stdio = if spec.shows_output(conditions) { Stdio::Shown } else { Stdio::File };
        let is_silent = stdio == Stdio::Shown || program.is_quiet;
        let sentence = (!is_silent).then(|| rerun::describe(reason, route));
        let mut environment = program.environment(conditions, folder, route);
        own_files::lay_over(conditions, folder, &mut environment)?;
        program.outside.complete(&outside, &mut environment);
        let command = conditions.command(&spec.command);
        start(program, (&command, &environment), folder, (stdio, sentence), &outside.world)
    };
    let ended = match &spec.options.job {
        None => start(Route::Plain)?,
        Some(job) => run_ranks(&job.ranks, start)?,
    };
    let mut run = run_dir::read(folder)?;
    replaced::append(&run);
    if ended.stop_cause().is_some() {
        run_dir::add_unrecorded(folder, &mut run)?;
    }
    launch.ended = Some(ended);
    launch.effects = Some(Box::new(program.outside.end(outside, &run)));
    run_folder::write_launch(folder, &launch)?;
    Ok(Recording { launch, run, folder: folder.to_owned() })
}

/// Runs ranks one after the other; the user's request to end is about all of them.
fn run_ranks(ranks: &[u32], start: impl Fn(Route) -> Result<Ended, Error>) -> Result<Ended, Error> {
    let mut ends = Vec::new();
    for rank in ranks {
        let ended = start(Route::Rank(*rank))?;
        let is_last = ended.user_stop().is_some();
        ends.push(ended);
        if is_last {
            break;
        }
    }
    Ok(merge_ends(ends))
}

fn start(
    program: &Program,
    (command, environment): (&[OsString], &Environment),
    folder: &Path,
    (stdio, sentence): (Stdio, Option<String>),
    world: &World,
) -> Result<Ended, Error> {
    let ended =
        launch::run(&Start { command, environment, folder, timeout: program.spec.timeout, stdio, sentence, world });
    run_folder::remove_unfinished(folder)?;
    ended
}

/// Runs the program in `folder`, and again as [`rerun::next`] asks, by the facts of the runs so far. When the user asks for the end, no further
/// run follows, and of a stopped one only the need without a limit counts: it is at least what was seen.
pub fn record_to_end(program: &Program, mut conditions: Conditions, folder: &Path, aim: Aim) -> Result<Runs, Error> {
    let mut runs = Runs::of(record(program, &conditions, folder)?.checked()?);
    while !interrupt::has_come()
        && let Some(again) = rerun::next(&conditions, &gather_facts(&runs, aim))
    {
        let subfolder = make_folder(folder, again.reason)?;
        let recording = match record_again(program, &again.conditions, Some(again.reason), &subfolder) {
            Err(Error::Interrupted) => return Ok(runs),
            recorded => recorded?,
        };
        if recording.is_stopped_by_user() && !(again.reason == Reason::RanOut && recording.check_facts().is_ok()) {
            return Ok(runs);
        }
        match again.reason {
            Reason::RanOut => {
                let unlimited = RecordedRun { launch: recording.launch, run: recording.run };
                return Ok(Runs { unlimited: Some(unlimited), ..runs });
            }
            Reason::SharedDevice => runs = Runs::of(recording.checked()?),
            Reason::SideStreams => runs.late = Some(recording.checked()?),
            Reason::AssumedShare => {
                runs.other_share = Some(RecordedRun { launch: recording.launch, run: recording.run });
                continue;
            }
        }
        conditions = again.conditions;
    }
    Ok(runs)
}

fn make_folder(folder: &Path, reason: Reason) -> Result<PathBuf, Error> {
    let folder = folder.join(match reason {
        Reason::RanOut => run_folder::UNLIMITED,
        Reason::SharedDevice => run_folder::SHARED,
        Reason::SideStreams => run_folder::LATE,
        Reason::AssumedShare => run_folder::OTHER_SHARE,
    });
    fs::create_dir(&folder).map_err(|source| Error::RunFolder { folder: folder.clone(), source })?;
    Ok(folder)
}
