//! The files of the run cache: a folder for each program, with an entry for each run and the lists of files that runs
//! read.
//!
//! Temporary files are written and then renamed, so that several searches may use one folder. An unreadable file counts as absent.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base::events;
use diagnose::Trial;
use run::cache::{Fingerprint, hash};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::disk::RealDisk;

/// The largest size of all programs' folders together; those that were used longest ago are removed first.
const MOST_BYTES: u64 = 256 << 20;

/// The stored results of one program.
pub(super) struct Store {
    /// The folder of all programs' folders.
    all: PathBuf,
    folder: PathBuf,
    /// The fingerprints compared with the disk so far, each true if it holds.
    compared: RefCell<BTreeMap<String, bool>>,
    /// The printed warnings.
    warnings: RefCell<BTreeSet<String>>,
}

/// The stored result of a run.
#[derive(Serialize, Deserialize)]
struct StoredResult {
    /// The names of the fingerprints of all files that the run read.
    looks: Vec<String>,
    trial: Trial,
}

impl Store {
    /// The results of the program `name`, in a folder below `all`.
    pub(super) fn new(all: PathBuf, name: &str) -> Store {
        let folder = all.join(name);
        Store { all, folder, compared: RefCell::default(), warnings: RefCell::default() }
    }

    /// Returns the result of a run, if the files that the run read are unchanged.
    pub(super) fn get(&self, key: &str) -> Option<Trial> {
        let entry: StoredResult = self.read(&self.folder.join(key))?;
        entry.looks.iter().all(|looks| self.holds(looks)).then_some(entry.trial)
    }

    /// Stores the result of a run with the fingerprints of its files.
    pub(super) fn put(&self, key: &str, trial: &Trial, read: &[Fingerprint]) {
        let names = read.iter().map(|fingerprint| self.put_fingerprint(fingerprint)).collect::<io::Result<Vec<_>>>();
        let written = names.and_then(|looks| {
            let entry = StoredResult { looks, trial: trial.clone() };
            self.write(key, &serde_json::to_vec(&entry)?)
        });
        if let Err(error) = written {
            self.warn(&format!("warning: dry runs are not kept in {}: {error}", self.folder.display()));
        }
    }

    /// Removes all results of the program.
    pub(super) fn forget(&self) {
        self.check_removed(fs::remove_dir_all(&self.folder), &self.folder);
        self.compared.borrow_mut().clear();
    }

    /// True if a fingerprint holds; removes a broken one.
    fn holds(&self, name: &str) -> bool {
        if let Some(known) = self.compared.borrow().get(name) {
            return *known;
        }
        let path = self.folder.join(name);
        let holds = self.read(&path).is_some_and(|fingerprint: Fingerprint| fingerprint.holds(&RealDisk));
        if !holds {
            self.check_removed(fs::remove_file(&path), &path);
        }
        self.compared.borrow_mut().insert(name.to_owned(), holds);
        holds
    }

    /// Stores a fingerprint once for all runs of a server, which share the imports.
    fn put_fingerprint(&self, fingerprint: &Fingerprint) -> io::Result<String> {
        let text = serde_json::to_vec(fingerprint)?;
        let name = format!("looks-{}", hash(&text));
        if self.compared.borrow().get(&name) != Some(&true) {
            self.write(&name, &text)?;
            self.compared.borrow_mut().insert(name.clone(), true);
        }
        Ok(name)
    }

    fn read<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.warn(&format!("warning: cannot read {}, its dry run is made again: {error}", path.display()));
                return None;
            }
        };
        let read = serde_json::from_slice(&text);
        if let Err(error) = &read {
            self.warn(&format!("warning: {} is damaged, its dry run is made again: {error}", path.display()));
        }
        read.ok()
    }

    /// Writes a file whole or not at all.
    fn write(&self, name: &str, text: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(text)?;
        file.persist(self.folder.join(name)).map(|_| ()).map_err(|error| error.error)
    }

    fn check_removed(&self, removed: io::Result<()>, path: &Path) {
        if let Err(error) = removed
            && error.kind() != io::ErrorKind::NotFound
        {
            self.warn(&format!("warning: cannot remove {}: {error}", path.display()));
        }
    }

    fn warn(&self, text: &str) {
        if self.warnings.borrow_mut().insert(text.to_owned()) {
            events::remark(text);
        }
    }
}

