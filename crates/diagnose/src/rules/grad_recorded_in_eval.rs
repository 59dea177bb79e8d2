//! `grad-recorded-in-eval`: a forward whose result never sees a backward saves its activations for one all the same.
//!
//! What decides: in a pass without backward most of what forward made was alive until its end, and then let go of
//! without any backward. Under `no_grad` each result lives until the next is made. A history in which there is no
//! backward at all and the only pass failed does not tell evaluation from the first step of training; it is said, and
//! ranked behind what the activations are too large for.

use std::collections::BTreeSet;

use report::{Contents, Finding, Remedy, RuleId, Severity};
use trace::{Action, Bytes, EventIndex, Phase, StackId};

use super::{Cause, Rank, advice, bytes, count};
use crate::facts::Facts;
use crate::measure::life::Life;
use crate::measure::view::View;

/// A pass has to make this many tensors before their share means anything.
const TENSORS: u64 = 8;
/// Less than this share of the peak is not worth a word.
const SHARE: u64 = 20;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    completed(facts).or_else(|| only(facts))
}

/// The only pass of the history failed: evaluation, or the first step of training.
fn only(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.fatal)?, facts.moment?);
    let last = view.timeline.number(moment.event()?)?;
    let saved = facts.live_bytes(Contents::Activations);
    let most = saved.0.saturating_mul(2) > view.live_total(moment).0;
    if view.timeline.has_backward(0, last) || !most || facts.kept.is_some() {
        return None;
    }
    let finding = Finding {
        rule: RuleId("grad-recorded-in-eval"),
        severity: Severity::Warning,
        message: format!(
            "no backward ran before {saved} of activations were saved: if none was to come, they need not be"
        ),
        location: facts.failed_at(),
        evidence: vec![bytes("activations", saved, "what was live at the error")],
        remedies: vec![no_grad()],
    };
    Some(Cause { finding, bytes: Some(saved), rank: Rank::Fault })
}

fn no_grad() -> Remedy {
    advice(
        "evaluate under torch.no_grad() or torch.inference_mode()",
        "model.eval() changes dropout and batch normalisation, not what is saved for backward",
    )
}

/// Passes that went through, and saved what no backward used.
fn completed(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view?, facts.moment?);
    let pass = passes(view).into_iter().max_by_key(|pass| pass.most)?;
    let held = view.live_after(moment).filter(|(life, _)| pass.stacks.contains(&life.stack));
    let held: Bytes = held.map(|(life, _)| life.block()).sum();
    if pass.most.0.saturating_mul(SHARE) < view.live_total(moment).0 {
        return None;
    }
    let finding = Finding {
        rule: RuleId("grad-recorded-in-eval"),
        severity: if facts.fatal && held >= pass.most { Severity::Error } else { Severity::Warning },
        message: format!(
            "a forward without backward saved {} for one: {} tensors were alive until its end",
            pass.most, pass.tensors
        ),
        location: pass.stacks.first().and_then(|stack| view.call_location(*stack)),
        evidence: vec![
            bytes("alive at once in the pass", pass.most, "lifetimes in the history"),
            count("tensors the pass had made by then", pass.made, "lifetimes in the history"),
            count("of them still alive", pass.tensors, "lifetimes in the history"),
        ],
        remedies: vec![no_grad()],
    };
    Some(Cause { finding, bytes: Some(held), rank: Rank::Fault })
}

/// A run of forward in which memory piled up that no backward took down.
#[derive(Clone, Debug, Default)]
struct Pass {
    now: Bytes,
    alive: u64,
    made_now: u64,
    stacks_now: BTreeSet<StackId>,
    most: Bytes,
    tensors: u64,
    made: u64,
    stacks: BTreeSet<StackId>,
}

impl Pass {
    fn alloc(&mut self, stack: StackId, block: Bytes) {
        self.now += block;
        self.alive += 1;
        self.made_now += 1;
        self.stacks_now.insert(stack);
        if self.now > self.most {
            (self.most, self.tensors, self.made) = (self.now, self.alive, self.made_now);
            self.stacks.clone_from(&self.stacks_now);
        }
    }

    fn free(&mut self, block: Bytes) {
        self.now -= block;
        self.alive = self.alive.saturating_sub(1);
    }

    /// Whether most of what was made was still there.
    fn saved(&self) -> bool {
        self.tensors >= TENSORS && self.tensors * 2 >= self.made
    }
}

/// The passes that saved what no backward used.
fn passes(view: &View) -> Vec<Pass> {
    let (mut passes, mut pass) = (Vec::new(), Pass::default());
    for (index, event) in (0..).map(EventIndex).zip(view.events) {
        let Some(id) = view.found.lifetime_of(index) else { continue };
        let Some(life) = view.found.lifetimes().get(id.0 as usize).filter(|life| in_vain(view, life)) else { continue };
        match event.action {
            Action::Alloc => pass.alloc(life.stack, life.block()),
            Action::FreeRequested => pass.free(life.block()),
            _ => {}
        }
        if pass.alive == 0 {
            passes.push(std::mem::take(&mut pass));
        }
    }
    passes.retain(Pass::saved);
    passes
}

/// Whether a tensor of forward was let go of without a backward in its life.
fn in_vain(view: &View, life: &trace::Lifetime) -> bool {
    let (Some(begun), Some(freed)) = (life.begun(), life.freed()) else {
        return false;
    };
    let (made, done) = (view.timeline.number(begun), view.timeline.number(freed));
    let forward = view.timeline.phase(begun) == Some(Phase::Forward) && view.is_made_by_module(life.stack);
    let (Some(made), Some(done)) = (made, done) else { return false };
    forward && !view.timeline.has_backward(made, done)
}
