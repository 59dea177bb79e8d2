//! The state of a file, as the file system tells it and as the phantom notes it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The bits of a mode that tell the kind of file, and two kinds.
const KIND: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;

/// The state of a file without its content. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    /// In bytes.
    pub size: u64,
    /// The time of the last change of the content.
    pub modified: i64,
    /// The time of the last change of the content, the name or the permissions.
    pub changed: i64,
    /// The number of the file in its file system.
    pub inode: u64,
    /// The kind of file, and its permissions.
    pub mode: u32,
}

impl State {
    /// Reads a note of the phantom's.
    pub fn parse(text: &str) -> Option<State> {
        let mut words = text.split(',');
        let state = State {
            size: words.next()?.parse().ok()?,
            modified: words.next()?.parse().ok()?,
            changed: words.next()?.parse().ok()?,
            inode: words.next()?.parse().ok()?,
            mode: words.next()?.parse().ok()?,
        };
        words.next().is_none().then_some(state)
    }

    /// True for a directory.
    pub fn is_folder(self) -> bool {
        self.mode & KIND == FOLDER
    }

    /// True for a regular file.
    pub fn is_regular(self) -> bool {
        self.mode & KIND == REGULAR
    }
}

/// The spelling of the phantom.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{},{}", self.size, self.modified, self.changed, self.inode, self.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_is_written() {
        let state = State { size: 1, modified: -2, changed: 3, inode: 4, mode: REGULAR | 0o644 };
        assert_eq!(State::parse(&state.to_string()), Some(state));
        assert!(state.is_regular() && !state.is_folder());
        for text in ["", "-", "1,2,3,4", "1,2,3,4,5,6", "1,2,3,4,x"] {
            assert_eq!(State::parse(text), None, "{text}");
        }
    }
}
