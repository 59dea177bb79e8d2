//! `--max-batch`, `--max-length`, `--max-resolution`: the largest size with which the program fits.

use options::Purpose;
use remedies::BATCH_SIZE;
use report::Change;
use report::fit::{BatchTried, FitGpu, MaxBatch, NextGpu, SizeKind};
use trace::Bytes;

use super::bench::{Bench, Runner};
use super::own::length_unit;
use super::{BatchRun, BatchSearch, Search, Variant};

/// A size to look for, and the way to set it.
struct Dial {
    name: String,
    /// The present size.
    now: u64,
    /// Sizes are multiples of this.
    unit: u64,
    /// Sets the size.
    change: Box<dyn Fn(u64) -> Change>,
}

/// Finds the largest size that fits; the inner error is the reason for no such size in the program. `larger`: the next GPU, and the bytes that
/// a program may use of it.
pub fn find_largest<R: Runner>(
    bench: &mut Bench<R>,
    search: &Search,
    kind: SizeKind,
    larger: Option<&(FitGpu, Bytes)>,
) -> Result<Result<MaxBatch, String>, R::Error> {
    let target = bench.target;
    let dial = search.unchanged().zip(find_dial(search, kind));
    let Some((unchanged, dial)) = dial else { return Ok(Err(explain_missing(search, kind))) };
    let sizes = BatchSearch::new(target, dial.now / dial.unit);
    let mut sizes = if kind == SizeKind::Batch { sizes } else { sizes.of_curve() };
    sizes.learn(BatchRun { size: dial.now / dial.unit, limited: false }, unchanged);
    loop {
        let runs = sizes.next();
        let variants: Vec<Variant> = runs.iter().map(|run| variant(&dial, *run, target)).collect();
        let mut trials = Vec::new();
        let goes_on = bench.runner.run(&variants, &mut |index, trial| trials.push((index, trial)))?;
        for (index, trial) in trials {
            sizes.learn(runs[index], &trial);
        }
        if runs.is_empty() || !goes_on {
            let next_gpu = larger.and_then(|(gpu, target)| {
                let size = sizes.forecast_largest(*target)? * dial.unit;
                Some(NextGpu { gpu: gpu.clone(), size })
            });
            return Ok(Ok(MaxBatch {
                what: kind,
                name: dial.name.clone(),
                next_gpu,
                ..in_units(sizes.answer(), dial.unit)
            }));
        }
    }
}

/// The answer of a search in units, as sizes.
fn in_units(answer: MaxBatch, unit: u64) -> MaxBatch {
    let tried = answer.tried.iter().map(|tried| BatchTried { size: tried.size * unit, ..*tried });
    let bytes_per_sample = answer.bytes_per_sample.map(|bytes| Bytes(bytes.0 / unit));
    MaxBatch { size: answer.size * unit, tried: tried.collect(), bytes_per_sample, ..answer }
}

/// The program's own option for the size, else the place in the source.
fn find_dial(search: &Search, kind: SizeKind) -> Option<Dial> {
    let base = search.unchanged()?;
    let (purpose, remedy, setting) = match kind {
        SizeKind::Batch => (Purpose::Batch, BATCH_SIZE, remedies::setting::SIZE),
        SizeKind::Length => (Purpose::Length, "sequence-length", "length"),
        SizeKind::Resolution => (Purpose::Resolution, "resolution", remedies::setting::SIZE),
    };
    let found = match kind {
        SizeKind::Batch => base.batch.clone(),
        _ => base.sizes.iter().find(|(name, _)| name == remedy).map(|(_, size)| size.clone()),
    };
    let unit = |now: u64| if kind == SizeKind::Batch { 1 } else { length_unit(now) };
    let of_source = |size: report::fit::Batch| Dial {
        name: size.name.clone(),
        now: size.size,
        unit: unit(size.size),
        change: Box::new(move |wanted| {
            Change::new(remedy).with(setting, wanted).with(remedies::setting::ARG, size.name.clone())
        }),
    };
    let of_option = || {
        let option = search.own_sizes(purpose).into_iter().next()?;
        let (key, now) = (option.key.clone(), option.value.as_u64()?);
        let name = key.clone();
        let change = Box::new(move |wanted| Change::new(remedies::OWN_OPTIONS).with(&key, wanted));
        Some(Dial { name, now, unit: unit(now), change })
    };
    found.map(of_source).or_else(of_option)
}

/// Returns the agent's reason for finding no such size.
fn explain_missing(search: &Search, kind: SizeKind) -> String {
    let why = search.unchanged().filter(|_| kind == SizeKind::Batch).and_then(|trial| trial.why_no_batch());
    let otherwise = match kind {
        SizeKind::Batch => "no batch size was found in the program",
        SizeKind::Length => "no length of sequences was found in the program",
        SizeKind::Resolution => "no size of images was found in the program",
    };
    why.unwrap_or(otherwise).to_owned()
}

fn variant(dial: &Dial, run: BatchRun, target: Bytes) -> Variant {
    let changes = vec![(dial.change)(run.size * dial.unit)];
    Variant { changes, limit: run.limited.then_some(target), recorded: !run.limited, counted: false }
}
