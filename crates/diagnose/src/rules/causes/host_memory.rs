//! `host-memory`: the host's memory ran out, not the device's.
//!
//! Role surroundings, order 70.

use causes::CauseId;
use report::{Evidence, Finding, Remedy};
use trace::text::{ClueKind, OomKind};

use crate::rules::advice::advice;
use crate::rules::advice::switches;
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::known::{Source, text};
use crate::rules::facts::sizes::is_no_size;
use crate::rules::rule::{Cause, Check, Rank, Rule};

pub(super) const RULE: Rule = Rule { cause: CauseId::HostMemory, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failure =
        facts.failure.as_ref().filter(|failure| !failure.requested.is_some_and(|size| is_no_size(size.nearest())))?;
    let (message, remedies) = match failure.kind {
        OomKind::HostAllocation if failure.clue(ClueKind::CommitLimit).is_some() => (COMMIT, more_commit()),
        OomKind::HostAllocation => {
            ("the host had too little memory for a request of the CPU allocator", smaller(failure))
        }
        OomKind::DeviceCall if failure.asks_host() => (pinned_message(failure), less_pinned()),
        OomKind::Nccl if failure.asks_host() => (NCCL, other_transport()),
        OomKind::Killed | OomKind::Ended => (killed_message(failure), keep_less(failure)),
        _ => return None,
    };
    let mut cause = host_cause(RULE.cause, facts, failure, message, remedies);
    cause.finding.remedies.splice(0..0, switches::of_framework(failure.framework));
    Some(cause)
}

const COMMIT: &str = "Windows refused to commit more memory: the host's memory and the paging file are full";
const NCCL: &str = "NCCL was refused memory of the host, which its shared-memory transport asks for through CUDA";

/// The cause that a failure of the host's memory amounts to, for `rule`.
pub(super) fn host_cause(
    rule: CauseId,
    facts: &Facts,
    failure: &Failure,
    message: &str,
    remedies: Vec<Remedy>,
) -> Cause {
    let finding = Finding {
        without: None,
        rule,
        severity: facts.severity(),
        message: message.to_owned(),
        location: failure.location.clone(),
        evidence: evidence(failure),
        remedies,
    };
    Cause { finding, bytes: None, rank: Rank::Setting, removal: None }
}

/// The request, the lines beside the error that the sentence rests on, and the error.
fn evidence(failure: &Failure) -> Vec<Evidence> {
    const SHOWN: [(ClueKind, &str); 5] = [
        (ClueKind::Loading, "before"),
        (ClueKind::HostUse, "before"),
        (ClueKind::Offload, "beside"),
        (ClueKind::PinnedMemory, "the call"),
        (ClueKind::SharedTransport, "beside"),
    ];
    let requested = failure.requested.iter().map(|size| size.row("requested"));
    let shown =
        SHOWN.iter().find_map(|(kind, what)| Some(text(what, failure.clue(*kind)?.to_owned(), Source::Message)));
    requested.chain(shown).chain([text("the error", failure.message.clone(), Source::Message)]).collect()
}

fn pinned_message(failure: &Failure) -> &'static str {
    match failure.clue(ClueKind::Wsl) {
        Some(_) => {
            "a request for pinned memory of the host was refused, of which WSL gives CUDA little: the device need not be full"
        }
        None => "a request for pinned memory of the host was refused: the device need not be full",
    }
}

fn killed_message(failure: &Failure) -> &'static str {
    match (failure.kind, failure.clue(ClueKind::Loading)) {
        (OomKind::Killed, None) => "the kernel killed a process because the host's memory was full",
        (OomKind::Killed, Some(_)) => {
            "the kernel killed a process that loaded weights, because the host's memory was full"
        }
        (_, None) => "a process was killed from outside, as the kernel does when the host's memory is full",
        (_, Some(_)) => {
            "a process was killed while it loaded weights, as the kernel does when the host's memory is full"
        }
    }
}

