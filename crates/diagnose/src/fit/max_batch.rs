//! `--max-batch`: the largest batch with which the unchanged program fits.

use report::Change;
use report::fit::{Batch, MaxBatch};
use trace::Bytes;

use super::bench::{Bench, Runner};
use super::{BatchRun, BatchSearch, Search, Variant};

/// Finds the largest batch that fits; the inner error is the reason for no batch size in the program.
pub fn find_largest_batch<R: Runner>(
    bench: &mut Bench<R>,
    search: &Search,
) -> Result<Result<MaxBatch, String>, R::Error> {
    let target = bench.target;
    let unchanged = search.unchanged().and_then(|trial| Some((trial, trial.batch.clone()?)));
    let Some((unchanged, batch)) = unchanged else { return Ok(Err(explain_missing(search))) };
    let mut sizes = BatchSearch::new(target, batch.size);
    sizes.learn(BatchRun { size: batch.size, limited: false }, unchanged);
    loop {
        let runs = sizes.next();
        let variants: Vec<Variant> = runs.iter().map(|run| variant(&batch, *run, target)).collect();
        let mut trials = Vec::new();
        let goes_on = bench.runner.run(&variants, &mut |index, trial| trials.push((index, trial)))?;
        for (index, trial) in trials {
            sizes.learn(runs[index], &trial);
        }
        if runs.is_empty() || !goes_on {
            return Ok(Ok(sizes.answer()));
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
