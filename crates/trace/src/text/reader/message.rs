//! Reads the message at an anchor: its numbers, its device or process, its words.

use memchr::memmem;

use super::super::artifact::{Framework, OomKind, StatedOom};
use super::super::normalize::Normalized;
use super::super::{clause, foreign, line, message, ocr};
use super::Reader;

/// Long enough for nearly all messages, and for the longest (many processes on the device).
const WINDOWS: [usize; 2] = [1 << 10, 32 << 10];

impl Reader<'_> {
    /// The message at `start`, with its anchor up to `anchor_end`; also returns the message's end.
    pub(super) fn message(
        &mut self,
        framework: Framework,
        kind: OomKind,
        start: usize,
        anchor_end: usize,
    ) -> (StatedOom, usize) {
        let mut oom = StatedOom { framework, kind, occurrences: 1, ..StatedOom::default() };
        let mut last = anchor_end;
        for window in WINDOWS {
            let (normalized, anchor) = self.normalize(kind, start, anchor_end, window);
            let mut read = oom.clone();
            if kind == OomKind::Foreign {
                foreign::read(&normalized, &mut read);
            }
            let mut end = if has_numbers(kind) { clause::read(&normalized, anchor, &mut read) } else { 0 };
            if end == 0 && kind == OomKind::Allocator {
                end = read_screenshot(&normalized, anchor, &mut read);
            }
            last = anchor_end.max(if end == 0 { anchor_end } else { normalized.offset(end - 1) + 1 });
            // The statistics of these frameworks' arenas follow after a list of chunks.
            let is_listed = matches!(framework, Framework::TensorFlow | Framework::Jax);
            let is_whole = normalized.offset(normalized.bytes.len()) < start + window
                || (!is_listed && end.max(anchor) + clause::WIDEST_GAP < normalized.bytes.len());
            self.name_place(&mut read, &normalized, end, anchor_end);
            if is_whole || window == WINDOWS[1] {
                last = last.max(tail_end(&normalized, end));
                oom = read;
                break;
            }
        }
        let origin = line::origin(&self.text[line::start(self.text, start)..start]);
        let end = message::end(self.text, last);
        oom.rank = origin.rank;
        oom.pid = oom.pid.or(origin.pid);
        oom.line = self.line_of(start);
        oom.last_line = oom.line;
        oom.exception = message::class(self.text, start);
        oom.message = message::words(self.text, start, end);
        (oom, end)
    }

    /// The message whose part is at the anchor, from the start of the line before on.
    pub(super) fn part(&mut self, anchor: usize, anchor_end: usize) -> Option<(StatedOom, usize, usize)> {
        const LEAST: usize = 2;
        let own = line::start(self.text, anchor);
        let start = line::start(self.text, own.saturating_sub(1)).max(self.done).min(own);
        let (normalized, head) = self.normalize(OomKind::Allocator, start, anchor_end, WINDOWS[0]);
        let mut oom = StatedOom { occurrences: 1, ..StatedOom::default() };
        let end = clause::read_part(&normalized, head, &mut oom);
        let figures = [
            oom.requested_bytes,
            oom.total_bytes,
            oom.free_bytes,
            oom.allocated_bytes,
            oom.reserved_bytes,
            oom.reserved_unallocated_bytes,
        ];
        if figures.iter().flatten().count() < LEAST {
            return None;
        }
        self.name_place(&mut oom, &normalized, end, anchor_end);
        let last = message::end(self.text, anchor_end.max(normalized.offset(end.saturating_sub(1)) + 1));
        oom.rank = line::origin(&self.text[own..anchor]).rank;
        oom.line = self.line_of(own);
        oom.last_line = oom.line;
        oom.message = message::words(self.text, own, last);
        Some((oom, own, last))
    }

    /// The text of a message without blanks, up to the first foreign byte, and the end of the anchor in it.
    fn normalize(&self, kind: OomKind, start: usize, anchor_end: usize, window: usize) -> (Normalized, usize) {
        let mut normalized = Normalized::new(self.text, start, window + (anchor_end - start));
        let head = normalized.before(anchor_end).len();
        let mut ends = vec![memmem::find(normalized.from(head), b"Traceback(most")];
        match kind {
            OomKind::Allocator => ends.push(memmem::find(normalized.from(head), b"outofmemory")),
            OomKind::Killed => ends.push(Some(normalized.before(message::end(self.text, anchor_end)).len() - head)),
            _ => {}
        }
        if let Some(end) = ends.into_iter().flatten().min() {
            normalized.cut(head + end);
        }
        (normalized, head)
    }

    /// Sets the device or the process of the message.
    fn name_place(&self, oom: &mut StatedOom, normalized: &Normalized, end: usize, anchor_end: usize) {
        const BEYOND: usize = 96;
        let message = &normalized.bytes[..normalized.bytes.len().min(end + BEYOND)];
        let line_end = message::end(self.text, anchor_end);
        let line = normalized.before(line_end);
        match oom.kind {
            OomKind::Allocator if memmem::find(message, b"preemptivelyrejected").is_some() => {
                oom.kind = OomKind::Rejected;
            }
            OomKind::Foreign => {
                oom.device_index = clause::cuda_device(&normalized.bytes).or_else(|| clause::device(&normalized.bytes));
            }
            OomKind::Allocator | OomKind::AsyncAllocator => {
                oom.device_index = clause::device(message).or(oom.device_index);
            }
            OomKind::HostAllocation | OomKind::SharedMemory | OomKind::Killed | OomKind::Ended => {
                oom.pid = clause::pid(line);
            }
            _ => {}
        }
    }
}

/// Reads the figures of a message in which letters stand for digits.
fn read_screenshot(normalized: &Normalized, anchor: usize, oom: &mut StatedOom) -> usize {
    let Some(repaired) = ocr::repaired(&normalized.bytes) else { return 0 };
    let end = clause::read_bytes(&repaired, anchor, oom, false);
    (oom.is_guess, oom.device_index) = (end > 0, clause::device(&repaired));
    end
}

fn has_numbers(kind: OomKind) -> bool {
    use OomKind::{Allocator, AsyncAllocator, HostAllocation, Killed, Nccl, Rejected};
    matches!(kind, Allocator | Rejected | AsyncAllocator | HostAllocation | Nccl | Killed)
}

/// The end of the advice, if it follows the numbers.
fn tail_end(normalized: &Normalized, end: usize) -> usize {
    const STARTS: [&[u8]; 3] = [b"Ifreserved", b"Pleaseuse", b"UsePYTORCH_MPS"];
    const ENDS: [&[u8]; 7] = [
        b"environment-variables)",
        b"-alloc-conf)",
        b"PYTORCH_CUDA_ALLOC_CONF",
        b"PYTORCH_HIP_ALLOC_CONF",
        b"cachedmemory.",
        b"systemfailure).",
        b"avoidfragmentation.",
    ];
    let rest = normalized.from(end);
    let rest = &rest[..rest.len().min(640)];
    if end == 0 || !STARTS.iter().any(|start| memmem::find(&rest[..rest.len().min(80)], start).is_some()) {
        return 0;
    }
    let ends = ENDS.iter().filter_map(|words| memmem::rfind(rest, words).map(|at| at + words.len()));
    ends.max().map_or(0, |length| normalized.offset(end + length - 1) + 1)
}
