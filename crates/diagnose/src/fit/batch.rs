//! The largest batch that fits, by few dry runs.
//!
//! # Note [Largest batch]
//! The fitting batches have no simple limit. A request may come from a rest of another segment at one size and need a
//! segment of its own at the next, so that a batch can fit though one sample less does not (seen with a plain MLP: 1 to
//! 23, 25, 27 and 29 fit, 24, 26, 28 and 30 do not). Bisection finds one of the edges, not the last. And larger batches
//! may run other kernels: PyTorch sums over many rows in two passes, a library takes another workspace.
//!
//! 1. Two batches are run without a limit, recorded. Every request is a line through the two (`Program::scaled`); the peak is not: what
//!    is largest in a small batch need not be in a large one.
//! 2. The program is replayed at other sizes on a device of the target's size. The largest successful size is run next,
//!    again without a limit: a run shows its need, an exact replay of the run shows if the need fits, and the run is a
//!    base for the sizes around it.
//! 3. Between batches with different kernels the two lines may differ. There a run of one of the smaller sizes decides.
//! 4. If no two batches agree, a line through their peaks is the first guess, then the middle of the open interval.
//! 5. What runs are left go to the sizes just above the largest that fits, within the target: no line foresees that a library asks for
//!    less.
//! 6. The answer is always a size that was run within the target.

use std::collections::BTreeMap;

use report::Usage;
use report::fit::{BatchTried, MaxBatch};
use trace::Bytes;

use super::samples::{Forecast, Sample, Samples};
use super::trial::{Ending, Trial};

/// More samples than these no batch has.
const MOST_SAMPLES: u64 = 1 << 24;
/// The number of replayed sizes above an edge, besides an eighth of the edge.
const SIZES_ABOVE: u64 = 16;
/// The number of sizes to run above the largest fitting one, as long as there are runs left.
const SIZES_LOOKED_AT: u64 = 4;
/// The number of runs, unless the last prove wrong.
const MOST_RUNS: u32 = 8;
/// The same for sizes of which memory is no line.
const MOST_RUNS_OF_CURVE: u32 = 16;

/// The batch sizes that are known to fit or not to fit.
#[derive(Clone, Debug)]
pub struct BatchSearch {
    target: Bytes,
    /// The batch that the program has.
    first: u64,
    samples: Samples,
    known: BTreeMap<u64, Standing>,
    /// The peak of the largest that was seen to fit.
    peak: Option<Usage>,
    runs: u32,
    /// The number of runs, unless the last prove wrong.
    most_runs: u32,
}

/// The knowledge of a batch size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// A run within the target.
    Seen,
    /// A replay of its own recording gets through.
    Replayed,
    /// A replay of its own recording does not: a library may still ask for less where there is less.
    Refused,
    DoesNot,
    /// The program fails with it, for another reason than memory.
    Fails,
}

/// A batch to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchRun {
    /// The number of samples.
    pub size: u64,
    /// True on a device of the target's size; false without a limit, recorded.
    pub limited: bool,
}

impl BatchSearch {
    /// For a program with batches of `first` samples.
    pub fn new(target: Bytes, first: u64) -> BatchSearch {
        let (samples, known) = (Samples::default(), BTreeMap::new());
        BatchSearch { target, first: first.max(1), samples, known, peak: None, runs: 0, most_runs: MOST_RUNS }
    }

    /// For sizes of which memory is no line: a length, a side. More runs then take the place of forecasts.
    #[must_use]
    pub fn of_curve(self) -> BatchSearch {
        BatchSearch { most_runs: MOST_RUNS_OF_CURVE, ..self }
    }

