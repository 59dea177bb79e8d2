//! The program's writes to files, from the account and the table of the run (Note [Account] in `crates/wire/src/account.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::Path;

use wire::account::{
    CHANGED_BY_OTHERS, FILE_BORN, FILE_DEVICE, FILE_FLAGS, FILE_HASH, FILE_INODE, FILE_MODIFIED, FILE_PENDING,
    FILE_WORDS, FILES, FIRST_FILE_WORD, FIRST_RANGE_WORD, IN_PLACE, Identity, MADE, MADE_LATER, MAKING_WORD, NAME,
    OPEN_END, OWN, RANGE_END, RANGE_FILE, RANGE_KIND, RANGE_START, RANGE_WORDS, RANGES, RANGES_WORD, TABLE, UNSEEN,
    UNSEEN_RANGE, WORDS, hash_fact,
};

/// The accounts of all files.
#[derive(Default)]
pub(super) struct WriteAccount {
    files: BTreeMap<(u64, u64, u64), FileAccount>,
    /// The hashes of facts; `None` without a table.
    facts: Option<BTreeSet<u64>>,
    /// True if a process was killed while it made a file.
    is_making: bool,
}

/// The writes of the program to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileAccount {
    /// The time of change in nanoseconds after the last own change; 0 if there was none.
    pub(super) modified: u64,
    /// The bytes of calls that did not end.
    pub(super) pending: u64,
    /// True if others changed the file between two own changes.
    pub(super) is_changed_by_others: bool,
    /// True if own changes may be missing here.
    pub(super) is_unseen: bool,
    /// True if the file was not only opened to grow.
    pub(super) is_in_place: bool,
    /// The own ranges.
    pub(super) own: Vec<Range<u64>>,
    /// Ranges with possible own bytes.
    pub(super) unseen: Vec<Range<u64>>,
}

/// The maker of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    Run,
    Others,
    /// The run perhaps: a process was killed while it made a file.
    Unknown,
}

impl WriteAccount {
    /// Reads the files of a run's folder; without them, all changes count as the program's.
    pub(super) fn read(folder: &Path) -> WriteAccount {
        let words = read_words(&folder.join(NAME)).filter(|words| words.len() >= WORDS);
        let mut account = words.map(|words| WriteAccount::of(&words)).unwrap_or_default();
        account.facts = read_words(&folder.join(TABLE)).map(|words| words.into_iter().skip(1).collect());
        account
    }

    fn of(words: &[u64]) -> WriteAccount {
        let is_cut = words[RANGES_WORD] > RANGES as u64;
        let mut files: Vec<_> = (0..FILES)
            .map(|number| &words[FIRST_FILE_WORD + number * FILE_WORDS..][..FILE_WORDS])
            .map(|file| FileAccount {
                modified: file[FILE_MODIFIED],
                pending: file[FILE_PENDING],
                is_changed_by_others: file[FILE_FLAGS] & CHANGED_BY_OTHERS != 0,
                is_unseen: file[FILE_FLAGS] & UNSEEN != 0 || is_cut,
                is_in_place: file[FILE_FLAGS] & IN_PLACE != 0,
                ..FileAccount::default()
            })
            .collect();
        let count = usize::try_from(words[RANGES_WORD]).unwrap_or(RANGES).min(RANGES);
        for range in words[FIRST_RANGE_WORD..].chunks(RANGE_WORDS).take(count) {
            let file = usize::try_from(range[RANGE_FILE]).ok().and_then(|number| files.get_mut(number));
            if let Some(file) = file {
                file.add(range);
            }
        }
        let identified = files.into_iter().enumerate().filter_map(|(number, file)| {
            let words = &words[FIRST_FILE_WORD + number * FILE_WORDS..];
            let identity = (words[FILE_DEVICE], words[FILE_INODE], words[FILE_BORN]);
            (words[FILE_HASH] != 0).then_some((identity, file))
        });
        WriteAccount { files: identified.collect(), facts: None, is_making: words[MAKING_WORD] != 0 }
    }

    /// The account of a file.
    pub(super) fn find(&self, file: Identity) -> Option<&FileAccount> {
        self.files.get(&(file.device, file.inode, file.born))
    }

    /// The maker of a file at a path where the run made one.
    pub(super) fn find_maker(&self, file: Identity, path: &Path) -> Maker {
        use std::os::unix::ffi::OsStrExt as _;
        let Some(facts) = &self.facts else { return Maker::Run };
        let path = path.as_os_str().as_bytes();
        let nothing = Identity { device: 0, inode: 0, born: 0 };
        let hashes = [hash_fact(MADE, file, path), hash_fact(MADE_LATER, nothing, path)];
        // Without a birth, a renamed file is not found by its path.
        if file.born == 0 || hashes.iter().any(|hash| facts.contains(hash)) {
            Maker::Run
        } else if self.is_making {
            Maker::Unknown
        } else {
            Maker::Others
        }
    }
}

impl FileAccount {
    fn add(&mut self, range: &[u64]) {
        let bounds = range[RANGE_START]..range[RANGE_END];
        match range[RANGE_KIND] {
            OWN if bounds.end != OPEN_END => self.own.push(bounds),
            UNSEEN_RANGE => self.unseen.push(bounds),
            _ => {}
        }
    }

    /// The account with the parts of own ranges between `start` and `end`.
    pub(super) fn within(&self, start: u64, end: u64) -> FileAccount {
        let parts = self.own.iter().map(|range| range.start.max(start)..range.end.min(end));
        FileAccount { own: parts.filter(|range| !range.is_empty()).collect(), ..self.clone() }
    }

    /// True if others changed the file after the last own change, or between two own changes. `modified`: the time of the
    /// file's last change in nanoseconds.
    pub(super) fn is_changed_by_others(&self, modified: u64) -> bool {
        let is_known = self.pending == 0 && !self.is_unseen && self.modified != 0;
        self.is_changed_by_others || (is_known && modified != self.modified)
    }
}

fn read_words(path: &Path) -> Option<Vec<u64>> {
    let bytes = fs::read(path).ok()?;
    Some(bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}
