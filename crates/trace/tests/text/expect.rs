//! The expectation of a case, and the only comparison.

use trace::text::{Artifact, Framework, OomKind, OtherFramework, StatedBytes, StatedOom, read};

/// An expected error; `None` means that nothing may be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expect {
    pub(crate) framework: Framework,
    pub(crate) kind: OomKind,
    pub(crate) pid: Option<u32>,
    pub(crate) device: Option<u32>,
    pub(crate) requested: Option<StatedBytes>,
    pub(crate) total: Option<StatedBytes>,
    pub(crate) free: Option<StatedBytes>,
    pub(crate) allocated: Option<StatedBytes>,
    pub(crate) reserved: Option<StatedBytes>,
    pub(crate) unallocated: Option<StatedBytes>,
    pub(crate) pools: Option<StatedBytes>,
    pub(crate) process: Option<StatedBytes>,
    pub(crate) allowed: Option<StatedBytes>,
    pub(crate) others_of_metal: Option<StatedBytes>,
    pub(crate) segment_reserve: Option<StatedBytes>,
    pub(crate) processes: &'static [(u32, Option<StatedBytes>)],
}

/// An error of a kind without statements.
pub(crate) const fn bare(framework: Framework, kind: OomKind) -> Expect {
    Expect {
        framework,
        kind,
        pid: None,
        device: None,
        requested: None,
        total: None,
        free: None,
        allocated: None,
        reserved: None,
        unallocated: None,
        pools: None,
        process: None,
        allowed: None,
        others_of_metal: None,
        segment_reserve: None,
        processes: &[],
    }
}

/// The caching allocator on NVIDIA.
pub(crate) const CUDA: Expect = bare(Framework::Cuda, OomKind::Allocator);

/// A message and its statements.
pub(crate) type Case = (&'static str, Expect);

/// The errors of a text.
pub(crate) fn errors(text: &[u8]) -> Vec<StatedOom> {
    let errors = read(text).into_iter().filter_map(|artifact| match artifact {
        Artifact::Oom(oom) => Some(oom),
        _ => None,
    });
    errors.collect()
}

/// The look-alikes of a text.
pub(crate) fn look_alikes(text: &str) -> Vec<OtherFramework> {
    let look_alikes = read(text.as_bytes()).into_iter().filter_map(|artifact| match artifact {
        Artifact::LookAlike(look_alike) => Some(look_alike.framework),
        _ => None,
    });
    look_alikes.collect()
}

/// The sizes of an error, by name.
pub(crate) fn sizes(oom: &StatedOom) -> [(&'static str, Option<StatedBytes>); 11] {
    [
        ("requested", oom.requested_bytes),
        ("total", oom.total_bytes),
        ("free", oom.free_bytes),
        ("allocated", oom.allocated_bytes),
        ("reserved", oom.reserved_bytes),
        ("unallocated", oom.reserved_unallocated_bytes),
        ("pools", oom.private_pools_bytes),
        ("process", oom.process_bytes),
        ("allowed", oom.allowed_bytes),
        ("others of Metal", oom.other_allocations_bytes),
        ("segment reserve", oom.segment_reserve_bytes),
    ]
}

/// One error in the notation of the tables.
fn show(oom: &StatedOom) -> String {
    let processes: Vec<_> = oom.other_processes.iter().map(|process| (process.pid, process.bytes)).collect();
    lines(oom.framework, oom.kind, oom.pid, oom.device_index, &sizes(oom), &processes)
}

/// An expectation in the same notation.
pub(crate) fn expected(expect: &Expect) -> String {
    let numbers = [
        ("requested", expect.requested),
        ("total", expect.total),
        ("free", expect.free),
        ("allocated", expect.allocated),
        ("reserved", expect.reserved),
        ("unallocated", expect.unallocated),
        ("pools", expect.pools),
        ("process", expect.process),
        ("allowed", expect.allowed),
        ("others of Metal", expect.others_of_metal),
        ("segment reserve", expect.segment_reserve),
    ];
    lines(expect.framework, expect.kind, expect.pid, expect.device, &numbers, expect.processes)
}

fn lines(
    framework: Framework,
    kind: OomKind,
    pid: Option<u32>,
    device: Option<u32>,
    numbers: &[(&str, Option<StatedBytes>)],
    processes: &[(u32, Option<StatedBytes>)],
) -> String {
    let numbers = numbers.iter().filter_map(|(name, size)| size.map(|size| format!("{name} {}", one(size))));
    let processes = processes.iter().map(|(pid, size)| format!("process {pid} {:?}", size.map(one)));
    let head = format!("{framework:?} {kind:?} pid {pid:?} device {device:?}");
    std::iter::once(head).chain(numbers).chain(processes).collect::<Vec<_>>().join("\n")
}

fn one(size: StatedBytes) -> String {
    format!("{} ({}..={})", size.nearest.0, size.lowest.0, size.highest.0)
}

/// Checks that the text holds exactly this error; the failure lists the found errors.
pub(crate) fn check(text: &[u8], expect: &Expect) -> Result<(), String> {
    let found: Vec<String> = errors(text).iter().map(show).collect();
    let expected = [expected(expect)];
    if found == expected {
        return Ok(());
    }
    Err(format!("{}\nexpected {expected:#?}\nfound {found:#?}", String::from_utf8_lossy(text)))
}

/// Panics with all failed checks.
pub(crate) fn all(checks: impl Iterator<Item = Result<(), String>>) {
    let failures: Vec<String> = checks.filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{} failed\n{}", failures.len(), failures.join("\n---\n"));
}

/// The text with `prefix` before each line.
pub(crate) fn prefixed(text: &str, prefix: &str) -> String {
    text.lines().flat_map(|line| [prefix, line, "\n"]).collect()
}
