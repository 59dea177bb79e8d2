//! Requests to the fork server and its answers: a JSON object a line. Note [Fork server] in
//! `python/oomph/agent/process/server.py`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::environment::Environment;

/// A request for one run of the program.
#[derive(Debug, Serialize)]
pub struct Request<'a> {
    id: u64,
    /// Variables to set in the child, above those of the server.
    env: BTreeMap<String, String>,
    /// Variables to remove in the child.
    unset: Vec<&'static str>,
    /// The file for the program's output.
    output: &'a Path,
    /// Another command line of the same script; `None` for the server's own.
    command: Option<Vec<String>>,
}

/// A line of the server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Answer {
    /// The imports are done.
    Ready,
    /// A child was started.
    Started {
        /// The request's id.
        id: u64,
        /// The child's process id.
        pid: i32,
    },
    /// A child has ended.
    Ended {
        /// The request's id.
        id: u64,
        /// The exit status; a signal is negative.
        status: i32,
    },
}

/// The reason for waiting in vain for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The server has ended.
    Gone,
    /// The server had nothing to say in that time.
    Quiet,
}

impl<'a> Request<'a> {
    /// A request for a run in `environment`, which is that of `Route::Forked`. `inherited` looks up a variable of the server's.
    pub fn new(
        id: u64,
        environment: &Environment,
        inherited: impl Fn(&str) -> Option<OsString>,
        output: &'a Path,
        command: Option<&[OsString]>,
    ) -> Request<'a> {
        let (set, unset) = environment.resolve(inherited);
        let env = set.into_iter().map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect();
        let words = |words: &[OsString]| words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Request { id, env, unset, output, command: command.map(words) }
    }

    /// The line to send. Strings and numbers can always be written.
    pub fn to_line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

impl Answer {
    /// Reads a line; `None` for a line that is no answer.
    pub fn parse(line: &str) -> Option<Answer> {
        serde_json::from_str(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::of_phantom;

    #[test]
    fn an_answer_names_its_kind() {
        let cases = [
            (r#"{"kind": "ready"}"#, Some(Answer::Ready)),
            (r#"{"kind": "started", "id": 1, "pid": 71}"#, Some(Answer::Started { id: 1, pid: 71 })),
            (r#"{"kind": "ended", "id": 1, "status": -9}"#, Some(Answer::Ended { id: 1, status: -9 })),
            ("Loading weights", None),
            (r#"{"id": 1, "pid": 71}"#, None),
            (r#"{"kind": "ended", "id": 1}"#, None),
        ];
        for (line, expected) in cases {
            assert_eq!(Answer::parse(line), expected, "{line}");
        }
    }

    #[test]
    fn a_request_is_one_line_with_its_variables() {
        let environment = of_phantom("name=toy", 1, Path::new("/lib"));
        let line = Request::new(3, &environment, |_| None, Path::new("/run3/output.log"), None).to_line();
        let text = String::from_utf8_lossy(&line);
        assert_eq!(text.matches('\n').count(), 1);
        for part in [
            r#"{"id":3,"env":{"#,
            r#""OOMPH_DEVICES":"1""#,
            r#""OOMPH_SERVE""#,
            r#""output":"/run3/output.log","command":null}"#,
        ] {
            assert!(text.contains(part), "expected {part}, found {text}");
        }
    }
}
