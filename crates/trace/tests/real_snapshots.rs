//! Opens snapshots recorded on real GPUs.
//!
//! The snapshots are third-party files and not part of this repository. The test reads them from `../shared/snapshots`
//! beside the repository, or from the folder `OOMPH_SNAPSHOTS`, and prints a note if the folder is missing.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use trace::{BlockState, Bytes, Release, Snapshot, TorchVersions, read_snapshot};

/// The file, its number of segments, events by device, bytes reserved and allocated at the dump: from the folder's own
/// table, which was made with Python.
const FILES: [(&str, usize, &[usize], u64, u64); 12] = [
    ("no_history.pickle", 12, &[0], 190_840_832, 88_716_288),
    ("windows_user_metadata.pickle", 216, &[5163], 14_180_941_824, 1_377_753_600),
    ("torch21_bert_offload.pickle", 82, &[4496, 0, 0, 0], 2_776_629_248, 1_875_182_080),
    ("no_history_2023.pickle", 40, &[0, 0, 0, 0], 5_559_549_952, 545_266_688),
    ("segments_freed.pickle", 4, &[9576, 0, 0, 0], 230_686_720, 215_105_536),
    ("two_devices.pickle", 673, &[1, 1], 11_274_289_152, 10_715_782_144),
    ("empty.pickle", 0, &[0, 0, 0, 0], 0, 0),
    ("torch20_history_blocks.pickle", 257, &[1], 7_608_467_456, 5_683_450_880),
    ("expandable_tiny.pickle", 3, &[0, 0], 85_983_232, 17_049_600),
    ("expandable_small.pickle", 5, &[1040], 262_144_000, 174_716_640),
    ("transformer_full_step.pickle", 1010, &[19342], 61_111_009_280, 54_873_829_888),
    ("transformer_forward_mixed.pickle", 827, &[6587], 28_848_422_912, 28_387_884_032),
];

#[test]
fn snapshots_of_real_gpus_open_and_their_totals_are_right() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/snapshots");
    let folder = std::env::var_os("OOMPH_SNAPSHOTS").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: no snapshots in {}", folder.display());
        return;
    }
    for (name, segments, events, reserved, allocated) in FILES {
        let snapshot = read_snapshot(std::fs::File::open(folder.join(name)).unwrap()).unwrap();
        assert_eq!(snapshot.segments.len(), segments, "{name}: segments");
        assert_eq!(snapshot.traces.iter().map(Vec::len).collect::<Vec<_>>(), events, "{name}: events");
        assert_eq!(reserved_at_dump(&snapshot), Bytes(reserved), "{name}: reserved");
        assert_eq!(allocated_at_dump(&snapshot), Bytes(allocated), "{name}: allocated");
        add_up(name, &snapshot);
        versions(name, &snapshot);
    }
}

fn reserved_at_dump(snapshot: &Snapshot) -> Bytes {
    snapshot.segments.iter().map(|segment| segment.total_size).sum()
}

fn allocated_at_dump(snapshot: &Snapshot) -> Bytes {
    snapshot.segments.iter().map(|segment| segment.allocated_size).sum()
}

/// A generated file: its segments match neither their blocks nor their history.
const MADE_UP: &str = "expandable_small.pickle";

/// The blocks add up to the stated sizes of the segments.
fn add_up(name: &str, snapshot: &Snapshot) {
    for segment in snapshot.segments.iter().filter(|_| name != MADE_UP) {
        let allocated = segment.blocks.iter().filter(|block| block.state == BlockState::ActiveAllocated);
        assert_eq!(
            allocated.map(|block| block.size).sum::<Bytes>(),
            segment.allocated_size,
            "{name}: {}",
            segment.address
        );
        assert_eq!(segment.blocks.iter().map(|block| block.size).sum::<Bytes>(), segment.total_size, "{name}");
    }
}

/// The known versions of some files: two by their names, a third by metadata of 2.10 or later.
fn versions(name: &str, snapshot: &Snapshot) {
    let known = [
        ("torch20_history_blocks.pickle", 0, Some(1)),
        ("torch21_bert_offload.pickle", 1, Some(2)),
        ("windows_user_metadata.pickle", 10, Some(12)),
    ];
    for (_, from, before) in known.into_iter().filter(|&(file, _, _)| file == name) {
        let before = before.map(|minor| Release { major: 2, minor });
        assert_eq!(snapshot.torch, TorchVersions { from: Release { major: 2, minor: from }, before }, "{name}");
    }
}
