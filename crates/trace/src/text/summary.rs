//! The table of `torch.cuda.memory_summary()`.

use super::line::{self, CleanLines};
use super::size;
use super::stated::StatedBytes;
use crate::bytes::Bytes;

/// The subject of a row, by its name in `torch.cuda.memory_stats()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// `allocated_bytes`.
    AllocatedBytes,
    /// `active_bytes`.
    ActiveBytes,
    /// `requested_bytes` (2.0 and later).
    RequestedBytes,
    /// `reserved_bytes`.
    ReservedBytes,
    /// `inactive_split_bytes`.
    InactiveSplitBytes,
    /// `allocation`.
    Allocations,
    /// `active`.
    ActiveAllocations,
    /// `segment`.
    Segments,
    /// `inactive_split`.
    InactiveSplits,
    /// `oversize_allocations` (1.10 and later).
    OversizeAllocations,
    /// `oversize_segments` (1.10 and later).
    OversizeSegments,
}

/// The pools of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PoolSize {
    /// Small and large.
    All,
    /// Blocks of more than 1 MiB.
    Large,
    /// Blocks of up to 1 MiB.
    Small,
}

/// A number of the table: bytes or a count, truncated to whole units, hence a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount(pub StatedBytes);

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummaryRow {
    /// The counter.
    pub metric: Metric,
    /// The pools.
    pub pool: PoolSize,
    /// The current value.
    pub current: Amount,
    /// The peak.
    pub peak: Amount,
    /// The sum of all increases.
    pub allocated: Amount,
    /// The sum of all decreases.
    pub freed: Amount,
}

/// `torch.cuda.memory_summary()` of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemorySummary {
    /// The line of the text on which the table starts, counted from 1.
    pub line: u32,
    /// The rank in a prefix of the line.
    pub rank: Option<u32>,
    /// The device.
    pub device_index: Option<u32>,
    /// The number of OutOfMemoryErrors, including those that PyTorch caught.
    pub ooms: Option<u64>,
    /// The number of times that the cache was released and the request retried.
    pub retries: Option<u64>,
    /// The rows of the text.
    pub rows: Vec<SummaryRow>,
}

impl MemorySummary {
    /// The row of a metric and a pool.
    pub fn row(&self, metric: Metric, pool: PoolSize) -> Option<&SummaryRow> {
        self.rows.iter().find(|row| row.metric == metric && row.pool == pool)
    }
}

/// The first words of a row, and its counter. Up to 1.13 there are no requested bytes.
const METRICS: [(&str, Metric); 11] = [
    ("Allocated memory", Metric::AllocatedBytes),
    ("Active memory", Metric::ActiveBytes),
    ("Requested memory", Metric::RequestedBytes),
    ("GPU reserved memory", Metric::ReservedBytes),
    ("Non-releasable memory", Metric::InactiveSplitBytes),
    ("Allocations", Metric::Allocations),
    ("Active allocs", Metric::ActiveAllocations),
    ("GPU reserved segments", Metric::Segments),
    ("Non-releasable allocs", Metric::InactiveSplits),
    ("Oversize allocations", Metric::OversizeAllocations),
    ("Oversize GPU segments", Metric::OversizeSegments),
];

/// Reads the table whose head is the line at `start`; returns its end. Layout: torch/cuda/memory.py, 1.4 to 2.15.
pub(super) fn read(text: &[u8], start: usize, line: u32) -> Option<(MemorySummary, usize)> {
    const MOST_LINES: usize = 80;
    let mut summary = MemorySummary { line, ..MemorySummary::default() };
    let (mut end, mut metric, mut rules) = (start, None, 0);
    for (content, line_end) in CleanLines::of_table(text, start, b"PyTorch CUDA").take(MOST_LINES) {
        let is_head = content.contains("PyTorch CUDA memory summary");
        if is_head && summary.device_index.is_some() || !content.contains('|') {
            break;
        }
        end = line_end;
        rules += usize::from(content.contains("|====="));
        if rules == 2 {
            break;
        }
        if is_head {
            summary.device_index = after(&content, "device ID ").and_then(|device| u32::try_from(device).ok());
            summary.rank = line::origin(&text[start..line_end]).rank;
        }
        summary.ooms = summary.ooms.or_else(|| after(&content, "CUDA OOMs:"));
        summary.retries = summary.retries.or_else(|| after(&content, "cudaMalloc retries:"));
        summary.rows.extend(row(&content, &mut metric));
    }
    summary.device_index.is_some().then_some((summary, end))
}

fn after(content: &str, words: &str) -> Option<u64> {
    let (_, rest) = content.split_once(words)?;
    size::whole(rest.trim_start().as_bytes()).map(|(number, _)| number)
}

/// A complete row; `metric` is the counter of the last row without a pool.
fn row(content: &str, metric: &mut Option<Metric>) -> Option<SummaryRow> {
    let (_, content) = content.trim_end().strip_suffix('|')?.split_once('|')?;
    let cells: Vec<&str> = content.split('|').map(str::trim).collect();
    let pool = match cells[0] {
        "from large pool" => PoolSize::Large,
        "from small pool" => PoolSize::Small,
        name => {
            *metric = METRICS.iter().find(|(words, _)| *words == name).map(|(_, metric)| *metric);
            PoolSize::All
        }
    };
    let metric = (*metric)?;
    let amount = |column: usize| amount(cells.get(column)?);
    Some(SummaryRow { metric, pool, current: amount(1)?, peak: amount(2)?, allocated: amount(3)?, freed: amount(4)? })
}

/// `512 B`, `10240 KiB` (`KB` up to 1.13), `12`, `12 K`: bytes are truncated to powers of 1024, counts to powers of
/// 1000.
fn amount(cell: &str) -> Option<Amount> {
    const SIZES: [&str; 6] = ["B", "K", "M", "G", "T", "P"];
    let (number, length) = size::whole(cell.as_bytes())?;
    let unit = cell[length..].trim();
    let step = match unit {
        "" => 1,
        "K" => 1_000,
        "M" => 1_000_000,
        _ => 1 << (10 * SIZES.iter().position(|size| unit.starts_with(size))?),
    };
    let lowest = number.saturating_mul(step);
    let highest = Bytes(lowest.saturating_add(step - 1));
    Some(Amount(StatedBytes { nearest: Bytes(lowest), lowest: Bytes(lowest), highest }))
}
