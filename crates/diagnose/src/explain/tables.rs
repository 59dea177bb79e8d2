//! The tables of PyTorch and `nvidia-smi` in texts.

use std::collections::BTreeSet;

use report::explain::{StatedCard, StatedCounters, StatedProcess, TableSource};
use trace::text::{
    Application, Artifact, DeviceTable, MemoryStats, MemorySummary, Metric, NvidiaSmi, PoolSize, PrintedMemory, SmiGpu,
    SmiProcess, StatedBytes,
};

use super::case::{ExplainCase, InputContents};

fn artifacts(case: &ExplainCase) -> impl Iterator<Item = (usize, &Artifact)> {
    case.inputs.iter().enumerate().flat_map(|(index, input)| {
        let artifacts = match &input.contents {
            InputContents::Text(artifacts) => artifacts.as_slice(),
            InputContents::Snapshot(_) | InputContents::Run(..) => &[],
        };
        artifacts.iter().map(move |artifact| (index, artifact))
    })
}

/// Returns PyTorch's tables, in input order.
pub(super) fn counters(case: &ExplainCase) -> Vec<StatedCounters> {
    let tables = artifacts(case).filter_map(|(input, artifact)| match artifact {
        Artifact::MemorySummary(summary) => Some(of_summary(input, summary)),
        Artifact::MemoryStats(stats) => Some(of_stats(input, stats)),
        _ => None,
    });
    tables.collect()
}

fn of_summary(input: usize, summary: &MemorySummary) -> StatedCounters {
    let row = |metric| summary.row(metric, PoolSize::All);
    let (now, peak) = (|metric| row(metric).map(|row| row.current.0), |metric| row(metric).map(|row| row.peak.0));
    StatedCounters {
        input,
        line: summary.line,
        source: TableSource::MemorySummary,
        rank: summary.rank,
        device_index: summary.device_index,
        allocated_bytes: now(Metric::AllocatedBytes),
        allocated_peak_bytes: peak(Metric::AllocatedBytes),
        active_bytes: now(Metric::ActiveBytes),
        reserved_bytes: now(Metric::ReservedBytes),
        reserved_peak_bytes: peak(Metric::ReservedBytes),
        inactive_split_bytes: now(Metric::InactiveSplitBytes),
        retries: summary.retries,
        ooms: summary.ooms,
    }
}

fn of_stats(input: usize, stats: &MemoryStats) -> StatedCounters {
    let bytes = |key: &str| stats.get(key).map(StatedBytes::exact);
    StatedCounters {
        input,
        line: stats.line,
        source: TableSource::MemoryStats,
        rank: stats.rank,
        device_index: None,
        allocated_bytes: bytes("allocated_bytes.all.current"),
        allocated_peak_bytes: bytes("allocated_bytes.all.peak"),
        active_bytes: bytes("active_bytes.all.current"),
        reserved_bytes: bytes("reserved_bytes.all.current"),
        reserved_peak_bytes: bytes("reserved_bytes.all.peak"),
        inactive_split_bytes: bytes("inactive_split_bytes.all.current"),
        retries: stats.get("num_alloc_retries"),
        ooms: stats.get("num_ooms"),
    }
}

/// Returns the programs that the texts name, each once.
pub(super) fn programs(case: &ExplainCase) -> Vec<Application> {
    let named = artifacts(case).filter_map(|(_, artifact)| match artifact {
        Artifact::Application(named) => Some(named.program),
        _ => None,
    });
    named.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the last table of a device that a program prints.
pub(super) fn device_table(case: &ExplainCase) -> Option<DeviceTable> {
    let tables = artifacts(case).filter_map(|(_, artifact)| match artifact {
        Artifact::DeviceTable(table) => Some(table.clone()),
        _ => None,
    });
    tables.last()
}

/// Returns the figures that a text without an error prints.
pub(super) fn printed(case: &ExplainCase) -> Option<PrintedMemory> {
    artifacts(case).find_map(|(_, artifact)| match artifact {
        Artifact::Printed(printed) => Some(*printed),
        _ => None,
    })
}

/// Returns the rank that a launcher names as the root cause.
pub(super) fn root_rank(case: &ExplainCase) -> Option<u32> {
    artifacts(case).find_map(|(_, artifact)| match artifact {
        Artifact::RootRank(rank) => Some(*rank),
        _ => None,
    })
}

/// Returns the GPUs of `nvidia-smi`'s tables, in input order.
pub(super) fn cards(case: &ExplainCase) -> Vec<StatedCard> {
    let tables = artifacts(case).filter_map(|(input, artifact)| match artifact {
        Artifact::NvidiaSmi(smi) => Some((input, smi)),
        _ => None,
    });
    let mut cards: Vec<StatedCard> = Vec::new();
    for (input, smi) in tables {
        match (cards.as_mut_slice(), smi.gpus.as_slice(), &smi.processes) {
            ([only], [], Some(all)) if only.processes.is_none() => {
                only.processes = Some(all.iter().map(to_stated).collect());
            }
            _ => cards.extend(cards_of(input, smi)),
        }
    }
    cards
}

/// Returns the GPUs of one table. A list of processes alone (`--query-compute-apps`) belongs to the only GPU of the
/// earlier tables, else to a GPU without other known figures.
fn cards_of(input: usize, smi: &NvidiaSmi) -> Vec<StatedCard> {
    let unknown = [SmiGpu::default()];
    let gpus = if smi.gpus.is_empty() { &unknown[..] } else { &smi.gpus };
    let card = |gpu: &SmiGpu| StatedCard {
        input,
        line: smi.line,
        index: gpu.index,
        name: gpu.name.clone(),
        total_bytes: gpu.total_bytes,
        used_bytes: gpu.used_bytes,
        processes: smi
            .processes
            .as_ref()
            .map(|all| all.iter().filter(|process| is_on(process, gpu)).map(to_stated).collect()),
    };
    gpus.iter().map(card).collect()
}

/// Checks that a process is listed for `gpu`. A list with other GPU names belongs to the only GPU.
fn is_on(process: &SmiProcess, gpu: &SmiGpu) -> bool {
    match (process.gpu_index, gpu.index) {
        (Some(on), Some(index)) => on == index,
        _ => process.gpu_id.is_none() || gpu.bus_id.is_none() || process.gpu_id == gpu.bus_id,
    }
}

fn to_stated(process: &SmiProcess) -> StatedProcess {
    StatedProcess { pid: process.pid, name: process.name.clone(), bytes: process.used_bytes }
}
