//! Invariants after every operation of any program under any settings.
#![expect(clippy::unwrap_used, reason = "a test")]

use allocator::{
    Allocator, BlockId, Device as _, PoolOptions, PrivatePoolId, Reserve, Route, Rules, SegmentView, Settings,
    SimulatedDevice, Thread,
};
use proptest::prelude::*;
use trace::{BlockState, Bytes, Release, SegmentKind, Stream};

const MIB: u64 = 1 << 20;
const TOTAL_BYTES: u64 = 2 << 30;
const OTHERS_BYTES: u64 = 500 << 20;

#[derive(Clone, Copy, Debug)]
enum Op {
    Malloc { bytes: u64, stream: u64 },
    Free(usize),
    RecordStream(usize, u64),
    HoldEvents(bool),
    CompleteEvents,
    EmptyCache,
    SetFraction(f64),
    CreatePool(PoolOptions),
    UsePool(usize, bool),
    EndPool(usize),
    DropPool(usize),
}

fn sizes() -> impl Strategy<Value = u64> {
    (0.0_f64..31.0).prop_map(|log2| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^31")]
        let bytes = log2.exp2() as u64;
        bytes
    })
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let options = (any::<bool>(), any::<bool>()).prop_map(|(use_on_oom, no_split)| PoolOptions {
        custom: false,
        use_on_oom,
        no_split,
    });
    let op = prop_oneof![
        12 => (sizes(), 0..3_u64).prop_map(|(bytes, stream)| Op::Malloc { bytes, stream }),
        9 => any::<usize>().prop_map(Op::Free),
        1 => (any::<usize>(), 0..3_u64).prop_map(|(block, stream)| Op::RecordStream(block, stream)),
        1 => any::<bool>().prop_map(Op::HoldEvents),
        1 => Just(Op::CompleteEvents),
        1 => Just(Op::EmptyCache),
        1 => (0.2_f64..1.1).prop_map(|fraction| Op::SetFraction(fraction.min(1.0))),
        1 => options.prop_map(Op::CreatePool),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(pool, capture)| Op::UsePool(pool, capture)),
        1 => any::<usize>().prop_map(Op::EndPool),
        1 => any::<usize>().prop_map(Op::DropPool),
    ];
    prop::collection::vec(op, 1..200)
}

fn settings() -> impl Strategy<Value = Settings> {
    let max_split = prop::option::of(20_u64..300).prop_map(|mib| mib.map(|mib| Bytes(mib * MIB)));
    let reserve = prop::option::of(prop_oneof![
        (0.1_f64..1.2).prop_map(Reserve::Fraction),
        (1_u64..3).prop_map(|gib| Reserve::Bytes(Bytes(gib << 30))),
    ]);
    (max_split, 11_u64..70, 0_u32..6, 0.0_f64..0.9, any::<(bool, bool)>(), reserve).prop_map(
        |(max_split_size, large, divisions, threshold, (expandable_segments, throws), reserve)| Settings {
            // Never below the segments of the large pool, which the parser checks.
            max_split_size: max_split_size.map(|max: Bytes| max.max(Bytes(large * MIB))),
            max_non_split_rounding: Bytes(large * MIB),
            large_segment_size: Bytes(large * MIB),
            roundup_power2_divisions: [1 << divisions; 16],
            garbage_collection_threshold: if threshold < 0.3 { 0.0 } else { threshold },
            expandable_segments,
            expandable_segments_reserve: reserve,
            throw_on_cudamalloc_oom: throws,
            ..Settings::default()
        },
    )
}

type Model = Allocator<SimulatedDevice>;

#[derive(Clone)]
struct Program {
    model: Model,
    live: Vec<BlockId>,
    /// Each pool, with a flag for in use.
    pools: Vec<(PrivatePoolId, bool)>,
}

impl Program {
    fn new(settings: &Settings, minor: u8) -> Program {
        let device = SimulatedDevice::new(TOTAL_BYTES, OTHERS_BYTES);
        let model = Allocator::new(Rules::of(Release { major: 2, minor }), settings.clone(), device, ());
        Program { model, live: Vec::new(), pools: Vec::new() }
    }

