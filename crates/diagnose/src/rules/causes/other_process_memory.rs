//! `other-process-memory`: another process holds memory of the device.
//!
//! Role surroundings, order 20.
//!
//! (Ranks of one job on one device are `wrong-device`.)

use causes::CauseId;
use report::words::count;
use report::{Evidence, Finding, Remedy, Severity};
use trace::Bytes;
use trace::text::{Framework, StatedBytes};

use super::wrong_device::is_shared_by_ranks;
use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::known::{Known, Source, bytes};
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// Shares below 1/20 of the device are not reported.
const MIN_SHARE_DENOMINATOR: u64 = 20;

pub(super) const RULE: Rule = Rule { cause: CauseId::OtherProcessMemory, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_in_error(facts).or_else(|| find_in_table(facts))
}

fn find_in_error(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| !failure.is_hosts() && !is_shared_by_ranks(facts))?;
    let total = facts.device.total?;
    let (held, evidence) = named_processes(failure).or_else(|| unnamed_processes(facts, failure, total))?;
    if held.0.saturating_mul(MIN_SHARE_DENOMINATOR) < total.nearest().0 {
        return None;
    }
    let decides = failure.missing().is_some_and(|missing| held >= missing);
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: if facts.is_fatal() && decides { Severity::Error } else { Severity::Warning },
        message: format!("other processes hold {held} of the device's {}", total.nearest()),
        location: None,
        evidence,
        remedies: vec![end_them(failure.framework)],
    };
    Some(Cause { finding, bytes: Some(held), rank: Rank::Setting, removal: None })
}

/// Returns the advice to end other processes, with the tool that lists the processes of a device. For figures by which they hold what a request lacks.
pub(in crate::rules) fn end_them(framework: Framework) -> Remedy {
    advice(
        &format!("end other processes that {} lists, or use another device", tool(framework)),
        "CUDA_VISIBLE_DEVICES picks another device. A notebook's kernel or a killed job's workers may still be there",
    )
}

/// Returns the advice to look who holds a device, where the figures do not say.
pub(in crate::rules) fn list_holders(framework: Framework) -> Remedy {
    advice(
        &format!("list who holds the device's memory: {}", tool(framework)),
        "run it while the program runs; a notebook's kernel or a killed job's workers may still be there",
    )
}

/// The tool that lists the processes of a device.
fn tool(framework: Framework) -> &'static str {
    match framework {
        Framework::Hip => "rocm-smi --showpids",
        Framework::Xpu => "xpu-smi ps",
        Framework::Npu => "npu-smi info",
        Framework::Mps => "Activity Monitor",
        _ => "nvidia-smi",
    }
}

/// Finds processes in `nvidia-smi`'s list. The list's time is unknown, and a process belongs to the job only if an
/// error names its process id; a list in the error itself takes precedence.
fn find_in_table(facts: &Facts) -> Option<Cause> {
    let card = facts.card?;
    let failure = facts.failure.as_ref();
    if failure.is_some_and(|failure| failure.is_hosts() || failure.process.is_some() || !failure.others.is_empty()) {
        return None;
    }
    let total = card.total_bytes.or(facts.device.total.map(|total| total.value))?.nearest;
    let sizes = listed_processes(facts, total);
    let held: Bytes = sizes.iter().map(|(_, held)| *held).sum();
    if sizes.is_empty() || held.0.saturating_mul(MIN_SHARE_DENOMINATOR) < total.0 {
        return None;
    }
    let decides = failure.is_some_and(|failure| explains_failure(failure, total, held));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: severity_of_table(facts, decides),
        message: format!(
            "nvidia-smi lists {} with {held} of the GPU's {total}",
            count(sizes.len(), "process", "processes")
        ),
        location: None,
        evidence: sizes.iter().map(|(what, held)| bytes(what, *held, Source::NvidiaSmi)).collect(),
        remedies: vec![if failure.is_some() { end_largest(&sizes) } else { list_holders(Framework::Cuda) }],
    };
    Some(Cause { finding, bytes: Some(held), rank: Rank::Setting, removal: None })
}

