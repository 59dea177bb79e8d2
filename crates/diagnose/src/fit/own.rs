//! The program's own options as options of plans: accumulation, checkpointing, precision, batch, length, resolution.
//!
//! # Note [Own options]
//! An option is a candidate by its name and description (`options::find_purpose`), or because its number is that of the batch. A run then
//! decides. An option with a lower peak does the work of its name. An accumulation without a lower peak, but with more backward passes in a
//! step, is an accumulation of batches: a plan uses it beside a smaller batch, so that a step keeps its samples. Any further option does
//! nothing here. A number of 1 without a name for a purpose is tried, too: parts of a batch show a lower peak and more backward passes.
//!
//! A confirmed option replaces the remedy that would edit the source for the same purpose.

use options::{NameRank, OwnOption, Purpose, find_purpose, half_precisions};
use remedies::{BATCH_SIZE, CHECKPOINTING, GRADIENT_ACCUMULATION, OWN_OPTIONS, find};
use report::Change;
use serde_json::Value;
use trace::Bytes;

use super::catalogue::Choosable;
use super::search::Search;
use super::trial::Trial;
use super::variant::Variant;

/// The parts of a batch, each with the typical time of a step.
const PARTS: [(u64, f64); 13] = [
    (2, 1.02),
    (3, 1.03),
    (4, 1.04),
    (5, 1.05),
    (6, 1.06),
    (8, 1.07),
    (10, 1.08),
    (12, 1.09),
    (16, 1.12),
    (24, 1.16),
    (32, 1.2),
    (48, 1.25),
    (64, 1.3),
];
/// Fractions of a batch, a length or a side, as percents.
const SHARES: [u64; 6] = [50, 25, 12, 6, 3, 1];
/// The least factor between the backward passes of a step, with twice the number of an accumulation and without.
const MORE: f64 = 1.4;
/// A confirmed option lowers the peak by this part, at least.
const LEAST_SHARE: u64 = 100;
/// The most options without a purpose to try.
const MOST_UNNAMED: usize = 3;
/// Parts of names for numbers of other kinds.
const OTHERS: [&str; 16] = [
    "seed", "epoch", "worker", "gpu", "node", "rank", "log", "eval", "every", "interval", "save", "print", "verb",
    "world", "lr", "iter",
];
/// Sides of images are multiples of the strides of networks.
const SIDE: u64 = 32;

/// The effect of an accumulation option, as its run shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accumulates {
    /// A batch in parts.
    Parts,
    /// Several batches for a step.
    Batches,
    /// Nothing that is seen.
    Nothing,
}

impl Search {
    /// The program's own options for plans, run or not; refuted names are left out.
    pub(super) fn own_choosable(&self) -> Vec<Choosable> {
        let mut all = Vec::new();
        self.add_accumulation(&mut all);
        self.add_switch(Purpose::Checkpointing, CHECKPOINTING, 1.33, &mut all);
        self.add_switch(Purpose::Precision, "autocast", 0.6, &mut all);
        for (purpose, remedy) in
            [(Purpose::Batch, BATCH_SIZE), (Purpose::Length, "sequence-length"), (Purpose::Resolution, "resolution")]
        {
            self.add_sizes(purpose, remedy, &mut all);
        }
        let has_norms = self.base().is_some_and(|base| base.has_batch_norm);
        for option in &mut all {
            option.alters = has_norms && option.purpose == Some(Purpose::Accumulation);
        }
        all.retain(|option| self.choice.permits_own(option));
        all
    }

    /// True if a run has confirmed an own option.
    pub(super) fn is_confirmed(&self, option: &Choosable) -> bool {
        self.trial(&Variant::need(vec![option.change.clone()])).is_some_and(|trial| self.holds(option, trial))
    }

    /// True if a run confirms the purpose of an option. See Note [Own options].
    pub(super) fn holds(&self, option: &Choosable, trial: &Trial) -> bool {
        let is_seen = self.base().is_some_and(|base| trial.is_done() && is_lower(base, trial));
        if self.is_unnamed(option) {
            return is_seen && self.has_more_backwards(option);
        }
        // The run of the accumulation alone has shown that steps have more batches.
        is_seen || (option.change.settings.len() > 1 && trial.is_done())
    }

    /// True for an option without a purpose in its name and description.
    fn is_unnamed(&self, option: &Choosable) -> bool {
        let own = self.base().into_iter().flat_map(|base| &base.own);
        let mut same = own.filter(|own| option.change.settings.contains_key(&own.key));
        option.purpose == Some(Purpose::Accumulation) && same.any(|own| find_purpose(own).is_none())
    }

