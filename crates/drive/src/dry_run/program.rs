//! Prepares a program for dry runs: finds the Python, unpacks the phantom.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf, absolute};
use std::time::Duration;

use base::{Error, SetupError, Words};
use gpus::Profile;
use run::{Conditions, Device, DeviceFacts, Environment, Folders, Route, RunOptions, RunSpec};
use trace::Bytes;

use crate::guard::outside::{Network, Outside};
use crate::guard::permission::Permission;
use crate::unpack::{self, Unpacked};
use crate::{entry_point, python};

/// A program as the user described it.
#[derive(Clone, Debug)]
pub struct ProgramRequest {
    /// The words that start the program.
    pub words: Words,
    /// The named Python for scripts; `None` leaves the choice to this crate.
    pub python: Option<PathBuf>,
    /// The GPU that the program sees.
    pub profile: Profile,
    /// What the user asked of the runs.
    pub options: RunOptions,
    /// The longest time of a run.
    pub timeout: Duration,
    /// True if new files of the first run stay.
    pub keeps_files: bool,
    /// The runs with a network.
    pub network: Network,
}

/// A program that is ready to run.
pub struct Program {
    /// The specification of every run.
    pub spec: RunSpec,
    /// The GPU that the program sees.
    pub profile: Profile,
    pub(crate) unpacked: Unpacked,
    /// True if runs print nothing to the terminal, because the command shows its own progress.
    pub is_quiet: bool,
    /// The guard of the user's files and of other machines.
    pub outside: Outside,
}

/// Prepares a program: finds the Python, unpacks the phantom, asks for a world.
pub fn prepare(request: ProgramRequest) -> Result<Program, Error> {
    let ProgramRequest { words, python, profile, options, timeout, keeps_files, network } = request;
    let permission = Permission::ask()?;
    let command = command(&words, python.as_deref())?;
    let unpacked = unpack::unpack()?;
    let facts = DeviceFacts {
        name: profile.name.clone(),
        variable: profile.device_variable(),
        total: profile.total_bytes,
        context: profile.context_bytes,
        others: Bytes::ZERO,
    };
    let is_script = match &words {
        Words::Script(_) => command.first().is_none_or(|program| program != "bash"),
        Words::CommandLine(_) => command.first().is_some_and(|program| entry_point::is_entry_point(Path::new(program))),
    };
    let device = Device::Phantom(facts);
    let spec = RunSpec { is_script, command, device, options, timeout, verbose: false };
    let outside = Outside::new(network, keeps_files, permission)?;
    Ok(Program { spec, profile, unpacked, is_quiet: false, outside })
}

/// The command line of a dry run: `python SCRIPT ARGS`, with a supported PyTorch, or the words as they are.
pub fn command(words: &Words, python: Option<&Path>) -> Result<Vec<OsString>, Error> {
    let command = real_command(words, python)?;
    if let (Words::Script(script), Some(python)) = (words, command.first().filter(|program| *program != "bash")) {
        check_name(Path::new(&script[0]))?;
        python::check_torch(Path::new(python))?;
    }
    Ok(command)
}

/// The command line of a real run, which needs no PyTorch.
pub fn real_command(words: &Words, python: Option<&Path>) -> Result<Vec<OsString>, Error> {
    let words = match words {
        Words::CommandLine(words) => return Ok(words.clone()),
        Words::Script(words) => words,
    };
    let script = PathBuf::from(&words[0]);
    check_script(script.clone())?;
    let ending = script.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if ending == "sh" || ending == "bash" {
        base::events::remark(&format!(
            "note: `{}` is a shell script: bash runs it, with the Python that it finds",
            script.display()
        ));
        return Ok([OsString::from("bash")].into_iter().chain(words.iter().cloned()).collect());
    }
    if ending == "ipynb" {
        let what = "its cells of code are run in order, without magics and shell lines";
        base::events::remark(&format!("note: `{}` is a notebook: {what}", script.display()));
    }
    let python = python::choose(python);
    Ok([python.into_os_string()].into_iter().chain(words.iter().cloned()).collect())
}

fn check_script(script: PathBuf) -> Result<(), Error> {
    match fs::metadata(&script) {
        Ok(found) if found.is_dir() => Err(Error::from(SetupError::ScriptIsFolder(script))),
        Ok(found) if found.file_type().is_fifo() => Err(Error::from(SetupError::ScriptIsPipe(script))),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(no_script(script)),
        Err(source) => Err(Error::Unreadable { path: script, source }),
    }
}

/// Refuses a script of which PyTorch cannot write the name into its history of memory.
fn check_name(script: &Path) -> Result<(), Error> {
    match absolute(script) {
        Ok(path) if path.to_str().is_none() => Err(Error::from(SetupError::NotUtf8(path))),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A word with a hyphen in the script's place is a misspelt option.
fn no_script(script: PathBuf) -> Error {
    match script.to_str().filter(|word| word.starts_with('-')) {
        Some(word) => Error::from(SetupError::NoOption(word.to_owned())),
        None => Error::from(SetupError::NoScript(script)),
    }
}

impl Program {
    /// Takes `others` bytes of each phantom GPU for other processes. On real GPUs the other processes are there.
    pub fn set_others(&mut self, others: Bytes) -> Result<(), Error> {
        let Device::Phantom(device) = &mut self.spec.device else { return Ok(()) };
        let DeviceFacts { total, context, .. } = *device;
        if others > Bytes::ZERO && total - others <= context {
            return Err(Error::from(SetupError::NothingLeft { others, total, context }));
        }
        device.others = others;
        Ok(())
    }

    /// The environment of a run in `folder`.
    pub(crate) fn environment(&self, conditions: &Conditions, folder: &Path, route: Route) -> Environment {
        ::run::environment(&self.spec, conditions, &self.folders(folder), route)
    }

    /// The environment of a fork server; its log and file notes go to `folder`.
    pub(crate) fn server_environment(&self, notes_files: bool, folder: &Path) -> Environment {
        ::run::environment::of_server(&self.spec, notes_files, &self.folders(folder))
    }

    fn folders<'a>(&'a self, folder: &'a Path) -> Folders<'a> {
        Folders { library: &self.unpacked.library_dir, inject: &self.unpacked.inject_dir, run: folder }
    }
}
