//! The output of a launcher's processes before the launcher reports their failure.

/// The failure of a launcher's process, by the process's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildFailure {
    /// The exit status; `None` after a signal.
    pub code: Option<i32>,
    /// The last line.
    pub last_line: String,
    /// The last lines.
    pub output: String,
}

/// The words with which torchrun begins (`torch/distributed/elastic/multiprocessing/api.py`, 2.5 to 2.11).
const FAILED: &str = " failed (exitcode: ";
/// The beginning of the line with which Hydra ends any error (`hydra/_internal/utils.py`, 1.1 to 1.3).
const HYDRAS: &str = "Set the environment variable HYDRA_FULL_ERROR=1";
/// The number of lines that are shown.
const LINES: usize = 12;

/// True if an error only states that a process of the launcher failed.
pub fn is_of_a_launcher(type_name: &str) -> bool {
    type_name.ends_with("ChildFailedError")
}

/// Finds the failure in the output of a launcher and its processes: the text before the launcher's first report.
pub fn find_child_failure(output: &str) -> Option<ChildFailure> {
    let before = output.lines().take_while(|line| !line.contains(FAILED));
    let lines: Vec<&str> = before.filter(|line| is_telling(line)).collect();
    let code = output.split_once(FAILED)?.1.split_once(')')?.0.parse().ok().filter(|code| *code >= 0);
    let last_line = (*lines.last()?).trim().to_owned();
    Some(ChildFailure { code, last_line, output: lines[lines.len().saturating_sub(LINES)..].join("\n") })
}

/// Returns the last line of an output that is neither empty nor a log's.
pub fn find_last_line(output: &str) -> Option<&str> {
    // `\r` returns to the start of the line, as bars of progress do.
    let shown = output.lines().map(|line| line.trim_end().rsplit('\r').next().unwrap_or(line));
    shown.rev().find(|line| is_telling(line)).map(str::trim)
}

fn is_telling(line: &str) -> bool {
    let line = line.trim();
    !line.chars().all(|letter| letter == '*') && !line.starts_with(HYDRAS) && !is_log_line(line)
}

/// True for a line of PyTorch's log: `W1123 22:39:03.123000 71 torch/distributed/run.py:852]`, or of its C++ log:
/// `[rank0]:[W1123 22:39:03.123 ProcessGroupNCCL.cpp:1524] Warning: …`.
fn is_log_line(line: &str) -> bool {
    let line = line.strip_prefix("[rank").and_then(|rest| rest.split_once("]:")).map_or(line, |(_, rest)| rest);
    let mut bytes = line.trim_start_matches('[').bytes();
    bytes.next().is_some_and(|level| b"IWEF".contains(&level)) && bytes.take(4).filter(u8::is_ascii_digit).count() == 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_childs_last_line_stands_before_the_launchers_first() {
        let launcher = "E1123 22:39:03.1 71 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 2) local_rank: 0 \
                        (pid: 72) of binary: /v/python\nTraceback (most recent call last):\nChildFailedError: \n";
        let log = "W1123 22:39:00.0 71 torch/distributed/run.py:852] Setting OMP_NUM_THREADS\n";
        let found = |text: &str| find_child_failure(text).map(|found| (found.code, found.last_line));
        let cases = [
            (
                format!("{log}python: can't open file 'a.py'\n{log}{launcher}"),
                Some((Some(2), "python: can't open file 'a.py'")),
            ),
            (format!("x\nSyntaxError: no\n\n{}", launcher.replace(": 2)", ": -9)")), Some((None, "SyntaxError: no"))),
            (format!("{log}{launcher}"), None),
            (
                format!("FileNotFoundError: 'c'\n\n{HYDRAS} for a complete stack trace.\n[rank0]:[W1125 08:00:00.1 ProcessGroupNCCL.cpp:1524] \
                         Warning: destroy_process_group() was not called\n[W1125 08:00:00.1 socket.cpp:9] x\n{launcher}").replace(": 2)", ": 1)"),
                Some((Some(1), "FileNotFoundError: 'c'")),
            ),
            ("ValueError: no\n".to_owned(), None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|(code, line)| (code, line.to_owned()));
            assert_eq!(found(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_log_is_not_the_last_line() {
        let log = "W1123 22:39:00.0 71 torch/distributed/run.py:852] \n****\nW1123 22:39:00.0 71 torch/distributed/run.py:852] ****\n";
        assert_eq!(find_last_line(&format!("saved\n{log}")), Some("saved"));
        assert_eq!(find_last_line(log), None);
        assert_eq!(find_last_line("Map: 0%\rMap: 58%\rMap: 100%\r\n"), Some("Map: 100%"));
    }
}