    /// Records the result of a batch.
    pub fn learn(&mut self, run: BatchRun, trial: &Trial) {
        self.runs += 1;
        let (usage, least, recording) = (trial.usage, trial.least(), trial.recording.clone());
        let sample = Sample { size: run.size, usage, least, recording };
        let is_within = trial.usage.device_bytes <= self.target;
        let standing = match sample.fits(self.target) {
            _ if matches!(trial.ending, Ending::Failed { .. }) => Standing::Fails,
            _ if !trial.is_done() => Standing::DoesNot,
            _ if is_within => Standing::Seen,
            _ if run.limited || trial.least() > self.target => Standing::DoesNot,
            Some(false) if sample.has_optional() => Standing::Refused,
            Some(false) => Standing::DoesNot,
            // Only a run within the target can tell.
            Some(true) | None => Standing::Replayed,
        };
        if standing == Standing::Seen && self.largest(Standing::Seen).is_none_or(|size| size <= run.size) {
            self.peak = Some(trial.usage);
        }
        self.known.insert(run.size, standing);
        if !run.limited && trial.is_done() {
            self.samples.add(sample);
        }
    }

    /// The batches to run next, at most two; empty when the answer is known.
    pub fn next(&self) -> Vec<BatchRun> {
        if self.runs < 2 {
            let open = [self.first, self.first * 2].into_iter().filter(|size| !self.known.contains_key(size));
            return unlimited(&open.collect::<Vec<u64>>());
        }
        // A data set may be too small for twice the batch.
        if self.samples.as_slice().len() == 1 && self.first > 1 && !self.known.contains_key(&(self.first / 2)) {
            return unlimited(&[self.first / 2]);
        }
        if self.samples.as_slice().len() < 2 || self.is_flat() {
            return Vec::new();
        }
        let unseen = self.low().filter(|low| self.known.get(low) == Some(&Standing::Replayed));
        let left = self.most_runs.saturating_sub(self.runs + u32::from(unseen.is_some()));
        if left == 0
            && unseen.is_none()
            && self.runs < self.most_runs * 2
            && let Some(size) = self.bisect()
        {
            return vec![BatchRun { size, limited: true }];
        }
        let looks = if left > 0 { self.looks() } else { Vec::new() };
        match (looks.as_slice(), unseen) {
            ([], None) => Vec::new(),
            ([], Some(size)) => vec![BatchRun { size, limited: true }],
            (looks, _) => looks[..looks.len().min(left as usize)].to_vec(),
        }
    }

    /// True if the peak does not depend on the batch. Equal peaks of two small batches are not enough: their
    /// activations may be smaller than the optimizer's memory. Where neither fits, no other batch would.
    pub fn is_flat(&self) -> bool {
        let peaks = |sample: &Sample| sample.usage.allocated_bytes;
        let is_same = matches!(self.samples.as_slice(), [one, other, ..] if peaks(one) == peaks(other));
        let fits_none = self.samples.as_slice().iter().all(|sample| sample.least > self.target);
        is_same && (fits_none || matches!(self.forecast(MOST_SAMPLES / 2), Forecast::Fits | Forecast::Unknown))
    }

    /// The middle between the largest known to fit and the smallest known not to, where forecasts failed; `None` if both are neighbours.
    fn bisect(&self) -> Option<u64> {
        let low = self.low().unwrap_or(0);
        let mut above = self.known.range(low + 1..);
        let (high, _) = above.find(|(_, standing)| matches!(standing, Standing::DoesNot | Standing::Refused))?;
        (*high > low + 1).then(|| low.midpoint(*high))
    }

    /// The sizes to run, above the largest known to fit.
    fn looks(&self) -> Vec<BatchRun> {
        let low = self.low().unwrap_or(0);
        let above = |is_open: fn(Option<&Standing>) -> bool| {
            let sizes = (low + 1..=low + SIZES_LOOKED_AT).filter(move |size| is_open(self.known.get(size)));
            sizes.take(2).map(|size| BatchRun { size, limited: true }).collect::<Vec<BatchRun>>()
        };
        let refused = above(|standing| standing == Some(&Standing::Refused));
        if !refused.is_empty() {
            return refused;
        }
        let edge = self.edge(low);
        let last = (edge + edge / 8 + SIZES_ABOVE).min(MOST_SAMPLES);
        let open = (low + 1..=last).filter(|size| !self.known.contains_key(size));
        let foreseen: Vec<(u64, Forecast)> = open.map(|size| (size, self.forecast(size))).collect();
        let of = |wanted| foreseen.iter().filter(move |(_, forecast)| *forecast == wanted).map(|(size, _)| *size);
        if let Some(size) = of(Forecast::Fits).max() {
            return unlimited(&[size]);
        }
        let unsure: Vec<u64> = of(Forecast::Unsure).collect();
        if let Some(size) = unsure.get(unsure.len().saturating_sub(1) / 4) {
            return unlimited(&[*size]);
        }
        if of(Forecast::Unknown).next().is_some()
            && let Some(size) = self.between(low)
        {
            return unlimited(&[size]);
        }
        above(|standing| standing.is_none())
    }

