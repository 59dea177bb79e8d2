//! The lines about the end of a real run.

use report::words::{count, relative};
use trace::Bytes;

use super::stopped::Stopped;
use super::{End, Real};

/// A CUDA context of one process is smaller on every GPU.
const LARGEST_CONTEXT: Bytes = Bytes(3 << 29);

impl Real {
    /// The lines behind the explanation, or in place of an explanation. `folder` shortens paths.
    pub fn describe(&self, folder: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.is_recorded {
            lines.push(format!(
                "oomph: {}no process that could be recorded used a GPU through PyTorch",
                self.how(folder)
            ));
            lines.extend(self.describe_kills());
            return lines;
        }
        if !self.ran_out {
            let reason = if matches!(self.end, End::Good) { "" } else { "; no request for memory failed at the end" };
            lines.push(format!("oomph: {}{}{reason}", self.how(folder), self.use_of_memory_in_words()));
        }
        lines.extend(self.describe_kills());
        lines.extend(self.silence.as_ref().map(|silence| silence.describe(folder)));
        if self.caught.times > 0 {
            let times = count(self.caught.times, "out-of-memory error was", "out-of-memory errors were");
            lines.push(format!("oomph: {times} caught{}", at(self.caught.at.as_ref(), folder)));
        }
        lines.extend(self.problems.iter().map(|problem| format!("oomph: allocations were not recorded: {problem}")));
        lines.extend(self.gaps.iter().map(|gap| format!("oomph: not recorded: {gap}")));
        lines
    }

    /// The end of a program that did not end well, in words.
    pub(crate) fn describe_failure(&self, folder: &str) -> Option<String> {
        let how = self.how(folder);
        (!matches!(self.end, End::Good)).then(|| how.trim_end_matches("; ").to_owned())
    }

    fn how(&self, folder: &str) -> String {
        if let Some(Stopped { rank, steps }) = self.stopped {
            let when = if steps > 0 { format!("after step {steps}") } else { "before its first step".to_owned() };
            let last = Real { stopped: None, step: 0, ..self.clone() };
            return format!(
                "rank {rank} stopped first, {when}, without a last record, as if killed; the program {}",
                last.how(folder)
            );
        }
        let steps = if self.step > 0 { format!(" after step {}", self.step) } else { String::new() };
        match &self.end {
            End::Good if self.step > 0 => format!("{}; ", count(self.step, "step", "steps")),
            End::Good => String::new(),
            End::Open => format!("recorded up to step {}, without an end: it runs, or was killed; ", self.step + 1),
            End::Signal(number) => format!("ended{steps} by {}; ", self.name_signal(*number)),
            End::Status(_, Some(raised)) => {
                let rank = raised.rank.map(|rank| format!("rank {rank} ")).unwrap_or_default();
                format!("{rank}ended{steps} with {}{}; ", raised.type_name, at(raised.at.as_ref(), folder))
            }
            End::Status(status, None) if (129..=159).contains(status) => {
                format!(
                    "ended{steps} with exit status {status}, as a shell does after {}; ",
                    self.name_signal(status - 128)
                )
            }
            End::Status(status, None) => format!("ended{steps} with exit status {status}; "),
        }
    }

    /// The name of a signal, and its sender as far as the counters of the kernel tell.
    fn name_signal(&self, number: i32) -> String {
        let (name, why) = name_signal(number);
        let killed = self.host.as_ref().and_then(|host| host.killed_processes);
        let why = match (number, killed) {
            (9, Some(0)) => ", by a scheduler, a launcher or a user: the kernel killed nothing for want of host memory",
            (9, Some(_)) => " for want of host memory",
            _ => why,
        };
        if name.is_empty() { format!("signal {number}") } else { format!("{name} (signal {number}){why}") }
    }