impl Drop for Store {
    /// Marks the folder as used, and removes old ones.
    fn drop(&mut self) {
        if self.folder.is_dir() {
            // Renaming a file into the folder marks it. A folder without the mark is removed a little earlier.
            let _ = self.write("used", b"");
        }
        for folder in superfluous(programs(&self.all), MOST_BYTES) {
            self.check_removed(fs::remove_dir_all(&folder), &folder);
        }
    }
}

/// The time of a program's last use, the size of its folder in bytes, and the folder.
type Program = (SystemTime, u64, PathBuf);

/// Lists the folders of all programs. Another search may remove folders meanwhile.
fn programs(all: &Path) -> Vec<Program> {
    let entries = fs::read_dir(all).into_iter().flatten().flatten();
    let program = |folder: PathBuf| {
        let used = fs::metadata(&folder).ok()?.modified().ok()?;
        let files = fs::read_dir(&folder).ok()?.flatten().filter_map(|file| file.metadata().ok());
        Some((used, files.map(|file| file.len()).sum(), folder))
    };
    entries.filter_map(|entry| program(entry.path())).collect()
}

/// Returns the folders to remove, so that the rest takes at most `most` bytes; the last used folder stays.
fn superfluous(mut programs: Vec<Program>, most: u64) -> Vec<PathBuf> {
    programs.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
    let mut sum = 0;
    let goes = |(index, (_, bytes, folder)): (usize, Program)| {
        sum += bytes;
        (index > 0 && sum > most).then_some(folder)
    };
    programs.into_iter().enumerate().filter_map(goes).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by it")]

    use std::time::Duration;

    use run::cache::{Disk as _, SearchFacts};

    use super::*;

    fn store(folder: &Path) -> Store {
        Store::new(folder.to_owned(), "program")
    }

    fn fingerprint(file: &Path) -> Fingerprint {
        let notes = format!("r {} {}\0", RealDisk.state(file).unwrap(), file.display());
        let search = SearchFacts { ours: Vec::new(), temporary: PathBuf::new(), began: 0 };
        Fingerprint::of(notes.as_bytes(), &search, &RealDisk).unwrap()
    }

    #[test]
    fn a_result_holds_while_the_files_of_its_run_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("train.py");
        fs::write(&file, "one").unwrap();
        let trial = Trial { retries: true, ..Trial::default() };
        let cache = tempfile::tempdir().unwrap();
        store(cache.path()).put("a", &trial, &[fingerprint(&file)]);
        assert!(store(cache.path()).get("a").is_some_and(|trial| trial.retries));
        assert!(store(cache.path()).get("b").is_none());
        // The same content again is the same file.
        fs::write(&file, "one").unwrap();
        assert!(store(cache.path()).get("a").is_some());
        fs::write(&file, "two").unwrap();
        assert!(store(cache.path()).get("a").is_none());
        fs::write(&file, "one").unwrap();
        assert!(store(cache.path()).get("a").is_none(), "a fingerprint that did not hold is gone");
    }

    #[test]
    fn damaged_files_count_as_absent() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("train.py");
        fs::write(&file, "one").unwrap();
        for damaged in ["a", "looks-"] {
            let cache = tempfile::tempdir().unwrap();
            store(cache.path()).put("a", &Trial::default(), &[fingerprint(&file)]);
            for entry in fs::read_dir(cache.path().join("program")).unwrap() {
                let path = entry.unwrap().path();
                if path.file_name().unwrap().to_string_lossy().starts_with(damaged) {
                    fs::write(&path, "{\"looks\":[").unwrap();
                }
            }
            assert!(store(cache.path()).get("a").is_none(), "{damaged}");
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
}
