//! The facts that the rules read, for both commands.
//!
//! `check` knows nearly all facts, to the byte. `explain` knows only its inputs' statements: a log states rounded
//! numbers of one instant, a snapshot holds the history without the device. A rule finds nothing without its necessary
//! facts.

use report::explain::{StatedCard, StatedCounters};
use report::{Breakdown, Caught, Contents, Growth, Location, Place, Severity, SizeSearch, ValueShape};
use trace::text::{
    Application, Clue, ClueKind, DeviceTable, Framework, OomKind, OtherProcess, PrintedMemory, Series, StatedBytes,
    StatedOom,
};
use trace::{Bytes, EventIndex, Frame, LifetimeId, Moment};

use super::known::Known;
use crate::judge::sharing::Shared;
use crate::measure::fate::Fate;
use crate::measure::growth::Survivors;
use crate::measure::iterations::Iterations;
use crate::measure::retention::Retention;
use crate::measure::view::View;

/// The known facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts<'a> {
    /// The reader's working directory; paths are shown relative to it.
    pub(crate) folder: &'a str,
    /// The history of the device that the report is about.
    pub(crate) view: Option<&'a View<'a>>,
    /// The moment of the history that the report is about.
    pub(crate) moment: Option<At>,
    /// The rest of the program, if it was run without a limit, too.
    pub(crate) fate: Option<Fate<'a>>,
    /// The levels at which the program repeats up to the moment.
    pub(crate) iterations: Vec<Iterations>,
    pub(crate) device: DeviceFacts<'a>,
    /// The last failed request.
    pub(crate) failure: Option<Failure>,
    /// The need on a device of any size; `None` unless the program ran for this report.
    pub(crate) need: Option<Known<NeedFacts>>,
    pub(crate) peak: PeakFacts,
    /// Growth from step to step.
    pub(crate) pressure: Option<Pressure>,
    /// The processes of a job.
    pub(crate) fleet: Fleet,
    /// The programs that the texts name.
    pub(crate) programs: Vec<Application>,
    /// The device by a program's own table.
    pub(crate) device_table: Option<DeviceTable>,
    /// The allocator's figures in a text without an error.
    pub(crate) printed: Option<PrintedMemory>,
    /// All errors in the texts.
    pub(crate) stated: &'a [StatedOom],
    /// PyTorch's table of the report's device.
    pub(crate) counters: Option<Known<&'a StatedCounters>>,
    /// `nvidia-smi`'s table of the report's device.
    pub(crate) card: Option<&'a StatedCard>,
    /// The number of times that the cache was emptied to serve a request (`num_alloc_retries`).
    pub(crate) retries: Option<Known<u64>>,
    /// The lines where values decided shapes.
    pub(crate) value_shapes: Vec<ValueShape>,
}

/// The moment that a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// The error that ended the program, or its nearest moment in the history.
    Error(Moment),
    /// The peak of the allocated bytes.
    Peak(Moment),
}

/// The program's need on a device of any size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NeedFacts {
    /// The need: measured without a limit, or a lower bound.
    pub(crate) bytes: Bytes,
    /// The allocated bytes at the need by category, if a run without a limit came there.
    pub(crate) breakdown: Option<Breakdown>,
    /// The need with expandable segments, where it is less.
    pub(crate) expandable: Option<Bytes>,
    /// True if the need is a lower bound.
    pub(crate) is_partial: bool,
}

/// The peak of the report's device.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PeakFacts {
    /// The peak of the reserved bytes.
    pub(crate) reserved: Option<Known<Bytes>>,
    /// The place of the peak of the allocated bytes.
    pub(crate) place: Place,
    /// The allocated bytes at the peak by category.
    pub(crate) breakdown: Breakdown,
}

