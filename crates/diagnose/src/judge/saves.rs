//! Notes on checkpoints: existing checkpoints, and checkpoints that the dry run wrote.

use std::collections::BTreeSet;

use report::words::relative;
use trace::Run;

/// Returns one note for each kind of checkpoint; paths are shown relative to `folder`.
pub(crate) fn list_notes(run: &Run, folder: &str) -> impl Iterator<Item = String> {
    let spared = run.processes.iter().flat_map(|process| &process.saves_spared);
    let spared = spared.map(|save| relative(&save.file, folder)).collect();
    let made = list_made(run).map(|file| relative(file, folder)).collect();
    note_spared(&spared).into_iter().chain(note_left(&made))
}

/// Lists the paths of the checkpoints that a dry run wrote and left on the disk.
pub(crate) fn list_made(run: &Run) -> impl Iterator<Item = &str> {
    run.processes.iter().flat_map(|process| &process.saves_made).map(|save| save.file.as_str())
}

fn note_spared(files: &BTreeSet<&str>) -> Option<String> {
    let named = named(files)?;
    let (was, them) = if files.len() == 1 { ("was", "it") } else { ("were", "them") };
    Some(format!("{named} {was} there already: the dry run did not write over {them}, rename or remove {them}"))
}

/// Returns the note on checkpoints that dry runs left on the disk; ranks may have written the same file.
pub(crate) fn note_left(files: &BTreeSet<&str>) -> Option<String> {
    let named = named(files)?;
    let (was, hold, them) = if files.len() == 1 { ("was", "it holds", "it") } else { ("were", "they hold", "them") };
    Some(format!(
        "{named} {was} written by the dry run: {hold} zeros where a GPU would have computed something, so that training \
         should not resume from {them}"
    ))
}

/// Names the first of the files and the number of further files.
fn named(files: &BTreeSet<&str>) -> Option<String> {
    let first = files.first()?;
    Some(match files.len() - 1 {
        0 => (*first).to_owned(),
        1 => format!("{first} and 1 more file"),
        more => format!("{first} and {more} more files"),
    })
}
