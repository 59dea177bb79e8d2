//! `shm`: the host's shared memory ran out; DataLoader workers pass batches through it.
//!
//! Role surroundings, order 80.

use causes::CauseId;
use report::Remedy;
use trace::text::{ClueKind, OomKind};

use super::host_memory::{host_cause, nccl_room};
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::rule::{Cause, Check, Rule};

pub(super) const RULE: Rule = Rule { cause: CauseId::Shm, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| failure.kind == OomKind::SharedMemory)?;
    let (message, remedies) = match failure.clue(ClueKind::SharedTransport) {
        Some(_) => {
            ("the host's shared memory ran out; NCCL's ranks of one host pass their data through it", vec![nccl_room()])
        }
        None => ("the host's shared memory ran out; DataLoader workers pass batches through it", vec![more_shm()]),
    };
    Some(host_cause(RULE.cause, facts, failure, message, remedies))
}

fn more_shm() -> Remedy {
    advice(
        "give the container more shared memory (docker run --shm-size=8g or --ipc=host), or use fewer workers",
        "df -h /dev/shm shows its size",
    )
}