/// Memory that grows from step to step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pressure {
    pub(crate) growth: Known<Growth>,
    /// The survivors of each line, most bytes first.
    pub(crate) survivors: Vec<Survivors>,
    /// The reason for their retention.
    pub(crate) retention: Retention,
    /// The tensors that earlier iterations left, each with the last event of its iteration.
    pub(crate) kept: Vec<(LifetimeId, EventIndex)>,
}

/// The processes of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fleet {
    /// Every device of every process; empty with fewer than two.
    pub(crate) ranks: Vec<RankFacts>,
    /// The devices that several processes used.
    pub(crate) sharing: Sharing,
}

/// The devices that several processes used.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Sharing {
    /// Each process names its devices alone; equal numbers may be different devices.
    #[default]
    Unknown,
    /// No device has several processes.
    Apart,
    /// The fullest device with several processes.
    Together(Shared),
}

/// A rank of a job on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RankFacts {
    pub(crate) rank: u32,
    /// The device's number, as the process counts.
    pub(crate) device: u32,
    /// The peak of the allocated bytes.
    pub(crate) allocated: Known<Bytes>,
    /// The peak of the reserved bytes.
    pub(crate) reserved: Known<Bytes>,
    /// The line with the largest excess of bytes over other ranks.
    pub(crate) extra: Option<(Bytes, Location)>,
}

/// The device's known figures.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeviceFacts<'a> {
    /// The manufacturer's name of the GPU.
    pub(crate) name: Option<&'a str>,
    /// The total memory.
    pub(crate) total: Option<Known<StatedBytes>>,
    /// The part of the memory that the program can use.
    pub(crate) usable: Option<Usable>,
}

/// The part of a device's memory that a program can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usable {
    /// The name of the figure.
    pub(crate) what: &'static str,
    /// The figure.
    pub(crate) bytes: Known<Bytes>,
}

/// A failed request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure {
    /// The kind of memory that ran out.
    pub(crate) kind: OomKind,
    /// The author of the message.
    pub(crate) framework: Framework,
    /// True if the failed request ended the program.
    pub(crate) is_fatal: bool,
    /// The number of failed requests.
    pub(crate) times: Option<Known<u64>>,
    /// The fate of an error that the program caught.
    pub(crate) caught: Option<Caught>,
    /// The search of a program that ran out until a size fitted.
    pub(crate) search: Option<SizeSearch>,
    /// The requested size. In a message: the size of the segment that the request would have needed.
    pub(crate) requested: Option<Known<StatedBytes>>,
    /// The free memory of the device.
    pub(crate) free: Option<Known<StatedBytes>>,
    /// The bytes allocated by the program.
    pub(crate) allocated: Option<Known<StatedBytes>>,
    /// MPS: the memory of other users of Metal in this process.
    pub(crate) other_allocations: Bytes,
    /// The bytes of `reserved` that are free in private pools, of which another pool gets none.
    pub(crate) in_pools: Bytes,
    /// The bytes reserved by the allocator.
    pub(crate) reserved: Option<Known<StatedBytes>>,
    /// The largest free block for the request's stream and pool, if the history shows all free blocks.
    pub(crate) largest_free: Option<Known<Bytes>>,
    /// The device memory of this process.
    pub(crate) process: Option<Known<StatedBytes>>,
    /// The upper bound that a fraction sets for this process.
    pub(crate) allowed: Option<Known<StatedBytes>>,
    /// The other processes on the device that the message names, without the row of this process.
    pub(crate) others: Vec<OtherProcess>,
    /// True if a row of another process may be that of this process.
    pub(crate) is_own_row_a_guess: bool,
    /// The address space of an expandable segment, if the request exceeds it.
    pub(crate) segment_reserve: Option<StatedBytes>,
    /// Freed blocks that wait for other streams; in `reserved`, not in `allocated`.
    pub(crate) waiting: Bytes,
    /// The lines beside the error that say what the program was doing.
    pub(crate) clues: Vec<Clue>,
    /// The memory that the program logged up to the error.
    pub(crate) series: Option<Series>,
    /// The traceback in the text, innermost frame first.
    pub(crate) frames: Vec<Frame>,
    /// The innermost line of the user's code.
    pub(crate) location: Option<Location>,
    /// The failure's event in the history.
    pub(crate) event: Option<EventIndex>,
    /// The error message; empty if only the history records the error.
    pub(crate) message: String,
}

