//! Phases and steps of a history without marks.
//!
//! # Note [Steps without marks]
//! A step is one forward and the backward that follows it, with what lies between them and the next forward. With
//! gradient accumulation that is a micro-batch, not an optimizer step: an optimizer that allocates nothing in `step`
//! leaves no event. Forward passes without a backward (evaluation) belong to the step of the next backward. A history
//! without any backward is one step.

use trace::{Action, Event, Phase};

use super::roles::Role;
use crate::measure::timeline::Timeline;

/// The timeline of `events`, whose stacks had `roles`.
pub(crate) fn timeline(events: &[Event], roles: &[Role]) -> Timeline {
    let mut walk = Walk { timeline: Timeline::default(), step: 1, phase: Phase::Setup, backward: false };
    for event in events {
        let role = roles.get(event.stack.0 as usize).copied().unwrap_or(Role::Frameless);
        walk.event(event.action, role);
    }
    walk.timeline
}

struct Walk {
    timeline: Timeline,
    step: u32,
    phase: Phase,
    /// Whether this step has had a backward.
    backward: bool,
}

impl Walk {
    fn event(&mut self, action: Action, role: Role) {
        let telling = match action {
            Action::Alloc => true,
            // A free without a stack of its own carries that of the allocation, which says nothing of now.
            Action::FreeRequested => role == Role::ZeroGrad,
            _ => false,
        };
        if telling {
            self.enter(next(self.phase, role));
        }
        self.timeline.push(Some((self.step, self.phase)));
    }

    fn enter(&mut self, phase: Phase) {
        match phase {
            Phase::Forward if self.backward => self.begin_step(),
            // The loss of hand-written code, without any module: what came before backward was forward.
            Phase::Backward if self.phase == Phase::Data => self.timeline.rename_last((self.step, Phase::Forward)),
            _ => {}
        }
        self.backward |= phase == Phase::Backward;
        self.phase = phase;
    }

    /// What was loaded since the last step belongs to this one.
    fn begin_step(&mut self) {
        self.step += 1;
        self.backward = false;
        if self.phase == Phase::Data {
            self.timeline.rename_last((self.step, Phase::Data));
        }
    }
}

/// The phase after an allocation of `role` in `phase`.
fn next(phase: Phase, role: Role) -> Phase {
    let after_backward = matches!(phase, Phase::Backward | Phase::Optimizer | Phase::Other);
    match role {
        Role::Forward | Role::Functional => Phase::Forward,
        Role::Backward => Phase::Backward,
        Role::Frameless if matches!(phase, Phase::Forward | Phase::Backward) => Phase::Backward,
        Role::Optimizer | Role::OptimizerState => Phase::Optimizer,
        Role::Clipping => Phase::Other,
        Role::ZeroGrad | Role::Own | Role::Built if after_backward => Phase::Data,
        Role::Loading if phase != Phase::Setup => Phase::Data,
        _ => phase,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "test")]
mod tests {
    use trace::{Address, Bytes, StackId, Stream};

    use super::*;

    const ROLES: [Role; 9] = [
        Role::Frameless,
        Role::Own,
        Role::Placed,
        Role::Forward,
        Role::Functional,
        Role::Backward,
        Role::Optimizer,
        Role::ZeroGrad,
        Role::Loading,
    ];

    fn check(roles: &[Role], expected: &[(u32, Phase)]) {
        let stack = |role: &Role| ROLES.iter().position(|known| known == role).unwrap();
        let event = |role: &Role| Event {
            action: if *role == Role::ZeroGrad { Action::FreeRequested } else { Action::Alloc },
            address: Address(0),
            size: Bytes(1),
            stream: Stream(0),
            stack: StackId(u32::try_from(stack(role)).unwrap()),
            mark: None,
            time: None,
            pool: None,
        };
        let events: Vec<Event> = roles.iter().map(event).collect();
        let timeline = timeline(&events, &ROLES);
        let found: Vec<_> = timeline.stretches().iter().map(|stretch| stretch.at.unwrap()).collect();
        assert_eq!(found, expected, "{roles:?}");
    }

    #[test]
    fn a_step_is_a_forward_and_its_backward() {
        use Phase::{Backward as B, Data as D, Forward as F, Optimizer as O, Setup as S};
        use Role::{Backward, Forward, Frameless, Functional, Loading, Optimizer, Own, Placed, ZeroGrad};
        check(&[], &[]);
        check(&[Frameless, Frameless], &[(1, S)]);
        let step = [Own, Forward, Functional, Frameless, Optimizer, ZeroGrad];
        let twice: Vec<Role> = [&[Placed][..], &step, &step].concat();
        check(&twice, &[(1, S), (1, F), (1, B), (1, O), (2, D), (2, F), (2, B), (2, O), (2, D)]);
        check(&[Forward, ZeroGrad, Frameless, Forward], &[(1, F), (1, B), (2, F)]);
        check(&[Forward, Backward, Own, Optimizer, Forward], &[(1, F), (1, B), (1, D), (1, O), (2, F)]);
        check(&[Forward, Frameless, Forward, Loading, Forward, Frameless, Forward], &[
            (1, F), (1, B), (2, F), (2, D), (2, F), (2, B), (3, F),
        ]);
        check(&[Forward, Backward, Own, Backward, Own], &[(1, F), (1, B), (1, F), (1, B), (1, D)]);
        check(&[Own, Loading, Forward, Own, Loading], &[(1, S), (1, F), (1, D)]);
    }
}
