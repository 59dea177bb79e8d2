//! `shm`: the host's shared memory ran out; DataLoader workers pass batches through it.
//!
//! Role surroundings, order 80.

use causes::CauseId;
use trace::text::OomKind;

use super::host_memory::host_cause;
use super::input::Facts;
use super::rule::{Cause, Check, Rule};
use super::shared::advice;

pub(super) const RULE: Rule = Rule { cause: CauseId::Shm, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| failure.kind == OomKind::SharedMemory)?;
    let remedy = advice(
        "give the container more shared memory (docker run --shm-size=8g or --ipc=host), or use fewer workers",
        "df -h /dev/shm shows its size",
    );
    let message = "the host's shared memory ran out; DataLoader workers pass batches through it";
    Some(host_cause(RULE.cause, facts, failure, message, remedy))
}
