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

/// Returns one line on the weights and tokenizers that stand-ins replaced: `weights (3.00 GiB) and tokenizer of model are stand-ins`.
pub(crate) fn name_missing(run: &Run) -> Option<String> {
    let of_kind = |kind: &str| {
        let records = run.processes.iter().flat_map(|process| &process.stand_ins).filter(|record| record.what == kind);
        let known: BTreeMap<&str, u64> = records.map(|record| (short(&record.name), record.bytes)).collect();
        known
    };
    let (weights, tokenizers) = (of_kind("weights"), of_kind("tokenizer"));
    let bytes = Bytes(weights.values().sum());
    let name = |known: &BTreeMap<&str, u64>| {
        let more = known.len().saturating_sub(1);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        known.keys().next().map(|first| format!("{first}{rest}"))
    };
    match (name(&weights), name(&tokenizers)) {
        (Some(of), Some(same)) if of == same => Some(format!("weights ({bytes}) and tokenizer of {of} are stand-ins")),
        (Some(of), Some(other)) => Some(format!("weights of {of} ({bytes}), tokenizer of {other}: stand-ins")),
        (Some(of), None) => Some(format!("weights of {of} ({bytes}) are stand-ins")),
        (None, Some(of)) => Some(format!("the tokenizer of {of} is a stand-in")),
        (None, None) => None,
    }
}

/// The name of a model without its owner or folder.
fn short(name: &str) -> &str {
    name.trim_end_matches('/').rsplit('/').next().unwrap_or(name)
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
