//! `--emit` and `--apply`: the first plan as a patch, as a command line, or made in the user's files.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use patch::{FileEdit, PlanEdits};
use report::fit::FitReport;

use crate::args::Fit;
use crate::effects::publish;
use crate::effects::whole_file::{self, SOURCE};
use crate::error::Error;
use crate::output;

/// The ending of the copy of a file.
const COPY: &str = "orig";
/// The most copies of a file.
const MOST_COPIES: u32 = 100;

/// Prints the first plan as a patch. A plan of the command line alone is said, and nothing is printed.
pub(super) fn emit_diff(report: &FitReport, arguments: &Fit) -> Result<(), Error> {
    let edits = edits_of(report, arguments)?;
    say_command(report);
    output::verbatim(&edits.to_patch())
}

/// Prints the command line of the first plan; the unchanged one where only files change.
pub(super) fn emit_command(report: &FitReport, unchanged: &[String]) -> Result<(), Error> {
    let changed = report.chosen_plan().map(|plan| &plan.command).filter(|command| !command.is_empty());
    let words = changed.map_or(unchanged, Vec::as_slice);
    output::verbatim(&format!("{}\n", report::words::quote_all(words)))
}

/// Makes the first plan's changes in the user's files, after a question.
pub(super) fn apply(report: &FitReport, arguments: &Fit) -> Result<(), Error> {
    let edits = edits_of(report, arguments)?;
    if !edits.by_hand.is_empty() {
        output::verbatim(&edits.to_patch())?;
        return Err(Error::NotApplied("a part of the plan is to be made by hand (the lines with `#`)".to_owned()));
    }
    if edits.files.is_empty() {
        say_command(report);
        return Ok(());
    }
    output::verbatim(&edits.to_patch())?;
    let count = report::words::count(u64::try_from(edits.files.len()).unwrap_or(u64::MAX), "file", "files");
    if !arguments.yes && !is_confirmed(&format!("Change {count}?"))? {
        return Err(Error::NotApplied("the answer was no".to_owned()));
    }
    edits.files.iter().try_for_each(check_unchanged)?;
    for file in &edits.files {
        let copy = copy_of(file)?;
        publish::replace(&file.path, &file.after)?;
        output::say(&format!("changed {} (as it was: {})", file.path.display(), copy.display()));
    }
    say_command(report);
    Ok(())
}

fn edits_of(report: &FitReport, arguments: &Fit) -> Result<PlanEdits, Error> {
    let canonical = |file: &Path| file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let read = |file: &Path| whole_file::read_text(file, SOURCE);
    patch::edit_plan(report, arguments.script(), &canonical, &read)
}

/// Says which command line belongs to the plan.
fn say_command(report: &FitReport) {
    if let Some(plan) = report.chosen_plan().filter(|plan| !plan.command.is_empty()) {
        output::say(&format!("run it as: {}", report::words::quote_all(&plan.command)));
    }
}

/// Asks on the terminal; without one there is nobody to answer.
fn is_confirmed(question: &str) -> Result<bool, Error> {
    if !io::stdin().is_terminal() {
        return Err(Error::NotApplied("there is no terminal to ask on".to_owned()));
    }
    let mut error = io::stderr().lock();
    write!(error, "{question} [y/N] ").and_then(|()| error.flush()).map_err(Error::from)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(Error::from)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Refuses a file that is no longer as the plan found it.
fn check_unchanged(file: &FileEdit) -> Result<(), Error> {
    let now = whole_file::read_text(&file.path, SOURCE)?;
    if now == file.before {
        return Ok(());
    }
    Err(Error::NotApplied(format!("{} was changed meanwhile", file.path.display())))
}

/// Copies a file beside itself, under a name that is free.
fn copy_of(file: &FileEdit) -> Result<PathBuf, Error> {
    let name = |number: u32| {
        let ending = if number == 0 { COPY.to_owned() } else { format!("{COPY}.{number}") };
        PathBuf::from(format!("{}.{ending}", file.path.display()))
    };
    let copy = (0..MOST_COPIES).map(name).find(|copy| !copy.exists()).unwrap_or_else(|| name(MOST_COPIES));
    fs::copy(&file.path, &copy).map_err(|source| Error::Unwritable { path: copy.clone(), source })?;
    Ok(copy)
}
