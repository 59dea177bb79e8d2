//! The folder of the server: every path of a call is resolved, links included, and must lie within.

use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use crate::error::{CallError, ServeError};

/// The most entries of a folder that `explain` is to read.
const MOST_ENTRIES: usize = 20_000;

/// The folder, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Confinement {
    root: PathBuf,
}

impl Confinement {
    /// Resolves the folder.
    pub(crate) fn of(folder: &Path) -> Result<Confinement, ServeError> {
        let failed = |source| ServeError::Folder { folder: folder.to_owned(), source };
        let root = folder.canonicalize().map_err(failed)?;
        if root.is_dir() { Ok(Confinement { root }) } else { Err(failed(io::ErrorKind::NotADirectory.into())) }
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Resolves the path of a file, and returns the word for a command that runs in the folder.
    pub(crate) fn resolve_file(&self, path: &str) -> Result<OsString, CallError> {
        let (resolved, found) = self.resolve(path)?;
        match found.file_type() {
            kind if kind.is_file() => Ok(self.word(&resolved)),
            kind => Err(CallError::OtherKind { path: path.to_owned(), kind: describe(kind), wanted: "file" }),
        }
    }

    /// Resolves the path of a file or a folder. A folder must not lead outside by a link in it.
    pub(crate) fn resolve_any(&self, path: &str) -> Result<OsString, CallError> {
        let (resolved, found) = self.resolve(path)?;
        match found.file_type() {
            kind if kind.is_file() => {}
            kind if kind.is_dir() => self.check_links(path, &resolved)?,
            kind => {
                return Err(CallError::OtherKind {
                    path: path.to_owned(),
                    kind: describe(kind),
                    wanted: "file or a folder",
                });
            }
        }
        Ok(self.word(&resolved))
    }

    /// Checks that an interpreter's own entry is in the folder. Environments link to an interpreter elsewhere, so the link itself is not followed.
    pub(crate) fn holds_entry(&self, path: &Path) -> bool {
        let parent = self.root.join(path).parent().and_then(|parent| parent.canonicalize().ok());
        let ends_in_name = matches!(path.components().next_back(), Some(Component::Normal(_)));
        ends_in_name && parent.is_some_and(|parent| parent.starts_with(&self.root))
    }

    fn resolve(&self, path: &str) -> Result<(PathBuf, Metadata), CallError> {
        if path.contains('\0') {
            return Err(CallError::NullCharacter { field: "a path" });
        }
        let resolved = self.root.join(path).canonicalize().map_err(|source| self.explain(path, source))?;
        if !resolved.starts_with(&self.root) {
            return Err(self.outside(path));
        }
        let found = fs::symlink_metadata(&resolved).map_err(|source| self.explain(path, source))?;
        Ok((resolved, found))
    }

    /// An error says nothing about files outside, not even whether they exist.
    fn explain(&self, path: &str, source: io::Error) -> CallError {
        let is_above = lexically(&self.root, path).is_none_or(|plain| !plain.starts_with(&self.root));
        match source.kind() {
            _ if is_above => self.outside(path),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                CallError::NotThere { path: path.to_owned(), folder: self.root.clone() }
            }
            _ => CallError::Unreadable { path: path.to_owned(), source },
        }
    }

    fn outside(&self, path: &str) -> CallError {
        CallError::Outside { path: path.to_owned(), folder: self.root.clone() }
    }

    /// The path relative to the folder; never an option of the command.
    fn word(&self, resolved: &Path) -> OsString {
        let relative = resolved.strip_prefix(&self.root).unwrap_or(resolved);
        let is_plain = !relative.as_os_str().is_empty() && !relative.as_os_str().as_encoded_bytes().starts_with(b"-");
        if is_plain { relative.into() } else { Path::new(".").join(relative).into() }
    }

    /// Refuses a folder with a link to the outside.
    fn check_links(&self, path: &str, folder: &Path) -> Result<(), CallError> {
        let failed = |source| CallError::Unreadable { path: path.to_owned(), source };
        let mut folders = vec![folder.to_owned()];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                count += 1;
                if count > MOST_ENTRIES {
                    return Err(CallError::TooLarge { path: path.to_owned(), most: MOST_ENTRIES });
                }
                let kind = entry.file_type().map_err(failed)?;
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_symlink() && self.leads_outside(&entry.path()) {
                    return Err(self.outside(&entry.path().display().to_string()));
                }
            }
        }
        Ok(())
    }

    /// A link to nothing is no way out.
    fn leads_outside(&self, link: &Path) -> bool {
        link.canonicalize().is_ok_and(|target| !target.starts_with(&self.root))
    }
}

