//! The files that a run read and their states, from the phantom's notes (Note `[Files looked at]` there).

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::state::State;

/// Folders of files that the kernel generates at each read.
const OF_THE_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The files that a run read, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    files: BTreeMap<String, File>,
    /// Digests of the names in folders.
    names: BTreeMap<String, Option<String>>,
    /// Digests of the names in folders that Python can import.
    imports: BTreeMap<String, Option<String>>,
}

/// The state and the content's digest of a file; `None` for an absent file, and for a content that does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct File {
    state: Option<State>,
    content: Option<u64>,
}

/// The file system, as it is now.
pub trait Disk {
    /// The state of a file; `None` if it does not exist.
    fn state(&self, path: &Path) -> Option<State>;
    /// The digest of a file's content; `None` for a file that counts by its state.
    fn content(&self, path: &Path, state: State) -> Option<u64>;
    /// The digest of the names in a folder, or of its importable names; `None` if the folder cannot be listed.
    fn names(&self, folder: &Path, importable_only: bool) -> Option<String>;
    /// The path without links; `None` if it does not exist.
    fn canonical(&self, path: &Path) -> Option<PathBuf>;
}

/// The search that a run belongs to.
#[derive(Clone, Debug)]
pub struct SearchFacts {
    /// Folders of oomph's own files.
    pub ours: Vec<PathBuf>,
    /// The folder of temporary files.
    pub temporary: PathBuf,
    /// The start of the search, in nanoseconds since 1970.
    pub began: i64,
}

/// The reason why a run's files cannot be checked later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// The file changed since the run read it.
    Changed(PathBuf),
    /// A device, a pipe or a socket.
    NoFile(PathBuf),
    /// A reason in words.
    Because(String),
}

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsure::Changed(path) => write!(f, "{} changed while the program ran", path.display()),
            Unsure::NoFile(path) => write!(f, "it reads {}, which is no regular file", path.display()),
            Unsure::Because(text) => f.write_str(text),
        }
    }
}

impl Fingerprint {
    /// Reads the notes of a run, if every file is still as the run found it.
    pub fn of(notes: &[u8], search: &SearchFacts, disk: &dyn Disk) -> Result<Fingerprint, Unsure> {
        let mut fingerprint = Fingerprint::default();
        for note in notes.split(|byte| *byte == 0).filter(|note| !note.is_empty()) {
            let text = std::str::from_utf8(note).map_err(|_| unreadable(note))?;
            fingerprint.add(text, search, disk)?;
        }
        Ok(fingerprint)
    }

    fn add(&mut self, note: &str, search: &SearchFacts, disk: &dyn Disk) -> Result<(), Unsure> {
        let mut words = note.splitn(3, ' ');
        let (Some(kind), Some(state), Some(path)) = (words.next(), words.next(), words.next()) else {
            return Err(unreadable(note.as_bytes()));
        };
        if kind == "!" {
            return Err(Unsure::Because(format!("{state} {path}")));
        }
        if is_generated(Path::new(path)) || search.ours.iter().any(|folder| Path::new(path).starts_with(folder)) {
            return Ok(());
        }
        match kind {
            "r" | "s" => self.add_file(path, state, kind == "r", search, disk),
            "l" | "i" => self.add_folder(path, state, kind == "i", disk),
            _ => Err(unreadable(note.as_bytes())),
        }
    }

    fn add_file(
        &mut self,
        path: &str,
        state: &str,
        is_read: bool,
        search: &SearchFacts,
        disk: &dyn Disk,
    ) -> Result<(), Unsure> {
        let before = State::parse(state);
        if before.is_none() && state != "-" {
            return Err(unreadable(state.as_bytes()));
        }
        let file = Path::new(path);
        let content = before.and_then(|state| disk.content(file, state));
        // Queried after the content was read: an equal state then proves that the content belongs to the state.
        let now = disk.state(file);
        if !is_same(before, now) {
            let has_passed = now.is_none() && search.made(file, before) || leads_to_generated(file, disk);
            return if has_passed { Ok(()) } else { Err(Unsure::Changed(file.to_owned())) };
        }
        match before {
            Some(state) if is_read && !state.is_regular() && !state.is_folder() => Err(Unsure::NoFile(file.to_owned())),
            state => {
                self.files.insert(path.to_owned(), File { state, content });
                Ok(())
            }
        }
    }