    /// The line about processes that the kernel killed for want of host memory.
    fn describe_kills(&self) -> Option<String> {
        let host = self.host.as_ref()?;
        let killed = host.killed_processes.filter(|killed| *killed > 0)?;
        let of = if host.is_of_group { "of this control group" } else { "of this machine" };
        let limit = host.limit_bytes.filter(|_| host.is_of_group);
        let limit = limit.map(|limit| format!(" (limit {})", Bytes(limit))).unwrap_or_default();
        Some(format!(
            "oomph: the kernel killed {} {of} for want of host memory{limit}; the largest process of the program had {} resident",
            count(killed, "process", "processes"),
            Bytes(host.largest_process_bytes)
        ))
    }

    fn use_of_memory_in_words(&self) -> String {
        let Some(known) = &self.use_of_memory else { return "no memory was allocated".to_owned() };
        let rank = known.rank.map(|rank| format!("rank {rank}, ")).unwrap_or_default();
        let peak = format!(
            "at most {} allocated, {} reserved ({rank}{})",
            known.allocated_peak_bytes, known.reserved_peak_bytes, known.name
        );
        let spare =
            known.free_before_bytes.map(|free| format!(", {} to spare", free - known.reserved_peak_bytes.min(free)));
        let others = known.outside_bytes.zip(known.total_bytes).filter(|(outside, _)| *outside >= LARGEST_CONTEXT);
        let others =
            others.map(|(outside, total)| format!("; other processes and contexts used {outside} of its {total}"));
        peak + &spare.unwrap_or_default() + &others.unwrap_or_default()
    }
}

fn at(place: Option<&(String, u32)>, folder: &str) -> String {
    place.map_or_else(String::new, |(file, line)| format!(" ({}:{line})", relative(file, folder)))
}

