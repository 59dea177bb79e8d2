//! Shrinks the strongest set to a set without superfluous changes. See Note [Search for a plan].

use report::fit::Prefer;
use trace::Bytes;

use super::cost::{Tier, price};
use super::plans::{Helpful, choosables, has_partner, sets, tops};
use super::search::{Search, Standing, changes};
use super::variant::Variant;

impl Search {
    /// The cheapest set that is known to fit.
    pub(super) fn cheapest_set<'a>(&self, options: &'a [Helpful], target: Bytes) -> Option<Vec<&'a Helpful>> {
        let shrunk = Tier::ALL.into_iter().filter_map(|tier| self.shrink(options, tier, target, 1).0);
        let fits = |set: &Vec<&Helpful>| self.standing(&changes(set), target) == Standing::Fits;
        let prefer = self.choice.prefer;
        sets(options, prefer).into_iter().filter(fits).chain(shrunk).min_by_key(|set| price(&choosables(set), prefer))
    }

    /// The strongest set of a tier that fits, without unneeded changes (the dearest is dropped first), and with the
    /// mildest sufficient option of each remaining remedy. Also returns at most `most` runs that decide which further
    /// changes can be dropped.
    pub(super) fn shrink<'a>(
        &self,
        options: &'a [Helpful],
        tier: Tier,
        target: Bytes,
        most: usize,
    ) -> (Option<Vec<&'a Helpful>>, Vec<Variant>) {
        let all = tops(options, tier);
        let Some(mut kept) = all.into_iter().find(|top| self.standing(&changes(top), target) == Standing::Fits) else {
            return (None, Vec::new());
        };
        let mut known = kept.clone();
        // A set with unknown result is assumed to fit, so that several runs can go on at the same time.
        let mut wanted = Vec::new();
        for option in dearest_first(&kept, self.choice.prefer) {
            for less in std::iter::once(None).chain(milder(option, options).map(Some)) {
                let set = exchanged(&kept, option, less);
                match self.outlook(&set, target) {
                    Standing::DoesNot if less.is_none() => continue,
                    Standing::DoesNot => break,
                    Standing::Fits => {}
                    Standing::Open => wanted.push(Variant::within(changes(&set), target)),
                    Standing::Unknown => wanted.push(Variant::need(changes(&set))),
                }
                kept = set;
                if wanted.len() >= most {
                    return (Some(known), wanted);
                }
                if wanted.is_empty() {
                    known.clone_from(&kept);
                }
                if less.is_none() {
                    break;
                }
            }
        }
        (Some(known), wanted)
    }

    /// The standing of a set, by its own trial or by the trial of a larger set.
    fn outlook(&self, set: &[&Helpful], target: Bytes) -> Standing {
        match self.standing(&changes(set), target) {
            Standing::Unknown if self.is_within_a_failure(set, target) => Standing::DoesNot,
            standing => standing,
        }
    }
}

fn dearest_first<'a>(set: &[&'a Helpful], prefer: Prefer) -> Vec<&'a Helpful> {
    let mut options = set.to_vec();
    options.sort_by_key(|helpful| std::cmp::Reverse(price(&[&helpful.option], prefer)));
    options
}

/// The options of the same remedy that do less, the strongest first.
fn milder<'a>(option: &'a Helpful, options: &'a [Helpful]) -> impl Iterator<Item = &'a Helpful> {
    let is_same = |other: &&Helpful| {
        other.option.spec.name == option.option.spec.name && other.option.is_own() == option.option.is_own()
    };
    let same = options.iter().filter(is_same);
    let before: Vec<&Helpful> = same.take_while(|other| other.option.change != option.option.change).collect();
    before.into_iter().rev()
}

/// A set with `by` instead of `option`; without `by`, the set without `option` and its dependents.
fn exchanged<'a>(set: &[&'a Helpful], option: &Helpful, by: Option<&'a Helpful>) -> Vec<&'a Helpful> {
    let name = option.option.spec.name;
    let kept = set.iter().filter_map(|one| if one.option.spec.name == name { by } else { Some(*one) });
    let left: Vec<&Helpful> = kept.collect();
    left.iter().copied().filter(|one| has_partner(one, &left)).collect()
}
