//! The cost of a set of changes, and the comparison of two costs.

use report::fit::{Cost, Exactness, Prefer, TimeSource};

use super::catalogue::Choosable;

/// Time ratios up to this count as free; those of the program's own options up to the second: nothing is edited.
const FREE: f64 = 1.025;
const FREE_OF_OWN: f64 = 1.15;
/// The weight of a change beside its time, in thousandths of a step.
const PERMILLE_PER_CHANGE: u64 = 20;
/// The further weight of a change of the source: it is made, reviewed and kept.
const PERMILLE_PER_EDIT: u64 = 100;

/// The order of cost: exact and free, exact and slower, other numerics, another model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Tier {
    Free,
    Slower,
    Numerics,
    Model,
}

impl Tier {
    pub(super) const ALL: [Tier; 4] = [Tier::Free, Tier::Slower, Tier::Numerics, Tier::Model];
}

/// The place of a set or a plan among others: the least is the first.
pub(super) type Price = [u64; 4];

/// True if an option belongs to `tier` or a cheaper tier.
pub(super) fn is_within(option: &Choosable, tier: Tier) -> bool {
    tier_of(option) <= tier
}

fn tier_of(option: &Choosable) -> Tier {
    tier(option.exactness(), option.time_ratio, option.is_own())
}

/// The tier of a change or a plan.
pub(super) fn tier(exactness: Exactness, time_ratio: f64, is_own: bool) -> Tier {
    let free = if is_own { FREE_OF_OWN } else { FREE };
    match exactness {
        Exactness::Identical | Exactness::UpToRounding if time_ratio <= free => Tier::Free,
        Exactness::Identical | Exactness::UpToRounding => Tier::Slower,
        Exactness::OtherNumerics => Tier::Numerics,
        Exactness::OtherModel => Tier::Model,
    }
}

/// The tier of a set: that of its dearest option.
pub(super) fn tier_of_set(set: &[&Choosable]) -> Tier {
    set.iter().map(|option| tier_of(option)).max().unwrap_or(Tier::Free)
}

/// The cost of a set, by the typical prices of its options.
pub(super) fn cost(set: &[&Choosable]) -> Cost {
    Cost {
        exactness: set.iter().map(|option| option.exactness()).max().unwrap_or_default(),
        time_ratio: set.iter().map(|option| option.time_ratio).product(),
        time_source: TimeSource::Typical,
    }
}

/// The place of a set in the order of `prefer`. By options: sets without an edit first, unless the training is another. By results: by tier, then by the number of changes that alter results, then by time
/// and by the work of making the changes.
pub(super) fn price(set: &[&Choosable], prefer: Prefer) -> Price {
    let altering = set.iter().filter(|option| option.exactness() >= Exactness::OtherNumerics).count();
    let edits = set.iter().filter(|option| !option.is_own()).count();
    let time = permille(set.iter().map(|option| option.time_ratio.max(1.0)).product());
    let faster = permille(set.iter().map(|option| option.time_ratio).product());
    arrange(prefer, tier_of_set(set), altering, (time, faster), (set.len(), edits))
}

/// Arranges the parts of a price. `time`: a faster step is no reason to add a change, unless time is preferred.
pub(super) fn arrange(
    prefer: Prefer,
    tier: Tier,
    altering: usize,
    (time, faster): (u64, u64),
    (changes, edits): (usize, usize),
) -> Price {
    let (tier, altering, changes, edits) = (tier as u64, altering as u64, changes as u64, edits as u64);
    let effort = PERMILLE_PER_CHANGE * changes + PERMILLE_PER_EDIT * edits;
    let is_edited = u64::from(edits > 0 || tier == Tier::Model as u64);
    match prefer {
        Prefer::Options => [is_edited * 8 + tier, altering, time + effort, changes],
        Prefer::Results => [tier, altering, time + effort, changes],
        Prefer::Time => [faster + PERMILLE_PER_CHANGE * changes, tier, altering, edits],
        Prefer::Edits => [edits, tier, altering, time + effort],
    }
}

/// A ratio in thousandths.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ratios of times are small and positive")]
pub(super) fn permille(ratio: f64) -> u64 {
    (ratio * 1000.0).round() as u64
}