    fn pool(&mut self, index: usize) -> Option<&mut (PrivatePoolId, bool)> {
        let count = self.pools.len().max(1);
        self.pools.get_mut(index % count)
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Malloc { bytes, stream } => self.live.extend(self.model.malloc(Bytes(bytes), Stream(stream))),
            Op::Free(index) if !self.live.is_empty() => {
                let block = self.live.swap_remove(index % self.live.len());
                self.model.free(block);
            }
            Op::RecordStream(index, stream) if !self.live.is_empty() => {
                self.model.record_stream(self.live[index % self.live.len()], Stream(stream));
            }
            Op::Free(_) | Op::RecordStream(..) => {}
            Op::HoldEvents(held) => self.model.hold_events(held),
            Op::CompleteEvents => self.model.complete_events(),
            Op::EmptyCache => self.model.empty_cache(),
            Op::SetFraction(fraction) => self.model.set_memory_fraction(fraction),
            op => self.apply_to_pool(op),
        }
    }

    fn apply_to_pool(&mut self, op: Op) {
        match op {
            Op::CreatePool(options) => {
                let id = self.model.create_pool(options);
                self.pools.push((id, false));
            }
            Op::UsePool(index, capture) => {
                let route = if capture { Route::Capture(Stream(1)) } else { Route::Thread(Thread::default()) };
                if let Some((id, used)) = self.pool(index).filter(|(_, used)| !used) {
                    *used = true;
                    let id = *id;
                    self.model.begin_allocate_to_pool(id, route);
                }
            }
            Op::EndPool(index) => {
                if let Some((id, used)) = self.pool(index).filter(|(_, used)| *used) {
                    *used = false;
                    let id = *id;
                    self.model.end_allocate_to_pool(id);
                    self.model.release_pool(id);
                }
            }
            Op::DropPool(index) => {
                if let Some((id, false)) = self.pool(index).copied() {
                    self.pools.retain(|&(other, _)| other != id);
                    self.model.delete_pool(id);
                }
            }
            _ => {}
        }
    }
}

/// Bytes and number of the blocks that `is_meant` accepts.
fn sum(segments: &[SegmentView], is_meant: impl Fn(&SegmentView, BlockState) -> bool) -> (u64, u64) {
    let blocks = segments.iter().flat_map(|segment| segment.blocks.iter().map(move |block| (segment, block)));
    let meant = blocks.filter(|(segment, block)| is_meant(segment, block.state));
    meant.fold((0, 0), |(bytes, count), (_, block)| (bytes + block.size.0, count + 1))
}

fn check(program: &Program) {
    let (segments, stats) = (program.model.segments(), program.model.stats());
    let of_kind = |small: bool| move |segment: &SegmentView| (segment.kind == SegmentKind::Small) == small;
    for (small, of) in [(true, 1), (false, 2)] {
        let kind = of_kind(small);
        let of = |array: &allocator::StatArray| [array.all, array.small_pool, array.large_pool][of].current;
        let reserved = segments.iter().filter(|segment| kind(segment)).map(|segment| segment.total_size.0).sum::<u64>();
        assert_eq!(of(&stats.reserved_bytes), reserved, "reserved");
        let fixed = segments.iter().filter(|segment| kind(segment) && !segment.is_expandable).count() as u64;
        assert_eq!(of(&stats.segment), fixed, "segments");
        let (bytes, count) = sum(&segments, |segment, state| kind(segment) && state == BlockState::ActiveAllocated);
        assert_eq!((of(&stats.allocated_bytes), of(&stats.allocation)), (bytes, count), "allocated");
        let (bytes, count) = sum(&segments, |segment, state| kind(segment) && state != BlockState::Inactive);
        assert_eq!((of(&stats.active_bytes), of(&stats.active)), (bytes, count), "active");
        let (bytes, count) = sum(&segments, |segment, state| {
            kind(segment) && !segment.is_expandable && segment.blocks.len() > 1 && state == BlockState::Inactive
        });
        assert_eq!((of(&stats.inactive_split_bytes), of(&stats.inactive_split)), (bytes, count), "inactive split");
    }
    check_segments(&segments);
    let free = program.model.device().free_bytes();
    let reserved = stats.reserved_bytes.all.current;
    assert!(TOTAL_BYTES - OTHERS_BYTES - free >= reserved, "the device holds what is reserved");
}

