//! Verifies the model: replays a program under its own settings and compares with the recording.

use trace::{Action, Address, Event};

use super::difference::Difference;
use super::op::{Op, Program};
use super::run::Player;
use super::script::Script;
use crate::machine::Allocator;
use crate::rules::Rules;
use crate::settings::Settings;

/// The part of a recording that a replay under the recorded settings repeats.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The number of matching device calls: segments reserved, released, mapped and unmapped, and failures.
    pub segment_events: usize,
    /// The number of requests that got the recorded address.
    pub placements: usize,
    /// The first difference; the comparison ends there.
    pub difference: Option<Difference>,
}

/// Replays a program under its recorded settings, from the recorded start, and compares.
///
/// `events` are the events of the program's history.
pub fn verify(program: &Program, events: &[Event], settings: &Settings, rules: Rules) -> Agreement {
    let script = Script::new(events);
    let mut player = Player::new(program, Allocator::new(rules, settings.clone(), script, ()));
    player.restore();
    let mut placements = 0;
    for index in 0..program.ops.len() {
        if let Some(difference) = player.differs(index, events, &mut placements) {
            return agreement(&player, placements, Some(difference));
        }
    }
    let script = player.allocator.device();
    let missing = script.peek().map(|_| Difference::Missing { event: script.position() });
    agreement(&player, placements, missing)
}

impl Agreement {
    /// Tests that more of the recording was repeated.
    pub fn is_longer_than(&self, other: &Agreement) -> bool {
        let length = |agreement: &Agreement| (agreement.difference.is_none(), agreement.placements);
        length(self) > length(other)
    }
}

type Verifying<'a> = Player<'a, Script<'a>, ()>;

fn agreement(player: &Verifying<'_>, placements: usize, difference: Option<Difference>) -> Agreement {
    Agreement { segment_events: player.allocator.device().matched, placements, difference }
}

impl<'a> Verifying<'a> {
    /// Executes one operation; returns the first difference.
    fn differs(&mut self, index: usize, events: &'a [Event], placements: &mut usize) -> Option<Difference> {
        let event = self.event_of(index);
        let outcome = self.step(index);
        if let Some(difference) = self.allocator.device().difference.clone() {
            return Some(difference);
        }
        match (self.program.ops[index], outcome) {
            (_, Err(error)) => Some(Difference::Failure { event, error }),
            (Op::Malloc { slot, .. } | Op::MallocPrivate { slot, .. }, Ok(())) => {
                let replayed = self.allocator.address(self.blocks[slot.0 as usize]);
                let recorded = events[event.0 as usize].address;
                *placements += usize::from(replayed == recorded);
                (replayed != recorded).then_some(Difference::Placement { event, replayed, recorded })
            }
            (Op::Failed { .. }, Ok(())) => {
                // The machine reports no `oom`; the script has passed the releases before the failure.
                let script = self.allocator.device_mut();
                if script.peek().is_some_and(|next| next.action == Action::Oom) {
                    script.advance();
                    return None;
                }
                Some(Difference::Missing { event })
            }
            _ => None,
        }
    }

    /// Restores the state before the first event.
    fn restore(&mut self) {
        for segment in &self.program.start.segments {
            // Sorted by address, as the segments are.
            let older = &self.program.older;
            let pool = older.get(older.partition_point(|older| older.address < segment.address));
            let pool = pool.filter(|older| older.address.0 - segment.address.0 < segment.size.0);
            let pool = pool.and_then(|older| older.pool).map(|number| self.pools[usize::from(number.0)]);
            let requested = |address: Address| {
                let at = self.program.older.binary_search_by_key(&address, |older| older.address).ok()?;
                Some((self.program.older[at].requested, self.program.older[at].slot))
            };
            for (address, block) in self.allocator.restore_segment(segment, pool, |at| requested(at).map(|(n, _)| n)) {
                if let Some((_, slot)) = requested(address) {
                    self.blocks[slot.0 as usize] = block;
                }
            }
        }
    }
}
