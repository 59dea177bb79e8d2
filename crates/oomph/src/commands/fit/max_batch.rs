//! `--max-batch`: the largest batch with which the unchanged program fits.

use diagnose::{BatchRun, BatchSearch, Search, Variant};
use report::Change;
use report::fit::{Batch, MaxBatch};
use trace::Bytes;

use super::bench::Bench;
use crate::error::Error;

/// Finds the largest batch that fits `target`.
pub(super) fn find_largest_batch(bench: &mut Bench, search: &Search, target: Bytes) -> Result<MaxBatch, Error> {
    let unchanged = search.unchanged().and_then(|trial| Some((trial, trial.batch.clone()?)));
    let (unchanged, batch) = unchanged.ok_or_else(|| Error::NoBatch(explain_missing(search)))?;
    let mut sizes = BatchSearch::new(target, batch.size);
    sizes.learn(BatchRun { size: batch.size, limited: false }, unchanged);
    loop {
        let runs = sizes.next();
        let variants: Vec<Variant> = runs.iter().map(|run| variant(&batch, *run, target)).collect();
        let mut trials = Vec::new();
        let goes_on = bench.run(&variants, &mut |index, trial| trials.push((index, trial)))?;
        for (index, trial) in trials {
            sizes.learn(runs[index], &trial);
        }
        if runs.is_empty() || !goes_on {
            return Ok(sizes.answer());
        }
    }
}

/// Returns the agent's reason for finding no batch size.
fn explain_missing(search: &Search) -> String {
    let why = search.unchanged().and_then(|trial| trial.why_no_batch());
    why.unwrap_or("no batch size was found in the program").to_owned()
}

fn variant(batch: &Batch, run: BatchRun, target: Bytes) -> Variant {
    let change = Change::new(remedies::BATCH_SIZE)
        .with(remedies::setting::SIZE, run.size)
        .with(remedies::setting::ARG, batch.name.clone());
    Variant { changes: vec![change], limit: run.limited.then_some(target), recorded: !run.limited, counted: false }
}
