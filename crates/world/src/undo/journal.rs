//! The records of a journal. `crates/phantom/src/undo/record.rs` writes them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JournalKind {
    /// A folder's times before a change in the folder.
    Folder,
    /// A folder for originals was made.
    Stash,
    Made,
    MadeFolder,
    /// A second name of a file.
    Link,
    /// A file is in the stash, by the inode.
    Stashed,
    /// A copy of a file is in the stash.
    Copied,
    /// A file was longer afterwards.
    Appended,
    Attributes,
    /// An extended attribute.
    Extended,
    RemovedFolder,
    Renamed,
    Exchanged,
    Uncovered,
}

impl JournalKind {
    fn of(byte: u8) -> Option<JournalKind> {
        Some(match byte {
            b'P' => JournalKind::Folder,
            b'K' => JournalKind::Stash,
            b'M' => JournalKind::Made,
            b'F' => JournalKind::MadeFolder,
            b'L' => JournalKind::Link,
            b'S' => JournalKind::Stashed,
            b'C' => JournalKind::Copied,
            b'A' => JournalKind::Appended,
            b'T' => JournalKind::Attributes,
            b'X' => JournalKind::Extended,
            b'D' => JournalKind::RemovedFolder,
            b'R' => JournalKind::Renamed,
            b'E' => JournalKind::Exchanged,
            b'U' => JournalKind::Uncovered,
            _ => return None,
        })
    }

    /// The number of fields behind the numbers.
    fn has_fields(self, count: usize) -> bool {
        match self {
            JournalKind::Stashed | JournalKind::Copied | JournalKind::Renamed | JournalKind::Exchanged => count == 2,
            JournalKind::Extended => count == 3,
            JournalKind::Uncovered => count == 1 || count == 2,
            _ => count == 1,
        }
    }
}

/// Device, inode and birth of a file.
pub(super) type FileKey = (u64, u64, u64);

/// The state of a file before a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) mode: u32,
    pub(super) owner: u32,
    pub(super) group: u32,
    /// Seconds and nanoseconds.
    pub(super) accessed: (i64, i64),
    pub(super) modified: (i64, i64),
    pub(super) size: u64,
    /// True if the run had made the file.
    pub(super) is_made: bool,
    /// The birth in nanoseconds, which tells the file from a later one with its number; 0 if unknown.
    pub(super) born: u64,
}

impl FileState {
    pub(super) fn identity(&self) -> FileKey {
        (self.device, self.inode, self.born)
    }
}

/// A change, written by the phantom before the change happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: JournalKind,
    pub(super) state: FileState,
    pub(super) path: PathBuf,
    /// The name in the stash, the later path, or the name of an attribute.
    pub(super) other: Option<PathBuf>,
    /// The value of an attribute; `None` for an absent attribute.
    pub(super) value: Option<Vec<u8>>,
}

impl Record {
    /// The user's paths in the record.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let second = matches!(self.kind, JournalKind::Renamed | JournalKind::Exchanged)
            .then_some(self.other.as_deref())
            .flatten();
        std::iter::once(self.path.as_path()).chain(second)
    }
}

/// Parses a journal. A cut-off record is left out: the change did not happen.
pub(super) fn parse(bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut open: Option<Vec<&[u8]>> = None;
    for field in bytes.split(|byte| *byte == 0) {
        match field.first() {
            Some(1) => open = Some(vec![&field[1..]]),
            Some(2) => records.extend(open.take().and_then(|fields| record(&fields))),
            _ => {
                if let Some(fields) = &mut open {
                    fields.push(field);
                }
            }
        }
    }
    records
}

fn record(fields: &[&[u8]]) -> Option<Record> {
    let (head, rest) = fields.split_first()?;
    let kind = JournalKind::of(*head.first()?).filter(|_| head.len() == 1)?;
    let (numbers, texts) = rest.split_at_checked(11)?;
    let state = state(numbers)?;
    if !kind.has_fields(texts.len()) {
        return None;
    }
    let path = |text: &&[u8]| PathBuf::from(OsString::from_vec(text.to_vec()));
    let value = match texts.get(2) {
        Some([b'=', digits @ ..]) => Some(bytes_of(digits)?),
        _ => None,
    };
    Some(Record { kind, state, path: path(texts.first()?), other: texts.get(1).map(path), value })
}

fn state(numbers: &[&[u8]]) -> Option<FileState> {
    let number = |index: usize| std::str::from_utf8(numbers[index]).ok()?.parse::<i128>().ok();
    let last = std::str::from_utf8(numbers[10]).ok()?;
    let (made, born) = last.split_once(',').unwrap_or((last, "0"));
    Some(FileState {
        device: number(0)?.try_into().ok()?,
        inode: number(1)?.try_into().ok()?,
        mode: number(2)?.try_into().ok()?,
        owner: number(3)?.try_into().ok()?,
        group: number(4)?.try_into().ok()?,
        accessed: (number(5)?.try_into().ok()?, number(6)?.try_into().ok()?),
        modified: (number(7)?.try_into().ok()?, number(8)?.try_into().ok()?),
        size: number(9)?.try_into().ok()?,
        is_made: made.parse::<u8>().ok()? != 0,
        born: born.parse::<i64>().ok()?.cast_unsigned(),
    })
}

fn bytes_of(digits: &[u8]) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A record in the phantom's format.
    pub(in crate::undo) fn written(kind: char, numbers: [i64; 11], texts: &[&str]) -> Vec<u8> {
        let fields: Vec<_> = numbers.iter().map(i64::to_string).chain(texts.iter().map(ToString::to_string)).collect();
        format!("\0\u{1}{kind}\0{}\0\u{2}", fields.join("\0")).into_bytes()
    }

    #[test]
    fn records_are_read_and_those_cut_off_are_left_out() {
        let made = written('M', [0; 11], &["/a\u{1}M"]);
        let moved = written('R', [9, 8, 7, 6, 5, -4, 3, 2, 1, 10, 1], &["/a", "/b"]);
        let whole = parse(&[made.clone(), moved.clone()].concat());
        assert_eq!(whole.len(), 2);
        assert_eq!(whole[0].path, Path::new("/a\u{1}M"));
        assert_eq!((whole[1].state.accessed, whole[1].state.size), ((-4, 3), 10));
        for length in 0..made.len() - 1 {
            let cut = parse(&[&made[..length], moved.as_slice()].concat());
            assert_eq!(cut, whole[1..], "cut after {length} bytes");
        }
    }

    #[test]
    fn a_record_of_another_form_is_left_out() {
        for bytes in [
            written('Z', [0; 11], &["/a"]),
            written('M', [0; 11], &["/a", "/b"]),
            written('X', [0; 11], &["/a", "user.x", "=0g"]),
            b"\0\x01M\0/a\0\x02".to_vec(),
        ] {
            assert_eq!(parse(&bytes), [], "{bytes:?}");
        }
    }

    #[test]
    fn a_value_is_bytes_or_absent() {
        let value = |text| parse(&written('X', [0; 11], &["/a", "user.x", text]))[0].value.clone();
        assert_eq!(value("=00ff"), Some(vec![0, 255]));
        assert_eq!(value("-"), None);
    }
}
