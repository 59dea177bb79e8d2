//! What a run looked at, from the notes that the phantom took (Note `[Files looked at]` there), and whether it is still so.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::commands::fit::emit::is_users;

/// Files up to this size are known by their content, larger ones by their state alone.
const MOST_HASHED: u64 = 64 << 20;
/// Files that the kernel makes up when they are read.
const OF_THE_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Of a mode: what kind of file it is.
const KIND: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;

/// Everything that was looked at, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::commands::fit) struct Looks {
    files: BTreeMap<String, File>,
    /// The digest of a folder's names; the same for what can be imported.
    names: BTreeMap<String, Option<String>>,
    imports: BTreeMap<String, Option<String>>,
}

/// How a file was; all is `None` where there was none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct File {
    state: Option<State>,
    content: Option<u64>,
}

/// What is known of the search that a run belongs to.
pub(in crate::commands::fit) struct Searching {
    /// What lies below one of these is oomph's own.
    pub(in crate::commands::fit) ours: Vec<PathBuf>,
    /// When it began.
    pub(in crate::commands::fit) began: SystemTime,
}

/// Why what a run looked at cannot be looked at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands::fit) enum Unsure {
    /// It is not as it was when the run came to it.
    Changed(PathBuf),
    /// A device, a pipe or a socket.
    NoFile(PathBuf),
    /// In the words of whoever noted it.
    Said(String),
}

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsure::Changed(path) => write!(f, "{} changed while the program ran", path.display()),
            Unsure::NoFile(path) => write!(f, "it reads {}, which is no regular file", path.display()),
            Unsure::Said(text) => f.write_str(text),
        }
    }
}

/// How a file was, without its content. Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::commands::fit) struct State {
    size: u64,
    modified: i64,
    changed: i64,
    inode: u64,
    mode: u32,
}

impl State {
    /// As it is now; `None` where there is nothing that can be seen.
    pub(in crate::commands::fit) fn of(path: &Path) -> Option<State> {
        fs::metadata(path).ok().map(|found| State::from(&found))
    }

    /// From a note.
    pub(super) fn parse(text: &str) -> Option<State> {
        let mut words = text.split(',');
        let state = State {
            size: words.next()?.parse().ok()?,
            modified: words.next()?.parse().ok()?,
            changed: words.next()?.parse().ok()?,
            inode: words.next()?.parse().ok()?,
            mode: words.next()?.parse().ok()?,
        };
        words.next().is_none().then_some(state)
    }

    fn is(self, kind: u32) -> bool {
        self.mode & KIND == kind
    }
}

impl From<&Metadata> for State {
    fn from(found: &Metadata) -> State {
        let time = |seconds: i64, nanoseconds: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
        State {
            size: found.size(),
            modified: time(found.mtime(), found.mtime_nsec()),
            changed: time(found.ctime(), found.ctime_nsec()),
            inode: found.ino(),
            mode: found.mode(),
        }
    }
}

/// As the phantom writes it.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{},{}", self.size, self.modified, self.changed, self.inode, self.mode)
    }
}

impl Looks {
    /// From the notes of a run, if all is still as it was then.
    pub(in crate::commands::fit) fn of(notes: &[u8], search: &Searching) -> Result<Looks, Unsure> {
        let mut looks = Looks::default();
        for note in notes.split(|byte| *byte == 0).filter(|note| !note.is_empty()) {
            let text = std::str::from_utf8(note).map_err(|_| Unsure::Said(unreadable(note)))?;
            looks.note(text, search)?;
        }
        Ok(looks)
    }

    fn note(&mut self, note: &str, search: &Searching) -> Result<(), Unsure> {
        let mut words = note.splitn(3, ' ');
        let (kind, how, path) = (words.next(), words.next(), words.next());
        let (Some(kind), Some(how), Some(path)) = (kind, how, path) else {
            return Err(Unsure::Said(unreadable(note.as_bytes())));
        };
        if kind == "!" {
            return Err(Unsure::Said(format!("{how} {path}")));
        }
        if is_nobodys(Path::new(path)) || search.ours.iter().any(|folder| Path::new(path).starts_with(folder)) {
            return Ok(());
        }
        match kind {
            "r" | "s" => self.file(path, how, kind == "r", search.began),
            "l" | "i" => self.folder(path, how, kind == "i"),
            _ => Err(Unsure::Said(unreadable(note.as_bytes()))),
        }
    }

