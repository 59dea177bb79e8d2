//! Where a history ends, and where it begins if its beginning was cut off: against dumps, block by block.
//!
//! Snapshots that others recorded on real GPUs are no part of this repository. The test reads them from
//! `../shared/snapshots` beside the repository, or from the folder that `OOMPH_SNAPSHOTS` names, and says so where there
//! is none.
#![expect(clippy::unwrap_used, reason = "a test")]

mod recorded;

use std::path::{Path, PathBuf};

use recorded::{Golden, goldens};
use trace::{
    Address, Block, BlockState, Bytes, DeviceIndex, History, Lifetime, Moment, Segment, Totals,
    read_snapshot,
};

/// A block in use: where it starts, its size, what was asked for, and whether the program had let go of it.
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

fn reserved(segments: &[&Segment]) -> Bytes {
    segments.iter().map(|segment| segment.total_size).sum()
}

/// The whole, ended by its dump.
fn whole(golden: &Golden) -> History {
    let segments: Vec<&Segment> = golden.segments.iter().collect();
    History::walk(&golden.events, Some(&segments), &golden.settings)
}

#[test]
fn golden_runs_end_as_their_dumps_show() {
    for golden in goldens() {
        let dump: Vec<&Segment> = golden.segments.iter().collect();
        let without = History::walk(&golden.events, None, &golden.settings);
        assert_eq!(in_use_by_history(&without), in_use_by_dump(&dump), "{}", golden.name);
        assert_eq!(without.at_end().reserved, reserved(&dump), "{}", golden.name);
        let with = whole(&golden);
        assert_eq!(with.inconsistencies().first, [], "{}", golden.name);
        assert!(with.is_whole(), "{}", golden.name);
    }
}

/// A golden run without its first events has the same totals after every event that is left, and the same blocks.
#[test]
fn golden_runs_that_lack_their_beginning_are_what_they_were() {
    let (mut cuts, mut unsure) = (0, 0);
    for golden in goldens() {
        let full = whole(&golden);
        let totals: Vec<Totals> = full.totals().collect();
        for from in (1..golden.events.len()).step_by(CUTS) {
            let (doubtful, wrong) = check_cut(&golden, &full, &totals, from);
            cuts += 1;
            unsure += doubtful;
            assert!(wrong.is_empty(), "{} from event {from}: {wrong:?}", golden.name);
        }
    }
    eprintln!("{cuts} cuts, {unsure} blocks whose end nothing shows");
}

/// Every so manieth event.
const CUTS: usize = 7;

fn check_cut(golden: &Golden, full: &History, totals: &[Totals], from: usize) -> (u64, Vec<String>) {
    let segments: Vec<&Segment> = golden.segments.iter().collect();
    let cut = History::walk(&golden.events[from..], Some(&segments), &golden.settings);
    let mut wrong = Vec::new();
    if cut.inconsistencies().count > 0 {
        wrong.push(format!("{:?}", cut.inconsistencies().first));
    }
    for (n, (found, expected)) in cut.totals().zip(&totals[from..]).enumerate() {
        if found != *expected && cut.unsure() == 0 {
            wrong.push(format!("after event {}: {found:?}, not {expected:?}", from + n));
            break;
        }
    }
    let _ = full;
    (cut.unsure(), wrong)
}

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
        let snapshot = read_snapshot(std::fs::File::open(&path).unwrap()).unwrap();
        for device in (0..).map(DeviceIndex).take(snapshot.traces.len()) {
            let history = History::of(&snapshot, device);
            eprintln!("{} {device:?}: {} lifetimes, {} older, {} unsure, whole {}, start {:?}, end {:?}, peaks {:?}, {:?}", path.display(),
                history.lifetimes().len(), history.older().len(), history.unsure(), history.is_whole(), history.at_start(), history.at_end(), history.peaks(), history.inconsistencies());
        }
    }
}
