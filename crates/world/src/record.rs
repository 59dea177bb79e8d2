//! The file of a process in a world: the layers, and the folders without a layer.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// A layer over a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The folder as the program sees the path.
    pub folder: PathBuf,
    /// The folder for the changes.
    pub upper: PathBuf,
}

/// A writable folder that the program shares with everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// The folder, or the file.
    pub path: PathBuf,
    /// The reason, such as `nfs: EINVAL`.
    pub reason: String,
}

/// An entered world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// True if the process entered a private world.
    pub is_entered: bool,
    /// True if the kernel refuses signals to processes outside the run (Note [Confinement] in `confine`).
    pub is_apart: bool,
    /// The reason for not entering, such as `unshare: EPERM`.
    pub refusal: Option<String>,
    /// The layers.
    pub layers: Vec<Layer>,
    /// The folders without a layer.
    pub uncovered: Vec<Uncovered>,
}

impl Record {
    /// Writes entries with a NUL at the end: a letter, a blank, and fields with a line feed after a length.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut push = |kind: &str, first: &[u8], second: &[u8]| {
            bytes.extend_from_slice(format!("{kind} {} ", first.len()).as_bytes());
            bytes.extend_from_slice(first);
            bytes.extend_from_slice(second);
            bytes.push(0);
        };
        for layer in &self.layers {
            push("layer", layer.folder.as_os_str().as_bytes(), layer.upper.as_os_str().as_bytes());
        }
        for uncovered in &self.uncovered {
            push("uncovered", uncovered.path.as_os_str().as_bytes(), uncovered.reason.as_bytes());
        }
        if let Some(refusal) = &self.refusal {
            push("refused", refusal.as_bytes(), b"");
        }
        if self.is_entered {
            push("entered", b"", b"");
        }
        if self.is_apart {
            push("apart", b"", b"");
        }
        bytes
    }

    /// Returns the innermost layer of a path.
    pub fn find_layer(&self, path: &Path) -> Option<&Layer> {
        let layers = self.layers.iter().filter(|layer| path.starts_with(&layer.folder));
        layers.max_by_key(|layer| layer.folder.as_os_str().len())
    }

    /// Returns the place of a changed path in the innermost layer.
    pub fn find_upper(&self, path: &Path) -> Option<PathBuf> {
        let layer = self.find_layer(path)?;
        Some(layer.upper.join(path.strip_prefix(&layer.folder).ok()?))
    }

    /// Reads a record. A cut entry (of a killed process) is left out.
    pub fn read(bytes: &[u8]) -> Record {
        let mut record = Record::default();
        for entry in bytes.split(|byte| *byte == 0) {
            match split(entry) {
                Some((b"layer", folder, upper)) => {
                    record.layers.push(Layer { folder: path(folder), upper: path(upper) });
                }
                Some((b"uncovered", place, reason)) => {
                    let reason = String::from_utf8_lossy(reason).into_owned();
                    record.uncovered.push(Uncovered { path: path(place), reason });
                }
                Some((b"refused", refusal, _)) => record.refusal = Some(String::from_utf8_lossy(refusal).into_owned()),
                Some((b"entered", ..)) => record.is_entered = true,
                Some((b"apart", ..)) => record.is_apart = true,
                _ => {}
            }
        }
        record
    }
}

/// Splits `KIND LENGTH FIRST SECOND`.
fn split(entry: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut parts = entry.splitn(3, |byte| *byte == b' ');
    let (kind, length, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let length = std::str::from_utf8(length).ok()?.parse().ok()?;
    let (first, second) = rest.split_at_checked(length)?;
    Some((kind, first, second))
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_written() {
        let record = Record {
            is_entered: true,
            is_apart: true,
            refusal: Some("unshare: EPERM".to_owned()),
            layers: vec![Layer { folder: "/home/a b".into(), upper: "/tmp/x/u0".into() }],
            uncovered: vec![Uncovered { path: "/mnt/n 1".into(), reason: "nfs: EINVAL".to_owned() }],
        };
        assert_eq!(Record::read(&record.to_bytes()), record);
        let cut = record.to_bytes();
        assert_eq!(Record::read(&cut[..8]), Record::default());
    }
}