    fn forecast(&self, size: u64) -> Forecast {
        self.samples.forecast(size, self.target)
    }

    /// The largest size that may fit, if smaller sizes do.
    fn edge(&self, from: u64) -> u64 {
        let may_fit = |size| matches!(self.forecast(size), Forecast::Fits | Forecast::Unsure);
        let (mut low, mut high) = (from, MOST_SAMPLES);
        while high - low > 1 {
            let middle = low.midpoint(high);
            *(if may_fit(middle) { &mut low } else { &mut high }) = middle;
        }
        low
    }

    /// Without replays: where the line through the peaks meets the target, or the middle of what is open.
    fn between(&self, low: u64) -> Option<u64> {
        let high =
            self.known.range(low + 1..).find(|(_, standing)| matches!(standing, Standing::DoesNot | Standing::Refused));
        let high = high.map_or(MOST_SAMPLES, |(size, _)| *size);
        if high <= low + 1 {
            return None;
        }
        let guess = if self.runs.is_multiple_of(2) { self.by_peaks(low) } else { None };
        let middle = if high == MOST_SAMPLES { low * 2 + 1 } else { low.midpoint(high) };
        Some(guess.unwrap_or(middle).clamp(low + 1, high - 1))
    }

    /// Forecasts the largest size on a device of `target` bytes; `None` without a forecast.
    pub fn forecast_largest(&self, target: Bytes) -> Option<u64> {
        let mut low = self.largest(Standing::Seen)?;
        let may_fit = |size| self.samples.forecast(size, target) == Forecast::Fits;
        let mut high = low.saturating_mul(2).max(2);
        while high < MOST_SAMPLES && may_fit(high) {
            (low, high) = (high, high * 2);
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            *(if may_fit(middle) { &mut low } else { &mut high }) = middle;
        }
        (may_fit(low) && low < MOST_SAMPLES / 2).then_some(low)
    }

    /// The size at which the live bytes reach the target, by the two batches nearest to `low`.
    fn by_peaks(&self, low: u64) -> Option<u64> {
        let near = self.samples.as_slice().iter().min_by_key(|sample| sample.size.abs_diff(low))?;
        let slope = self.samples.bytes_per_sample(near.size).filter(|slope| *slope > Bytes::ZERO)?;
        let room = i128::from(self.target.0) - i128::from(near.least.0);
        let size = i128::from(near.size) + room.div_euclid(i128::from(slope.0));
        Some(u64::try_from(size).unwrap_or(0).min(MOST_SAMPLES))
    }

    /// The largest that fits, as far as is known.
    fn low(&self) -> Option<u64> {
        self.largest(Standing::Seen).max(self.largest(Standing::Replayed))
    }

    fn largest(&self, wanted: Standing) -> Option<u64> {
        self.known.iter().rev().find(|(_, standing)| **standing == wanted).map(|(size, _)| *size)
    }

    /// The answer.
    pub fn answer(&self) -> MaxBatch {
        let size = self.largest(Standing::Seen).unwrap_or(0);
        let tried = self.known.iter().map(|(&size, standing)| BatchTried {
            size,
            fits: matches!(standing, Standing::Seen | Standing::Replayed),
        });
        MaxBatch {
            size,
            runs: self.runs,
            tried: tried.collect(),
            peak: self.peak,
            bytes_per_sample: self.samples.bytes_per_sample(size),
            independent: self.is_flat(),
            ..MaxBatch::default()
        }
    }
}

fn unlimited(sizes: &[u64]) -> Vec<BatchRun> {
    sizes.iter().map(|&size| BatchRun { size, limited: false }).collect()
}
