//! Packs the buffers of snapshots recorded on real GPUs.
//!
//! The snapshots are third-party files and not part of this repository. The test reads them from `../shared/snapshots`
//! beside the repository, or from the folder `OOMPH_SNAPSHOTS`, and prints a note if the folder is missing.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use allocator::limit::{Until, buffers, pack, peak_alive_bytes};
use trace::{Bytes, DeviceIndex, History, read_snapshot};

/// The snapshots with a history of allocations and frees.
const FILES: [&str; 6] = [
    "windows_user_metadata.pickle",
    "torch21_bert_offload.pickle",
    "segments_freed.pickle",
    "expandable_small.pickle",
    "transformer_full_step.pickle",
    "transformer_forward_mixed.pickle",
];

#[test]
fn real_programs_could_do_with_hardly_more_than_what_is_alive_at_once() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/snapshots");
    let folder = std::env::var_os("OOMPH_SNAPSHOTS").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: no snapshots in {}", folder.display());
        return;
    }
    for name in FILES {
        let snapshot = read_snapshot(std::fs::File::open(folder.join(name)).unwrap()).unwrap();
        let history = History::of(&snapshot, DeviceIndex(0));
        lies_between_requested_and_allocated(name, &history);
        let packing = pack(&buffers(&history, Until::Completed)).unwrap();
        assert!(packing.bound.bytes > Bytes::ZERO, "{name}");
        assert!(packing.gap() <= 0.001, "{name}: {} over {}", packing.peak, packing.bound.bytes);
    }
}

/// Recomputes the peak from the history, with requested sizes and with block sizes.
fn lies_between_requested_and_allocated(name: &str, history: &History) {
    let peaks = history.peaks();
    let let_go = peak_alive_bytes(&buffers(history, Until::Requested)).bytes;
    let completed = peak_alive_bytes(&buffers(history, Until::Completed)).bytes;
    assert!(peaks.requested.unwrap().bytes <= let_go, "{name}: requested");
    assert!(let_go <= peaks.allocated.unwrap().bytes, "{name}: allocated");
    assert!(let_go <= completed && completed <= peaks.active.unwrap().bytes, "{name}: active");
}
