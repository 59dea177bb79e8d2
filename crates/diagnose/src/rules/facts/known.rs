//! A fact with its source, as evidence names it.

use std::fmt;

use report::{Evidence, Value};
use trace::Bytes;
use trace::text::StatedBytes;

/// A known fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known<T> {
    /// The fact.
    pub(crate) value: T,
    /// The record, table or text that states the fact.
    pub(crate) source: Source,
}

/// The records, tables and texts that state facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The agent's observer of PyTorch's allocator.
    Observer,
    /// PyTorch's counters at the error.
    CountersAtError,
    /// PyTorch's counters after each step.
    CountersAfterSteps,
    /// PyTorch's counters at the end of the run.
    CountersAtEnd,
    /// PyTorch's counters of one rank.
    CountersOfRank,
    /// The table of `torch.cuda.memory_summary`.
    SummaryTable,
    /// The table of `torch.cuda.memory_stats`.
    StatsTable,
    /// The message of the error.
    Message,
    /// The prefixes that a launcher writes before each line.
    Prefixes,
    /// The traceback of the error.
    Traceback,
    /// The table of `nvidia-smi`.
    NvidiaSmi,
    /// The figures that a program prints.
    Printed,
    /// The event of the failed request in the history.
    OomEvent,
    /// The events of all failed requests in the history.
    OomEvents,
    /// The state of the history at the error.
    HistoryAtError,
    /// Allocations and frees in the history.
    Lifetimes,
    /// Allocations and frees in the trace of a dry run.
    TraceLifetimes,
    /// The blocks that are alive at the error.
    LiveAtError,
    /// The segments that the allocator released.
    SegmentEvents,
    /// The settings in a snapshot.
    Settings,
    /// The snapshot of one rank.
    SnapshotOfRank,
    /// The replay of the recorded requests.
    Replay,
    /// The trace without the temporaries of the optimizer.
    WithoutTemporaries,
    /// The breakdown of the peak.
    Breakdown,
    /// The growth, continued from the peak.
    Forecast,
    /// The run without a limit.
    UnlimitedRun,
    /// The profile of the GPU.
    Profile,
    DryRun,
    /// The peaks of all processes, added up.
    SumOfPeaks,
    FractionOption,
    /// The ranking of the causes.
    Ranking,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Observer => "the allocator's out-of-memory observer",
            Source::CountersAtError => "memory_stats at the error",
            Source::CountersAfterSteps => "memory_stats after each step",
            Source::CountersAtEnd => "memory_stats at the end",
            Source::CountersOfRank => "its memory_stats",
            Source::SummaryTable => "memory_summary",
            Source::StatsTable => "memory_stats",
            Source::Message => "the error's text",
            Source::Prefixes => "prefixes in the text",
            Source::Traceback => "the traceback",
            Source::NvidiaSmi => "nvidia-smi",
            Source::Printed => "figures in the text",
            Source::OomEvent => "the history's oom event",
            Source::OomEvents => "the history's oom events",
            Source::HistoryAtError => "the history at the error",
            Source::Lifetimes => "lifetimes in the history",
            Source::TraceLifetimes => "lifetimes in the trace",
            Source::LiveAtError => "memory alive at the error",
            Source::SegmentEvents => "segment_free events",
            Source::Settings => "the snapshot",
            Source::SnapshotOfRank => "its snapshot",
            Source::Replay => "the recorded requests, replayed",
            Source::WithoutTemporaries => "the trace without temporaries",
            Source::Breakdown => "breakdown at the peak",
            Source::Forecast => "growth from the peak on",
            Source::UnlimitedRun => "the run without a limit",
            Source::Profile => "the GPU's profile",
            Source::DryRun => "the dry run",
            Source::SumOfPeaks => "the sum of each process's own peak",
            Source::FractionOption => "--fraction",
            Source::Ranking => "ranking",
        })
    }
}

impl<T> Known<T> {
    /// Returns a fact of `source`.
    pub(crate) fn new(value: T, source: Source) -> Known<T> {
        Known { value, source }
    }
}

impl Known<Bytes> {
    /// Returns the amount as evidence.
    pub(crate) fn row(self, what: &str) -> Evidence {
        bytes(what, self.value, self.source)
    }
}

impl Known<StatedBytes> {
    /// Returns the nearest amount.
    pub(crate) fn nearest(self) -> Bytes {
        self.value.nearest
    }

    /// Returns the nearest amount with its source.
    pub(crate) fn to_nearest(self) -> Known<Bytes> {
        Known::new(self.nearest(), self.source)
    }

    /// Returns the nearest amount as evidence.
    pub(crate) fn row(self, what: &str) -> Evidence {
        bytes(what, self.value.nearest, self.source)
    }
}

impl Known<u64> {
    /// Returns the count as evidence.
    pub(crate) fn row(self, what: &str) -> Evidence {
        count(what, self.value, self.source)
    }
}

/// Returns evidence that is an amount of memory.
pub(in crate::rules) fn bytes(what: &str, bytes: Bytes, source: Source) -> Evidence {
    evidence(what, Value::Bytes(bytes), source)
}

/// Returns evidence that is a count.
pub(in crate::rules) fn count(what: &str, count: u64, source: Source) -> Evidence {
    evidence(what, Value::Count(count), source)
}

/// Returns evidence that is a text.
pub(in crate::rules) fn text(what: &str, text: String, source: Source) -> Evidence {
    evidence(what, Value::Text(text), source)
}

fn evidence(what: &str, value: Value, source: Source) -> Evidence {
    Evidence { what: what.to_owned(), value, source: source.to_string().into() }
}
