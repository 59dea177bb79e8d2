//! Reports made by hand, with round figures.

use causes::CauseId;
use report::explain::{
    BlockPicture, Comparison, Counters, DeviceHistory, DeviceMemory, ExplainReport, Extent, Fragmentation, HistoryOom,
    HistoryPeak, Holder, Input, InputKind, MemoryPart, Picture, SegmentPicture, SiteDifference, Span, StackPicture,
    TotalsPoint,
};
use report::{
    Breakdown, Contents, Evidence, Finding, Growth, Location, Part, Place, Remedy, Severity, Site, SiteFrame, Standing,
    Value,
};
use trace::text::{OomKind, OtherProcess, StatedBytes, StatedOom};
use trace::{Address, Bytes, Frame, Phase, SegmentKind};

const FOLDER: &str = "/home/ann/gpt";

pub(crate) fn gib(gib: u64) -> Bytes {
    Bytes::from_mib(gib * 1024)
}

fn stated(bytes: Bytes) -> StatedBytes {
    StatedBytes { nearest: bytes, lowest: bytes, highest: bytes }
}

fn own(line: u32) -> SiteFrame {
    SiteFrame { function: "forward".to_owned(), file: format!("{FOLDER}/model.py"), line, own: true }
}

fn library() -> SiteFrame {
    let file = "/v/site-packages/torch/nn/functional.py".to_owned();
    SiteFrame { function: "softmax".to_owned(), file, line: 2140, own: false }
}

fn at(line: u32) -> Location {
    Location { file: format!("{FOLDER}/model.py"), line, column: None }
}

fn input(path: &str, kind: InputKind, rank: Option<u32>) -> Input {
    let torch = (kind == InputKind::Snapshot).then(|| "2.10 or 2.11".to_owned());
    Input { path: path.to_owned(), kind, torch, rank }
}

/// Nothing was read.
pub(crate) fn empty() -> ExplainReport {
    ExplainReport { version: "0.1.0".to_owned(), folder: FOLDER.to_owned(), ..ExplainReport::default() }
}

fn oom() -> StatedOom {
    StatedOom {
        line: 120,
        occurrences: 1,
        device_index: Some(0),
        requested_bytes: Some(stated(gib(2))),
        total_bytes: Some(stated(gib(24))),
        free_bytes: Some(stated(gib(1))),
        allocated_bytes: Some(stated(gib(19))),
        reserved_unallocated_bytes: Some(stated(gib(1))),
        process_bytes: Some(stated(gib(21))),
        other_processes: vec![OtherProcess { pid: 4711, bytes: Some(stated(gib(2))) }],
        message: "CUDA out of memory. Tried to allocate 2.00 GiB.".to_owned(),
        traceback: vec![
            Frame { function: "softmax".to_owned(), file: library().file, line: 2140 },
            Frame { function: "forward".to_owned(), file: format!("{FOLDER}/model.py"), line: 57 },
        ],
        ..StatedOom::default()
    }
}

fn full() -> Finding {
    Finding {
        without: None,
        rule: CauseId::NeedExceedsDevice,
        severity: Severity::Error,
        message: "19.00 GiB of 24.00 GiB are in the program's hands, too much for 2.00 GiB more".to_owned(),
        location: Some(at(57)),
        evidence: vec![Evidence {
            what: "free and cached".to_owned(),
            value: Value::Bytes(gib(2)),
            source: "the error's own figures".into(),
        }],
        remedies: vec![
            Remedy {
                remedy: "recompute the attention in backward".to_owned(),
                standing: Standing::Estimated,
                before_bytes: Some(gib(21)),
                after_bytes: Some(gib(15)),
                how: "checkpoint(block, x, use_reentrant=False)".to_owned(),
            },
            Remedy {
                remedy: "a smaller batch".to_owned(),
                standing: Standing::Advice,
                before_bytes: None,
                after_bytes: None,
                how: "activations grow with it".to_owned(),
            },
        ],
    }
}