impl At {
    /// Returns the moment.
    pub(crate) fn moment(self) -> Moment {
        match self {
            At::Error(moment) | At::Peak(moment) => moment,
        }
    }
}

impl Failure {
    /// Returns the reserved bytes that are not allocated.
    pub(crate) fn cached(&self) -> Option<StatedBytes> {
        Some(self.reserved?.value - self.allocated?.value)
    }

    /// Returns the bytes that the request lacked, at least.
    pub(crate) fn missing(&self) -> Option<Bytes> {
        let requested = self.requested?.nearest();
        let free = self.free.map(|free| free.value);
        let room = match (self.allowed, self.reserved) {
            (Some(allowed), Some(reserved)) => (allowed.value - reserved.value).min(free.unwrap_or(allowed.value)),
            _ => free?,
        };
        Some(requested - room.nearest)
    }

    /// Checks that the host's memory ran out.
    pub(crate) fn is_hosts(&self) -> bool {
        matches!(self.kind, OomKind::HostAllocation | OomKind::SharedMemory | OomKind::Killed | OomKind::Ended)
            || self.asks_host()
    }

    /// Checks that memory of the host was asked for through CUDA.
    pub(crate) fn asks_host(&self) -> bool {
        match self.kind {
            OomKind::DeviceCall => self.clue(ClueKind::PinnedMemory).is_some() || self.is_pinned_by_library(),
            OomKind::Nccl => self.clue(ClueKind::SharedTransport).is_some(),
            _ => false,
        }
    }

    /// True for a tensor made in pinned memory under WSL, or by a library: a context on the device exists by then.
    fn is_pinned_by_library(&self) -> bool {
        let is_library = self.frames.first().is_some_and(|frame| frame.file.contains("-packages"));
        self.clue(ClueKind::PinnedFactory).is_some() && (is_library || self.clue(ClueKind::Wsl).is_some())
    }

    /// Returns the line beside the error with such a meaning.
    pub(crate) fn clue(&self, kind: ClueKind) -> Option<&str> {
        self.clues.iter().find(|clue| clue.kind == kind).map(|clue| clue.text.as_str())
    }

    /// Checks that PyTorch's device allocator failed, and no library beside it.
    pub(crate) fn is_allocators(&self) -> bool {
        matches!(self.kind, OomKind::Allocator | OomKind::Rejected | OomKind::AsyncAllocator)
    }
}

impl Facts<'_> {
    /// Returns the moment that the report is about.
    pub(crate) fn moment(&self) -> Option<Moment> {
        self.moment.map(At::moment)
    }

    /// Checks that the report is about the error that ended the program.
    pub(crate) fn is_at_error(&self) -> bool {
        matches!(self.moment, Some(At::Error(_)))
    }

    /// Checks that a failed request ended the program.
    pub(crate) fn is_fatal(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.is_fatal)
    }

    /// Returns the bytes of category `contents` at the report's moment.
    pub(crate) fn live_bytes(&self, contents: Contents) -> Bytes {
        let live = self.view.zip(self.moment()).map(|(view, moment)| view.live_bytes(moment, contents));
        live.unwrap_or_default()
    }

    /// Returns the severity of a cause: an error if the program ended, or will end, by it.
    pub(crate) fn severity(&self) -> Severity {
        if self.is_fatal() { Severity::Error } else { Severity::Warning }
    }

    /// Returns the line of the failed request, if the request ended the program.
    pub(crate) fn failed_at(&self) -> Option<Location> {
        self.failure.as_ref().filter(|failure| failure.is_fatal).and_then(|failure| failure.location.clone())
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
