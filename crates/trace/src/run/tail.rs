//! A growing file of records: each complete line becomes a record.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use thiserror::Error;
use wire::record::{JOURNAL, MARKS, TAG};

use super::{PhantomRecord, Record};

/// A line of a record file without a usable record. Other lines are unaffected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {kind}")]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    /// The problem.
    pub kind: ProblemKind,
}

/// A problem of a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProblemKind {
    /// The last line is cut: its writer was killed.
    #[error("the file ends in the middle of a record")]
    Cut,
    /// An unknown kind of record, written by a newer version.
    #[error("a record of the unknown kind `{0}`")]
    UnknownKind(String),
    /// Anything else.
    #[error("not a record: {0}")]
    Malformed(String),
}

/// The type of the records of a file.
pub trait FileRecord: DeserializeOwned {
    /// True if records have this tag.
    fn is_tag(tag: &str) -> bool;
}

impl FileRecord for Record {
    fn is_tag(tag: &str) -> bool {
        MARKS.iter().any(|kind| kind.tag == tag)
    }
}

impl FileRecord for PhantomRecord {
    fn is_tag(tag: &str) -> bool {
        JOURNAL.contains(&tag)
    }
}

/// The reader of a growing or a complete file.
#[derive(Clone, Debug)]
pub struct Tail<R = Record> {
    /// The number of complete lines.
    lines: usize,
    /// The start of an incomplete line.
    unfinished: Vec<u8>,
    problems: Vec<Problem>,
    records: PhantomData<R>,
}

impl<R> Default for Tail<R> {
    fn default() -> Tail<R> {
        Tail { lines: 0, unfinished: Vec::new(), problems: Vec::new(), records: PhantomData }
    }
}

impl<R: FileRecord> Tail<R> {
    /// Reads the next bytes of the file, and returns the newly complete records. A cut last line waits for the rest; a damaged
    /// line becomes a problem.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<R> {
        let mut records = Vec::new();
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.unfinished.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                records.extend(self.finish_line());
            }
        }
        records
    }

    /// Ends the file: a last line without an end of line is a record if the JSON is whole. Returns the record, and the problems of all lines.
    pub fn end(mut self) -> (Option<R>, Vec<Problem>) {
        let last = self.finish_line();
        (last, self.problems)
    }

    fn finish_line(&mut self) -> Option<R> {
        let read = read_line(&self.unfinished);
        self.unfinished.clear();
        self.lines += 1;
        read.unwrap_or_else(|kind| {
            self.problems.push(Problem { line: self.lines, kind });
            None
        })
    }
}

/// The record of one line; `None` for an empty line.
fn read_line<R: FileRecord>(line: &[u8]) -> Result<Option<R>, ProblemKind> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice(line) {
        Ok(record) => Ok(Some(record)),
        Err(_) if !line.ends_with(b"\n") => Err(ProblemKind::Cut),
        Err(error) => Err(unknown_kind::<R>(line).unwrap_or_else(|| ProblemKind::Malformed(error.to_string()))),
    }
}

fn unknown_kind<R: FileRecord>(line: &[u8]) -> Option<ProblemKind> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let tag = value.get(TAG)?.as_str()?;
    (!R::is_tag(tag)).then(|| ProblemKind::UnknownKind(tag.to_owned()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lists_of_tags_are_those_that_serde_knows() {
        fn check<R: FileRecord + std::fmt::Debug>(tags: &[&str]) {
            let message = serde_json::from_str::<R>(r#"{"kind": "?"}"#).unwrap_err().to_string();
            let listed = tags.iter().map(|tag| format!("`{tag}`")).collect::<Vec<_>>().join(", ");
            assert!(message.contains(&format!("expected one of {listed} at line")), "{message}");
        }
        check::<Record>(&MARKS.iter().map(|kind| kind.tag).collect::<Vec<_>>());
        check::<PhantomRecord>(JOURNAL);
    }

    /// A file of records, damaged lines and lines of other versions; the last line may be cut.
    fn any_file() -> impl Strategy<Value = Vec<u8>> {
        let sample = (0..MARKS.len()).prop_map(|kind| MARKS[kind].sample(|_| true).into_bytes());
        let line = prop_oneof![
            4 => sample,
            1 => Just(br#"{"kind":"telepathy"}"#.to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..12),
        ];
        let whole = proptest::collection::vec(line, 0..6).prop_map(|lines| lines.join(&b'\n'));
        (whole, any::<proptest::sample::Index>()).prop_map(|(mut file, end)| {
            file.truncate(end.index(file.len() + 1));
            file
        })
    }

    fn read(pieces: &[&[u8]]) -> (Vec<Record>, Vec<Problem>) {
        let mut tail = Tail::default();
        let mut records: Vec<Record> = pieces.iter().flat_map(|piece| tail.feed(piece)).collect();
        let (last, problems) = tail.end();
        records.extend(last);
        (records, problems)
    }

    proptest! {
        #[test]
        fn any_split_of_a_file_gives_the_records_of_the_whole(file in any_file(), cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..5)) {
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(file.len() + 1)).chain([0, file.len()]).collect();
            ends.sort_unstable();
            let pieces: Vec<&[u8]> = ends.windows(2).map(|pair| &file[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[&file]));
        }
    }

    #[test]
    fn a_cut_line_waits_for_its_rest() {
        let line = MARKS[0].sample(|_| true) + "\n";
        let mut tail = Tail::<Record>::default();
        let (begin, end) = line.as_bytes().split_at(line.len() / 2);
        assert_eq!([tail.feed(begin).len(), tail.feed(end).len(), tail.feed(b"").len()], [0, 1, 0]);
        assert_eq!(tail.end(), (None, Vec::new()));
    }
}
