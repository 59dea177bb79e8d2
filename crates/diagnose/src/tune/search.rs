//! The search over settings, from coarse to fine.
//!
//! # Note [Search]
//! The first rounds vary one key at a time, with and without expandable segments. Later rounds try finer values beside
//! the best, then combine the best values of interacting keys. Settings of equal effect are replayed once (Note `[Same
//! effect]`). A round depends only on the results of earlier rounds, so the number of threads changes no result.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use allocator::settings::Settings;
use rayon::prelude::*;
use report::tune::{Search as Done, Setting};
use trace::{Bytes, Release};

use super::candidates as values;
use super::case::Watch;
use super::conf::{Conf, least_max_split_mb};
use super::effect::{Effect, Requests};
use super::pareto::Trial;
use super::traces::Trace;
use super::trial::{Stage, outcome, worst};

/// The number of values per key in combinations.
const TOP: usize = 3;

/// The state of a search.
pub(super) struct SettingSearch<'a> {
    pub(super) traces: &'a [Trace<'a>],
    pub(super) stage: Stage,
    watch: &'a dyn Watch,
    /// The oldest version that must accept every setting.
    release: Release,
    /// The user's other keys, kept in every setting.
    other_keys: String,
    requests: Requests,
    /// The peak of the live bytes.
    pub(super) limit: Bytes,
    seen: HashSet<Effect>,
    pub(super) trials: Vec<Trial>,
    considered: u64,
    interrupted: bool,
}

impl<'a> SettingSearch<'a> {
    /// Returns a search without trials. `limit` is the peak of the live bytes.
    pub(super) fn new(traces: &'a [Trace<'a>], stage: Stage, limit: Bytes, watch: &'a dyn Watch) -> SettingSearch<'a> {
        let other_keys = traces.first().map(|trace| super::conf::list_other_keys(&trace.conf)).unwrap_or_default();
        let oldest = traces.iter().map(|trace| trace.oldest).min();
        SettingSearch {
            traces,
            stage,
            watch,
            release: oldest.unwrap_or(Release { major: 2, minor: 0 }),
            other_keys,
            requests: Requests::new(traces.iter().flat_map(Trace::requests).collect()),
            limit,
            seen: HashSet::new(),
            trials: Vec::new(),
            considered: 0,
            interrupted: false,
        }
    }