/// Applies `..` without reading the disk; `None` above the root of the file system.
fn lexically(root: &Path, path: &str) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in root.join(path).components() {
        match part {
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    Some(plain)
}

fn describe(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    /// `inside` beside `outside`, with links between them.
    fn make() -> (tempfile::TempDir, Confinement) {
        let place = tempfile::tempdir().expect("a temporary folder");
        let root = place.path().join("inside");
        let outside = place.path().join("outside");
        for folder in [root.join("sub"), root.join("job"), root.join("clean"), root.join("venv/bin"), outside.clone()] {
            fs::create_dir_all(folder).expect("a folder");
        }
        for file in [root.join("train.py"), root.join("-odd.py"), root.join("clean/a.log"), outside.join("secret.py")] {
            fs::write(file, "x").expect("a file");
        }
        for (target, link) in [
            ("../outside/secret.py", "secret.py"),
            ("../outside", "away"),
            ("train.py", "alias.py"),
            ("nothing", "dead.py"),
            ("../../outside/secret.py", "job/rank0.log"),
            ("../train.py", "clean/b.log"),
            ("/bin/sh", "venv/bin/python"),
            ("loop.py", "loop.py"),
        ] {
            symlink(target, root.join(link)).expect("a link");
        }
        mkfifo(&root.join("pipe"), Mode::S_IRWXU).expect("a pipe");
        let confinement = Confinement::of(&root).expect("a folder");
        (place, confinement)
    }

    fn word(found: Result<OsString, CallError>) -> String {
        match found {
            Ok(word) => word.to_string_lossy().into_owned(),
            Err(CallError::Outside { .. }) => "outside".to_owned(),
            Err(CallError::NotThere { .. }) => "not there".to_owned(),
            Err(CallError::OtherKind { kind, .. }) => kind.to_owned(),
            Err(_) => "error".to_owned(),
        }
    }

    #[test]
    fn a_path_is_within_the_folder_or_refused() {
        let (place, confinement) = make();
        let absolute = confinement.root().join("train.py").display().to_string();
        let secret = place.path().join("outside/secret.py").display().to_string();
        let cases = [
            ("train.py", "train.py", "train.py"),
            (absolute.as_str(), "train.py", "train.py"),
            ("sub/../train.py", "train.py", "train.py"),
            ("alias.py", "train.py", "train.py"),
            ("-odd.py", "./-odd.py", "./-odd.py"),
            ("sub", "a folder", "sub"),
            ("clean", "a folder", "clean"),
            ("", "a folder", "outside"),
            ("job", "a folder", "outside"),
            ("pipe", "a pipe", "a pipe"),
            ("nothing.py", "not there", "not there"),
            ("train.py/x", "not there", "not there"),
            ("dead.py", "not there", "not there"),
            ("loop.py", "error", "error"),
            (secret.as_str(), "outside", "outside"),
            ("secret.py", "outside", "outside"),
            ("away", "outside", "outside"),
            ("away/secret.py", "outside", "outside"),
            ("../outside/secret.py", "outside", "outside"),
            ("../inside-not/x", "outside", "outside"),
            ("/no/such/file", "outside", "outside"),
            ("../../../../../../../../../etc/passwd", "outside", "outside"),
            ("a\0b", "error", "error"),
        ];
        for (path, file, any) in cases {
            assert_eq!(word(confinement.resolve_file(path)), file, "{path:?} as a file");
            assert_eq!(word(confinement.resolve_any(path)), any, "{path:?} as a file or a folder");
        }
    }

    #[test]
    fn an_interpreter_is_one_whose_entry_is_in_the_folder() {
        let (_place, confinement) = make();
        for (path, expected) in [
            ("venv/bin/python", true),
            ("venv/bin/../bin/python", true),
            ("/bin/sh", false),
            ("away/python", false),
            ("../outside/python", false),
            ("venv/bin/..", false),
        ] {
            assert_eq!(confinement.holds_entry(Path::new(path)), expected, "{path}");
        }
    }
}
