//! What dry runs came to, kept from one `oomph fit` to the next.
//!
//! # Note [Kept runs]
//!
//! A dry run is not made again while all is the same that decides what it comes to:
//! - what is known before it: oomph itself, the command line, the folder, the environment, the Python, the GPU, the limits, the changes.
//!   A hash of these names the entry (`key.rs`);
//! - what it looked at: every file that was opened or asked for, every folder that was listed, by the program, by native code and by
//!   helpers (Note `[Files looked at]` in the phantom). The entry says how each was, and holds while each is still so (`looks.rs`). A user's
//!   file is the same with the same content, an installed one when nobody touched it.
//!
//! A run is not kept where this does not decide: where it used a socket or standard input, where what it looked at changed meanwhile,
//! where it was killed or short of something of this machine. A program that was seen to depend on chance is forgotten.
//!
//! Entries lie below the cache folder, one folder for each program. Files are written beside their place and renamed, so several
//! searches may use one folder; one that cannot be read is as if it were not there.

mod keeper;
mod key;
mod looks;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use diagnose::{Ending, Trial};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(super) use self::keeper::{Ended, Keeper, notes_in};
use self::key::Known;
pub(super) use self::key::Way;
use self::looks::Looks;
use crate::{cache, output};

/// Everything that is kept takes no more than this; the folders that were used longest ago go first.
const MOST_BYTES: u64 = 256 << 20;

/// The runs of one program that are kept.
pub(super) struct Kept {
    /// All programs' folders.
    all: PathBuf,
    folder: PathBuf,
    /// Which lists of looks still hold.
    holding: RefCell<BTreeMap<String, bool>>,
    /// What was said already.
    said: RefCell<BTreeSet<String>>,
}

/// A run that is kept.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// The lists of what it looked at, by their names.
    looks: Vec<String>,
    trial: Trial,
}

impl Kept {
    /// The runs that are kept of a program.
    pub(super) fn of(known: &Known) -> Result<Kept, crate::error::Error> {
        let all = cache::parent()?.join("runs");
        let folder = all.join(known.hash());
        Ok(Kept { all, folder, holding: RefCell::default(), said: RefCell::default() })
    }

    /// What a run came to, if that is kept and still holds.
    pub(super) fn get(&self, key: &str) -> Option<Trial> {
        let entry: Entry = self.read(&self.folder.join(key))?;
        entry.looks.iter().all(|looks| self.holds(looks)).then_some(entry.trial)
    }

    /// Keeps what a run came to that looked at all of `looks`.
    pub(super) fn put(&self, key: &str, trial: &Trial, looks: &[Looks]) {
        let names = looks.iter().map(|looks| self.put_looks(looks)).collect::<io::Result<Vec<String>>>();
        let written = names.and_then(|looks| {
            let entry = Entry { looks, trial: trial.clone() };
            self.write(key, &serde_json::to_vec(&entry)?)
        });
        if let Err(error) = written {
            self.say(&format!("warning: dry runs are not kept in {}: {error}", self.folder.display()));
        }
    }

    /// Forgets all of this program.
    pub(super) fn forget(&self) {
        self.removed(fs::remove_dir_all(&self.folder), &self.folder);
        self.holding.borrow_mut().clear();
    }

    /// Whether everything is as a list has it; one that does not hold is of no more use.
    fn holds(&self, name: &str) -> bool {
        if let Some(known) = self.holding.borrow().get(name) {
            return *known;
        }
        let path = self.folder.join(name);
        let holds = self.read(&path).is_some_and(|looks: Looks| looks.hold());
        if !holds {
            self.removed(fs::remove_file(&path), &path);
        }
        self.holding.borrow_mut().insert(name.to_owned(), holds);
        holds
    }

    /// Runs of one server share most of what they look at: a list lies there once.
    fn put_looks(&self, looks: &Looks) -> io::Result<String> {
        let text = serde_json::to_vec(looks)?;
        let name = format!("looks-{}", key::hash(&text));
        if self.holding.borrow().get(&name) != Some(&true) {
            self.write(&name, &text)?;
            self.holding.borrow_mut().insert(name.clone(), true);
        }
        Ok(name)
    }

    fn read<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.say(&format!("warning: cannot read {}, its dry run is made again: {error}", path.display()));
                return None;
            }
        };
        let read = serde_json::from_slice(&text);
        if let Err(error) = &read {
            self.say(&format!("warning: {} is damaged, its dry run is made again: {error}", path.display()));
        }
        read.ok()
    }

    /// Writes a file beside its place and puts it there whole.
    fn write(&self, name: &str, text: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(text)?;
        file.persist(self.folder.join(name)).map(|_| ()).map_err(|error| error.error)
    }

    fn removed(&self, removed: io::Result<()>, path: &Path) {
        if let Err(error) = removed
            && error.kind() != io::ErrorKind::NotFound
        {
            self.say(&format!("warning: cannot remove {}: {error}", path.display()));
        }
    }

    fn say(&self, text: &str) {
        if self.said.borrow_mut().insert(text.to_owned()) {
            output::say(text);
        }
    }
}

