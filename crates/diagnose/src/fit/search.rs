//! The search itself: the next dry runs, and the knowledge after them. See Note [Search for a plan].

use std::collections::BTreeMap;

use remedies::{BATCH_SIZE, OWN_OPTIONS, SOURCES_OF_ALL_BATCHES, TABLE, Trying, find};
use report::fit::{Placed, Prefer};
use report::{Change, Usage};
use trace::Bytes;

use super::allowed::Allowed;
use super::catalogue::{Choosable, options};
use super::cost::{Tier, tier_of_set};
use super::plans::{Helpful, choosables, estimate_need, sets, tops};
use super::stage::{Depth, SearchStage};
use super::trial::{Ending, Trial};
use super::variant::{TrialKey, Variant};

/// With so few changes a set is small enough.
const FEW: usize = 2;
/// The number of sets to run for a target before the search ends.
const MOST_SETS: usize = 24;
/// A reckoned peak so far above the target is still worth a run, in percent.
const SLACK_PERCENT: u64 = 112;
/// The same for a set with an option that does nothing alone.
const SLACK_OF_IDLE_PERCENT: u64 = 125;

/// The knowledge of a set of changes and a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Not run.
    Unknown,
    /// The need is above the target, the allocated bytes are not: releasing the cache may help.
    Open,
    /// It was run within the target.
    Fits,
    /// Cannot fit, or fails.
    DoesNot,
}

/// The search: the trials so far, and the next variants to run.
#[derive(Clone, Debug)]
pub struct Search {
    /// Usable bytes of each device, the requested device first.
    targets: Vec<Bytes>,
    /// The remedies that may be tried.
    pub(super) choice: Allowed,
    trials: BTreeMap<TrialKey, Trial>,
    /// The number of dry runs.
    runs: u32,
}

impl Search {
    /// A search for plans within each of `targets`.
    pub fn new(targets: Vec<Bytes>, choice: Allowed) -> Search {
        Search { targets, choice, trials: BTreeMap::new(), runs: 0 }
    }

    /// Has the rest of the search try one remedy alone.
    pub fn keep_only(&mut self, remedy: &'static str) {
        self.choice.only = Some(remedy);
    }

    /// Records the result of a variant.
    pub fn learn(&mut self, variant: &Variant, trial: Trial) {
        self.runs += 1;
        self.trials.insert(TrialKey::new(variant), trial);
    }

    /// The unchanged program, where it was run.
    pub fn unchanged(&self) -> Option<&Trial> {
        self.base()
    }

    /// The number of dry runs.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// True if only an edit of the source, or a smaller size, can make the program fit: it does not, and no options of its own do.
    pub fn needs_edits(&self) -> bool {
        let is_open = |target: &Bytes| self.standing(&[], *target) != Standing::Fits;
        self.base().is_some_and(Trial::is_done)
            && self.targets.iter().any(is_open)
            && self.next(1, Depth::OwnOptions).is_empty()
            && !self.is_settled(SearchStage::Own)
    }

    /// The variants to run next, at most `most` of a plan's; empty when nothing more is to be found out.
    pub fn next(&self, most: usize, depth: Depth) -> Vec<Variant> {
        let unchanged = Variant { recorded: true, ..Variant::need(Vec::new()) };
        let Some(base) = self.trial(&unchanged) else { return vec![unchanged] };
        if !base.is_done() {
            return Vec::new();
        }
        let waiting = self.targets.iter().filter(|target| self.standing(&[], **target) == Standing::Open);
        let at_limit: Vec<Variant> = waiting.map(|target| Variant::within(Vec::new(), *target)).collect();
        if !at_limit.is_empty() || self.targets.iter().all(|target| self.standing(&[], *target) == Standing::Fits) {
            return at_limit;
        }
        let stages = match depth {
            Depth::Unchanged => &[],
            Depth::OwnOptions => &SearchStage::ALL[..1],
            Depth::Everything => &SearchStage::ALL[..],
        };
        for &stage in stages {
            let pairs = if stage == SearchStage::Last { self.pairs() } else { Vec::new() };
            let evidence = if stage == SearchStage::Own { self.evidence() } else { Vec::new() };
            for first in [self.alone(stage), evidence, pairs] {
                let unknown: Vec<Variant> = first.into_iter().filter(|variant| self.trial(variant).is_none()).collect();
                if !unknown.is_empty() {
                    return unknown;
                }
            }
            if self.has_begun_after(stage) {
                continue;
            }
            let sets = self.targets.iter().map(|target| self.next_sets(*target, most));
            let blocks = self.targets.first().map(|target| self.next_blocks(*target));
            if let Some(next) = sets.chain(blocks).find(|next| !next.is_empty()) {
                return next;
            }
            if self.is_settled(stage) {
                return Vec::new();
            }
        }
        Vec::new()
    }

