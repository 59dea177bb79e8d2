//! The guard of a command's dry runs: a world for each run, and the network for the first.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use ::run::Environment;
use base::{Error, events};
use trace::Run;
use trace::run::Effects;

use crate::cleanup::scratch::{self, JournalLock};
use crate::guard::fetched::{self, Fetched};
use crate::guard::kept::KeptFiles;
use crate::guard::permission::Permission;
use crate::guard::world::{EndPlan, FilePlan, World, WorldPlan};

/// The rules for all runs of a command, and the effects of the first.
pub struct Outside {
    /// True if new files of the first run stay.
    keeps_files: bool,
    network: Network,
    /// The reason for no worlds.
    refusal: Option<String>,
    /// Held where the changes of runs are undone from a journal.
    lock: Option<JournalLock>,
    has_run: Cell<bool>,
    first: RefCell<Option<Effects>>,
    /// The files fetched by the first run.
    fetched: RefCell<Fetched>,
    /// The new files of the first run, until the end of the command.
    kept: RefCell<Option<KeptFiles>>,
}

/// The runs that may reach other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Only the first run: an effect outside happens once.
    First,
    /// Every run.
    All,
    /// No run.
    None,
}

impl Outside {
    /// The rules; `permission` for worlds.
    pub(crate) fn new(network: Network, keeps_files: bool, permission: Permission) -> Result<Outside, Error> {
        let refusal = permission.find_refusal();
        let lock = refusal.as_ref().map(|_| JournalLock::take()).transpose()?;
        for path in scratch::finish_abandoned() {
            let what = "was changed by a dry run that was killed, and could not be put back";
            events::remark(&format!("warning: {} {what}", path.display()));
        }
        let (has_run, first, fetched, kept) =
            (Cell::new(false), RefCell::default(), RefCell::default(), RefCell::default());
        Ok(Outside { keeps_files, network, refusal, lock, has_run, first, fetched, kept })
    }

    /// True until a run has started.
    pub(crate) fn is_first(&self) -> bool {
        !self.has_run.get()
    }

    /// True if runs must not overlap.
    pub(crate) fn is_journaled(&self) -> bool {
        self.lock.is_some()
    }

    /// Takes the rules for the next run, recorded in `folder`.
    pub(crate) fn next(&self, folder: &Path) -> Result<RunOutside, Error> {
        let is_first = !self.has_run.replace(true);
        let is_offline = match self.network {
            Network::First => !is_first,
            Network::All => false,
            Network::None => true,
        };
        let files = match &self.refusal {
            Some(reason) => FilePlan::Journal(reason.clone()),
            None => FilePlan::Layers,
        };
        let world = World::make(folder, WorldPlan { is_offline, files, additions: self.fetched.borrow().additions() })?;
        Ok(RunOutside { world, folder: folder.to_owned(), is_first, is_offline })
    }

    /// Adds the rules for a run to its environment.
    pub(crate) fn complete(&self, run: &RunOutside, environment: &mut Environment) {
        if run.is_offline {
            environment.set_offline();
        }
        if self.network == Network::All {
            environment.set_online();
        }
    }

    /// Ends a run, with its records: undoes the changes.
    pub(crate) fn end(&self, run: RunOutside, records: &Run) -> Effects {
        let RunOutside { world, folder, is_first, .. } = run;
        let is_only_online = is_first && self.network == Network::First;
        let window = if is_only_online { fetched::find_window(&folder, records) } else { None };
        let ended = world.end(EndPlan { window, keeps_files: is_first && self.keeps_files });
        if is_first {
            self.first.replace(Some(ended.effects.clone()));
            self.fetched.replace(ended.fetched);
            self.kept.replace(ended.kept);
        }
        ended.effects
    }

    /// True if later runs have no network.
    pub fn connects_once(&self) -> bool {
        self.network == Network::First
    }

    /// The effects of the first run.
    pub fn effects(&self) -> Option<Effects> {
        self.first.borrow().clone()
    }
}

/// The end of a command.
impl Drop for Outside {
    fn drop(&mut self) {
        if let Some(kept) = self.kept.take() {
            kept.publish(&self.fetched.borrow());
        }
    }
}

/// The rules for one run.
pub(crate) struct RunOutside {
    pub(crate) world: World,
    /// The run directory.
    folder: PathBuf,
    is_first: bool,
    is_offline: bool,
}
