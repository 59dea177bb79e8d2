//! What became of checkpoints: those that were there before, and those that the dry run made.

use std::collections::BTreeSet;

use trace::Record;

use crate::case::Case;
use crate::measure::records::records;

/// A sentence on each kind.
pub(super) fn notes(case: &Case) -> impl Iterator<Item = String> {
    let spared = files(case, |record| if let Record::SaveSpared { file } = record { Some(file) } else { None });
    let made = files(case, |record| if let Record::SaveMade { file } = record { Some(file) } else { None });
    let spared = named(&spared).map(|(files, one)| {
        let (was, them) = if one { ("was", "it") } else { ("were", "them") };
        format!("{files} {was} there already: the dry run did not write over {them}, rename or remove {them}")
    });
    let made = named(&made).map(|(files, one)| {
        let (was, hold, them) = if one { ("was", "it holds", "it") } else { ("were", "they hold", "them") };
        format!(
            "{files} {was} written by the dry run: {hold} zeros where a GPU would have computed something, so that \
             training should not resume from {them}"
        )
    });
    spared.into_iter().chain(made)
}

/// The files of one kind of record; ranks may have meant the same.
fn files(case: &Case, file: impl Fn(&Record) -> Option<&String>) -> BTreeSet<&str> {
    records(&case.limited).filter_map(file).map(|file| case.show(file)).collect()
}

/// The first of them and how many more, and whether it is the only one.
fn named(files: &BTreeSet<&str>) -> Option<(String, bool)> {
    let first = files.first()?;
    Some(match files.len() - 1 {
        0 => ((*first).to_owned(), true),
        1 => (format!("{first} and 1 more file"), false),
        more => (format!("{first} and {more} more files"), false),
    })
}