    fn add_folder(&mut self, path: &str, digest: &str, imports: bool, disk: &dyn Disk) -> Result<(), Unsure> {
        let before = (digest != "-").then(|| digest.to_owned());
        let folder = Path::new(path);
        if disk.names(folder, imports) != before {
            return if leads_to_generated(folder, disk) { Ok(()) } else { Err(Unsure::Changed(folder.to_owned())) };
        }
        let list = if imports { &mut self.imports } else { &mut self.names };
        list.insert(path.to_owned(), before);
        Ok(())
    }

    /// True if a run would read the same again.
    pub fn holds(&self, disk: &dyn Disk) -> bool {
        self.files.iter().all(|(path, file)| file.holds(Path::new(path), disk))
            && self.changed_folders(disk).next().is_none()
    }

    /// Checks that every file has its old state: even rewriting the same content counts as a change.
    pub fn check_untouched(&self, disk: &dyn Disk) -> Result<(), Unsure> {
        let files = self.files.iter().filter(|(path, file)| !is_same(file.state, disk.state(Path::new(path))));
        let mut touched = files.map(|(path, _)| path).chain(self.changed_folders(disk));
        touched.next().map_or(Ok(()), |path| Err(Unsure::Changed(PathBuf::from(path))))
    }

    fn changed_folders<'a>(&'a self, disk: &'a dyn Disk) -> impl Iterator<Item = &'a String> {
        let names = self.names.iter().map(|entry| (entry, false));
        let all = names.chain(self.imports.iter().map(|entry| (entry, true)));
        let changed = all.filter(|((path, digest), imports)| disk.names(Path::new(path), *imports) != **digest);
        changed.map(|((path, _), _)| path)
    }
}

impl File {
    fn holds(self, path: &Path, disk: &dyn Disk) -> bool {
        let now = disk.state(path);
        let has_same_content = || self.content.is_some() && now.and_then(|now| disk.content(path, now)) == self.content;
        is_same(self.state, now) || has_same_content()
    }
}

impl SearchFacts {
    /// True if the program itself made the file, a temporary one.
    fn made(&self, path: &Path, before: Option<State>) -> bool {
        path.starts_with(&self.temporary) && before.is_some_and(|before| before.changed >= self.began)
    }
}

/// For a directory only existence counts: listings have notes of their own.
fn is_same(one: Option<State>, other: Option<State>) -> bool {
    let is_folder = |state: Option<State>| state.is_some_and(State::is_folder);
    one == other || (is_folder(one) && is_folder(other))
}

/// True if the kernel generates the file, or Python compiles it from a source with its own note.
fn is_generated(path: &Path) -> bool {
    const COMPILED: &str = "__pycache__";
    let is_compiled = path.ends_with(COMPILED) || path.parent().is_some_and(|folder| folder.ends_with(COMPILED));
    is_compiled || OF_THE_KERNEL.iter().any(|folder| path.starts_with(folder))
}

/// True if the path is another name of a generated file.
fn leads_to_generated(path: &Path, disk: &dyn Disk) -> bool {
    disk.canonical(path).is_some_and(|path| is_generated(&path))
}