fn check_segments(segments: &[SegmentView]) {
    for pair in segments.windows(2) {
        assert!(pair[0].address.0 + pair[0].total_size.0 <= pair[1].address.0, "segments overlap: {pair:?}");
    }
    for segment in segments {
        assert_eq!(segment.total_size, segment.blocks.iter().map(|block| block.size).sum(), "{segment:?}");
        let free = |state| state == BlockState::Inactive;
        let apart = segment.blocks.windows(2).all(|pair| !(free(pair[0].state) && free(pair[1].state)));
        assert!(apart, "free neighbours: {segment:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts_add_up_and_free_neighbours_are_joined(ops in ops(), settings in settings(), minor in 6_u8..=15) {
        let mut program = Program::new(&settings, minor);
        for op in ops {
            program.apply(op);
            check(&program);
        }
    }

    #[test]
    fn the_same_operations_give_the_same_state(ops in ops(), settings in settings(), minor in 6_u8..=15) {
        let mut programs = [Program::new(&settings, minor), Program::new(&settings, minor)];
        for program in &mut programs {
            for &op in &ops {
                program.apply(op);
            }
        }
        let [first, second] = programs;
        prop_assert_eq!(first.model.segments(), second.model.segments());
        prop_assert_eq!(first.model.stats(), second.model.stats());
    }

    /// All freed memory that is not waited for returns to the device.
    #[test]
    fn an_emptied_cache_leaves_only_what_is_in_use(ops in ops(), settings in settings(), minor in 6_u8..=15) {
        let mut program = Program::new(&settings, minor);
        let plain = |op: &&Op| matches!(op, Op::Malloc { .. } | Op::Free(_) | Op::RecordStream(..) | Op::SetFraction(_));
        for &op in ops.iter().filter(plain) {
            program.apply(op);
        }
        for block in std::mem::take(&mut program.live) {
            program.model.free(block);
        }
        program.model.empty_cache();
        prop_assert_eq!(program.model.segments(), vec![]);
        prop_assert_eq!(program.model.device().free_bytes(), TOTAL_BYTES - OTHERS_BYTES);
    }
}

#[test]
fn a_request_no_device_can_serve_is_refused() {
    let mut program = Program::new(&Settings::default(), 11);
    assert!(program.model.malloc(Bytes(1 << 60), Stream::default()).is_err());
    assert_eq!(program.model.stats().num_ooms, 0, "PyTorch does not count it");
    let block = program.model.malloc(Bytes(1), Stream::default()).unwrap();
    program.model.free(block);
}

/// One mapping of 60 MiB, whose middle is in use when the pool is deleted: PyTorch 2.11 ends the process here.
#[test]
fn memory_mapped_at_once_may_go_back_in_parts() {
    let settings = Settings { expandable_segments: true, ..Settings::default() };
    let mut program = Program::new(&settings, 11);
    let pool = program.model.create_pool(PoolOptions::default());
    program.model.begin_allocate_to_pool(pool, Route::Thread(Thread::default()));
    let malloc = |program: &mut Program, mib| program.model.malloc(Bytes(mib * MIB), Stream::default()).unwrap();
    let whole = malloc(&mut program, 60);
    program.model.free(whole);
    let [first, _middle, last] = [(); 3].map(|()| malloc(&mut program, 20));
    program.model.end_allocate_to_pool(pool);
    program.model.release_pool(pool);
    program.model.free(first);
    program.model.free(last);
    program.model.delete_pool(pool);
    assert_eq!(program.model.stats().reserved_bytes.all.current, 20 * MIB);
    check(&program);
}
