//! Notes on the memory that is left after the program has deleted something and emptied PyTorch's cache.

use std::collections::BTreeMap;

use report::words::relative;
use trace::run::LeftoverRecord;
use trace::{Bytes, Run};

/// Returns a note for each line that called `empty_cache` and left memory that variables keep.
pub(super) fn list_leftovers(run: &Run, folder: &str) -> Vec<String> {
    let mut calls: BTreeMap<(&str, u32), Vec<&LeftoverRecord>> = BTreeMap::new();
    for record in run.processes.iter().flat_map(|process| &process.leftovers) {
        calls.entry((&record.file, record.line)).or_default().push(record);
    }
    calls.into_iter().filter_map(|((file, line), records)| words_of(&records, file, line, folder)).collect()
}

fn words_of(records: &[&LeftoverRecord], file: &str, line: u32, folder: &str) -> Option<String> {
    let allocated = Bytes(records.first()?.allocated_bytes);
    let keepers: Vec<String> = records
        .iter()
        .map(|record| format!("`{}` ({}) keeps {}", record.name, record.what, Bytes(record.kept_bytes)))
        .collect();
    let place = relative(file, folder);
    Some(format!("{allocated} are allocated after empty_cache() ({place}:{line}): {}", keepers.join(", ")))
}
