//! `oomph run`: a real run, recorded, and explained when it dies.

use std::path::Path;

use diagnose::{ExplainCase, ExplainInput, InputContents, Real};
use drive::Words;
use drive::dry_run::program;
use drive::process::{attended, launch};
use drive::{run_dir, unpack};
use report::render::terminal::Detail;
use run::environment::of_real;
use run::{Conditions, Folders, RunSpec};
use trace::Launch;
use trace::run::Ended;

use crate::args::Run;
use crate::environment::current_folder;
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
    if let Err(error) = finish(arguments, &folder, launched) {
        output::failure(&error);
    }
    Ok(ExitStatus::Programs(status_of(&ended)))
}

/// The status of a shell: the program's own, or 128 and the signal.
fn status_of(ended: &Ended) -> u8 {
    let code = ended.exit_code.unwrap_or_else(|| 128 + ended.signal.unwrap_or_default());
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Prints what is to be said about the end, and keeps the recording if it may be wanted.
fn finish(arguments: &Run, folder: &Path, launched: Launch) -> Result<(), Error> {
    run_dir::write_launch(folder, &launched)?;
    let recorded = run_dir::read(folder)?;
    let real = Real::of(&recorded, &launched);
    if real.is_explained() {
        let case = ExplainCase {
            inputs: inputs(folder, &real, recorded, launched),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            folder: current_folder(),
        };
        let explanation = diagnose::explain(&case);
        let links = lint_links::find(explanation.findings(), &case.folder, None);
        let detail = if arguments.verbose { Detail::Full } else { Detail::Brief };
        output::say_report(&explanation.report(links), detail)?;
    }
    real.lines(&current_folder()).iter().for_each(|line| output::say(line));
    if arguments.save.is_none() && real.is_good() {
        run_dir::remove(folder);
    } else {
        output::say(&format!("oomph: recorded in {0}; `oomph explain {0}` says this again", folder.display()));
    }
    Ok(())
}

/// The recording, and the message of each process's last error.
fn inputs(folder: &Path, real: &Real, run: trace::Run, launched: Launch) -> Vec<ExplainInput> {
    let path = folder.to_string_lossy().into_owned();
    let texts = real.messages.iter().map(|(rank, text)| ExplainInput {
        path: path.clone(),
        rank: *rank,
        contents: InputContents::Text(trace::text::read(text.as_bytes())),
    });
    let texts: Vec<ExplainInput> = texts.collect();
    let run = ExplainInput { path: path.clone(), rank: None, contents: InputContents::Run(run, Some(launched)) };
    [run].into_iter().chain(texts).collect()
}