    /// True if a step has more backward passes with an option, in the usual run or in the run with whole loops.
    fn has_more_backwards(&self, option: &Choosable) -> bool {
        let is_more = |of: fn(Vec<Change>) -> Variant| {
            let (base, trial) = (self.trial(&of(Vec::new())), self.trial(&of(vec![option.change.clone()])));
            base.zip(trial).is_some_and(|(base, trial)| {
                base.step_backwards > 0.0 && trial.is_done() && trial.step_backwards > base.step_backwards * MORE
            })
        };
        is_more(Variant::need) || is_more(Variant::counted)
    }

    /// The runs with whole loops, for an accumulation whose shortened loops decide nothing.
    pub(super) fn evidence(&self) -> Vec<Variant> {
        let own = self.own_choosable();
        let accumulations = own.iter().filter(|option| option.purpose == Some(Purpose::Accumulation));
        let open = accumulations.filter(|option| {
            let trial = self.trial(&Variant::need(vec![option.change.clone()]));
            let lower =
                trial.zip(self.base()).filter(|(trial, _)| trial.is_done()).map(|(trial, base)| is_lower(base, trial));
            option.change.settings.len() == 1
                && lower == Some(self.is_unnamed(option))
                && !self.has_more_backwards(option)
        });
        let runs: Vec<Variant> = open.map(|option| Variant::counted(vec![option.change.clone()])).collect();
        let base = (!runs.is_empty()).then(|| Variant::counted(Vec::new()));
        base.into_iter().chain(runs).collect()
    }

    /// Numbers of 1 without a known purpose: perhaps the parts of a batch.
    fn unnamed(&self) -> Vec<&OwnOption> {
        let is_open = |option: &&OwnOption| {
            let name = options::name_of(&option.key).to_lowercase();
            option.value.as_u64() == Some(1)
                && find_purpose(option).is_none()
                && !OTHERS.iter().any(|other| name.contains(other))
        };
        self.base().into_iter().flat_map(|base| &base.own).filter(is_open).take(MOST_UNNAMED).collect()
    }

    /// The options that set a size, the likeliest first.
    pub(super) fn own_sizes(&self, purpose: Purpose) -> Vec<&OwnOption> {
        self.named(purpose)
    }

    /// The options for a purpose, the likeliest first.
    fn named(&self, purpose: Purpose) -> Vec<&OwnOption> {
        let Some(base) = self.base() else { return Vec::new() };
        let of_batch = |option: &OwnOption| {
            let size = base.batch.as_ref().map(|batch| batch.size).filter(|size| *size > 1);
            let is_it = purpose == Purpose::Batch && size.is_some() && option.value.as_u64() == size;
            is_it.then_some((Purpose::Batch, NameRank::MAX))
        };
        let found = base.own.iter().filter_map(|option| {
            let (_, rank) = find_purpose(option).or_else(|| of_batch(option)).filter(|(found, _)| *found == purpose)?;
            Some((rank, option))
        });
        let mut found: Vec<(NameRank, &OwnOption)> = found.collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, option)| option).collect()
    }

    /// A switch: the likeliest option and value, and after a refutation the next.
    fn add_switch(&self, purpose: Purpose, remedy: &str, time_ratio: f64, all: &mut Vec<Choosable>) {
        for option in self.named(purpose) {
            let values = match (&option.value, purpose) {
                (Value::Bool(false), _) => vec![switched_on(option)],
                (Value::Bool(true), Purpose::Checkpointing) => vec![Value::Bool(false)],
                (_, Purpose::Precision) => half_precisions(&option.value, &option.choices),
                _ => Vec::new(),
            };
            for value in values {
                let Some(made) = own(remedy, purpose, (time_ratio, 1), &[(option, value)]) else { continue };
                let trial = self.trial(&Variant::need(vec![made.change.clone()]));
                let is_refuted = trial.is_some_and(|trial| !self.holds(&made, trial));
                all.push(made);
                if !is_refuted {
                    return;
                }
            }
        }
    }

    /// Accumulation in parts, or of smaller batches.
    fn add_accumulation(&self, all: &mut Vec<Choosable>) {
        let purpose = Purpose::Accumulation;
        let named = self.named(purpose);
        let candidates = if named.is_empty() { self.unnamed() } else { named };
        for option in candidates {
            let now = option.value.as_u64().unwrap_or(1).max(1);
            let parts = |factor: u64, time| {
                own(GRADIENT_ACCUMULATION, purpose, (time, factor), &[(option, Value::from(now * factor))])
            };
            let batch = self.named(Purpose::Batch).first().and_then(|batch| batch.value.as_u64());
            let is_even = |factor: u64| batch.is_none_or(|size| size.is_multiple_of(now * factor));
            let even: Vec<(u64, f64)> = PARTS.into_iter().filter(|(factor, _)| is_even(*factor)).collect();
            if option.value.as_i64().is_some_and(|size| size <= 0) {
                all.extend(sizes_of_parts(option, batch));
                continue;
            }
            let first = even.first().and_then(|(factor, time)| parts(*factor, *time));
            let Some(first) = first else { continue };
            let Some(trial) = self.trial(&Variant::need(vec![first.change.clone()])) else {
                all.push(first);
                continue;
            };
            match self.accumulates(&first, trial) {
                Accumulates::Parts => {
                    all.extend(even.iter().filter_map(|(factor, time)| parts(*factor, *time)));
                    return;
                }
                Accumulates::Batches => {
                    if let Some(batch) = self.named(Purpose::Batch).first() {
                        all.extend(beside_smaller_batches((option, now), batch));
                        return;
                    }
                }
                Accumulates::Nothing => all.push(first),
            }
        }
    }

    fn accumulates(&self, option: &Choosable, trial: &Trial) -> Accumulates {
        if self.holds(option, trial) {
            return Accumulates::Parts;
        }
        let is_of_batches = trial.is_done() && !self.is_unnamed(option) && self.has_more_backwards(option);
        if is_of_batches { Accumulates::Batches } else { Accumulates::Nothing }
    }

    /// Smaller batches, lengths or images.
    fn add_sizes(&self, purpose: Purpose, remedy: &str, all: &mut Vec<Choosable>) {
        let Some(option) = self.named(purpose).into_iter().next() else { return };
        let size = option.value.as_u64().unwrap_or(0);
        let least = if purpose == Purpose::Resolution { SIDE } else { 1 };
        let smaller = SHARES.iter().filter_map(|share| {
            let wanted = size * share / 100;
            let wanted = if purpose == Purpose::Batch { wanted } else { round(wanted, size, least) };
            (wanted >= least && wanted < size).then_some((wanted, share))
        });
        let made = smaller.filter_map(|(wanted, share)| {
            let times = 100_u64.div_ceil(*share);
            own(
                remedy,
                purpose,
                (f64::from(u32::try_from(*share).unwrap_or(100)) / 100.0, times),
                &[(option, Value::from(wanted))],
            )
        });
        all.extend(made);
    }
}

