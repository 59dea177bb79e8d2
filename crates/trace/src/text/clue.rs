//! Words beside an error about the program's activity and its platform.
//!
//! # Note [Clues]
//! An error's figures state the holders of the memory; the lines around the error often state the reason of the request: a copy to pinned
//! memory, a bar that loads weights, a warning about a checkpoint's arguments. A clue is a line with known words at a known distance from the error. The text
//! between two errors belongs to the second, so a clue never belongs to an earlier error.

use memchr::memmem;

use super::line;

/// The meaning of a clue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClueKind {
    /// A copy to pinned memory of the host, or its allocation.
    PinnedMemory,
    /// A tensor that is made in pinned memory, perhaps by the first call that needs a CUDA context.
    PinnedFactory,
    /// The line of source that raised the error.
    SourceLine,
    /// A limit on the device memory of clients of MPS.
    MpsLimit,
    /// NCCL's transport through shared memory of the host.
    SharedTransport,
    /// WSL.
    Wsl,
    /// Windows' limit on committed memory.
    CommitLimit,
    /// Weights are loaded: a bar that has not come to its end.
    Loading,
    /// Parts of the model or of the optimizer live in the host's memory.
    Offload,
    /// The host's memory in use, by DeepSpeed.
    HostUse,
    /// Workers of a DataLoader.
    DataWorkers,
    /// Slurm.
    Slurm,
    /// The memory limit of a container.
    Container,
    /// The job came to its time limit, or somebody ended it.
    Cancelled,
    /// A batch size that a resumed checkpoint changed.
    ResumedBatch,
    /// A warning that this platform has no expandable segments.
    NoExpandableSegments,
    /// Expandable segments are set.
    ExpandableSegments,
    /// The memory that an engine freed when it was put to sleep.
    SleepingEngine,
}

/// A line beside an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Clue {
    /// The meaning of the line.
    pub kind: ClueKind,
    /// The line, without colours and shortened.
    pub text: String,
}

/// The distance of a clue from its error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The few lines above the error, and the message.
    Call,
    /// The last lines above the error.
    Last,
    /// Up to the error before, and behind the error.
    Around,
}

use ClueKind::{
    Cancelled, CommitLimit, Container, DataWorkers, ExpandableSegments, HostUse, Loading, MpsLimit,
    NoExpandableSegments, Offload, PinnedFactory, PinnedMemory, ResumedBatch, SharedTransport, SleepingEngine, Slurm,
    Wsl,
};
use Reach::{Around, Call, Last};

/// Words in lower case, their reach and their meaning.
#[rustfmt::skip]
const WORDS: &[(&str, Reach, ClueKind)] = &[
    (".pin_memory(", Call, PinnedMemory),
    ("pin_memory.py", Call, PinnedMemory),
    ("in pin_memory", Call, PinnedMemory),
    ("in _pin_memory", Call, PinnedMemory),
    ("pin_memory=true", Call, PinnedFactory),
    ("pin memory thread", Call, PinnedMemory),
    ("pinned memory", Call, PinnedMemory),
    ("cudahostalloc", Call, PinnedMemory),
    ("cudahostregister", Call, PinnedMemory),
    ("cudamallochost", Call, PinnedMemory),
    ("cuda_host_alloc", Call, PinnedMemory),
    ("cachinghostallocator", Call, PinnedMemory),
    ("cpu\", non_blocking", Call, PinnedMemory),
    ("cpu', non_blocking", Call, PinnedMemory),
    ("cpu\"), non_blocking", Call, PinnedMemory),
    ("cpu'), non_blocking", Call, PinnedMemory),
    ("cpu(non_blocking", Call, PinnedMemory),
    ("resource already mapped", Call, PinnedMemory),
    ("shm.cc", Call, SharedTransport),
    ("shmutils.cc", Call, SharedTransport),
    ("cumemhost", Call, SharedTransport),
    ("nccl_cumem_host", Call, SharedTransport),
    ("cuda host alloc", Call, SharedTransport),
    ("cuda host calloc", Call, SharedTransport),
    ("wsl2", Around, Wsl),
    ("(wsl", Around, Wsl),
    ("under wsl", Around, Wsl),
    ("microsoft-standard", Around, Wsl),
    ("\"/mnt/c/", Around, Wsl),
    ("paging file", Call, CommitLimit),
    ("1455", Call, CommitLimit),
    ("winerror 8]", Call, CommitLimit),
    ("checkpoint shards", Last, Loading),
    ("loading weights", Last, Loading),
    ("loading pipeline components", Last, Loading),
    ("loading model weights", Last, Loading),
    ("loading state dict", Last, Loading),
    ("initializing pipeline with size", Last, Loading),
    ("in from_pretrained", Last, Loading),
    ("in load_state_dict", Last, Loading),
    ("torch.load(", Last, Loading),
    ("in load_file", Last, Loading),
    ("offload", Around, Offload),
    ("cpuadam", Around, Offload),
    ("cpu_adam", Around, Offload),
    ("cpu virtual memory", Around, HostUse),
    ("dataloader worker", Call, DataWorkers),
    ("num_workers", Around, DataWorkers),
    ("slurmstepd", Around, Slurm),
    ("srun: error", Around, Slurm),
    ("stepid=", Around, Slurm),
    ("oomkilled", Call, Container),
    ("memory cgroup", Call, Container),
    ("constraint_memcg", Call, Container),
    ("due to time limit", Around, Cancelled),
    ("due to preemption", Around, Cancelled),
    ("job was cancelled", Around, Cancelled),
    ("job killed: walltime", Around, Cancelled),
    ("kill -9 ", Around, Cancelled),
    ("kill -kill ", Around, Cancelled),
    ("scancel ", Around, Cancelled),
    ("docker kill ", Around, Cancelled),
    ("kubectl delete ", Around, Cancelled),
    ("cuda_mps_pinned_device_mem_limit", Around, MpsLimit),
    ("set_default_device_pinned_mem_limit", Around, MpsLimit),
    ("expandable_segments not supported", Around, NoExpandableSegments),
    ("expandable_segments is enabled", Around, ExpandableSegments),
    ("alloc_conf=expandable_segments:true python", Around, ExpandableSegments),
    ("export pytorch_cuda_alloc_conf=expandable_segments:true", Around, ExpandableSegments),
    ("export pytorch_alloc_conf=expandable_segments:true", Around, ExpandableSegments),
    ("sleep mode freed", Around, SleepingEngine),
];

