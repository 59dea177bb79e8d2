//! `oomph run`: a real run, recorded, and explained when it dies.

use std::os::unix::process::CommandExt;
use std::path::Path;

use diagnose::{AgainstRun, Real};
use drive::SetupError;
use drive::dry_run::program;
use drive::process::{attended, launch};
use drive::words::{Words, quote};
use drive::{run_dir, unpack};
use report::render::terminal::Detail;
use run::environment::of_real;
use run::{Conditions, Folders, RunSpec};
use trace::Launch;
use trace::run::Ended;

use super::against;
use crate::args::Run;
use crate::environment::{current_folder, is_in_real_run};
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{lint_links, output};

/// Runs the program, and explains its end.
pub(crate) fn run(arguments: &Run, after_dashes: bool) -> Result<ExitStatus, Error> {
    let words = if after_dashes {
        Words::CommandLine(arguments.program.clone())
    } else {
        Words::Script(arguments.program.clone())
    };
    let words = program::command(&words, arguments.python.as_deref())?;
    if is_in_real_run() {
        // The outer `oomph run` records, and explains the end.
        let source = launch::command(&words)?.exec();
        return Err(Error::from(SetupError::NoProgram { program: words[0].to_string_lossy().into_owned(), source }));
    }
    // A wrong folder is an error before the program starts.
    let before = arguments.against.as_deref().map(against::read).transpose()?;
    let unpacked = unpack::unpack()?;
    let folder = run_dir::make_lasting(arguments.save.as_deref())?;
    let spec = RunSpec::real(words);
    let mut launched = spec.launch(&Conditions::on_device(Vec::new()));
    run_dir::write_launch(&folder, &launched)?;
    let folders = Folders { library: &unpacked.library_dir, inject: &unpacked.inject_dir, run: &folder };
    let mut command = launch::command(&spec.command)?;
    launch::set_environment(&mut command, &of_real(&folders));
    let ended = attended::attend(&mut command)?;
    launched.ended = Some(ended.clone());
    // The program has ended: a problem of the recording is a remark, and the status stays the program's.
    if let Err(error) = finish(arguments, before, &folder, &launched) {
        output::failure(&error);
    }
    Ok(ExitStatus::Programs(status_of(&ended)))
}

/// The status of a shell: the program's own, or 128 and the signal.
fn status_of(ended: &Ended) -> u8 {
    let code = ended.exit_code.unwrap_or_else(|| 128 + ended.signal.unwrap_or_default());
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Says how the program ended, and keeps the recording if it may be wanted.
fn finish(arguments: &Run, before: Option<AgainstRun>, folder: &Path, launched: &Launch) -> Result<(), Error> {
    run_dir::write_launch(folder, launched)?;
    let is_of_use = explain(folder, launched, arguments.verbose)?;
    let compared = before.map_or(Ok(()), |before| against::say(before, folder, arguments));
    if arguments.save.is_none() && !is_of_use {
        run_dir::remove(folder);
    } else {
        output::say(&format!("oomph: recorded in {0}; `oomph explain {0}` says this again", folder.display()));
    }
    compared
}

/// Explains the end of a recorded real run on standard error. Returns true if the recording may be of use later.
pub(super) fn explain(folder: &Path, launched: &Launch, is_verbose: bool) -> Result<bool, Error> {
    let recorded = run_dir::read(folder)?;
    let (end, folder) = (Real::of(&recorded, launched), current_folder());
    if end.is_explained() {
        let next = suggest_fit(&recorded, launched);
        let case = Real::make_case(recorded, launched, &folder, next);
        let diagnosis = diagnose::check(&case);
        let links = lint_links::find(diagnosis.findings(), &folder, None);
        let detail = if is_verbose { Detail::Full } else { Detail::Brief };
        output::say_report(&diagnosis.report(links), detail)?;
    }
    end.describe(&folder).iter().for_each(|line| output::say(line));
    Ok(end.is_recorded() && !end.is_good())
}

/// The command that searches for the smallest change with which the program fits this GPU.
fn suggest_fit(recorded: &trace::Run, launched: &Launch) -> Option<String> {
    let (name, total) = Real::gpu(recorded)?;
    let profile = gpus::find(name).ok()?;
    let memory =
        if profile.total_bytes == total { String::new() } else { format!(" --vram {}", gpus::write_size(total)) };
    let words: Vec<String> = launched.command.iter().map(|word| quote(word)).collect();
    Some(format!("oomph fit --gpu {}{memory} -- {}", quote(&profile.name), words.join(" ")))
}