impl Drop for Kept {
    /// Marks the folder as used, and makes room.
    fn drop(&mut self) {
        if self.folder.is_dir() {
            // Renaming a file into it is what marks it; where that fails it goes a little earlier.
            let _ = self.write("used", b"");
        }
        for folder in superfluous(programs(&self.all), MOST_BYTES) {
            self.removed(fs::remove_dir_all(&folder), &folder);
        }
    }
}

/// A program's folder, when it was used, and what it takes.
type Program = (SystemTime, u64, PathBuf);

/// All programs' folders. Another search may remove one while it is looked at.
fn programs(all: &Path) -> Vec<Program> {
    let entries = fs::read_dir(all).into_iter().flatten().flatten();
    let program = |folder: PathBuf| {
        let used = fs::metadata(&folder).ok()?.modified().ok()?;
        let files = fs::read_dir(&folder).ok()?.flatten().filter_map(|file| file.metadata().ok());
        Some((used, files.map(|file| file.len()).sum(), folder))
    };
    entries.filter_map(|entry| program(entry.path())).collect()
}

/// The folders that are too much, the one that was used last never.
fn superfluous(mut programs: Vec<Program>, most: u64) -> Vec<PathBuf> {
    programs.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
    let mut sum = 0;
    let goes = |(index, (_, bytes, folder)): (usize, Program)| {
        sum += bytes;
        (index > 0 && sum > most).then_some(folder)
    };
    programs.into_iter().enumerate().filter_map(goes).collect()
}

/// Whether what a run came to says something of the program, and not of the moment. `status` is that of its process.
pub(super) fn is_lasting(trial: &Trial, status: i32, timed_out: bool) -> bool {
    const OF_THE_MACHINE: [&str; 8] = [
        "MemoryError",
        "OSError",
        "BlockingIOError",
        "TimeoutError",
        "KeyboardInterrupt",
        "Cannot allocate memory",
        "DefaultCPUAllocator",
        "No space left",
    ];
    let is_of_the_machine = match &trial.ending {
        Ending::Failed { message } => OF_THE_MACHINE.iter().any(|words| message.contains(words)),
        Ending::Done | Ending::RanOut => false,
    };
    status >= 0 && !timed_out && !is_of_the_machine
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by it")]

    use std::time::Duration;

    use super::looks::{Searching, State};
    use super::*;

    fn kept(folder: &Path) -> Kept {
        let all = folder.to_owned();
        Kept { folder: all.join("program"), all, holding: RefCell::default(), said: RefCell::default() }
    }

    fn looks_at(file: &Path) -> Looks {
        let notes = format!("r {} {}\0", State::of(file).unwrap(), file.display());
        Looks::of(notes.as_bytes(), &Searching { ours: Vec::new(), began: SystemTime::now() }).unwrap()
    }

    #[test]
    fn a_run_is_kept_while_what_it_looked_at_is_the_same() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("train.py");
        fs::write(&file, "one").unwrap();
        let trial = Trial { retries: true, ..Trial::default() };
        let cache = tempfile::tempdir().unwrap();
        kept(cache.path()).put("a", &trial, &[looks_at(&file)]);
        assert!(kept(cache.path()).get("a").is_some_and(|trial| trial.retries));
        assert!(kept(cache.path()).get("b").is_none());
        // The same content again is the same file.
        fs::write(&file, "one").unwrap();
        assert!(kept(cache.path()).get("a").is_some());
        fs::write(&file, "two").unwrap();
        assert!(kept(cache.path()).get("a").is_none());
        fs::write(&file, "one").unwrap();
        assert!(kept(cache.path()).get("a").is_none(), "a list that did not hold is gone");
    }

    #[test]
    fn what_is_damaged_is_not_there() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("train.py");
        fs::write(&file, "one").unwrap();
        for damaged in ["a", "looks-"] {
            let cache = tempfile::tempdir().unwrap();
            kept(cache.path()).put("a", &Trial::default(), &[looks_at(&file)]);
            for entry in fs::read_dir(cache.path().join("program")).unwrap() {
                let path = entry.unwrap().path();
                if path.file_name().unwrap().to_string_lossy().starts_with(damaged) {
                    fs::write(&path, "{\"looks\":[").unwrap();
                }
            }
            assert!(kept(cache.path()).get("a").is_none(), "{damaged}");
        }
    }

    #[test]
    fn the_oldest_folders_make_room() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let folder = |name: &str| PathBuf::from(name);
        let programs = || vec![(at(1), 10, folder("old")), (at(3), 10, folder("new")), (at(2), 10, folder("middle"))];
        assert_eq!(superfluous(programs(), 30), Vec::<PathBuf>::new());
        assert_eq!(superfluous(programs(), 20), [folder("old")]);
        assert_eq!(superfluous(programs(), 5), [folder("middle"), folder("old")]);
    }

    #[test]
    fn what_the_machine_did_is_not_the_programs() {
        let failed =
            |message: &str| Trial { ending: Ending::Failed { message: message.to_owned() }, ..Trial::default() };
        let cases = [
            (Trial::default(), 0, false, true),
            (failed("ValueError: no"), 1, false, true),
            (failed("MemoryError: "), 1, false, false),
            (failed("it was killed by signal 9"), -9, false, false),
            (Trial::default(), 0, true, false),
        ];
        for (trial, status, timed_out, expected) in cases {
            assert_eq!(is_lasting(&trial, status, timed_out), expected, "{:?} {status}", trial.ending);
        }
    }
}