/// A batch size in the Trainer's list of arguments that differ from the checkpoint's (`trainer_callback.py`, 4.38 and later).
const RESUMED: (&str, &str) = ("batch_size: ", "(from args) != ");

/// The lines above an error whose words are those of its call.
const CALL_LINES: usize = 5;
/// The bytes above an error that are its last lines.
const LAST_BYTES: usize = 8 << 10;
/// The bytes above an error that are around it.
const AROUND_BYTES: usize = 64 << 10;
/// The bytes behind an error that are read.
const BEHIND: usize = 2 << 10;
const CALL_BEHIND: usize = 400;
/// Python's words for a place in a file, above its source of several lines at most.
const PLACE: &str = "File \"";
const SOURCE_LINES: usize = 3;
/// The letters of a clue.
const LONGEST: usize = 200;

/// Finds the clues of the error from `start` to `end` of `text`; the error before ends at `from`. A kind has one clue, the last above the
/// error or else the first behind it.
pub(super) fn find(text: &[u8], from: usize, start: usize, end: usize) -> Vec<Clue> {
    let near = |above: usize, behind: usize| {
        let first = start.saturating_sub(above).max(from.min(start));
        (first, text.len().min(end + behind))
    };
    let around = near(AROUND_BYTES, BEHIND);
    let call = (first_of_call(text, start).max(around.0), text.len().min(end + CALL_BEHIND));
    let last = (near(LAST_BYTES, 0).0, start);
    let lower = text[around.0..around.1].to_ascii_lowercase();
    let mut clues: Vec<Clue> = Vec::new();
    for (words, reach, kind) in WORDS {
        let (first, end) = match reach {
            Call => call,
            Last => last,
            Around => around,
        };
        let part = &lower[first - around.0..end - around.0];
        let at = memmem::rfind(part, words.as_bytes()).map(|at| first + at);
        if let Some(at) = at.filter(|at| is_true(*kind, text, *at, start))
            && clues.iter().all(|clue| clue.kind != *kind)
        {
            clues.push(Clue { kind: *kind, text: words_at(text, at) });
        }
    }
    clues.extend(resumed_batch(text, around));
    clues.extend(source_line(text, call.0, start));
    clues.sort();
    clues
}

/// The start of the lines of the call whose error is at `start`.
fn first_of_call(text: &[u8], start: usize) -> usize {
    let mut first = line::start(text, start);
    for _ in 0..CALL_LINES {
        first = line::start(text, first.saturating_sub(1));
    }
    first
}

