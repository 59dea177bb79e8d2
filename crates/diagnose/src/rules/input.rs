//! The facts that the rules read, for both commands.
//!
//! `check` knows nearly all facts, to the byte. `explain` knows only its inputs' statements: a log states rounded
//! numbers of one instant, a snapshot holds the history without the device. A rule finds nothing without its necessary
//! facts.

use report::explain::{StatedCard, StatedCounters};
use report::{Breakdown, Caught, Contents, Growth, Location, Place, Severity, SizeSearch, ValueShape};
use trace::text::{OomKind, OtherProcess, StatedBytes, StatedOom};
use trace::{Bytes, EventIndex, Moment};

use crate::judge::sharing::Shared;
use crate::measure::growth::Survivors;
use crate::measure::retention::Retention;
use crate::measure::view::View;

/// The known facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts<'a> {
    /// The reader's working directory; paths are shown relative to it.
    pub(crate) folder: &'a str,
    /// The history of the device that the report is about.
    pub(crate) view: Option<&'a View<'a>>,
    /// The device.
    pub(crate) device: DeviceFacts<'a>,
    /// The last failed request.
    pub(crate) failure: Option<Failure>,
    /// True for `explain`: the facts include no run without a limit, and no counter outside the history.
    pub(crate) explains: bool,
    /// True if the failed request ended the program.
    pub(crate) fatal: bool,
    /// The number of failed requests.
    pub(crate) failures: u64,
    /// The fate of an error that the program caught.
    pub(crate) caught: Option<Caught>,
    /// The search of a program that ran out until a size fitted.
    pub(crate) search: Option<SizeSearch>,
    /// The program's need on the device: measured without a limit, or a lower bound.
    pub(crate) need: Option<Bytes>,
    /// The allocated bytes at the need by category, if a run without a limit came there.
    pub(crate) need_breakdown: Option<Breakdown>,
    /// True if the need is a lower bound.
    pub(crate) is_need_partial: bool,
    /// The peak of the reserved bytes.
    pub(crate) reserved_peak: Bytes,
    /// The place of the peak of the allocated bytes.
    pub(crate) peak_place: Place,
    /// The allocated bytes at the peak by category.
    pub(crate) breakdown: Breakdown,
    /// Growth from step to step.
    pub(crate) growth: Option<Growth>,
    /// The source of `growth`.
    pub(crate) growth_source: &'static str,
    /// The survivors of each line, most bytes first; empty without growth.
    pub(crate) survivors: Vec<Survivors>,
    /// The reason for their retention; `None` without growth.
    pub(crate) retention: Option<Retention>,
    /// The moment that the report is about: the error of an explanation, else the peak.
    pub(crate) moment: Option<Moment>,
    /// Every device of every process; empty with fewer than two.
    pub(crate) ranks: Vec<RankFacts>,
    /// All errors in the texts.
    pub(crate) stated: &'a [StatedOom],
    /// PyTorch's table of the report's device.
    pub(crate) counters: Option<&'a StatedCounters>,
    /// `nvidia-smi`'s table of the report's device.
    pub(crate) card: Option<&'a StatedCard>,
    /// The number of times that the cache was emptied to serve a request (`num_alloc_retries`).
    pub(crate) retries: u64,
    /// The source of `retries`.
    pub(crate) retries_source: &'static str,
    /// The fullest of the devices that several processes used.
    pub(crate) shared: Option<Shared>,
    /// The lines where values decided shapes.
    pub(crate) value_shapes: &'a [ValueShape],
}

/// A rank of a job on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RankFacts {
    /// The rank.
    pub(crate) rank: u32,
    /// The device's number, as the process counts.
    pub(crate) device: u32,
    /// The peak of the allocated bytes.
    pub(crate) allocated: Bytes,
    /// The peak of the reserved bytes.
    pub(crate) reserved: Bytes,
    /// The line with the largest excess of bytes over other ranks.
    pub(crate) extra: Option<(Bytes, Location)>,
}