/// An accumulation of batches, each beside a batch that is smaller by the same factor.
fn beside_smaller_batches((option, now): (&OwnOption, u64), batch: &OwnOption) -> Vec<Choosable> {
    let size = batch.value.as_u64().unwrap_or(0);
    let whole = PARTS.iter().filter(|(factor, _)| size.is_multiple_of(*factor) && size >= *factor);
    let made = whole.filter_map(|(factor, time)| {
        let values = [(option, Value::from(now * factor)), (batch, Value::from(size / factor))];
        own(GRADIENT_ACCUMULATION, Purpose::Accumulation, (*time, *factor), &values)
    });
    made.collect()
}

/// Sizes of a part, for an option with the size of a part instead of the number of parts.
fn sizes_of_parts(option: &OwnOption, batch: Option<u64>) -> Vec<Choosable> {
    let Some(size) = batch else { return Vec::new() };
    let even = PARTS.iter().filter(|(factor, _)| size.is_multiple_of(*factor));
    let made = even.filter_map(|(factor, time)| {
        own(GRADIENT_ACCUMULATION, Purpose::Accumulation, (*time, *factor), &[(option, Value::from(size / factor))])
    });
    made.collect()
}

/// A length or a side in the steps of the present one: multiples of the largest power of two that divides it, at most [`SIDE`].
fn round(wanted: u64, size: u64, least: u64) -> u64 {
    let step = length_unit(size).max(least);
    wanted / step * step
}

/// The steps of a length or a side.
pub(super) fn length_unit(size: u64) -> u64 {
    1_u64 << size.trailing_zeros().min(SIDE.trailing_zeros())
}

/// The value for an option to be on.
fn switched_on(option: &OwnOption) -> Value {
    if option.on.is_empty() { Value::Bool(true) } else { Value::from(option.on.as_str()) }
}

/// The change of own options for the purpose of `remedy`. `factor`: the number of parts of the batch, length or side.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn own(
    remedy: &str,
    purpose: Purpose,
    (time_ratio, factor): (f64, u64),
    values: &[(&OwnOption, Value)],
) -> Option<Choosable> {
    let change =
        values.iter().fold(Change::new(OWN_OPTIONS), |change, (option, value)| change.with(&option.key, value.clone()));
    let group = if purpose == Purpose::Batch { find(GRADIENT_ACCUMULATION)?.group } else { find(remedy)?.group };
    Some(Choosable {
        change,
        spec: find(remedy)?,
        group,
        time_ratio,
        factor: factor as f64,
        alters: false,
        purpose: Some(purpose),
    })
}

/// True if a run needs less by a hundredth, of the device or of live memory: chance and a few small tensors prove nothing.
fn is_lower(base: &Trial, trial: &Trial) -> bool {
    let is_less = |before: Bytes, after: Bytes| (before - after.min(before)).0 > before.0 / LEAST_SHARE;
    is_less(base.usage.allocated_bytes, trial.usage.allocated_bytes)
        || is_less(base.usage.device_bytes, trial.usage.device_bytes)
}