    fn file(&mut self, path: &str, how: &str, is_read: bool, began: SystemTime) -> Result<(), Unsure> {
        let before = State::parse(how);
        if before.is_none() && how != "-" {
            return Err(Unsure::Said(unreadable(how.as_bytes())));
        }
        let content = before.and_then(|state| content(Path::new(path), state));
        // After its content was read, so that this is the content that it had.
        let now = State::of(Path::new(path));
        if !is_same(before, now) {
            let is_passing =
                now.is_none() && is_own(Path::new(path), before, began) || leads_to_kernel(Path::new(path));
            return if is_passing { Ok(()) } else { Err(Unsure::Changed(PathBuf::from(path))) };
        }
        match before {
            Some(state) if is_read && !state.is(REGULAR) && !state.is(FOLDER) => {
                Err(Unsure::NoFile(PathBuf::from(path)))
            }
            state => {
                self.files.insert(path.to_owned(), File { state, content });
                Ok(())
            }
        }
    }

    fn folder(&mut self, path: &str, digest: &str, imports: bool) -> Result<(), Unsure> {
        let before = (digest != "-").then(|| digest.to_owned());
        if names(Path::new(path), imports) != before {
            return if leads_to_kernel(Path::new(path)) { Ok(()) } else { Err(Unsure::Changed(PathBuf::from(path))) };
        }
        let list = if imports { &mut self.imports } else { &mut self.names };
        list.insert(path.to_owned(), before);
        Ok(())
    }

    /// Whether all is still as it was.
    pub(super) fn hold(&self) -> bool {
        self.files.iter().all(|(path, file)| file.holds(Path::new(path)))
            && differing(&self.names, false).next().is_none()
            && differing(&self.imports, true).next().is_none()
    }

    /// Whether nobody touched anything meanwhile: not even to put the same there again.
    pub(in crate::commands::fit) fn are_untouched(&self) -> Result<(), Unsure> {
        let files = self.files.iter().filter(|(path, file)| !is_same(file.state, State::of(Path::new(path))));
        let folders = differing(&self.names, false).chain(differing(&self.imports, true));
        let mut touched = files.map(|(path, _)| path).chain(folders);
        touched.next().map_or(Ok(()), |path| Err(Unsure::Changed(PathBuf::from(path))))
    }
}

impl File {
    fn holds(self, path: &Path) -> bool {
        let now = State::of(path);
        let has_same_content = || self.content.is_some() && now.and_then(|now| content(path, now)) == self.content;
        is_same(self.state, now) || has_same_content()
    }
}

/// The folders whose names are other ones now.
fn differing(list: &BTreeMap<String, Option<String>>, imports: bool) -> impl Iterator<Item = &String> {
    let other = move |(path, digest): &(&String, &Option<String>)| names(Path::new(*path), imports) != **digest;
    list.iter().filter(other).map(|(path, _)| path)
}

/// Of a folder only matters that it is there: what it holds is noted where somebody asks for it.
fn is_same(one: Option<State>, other: Option<State>) -> bool {
    let is_folder = |state: Option<State>| state.is_some_and(|state| state.is(FOLDER));
    one == other || (is_folder(one) && is_folder(other))
}

/// What a user's file holds; `None` for what is known by its state.
fn content(path: &Path, state: State) -> Option<u64> {
    if !state.is(REGULAR) || state.size > MOST_HASHED || !is_users(&path.to_string_lossy()) || path.starts_with("/usr")
    {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&fs::read(path).ok()?);
    Some(hasher.finish())
}

/// Made up by the kernel, or compiled by Python from a source that was looked at too.
fn is_nobodys(path: &Path) -> bool {
    const COMPILED: &str = "__pycache__";
    let is_compiled = path.ends_with(COMPILED) || path.parent().is_some_and(|folder| folder.ends_with(COMPILED));
    is_compiled || OF_THE_KERNEL.iter().any(|folder| path.starts_with(folder))
}

/// Whether what is gone now was the program's own temporary file: made after the search began.
fn is_own(path: &Path, before: Option<State>, began: SystemTime) -> bool {
    let began = began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let made = before.map_or(0, |before| u128::try_from(before.changed).unwrap_or(0));
    path.starts_with(std::env::temp_dir()) && made >= began
}

/// Whether it is another name for what the kernel makes up.
fn leads_to_kernel(path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| is_nobodys(&path))
}

fn unreadable(note: &[u8]) -> String {
    format!("it noted `{}`, which cannot be read", String::from_utf8_lossy(note))
}

