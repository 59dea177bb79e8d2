//! `one-huge-request`: one request is larger than all that could ever be free.

use report::{Contents, Finding, RuleId, Severity};
use trace::Bytes;

use super::{Cause, Rank, advice, bytes};
use crate::facts::{Facts, Failure};

/// After the fact, one part of the device in so many is one large request; less only adds to what is there already.
const LARGE: u64 = 3;

/// What no earlier freeing gives back.
const PERSISTENT: [Contents; 4] =
    [Contents::Parameters, Contents::Gradients, Contents::OptimizerState, Contents::Buffers];

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| facts.fatal && failure.is_allocators())?;
    let requested = failure.requested?.nearest;
    let room = facts.device.usable.or_else(|| facts.device.total.map(|total| total.nearest))?;
    let kept = kept(facts, failure);
    let most = room - kept.unwrap_or_default();
    if requested <= most || (facts.explains && requested.0.saturating_mul(LARGE) < room.0) {
        return None;
    }
    let mut evidence = vec![bytes("requested", requested, failure.request_source)];
    evidence.push(match facts.device.usable {
        Some(usable) => bytes(facts.device.usable_is.0, usable, facts.device.usable_is.1),
        None => bytes("device", room, failure.counters_source),
    });
    let source = "what was live at the error";
    evidence.extend(kept.map(|kept| bytes("parameters, gradients, optimizer state, buffers", kept, source)));
    let finding = Finding {
        rule: RuleId("one-huge-request"),
        severity: Severity::Error,
        message: format!("one request for {requested} is larger than the {most} that could ever be free"),
        location: failure.location.clone(),
        evidence,
        remedies: vec![advice(
            "make that tensor smaller",
            "scaled-dot-product attention instead of an explicit matrix, a loss in chunks, indices instead of one-hot; \
             broadcasting makes large results of small tensors",
        )],
    };
    Some(Cause { finding, bytes: Some(requested), rank: Rank::Fault })
}

/// What was live at the error and stays by design; `None` without a history of it.
fn kept(facts: &Facts, failure: &Failure) -> Option<Bytes> {
    let (view, error) = (facts.view?, failure.event?);
    Some(PERSISTENT.iter().map(|&contents| view.live_bytes(error, contents)).sum())
}
