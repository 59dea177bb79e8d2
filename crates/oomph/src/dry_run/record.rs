//! Runs a program under given conditions and reads what the run recorded.

use std::fs;
use std::path::{Path, PathBuf};

use report::Usage;
use run::rerun::{self, Reason, RunFacts};
use run::spec::merge_ends;
use run::{Conditions, Environment, Route};
use trace::run::{Ended, Launch};
use trace::{Bytes, Run};

use crate::dry_run::failure;
use crate::dry_run::program::Program;
use crate::effects::launch::{self, Shown, Start};
use crate::effects::run_dir;
use crate::error::Error;

/// A recorded run.
pub(crate) struct Recording {
    pub(crate) launch: Launch,
    pub(crate) run: Run,
    pub(crate) folder: PathBuf,
}

impl Recording {
    /// Fails where the run left nothing to report.
    pub(crate) fn check_facts(&self) -> Result<(), Error> {
        failure::check_facts(&self.launch, &self.run, &self.folder)
    }

    fn peak(&self) -> Usage {
        diagnose::find_peak(&self.run, Bytes(self.launch.device_context_bytes))
    }
}

/// Runs the program once, or each rank that was asked for once.
pub(crate) fn record(program: &Program, conditions: &Conditions, folder: &Path) -> Result<Recording, Error> {
    record_again(program, conditions, None, folder)
}

/// The same; `reason` is that of a run after the first.
fn record_again(
    program: &Program,
    conditions: &Conditions,
    reason: Option<Reason>,
    folder: &Path,
) -> Result<Recording, Error> {
    let spec = &program.spec;
    let mut launch = spec.launch(conditions);
    run_dir::write_launch(folder, &launch)?;
    let start = |route| {
        let shown = match () {
            () if spec.shows_output(conditions) => Shown::Output,
            () if program.is_quiet => Shown::Nothing,
            () => Shown::Progress(rerun::describe(reason, route)),
        };
        start(program, &program.environment(conditions, folder, route), folder, shown)
    };
    let ended = match &spec.job {
        None => start(Route::Plain)?,
        Some(job) => {
            let ranks = job.ranks.iter().map(|rank| start(Route::Rank(*rank)));
            merge_ends(ranks.collect::<Result<Vec<_>, _>>()?)
        }
    };
    launch.ended = Some(ended);
    run_dir::write_launch(folder, &launch)?;
    Ok(Recording { launch, run: run_dir::read(folder)?, folder: folder.to_owned() })
}

fn start(program: &Program, environment: &Environment, folder: &Path, shown: Shown) -> Result<Ended, Error> {
    let ended = launch::run(&Start {
        command: &program.spec.command,
        environment,
        folder,
        timeout: program.spec.timeout,
        shown,
    });
    run_dir::remove_unfinished(folder)?;
    ended
}

/// A run within the device's limit and, where the program ran out, one without.
pub(crate) struct Recordings {
    pub(crate) limited: Recording,
    pub(crate) unlimited: Option<Recording>,
    /// The peaks that depend on side streams, where the program has some.
    pub(crate) bounds: Option<StreamBounds>,
}

/// The peaks of reserved memory if blocks that a side stream used come back at once, and if they come back as late as they can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamBounds {
    pub(crate) at_once: Bytes,
    pub(crate) late: Bytes,
}

/// Runs the program in `folder`, and again as [`rerun::next`] asks, by the `facts` of each run.
pub(crate) fn record_to_end(
    program: &Program,
    mut conditions: Conditions,
    folder: &Path,
    facts: impl Fn(&Recording) -> RunFacts,
) -> Result<Recordings, Error> {
    let mut limited = record(program, &conditions, folder)?;
    let mut bounds = None;
    loop {
        limited.check_facts()?;
        let Some(again) = rerun::next(&conditions, &facts(&limited)) else {
            return Ok(Recordings { limited, unlimited: None, bounds });
        };
        let subfolder = make_folder(folder, again.reason)?;
        let recording = record_again(program, &again.conditions, Some(again.reason), &subfolder)?;
        match again.reason {
            Reason::RanOut => return Ok(Recordings { limited, unlimited: Some(recording), bounds }),
            Reason::SharedDevice => (limited, conditions) = (recording, again.conditions),
            Reason::SideStreams => {
                recording.check_facts()?;
                let (at_once, late) = (limited.peak(), recording.peak());
                bounds = Some(StreamBounds { at_once: at_once.reserved_bytes, late: late.reserved_bytes });
                if (late.reserved_bytes, late.allocated_bytes) > (at_once.reserved_bytes, at_once.allocated_bytes) {
                    limited = recording;
                }
                conditions = again.conditions;
            }
        }
    }
}

fn make_folder(folder: &Path, reason: Reason) -> Result<PathBuf, Error> {
    let folder = folder.join(match reason {
        Reason::RanOut => run_dir::UNLIMITED,
        Reason::SharedDevice => run_dir::SHARED,
        Reason::SideStreams => run_dir::LATE,
    });
    fs::create_dir(&folder).map_err(|source| Error::RunFolder { folder: folder.clone(), source })?;
    Ok(folder)
}