fn unreadable(note: &[u8]) -> Unsure {
    Unsure::Because(format!("it noted `{}`, which cannot be read", String::from_utf8_lossy(note)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk in memory: files with a state and a content, folders with a digest of their names.
    #[derive(Clone, Default)]
    struct Memory {
        files: BTreeMap<PathBuf, (State, u64)>,
        names: BTreeMap<PathBuf, String>,
        links: BTreeMap<PathBuf, PathBuf>,
    }

    impl Disk for Memory {
        fn state(&self, path: &Path) -> Option<State> {
            self.files.get(path).map(|(state, _)| *state)
        }

        fn content(&self, path: &Path, _: State) -> Option<u64> {
            let (_, content) = self.files.get(path)?;
            path.starts_with("/home").then_some(*content)
        }

        fn names(&self, folder: &Path, _: bool) -> Option<String> {
            self.names.get(folder).cloned()
        }

        fn canonical(&self, path: &Path) -> Option<PathBuf> {
            self.links.get(path).cloned()
        }
    }

    fn file(modified: i64) -> State {
        State { size: 1, modified, changed: modified, inode: 1, mode: 0o100_644 }
    }

    fn search() -> SearchFacts {
        SearchFacts { ours: vec![PathBuf::from("/ours")], temporary: PathBuf::from("/tmp"), began: 100 }
    }

    fn disk() -> Memory {
        let files = [
            ("/home/data", (file(1), 11)),
            ("/usr/lib/installed.py", (file(1), 12)),
            ("/home", (State { mode: 0o040_755, ..file(1) }, 0)),
            ("/home/pipe", (State { mode: 0o010_644, ..file(1) }, 0)),
        ];
        let files = files.map(|(path, file)| (PathBuf::from(path), file)).into();
        Memory { files, names: BTreeMap::from([(PathBuf::from("/home"), "a".to_owned())]), ..Memory::default() }
    }

    fn notes(disk: &Memory) -> String {
        let state = |path: &str| disk.state(Path::new(path)).map_or("-".to_owned(), |state| state.to_string());
        let note = |kind: char, path: &str| format!("{kind} {} {path}\0", state(path));
        let listed = ["i a /home\0", "l a /home\0", "l - /home/gone\0"].concat();
        let files = [('r', "/home/data"), ('r', "/usr/lib/installed.py"), ('s', "/home"), ('s', "/home/absent")];
        files.map(|(kind, path)| note(kind, path)).concat() + &listed
    }

    #[test]
    fn changes_are_seen() {
        type Act = fn(&mut Memory);
        let acts: [(&str, Act, bool, bool); 8] = [
            ("nothing", |_| {}, true, true),
            ("the same content again", |disk| insert(disk, "/home/data", file(2), 11), true, false),
            ("content", |disk| insert(disk, "/home/data", file(2), 99), false, false),
            ("an installed file", |disk| insert(disk, "/usr/lib/installed.py", file(2), 12), false, false),
            ("gone", |disk| disk.files.retain(|path, _| path != Path::new("/home/data")), false, false),
            ("come", |disk| insert(disk, "/home/absent", file(2), 1), false, false),
            ("a folder's time", |disk| insert(disk, "/home", State { mode: 0o040_755, ..file(9) }, 0), true, true),
            ("a listed name", |disk| disk.names = BTreeMap::from([("/home".into(), "b".to_owned())]), false, false),
        ];
        for (name, act, holds, untouched) in acts {
            let mut disk = disk();
            let fingerprint = Fingerprint::of(notes(&disk).as_bytes(), &search(), &disk);
            let fingerprint = fingerprint.unwrap_or_else(|unsure| panic!("{name}: {unsure}"));
            act(&mut disk);
            assert_eq!(fingerprint.holds(&disk), holds, "{name}");
            assert_eq!(fingerprint.check_untouched(&disk).is_ok(), untouched, "{name}");
        }
    }

    fn insert(disk: &mut Memory, path: &str, state: State, content: u64) {
        disk.files.insert(PathBuf::from(path), (state, content));
    }

    #[test]
    fn files_that_changed_before_they_were_stored_are_refused() {
        let mut disk = disk();
        let notes = notes(&disk);
        insert(&mut disk, "/home/data", file(2), 11);
        let found = Fingerprint::of(notes.as_bytes(), &search(), &disk);
        assert_eq!(found, Err(Unsure::Changed(PathBuf::from("/home/data"))));
    }

    #[test]
    fn notes_that_do_not_matter_are_left_out() {
        let mut disk = disk();
        disk.links.insert(PathBuf::from("/home/link"), PathBuf::from("/proc/self/maps"));
        let notes = "r 1,1,1,1,33188 /proc/meminfo\0r 1,1,1,1,33188 /x/__pycache__/a.cpython-312.pyc\0\
                     r 1,1,1,1,33188 /ours/run/output.log\0r 1,1,100,1,33188 /tmp/gone\0l 77 /home/link\0";
        assert_eq!(Fingerprint::of(notes.as_bytes(), &search(), &disk), Ok(Fingerprint::default()));
        let later = SearchFacts { began: 101, ..search() };
        let found = Fingerprint::of(notes.as_bytes(), &later, &disk);
        assert_eq!(found, Err(Unsure::Changed(PathBuf::from("/tmp/gone"))), "a file from before the search");
    }

    #[test]
    fn the_reason_for_refusing_notes_is_given() {
        let cases = [
            ("! it talks to somebody\0".to_owned(), "it talks to somebody"),
            ("x 1 /a\0".to_owned(), "it noted `x 1 /a`, which cannot be read"),
            ("r 1,2 /a\0".to_owned(), "it noted `1,2`, which cannot be read"),
            ("r\0".to_owned(), "it noted `r`, which cannot be read"),
            ("r 1,1,1,1,4516 /home/pipe\0".to_owned(), "it reads /home/pipe, which is no regular file"),
        ];
        for (notes, expected) in cases {
            let found = Fingerprint::of(notes.as_bytes(), &search(), &disk()).map_err(|unsure| unsure.to_string());
            assert_eq!(found, Err(expected.to_owned()), "{notes}");
        }
    }
}
