//! `host-memory`, `shm`: it was not the device's memory that ran out, but the host's, or its shared memory.

use report::{Evidence, Finding, Remedy, RuleId, Value};
use trace::text::OomKind;

use super::{Cause, Rank, advice, bytes};
use crate::facts::{Facts, Failure};

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    let (rule, message, remedy) = match failure.kind {
        OomKind::HostAllocation => {
            ("host-memory", "the host had no memory for a request of the CPU allocator", smaller())
        }
        OomKind::Killed => {
            ("host-memory", "the kernel killed a process because the host's memory was full", fewer_workers())
        }
        OomKind::Ended => (
            "host-memory",
            "a process was killed from outside, as the kernel does when the host's memory is full",
            fewer_workers(),
        ),
        OomKind::SharedMemory => {
            ("shm", "the host's shared memory ran out, which DataLoader workers hand batches over in", more_shm())
        }
        _ => return None,
    };
    let finding = Finding {
        rule: RuleId(rule),
        severity: facts.severity(),
        message: message.to_owned(),
        location: failure.location.clone(),
        evidence: evidence(failure),
        remedies: vec![remedy],
    };
    Some(Cause { finding, bytes: None, rank: Rank::Setting })
}

fn evidence(failure: &Failure) -> Vec<Evidence> {
    let mut evidence: Vec<Evidence> =
        failure.requested.iter().map(|size| bytes("requested", size.nearest, failure.request_source)).collect();
    let value = Value::Text(failure.message.clone());
    evidence.push(Evidence { what: "the error".to_owned(), value, source: failure.request_source });
    evidence
}

fn smaller() -> Remedy {
    advice("ask the host for less", "check the shape; map files instead of reading them; build the model on the device")
}

fn fewer_workers() -> Remedy {
    advice(
        "fewer DataLoader workers, a smaller prefetch_factor, no copies of the data set in each worker",
        "free -h and dmesg say whether the kernel's OOM killer did it; in a container its memory limit counts",
    )
}

fn more_shm() -> Remedy {
    advice(
        "give the container more shared memory, or use fewer workers",
        "docker run --shm-size=8g or --ipc=host; df -h /dev/shm says how much there is",
    )
}
