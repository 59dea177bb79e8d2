//! Reads whole files by the user's names, up to a bound: a device such as `/dev/zero` has no end.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use trace::Bytes;

use super::patience::{PatientInput, Wait};
use crate::error::Error;
use crate::system::name_other_kind;

/// A kind of file by its content, with the bytes of the largest.
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    /// With an article.
    pub(crate) words: &'static str,
    pub(crate) most: Bytes,
}

/// The largest source that `lint` accepts.
pub(crate) const SOURCE: Expected = Expected { words: "a Python file", most: Bytes::from_mib(16) };

/// Reads a file or a pipe to its end.
pub(crate) fn read(path: &Path, expected: Expected) -> Result<Vec<u8>, Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let found = fs::metadata(path).map_err(unreadable)?;
    if let Some(kind) = name_other_kind(&found) {
        return Err(Error::OtherKind { path: path.to_owned(), kind, expected: expected.words });
    }
    let wait = Wait::for_writer(path);
    read_input(PatientInput::new(fs::File::open(path).map_err(unreadable)?, wait), path, expected)
}

/// Reads a text in UTF-8, as [`read`] does.
pub(crate) fn read_text(path: &Path, expected: Expected) -> Result<String, Error> {
    let invalid = |error| Error::Unreadable { path: path.to_owned(), source: io::Error::other(error) };
    String::from_utf8(read(path, expected)?).map_err(|error| invalid(error.utf8_error()))
}

/// Reads an open input to its end; errors show `name`.
pub(crate) fn read_input(input: impl Read, name: &Path, expected: Expected) -> Result<Vec<u8>, Error> {
    let mut content = Vec::new();
    let read = input.take(expected.most.0 + 1).read_to_end(&mut content);
    let count = read.map_err(|source| Error::Unreadable { path: name.to_owned(), source })?;
    if u64::try_from(count).is_ok_and(|count| count <= expected.most.0) {
        Ok(content)
    } else {
        Err(Error::TooLong { path: name.to_owned(), most: expected.most, expected: expected.words })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by it")]

    use super::*;

    const SMALL: Expected = Expected { words: "a list", most: Bytes(8) };

    #[test]
    fn what_has_no_end_is_refused_by_its_kind() {
        for (path, text) in [
            ("/dev/zero", "`/dev/zero` is a device, expected a list"),
            ("/dev/full", "`/dev/full` is a device, expected a list"),
            ("/proc", "`/proc` is a folder, expected a list"),
            ("/proc/self/mounts", "`/proc/self/mounts` has more than 8 B, expected a list"),
        ] {
            assert_eq!(read(Path::new(path), SMALL).unwrap_err().to_string(), text);
        }
        assert_eq!(read(Path::new("/dev/null"), SMALL).unwrap(), b"");
    }

    #[test]
    fn an_input_may_be_as_long_as_the_bound() {
        let name = Path::new("-");
        assert_eq!(read_input(&b"12345678"[..], name, SMALL).unwrap(), b"12345678");
        let error = read_input(io::repeat(0), name, SMALL).unwrap_err();
        assert_eq!(error.to_string(), "`-` has more than 8 B, expected a list");
    }
}
