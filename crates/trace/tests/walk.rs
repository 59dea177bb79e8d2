//! The end of a history, and its beginning if cut off: against dumps, block by block.
//!
//! Snapshots recorded on real GPUs are not part of this repository. The test reads them from `../shared/snapshots`
//! beside the repository, or from the folder `OOMPH_SNAPSHOTS`, and prints a note if the folder is missing.
#![expect(clippy::unwrap_used, reason = "a test")]

mod recorded;

use std::path::{Path, PathBuf};

use recorded::goldens;
use trace::{
    Address, Block, BlockState, Bytes, DeviceIndex, History, Inconsistency, Lifetime, Moment, Segment, Snapshot,
    Totals, read_snapshot,
};

/// A block in use: its address, its size, the requested size, and whether it was freed.
type InUse = (Address, Bytes, Bytes, bool);

fn in_use_by_history(history: &History) -> Vec<InUse> {
    let in_use = |life: &&Lifetime| life.free_completed == Moment::NEVER;
    let block = |life: &Lifetime| (life.address, life.block, life.requested, life.free_requested != Moment::NEVER);
    let mut blocks: Vec<InUse> = history.lifetimes().iter().filter(in_use).map(block).collect();
    blocks.sort_unstable();
    blocks
}

fn in_use_by_dump(segments: &[&Segment]) -> Vec<InUse> {
    let blocks = segments.iter().flat_map(|segment| &segment.blocks);
    let in_use = blocks.filter(|block| block.state != BlockState::Inactive);
    let pending = |block: &Block| block.state == BlockState::ActivePendingFree;
    in_use.map(|block| (block.address, block.size, block.requested_size, pending(block))).collect()
}

/// Compares the end of the history with the dump: every block in use, with its address, sizes and state.
fn check_end(name: &str, history: &History, dump: &[&Segment]) {
    let (found, expected) = (in_use_by_history(history), in_use_by_dump(dump));
    let differ = found.iter().zip(&expected).find(|(found, expected)| found != expected);
    assert_eq!(differ, None, "{name}: a block of the history, and of the dump");
    assert_eq!(found.len(), expected.len(), "{name}: blocks in use");
    let reserved = dump.iter().map(|segment| segment.total_size).sum::<Bytes>();
    assert_eq!(history.at_end().reserved, reserved, "{name}: reserved");
}

#[test]
fn golden_runs_end_as_their_dumps_show() {
    for golden in goldens() {
        let dump: Vec<&Segment> = golden.segments.iter().collect();
        // Without the dump, everything follows from the events.
        check_end(&golden.name, &History::walk(&golden.events, None, &golden.settings), &dump);
        let with_dump = History::walk(&golden.events, Some(&dump), &golden.settings);
        assert_eq!(with_dump.inconsistencies().first, [], "{}", golden.name);
        assert!(with_dump.is_whole() && with_dump.unsure() == 0, "{}", golden.name);
    }
}

/// A golden run without its first events has the same totals after every remaining event.
#[test]
fn golden_runs_that_lack_their_beginning_are_what_they_were() {
    let mut counts = Counts::default();
    for golden in goldens() {
        let dump: Vec<&Segment> = golden.segments.iter().collect();
        let whole = History::walk(&golden.events, Some(&dump), &golden.settings);
        let totals: Vec<Totals> = whole.totals().collect();
        for from in (1..golden.events.len()).step_by(EVERY) {
            let cut = History::walk(&golden.events[from..], Some(&dump), &golden.settings);
            assert_eq!(cut.inconsistencies().first, [], "{} from event {from}", golden.name);
            check_cut(&cut, &totals[from - 1..], &mut counts)
                .unwrap_or_else(|difference| panic!("{} from event {from}: {difference}", golden.name));
        }
    }
    eprintln!("{counts:?}");
}

/// The golden runs are cut after every seventh event.
const EVERY: usize = 7;

#[derive(Debug, Default)]
struct Counts {
    cuts: u64,
    /// The number of cuts with exact totals after every event.
    exact: u64,
    older: usize,
    unsure: u64,
}

/// `expected` begins with the totals before the first event of `cut`. Only the ends of blocks that no event and no dump
/// shows may be missing.
fn check_cut(cut: &History, expected: &[Totals], counts: &mut Counts) -> Result<(), String> {
    let mut exact = true;
    for (found, expected) in std::iter::once(cut.at_start()).chain(cut.totals()).zip(expected) {
        let fixed = (found.reserved, found.requested) == (expected.reserved, expected.requested);
        let missing = [(found.allocated, expected.allocated), (found.active, expected.active)];
        let within = |(found, expected): (Bytes, Bytes)| {
            found <= expected && expected.0 - found.0 <= cut.unsure() * LARGEST_SLACK
        };
        if !fixed || !missing.into_iter().all(within) {
            return Err(format!("{found:?}, not {expected:?}, with {} unsure", cut.unsure()));
        }
        exact &= found == *expected;
    }
    counts.cuts += 1;
    counts.exact += u64::from(exact);
    counts.older += cut.older().len();
    counts.unsure += cut.unsure();
    Ok(())
}

/// The most by which a block exceeds its rounded request.
const LARGEST_SLACK: u64 = 1 << 20;

/// A generated file: more is in use than its segments hold, and its segments state more than their blocks.
const MADE_UP: &str = "expandable_small.pickle";

#[test]
fn snapshots_of_real_gpus_end_as_their_dumps_show() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/snapshots");
    let folder = std::env::var_os("OOMPH_SNAPSHOTS").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: no snapshots in {}", folder.display());
        return;
    }
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pickle"));
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let snapshot = read_snapshot(std::fs::File::open(&path).unwrap()).unwrap();
        for device in (0..).map(DeviceIndex).take(snapshot.traces.len()) {
            check_device(&name, &snapshot, device);
        }
    }
}

fn check_device(name: &str, snapshot: &Snapshot, device: DeviceIndex) {
    let dump: Vec<&Segment> = snapshot.segments.iter().filter(|segment| segment.device == device).collect();
    let history = History::of(snapshot, device);
    check_end(name, &history, &dump);
    let reported = &history.inconsistencies().first;
    match name {
        MADE_UP => assert!(matches!(reported[..], [Inconsistency::MoreThanReserved { .. }]), "{reported:?}"),
        _ => assert_eq!(*reported, [], "{name}"),
    }
    show(name, snapshot, &history, device);
}

/// Prints the results without a comparison.
fn show(name: &str, snapshot: &Snapshot, history: &History, device: DeviceIndex) {
    let peaks = [history.peaks().allocated, history.peaks().reserved];
    let peaks = peaks.map(|peak| peak.map_or(0, |peak| peak.bytes.0));
    let events = &snapshot.traces[device.0 as usize];
    let steps = history.find_steps(events, &snapshot.stacks).map(|steps| steps.first_events().len());
    eprintln!(
        "{name} cuda:{}: {} events, {} of {} allocations older ({} unsure), peaks {peaks:?}, steps {steps:?}",
        device.0,
        history.event_count(),
        history.older().len(),
        history.lifetimes().len(),
        history.unsure(),
    );
}