fn neighbour() -> Finding {
    Finding {
        without: None,
        rule: CauseId::OtherProcessMemory,
        severity: Severity::Warning,
        message: "process 4711 holds 2.00 GiB of the same GPU".to_owned(),
        location: None,
        evidence: Vec::new(),
        remedies: Vec::new(),
    }
}

fn memory(parts: &[(Holder, u64)]) -> DeviceMemory {
    let parts: Vec<MemoryPart> =
        parts.iter().map(|&(holder, bytes)| MemoryPart { holder, bytes: gib(bytes) }).collect();
    let total = parts.iter().map(|part| part.bytes).sum();
    DeviceMemory::new(total, Extent::Device, "at the error".to_owned(), parts).unwrap()
}

/// A log with an error.
pub(crate) fn text_only() -> ExplainReport {
    ExplainReport {
        inputs: vec![input("crash.log", InputKind::Text, None)],
        findings: vec![full(), neighbour()],
        ooms: vec![oom()],
        oom_inputs: vec![0],
        focus_oom: Some(0),
        memory: Some(memory(&[
            (Holder::Allocated(None), 19),
            (Holder::Cached, 1),
            (Holder::OutsidePytorch, 1),
            (Holder::OtherProcesses, 2),
            (Holder::Free, 1),
        ])),
        ..empty()
    }
}

fn breakdown() -> Breakdown {
    let part = |category, bytes| Part { category, bytes: gib(bytes) };
    let parts = vec![part(Contents::Parameters, 4), part(Contents::Activations, 12)];
    Breakdown::new(gib(16), parts).unwrap()
}

fn peak(whole: bool) -> HistoryPeak {
    HistoryPeak {
        allocated_bytes: gib(16),
        reserved_bytes: gib(20),
        whole,
        event: Some(2),
        place: Place { step: Some(3), phase: Some(Phase::Forward), module: Some("h.7".to_owned()), ..Place::default() },
    }
}

/// Two allocations, the first of them freed, and a failed request.
fn picture() -> Picture {
    let point = |event, allocated, reserved| TotalsPoint {
        event,
        time_us: Some(1_700_000_000_000_000 + u64::from(event)),
        allocated_bytes: gib(allocated),
        reserved_bytes: gib(reserved),
    };
    let stack = |category, bytes, frames| StackPicture { frames, category, bytes: gib(bytes), count: 1 };
    Picture {
        totals: vec![point(0, 4, 8), point(2, 16, 20), point(4, 4, 20)],
        spans: vec![
            Span { from: 2, to: 4, bytes: gib(12), stack: 1 },
            Span { from: 0, to: 5, bytes: gib(4), stack: 0 },
        ],
        segments: vec![SegmentPicture {
            address: Address(0x7f00_0000_0000),
            bytes: gib(20),
            kind: Some(SegmentKind::Large),
            is_expandable: true,
            blocks: vec![
                BlockPicture { offset: 0, bytes: gib(4), stack: 0 },
                BlockPicture { offset: gib(5).0, bytes: gib(12), stack: 1 },
            ],
        }],
        stacks: vec![
            stack(Contents::Parameters, 4, Vec::new()),
            stack(Contents::Activations, 12, vec![library(), own(57)]),
        ],
        steps: vec![1],
    }
}

fn history(input: usize) -> DeviceHistory {
    DeviceHistory {
        input,
        events: 5,
        peak: peak(true),
        breakdown: breakdown(),
        at_dump: Counters { allocated_bytes: gib(4), reserved_bytes: gib(20), ..Counters::default() },
        fragmentation: Fragmentation {
            free_bytes: gib(4),
            largest_free_block_bytes: gib(3),
            inactive_split_bytes: gib(4),
            free_blocks: 2,
            used_segments: 1,
            segments: 1,
        },
        steps: 3,
        picture: picture(),
        ..DeviceHistory::default()
    }
}

