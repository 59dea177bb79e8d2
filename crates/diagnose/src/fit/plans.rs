//! Sets of options, and estimates of their needs.

use trace::Bytes;

use super::catalogue::Choosable;
use super::cost::{Tier, is_within, price};

/// The largest number of changes in a plan.
const MOST_CHANGES: usize = 5;

/// An option that was run alone, with the need it had.
#[derive(Clone, Debug)]
pub(super) struct Helpful {
    pub(super) option: Choosable,
    pub(super) need: Bytes,
    /// The partner without which the option had no effect.
    pub(super) with: Option<&'static str>,
}

/// All sets with at most one option of each group and none that lacks its partner, the cheapest first.
pub(super) fn sets(options: &[Helpful]) -> Vec<Vec<&Helpful>> {
    let mut all: Vec<Vec<&Helpful>> = Vec::new();
    extend(options, 0, &mut Vec::new(), &mut all);
    all.retain(|set| set.iter().all(|one| has_partner(one, set)));
    all.sort_by_cached_key(|set| price(&choosables(set)));
    all
}

fn extend<'a>(options: &'a [Helpful], from: usize, chosen: &mut Vec<&'a Helpful>, all: &mut Vec<Vec<&'a Helpful>>) {
    for (index, next) in options.iter().enumerate().skip(from) {
        if chosen.len() == MOST_CHANGES || chosen.iter().any(|one| one.option.group() == next.option.group()) {
            continue;
        }
        chosen.push(next);
        all.push(chosen.clone());
        extend(options, index + 1, chosen, all);
        chosen.pop();
    }
}

/// Whether a set contains the partner of an option.
pub(super) fn has_partner(one: &Helpful, set: &[&Helpful]) -> bool {
    one.with.is_none_or(|partner| set.iter().any(|other| other.option.spec.name == partner))
}

/// The most that can be done within a tier: of each group the option that needs least; then the same with another remedy in the
/// place of one, since what is strongest alone need not be so together.
pub(super) fn tops(options: &[Helpful], tier: Tier) -> Vec<Vec<&Helpful>> {
    let within: Vec<&Helpful> = options.iter().filter(|helpful| is_within(&helpful.option, tier)).collect();
    let mut best: Vec<&Helpful> = Vec::new();
    for next in &within {
        match best.iter_mut().find(|one| one.option.group() == next.option.group()) {
            Some(one) if is_stronger(next, one) => *one = next,
            Some(_) => {}
            None => best.push(next),
        }
    }
    let others = within.iter().filter_map(|other| {
        let index = best.iter().position(|one| one.option.group() == other.option.group())?;
        let mut swapped = best.clone();
        swapped[index] = other;
        (best[index].option.spec.name != other.option.spec.name).then_some(swapped)
    });
    let others: Vec<Vec<&Helpful>> = others.collect();
    if best.is_empty() { Vec::new() } else { std::iter::once(best).chain(others).collect() }
}

/// Whether `next` needs less than `one`. Of two options of one remedy that need the same alone, because something else is then at the
/// peak, the later does more.
fn is_stronger(next: &Helpful, one: &Helpful) -> bool {
    next.need < one.need || (next.need == one.need && next.option.spec.name == one.option.spec.name)
}

/// The options of a set without their figures.
pub(super) fn choosables<'a>(set: &[&'a Helpful]) -> Vec<&'a Choosable> {
    set.iter().map(|helpful| &helpful.option).collect()
}

/// What a set may need at the least, by two reckonings: savings that add up (of different things) and that multiply (of the
/// same). The truth lies between, mostly; nearer to the first, since what costs little is tried first and a run is cheap.
pub(super) fn estimate_need(base: Bytes, set: &[&Helpful]) -> Bytes {
    let saved: u64 = set.iter().map(|helpful| (base - helpful.need).0).sum();
    let added = base - Bytes(saved);
    let multiplied = set
        .iter()
        .fold(u128::from(base.0), |left, helpful| left * u128::from(helpful.need.0) / u128::from(base.0.max(1)));
    let multiplied = u64::try_from(multiplied).unwrap_or(u64::MAX);
    Bytes(added.0 / 4 * 3 + multiplied / 4)
}
