//! What the rules look at: the same facts, whoever filled them in.
//!
//! `check` knows nearly all of them, to the byte. `explain` knows what its inputs state: a log gives rounded numbers of
//! one instant, a snapshot the history without the device. A rule asks for what it needs and says nothing without.

use report::explain::{StatedCard, StatedCounters};
use report::{Breakdown, Contents, Growth, Location, Place, Severity, ValueShape};
use trace::text::{OomKind, OtherProcess, StatedBytes, StatedOom};
use trace::{Bytes, EventIndex, Moment};

use crate::measure::growth::Survivors;
use crate::measure::kept::Kept;
use crate::measure::sharing::Shared;
use crate::measure::view::View;

/// What is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts<'a> {
    /// The folder that the reader stands in; paths are shown relative to it.
    pub(crate) folder: &'a str,
    /// The history of the device that the report is about.
    pub(crate) view: Option<&'a View<'a>>,
    /// The device.
    pub(crate) device: Device<'a>,
    /// The request that failed, the last if there were several.
    pub(crate) failure: Option<Failure>,
    /// Whether this is an explanation after the fact: there is no run without a limit, and no counter but the history's.
    pub(crate) explains: bool,
    /// Whether the program ended by it.
    pub(crate) fatal: bool,
    /// How often a request failed.
    pub(crate) failures: u64,
    /// What the program needs on the device, where it was run without a limit, or at least.
    pub(crate) need: Option<Bytes>,
    /// The most that was reserved.
    pub(crate) reserved_peak: Bytes,
    /// When the most was allocated.
    pub(crate) peak_place: Place,
    /// What the allocated bytes at the peak hold.
    pub(crate) breakdown: Breakdown,
    /// Growth from step to step.
    pub(crate) growth: Option<Growth>,
    /// Where `growth` was measured.
    pub(crate) growth_source: &'static str,
    /// What steps leave behind, by the user's line, most first; empty without growth.
    pub(crate) survivors: Vec<Survivors>,
    /// Why it survives; `None` without growth.
    pub(crate) kept: Option<Kept>,
    /// The moment that the report is about: the error of an explanation, else the peak.
    pub(crate) moment: Option<Moment>,
    /// Every device of every process that was seen, where there are several.
    pub(crate) ranks: Vec<RankFacts>,
    /// All errors that the texts state.
    pub(crate) stated: &'a [StatedOom],
    /// PyTorch's own table of the device that the report is about.
    pub(crate) counters: Option<&'a StatedCounters>,
    /// `nvidia-smi`'s table of it.
    pub(crate) card: Option<&'a StatedCard>,
    /// How often the cache was emptied to serve a request (`num_alloc_retries`).
    pub(crate) retries: u64,
    /// Where `retries` is stated.
    pub(crate) retries_source: &'static str,
    /// The fullest of the devices that several processes used.
    pub(crate) shared: Option<Shared>,
    /// Where values decided shapes.
    pub(crate) value_shapes: &'a [ValueShape],
}

/// One device of one process of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RankFacts {
    /// Its rank.
    pub(crate) rank: u32,
    /// The device, as it numbers it.
    pub(crate) device: u32,
    /// Its peaks.
    pub(crate) allocated: Bytes,
    /// Its peaks.
    pub(crate) reserved: Bytes,
    /// The line that holds most more there than elsewhere.
    pub(crate) extra: Option<(Bytes, Location)>,
}

/// The device, as far as known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Device<'a> {
    /// As its maker calls it.
    pub(crate) name: Option<&'a str>,
    /// All its memory.
    pub(crate) total: Option<StatedBytes>,
    /// What of it the program can get.
    pub(crate) usable: Option<Bytes>,
    /// What that is, and where it is stated.
    pub(crate) usable_is: (&'static str, &'static str),
}

/// A request that failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure {
    /// What ran out.
    pub(crate) kind: OomKind,
    /// What was asked for. From a message, what would have had to be reserved for it.
    pub(crate) requested: Option<StatedBytes>,
    /// What was free on the device.
    pub(crate) free: Option<StatedBytes>,
    /// In the program's hands.
    pub(crate) allocated: Option<StatedBytes>,
    /// Held by the allocator.
    pub(crate) reserved: Option<StatedBytes>,
    /// The largest free block that could have served it, where the history shows all of them.
    pub(crate) largest_free: Option<Bytes>,
    /// What this process used of the device.
    pub(crate) process: Option<StatedBytes>,
    /// What this process may use.
    pub(crate) allowed: Option<StatedBytes>,
    /// Others on the device.
    pub(crate) others: Vec<OtherProcess>,
    /// The user's own line.
    pub(crate) location: Option<Location>,
    /// Where it is in the history.
    pub(crate) event: Option<EventIndex>,
    /// The error's own words; empty where only the history shows it.
    pub(crate) message: String,
    /// Where the request is stated.
    pub(crate) request_source: &'static str,
    /// Where the counters are stated.
    pub(crate) counters_source: &'static str,
}

impl Failure {
    /// What was reserved and not in the program's hands.
    pub(crate) fn cached(&self) -> Option<StatedBytes> {
        Some(self.reserved? - self.allocated?)
    }

    /// The least by which more free memory would have let it succeed.
    pub(crate) fn missing(&self) -> Option<Bytes> {
        let requested = self.requested?;
        let room = match (self.allowed, self.reserved) {
            (Some(allowed), Some(reserved)) => (allowed - reserved).min(self.free.unwrap_or(allowed)),
            _ => self.free?,
        };
        Some(requested.nearest - room.nearest)
    }

    /// Whether it is about the host's memory.
    pub(crate) fn is_hosts(&self) -> bool {
        matches!(self.kind, OomKind::HostAllocation | OomKind::SharedMemory | OomKind::Killed | OomKind::Ended)
    }

    /// Whether PyTorch's allocator on a device failed, and not something beside it.
    pub(crate) fn is_allocators(&self) -> bool {
        matches!(self.kind, OomKind::Allocator | OomKind::Rejected | OomKind::AsyncAllocator)
    }
}

impl Facts<'_> {
    /// What is live at the moment that the report is about and holds `contents`.
    pub(crate) fn live_bytes(&self, contents: Contents) -> Bytes {
        let live = self.view.zip(self.moment).map(|(view, moment)| view.live_bytes(moment, contents));
        live.unwrap_or_default()
    }

    /// How bad a cause is: what ended the program, or what will.
    pub(crate) fn severity(&self) -> Severity {
        if self.fatal { Severity::Error } else { Severity::Warning }
    }

    /// Where the failed request was made, if the program ended by it.
    pub(crate) fn failed_at(&self) -> Option<Location> {
        self.failure.as_ref().filter(|_| self.fatal).and_then(|failure| failure.location.clone())
    }

    /// `file` for a sentence: relative to the reader's folder where it lies in it.
    pub(crate) fn show<'f>(&self, file: &'f str) -> &'f str {
        crate::measure::paths::relative(file, self.folder)
    }

    /// `location` for a sentence.
    pub(crate) fn at(&self, location: &Location) -> String {
        format!("{}:{}", self.show(&location.file), location.line)
    }
}
