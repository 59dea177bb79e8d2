//! Reads the files of a run directory: JSON, one record a line, and the launcher's `run.json`.

use thiserror::Error;

use super::tail::FileRecord;
use super::{Launch, PhantomRecord, Problem, Record, Tail};

/// Errors of reading `run.json`.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// Invalid JSON, or a missing key.
    #[error("run.json: {0}")]
    Json(#[from] serde_json::Error),
    /// A format of another version of oomph.
    #[error("run.json has format {found}; this oomph reads format {}", Launch::FORMAT)]
    Format {
        /// The stated format.
        found: u64,
    },
}

/// Reads `*.marks.jsonl`: all readable records, and the problems of the other lines.
pub fn read_records(text: &[u8]) -> (Vec<Record>, Vec<Problem>) {
    read_whole(text)
}

/// Reads `phantom-<pid>.jsonl`, as [`read_records`].
pub fn read_phantom_records(text: &[u8]) -> (Vec<PhantomRecord>, Vec<Problem>) {
    read_whole(text)
}

/// Reads `run.json`.
pub fn read_launch(text: &[u8]) -> Result<Launch, LaunchError> {
    let value: serde_json::Value = serde_json::from_slice(text)?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(found) if found != u64::from(Launch::FORMAT) => Err(LaunchError::Format { found }),
        _ => Ok(serde_json::from_value(value)?),
    }
}

fn read_whole<R: FileRecord>(text: &[u8]) -> (Vec<R>, Vec<Problem>) {
    let mut tail = Tail::default();
    let mut records = tail.feed(text);
    let (last, problems) = tail.end();
    records.extend(last);
    (records, problems)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::run::{Ended, ProblemKind, StopCause};

    #[test]
    fn every_line_that_can_be_read_is_and_the_others_are_named() {
        let memory = r#"{"kind":"memory","device":0,"owner":"context","delta":-5,"used_bytes":7}"#;
        let missing = r#"{"kind":"missing","symbol":"cudaFoo","since":"later"}"#;
        let telepathy = r#"{"kind":"telepathy"}"#;
        let check = |text: &str, count: usize, problems: &[&str]| {
            let (records, found) = read_phantom_records(text.as_bytes());
            assert_eq!(records.len(), count, "{text}");
            assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), problems, "{text}");
        };
        let unknown = |line| format!("line {line}: a record of the unknown kind `telepathy`");
        check("", 0, &[]);
        check(&format!("{memory}\n{missing}\n"), 2, &[]);
        check(&format!("{memory}\n\n{missing}"), 2, &[]);
        check(&format!("{memory}\n{}", &missing[..20]), 1, &["line 2: the file ends in the middle of a record"]);
        check(&format!("{telepathy}\n{memory}\n"), 1, &[&unknown(1)]);
        check(&format!("{memory}\n{telepathy}\n{memory}\n"), 2, &[&unknown(2)]);
    }

    #[test]
    fn a_line_that_is_no_record_says_what_is_wrong() {
        let (records, problems) =
            read_records(b"not json\n{\"kind\":\"value_read\",\"file\":\"a.py\",\"line\":3}\n\xff\n");
        assert_eq!(records, []);
        let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(texts[0].starts_with("line 1: not a record: expected ident"), "{}", texts[0]);
        assert!(texts[1].starts_with("line 2: not a record: missing field `count`"), "{}", texts[1]);
        assert!(texts[2].starts_with("line 3: not a record: expected value"), "{}", texts[2]);
    }

    #[test]
    fn every_prefix_of_a_record_file_is_its_first_records_and_at_most_one_cut() {
        let line = "{\"kind\":\"initializers_skipped\",\"count\":3,\"bytes\":12}\n";
        let text = line.repeat(3);
        for end in 0..=text.len() {
            let (records, problems) = read_records(&text.as_bytes()[..end]);
            let whole = (end + 1) / line.len(); // A record is whole before its end of line is written.
            assert_eq!(records.len(), whole, "{end} bytes");
            let cut = end > whole * line.len();
            assert_eq!(
                problems.iter().map(|problem| &problem.kind).collect::<Vec<_>>(),
                [&ProblemKind::Cut][..usize::from(cut)]
            );
        }
    }

    fn launch() -> Launch {
        let ended =
            Ended { exit_code: Some(1), seconds: 2.5, stopped_by: Some(StopCause::Timeout), ..Ended::default() };
        Launch {
            format: Launch::FORMAT,
            oomph: "0.1.0".to_owned(),
            command: vec!["python".to_owned(), "train.py".to_owned()],
            gpu_name: "NVIDIA GeForce RTX 4090".to_owned(),
            device_total_bytes: 25_383_600_128,
            device_others_bytes: 0,
            device_context_bytes: 500 << 20,
            devices: 1,
            unlimited: false,
            steps: 3,
            job: None,
            slurm_job: None,
            ended: Some(ended),
            host: None,
            effects: None,
        }
    }

    #[test]
    fn a_launch_is_read_as_it_was_written() {
        for ended in [launch().ended, None] {
            let launch = Launch { ended, ..launch() };
            assert_eq!(read_launch(&serde_json::to_vec(&launch).unwrap()).unwrap(), launch);
        }
    }

    #[test]
    fn a_launch_of_another_format_or_damaged_is_an_error() {
        let cases = [
            (r#"{"format": 2, "anything": true}"#, "run.json has format 2; this oomph reads format 1"),
            (r#"{"format": 1}"#, "run.json: missing field `oomph`"),
            ("{\"format\"", "run.json: EOF while parsing an object at line 1 column 9"),
        ];
        for (text, message) in cases {
            assert_eq!(read_launch(text.as_bytes()).unwrap_err().to_string(), message);
        }
    }
}
