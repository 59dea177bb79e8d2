//! `one-huge-request`: one request is larger than the memory that could ever be free.
//!
//! Role request, order 110.

use causes::CauseId;
use report::{Contents, Finding, Remedy, Severity};
use trace::Bytes;
use trace::text::StatedBytes;

use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Failure, Usable};
use crate::rules::facts::known::{Known, Source, bytes};
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// A request is huge from 1/3 of the device on.
const MIN_REQUEST_DENOMINATOR: u64 = 3;

/// The categories that stay from step to step.
const PERSISTENT: [Contents; 4] =
    [Contents::Parameters, Contents::Gradients, Contents::OptimizerState, Contents::Buffers];

pub(super) const RULE: Rule = Rule { cause: CauseId::OneHugeRequest, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| failure.is_fatal && failure.is_allocators())?;
    let size = failure.requested?;
    let requested = size.nearest();
    let of_total = |total: Known<StatedBytes>| Usable { what: "device", bytes: total.to_nearest() };
    let usable = facts.device.usable.or_else(|| facts.device.total.map(of_total))?;
    let room = usable.bytes.value;
    let kept = persistent_bytes(facts, failure);
    let most = room - kept.unwrap_or_default();
    if requested <= most || requested.0.saturating_mul(MIN_REQUEST_DENOMINATOR) < room.0 {
        return None;
    }
    let mut evidence = vec![size.row("requested"), usable.bytes.row(usable.what)];
    let source = Source::LiveAtError;
    evidence.extend(kept.map(|kept| bytes("parameters, gradients, optimizer state, buffers", kept, source)));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Error,
        message: format!("one request for {requested} is larger than the {most} that could ever be free"),
        location: failure.location.clone(),
        evidence,
        remedies: vec![make_smaller()],
    };
    Some(Cause { finding, bytes: Some(requested), rank: Rank::Fault, removal: None })
}

pub(in crate::rules) fn make_smaller() -> Remedy {
    advice(
        "make that tensor smaller",
        "scaled-dot-product attention instead of an explicit matrix, a loss in chunks, indices instead of one-hot; \
         broadcasting of small tensors makes large results",
    )
}

/// The persistent bytes alive at the error; `None` without a history of the error.
fn persistent_bytes(facts: &Facts, failure: &Failure) -> Option<Bytes> {
    let (view, error) = (facts.view?, failure.event?);
    Some(PERSISTENT.iter().map(|&contents| view.live_bytes(error, contents)).sum())
}
