//! The process that enters a world, and becomes the program.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use wire::variable;
use world::{Entered, Spec};

use crate::start_error::can_start;

/// The hidden argument; the file of the specification and a command line follow.
const ENTER: &str = "--enter-world";
/// For the dynamic loader: the libraries to load first.
const LD_PRELOAD: &str = "LD_PRELOAD";

/// Returns a command line that enters the world of a specification first; the same command line if the program cannot be started.
pub(super) fn wrap(spec: &Path, words: &[OsString]) -> Vec<OsString> {
    let Ok(ourselves) = std::env::current_exe() else { return words.to_vec() };
    if !words.first().is_some_and(|program| can_start(program)) {
        return words.to_vec();
    }
    let before = [ourselves.into_os_string(), ENTER.into(), spec.as_os_str().to_owned()];
    before.into_iter().chain(words.iter().cloned()).collect()
}

/// Keeps the phantom out of the process that enters the world; the program loads the phantom.
pub(super) fn delay_preload(command: &mut Command) {
    let preload =
        command.get_envs().find(|(name, _)| *name == LD_PRELOAD).and_then(|(_, value)| value).map(OsStr::to_owned);
    if let Some(preload) = preload {
        command.env_remove(LD_PRELOAD).env(variable::PRELOAD, preload);
    }
}

/// Returns the specification and the command line of a process that enters a world; `None` for any further command line.
pub fn find_entering(line: &[OsString]) -> Option<(&Path, &[OsString])> {
    match line {
        [_, word, spec, words @ ..] if word == ENTER && !words.is_empty() => Some((Path::new(spec), words)),
        _ => None,
    }
}

/// Enters a world and becomes the program; returns the error if the program cannot be started.
pub fn become_program(spec: &Path, words: &[OsString]) -> io::Error {
    let spec = match fs::read(spec).and_then(|bytes| Spec::read(&bytes).map_err(io::Error::other)) {
        Ok(spec) => spec,
        Err(error) => return error,
    };
    let entered = match world::enter(&spec) {
        Ok(Entered::Refused) => return io::Error::other("the kernel refuses a namespace now"),
        Ok(entered) => entered,
        Err(error) => return io::Error::other(error),
    };
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_remove(variable::PRELOAD);
    if let Some(preload) = std::env::var_os(variable::PRELOAD) {
        command.env(LD_PRELOAD, preload);
    }
    if entered == Entered::Layers {
        command.env(variable::GUARD, variable::GUARD_NAMESPACE);
    }
    command.exec()
}