/// The device's known figures.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeviceFacts<'a> {
    /// The manufacturer's name of the GPU.
    pub(crate) name: Option<&'a str>,
    /// The total memory.
    pub(crate) total: Option<StatedBytes>,
    /// The part of the memory that the program can use.
    pub(crate) usable: Option<Bytes>,
    /// The name of `usable`'s figure, and its source.
    pub(crate) usable_is: (&'static str, &'static str),
}

/// A failed request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure {
    /// The kind of memory that ran out.
    pub(crate) kind: OomKind,
    /// The requested size. In a message: the size of the segment that the request would have needed.
    pub(crate) requested: Option<StatedBytes>,
    /// The free memory of the device.
    pub(crate) free: Option<StatedBytes>,
    /// The bytes allocated by the program.
    pub(crate) allocated: Option<StatedBytes>,
    /// The bytes reserved by the allocator.
    pub(crate) reserved: Option<StatedBytes>,
    /// The largest free block for the request's stream and pool, if the history shows all free blocks.
    pub(crate) largest_free: Option<Bytes>,
    /// The device memory of this process.
    pub(crate) process: Option<StatedBytes>,
    /// The upper bound that a fraction sets for this process.
    pub(crate) allowed: Option<StatedBytes>,
    /// The other processes on the device.
    pub(crate) others: Vec<OtherProcess>,
    /// The innermost line of the user's code.
    pub(crate) location: Option<Location>,
    /// The failure's event in the history.
    pub(crate) event: Option<EventIndex>,
    /// The error message; empty if only the history records the error.
    pub(crate) message: String,
    /// The source of the request's size.
    pub(crate) request_source: &'static str,
    /// The source of the counters.
    pub(crate) counters_source: &'static str,
}

impl Failure {
    /// Returns the reserved bytes that are not allocated.
    pub(crate) fn cached(&self) -> Option<StatedBytes> {
        Some(self.reserved? - self.allocated?)
    }

    /// Returns the bytes that the request lacked, at least.
    pub(crate) fn missing(&self) -> Option<Bytes> {
        let requested = self.requested?;
        let room = match (self.allowed, self.reserved) {
            (Some(allowed), Some(reserved)) => (allowed - reserved).min(self.free.unwrap_or(allowed)),
            _ => self.free?,
        };
        Some(requested.nearest - room.nearest)
    }

    /// Checks that the host's memory ran out.
    pub(crate) fn is_hosts(&self) -> bool {
        matches!(self.kind, OomKind::HostAllocation | OomKind::SharedMemory | OomKind::Killed | OomKind::Ended)
    }

    /// Checks that PyTorch's device allocator failed, and no library beside it.
    pub(crate) fn is_allocators(&self) -> bool {
        matches!(self.kind, OomKind::Allocator | OomKind::Rejected | OomKind::AsyncAllocator)
    }
}

impl Facts<'_> {
    /// Returns the bytes of category `contents` at the report's moment.
    pub(crate) fn live_bytes(&self, contents: Contents) -> Bytes {
        let live = self.view.zip(self.moment).map(|(view, moment)| view.live_bytes(moment, contents));
        live.unwrap_or_default()
    }

    /// Returns the severity of a cause: an error if the program ended, or will end, by it.
    pub(crate) fn severity(&self) -> Severity {
        if self.fatal { Severity::Error } else { Severity::Warning }
    }

    /// Returns the line of the failed request, if the request ended the program.
    pub(crate) fn failed_at(&self) -> Option<Location> {
        self.failure.as_ref().filter(|_| self.fatal).and_then(|failure| failure.location.clone())
    }

    /// Returns `file` relative to the reader's directory if the directory contains it.
    pub(crate) fn show<'f>(&self, file: &'f str) -> &'f str {
        report::words::relative(file, self.folder)
    }

    /// Formats `location` for a sentence.
    pub(crate) fn at(&self, location: &Location) -> String {
        format!("{}:{}", self.show(&location.file), location.line)
    }
}
