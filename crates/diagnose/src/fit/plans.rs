//! Sets of options, and estimates of their needs.

use report::fit::Prefer;
use trace::Bytes;

use super::catalogue::Choosable;
use super::cost::{Tier, is_within, price};

/// The largest number of changes in a plan.
const MOST_CHANGES: usize = 5;

/// An option with its need in a run alone.
#[derive(Clone, Debug)]
pub(super) struct Helpful {
    pub(super) option: Choosable,
    pub(super) need: Bytes,
    /// The partner without which the option had no effect.
    pub(super) with: Option<&'static str>,
}

/// All sets with at most one option of each group and with all partners, the cheapest first.
pub(super) fn sets(options: &[Helpful], prefer: Prefer) -> Vec<Vec<&Helpful>> {
    let mut all: Vec<Vec<&Helpful>> = Vec::new();
    extend(options, 0, &mut Vec::new(), &mut all);
    all.retain(|set| set.iter().all(|one| has_partner(one, set)));
    all.sort_by_cached_key(|set| price(&choosables(set), prefer));
    all
}

fn extend<'a>(options: &'a [Helpful], from: usize, chosen: &mut Vec<&'a Helpful>, all: &mut Vec<Vec<&'a Helpful>>) {
    for (index, next) in options.iter().enumerate().skip(from) {
        if chosen.len() == MOST_CHANGES || chosen.iter().any(|one| one.option.group == next.option.group) {
            continue;
        }
        chosen.push(next);
        all.push(chosen.clone());
        extend(options, index + 1, chosen, all);
        chosen.pop();
    }
}

/// True if a set contains the partner of an option.
pub(super) fn has_partner(one: &Helpful, set: &[&Helpful]) -> bool {
    one.with.is_none_or(|partner| set.iter().any(|other| other.option.spec.name == partner))
}

/// The strongest sets within a tier: of each group the option with the least need; then the same with a remedy
/// exchanged, since the strongest options alone need not be the strongest together.
pub(super) fn tops(options: &[Helpful], tier: Tier) -> Vec<Vec<&Helpful>> {
    let within: Vec<&Helpful> = options.iter().filter(|helpful| is_within(&helpful.option, tier)).collect();
    let mut best: Vec<&Helpful> = Vec::new();
    for next in &within {
        match best.iter_mut().find(|one| one.option.group == next.option.group) {
            Some(one) if is_stronger(next, one) => *one = next,
            Some(_) => {}
            None => best.push(next),
        }
    }
    let others = within.iter().filter_map(|other| {
        let index = best.iter().position(|one| one.option.group == other.option.group)?;
        let mut swapped = best.clone();
        swapped[index] = other;
        (best[index].option.spec.name != other.option.spec.name).then_some(swapped)
    });
    let others: Vec<Vec<&Helpful>> = others.collect();
    if best.is_empty() { Vec::new() } else { std::iter::once(best).chain(others).collect() }
}

/// True if `next` needs less than `one`. Two options of a remedy may need the same alone, because the peak is then
/// elsewhere; the later option does more.
fn is_stronger(next: &Helpful, one: &Helpful) -> bool {
    next.need < one.need || (next.need == one.need && next.option.spec.name == one.option.spec.name)
}

/// The options of a set without their figures.
pub(super) fn choosables<'a>(set: &[&'a Helpful]) -> Vec<&'a Choosable> {
    set.iter().map(|helpful| &helpful.option).collect()
}

/// A lower estimate of a set's need, between two sums: savings that add up (different memory) and savings that multiply
/// (the same memory). The truth mostly lies between; the estimate is nearer to the first, since cheap sets are tried
/// first and a run is cheap.
pub(super) fn estimate_need(base: Bytes, set: &[&Helpful]) -> Bytes {
    let saved: u64 = set.iter().map(|helpful| (base - helpful.need).0).sum();
    let added = base - Bytes(saved);
    let multiplied = set
        .iter()
        .fold(u128::from(base.0), |left, helpful| left * u128::from(helpful.need.0) / u128::from(base.0.max(1)));
    let multiplied = u64::try_from(multiplied).unwrap_or(u64::MAX);
    Bytes(added.0 / 4 * 3 + multiplied / 4)
}
