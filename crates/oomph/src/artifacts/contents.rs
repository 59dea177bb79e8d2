//! Opens a file and reads its content; errors name the file.

use std::path::Path;

use diagnose::InputContents;
use trace::container::ContainerError;
use trace::content::{self, Content, ContentError};

use super::source::{OpenInput, unpack};
use crate::error::{Error, InputError};

/// Reads a file to its end. Errors show `name`.
pub(super) fn read(name: &Path, source: OpenInput) -> Result<Content, Error> {
    let damaged = |problem: String| Error::Damaged { path: name.to_owned(), problem };
    let opened = unpack(source).map_err(|error| match error {
        ContainerError::Read(source) => Error::Unreadable { path: name.to_owned(), source },
        other => damaged(other.to_string()),
    })?;
    content::read(opened).map_err(|error| match error {
        ContentError::Read(error) => damaged(error.to_string()),
        ContentError::Snapshot(error) => {
            Error::from(InputError::NotASnapshot { path: name.to_owned(), problem: error.to_string() })
        }
    })
}

/// Returns the content in the form of `explain`, or what is wrong with the file.
pub(super) fn accept(name: &Path, content: Content) -> Result<InputContents, InputError> {
    match content {
        Content::Snapshot(snapshot) => Ok(InputContents::Snapshot(snapshot)),
        Content::Text(artifacts) => Ok(InputContents::Text(artifacts)),
        Content::Empty => Err(InputError::Empty(name.to_owned())),
        Content::Foreign(start) => Err(InputError::Foreign { path: name.to_owned(), start }),
    }
}
