//! Prepares a program for dry runs: chooses the GPU, finds the Python, unpacks the phantom.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf, absolute};

use gpus::Profile;
use run::{Conditions, DeviceFacts, Environment, Folders, Route, RunSpec};
use trace::Bytes;

use super::outside::Outside;
use crate::args::{GpuOptions, JobOptions, OthersOption, RunOptions};
use crate::effects::permission::Permission;
use crate::effects::unpack::{self, Unpacked};
use crate::error::{Error, SetupError};
use crate::words::Words;
use crate::{gpu_choice, output, python};

/// A program that is ready to run.
pub(crate) struct Program {
    pub(crate) spec: RunSpec,
    /// The GPU that the program sees.
    pub(crate) profile: Profile,
    /// True if oomph chose the GPU, because the user named none.
    pub(crate) gpu_assumed: bool,
    pub(crate) unpacked: Unpacked,
    /// True if runs print nothing to the terminal, because the command shows its own progress.
    pub(crate) is_quiet: bool,
    /// The guard of the user's files and of other machines.
    pub(crate) outside: Outside,
}

/// Prepares a program. `job` names the job of which single ranks run.
pub(crate) fn prepare(
    gpu: &GpuOptions,
    job: Option<&JobOptions>,
    run: &RunOptions,
    words: &Words,
) -> Result<Program, Error> {
    let gpu_choice = gpu_choice::choose(gpu)?;
    let job = job.map_or(Ok(None), JobOptions::job)?;
    let permission = if run.keep_files { None } else { Some(Permission::ask()?) };
    let command = command(words, run.python.as_deref())?;
    let unpacked = unpack::unpack()?;
    let profile = gpu_choice.profile;
    let device = DeviceFacts {
        name: profile.name.clone(),
        variable: profile.device_variable(),
        total: profile.total_bytes,
        context: profile.context_bytes,
        others: Bytes::ZERO,
    };
    let spec = RunSpec {
        is_script: matches!(words, Words::Script(_)) && command.first().is_none_or(|program| program != "bash"),
        command,
        device,
        devices: gpu.gpus,
        job,
        steps: run.steps(),
        more_steps: 0,
        fraction: run.fraction(),
        timeout: run.timeout,
        verbose: false,
    };
    Ok(Program {
        spec,
        profile,
        gpu_assumed: gpu_choice.is_assumed,
        unpacked,
        is_quiet: false,
        outside: Outside::new(run, permission)?,
    })
}

/// `python SCRIPT ARGS`, or the command line as it is.
fn command(words: &Words, python: Option<&Path>) -> Result<Vec<OsString>, Error> {
    let words = match words {
        Words::CommandLine(words) => return Ok(words.clone()),
        Words::Script(words) => words,
    };
    let script = PathBuf::from(&words[0]);
    check_script(script.clone())?;
    let ending = script.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if ending == "sh" || ending == "bash" {
        output::say(&format!(
            "note: `{}` is a shell script: bash runs it, with the Python that it finds",
            script.display()
        ));
        return Ok([OsString::from("bash")].into_iter().chain(words.iter().cloned()).collect());
    }
    if ending == "ipynb" {
        let what = "its cells of code are run in order, without magics and shell lines";
        output::say(&format!("note: `{}` is a notebook: {what}", script.display()));
    }
    check_name(&script)?;
    let python = python::choose(python);
    python::check_torch(&python)?;
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
    /// Takes `others` bytes of each GPU for other processes.
    pub(crate) fn set_others(&mut self, others: &OthersOption) -> Result<(), Error> {
        let others = others.others.unwrap_or_default();
        let DeviceFacts { total, context, .. } = self.spec.device;
        if others > Bytes::ZERO && total - others <= context {
            return Err(Error::from(SetupError::NothingLeft { others, total, context }));
        }
        self.spec.device.others = others;
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