/// The digest of a folder's names, as Note `[Files looked at]` of the phantom has it.
fn names(folder: &Path, imports: bool) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?;
    let names = entries.map(|entry| Some(entry.ok()?.file_name().as_bytes().to_owned()));
    let digest = wire::digest::hash_names(names.collect::<Option<_>>()?, imports);
    Some(format!("{digest:016x}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by it")]

    use super::*;

    fn search() -> Searching {
        Searching { ours: Vec::new(), began: SystemTime::now() }
    }

    fn note(kind: char, path: &Path) -> String {
        let state = State::of(path).map_or_else(|| "-".to_owned(), |state| state.to_string());
        format!("{kind} {state} {}\0", path.display())
    }

    #[test]
    fn what_changes_is_seen() {
        type Act = fn(&Path);
        let acts: [(&str, Act, bool); 9] = [
            ("nothing", |_| {}, true),
            ("the same again", |folder| fs::write(folder.join("data"), "1").unwrap(), true),
            ("content", |folder| fs::write(folder.join("data"), "2").unwrap(), false),
            ("gone", |folder| fs::remove_file(folder.join("data")).unwrap(), false),
            ("come", |folder| fs::write(folder.join("absent"), "").unwrap(), false),
            ("a folder", |folder| fs::create_dir(folder.join("absent")).unwrap(), false),
            ("a module", |folder| fs::write(folder.join("torch.py"), "").unwrap(), false),
            ("a patch", |folder| fs::write(folder.join("fit.patch"), "").unwrap(), true),
            ("a listed name", |folder| fs::write(folder.join("listed/x"), "").unwrap(), false),
        ];
        for (name, act, expected) in acts {
            let place = tempfile::tempdir().unwrap();
            let folder = place.path();
            fs::write(folder.join("data"), "1").unwrap();
            fs::create_dir(folder.join("listed")).unwrap();
            let notes = [
                note('r', &folder.join("data")),
                note('s', &folder.join("absent")),
                note('s', folder),
                format!("i {} {}\0", names(folder, true).unwrap(), folder.display()),
                format!("l {} {}\0", names(&folder.join("listed"), false).unwrap(), folder.join("listed").display()),
            ];
            let looks = Looks::of(notes.concat().as_bytes(), &search()).unwrap();
            act(folder);
            assert_eq!(looks.hold(), expected, "{name}");
        }
    }

    #[test]
    fn what_changed_before_it_was_kept_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("data");
        fs::write(&file, "1").unwrap();
        let notes = note('r', &file);
        let looks = Looks::of(notes.as_bytes(), &search()).unwrap();
        assert_eq!(looks.are_untouched(), Ok(()));
        fs::write(&file, "22").unwrap();
        assert_eq!(Looks::of(notes.as_bytes(), &search()), Err(Unsure::Changed(file.clone())));
        assert_eq!(looks.are_untouched(), Err(Unsure::Changed(file)));
    }

    #[test]
    fn notes_that_do_not_matter_are_left_out() {
        let gone = std::env::temp_dir().join("oomph-test-that-is-gone");
        let notes = format!(
            "r 1,1,1,1,33188 /proc/meminfo\0r 1,1,1,1,33188 /x/__pycache__/a.cpython-312.pyc\0\
             r 1,1,1,1,33188 /ours/run/output.log\0r 1,1,1,1,33188 {}\0",
            gone.display()
        );
        let search = Searching { ours: vec![PathBuf::from("/ours")], began: SystemTime::UNIX_EPOCH };
        assert_eq!(Looks::of(notes.as_bytes(), &search), Ok(Looks::default()));
        let later = Searching { began: SystemTime::now(), ..search };
        assert_eq!(Looks::of(notes.as_bytes(), &later), Err(Unsure::Changed(gone)));
    }

    #[test]
    fn what_cannot_be_looked_at_again_is_said() {
        let cases = [
            ("! it talks to somebody\0", "it talks to somebody"),
            ("x 1 /a\0", "it noted `x 1 /a`, which cannot be read"),
            ("r 1,2 /a\0", "it noted `1,2`, which cannot be read"),
            ("r\0", "it noted `r`, which cannot be read"),
        ];
        for (notes, expected) in cases {
            let found = Looks::of(notes.as_bytes(), &search()).map_err(|unsure| unsure.to_string());
            assert_eq!(found, Err(expected.to_owned()), "{notes}");
        }
    }
}
