//! The changes that a run applied to a program, made in its source: Python text in, Python text and a unified diff out.
//!
//! The agent recorded each change to the running program with the user's line. A patch writes the same change as a
//! person would write it. A site that cannot be edited safely becomes a [`Snippet`] with the line and the reason
//! instead.
//!
//! # Design constraints
//! - Pure: no input, no output, no clock. The same text and changes make the same diff.
//! - Read through a parser, never by pattern (`source.rs` alone knows it); written as edits of the text, so that whatever is not
//!   changed keeps every byte: comments, tabs, line endings, a byte order mark.
//! - Each change is verified by itself before the next (`verify.rs`): the file parses, nothing but the edited places differs. A change
//!   that fails is left to the user as a snippet.
//! - One file per remedy, in `remedies/`.
//!
//! # Note [One at a time]
//! Changes are made in order, each on the text after the previous change, since several may meet in a statement. Their
//! lines are lines of the original; the edits tell the current position of an original line, and the diff follows from
//! the same positions.

mod diff;
mod edit;
mod layout;
mod lines;
mod plan;
mod remedies;
mod rewrite;
mod site;
mod source;
mod syntax;
mod training;
mod verify;
mod why;

use report::Change;
use trace::run::RemedyAction;

use crate::edit::{Edit, Edited, apply};
use crate::lines::Lines;
pub use crate::plan::{Canonical, FileEdit, PlanEdits, edit_plan};
pub use crate::rewrite::Rewrite;
use crate::site::ChangeSite;
use crate::source::Source;
pub use crate::source::Unreadable;
use crate::why::Why;

/// A remedy that the agent applied, with the line: a `remedy` record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedEdit {
    /// The remedy with its settings.
    pub change: Change,
    /// The user's line, from 1; 0 where none is known.
    pub line: u32,
    /// The recorded edit.
    pub action: RemedyAction,
}

/// A change to make by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The remedy's name.
    pub remedy: String,
    /// The user's line, from 1; 0 where none is known.
    pub line: u32,
    /// Python code to insert.
    pub code: String,
    /// The reason why the file was not edited.
    pub why: String,
}

/// A file with the changes made in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The whole file.
    pub source: String,
    /// The changes, as a unified diff for `patch -p1` and `git apply`; empty if nothing changed.
    pub diff: String,
    /// The changes in the new file, including changes that the old file already had.
    pub placed: Vec<PlacedEdit>,
    /// The changes left to the user.
    pub snippets: Vec<Snippet>,
}

/// Makes `changes` in `source`, a file that the diff calls `file`. All lines of the changes are lines of `source`.
pub fn patch(source: &str, file: &str, changes: &[PlacedEdit]) -> Outcome {
    let mut work = Work { text: source.to_owned(), moves: Vec::new() };
    let (mut placed, mut snippets) = (Vec::new(), Vec::new());
    for group in groups(changes) {
        match work.make_all(&Lines::new(source), &group) {
            Ok(()) => placed.extend(group.into_iter().cloned()),
            Err(failed) => snippets.extend(failed),
        }
    }
    let diff = diff::unified(file, source, &work.text, |offset| work.new_offset(offset));
    Outcome { diff, source: work.text, placed, snippets }
}

/// The current text, and the edits made so far.
#[derive(Clone)]
struct Work {
    text: String,
    moves: Vec<Edited>,
}

impl Work {
    /// The current offset of the original's byte at `offset`.
    fn new_offset(&self, offset: usize) -> usize {
        self.moves.iter().fold(offset, |offset, edited| edited.offset(offset))
    }

    /// Makes all changes of a group or none; returns snippets for the changes that fail.
    fn make_all(&mut self, original: &Lines, group: &[&PlacedEdit]) -> Result<(), Vec<Snippet>> {
        let mut trial = self.clone();
        let failed =
            group.iter().filter_map(|placed| trial.make(original, placed).err().map(|why| snippet(placed, why)));
        let failed: Vec<Snippet> = failed.collect();
        if !failed.is_empty() {
            return Err(failed);
        }
        *self = trial;
        Ok(())
    }

    fn make(&mut self, original: &Lines, placed: &PlacedEdit) -> Result<(), String> {
        if placed.line > original.count() {
            return Err(format!("the file ends at line {}", original.count()));
        }
        let source = Source::parse(&self.text).map_err(|unreadable| unreadable.to_string())?;
        let line = match placed.line {
            0 => 0,
            line => source.lines.line_at(self.new_offset(original.span(line).start)),
        };
        let site = ChangeSite { source: &source, line, change: &placed.change, action: &placed.action };
        let edits = remedies::edits(&site).map_err(|why| self.describe_reason(original, placed.line, &why))?;
        if edits.is_empty() {
            return Ok(());
        }
        let edited = apply_verified(&source, edits)?;
        self.take(edited);
        Ok(())
    }

    fn take(&mut self, edited: Edited) {
        self.text.clone_from(&edited.text);
        self.moves.push(edited);
    }

    /// The reason with the line as the user counts it.
    fn describe_reason(&self, original: &Lines, line: u32, why: &Why) -> String {
        let lines = Lines::new(&self.text);
        let back = |now: u32| {
            (1..=original.count()).find(|&line| lines.line_at(self.new_offset(original.span(line).start)) >= now)
        };
        why.at(|now| if now == 0 { 0 } else { back(now).unwrap_or(line) }).to_string()
    }
}

/// The text with the edits, verified.
fn apply_verified(source: &Source<'_>, edits: Vec<Edit>) -> Result<Edited, String> {
    let edited = apply(source.text, edits).ok_or("two parts of the change overlap")?;
    verify::verify(source, &edited).map_err(|broken| broken.to_string())?;
    Ok(edited)
}

/// The changes in order of application, each once; changes of one group stand and fall together.
fn groups(changes: &[PlacedEdit]) -> Vec<Vec<&PlacedEdit>> {
    let mut ordered: Vec<&PlacedEdit> = Vec::new();
    for change in changes {
        if !ordered.contains(&change) {
            ordered.push(change);
        }
    }
    ordered.sort_by_key(|placed| remedies::rank(&placed.change.remedy));
    let is_same =
        |one: &&PlacedEdit, other: &&PlacedEdit| one.change == other.change && remedies::is_whole(&one.change.remedy);
    ordered.chunk_by(is_same).map(<[_]>::to_vec).collect()
}

/// A change of which no file of the program's is known, as something to do by hand.
pub fn by_hand(placed: &PlacedEdit, why: &str) -> Snippet {
    snippet(placed, why.to_owned())
}

fn snippet(placed: &PlacedEdit, why: String) -> Snippet {
    let code = remedies::snippet(placed);
    Snippet { remedy: placed.change.remedy.clone(), line: placed.line, code, why }
}