    /// True if no later stage has a better plan: every target has one, and of the program's own options a free one.
    fn is_settled(&self, stage: SearchStage) -> bool {
        let all = self.candidates(true);
        self.targets.iter().all(|target| {
            let cheapest = self.cheapest_set(&all, *target);
            self.standing(&[], *target) == Standing::Fits
                || cheapest.is_some_and(|set| match stage {
                    SearchStage::Own => match self.choice.prefer {
                        Prefer::Options | Prefer::Edits => true,
                        Prefer::Results => tier_of_set(&choosables(&set)) == Tier::Free,
                        Prefer::Time => false,
                    },
                    SearchStage::Usual | SearchStage::Last => true,
                })
        })
    }

    /// The devices' usable bytes.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Bytes> {
        self.targets.iter()
    }

    /// Every trial, with its limit.
    pub(super) fn trials(&self) -> impl Iterator<Item = (Option<Bytes>, &Trial)> {
        self.trials.iter().filter(|(key, _)| !key.is_counted()).map(|(key, trial)| (key.limit(), trial))
    }

    /// The cheapest set that is known to fit.
    pub(super) fn cheapest(&self, target: Bytes) -> Option<Vec<Change>> {
        self.cheapest_set(&self.candidates(true), target).map(|set| changes(&set))
    }

    /// Every option that lacked its partner, with the partner.
    fn pairs(&self) -> Vec<Variant> {
        let options = self.choosable();
        options.iter().filter_map(|option| Some(Variant::need(self.pair(option, &options)?.1))).collect()
    }

    /// The partner of an option without effect alone, and both as changes, in the order of the catalogue.
    fn pair(&self, option: &Choosable, all: &[Choosable]) -> Option<(Change, Vec<Change>)> {
        let alone = self.trial(&Variant::need(vec![option.change.clone()]))?;
        let partner = all.iter().find(|other| Some(other.spec.name) == option.spec.partner)?;
        let theirs = self.trial(&Variant::need(vec![partner.change.clone()]))?;
        let lacks = alone.is_done() && !took_effect(alone, &option.change.remedy);
        let works = theirs.is_done() && took_effect(theirs, &partner.change.remedy);
        (lacks && works).then(|| (partner.change.clone(), vec![partner.change.clone(), option.change.clone()]))
    }

    /// Every option that may be tried on this program; its own options in place of edits for the same purpose.
    pub(super) fn choosable(&self) -> Vec<Choosable> {
        let own = self.own_choosable();
        let served: Vec<&str> =
            own.iter().filter(|option| self.is_confirmed(option)).map(|option| option.spec.name).collect();
        let edits: Vec<Choosable> =
            self.edits().into_iter().filter(|option| !served.contains(&option.spec.name)).collect();
        own.into_iter().chain(edits).collect()
    }

    /// Every edit of the source.
    fn edits(&self) -> Vec<Choosable> {
        let batch = self.base().and_then(|base| base.batch.as_ref()).map(|batch| batch.size);
        let specs = TABLE
            .iter()
            .filter(|spec| self.choice.permits(spec) && (self.choice.tries_all || spec.trying != Trying::Folklore));
        let found = self.base().and_then(|base| base.settings.as_deref());
        let all = specs.flat_map(|spec| options(spec, batch, found));
        all.filter(|option| self.choice.has_gpus_for(option)).collect()
    }

    /// The unchanged program, where it was run.
    pub(super) fn base(&self) -> Option<&Trial> {
        self.trial(&Variant::need(Vec::new()))
    }

    pub(super) fn trial(&self, variant: &Variant) -> Option<&Trial> {
        self.trials.get(&TrialKey::new(variant))
    }

    /// The changes to make for a variant: the chosen ones, and their companions. Parts of a batch that no DataLoader
    /// cuts are made by requesting smaller batches where the program sets their size.
    pub fn to_make(&self, variant: &Variant) -> Vec<Change> {
        let mut edits = variant.changes.iter().filter(|change| change.remedy != OWN_OPTIONS);
        let steps = edits.find_map(|change| change.settings.get(remedies::setting::STEPS)?.as_u64());
        let batch = self
            .base()
            .and_then(|base| base.batch.as_ref())
            .filter(|batch| SOURCES_OF_ALL_BATCHES.contains(&&*batch.source));
        let part = steps.zip(batch).map(|(steps, batch)| {
            Change::new(BATCH_SIZE)
                .with(remedies::setting::SIZE, batch.size / steps.max(1))
                .with(remedies::setting::ARG, batch.name.clone())
        });
        variant.changes.iter().cloned().chain(part).collect()
    }

    /// The options for a plan: those that lower the peak alone, and with `idle` also options that take effect without a
    /// change of the peak. Beside another remedy these may help.
    pub(super) fn candidates(&self, idle: bool) -> Vec<Helpful> {
        let Some(base) = self.base() else { return Vec::new() };
        let all = self.choosable();
        let options = all.iter().filter(|option| option.spec.trying != Trying::Folklore);
        let found = options.filter_map(|option| {
            let trial = self.trial(&Variant::need(vec![option.change.clone()]))?;
            if !self.choice.permits_results_of(trial) {
                return None;
            }
            if trial.is_done() && self.is_effective(option, trial) {
                let need = effective_need(trial, base);
                let wanted = idle || is_helpful(trial, option, base.usage);
                return wanted.then(|| Helpful { option: option.clone(), need, with: None });
            }
            self.helpful_pair(option, &all)
        });
        found.collect()
    }

    /// An option that helps beside its partner: the saving is the difference to the partner alone.
    fn helpful_pair(&self, option: &Choosable, all: &[Choosable]) -> Option<Helpful> {
        let (partner, both) = self.pair(option, all)?;
        let before = self.trial(&Variant::need(vec![partner]))?.usage.device_bytes;
        let after = self
            .trial(&Variant::need(both))
            .filter(|trial| trial.is_done() && took_effect(trial, &option.change.remedy))?;
        let need = self.base()?.usage.device_bytes - (before - after.usage.device_bytes);
        Some(Helpful { option: option.clone(), need, with: option.spec.partner })
    }

    /// True if a run with an option shows its effect.
    pub(super) fn is_effective(&self, option: &Choosable, trial: &Trial) -> bool {
        if option.is_own() { self.holds(option, trial) } else { took_effect(trial, &option.change.remedy) }
    }

    /// The standing of `changes` within `target`.
    pub(super) fn standing(&self, changes: &[Change], target: Bytes) -> Standing {
        let need = Variant::need(changes.to_vec());
        let Some(trial) = self.trial(&need) else { return Standing::Unknown };
        let is_whole = changes.iter().all(|change| took_effect(trial, &change.remedy));
        if !trial.is_done() || !is_whole || !self.choice.permits_results_of(trial) {
            return Standing::DoesNot;
        }
        if trial.usage.device_bytes <= target {
            return Standing::Fits;
        }
        if trial.least() > target {
            return Standing::DoesNot;
        }
        match self.trial(&Variant::within(changes.to_vec(), target)).map(|trial| &trial.ending) {
            None => Standing::Open,
            Some(Ending::Done) => Standing::Fits,
            Some(_) => Standing::DoesNot,
        }
    }

    /// The next sets to run for one target, tier by tier: whether all of a tier together fit, and if so, the cheapest that do.
    fn next_sets(&self, target: Bytes, most: usize) -> Vec<Variant> {
        if self.standing(&[], target) == Standing::Fits {
            return Vec::new();
        }
        let (helpful, all) = (self.candidates(false), self.candidates(true));
        for tier in Tier::ALL {
            let tops = tops(&all, tier);
            if self
                .cheapest_set(&all, target)
                .is_some_and(|set| set.len() <= FEW && tier_of_set(&choosables(&set)) == tier)
            {
                return self.cheaper_sets(&helpful, tier, target, most).0;
            }
            let may_fit = tops.iter().find(|top| self.standing(&changes(top), target) != Standing::DoesNot);
            let Some(top) = may_fit else { continue };
            if self.standing(&changes(top), target) == Standing::Unknown {
                let unknown = tops.iter().filter(|top| self.standing(&changes(top), target) == Standing::Unknown);
                return unknown.take(most).map(|top| Variant::need(changes(top))).collect();
            }
            if self.standing(&changes(top), target) == Standing::Open {
                return vec![Variant::within(changes(top), target)];
            }
            if self.cheapest_set(&all, target).is_none_or(|set| set.len() > FEW) {
                let smaller = self.shrink(&all, tier, target, most).1;
                if !smaller.is_empty() {
                    return smaller;
                }
            }
            for options in [&helpful, &all] {
                let (next, fits) = self.cheaper_sets(options, tier, target, most);
                if fits || !next.is_empty() {
                    return next;
                }
            }
        }
        Vec::new()
    }

    /// Sets of a tier that may fit and were not run, in the order of cost, up to the first known to fit; and true if
    /// there is such a set.
    fn cheaper_sets(&self, options: &[Helpful], tier: Tier, target: Bytes, most: usize) -> (Vec<Variant>, bool) {
        let Some(base) = self.base() else { return (Vec::new(), false) };
        let mut wanted = Vec::new();
        for set in sets(options, self.choice.prefer).into_iter().filter(|set| tier_of_set(&choosables(set)) == tier) {
            let changes = changes(&set);
            match self.standing(&changes, target) {
                Standing::Fits => return (wanted, true),
                Standing::Open => wanted.push(Variant::within(changes, target)),
                Standing::Unknown if self.tried_sets() >= MOST_SETS * self.targets.len() => {}
                Standing::Unknown if self.may_fit(base, &set, target) => wanted.push(Variant::need(changes)),
                Standing::Unknown | Standing::DoesNot => {}
            }
            if wanted.len() == most {
                break;
            }
        }
        (wanted, false)
    }

    /// The number of sets of several changes that were run.
    fn tried_sets(&self) -> usize {
        self.trials.keys().filter(|key| key.is_set() && !key.is_counted()).count()
    }

    /// True if a set is worth a run. The effect of an option that brings nothing alone cannot be estimated.
    fn may_fit(&self, base: &Trial, set: &[&Helpful], target: Bytes) -> bool {
        let need = base.usage.device_bytes;
        let has_idle = set.iter().any(|helpful| helpful.need == need);
        let near = Bytes(target.0 / 100 * if has_idle { SLACK_OF_IDLE_PERCENT } else { SLACK_PERCENT });
        estimate_need(need, set) <= near && !self.is_within_a_failure(set, target)
    }

    /// True if a larger set was run and does not fit: fewer changes do not fit either.
    pub(super) fn is_within_a_failure(&self, set: &[&Helpful], target: Bytes) -> bool {
        let too_large = |trial: &Trial| trial.is_done() && trial.least() > target;
        let mut failures = self.trials.iter().filter(|(key, trial)| !key.is_counted() && too_large(trial));
        failures.any(|(key, _)| key.has_all(set.iter().map(|helpful| &helpful.option.change)))
    }
}

