//! The options to run alone in each stage of a search. See Note [Search for a plan].

use options::Purpose;
use remedies::{ACTIVATION_MEMORY_BUDGET, ALLOCATOR_SETTINGS, GRADIENT_ACCUMULATION, Saves, SearchTurn, Trying};
use report::breakdown::Contents;
use trace::Bytes;

use super::catalogue::Choosable;
use super::search::{Search, Standing, took_effect};
use super::stage::SearchStage;
use super::trial::Trial;
use super::variant::Variant;

/// An option with a saving below this part of the shortage is not run alone.
const PART_OF_SHORTAGE: u64 = 8;

impl Search {
    /// The options to run alone in a stage.
    pub(super) fn alone(&self, stage: SearchStage) -> Vec<Variant> {
        let all = self.choosable();
        let wanted = all.iter().filter(|option| self.is_wanted(option, stage) && !self.is_later_rung(option, &all));
        wanted.map(|option| Variant::need(vec![option.change.clone()])).collect()
    }

    fn is_wanted(&self, option: &Choosable, stage: SearchStage) -> bool {
        if self.choice.tries_all {
            return true;
        }
        option.spec.trying != Trying::Folklore && self.stage_of(option) <= stage && self.is_worth_a_run(option, stage)
    }

    /// True if an option of a later stage was run: this stage has found no plan.
    pub(super) fn has_begun_after(&self, stage: SearchStage) -> bool {
        let later = self.choosable().into_iter().filter(|option| self.stage_of(option) > stage);
        let mut later = later.filter(|option| self.trial(&Variant::need(vec![option.change.clone()])).is_some());
        !self.choice.tries_all && later.next().is_some()
    }

    fn stage_of(&self, option: &Choosable) -> SearchStage {
        let is_size = matches!(option.purpose, Some(Purpose::Batch | Purpose::Length | Purpose::Resolution));
        let is_of_step = ["optimizer-fused", "optimizer-foreach-off"].contains(&option.spec.name);
        match option.is_own() {
            true if is_size => SearchStage::Last,
            true => SearchStage::Own,
            false if option.spec.turn == SearchTurn::Last || (is_of_step && self.activations_lead()) => {
                SearchStage::Last
            }
            false => SearchStage::Usual,
        }
    }

    /// True if activations are the largest part at the peak: no change of the optimizer's step lowers it.
    fn activations_lead(&self) -> bool {
        self.base().is_some_and(|base| base.holds.first().is_some_and(|part| part.category == Contents::Activations))
    }

    /// False if the largest saving of an option is far below the shortage.
    fn is_worth_a_run(&self, option: &Choosable, stage: SearchStage) -> bool {
        let (Some(base), Some(target)) = (self.base(), self.targets().min().copied()) else { return true };
        if option.spec.name == ACTIVATION_MEMORY_BUDGET && !took_effect(base, ACTIVATION_MEMORY_BUDGET) {
            // The program compiles nothing.
            return false;
        }
        if option.spec.name == ALLOCATOR_SETTINGS {
            return self
                .targets()
                .any(|target| self.standing(&[], *target) == Standing::DoesNot && base.least() <= *target)
                || self.has_rejected_open();
        }
        let shortage = base.usage.device_bytes - target;
        let share = if stage == SearchStage::Last { PART_OF_SHORTAGE * 4 } else { PART_OF_SHORTAGE };
        largest_saving(option, base).is_none_or(|saving| saving.0 >= shortage.0 / share)
    }

    /// True if a set failed within the target: other settings of the allocator may help.
    fn has_rejected_open(&self) -> bool {
        self.trials().any(|(limit, trial)| limit.is_some() && !trial.is_done())
    }

    /// True for an option beyond the next rung of its ladder: of accumulation by 2, 4, 8 … the first is run, then the first that fits by a
    /// line through the first.
    fn is_later_rung(&self, option: &Choosable, all: &[Choosable]) -> bool {
        let ladder: Vec<&Choosable> = all.iter().filter(|other| is_rung(other, option)).collect();
        let Some(at) = ladder.iter().position(|rung| rung.change == option.change) else { return false };
        if at == 0 || ladder.len() < 2 {
            return false;
        }
        !self.targets().any(|target| self.wanted_rung(&ladder, *target) == Some(at))
    }

    /// The rung to run next for a target; `None` if the ladder is done.
    fn wanted_rung(&self, ladder: &[&Choosable], target: Bytes) -> Option<usize> {
        let trial = |rung: &Choosable| self.trial(&Variant::need(vec![rung.change.clone()]));
        let (base, first) = (self.base()?, ladder.first().and_then(|rung| trial(rung))?);
        if !first.is_done() || first.usage.device_bytes >= base.usage.device_bytes || first.usage.device_bytes <= target
        {
            return None;
        }
        let fits =
            |rung: &&&Choosable| trial(rung).is_some_and(|trial| trial.is_done() && trial.usage.device_bytes <= target);
        if ladder.iter().any(|rung| fits(&rung)) {
            return None;
        }
        let saved = (base.usage.device_bytes - first.usage.device_bytes).0;
        let share = |rung: &Choosable| 1.0 - 1.0 / rung.factor.max(1.0);
        let first_share = share(ladder[0]);
        let estimate = |at: usize| base.usage.device_bytes - scale(saved, share(ladder[at]) / first_share);
        let likely = (1..ladder.len()).find(|at| estimate(*at) <= target).unwrap_or(ladder.len() - 1);
        (likely..ladder.len()).find(|at| trial(ladder[*at]).is_none())
    }
}

/// A number of bytes times a ratio.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate, of bytes below 2^52"
)]
fn scale(bytes: u64, ratio: f64) -> Bytes {
    Bytes((bytes as f64 * ratio) as u64)
}

/// True if two options are rungs of one ladder.
fn is_rung(one: &Choosable, other: &Choosable) -> bool {
    let is_switch = matches!(one.purpose, Some(Purpose::Precision | Purpose::Checkpointing));
    let is_ladder = (one.is_own() && !is_switch) || one.spec.name == GRADIENT_ACCUMULATION;
    let keys = |option: &Choosable| option.change.settings.keys().cloned().collect::<Vec<String>>();
    is_ladder
        && one.change.remedy == other.change.remedy
        && one.spec.name == other.spec.name
        && keys(one) == keys(other)
}

/// The largest saving of an option, by the categories at the peak; `None` for an option without a category.
fn largest_saving(option: &Choosable, base: &Trial) -> Option<Bytes> {
    if base.holds.is_empty() || option.is_own() {
        return None;
    }
    let of = |categories: &[Contents]| {
        base.holds.iter().filter(|part| categories.contains(&part.category)).map(|part| part.bytes).sum::<Bytes>()
    };
    match option.spec.saves {
        Saves::Any => None,
        Saves::Gradients => Some(of(&[Contents::Gradients])),
        Saves::Optimizer => Some(of(&[Contents::OptimizerState, Contents::Temporaries])),
        Saves::Parameters => Some(of(&[Contents::Parameters])),
        Saves::Activations => {
            Some(of(&[Contents::Activations, Contents::Temporaries, Contents::Other, Contents::Unattributed]))
        }
    }
}