    /// Runs all rounds.
    pub(super) fn run(&mut self) {
        let rounds: [fn(&SettingSearch<'a>) -> Vec<Conf>; 6] = [
            SettingSearch::single,
            SettingSearch::finer,
            SettingSearch::divide_classes,
            SettingSearch::roundings,
            SettingSearch::combine_best,
            SettingSearch::collecting,
        ];
        self.try_all(self.bases());
        for round in rounds {
            let confs = round(self);
            self.try_all(confs);
        }
    }

    /// Returns the bases of the two families: without and with expandable segments. On Windows only the first has an
    /// effect.
    fn bases(&self) -> Vec<Conf> {
        let expandable = (!self.on_windows()).then(|| Conf { expandable: true, ..Conf::default() });
        std::iter::once(Conf::default()).chain(expandable).collect()
    }

    /// Checks for a recording on Windows, where PyTorch ignores expandable segments.
    pub(super) fn on_windows(&self) -> bool {
        self.traces.iter().any(|trace| trace.on_windows)
    }

    /// Returns the extent of the search.
    pub(super) fn done(&self) -> Done {
        Done { considered: self.considered, replayed: self.trials.len() as u64, interrupted: self.interrupted }
    }

    /// Returns the text of a combination, with the user's other keys.
    pub(super) fn text(&self, conf: &Conf) -> String {
        let parts = [conf.text(), self.other_keys.clone()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
    }

    /// Parses a text; `None` if the version rejects it.
    pub(super) fn settings(&self, text: &str) -> Option<Settings> {
        Settings::parse(text, self.release).ok()
    }

    /// Returns the oldest version that must accept every setting.
    pub(super) fn release(&self) -> Release {
        self.release
    }

    /// Replays the settings whose effect differs from all earlier settings.
    fn try_all(&mut self, confs: Vec<Conf>) {
        self.considered += confs.len() as u64;
        let mut fresh: Vec<(Conf, String, Settings)> = Vec::new();
        for conf in confs {
            let text = self.text(&conf);
            let Some(settings) = self.settings(&text) else { continue };
            if self.seen.insert(self.requests.effect(&settings)) {
                fresh.push((conf, text, settings));
            }
        }
        let tried = self.replay_all(&fresh);
        self.interrupted |= tried.len() < fresh.len();
        self.trials.extend(tried);
    }

    fn replay_all(&self, fresh: &[(Conf, String, Settings)]) -> Vec<Trial> {
        let before = self.trials.len();
        let planned = before + fresh.len();
        let least =
            self.trials.iter().filter(|trial| !trial.setting.oom).map(|trial| trial.setting.reserved_bytes.0).min();
        let (done, least) = (AtomicUsize::new(before), AtomicU64::new(least.unwrap_or(u64::MAX)));
        let tried = fresh.par_iter().map(|(conf, text, settings)| {
            if self.watch.is_over() {
                return None;
            }
            let setting = self.replay(text, settings);
            if !setting.oom {
                least.fetch_min(setting.reserved_bytes.0, Ordering::Relaxed);
            }
            let (count, least) = (done.fetch_add(1, Ordering::Relaxed) + 1, least.load(Ordering::Relaxed));
            self.watch.progress(count, planned, (least < u64::MAX).then_some(Bytes(least)));
            Some(Trial { conf: conf.clone(), setting })
        });
        let tried: Vec<Option<Trial>> = tried.collect();
        tried.into_iter().flatten().collect()
    }

    /// Replays all traces under one setting.
    pub(super) fn replay(&self, text: &str, settings: &Settings) -> Setting {
        let outcomes = self.traces.iter().map(|trace| outcome(trace, &trace.program, settings, self.stage));
        worst(text.to_owned(), outcomes.collect())
    }

    fn least_split(&self) -> u64 {
        least_max_split_mb(self.release)
    }

    fn critical_splits(&self) -> Vec<u64> {
        values::critical_splits(&self.requests.blocks(&values::plain()), self.least_split())
    }

    /// Varies each key alone.
    fn single(&self) -> Vec<Conf> {
        let splits = values::coarse_splits(&self.critical_splits(), self.least_split());
        let of = |base: &Conf| {
            let large = values::with_large_segments(base);
            [values::with_splits(base, &splits), values::with_divisions(base), large].concat()
        };
        self.bases().iter().flat_map(of).collect()
    }

    /// Tries split limits beside the best limits.
    fn finer(&self) -> Vec<Conf> {
        let critical = self.critical_splits();
        let tried = values::coarse_splits(&critical, self.least_split());
        let around = |base: &Conf| -> Vec<Conf> {
            let best = self.best_of(base, is_split);
            best.iter()
                .filter_map(|conf| conf.max_split_mb)
                .flat_map(|limit| values::with_splits(base, &values::fine_splits(&critical, &tried, limit)))
                .collect()
        };
        self.bases().iter().flat_map(around).collect()
    }

    /// Tries divisions for single size classes.
    fn divide_classes(&self) -> Vec<Conf> {
        self.bases().iter().flat_map(|base| values::with_class_divisions(base, &self.requests)).collect()
    }

    /// Combines the classes with a gain: the largest gain first, adding a class at a time. Also tries more and less
    /// excess for unsplit blocks.
    fn roundings(&self) -> Vec<Conf> {
        self.bases().iter().flat_map(|base| [self.join_classes(base), self.loosen_roundings(base)].concat()).collect()
    }

    fn join_classes(&self, base: &Conf) -> Vec<Conf> {
        let mut taken = [false; 16];
        let mut joined = base.clone();
        let mut steps = Vec::new();
        for conf in self.improving(base, is_one_class) {
            let divisions = values::each(&conf);
            let Some(index) = divisions.iter().position(|&divisions| divisions > 1) else { continue };
            if !std::mem::replace(&mut taken[index], true) {
                joined = values::with_class(&joined, index, divisions[index]);
                steps.push(joined.clone());
            }
        }
        steps
    }

    fn loosen_roundings(&self, base: &Conf) -> Vec<Conf> {
        self.best_of(base, is_split).iter().flat_map(values::with_non_split_roundings).collect()
    }

    /// Combines the best values of the keys.
    fn combine_best(&self) -> Vec<Conf> {
        self.bases().iter().flat_map(|base| self.combine_from(base)).collect()
    }

    fn combine_from(&self, base: &Conf) -> Vec<Conf> {
        let own = || std::iter::once(base.clone());
        let splits: Vec<Conf> = self.best_of(base, is_split).into_iter().chain(own()).collect();
        let rounded: Vec<Conf> = self.best_of(base, is_rounded).into_iter().chain(own()).collect();
        let large: Vec<Conf> = self.best_of(base, is_large).into_iter().chain(own()).collect();
        let both =
            values::cross(&splits, &rounded, |split, round| Conf { roundup: round.roundup.clone(), ..split.clone() });
        values::cross(&both, &large, |one, large| Conf { large_segment_mb: large.large_segment_mb, ..one.clone() })
    }

    /// Tries garbage collection below a fraction of the device, if the device's size is known.
    fn collecting(&self) -> Vec<Conf> {
        let Some((total, _)) = self.stage.device else { return Vec::new() };
        let best = |base: &Conf| self.best_of(base, |_, _| true).into_iter().next().unwrap_or_else(|| base.clone());
        let reserved = |conf: &Conf| self.reserved(conf).unwrap_or(self.limit).0;
        let bases = self.bases();
        let starts = bases.iter().cloned().chain(bases.iter().map(best));
        starts.flat_map(|conf| values::with_collection(&conf, total.0, self.limit.0, reserved(&conf))).collect()
    }

    fn reserved(&self, conf: &Conf) -> Option<Bytes> {
        self.trials.iter().find(|trial| trial.conf == *conf).map(|trial| trial.setting.reserved_bytes)
    }

    /// Returns the best few combinations of a kind, by memory.
    fn best_of(&self, base: &Conf, kind: impl Fn(&Conf, &Conf) -> bool) -> Vec<Conf> {
        let mut found: Vec<&Trial> =
            self.trials.iter().filter(|trial| !trial.setting.oom && kind(base, &trial.conf)).collect();
        found.sort_by_key(|trial| (trial.setting.reserved_bytes, trial.setting.cost_us));
        found.into_iter().take(TOP).map(|trial| trial.conf.clone()).collect()
    }

    /// Returns all combinations of a kind that reserve less than `base`, the least first.
    fn improving(&self, base: &Conf, kind: impl Fn(&Conf, &Conf) -> bool) -> Vec<Conf> {
        let now = self.reserved(base).unwrap_or(Bytes(u64::MAX));
        let is_better = |trial: &&Trial| kind(base, &trial.conf) && trial.setting.reserved_bytes < now;
        let mut found: Vec<&Trial> = self.trials.iter().filter(is_better).collect();
        found.sort_by_key(|trial| trial.setting.reserved_bytes);
        found.into_iter().map(|trial| trial.conf.clone()).collect()
    }
}

/// Checks that `conf` adds a split limit alone to `base`.
fn is_split(base: &Conf, conf: &Conf) -> bool {
    let without = Conf { max_split_mb: None, non_split_rounding_mb: None, ..conf.clone() };
    conf.max_split_mb.is_some() && without == *base
}

/// Checks that `conf` adds divisions alone to `base`.
fn is_rounded(base: &Conf, conf: &Conf) -> bool {
    conf.roundup.is_some() && Conf { roundup: None, ..conf.clone() } == *base
}

/// Checks that `conf` adds divisions for one class alone to `base`.
fn is_one_class(base: &Conf, conf: &Conf) -> bool {
    is_rounded(base, conf) && values::each(conf).iter().filter(|&&divisions| divisions > 1).count() == 1
}

/// Checks that `conf` adds the size of large segments alone to `base`.
fn is_large(base: &Conf, conf: &Conf) -> bool {
    conf.large_segment_mb.is_some() && Conf { large_segment_mb: None, ..conf.clone() } == *base
}