/// The name of a signal (signal(7)), and the usual sender.
fn name_signal(number: i32) -> (&'static str, &'static str) {
    match number {
        1 => ("SIGHUP", ": the terminal was closed"),
        2 => ("SIGINT", ": it was interrupted, as by Ctrl-C"),
        6 => ("SIGABRT", ": a library has given up"),
        7 => ("SIGBUS", ": a mapped file was cut, or shared memory is full"),
        9 => ("SIGKILL", ", as by the kernel for want of host memory, or by a scheduler"),
        11 => ("SIGSEGV", ": a library has read or written a wrong address"),
        15 => ("SIGTERM", ", as by a scheduler or a launcher"),
        _ => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use trace::run::{DeviceStats, EndRecord, Ended, ErrorRecord, GpuRecord, HostRecord, OomRecord};
    use trace::{Launch, Process, Run};

    use super::*;

    fn process() -> Process {
        let stats =
            DeviceStats { allocated_peak_bytes: 2 << 30, reserved_peak_bytes: 3 << 30, ..DeviceStats::default() };
        let gpu = GpuRecord {
            name: "NVIDIA T4".to_owned(),
            total_bytes: 15 << 30,
            free_bytes: Some(14 << 30),
            ..GpuRecord::default()
        };
        let end = EndRecord { steps: 4, devices: vec![stats], ..EndRecord::default() };
        Process { gpus: vec![gpu], end: Some(end), ..Process::default() }
    }

    fn with_error(type_name: &str, oom: bool) -> Process {
        let (file, line) = (Some("/work/train.py".to_owned()), Some(9));
        let error = ErrorRecord { type_name: type_name.to_owned(), oom, file, line, ..ErrorRecord::default() };
        Process { errors: vec![error], ..process() }
    }

    #[test]
    fn a_workers_error_is_found_in_its_parents() {
        let message = "\n\n-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n  \
                       File \"/py/site-packages/torch/multiprocessing/spawn.py\", line 95, in _wrap\n    fn(i, *args)\n  \
                       File \"/work/train.py\", line 31, in work\n    raise ValueError(text)\nValueError: label 9: too large\n";
        let mut parent = with_error("torch.multiprocessing.spawn.ProcessRaisedException", false);
        parent.errors[0].message = message.to_owned();
        let ended = Ended { exit_code: Some(1), ..Ended::default() };
        let launch = Launch { ended: Some(ended), ..crate::testing::launch() };
        let lines = Real::of(&Run { processes: vec![process(), parent] }, &launch).describe("/work");
        assert!(lines[0].starts_with("oomph: rank 1 ended after step 4 with ValueError (train.py:31); "), "{lines:?}");
    }

    #[test]
    fn the_kernel_names_its_kills() {
        let host = |killed_processes, is_of_group| HostRecord {
            killed_processes,
            is_of_group,
            limit_bytes: Some(1 << 30),
            largest_process_bytes: 900 << 20,
            ended_micros: 0,
        };
        let cases = [
            (host(None, false), "as by the kernel for want of host memory, or by a scheduler", None),
            (host(Some(0), false), "the kernel killed nothing for want of host memory", None),
            (
                host(Some(2), false),
                "SIGKILL (signal 9) for want of host memory",
                Some("2 processes of this machine for"),
            ),
            (
                host(Some(1), true),
                "for want of host memory; ",
                Some("control group for want of host memory (limit 1.00 GiB)"),
            ),
        ];
        for (host, how, kills) in cases {
            let ended = Ended { signal: Some(9), ..Ended::default() };
            let launch = Launch { ended: Some(ended), host: Some(Box::new(host.clone())), ..crate::testing::launch() };
            let lines = Real::of(&Run { processes: vec![process()] }, &launch).describe("/work");
            assert!(lines[0].contains(how), "{host:?}: {lines:?}");
            assert_eq!(lines.len(), 1 + usize::from(kills.is_some()), "{host:?}: {lines:?}");
            assert!(kills.is_none_or(|kills| lines[1].contains(kills)), "{host:?}: {lines:?}");
        }
    }

    fn caught() -> Process {
        let oom = OomRecord {
            frames: vec![("f".to_owned(), "/work/train.py".to_owned(), 3)],
            step: 2,
            ..OomRecord::default()
        };
        Process { ooms: vec![oom], ..process() }
    }

    #[test]
    fn every_end_has_its_line() {
        let status = |code| Ended { exit_code: Some(code), ..Ended::default() };
        let signal = |number| Ended { signal: Some(number), ..Ended::default() };
        let memory = "at most 2.00 GiB allocated, 3.00 GiB reserved (NVIDIA T4), 11.00 GiB to spare";
        let none = "; no request for memory failed at the end";
        let cases = [
            (vec![process()], status(0), vec![format!("oomph: 4 steps; {memory}")], (false, true)),
            (
                vec![caught()],
                status(0),
                vec![
                    format!("oomph: 4 steps; {memory}"),
                    "oomph: 1 out-of-memory error was caught (train.py:3)".to_owned(),
                ],
                (false, false),
            ),
            (
                vec![with_error("ValueError", false)],
                status(1),
                vec![format!("oomph: ended after step 4 with ValueError (train.py:9); {memory}{none}")],
                (false, false),
            ),
            (vec![with_error("torch.OutOfMemoryError", true)], status(1), vec![], (true, false)),
            (
                vec![process()],
                signal(11),
                vec![format!(
                    "oomph: ended after step 4 by SIGSEGV (signal 11): a library has read or written a wrong address; {memory}{none}"
                )],
                (false, false),
            ),
            (
                vec![process()],
                status(143),
                vec![format!(
                    "oomph: ended after step 4 with exit status 143, as a shell does after SIGTERM (signal 15), as by a scheduler or a launcher; {memory}{none}"
                )],
                (false, false),
            ),
            (
                vec![],
                status(5),
                vec![
                    "oomph: ended with exit status 5; no process that could be recorded used a GPU through PyTorch"
                        .to_owned(),
                ],
                (false, false),
            ),
        ];
        for (processes, ended, lines, expected) in cases {
            let launch = Launch { ended: Some(ended.clone()), ..crate::testing::launch() };
            let end = Real::of(&Run { processes }, &launch);
            assert_eq!(end.describe("/work"), lines, "{ended:?}");
            assert_eq!((end.is_explained(), end.is_good()), expected, "{ended:?}");
        }
    }
}
