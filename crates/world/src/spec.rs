//! The file with the description of a world: written by the launcher, read by the process that enters.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// A world to enter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// True for a file system of the world's own; false for a confined process (Note [Confinement] in `confine`).
    pub has_layers: bool,
    /// Existing folders of this world alone, on different places of the disk; layers go to the first suitable folder.
    pub scratches: Vec<PathBuf>,
    /// Existing folders shared with everybody: the run directory.
    pub through: Vec<PathBuf>,
    /// Folders surely used by the program: the current folder, the home.
    pub folders: Vec<PathBuf>,
    /// Files shown to the program on top of the real files.
    pub additions: Vec<Addition>,
    /// The file for the [`Record`](crate::Record), below one of `through`.
    pub record: PathBuf,
    /// True to leave only a loop-back of the world's own as a network.
    pub is_offline: bool,
    /// Inherited files to open again inside the world.
    pub inputs: Vec<Input>,
}

/// A regular file that the program inherits, open for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The number of the descriptor.
    pub number: i32,
    /// The position of the next read, in bytes.
    pub offset: u64,
    /// The file.
    pub path: PathBuf,
}

impl Input {
    /// The number and the offset before the path: `3/0/home/ann/data.txt`.
    fn to_path(&self) -> PathBuf {
        let start = PathBuf::from(format!("{}/{}", self.number, self.offset));
        start.join(self.path.strip_prefix("/").unwrap_or(&self.path))
    }

    fn of_path(path: &Path) -> Option<Input> {
        let mut parts = path.components();
        let mut number = || parts.next()?.as_os_str().to_str()?.parse::<u64>().ok();
        let (number, offset) = (i32::try_from(number()?).ok()?, number()?);
        Some(Input { number, offset, path: Path::new("/").join(parts.as_path()) })
    }
}

/// A tree of files shown on top of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// A folder with a layer.
    pub folder: PathBuf,
    /// The tree's root, outside `folder`.
    pub tree: PathBuf,
}

/// The error of a file without a specification.
#[derive(Debug, thiserror::Error)]
#[error("expected `KIND PATH` entries of a world, found `{entry}`")]
pub struct SpecError {
    entry: String,
}

impl Spec {
    /// Writes entries with a NUL at the end (no path contains a NUL): a letter, a blank, a path.
    pub fn to_bytes(&self) -> Vec<u8> {
        let offline = self.is_offline.then_some(('o', Path::new("")));
        let layers = self.has_layers.then_some(('l', Path::new("")));
        let inputs: Vec<PathBuf> = self.inputs.iter().map(Input::to_path).collect();
        let inputs = inputs.iter().map(|path| ('i', path.as_path()));
        let scratches = self.scratches.iter().map(|path| ('s', path.as_path()));
        let through = self.through.iter().map(|path| ('t', path.as_path()));
        let folders = self.folders.iter().map(|path| ('f', path.as_path()));
        let additions = self.additions.iter();
        let additions = additions.flat_map(|it| [('a', it.folder.as_path()), ('b', it.tree.as_path())]);
        let record = [('r', self.record.as_path())];
        let entries = scratches
            .chain(through)
            .chain(folders)
            .chain(additions)
            .chain(record)
            .chain(offline)
            .chain(layers)
            .chain(inputs);
        entries.flat_map(|(kind, path)| format!("{kind} ").into_bytes().into_iter().chain(end(path))).collect()
    }

    /// Reads the output of [`Spec::to_bytes`].
    pub fn read(bytes: &[u8]) -> Result<Spec, SpecError> {
        let (mut spec, mut folder) = (Spec::default(), PathBuf::new());
        for entry in bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let path = || PathBuf::from(OsString::from_vec(entry.get(2..).unwrap_or_default().to_vec()));
            match entry.get(..2) {
                Some(b"s ") => spec.scratches.push(path()),
                Some(b"t ") => spec.through.push(path()),
                Some(b"f ") => spec.folders.push(path()),
                Some(b"a ") => folder = path(),
                Some(b"b ") => spec.additions.push(Addition { folder: std::mem::take(&mut folder), tree: path() }),
                Some(b"r ") => spec.record = path(),
                Some(b"o ") => spec.is_offline = true,
                Some(b"l ") => spec.has_layers = true,
                Some(b"i ") => spec.inputs.push(Input::of_path(&path()).ok_or_else(|| error(entry))?),
                _ => return Err(error(entry)),
            }
        }
        Ok(spec)
    }
}

fn error(entry: &[u8]) -> SpecError {
    SpecError { entry: String::from_utf8_lossy(entry).into_owned() }
}

fn end(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().iter().copied().chain([0]).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_specification_is_read_as_written() {
        let spec = Spec {
            scratches: vec!["/tmp/a b".into(), "/var/tmp/c".into()],
            through: vec!["/tmp/run\n1".into()],
            folders: vec!["/home/ann".into()],
            additions: vec![Addition { folder: "/home".into(), tree: "/var/tmp/d 0".into() }],
            record: "/tmp/run\n1/world".into(),
            is_offline: true,
            has_layers: true,
            inputs: vec![Input { number: 3, offset: 71, path: "/home/a b/c".into() }],
        };
        assert_eq!(Spec::read(&spec.to_bytes()).unwrap(), spec);
        let online = Spec { is_offline: false, has_layers: false, ..spec };
        assert_eq!(Spec::read(&online.to_bytes()).unwrap(), online);
        for wrong in [&b"elf\x7f"[..], b"i 3/x/path", b"i 99999999999/0/path"] {
            assert!(Spec::read(wrong).is_err());
        }
    }
}
