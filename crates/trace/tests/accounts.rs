//! Invariants of the account of every history, real or nonsense.

mod recorded;

use proptest::prelude::*;
use recorded::allocator::Allocator;
use trace::{
    Action, Address, Bytes, Event, EventIndex, History, Moment, Peak, Segment, SnapshotSettings, State, Totals,
};

const MIB: u64 = 1 << 20;

fn event(action: Action, address: u64, size: u64) -> Event {
    Event::new(action, Address(address), Bytes(size))
}

/// An operation of a program.
#[derive(Clone, Copy, Debug)]
enum Op {
    Alloc(u64),
    Free(prop::sample::Index),
    /// A free of a block in use by a side stream.
    LetGo(prop::sample::Index),
    Complete(prop::sample::Index),
    EmptyCache,
}

fn any_program() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => (1..MIB).prop_map(Op::Alloc),
        4 => (MIB..24 * MIB).prop_map(Op::Alloc),
        4 => any::<prop::sample::Index>().prop_map(Op::Free),
        1 => any::<prop::sample::Index>().prop_map(Op::LetGo),
        1 => any::<prop::sample::Index>().prop_map(Op::Complete),
        1 => Just(Op::EmptyCache),
    ];
    proptest::collection::vec(op, 1..200)
}

fn run(program: &[Op]) -> Allocator {
    let mut allocator = Allocator::default();
    let (mut held, mut pending) = (Vec::new(), Vec::new());
    let take = |from: &mut Vec<u64>, index: prop::sample::Index| {
        (!from.is_empty()).then(|| from.swap_remove(index.index(from.len())))
    };
    for op in program {
        match *op {
            Op::Alloc(size) => held.push(allocator.alloc(size, 1)),
            Op::Free(index) => {
                if let Some(address) = take(&mut held, index) {
                    allocator.request_free(address);
                    allocator.complete_free(address);
                }
            }
            Op::LetGo(index) => {
                if let Some(address) = take(&mut held, index) {
                    allocator.request_free(address);
                    pending.push(address);
                }
            }
            Op::Complete(index) => {
                if let Some(address) = take(&mut pending, index) {
                    allocator.complete_free(address);
                }
            }
            Op::EmptyCache => allocator.empty_cache(),
        }
    }
    allocator
}

/// The possible error of a history whose oldest blocks have unknown ends.
fn doubt(history: &History) -> u64 {
    history.unsure() * MIB
}

proptest! {
    /// The account of a program equals the allocator's own, also for histories without their beginning.
    #[test]
    fn the_account_is_the_allocators_own(program in any_program(), cut: prop::sample::Index) {
        let allocator = run(&program);
        let dump = allocator.dump();
        let dump: Vec<&Segment> = dump.iter().collect();
        for from in [0, cut.index(allocator.events.len() + 1)] {
            let history = History::walk(&allocator.events[from..], Some(&dump), &SnapshotSettings::default());
            prop_assert_eq!(history.inconsistencies().count, 0, "{:?}", history.inconsistencies());
            prop_assert!(from > 0 || (history.is_whole() && history.unsure() == 0));
            for (found, counted) in history.totals().zip(&allocator.counted[from..]) {
                prop_assert_eq!((found.reserved, found.requested), (counted.reserved, counted.requested));
                prop_assert!(found.allocated <= counted.allocated && found.active <= counted.active);
                prop_assert!(found.active.0 + doubt(&history) >= counted.active.0);
            }
            prop_assert_eq!(history.at_end(), allocator.totals);
            check_parts(&history)?;
            check_peaks(&history)?;
            check_timeline(&history)?;
        }
    }

    /// Most of these histories are nonsense. The account adds up after each of their events all the same.
    #[test]
    fn every_account_adds_up(trace in proptest::collection::vec(any_event(), 0..60), expandable: bool) {
        let settings = SnapshotSettings { expandable_segments: expandable, ..SnapshotSettings::default() };
        let history = History::walk(&trace, None, &settings);
        prop_assert!(history.lifetimes().iter().all(|life| life.requested <= life.block));
        prop_assert_eq!(history.totals().last().unwrap_or(history.at_start()), history.at_end());
        check_lifetimes(&history)?;
        check_peaks(&history)?;
        check_timeline(&history)?;
    }
}

fn moments(history: &History) -> impl Iterator<Item = (Moment, Totals)> {
    let after = (0..).map(|event| Moment::after(EventIndex(event))).zip(history.totals());
    std::iter::once((Moment::BEFORE, history.at_start())).chain(after)
}

