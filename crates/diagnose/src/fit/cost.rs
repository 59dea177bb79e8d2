//! The cost of a set of changes, and the comparison of two costs.

use report::fit::{Cost, Exactness, TimeSource};

use super::catalogue::Choosable;

/// Time ratios up to this count as free.
const FREE: f64 = 1.025;
/// The weight of a change beside its time, in thousandths of a step.
const PERMILLE_PER_CHANGE: u64 = 20;

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

/// True if an option belongs to `tier` or a cheaper tier.
pub(super) fn is_within(option: &Choosable, tier: Tier) -> bool {
    tier_of(option.exactness(), option.time_ratio) <= tier
}

fn tier_of(exactness: Exactness, time_ratio: f64) -> Tier {
    match exactness {
        Exactness::Identical | Exactness::UpToRounding if time_ratio <= FREE => Tier::Free,
        Exactness::Identical | Exactness::UpToRounding => Tier::Slower,
        Exactness::OtherNumerics => Tier::Numerics,
        Exactness::OtherModel => Tier::Model,
    }
}

/// The cost of a set, by the typical prices of its options.
pub(super) fn cost(set: &[&Choosable]) -> Cost {
    Cost {
        exactness: set.iter().map(|option| option.exactness()).max().unwrap_or_default(),
        time_ratio: set.iter().map(|option| option.time_ratio).product(),
        time_source: TimeSource::Typical,
    }
}

/// Sorts sets: by tier, then by the number of changes that alter results, then by time, then by the number of changes.
///
/// A change is a thing to make, to review and to keep: it weighs as much as so many thousandths of the time.
pub(super) fn price(set: &[&Choosable]) -> (Tier, usize, u64, usize) {
    let dearest = set.iter().map(|option| tier_of(option.exactness(), option.time_ratio)).max().unwrap_or(Tier::Free);
    let altering = set.iter().filter(|option| option.exactness() >= Exactness::OtherNumerics).count();
    (dearest, altering, permille(slowed(set)) + PERMILLE_PER_CHANGE * set.len() as u64, set.len())
}

/// The slowdown of a set. A faster step is no reason to add a change.
fn slowed(set: &[&Choosable]) -> f64 {
    set.iter().map(|option| option.time_ratio.max(1.0)).product()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ratios of times are small and positive")]
fn permille(ratio: f64) -> u64 {
    (ratio * 1000.0).round() as u64
}