/// Tests for words that hold at the error: a bar at its end loads no more, and neither does a program that has trained since.
fn is_true(kind: ClueKind, text: &[u8], at: usize, start: usize) -> bool {
    let whole = words_at(text, at).to_lowercase();
    let has = |words: &[&str]| words.iter().any(|words| whole.contains(words));
    match kind {
        Offload => return !has(&["false", "none", "null", "disabled"]),
        DataWorkers => return !has(&["workers=0", "workers: 0", "workers 0"]),
        Loading => {}
        _ => return true,
    }
    let since = String::from_utf8_lossy(&text[at..start.max(at)]).to_lowercase();
    let bar = since.split(['\r', '\n']).next().unwrap_or_default();
    let is_over = bar.contains("100%") || ["loss", "epoch", "it/s, "].iter().any(|words| since.contains(words));
    !is_over
}

/// The last indented line above an error: Python prints the source below the place.
fn source_line(text: &[u8], first: usize, start: usize) -> Option<Clue> {
    let above = &text[first..line::start(text, start).max(first)];
    let lines = above.split(|byte| *byte == b'\n').rev().map(line::clean);
    let mut sources = lines.filter(|line| !line.trim_matches([' ', '^', '~']).is_empty());
    let source = sources.next().filter(|line| line.contains("    ") && !line.contains(PLACE))?;
    sources.take(SOURCE_LINES).find(|line| line.contains(PLACE))?;
    let words = source.rsplit_once("    ").map_or("", |(_, words)| words).trim().chars().take(LONGEST).collect();
    Some(Clue { kind: ClueKind::SourceLine, text: words })
}

fn resumed_batch(text: &[u8], (first, end): (usize, usize)) -> Option<Clue> {
    let part = &text[first..end];
    let mut places = memmem::find_iter(part, RESUMED.1);
    places.find_map(|at| {
        let words = words_at(part, at);
        words.contains(RESUMED.0).then_some(Clue { kind: ResumedBatch, text: words })
    })
}

/// The line or the state of a bar with the byte at `at`.
fn words_at(text: &[u8], at: usize) -> String {
    let whole = &text[line::start(text, at)..line::end(text, at)];
    let place = at - line::start(text, at);
    let first = memchr::memrchr(b'\r', &whole[..place]).map_or(0, |end| end + 1);
    let words = line::clean(&whole[first..]);
    words.split('\r').next().unwrap_or_default().trim().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clues of the error `!` in a text.
    fn check(text: &str, expected: &[ClueKind]) {
        let at = text.find('!').unwrap_or(text.len());
        let found: Vec<ClueKind> = find(text.as_bytes(), 0, at, at + 1).iter().map(|clue| clue.kind).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn words_count_within_their_reach() {
        check("x = y.to(\"cpu\", non_blocking=True)\n!", &[PinnedMemory]);
        check("    buffer = torch.empty(n).pin_memory()\n!", &[PinnedMemory]);
        check(&format!("pin_memory=True\n{}!", "step\n".repeat(9)), &[]);
        check(&format!("WSL2\n{}!", "step\n".repeat(99)), &[Wsl]);
        check("!\ntransport/shm.cc:170 -> 1", &[SharedTransport]);
    }

    #[test]
    fn weights_are_loaded_until_the_bar_ends_or_the_program_trains() {
        check("Loading checkpoint shards:  60%|######    | 9/15\n!", &[Loading]);
        check("Loading checkpoint shards:  60%|##| 9/15\rLoading checkpoint shards:  80%|##| 12/15\r!", &[Loading]);
        check("Loading checkpoint shards: 100%|######| 15/15\n!", &[]);
        check("Loading checkpoint shards:  60%|######    | 9/15\nstep 3 loss 2.1\n!", &[]);
    }

    #[test]
    fn the_source_line_is_the_last_above_the_error() {
        let text = "  File \"a.py\", line 3, in <module>\n    y = torch.cat([y, x])\n        ^^^^^\n!";
        let clues = find(text.as_bytes(), 0, text.len() - 1, text.len());
        assert_eq!(clues, [Clue { kind: ClueKind::SourceLine, text: "y = torch.cat([y, x])".to_owned() }]);
        check("  File \"a.py\", line 3, in <module>\n!", &[]);
    }

    #[test]
    fn a_batch_size_of_the_checkpoint_is_its_line() {
        let text = "Warning:\n\tlogging_steps: 1 (from args) != 5 (from x)\n\tper_device_train_batch_size: 2 (from args) != 24 (from trainer_state.json)\n!";
        let clues = find(text.as_bytes(), 0, text.len() - 1, text.len());
        assert_eq!(clues[0].text, "per_device_train_batch_size: 2 (from args) != 24 (from trainer_state.json)");
        check("\tlogging_steps: 1 (from args) != 5 (from trainer_state.json)\n!", &[]);
    }
}
