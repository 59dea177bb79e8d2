//! Reads an anchor with its surroundings (Note [Windows]).

mod message;

use memchr::memmem;

use super::anchor::{self, Anchor};
use super::artifact::{Artifact, Framework, OomKind, Refusal, StatedOom};
use super::automaton::{Hit, is_passed_over};
use super::clue::ClueKind;
use super::findings::Findings;
use super::look_alike::OtherFramework;
use super::normalize::Normalized;
use super::{application, clue, device_table, line, mention, nvidia_smi, series, size, stats, summary};
use crate::bytes::Bytes;

/// The length of text around an anchor that is checked.
const NEAR: usize = 512;
/// The most bytes of an anchor with the skipped bytes between its letters.
const WIDEST: usize = 64 << 10;

/// Reads one anchor with its surroundings.
pub(super) struct Reader<'a> {
    /// The surroundings.
    text: &'a [u8],
    /// The offset of the surroundings in the text.
    base: u64,
    /// Set if the surroundings end with the text.
    is_last: bool,
    /// The end of the last artifact: anchors before it belong to that artifact.
    done: usize,
    findings: &'a mut Findings,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a [u8], base: u64, is_last: bool, findings: &'a mut Findings) -> Reader<'a> {
        let done = usize::try_from(findings.done.saturating_sub(base)).unwrap_or(usize::MAX);
        Reader { text, base, is_last, done, findings }
    }

    /// Reads the anchor `hit` in the surroundings.
    pub(super) fn take(mut self, hit: Hit) {
        let (anchor, pattern) = anchor::anchor(hit.pattern);
        let start = start_of(self.text, pattern, hit.end);
        if start < self.done {
            return;
        }
        self.read(anchor, start, hit.end);
        self.findings.done = self.findings.done.max(self.base + self.done as u64);
    }

    fn read(&mut self, anchor: Anchor, start: usize, end: usize) {
        match anchor {
            Anchor::Head(framework, kind) => self.head(framework, kind, start, end),
            Anchor::Sure(framework, kind) => self.sure(framework, kind, start, end),
            Anchor::Worker => self.worker(start, end),
            Anchor::Killed => self.killed(start, end),
            Anchor::RayKills => self.ray_kills(start, end),
            Anchor::DeviceTable => self.device_table(start),
            Anchor::Refusal => self.refusal(start, end),
            Anchor::Part => self.cut_message(start, end),
            Anchor::RootCause => self.root_cause(end),
            Anchor::Foreign(framework) => self.foreign(framework, start, end),
            Anchor::Other(_) if mention::is_code(self.text, start) => {
                self.look_alike(OtherFramework::Mention, start, end);
            }
            Anchor::Other(framework) => self.look_alike(framework, start, end),
            Anchor::DriverError => self.driver_error(start, end),
            Anchor::MemoryError if mention::is_memory_error(self.text, start, end) => {
                self.sure(Framework::Host, OomKind::HostAllocation, start, end);
            }
            Anchor::MemoryError => {}
            Anchor::Class => self.class(start, end),
            Anchor::Words => self.words(start, end),
            Anchor::Summary | Anchor::Stats | Anchor::SmiTable | Anchor::SmiQuery | Anchor::SmiCsv => {
                self.table(anchor, start);
            }
        }
    }

    fn head(&mut self, framework: Framework, kind: OomKind, start: usize, end: usize) {
        let (oom, last) = self.message(framework, kind, start, end);
        let is_full = oom.requested_bytes.is_some() || oom.total_bytes.is_some() || self.goes_on(end, b"wouldexceed");
        if kind == OomKind::DeviceCall && mention::is_ggml(self.text, start, end) {
            return self.foreign(Framework::LlamaCpp, start, end);
        }
        if mention::is_code(self.text, start) || (!is_full && !mention::is_printed_error(self.text, start, end)) {
            return self.look_alike(OtherFramework::Mention, start, end);
        }
        self.error(oom, start, last);
    }

    /// Tests that `words` follow `end` closely, near the start of a message.
    fn goes_on(&self, end: usize, words: &[u8]) -> bool {
        memmem::find(&Normalized::new(self.text, end, 64).bytes, words).is_some()
    }

    fn sure(&mut self, framework: Framework, kind: OomKind, anchor: usize, end: usize) {
        if kind == OomKind::HostAllocation && self.goes_on(end, b":out_of_memory") {
            return self.foreign(Framework::Rapids, anchor, end);
        }
        if matches!(kind, OomKind::Cublas | OomKind::Cudnn)
            && let Some(named) = self.named_framework(anchor, end)
        {
            return self.foreign(named, anchor, end);
        }
        let start = super::message::start(self.text, anchor).max(self.done).min(anchor);
        if mention::is_code(self.text, anchor) {
            return self.look_alike(OtherFramework::Mention, anchor, end);
        }
        let (oom, last) = self.message(framework, kind, start, end);
        self.error(oom, start, last);
    }

    /// Reads a message whose beginning is cut off.
    fn cut_message(&mut self, start: usize, end: usize) {
        if mention::is_code(self.text, start) {
            return;
        }
        if let Some((oom, start, last)) = self.part(start, end) {
            self.error(oom, start, last);
        }
    }

    /// Reads the rank in torchrun's footer.
    fn root_cause(&mut self, end: usize) {
        let normalized = Normalized::new(self.text, end, NEAR);
        let rank = memmem::find(&normalized.bytes, b"rank:").and_then(|at| size::whole(normalized.from(at + 5)));
        self.findings.root_rank = rank.and_then(|(rank, _)| u32::try_from(rank).ok());
    }

    fn error(&mut self, mut oom: StatedOom, start: usize, end: usize) {
        oom.clues = clue::find(self.text, self.done, start, end);
        if oom.kind == OomKind::Ended && oom.clues.iter().any(|clue| clue.kind == ClueKind::Cancelled) {
            self.done = end;
            return;
        }
        self.name_applications(start, end, oom.line);
        if oom.kind == OomKind::Allocator {
            oom.series = series::above(&self.text[self.done.min(start)..], start - self.done.min(start));
        }
        let traceback = self.findings.tracebacks.above(self.text, start, self.base);
        (oom.traceback, oom.while_handling) = (traceback.frames, traceback.while_handling);
        self.findings.look_alikes.forget_line(oom.line);
        self.findings.errors.add(oom);
        self.done = end;
    }

    fn worker(&mut self, start: usize, end: usize) {
        let normalized = Normalized::new(self.text, end, NEAR);
        let has = |words: &[u8]| memmem::find(&normalized.bytes[..normalized.bytes.len().min(80)], words).is_some();
        let kind = if has(b"signal:Buserror") {
            OomKind::SharedMemory
        } else if has(b"signal:Killed") || has(b"exitedunexpectedly") {
            OomKind::Ended
        } else {
            return;
        };
        self.sure(Framework::Host, kind, start, end);
    }

    /// Reads Ray's count of killed workers; the line is printed for workers that crashed, too.
    fn ray_kills(&mut self, start: usize, end: usize) {
        let before = String::from_utf8_lossy(&self.text[line::start(self.text, start)..start]).into_owned();
        let count =
            before.rsplit("Workers").nth(1).and_then(|words| words.split_whitespace().last()?.parse::<u32>().ok());
        if count != Some(0) {
            self.sure(Framework::Ray, OomKind::Killed, start, end);
        }
    }

    /// Reads the shell's `Killed` at the start of its line, or after the number of the process.
    fn killed(&mut self, start: usize, end: usize) {
        let line_start = line::start(self.text, start);
        let before = String::from_utf8_lossy(&self.text[line_start..start]).into_owned();
        let behind = &self.text[end..line::end(self.text, end)];
        let before = before.trim();
        let is_behind_bar = before.ends_with("it/s]") || before.ends_with("s/it]") || before.ends_with("it/s, ]");
        let is_bare =
            (before.is_empty() || is_behind_bar) && (behind.trim_ascii().is_empty() || behind.starts_with(b"  "));
        let is_job = before.starts_with('[') && before.trim_end_matches(['+', '-']).ends_with(']');
        let pid = before.rsplit(' ').next().filter(|word| word.len() > 1).and_then(|word| word.parse().ok());
        let is_script = before.contains(": line ") && pid.is_some();
        let is_zsh = before.starts_with("zsh:");
        if !(is_bare || is_script || is_zsh || (is_job && behind.starts_with(b"  "))) {
            return;
        }
        let (mut oom, last) = self.message(Framework::Host, OomKind::Ended, line_start, end);
        oom.pid = pid.filter(|_| is_script);
        self.error(oom, start, last);
    }

    fn refusal(&mut self, start: usize, end: usize) {
        let normalized = Normalized::new(self.text, start, NEAR);
        let after = |words: &[u8]| {
            let at = memmem::find(&normalized.bytes, words)? + words.len();
            size::whole(normalized.from(at)).map(|(number, _)| number)
        };
        let refusal = Refusal {
            line: self.line_of(start),
            rank: line::origin(&self.text[line::start(self.text, start)..start]).rank,
            device_index: after(b"ondevice").and_then(|number| u32::try_from(number).ok()),
            requested_bytes: after(b"toallocate").or_else(|| after(b"tomap")).map(Bytes),
            free_bytes: after(b"free:").map(Bytes),
            total_bytes: after(b"total:").map(Bytes),
        };
        self.findings.look_alikes.forget_line(refusal.line);
        self.findings.others.add(Artifact::Refusal(refusal));
        self.done = super::message::end(self.text, end);
    }

    /// Reads an error of another framework, with its numbers.
    fn foreign(&mut self, framework: Framework, anchor: usize, end: usize) {
        if mention::is_code(self.text, anchor) {
            return self.look_alike(OtherFramework::Mention, anchor, end);
        }
        let behind = &self.text[end..self.text.len().min(end + 96)];
        let framework = match framework {
            Framework::TensorFlow if memmem::find(behind, b"Out of memory error on").is_some() => Framework::Paddle,
            Framework::Jax if memmem::find(behind, b"OOM when allocating").is_some() => Framework::TensorFlow,
            // TensorFlow's copy of XLA is `local_xla`.
            Framework::TensorFlow if self.line_has(anchor, b"external/xla/") => Framework::Jax,
            Framework::LlamaCpp if self.is_ollama(anchor, end) => Framework::Ollama,
            named => named,
        };
        let start = super::message::start(self.text, anchor);
        // The size is on the line before.
        let is_behind_size = framework == Framework::LlamaCpp && self.line_has(anchor, b"allocateMemory");
        let start = if is_behind_size {
            line::start(self.text, line::start(self.text, start).saturating_sub(1))
        } else {
            start
        };
        let start = start.max(self.done).min(anchor);
        let (oom, last) = self.message(framework, OomKind::Foreign, start, end);
        self.error(oom, start, last);
    }

    fn line_has(&self, at: usize, words: &[u8]) -> bool {
        let whole = &self.text[line::start(self.text, at)..line::end(self.text, at)];
        memmem::find(&whole[..whole.len().min(NEAR)], words).is_some()
    }

    /// Tests that Ollama, which runs llama.cpp, prints the messages.
    fn is_ollama(&self, start: usize, end: usize) -> bool {
        const AROUND: usize = 4 << 10;
        let around = &self.text[start.saturating_sub(AROUND)..self.text.len().min(end + AROUND)];
        memmem::find(around, b"ollama").is_some() || memmem::find(around, b"llama runner process").is_some()
    }

    fn driver_error(&mut self, start: usize, end: usize) {
        let framework = self.named_framework(start, end).unwrap_or(Framework::Nvidia);
        self.foreign(framework, start, end);
    }

    /// Returns the framework named on the line of an error.
    fn named_framework(&self, start: usize, end: usize) -> Option<Framework> {
        const WORDS: [(&[u8], Framework); 14] = [
            (b"tensorrt-llm", Framework::TensorRtLlm),
            (b"tensorrt_llm", Framework::TensorRtLlm),
            (b"[trt]", Framework::TensorRt),
            (b"tensorflow", Framework::TensorFlow),
            (b"stream_executor", Framework::TensorFlow),
            (b"jax", Framework::Jax),
            (b"xla", Framework::Jax),
            (b"numba", Framework::Numba),
            (b"ollama", Framework::Ollama),
            (b"ggml", Framework::LlamaCpp),
            (b"llama", Framework::LlamaCpp),
            (b"mxnet", Framework::MxNet),
            (b"cupy", Framework::CuPy),
            (b"onnxruntime", Framework::OnnxRuntime),
        ];
        let whole = &self.text[line::start(self.text, start)..line::end(self.text, end)];
        let lower = whole[..whole.len().min(NEAR)].to_ascii_lowercase();
        WORDS.iter().find(|(word, _)| memmem::find(&lower, word).is_some()).map(|(_, framework)| *framework)
    }

    /// Reads the class alone at the end of a line: an error whose message was cut off.
    fn class(&mut self, start: usize, end: usize) {
        let line_start = line::start(self.text, start);
        let before = String::from_utf8_lossy(&self.text[line_start..start]).into_owned();
        let behind = self.text[end..line::end(self.text, end)].trim_ascii();
        let is_torch = before.ends_with("torch.") || before.ends_with("torch.cuda.");
        let is_last = self.is_last && matches!(self.text[end..].trim_ascii(), b"" | b":");
        if is_torch && is_last && !mention::is_code(self.text, start) {
            let (mut oom, last) = self.message(Framework::Cuda, OomKind::Allocator, end, end);
            oom.exception = before.split_whitespace().last().map(|class| format!("{class}OutOfMemoryError"));
            return self.error(oom, start, last);
        }
        if !behind.starts_with(b"Traceback") && !behind.starts_with(b":") {
            self.look_alike(OtherFramework::Mention, start, end);
        }
    }

    fn words(&mut self, start: usize, end: usize) {
        let whole = &self.text[line::start(self.text, start)..line::end(self.text, end)];
        if line::clean(whole).contains("srun: error") {
            return self.sure(Framework::Host, OomKind::Killed, start, end);
        }
        let is_error = ["error", "Error", "ERROR", "failed"].iter().any(|word| self.line_has(start, word.as_bytes()));
        match self.named_framework(start, end).filter(|_| is_error) {
            Some(framework) => self.foreign(framework, start, end),
            None => self.look_alike(OtherFramework::Mention, start, end),
        }
    }

    /// Names the programs whose paths and commands are around the error on `line`.
    fn name_applications(&mut self, start: usize, end: usize, line: u32) {
        const BEHIND: usize = 2 << 10;
        let around = &self.text[self.done.min(start)..self.text.len().min(end + BEHIND)];
        for application in application::named(around) {
            self.findings.programs.add(application, line);
        }
    }

    fn look_alike(&mut self, framework: OtherFramework, start: usize, end: usize) {
        let line = self.line_of(start);
        if framework != OtherFramework::Mention {
            self.done = line::end(self.text, end);
        }
        let text = self.text;
        self.findings
            .look_alikes
            .add(framework, line, || line::clean(&text[line::start(text, start)..line::end(text, end)]));
    }

    fn device_table(&mut self, start: usize) {
        let line = self.line_of(start);
        if let Some((table, end)) = device_table::read(self.text, start, line) {
            self.findings.others.add(Artifact::DeviceTable(table));
            self.done = end;
        }
    }

    fn table(&mut self, anchor: Anchor, start: usize) {
        let line = self.line_of(start);
        let line_start = line::start(self.text, start);
        let read = match anchor {
            Anchor::Summary => {
                summary::read(self.text, line_start, line).map(|(table, end)| (Artifact::MemorySummary(table), end))
            }
            Anchor::Stats => {
                stats::read(self.text, start, line).map(|(stats, end)| (Artifact::MemoryStats(stats), end))
            }
            Anchor::SmiTable => {
                nvidia_smi::read_table(self.text, line_start, line).map(|(smi, end)| (Artifact::NvidiaSmi(smi), end))
            }
            Anchor::SmiQuery => {
                nvidia_smi::read_query(self.text, line_start, line).map(|(smi, end)| (Artifact::NvidiaSmi(smi), end))
            }
            _ => nvidia_smi::read_csv(self.text, line_start, line).map(|(smi, end)| (Artifact::NvidiaSmi(smi), end)),
        };
        if let Some((artifact, end)) = read {
            self.findings.others.add(artifact);
            self.done = end;
        }
    }

    /// The number of the line with the byte at `at`, counted from 1.
    fn line_of(&mut self, at: usize) -> u32 {
        self.findings.lines.number(self.text, self.base, at)
    }
}

/// The start of the string that ends at `end`, going back over its letters and the skipped bytes between them.
fn start_of(text: &[u8], pattern: &str, end: usize) -> usize {
    let from = end.saturating_sub(WIDEST);
    let mut left = pattern.bytes().rev().peekable();
    let mut at = end;
    while at > from && left.peek().is_some() {
        at -= 1;
        if left.peek().is_some_and(|letter| text[at].eq_ignore_ascii_case(letter)) && !is_passed_over(text[at]) {
            left.next();
        }
    }
    at
}
