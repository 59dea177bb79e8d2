//! What became of checkpoints: those that were there before, and those that the dry run made.

use std::collections::BTreeSet;

use trace::Record;

use crate::case::Case;
use crate::measure::records::records;

/// A sentence on each kind.
pub(super) fn notes(case: &Case) -> impl Iterator<Item = String> {
    let files = |of: fn(&Record) -> Option<&String>| -> BTreeSet<&str> {
        records(&case.limited).filter_map(of).map(|file| case.show(file)).collect()
    };
    spared(&files(kept)).into_iter().chain(left(&files(made)))
}

/// A checkpoint that a dry run wrote and left behind.
pub(crate) fn made(record: &Record) -> Option<&String> {
    if let Record::SaveMade { file } = record { Some(file) } else { None }
}

fn kept(record: &Record) -> Option<&String> {
    if let Record::SaveSpared { file } = record { Some(file) } else { None }
}

fn spared(files: &BTreeSet<&str>) -> Option<String> {
    let named = named(files)?;
    let (was, them) = if files.len() == 1 { ("was", "it") } else { ("were", "them") };
    Some(format!("{named} {was} there already: the dry run did not write over {them}, rename or remove {them}"))
}

/// What is to be known of checkpoints that dry runs wrote and left behind; ranks may have written the same.
pub(crate) fn left(files: &BTreeSet<&str>) -> Option<String> {
    let named = named(files)?;
    let (was, hold, them) = if files.len() == 1 { ("was", "it holds", "it") } else { ("were", "they hold", "them") };
    Some(format!(
        "{named} {was} written by the dry run: {hold} zeros where a GPU would have computed something, so that training \
         should not resume from {them}"
    ))
}

/// The first of them, and how many more.
fn named(files: &BTreeSet<&str>) -> Option<String> {
    let first = files.first()?;
    Some(match files.len() - 1 {
        0 => (*first).to_owned(),
        1 => format!("{first} and 1 more file"),
        more => format!("{first} and {more} more files"),
    })
}
