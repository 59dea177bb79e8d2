//! Remarks on weights, tokenizers and data that the program loads and that are not on this machine.

use std::collections::BTreeMap;

use report::words::count;
use trace::run::StandInRecord;
use trace::{Bytes, Run};

/// The most things of a kind that are named; the rest is counted.
const NAMED: usize = 3;

/// Returns a remark on each kind of thing that a stand-in replaced; the ranks of a job load the same things.
pub(crate) fn list_missing(run: &Run) -> Vec<String> {
    let mut kinds: BTreeMap<(&str, &str), Vec<&StandInRecord>> = BTreeMap::new();
    for record in run.processes.iter().flat_map(|process| &process.stand_ins) {
        let records = kinds.entry((&record.what, &record.source)).or_default();
        if !records.iter().any(|known| known.name == record.name) {
            records.push(record);
        }
    }
    kinds.into_iter().map(|((what, source), records)| describe(what, source, &records)).collect()
}

fn describe(what: &str, source: &str, records: &[&StandInRecord]) -> String {
    let names: Vec<&str> = records.iter().take(NAMED).map(|record| record.name.as_str()).collect();
    let more = records.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names = format!("{}{rest}", names.join(", "));
    let sum = |part: fn(&StandInRecord) -> u64| records.iter().map(|record| part(record)).sum::<u64>();
    let tensors = sum(|record| record.tensors);
    match what {
        "weights" => {
            let origin = origin_of(source, Bytes(sum(|record| record.fetched_bytes)));
            let tensors = count(tensors, "tensor", "tensors");
            format!(
                "the weights of {names} ({tensors}, {}) are not on this machine: {origin}",
                Bytes(sum(|record| record.bytes))
            )
        }
        "tokenizer" => {
            format!(
                "the tokenizer or processor of {names} is not on this machine: a stand-in has its sizes, and makes no text"
            )
        }
        _ => format!("the data of {names} is made up, of the right shapes"),
    }
}

fn origin_of(source: &str, fetched: Bytes) -> String {
    match source {
        "headers" => format!("their headers were fetched ({fetched}), and the values count as zeros"),
        "configuration" => "their shapes are those of the configuration, and the values count as zeros".to_owned(),
        _ => "their shapes are those of the model, and the values count as zeros".to_owned(),
    }
}