/// True if a remedy took effect in a run.
pub(super) fn took_effect(trial: &Trial, remedy: &str) -> bool {
    // PyTorch itself reads the environment: no agent notes that.
    let (is_all_or_nothing, is_of_environment) =
        find(remedy).map_or((false, false), |spec| (spec.is_all_or_nothing, !spec.has_agent || remedy == OWN_OPTIONS));
    let noted = |notes: &[Placed]| notes.iter().any(|place| place.remedy == remedy);
    (noted(&trial.applied) || is_of_environment) && !(is_all_or_nothing && noted(&trial.rejected))
}

/// True if an option lowers the peak. Cached memory counts, except for remedies that only empty the cache: PyTorch
/// empties its cache before the error is raised.
pub(super) fn is_helpful(trial: &Trial, option: &Choosable, before: Usage) -> bool {
    match option.spec.trying {
        Trying::Folklore => trial.usage.allocated_bytes < before.allocated_bytes,
        Trying::Usual | Trying::Asked => {
            trial.usage.device_bytes < before.device_bytes || trial.usage.allocated_bytes < before.allocated_bytes
        }
    }
}

/// The need of a run for estimates. Memory that is freed, and that a device without a limit still caches, counts: PyTorch releases
/// its cache before it raises.
fn effective_need(trial: &Trial, base: &Trial) -> Bytes {
    let of_device = trial.usage.device_bytes.min(base.usage.device_bytes);
    let of_live = base.usage.device_bytes
        - (base.usage.allocated_bytes - trial.usage.allocated_bytes.min(base.usage.allocated_bytes));
    of_device.min(of_live)
}

/// The changes of a set, in the order of the catalogue.
pub(super) fn changes(set: &[&Helpful]) -> Vec<Change> {
    choosables(set).into_iter().map(|option| option.change.clone()).collect()
}