fn site() -> Site {
    Site {
        bytes: gib(12),
        count: 1,
        category: Contents::Activations,
        location: Some(at(57)),
        frames: vec![library(), own(57)],
        place: Place::default(),
    }
}

/// A snapshot whose history ends with a failed request.
pub(crate) fn snapshot() -> ExplainReport {
    let failed = HistoryOom {
        event: 3,
        requested_bytes: gib(2),
        free_bytes: gib(1),
        counters: Counters { allocated_bytes: gib(16), reserved_bytes: gib(20), ..Counters::default() },
        place: Place { step: Some(3), phase: Some(Phase::Forward), ..Place::default() },
        location: Some(at(58)),
    };
    let growth = Growth {
        keeper: None,
        loop_at: None,
        bytes_per_iteration: gib(1),
        first_iteration: 2,
        of_iterations: None,
        full_at: Some(9),
        location: None,
    };
    ExplainReport {
        inputs: vec![input("rank0.pickle", InputKind::Snapshot, Some(0))],
        findings: vec![full()],
        memory: Some(memory(&[
            (Holder::Allocated(Some(Contents::Parameters)), 4),
            (Holder::Allocated(Some(Contents::Activations)), 12),
            (Holder::Cached, 4),
            (Holder::Unaccounted, 3),
            (Holder::Free, 1),
        ])),
        peak: Some(peak(false)),
        breakdown: Some(breakdown()),
        sites: vec![site()],
        devices: vec![DeviceHistory { oom: Some(failed), growth: Some(growth), ..history(0) }],
        focus: Some(0),
        ..empty()
    }
}

/// A snapshot in which nothing is wrong.
pub(crate) fn healthy() -> ExplainReport {
    ExplainReport {
        inputs: vec![input("fine.pickle", InputKind::Snapshot, None)],
        peak: Some(peak(true)),
        breakdown: Some(breakdown()),
        sites: vec![site()],
        devices: vec![history(0)],
        focus: Some(0),
        notes: vec!["the history has no C++ frames".to_owned()],
        ..empty()
    }
}

/// Two snapshots in comparison.
pub(crate) fn compared() -> ExplainReport {
    let before = HistoryPeak { allocated_bytes: gib(10), reserved_bytes: gib(12), ..peak(true) };
    let differ =
        |bytes: [u64; 2], frames| SiteDifference { bytes: bytes.map(gib).to_vec(), counts: vec![1, 1], frames };
    ExplainReport {
        inputs: vec![
            input("step10.pickle", InputKind::Snapshot, None),
            input("step1000.pickle", InputKind::Snapshot, None),
        ],
        devices: vec![DeviceHistory { peak: before.clone(), ..history(0) }, history(1)],
        focus: Some(1),
        peak: Some(peak(true)),
        comparison: Some(Comparison {
            sides: vec!["step10.pickle".to_owned(), "step1000.pickle".to_owned()],
            peaks: vec![before, peak(true)],
            sites: vec![differ([6, 12], vec![library(), own(57)]), differ([1, 0], Vec::new())],
        }),
        ..empty()
    }
}

/// The log of a job of several ranks.
pub(crate) fn ranks() -> ExplainReport {
    let of_rank = |rank, line| StatedOom { rank: Some(rank), line, device_index: Some(rank), ..oom() };
    let killed = StatedOom {
        kind: OomKind::Killed,
        line: 300,
        occurrences: 2,
        message: "Killed".to_owned(),
        ..StatedOom::default()
    };
    ExplainReport {
        ooms: vec![of_rank(1, 120), of_rank(3, 140), killed],
        oom_inputs: vec![0, 0, 1],
        inputs: vec![input("job.log", InputKind::Text, None), input("-", InputKind::Text, None)],
        ..text_only()
    }
}

/// All of them.
pub(crate) fn all() -> Vec<ExplainReport> {
    vec![empty(), text_only(), snapshot(), healthy(), compared(), ranks()]
}
