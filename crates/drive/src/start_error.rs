//! Finds out why a program cannot be started: the system's error names no file (execve(2)).

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use base::{Error, SetupError};

use crate::environment;

/// The longest first line of a script that Linux reads (`BINPRM_BUF_SIZE` in include/uapi/linux/binfmts.h, 5.1).
const FIRST_LINE: u64 = 256;

/// Returns the error of a program that the system refused to start.
pub fn explain(program: &OsStr, source: io::Error) -> Error {
    Error::from(find_reason(program, source))
}

/// Tests, by the rules of `execvp`, that a program can be started.
pub(crate) fn can_start(program: &OsStr) -> bool {
    find_file(program).is_some_and(|file| is_executable(&file) && find_missing_interpreter(&file).is_none())
}

fn find_reason(program: &OsStr, source: io::Error) -> SetupError {
    let is_name = is_name(program);
    let Some(file) = find_file(program) else {
        return if is_name && source.kind() == ErrorKind::NotFound {
            SetupError::NotInPath(program.to_string_lossy().into_owned())
        } else if source.kind() == ErrorKind::NotFound {
            SetupError::NoProgramFile(program.into())
        } else {
            SetupError::NoProgram { program: program.to_string_lossy().into_owned(), source }
        };
    };
    if file.is_dir() {
        SetupError::ProgramIsFolder(file)
    } else if !is_executable(&file) {
        SetupError::NotExecutable(file)
    } else if let Some(interpreter) = find_missing_interpreter(&file) {
        SetupError::NoInterpreter { file, interpreter }
    } else {
        SetupError::NoProgram { program: program.to_string_lossy().into_owned(), source }
    }
}

/// True for a name without a slash, which is searched for in PATH.
fn is_name(program: &OsStr) -> bool {
    !program.as_bytes().contains(&b'/')
}

/// Finds the file of a program: in PATH the first that can be started, else the first of the name that is no folder.
fn find_file(program: &OsStr) -> Option<PathBuf> {
    if program.is_empty() {
        return None;
    }
    if !is_name(program) {
        return Some(PathBuf::from(program)).filter(|file| file.exists());
    }
    let folders = environment::get(environment::PATH).unwrap_or_default();
    let found: Vec<PathBuf> =
        std::env::split_paths(&folders).map(|folder| folder.join(program)).filter(|file| file.is_file()).collect();
    found.iter().find(|file| is_executable(file)).or(found.first()).cloned()
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns the interpreter in the first line of a script, if there is no such file.
fn find_missing_interpreter(file: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    File::open(file).ok()?.take(FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.split(|byte| matches!(byte, b' ' | b'\t')).find(|word| !word.is_empty())?;
    let interpreter = PathBuf::from(OsStr::from_bytes(word));
    (!interpreter.exists()).then_some(interpreter)
}
