//! The tensors that a holder keeps alive at the error, as the agent found them in the living program.

use std::collections::{BTreeMap, BTreeSet};

use report::Location;
use trace::run::HeldRecord;
use trace::{Bytes, EventIndex, LifetimeId};

use crate::measure::life::Life;
use crate::rules::facts::input::Facts;
use crate::rules::rule::removal::Removal;

/// Less than 1/50 of the live bytes is not reported.
const MIN_SHARE_DENOMINATOR: u64 = 50;

/// The tensors of all holders of one kind.
#[derive(Clone, Debug)]
pub(in crate::rules) struct Held<'f> {
    pub(in crate::rules) records: Vec<&'f HeldRecord>,
    pub(in crate::rules) lives: BTreeSet<LifetimeId>,
    pub(in crate::rules) bytes: Bytes,
    /// The user's line that allocated most bytes.
    pub(in crate::rules) location: Option<Location>,
    error: EventIndex,
}

impl<'f> Held<'f> {
    /// Returns the tensors of the holders of a kind; `None` if they are small, or the agent saw none.
    pub(in crate::rules) fn by(facts: &'f Facts, holder: &str) -> Option<Held<'f>> {
        let (view, moment) = (facts.view.filter(|_| facts.is_at_error())?, facts.moment()?);
        let records: Vec<&HeldRecord> = view.trace.process.held.iter().filter(|held| held.holder == holder).collect();
        let addresses: BTreeSet<u64> = records.iter().flat_map(|held| held.addresses.iter().copied()).collect();
        let found: Vec<_> =
            view.live_with_ids(moment).filter(|(_, life, _)| addresses.contains(&life.address().0)).collect();
        let mut lines: BTreeMap<Option<Location>, Bytes> = BTreeMap::new();
        for (_, life, _) in &found {
            *lines.entry(view.call_location(life.stack)).or_default() += life.block();
        }
        let bytes: Bytes = lines.values().copied().sum();
        let is_small = bytes.0.saturating_mul(MIN_SHARE_DENOMINATOR) < view.live_total(moment).0;
        (!is_small && bytes > Bytes::ZERO).then_some(Held {
            records,
            lives: found.iter().map(|(id, ..)| *id).collect(),
            bytes,
            location: lines.into_iter().max_by_key(|(_, bytes)| *bytes).and_then(|(line, _)| line),
            error: moment.event_before()?,
        })
    }

    /// The change: the tensors are freed at the end of their iterations, those of the last one before the request.
    pub(in crate::rules) fn freed(&self, facts: &Facts) -> Removal {
        let before = EventIndex(self.error.0.saturating_sub(1));
        let lives = facts.view.map(|view| view.trace.history.lifetimes()).unwrap_or_default();
        let end = |id: &LifetimeId| {
            let life = lives.get(id.0 as usize)?;
            facts.iterations.iter().filter_map(|level| level.last_event(level.of(life)?)).min()
        };
        Removal::free_after(self.lives.iter().map(|id| (*id, end(id).unwrap_or(before))))
    }
}

/// The tensors that exceptions and reference cycles keep.
pub(in crate::rules) fn of_any_holder(facts: &Facts) -> BTreeSet<LifetimeId> {
    let holders = ["traceback", "cycle"].iter().filter_map(|holder| Held::by(facts, holder));
    holders.flat_map(|held| held.lives).collect()
}

/// True if a holder of either kind keeps most of the tensors that earlier iterations left.
pub(in crate::rules) fn explains_growth(facts: &Facts) -> bool {
    let Some(pressure) = &facts.pressure else { return false };
    let held = of_any_holder(facts);
    let kept = pressure.kept.iter().filter(|(id, _)| held.contains(id)).count();
    kept > 0 && kept * 2 > pressure.kept.len()
}