/// The lifetimes agree with the totals at every moment.
fn check_lifetimes(history: &History) -> Result<(), TestCaseError> {
    for (moment, totals) in moments(history) {
        let live: Bytes = history.live_after(moment).map(|life| life.block).sum();
        let active = history.lifetimes().iter().filter(|life| life.is_active_after(moment));
        let (active, requested) = active.fold((Bytes::ZERO, Bytes::ZERO), |(active, requested), life| {
            (active + life.block, requested + life.requested)
        });
        prop_assert_eq!((live, active, requested), (totals.allocated, totals.active, totals.requested));
    }
    Ok(())
}

/// At every moment blocks and gaps fill the segments, and nothing lies outside.
fn check_parts(history: &History) -> Result<(), TestCaseError> {
    check_lifetimes(history)?;
    for (moment, totals) in moments(history).step_by(9) {
        let state = history.state_after(moment);
        prop_assert_eq!(state.outside.len(), 0);
        let used = state.segments.iter().flat_map(|segment| &segment.used).map(|block| block.size).sum::<Bytes>();
        prop_assert_eq!((used, state.fragmentation().free), (totals.active, totals.reserved - totals.active));
        check_order(&state)?;
    }
    Ok(())
}

fn check_order(state: &State) -> Result<(), TestCaseError> {
    for segment in &state.segments {
        let end = segment
            .used
            .iter()
            .try_fold(segment.address, |end, block| (block.address >= end).then(|| block.address.offset(block.size.0)));
        prop_assert!(end.is_some_and(|end| end <= segment.address.offset(segment.size.0)), "{:?}", segment);
    }
    Ok(())
}

/// A function that selects a total.
type Total = fn(&Totals) -> Bytes;

/// A peak is the first largest value.
fn check_peaks(history: &History) -> Result<(), TestCaseError> {
    let peaks = history.peaks();
    let totals: [(Option<Peak>, Total); 4] = [
        (peaks.allocated, |totals| totals.allocated),
        (peaks.active, |totals| totals.active),
        (peaks.reserved, |totals| totals.reserved),
        (peaks.requested, |totals| totals.requested),
    ];
    for (peak, total) in totals {
        let most = moments(history).map(|(_, totals)| total(&totals)).max().filter(|&most| most > Bytes::ZERO);
        let first = moments(history).find(|(_, totals)| Some(total(totals)) == most).map(|(moment, _)| moment);
        prop_assert_eq!(peak.map(|peak| (peak.at, peak.bytes)), first.zip(most));
    }
    Ok(())
}

/// A thinned timeline is short, in order, correct, and has every extreme.
fn check_timeline(history: &History) -> Result<(), TestCaseError> {
    let totals: Vec<Totals> = history.totals().collect();
    let timeline = history.timeline(16);
    prop_assert!(timeline.len() <= 16 && timeline.windows(2).all(|pair| pair[0].event < pair[1].event));
    prop_assert!(timeline.iter().all(|point| totals[point.event.0 as usize] == point.totals));
    let most = |points: &mut dyn Iterator<Item = Totals>| {
        points.fold((Bytes::ZERO, Bytes::ZERO), |most, totals| {
            (most.0.max(totals.allocated), most.1.max(totals.reserved))
        })
    };
    prop_assert_eq!(most(&mut timeline.iter().map(|point| point.totals)), most(&mut totals.iter().copied()));
    Ok(())
}

fn any_event() -> impl Strategy<Value = Event> {
    use Action::{Alloc, FreeCompleted, FreeRequested, Oom, SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap};
    let small = (prop::sample::select(&[Alloc, FreeRequested, FreeCompleted][..]), 0..16u64, 0..4096u64);
    let large = (prop::sample::select(&[Alloc, FreeRequested, FreeCompleted][..]), 0..16u64, 0..8 * MIB);
    let segments = (
        prop::sample::select(&[SegmentAlloc, SegmentMap, SegmentFree, SegmentUnmap, Oom][..]),
        0..16u64,
        (1..4u64).prop_map(|n| n * 2 * MIB),
    );
    prop_oneof![
        4 => small.prop_map(|(action, at, size)| event(action, at * 512, size)),
        2 => large.prop_map(|(action, at, size)| event(action, at * 2 * MIB, size)),
        2 => segments.prop_map(|(action, at, size)| event(action, at * 2 * MIB, size)),
    ]
}