/// A table beside a question is a remark.
fn severity_of_table(facts: &Facts, decides: bool) -> Severity {
    match (facts.is_fatal() && decides, facts.printed) {
        (true, _) => Severity::Error,
        (false, Some(_)) => Severity::Info,
        (false, None) => Severity::Warning,
    }
}

/// Returns the processes of `nvidia-smi`'s table with their sizes, without the program itself.
pub(in crate::rules) fn listed_processes(facts: &Facts, total: Bytes) -> Vec<(String, Bytes)> {
    let failure = facts.failure.as_ref();
    let own = |pid: Option<u32>| pid.is_some() && facts.stated.iter().any(|oom| oom.pid == pid);
    let all = facts.card.iter().flat_map(|card| card.processes.iter().flatten());
    let others = all.filter(|process| !own(process.pid));
    let sizes = others.filter_map(|process| {
        let pid = process.pid.map_or_else(|| "of unknown id".to_owned(), |pid| pid.to_string());
        Some((format!("process {pid}, {}", process.name), process.bytes?.nearest))
    });
    let mut sizes: Vec<(String, Bytes)> = sizes.collect();
    let program = failure.and_then(|failure| position_of_program(failure, total, &sizes));
    program.map(|at| sizes.remove(at));
    sizes
}

/// The advice to end the largest process, by its name.
pub(in crate::rules) fn end_largest(sizes: &[(String, Bytes)]) -> Remedy {
    let largest = sizes.iter().max_by_key(|(_, held)| *held);
    let name = largest.map(|(what, held)| format!("end {what} ({held}), or use another device"));
    let general = end_them(Framework::Cuda);
    Remedy { remedy: name.unwrap_or(general.remedy), ..general }
}

/// Returns the place of the program in a list of processes, if the device cannot hold the program beside the list: in a container the driver knows
/// another id. The program is the process nearest to the reserved bytes, within a context.
fn position_of_program(failure: &Failure, total: Bytes, sizes: &[(String, Bytes)]) -> Option<usize> {
    const CONTEXT: u64 = 2 << 30;
    let own = failure.reserved?.nearest();
    let all: Bytes = sizes.iter().map(|(_, held)| *held).sum();
    let free = failure.free.map(Known::nearest).unwrap_or_default();
    let away = |held: Bytes| held.0.abs_diff(own.0);
    let nearest = sizes.iter().enumerate().min_by_key(|(_, (_, held))| away(*held))?;
    (all + own + free > total && away(nearest.1.1) <= CONTEXT).then_some(nearest.0)
}

/// Checks that `held` bytes of listed processes fit into the memory that the error does not account for, and suffice
/// to explain the failure.
fn explains_failure(failure: &Failure, total: Bytes, held: Bytes) -> bool {
    let (Some(free), Some(reserved), Some(missing)) = (failure.free, failure.reserved, failure.missing()) else {
        return false;
    };
    held >= missing && held <= total - free.value.lowest - reserved.value.lowest
}

/// The memory of the other processes that the error names.
fn named_processes(failure: &Failure) -> Option<(Bytes, Vec<Evidence>)> {
    let sizes = failure.others.iter().filter_map(|other| Some((other.pid, other.bytes?.nearest)));
    let evidence: Vec<Evidence> =
        sizes.map(|(pid, held)| bytes(&format!("process {pid}"), held, Source::Message)).collect();
    let held = failure.others.iter().filter_map(|other| Some(other.bytes?.nearest)).sum();
    (!evidence.is_empty()).then_some((held, evidence))
}

/// Returns the device memory outside the free memory and this process, if the error names only this process.
fn unnamed_processes(facts: &Facts, failure: &Failure, total: Known<StatedBytes>) -> Option<(Bytes, Vec<Evidence>)> {
    let (free, own) = (failure.free?, failure.process.filter(|_| failure.others.is_empty())?);
    let held = (total.value - free.value - own.value).lowest;
    let evidence = vec![total.row("device"), free.row("free"), own.row("this process")];
    (held > Bytes::ZERO && facts.is_fatal()).then_some((held, evidence))
}
