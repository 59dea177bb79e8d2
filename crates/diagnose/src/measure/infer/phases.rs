//! Phases and steps of a history without marks.
//!
//! # Note [Steps without marks]
//! A step is one forward and the following backward, with the events up to the next forward. With gradient
//! accumulation a step is a micro-batch, not an optimizer step: an optimizer without allocations in `step` leaves no
//! event. Forward passes without a backward (evaluation) belong to the step of the next backward.
//!
//! Inference and generation have no backward, but their histories repeat. Their steps are the repetitions that `trace`
//! finds, else the allocations of the rarest stack that recurs over most of the history.

use trace::{Action, Event, EventIndex, History, Phase, StackTable};

use crate::measure::roles::Role;
use crate::measure::timeline::Timeline;

/// Returns the timeline of `events`; `roles` are the roles of their stacks.
pub(crate) fn infer_timeline(events: &[Event], roles: &[Role], history: &History, stacks: &StackTable) -> Timeline {
    let mut walk = Walk { timeline: Timeline::default(), step: 1, phase: Phase::Setup, backward: false };
    for event in events {
        let role = roles.get(event.stack.0 as usize).copied().unwrap_or(Role::Frameless);
        walk.event(event.action, role);
    }
    if walk.step == 1 && !walk.backward {
        let found = history.find_steps(events, stacks).map(|steps| steps.first_events().to_vec());
        return repeating(events, roles, found, &walk.timeline).unwrap_or(walk.timeline);
    }
    walk.timeline
}

/// Returns a timeline with one step per repetition; `None` without repetition.
fn repeating(
    events: &[Event],
    roles: &[Role],
    found: Option<Vec<EventIndex>>,
    timeline: &Timeline,
) -> Option<Timeline> {
    let steps = found.filter(|steps| leave_the_model(events, roles, steps)).or_else(|| rarest(events, roles))?;
    let (mut firsts, mut renumbered, mut step) = (steps.iter().peekable(), Timeline::default(), 0);
    for index in (0..).map(EventIndex).take(events.len()) {
        step += u32::from(firsts.next_if(|first| **first <= index).is_some());
        let phase = timeline.phase(index).unwrap_or_default();
        let phase = if step > 0 && phase == Phase::Setup { Phase::Data } else { phase };
        renumbered.push(Some((step.max(1), phase)));
    }
    Some(renumbered)
}

/// Checks that most repetitions contain an allocation outside any module: the layers of a model repeat too.
fn leave_the_model(events: &[Event], roles: &[Role], steps: &[EventIndex]) -> bool {
    let outside = |event: &Event| {
        event.action == Action::Alloc && roles.get(event.stack.0 as usize).is_some_and(|role| is_outside(*role))
    };
    let turn = |pair: &&[EventIndex]| match pair {
        [from, to] => events.get(from.0 as usize..to.0 as usize).is_some_and(|turn| turn.iter().any(outside)),
        _ => false,
    };
    steps.windows(2).filter(turn).count() * 2 > steps.len()
}

/// Checks that a stack is certainly outside a module's call.
fn is_outside(role: Role) -> bool {
    matches!(role, Role::Own | Role::Built | Role::Loading | Role::Functional)
}

/// A stack must recur this often to count as repetition.
const REPEATS: usize = 4;

/// Returns the allocations of the rarest stack that recurs over most of the history: the outermost loop allocates
/// them.
fn rarest(events: &[Event], roles: &[Role]) -> Option<Vec<EventIndex>> {
    let mut made: Vec<Vec<EventIndex>> = vec![Vec::new(); roles.len()];
    let allocs = (0..).map(EventIndex).zip(events).filter(|(_, event)| event.action == Action::Alloc);
    let allocs: Vec<(EventIndex, &Event)> = allocs.collect();
    for run in allocs.chunk_by(|(_, one), (_, other)| one.stack == other.stack) {
        let places = run.first().and_then(|(_, event)| made.get_mut(event.stack.0 as usize));
        if let Some(places) = places {
            places.extend(turns(run));
        }
    }
    let spans = |places: &[EventIndex]| {
        let ends = places.first().zip(places.last());
        ends.is_some_and(|(first, last)| (last.0 - first.0) as usize * 2 >= events.len())
    };
    let repeating = made
        .into_iter()
        .zip(roles)
        .filter(|(places, role)| places.len() >= REPEATS && is_outside(**role) && spans(places));
    repeating.map(|(places, _)| places).min_by_key(|places| (places.len(), places.first().copied()))
}

/// Returns the turns of a loop in a run of allocations of one stack: one turn per allocation, if their sizes are
/// similar. A single call of an operator with several results is also such a run, and a single turn.
fn turns<'a>(run: &'a [(EventIndex, &Event)]) -> impl Iterator<Item = EventIndex> + 'a {
    let sizes = || run.iter().map(|(_, event)| event.size.0);
    let alike = sizes().min().zip(sizes().max()).is_some_and(|(least, most)| most / 2 <= least);
    run.iter().map(|(index, _)| *index).take(if alike { run.len() } else { 1 })
}

struct Walk {
    timeline: Timeline,
    step: u32,
    phase: Phase,
    /// True after the step's backward.
    backward: bool,
}

impl Walk {
    fn event(&mut self, action: Action, role: Role) {
        let telling = match action {
            Action::Alloc => true,
            // A free without its own stack carries the allocation's stack, which does not describe the time of the
            // free.
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
            // The loss of hand-written code, without any module: the phase before backward was forward.
            Phase::Backward if self.phase == Phase::Data => self.timeline.rename_last((self.step, Phase::Forward)),
            _ => {}
        }
        self.backward |= phase == Phase::Backward;
        self.phase = phase;
    }

    /// Starts a step. Data loaded since the last step belongs to the new step.
    fn begin_step(&mut self) {
        self.step += 1;
        self.backward = false;
        if self.phase == Phase::Data {
            self.timeline.rename_last((self.step, Phase::Data));
        }
    }
}

/// Returns the phase after an allocation of `role` in `phase`.
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
        let timeline = infer_timeline(&events, &ROLES, &History::default(), &StackTable::default());
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
        check(
            &[Forward, Frameless, Forward, Loading, Forward, Frameless, Forward],
            &[(1, F), (1, B), (2, F), (2, D), (2, F), (2, B), (3, F)],
        );
        check(&[Forward, Backward, Own, Backward, Own], &[(1, F), (1, B), (1, F), (1, B), (1, D)]);
        check(&[Own, Loading, Forward, Own, Loading], &[(1, S), (1, F), (1, D)]);
    }
}