fn smaller(failure: &Failure) -> Vec<Remedy> {
    let general = advice(
        "request less host memory",
        "check the shape; map files instead of reading them; build the model on the device",
    );
    failure.clue(ClueKind::Loading).map(|_| load_less()).into_iter().chain([general]).collect()
}

/// What fills the host's memory, by the lines beside the error; without any the way to see it comes first.
fn keep_less(failure: &Failure) -> Vec<Remedy> {
    let has = |kind| failure.clue(kind).is_some();
    let mut remedies = Vec::new();
    if has(ClueKind::Loading) {
        remedies.push(load_less());
    } else if has(ClueKind::Offload) || has(ClueKind::HostUse) {
        remedies.push(offload_less());
    } else if has(ClueKind::DataWorkers) {
        remedies.push(fewer_workers());
    }
    if has(ClueKind::Slurm) {
        remedies.push(advice("ask Slurm for more: --mem or --mem-per-cpu", "sacct -o MaxRSS shows what the step took"));
    } else if has(ClueKind::Container) {
        remedies.push(advice(
            "raise the container's memory limit",
            "resources.limits.memory of Kubernetes, docker run --memory",
        ));
    }
    remedies.push(see_host());
    if !has(ClueKind::Loading) && !has(ClueKind::Offload) && !has(ClueKind::DataWorkers) {
        remedies.push(fewer_workers());
    }
    remedies
}

fn see_host() -> Remedy {
    advice(
        "see what fills the host's memory: free -h while it runs, dmesg after it",
        "dmesg shows whether the kernel's OOM killer ended the process; in a container its memory limit counts",
    )
}

fn load_less() -> Remedy {
    advice(
        "load the weights once: each rank loads the whole model into the host's memory",
        "FSDP's cpu_ram_efficient_loading and DeepSpeed's zero.Init let one rank load; low_cpu_mem_usage=True, device_map, torch.load(mmap=True) \
         and safetensors load piece by piece",
    )
}

fn offload_less() -> Remedy {
    advice(
        "offload less: offloaded parameters and optimizer states fill the host's memory",
        "Adam's states and float32 weights take 12 bytes of a parameter there; offload to NVMe, pin_memory: false, or shard over more hosts",
    )
}

fn fewer_workers() -> Remedy {
    advice(
        "fewer DataLoader workers, a smaller prefetch_factor, no copies of the data set in each worker",
        "a list or dict of Python objects is copied into each worker bit by bit; arrays and tensors are shared",
    )
}

fn more_commit() -> Vec<Remedy> {
    vec![
        advice(
            "a larger paging file: System, Advanced, Performance, Virtual memory",
            "Windows counts memory that was promised, used or not; the weights' size and more",
        ),
        advice(
            "fewer processes: num_workers of the DataLoader to 2 or 0",
            "each worker is a process that loads CUDA's libraries and commits memory for them",
        ),
    ]
}

fn less_pinned() -> Vec<Remedy> {
    vec![
        advice(
            "copy without pinned memory: no pin_memory, no non_blocking copy to the CPU",
            "a non-blocking copy to the CPU allocates pinned memory; unsloth's gradient checkpointing makes such copies: use_gradient_checkpointing=True \
             in place of \"unsloth\"",
        ),
        advice(
            "raise the host's limit: memory= in .wslconfig, ulimit -l unlimited, docker --ulimit memlock=-1",
            "pinned memory cannot be swapped; WSL lets CUDA pin about half of its memory",
        ),
    ]
}

fn other_transport() -> Vec<Remedy> {
    vec![
        advice(
            "NCCL_CUMEM_HOST_ENABLE=0",
            "NCCL 2.24 and later allocate this memory by cuMem, which containers without NUMA support refuse",
        ),
        nccl_room(),
    ]
}

/// The room that NCCL needs on the host.
pub(super) fn nccl_room() -> Remedy {
    advice(
        "give the container shared and pinned memory: --shm-size=8g or --ipc=host, --ulimit memlock=-1",
        "df -h /dev/shm shows the first; NCCL_SHM_DISABLE=1 goes through sockets, which is slow",
    )
}
