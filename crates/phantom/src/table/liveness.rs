//! Live processes, by their pid and start time in `/proc` (proc(5)).

use std::fs;

use super::Process;

/// This process, by the numbers of the mounted `/proc`; `None` without one.
pub(super) fn this_process() -> Option<Process> {
    let (process, _) = parse(&fs::read("/proc/self/stat").ok()?)?;
    Some(process)
}

/// True if a process runs. A zombie does not: its memory is freed, and only its parent's wait(2) is missing.
pub(super) fn is_alive(process: Process) -> bool {
    match fs::read(format!("/proc/{}/stat", process.pid())) {
        Ok(stat) => parse(&stat).is_none_or(|(found, runs)| found == process && runs),
        // A process without free file numbers cannot tell.
        Err(error) => !matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)),
    }
}

/// Parses the line of a process; the second value is true if a thread of the process runs.
fn parse(stat: &[u8]) -> Option<(Process, bool)> {
    let text = String::from_utf8_lossy(stat);
    let pid = text.split(' ').next()?.parse().ok()?;
    // The name in parentheses may have blanks and parentheses.
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    // Fields 20 and 22.
    let threads: u32 = fields.nth(16)?.parse().ok()?;
    let started = fields.nth(1)?.trim_end().parse().ok()?;
    let has_ended = matches!(state, "Z" | "X" | "x") && threads <= 1;
    Some((Process::new(pid, started), !has_ended))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::process::Command;

    use super::*;

    fn check(state: &str, threads: u32, name: &str, expected: Option<(Process, bool)>) {
        let line = format!("77 ({name}) {state} 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 4242 0 0\n");
        assert_eq!(parse(line.as_bytes()), expected, "{line}");
    }

    #[test]
    fn a_line_has_the_start_time_and_the_state() {
        let process = Process::new(77, 4242);
        check("S", 1, "sh", Some((process, true)));
        check("R", 9, "a) b (c", Some((process, true)));
        check("Z", 1, "sh", Some((process, false)));
        // The first thread has ended, the others go on.
        check("Z", 3, "sh", Some((process, true)));
        assert_eq!(parse(b"77 (sh) S 1 1"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn a_process_is_alive_until_it_ends() {
        let this = this_process().unwrap();
        assert!(is_alive(this));
        assert!(!is_alive(Process(this.0 + (1 << wire::table::PID_BITS))), "a reused pid is another process");
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let (process, runs) = parse(&fs::read(format!("/proc/{}/stat", child.id())).unwrap()).unwrap();
        assert!(runs && is_alive(process));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(process));
    }
}
