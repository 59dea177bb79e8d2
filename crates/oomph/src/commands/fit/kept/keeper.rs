//! One search's dealings with what is kept: what it takes from there, what it puts there, and why it does not.

use std::io::ErrorKind;
use std::path::{Path, PathBuf, absolute};
use std::time::SystemTime;

use diagnose::{Trial, Variant};
use nix::sys::stat::{SFlag, fstat};

use super::key::{Asked, Known, Way, run_key};
use super::looks::{Looks, Searching, Unsure};
use super::{Kept, is_lasting};
use crate::cache;
use crate::commands::check::Plan;
use crate::error::Error;

/// What a search keeps.
pub(in crate::commands::fit) struct Keeper {
    kept: Kept,
    searching: Searching,
    /// Whether settings of the allocator are looked for.
    tunes: bool,
    /// What the fork server looked at.
    server: Option<Result<Looks, Unsure>>,
    /// Why something was not kept, the first time.
    unsure: Option<Unsure>,
}

/// A run that has ended.
pub(in crate::commands::fit) struct Ended<'a> {
    pub(in crate::commands::fit) variant: &'a Variant,
    pub(in crate::commands::fit) trial: &'a Trial,
    pub(in crate::commands::fit) status: i32,
    pub(in crate::commands::fit) timed_out: bool,
    /// The notes of what it looked at.
    pub(in crate::commands::fit) notes: &'a Path,
}

impl Keeper {
    /// For a search whose runs lie in `place`.
    pub(in crate::commands::fit) fn of(plan: &Plan, tunes: bool, place: &Path) -> Result<Keeper, Error> {
        let (steps, fraction) = plan.depth();
        let (command, device) = (plan.command.as_slice(), plan.device.as_str());
        let asked = Asked { command, device, profile: &plan.card.profile, devices: plan.devices(), steps, fraction };
        let caches = cache::parent()?;
        let ours = vec![absolute(&caches).unwrap_or(caches), place.to_owned()];
        let searching = Searching { ours, began: SystemTime::now() };
        Ok(Keeper { kept: Kept::of(&Known::of(&asked))?, searching, tunes, server: None, unsure: None })
    }

    /// What a variant came to before, in either way; what was run by itself is as good as what was forked.
    pub(in crate::commands::fit) fn get(&self, variant: &Variant, ways: &[Way]) -> Option<Trial> {
        let is_complete = !self.lacks_recording(variant);
        ways.iter().filter(|_| is_complete).find_map(|way| self.kept.get(&run_key(variant, self.tunes, *way)))
    }

    /// The history of a run, which `--max-batch` replays, is too much to keep.
    fn lacks_recording(&self, variant: &Variant) -> bool {
        variant.recorded && !self.tunes
    }

    /// Keeps what a child of the fork server came to, whose own notes are in `server`.
    pub(in crate::commands::fit) fn put_forked(&mut self, ended: &Ended, server: &Path) {
        let searching = &self.searching;
        let server = self.server.get_or_insert_with(|| noted(server, searching, true)).clone();
        let own = noted(ended.notes, &self.searching, false);
        let looks = server.and_then(|server| server.are_untouched().and_then(|()| Ok(vec![server, own?])));
        self.put(ended, Way::Forked, looks);
    }

    /// Keeps what a process of its own came to.
    pub(in crate::commands::fit) fn put_alone(&mut self, ended: &Ended) {
        let mut searching = Searching { ours: self.searching.ours.clone(), began: self.searching.began };
        searching.ours.extend(ended.notes.parent().map(Path::to_owned));
        let looks = if has_input() {
            Err(Unsure::Said("it may read standard input".to_owned()))
        } else {
            noted(ended.notes, &searching, true).map(|looks| vec![looks])
        };
        self.put(ended, Way::Alone, looks);
    }

    fn put(&mut self, ended: &Ended, way: Way, looks: Result<Vec<Looks>, Unsure>) {
        if !is_lasting(ended.trial, ended.status, ended.timed_out) || self.lacks_recording(ended.variant) {
            return;
        }
        match looks {
            Ok(looks) => self.kept.put(&run_key(ended.variant, self.tunes, way), ended.trial, &looks),
            Err(unsure) => {
                self.unsure.get_or_insert(unsure);
            }
        }
    }

    /// The program depends on chance: nothing of it is kept.
    pub(in crate::commands::fit) fn forget(&self) {
        self.kept.forget();
    }

    /// Why runs were not kept, in a sentence.
    pub(in crate::commands::fit) fn note(&self) -> Option<String> {
        self.unsure.as_ref().map(|unsure| format!("dry runs are made again the next time: {unsure}"))
    }
}

/// What was looked at according to a file of notes, which comes with the first of them. A process that notes nothing at all from its
/// start is one that nobody sees.
fn noted(notes: &Path, searching: &Searching, from_start: bool) -> Result<Looks, Unsure> {
    let text = match std::fs::read(notes) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            return Err(Unsure::Said(format!("what it read, in {}, cannot be told: {error}", notes.display())));
        }
    };
    if text.is_empty() && from_start {
        return Err(Unsure::Said("nobody sees which files it reads".to_owned()));
    }
    Looks::of(&text, searching)
}

/// Whether standard input holds something that a process could read, and not a second time.
fn has_input() -> bool {
    let kind = fstat(std::io::stdin()).map(|found| SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT);
    kind.is_ok_and(|kind| kind != SFlag::S_IFCHR)
}

/// Where notes of a run lie.
pub(in crate::commands::fit) fn notes_in(folder: &Path) -> PathBuf {
    folder.join(crate::rundir::FILES)
}
