//! Opens files, pipes and standard input, and shows a progress bar at a terminal.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use trace::container::{self, ContainerError, Opened};
use trace::{ContentKind, sniff};

use super::STANDARD_INPUT;
use crate::effects::patience::{PatientInput, Wait};
use crate::effects::progress::ReadProgress;
use crate::error::{Error, InputError};
use crate::system::name_other_kind;

/// The kind of input that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedInput {
    /// A file or a pipe, which can be read to its end.
    File,
    Folder,
    /// `-`
    StandardInput,
}

/// Finds the kind of input without opening it.
pub(super) fn kind_of(name: &Path) -> Result<NamedInput, Error> {
    if name.as_os_str() == STANDARD_INPUT {
        return Ok(NamedInput::StandardInput);
    }
    match fs::metadata(name) {
        Ok(found) if found.is_dir() => Ok(NamedInput::Folder),
        Ok(found) => name_other_kind(&found)
            .map_or(Ok(NamedInput::File), |kind| Err(Error::from(InputError::Device { path: name.to_owned(), kind }))),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::from(InputError::NoFile(name.to_owned()))),
        Err(source) => Err(Error::Unreadable { path: name.to_owned(), source }),
    }
}

/// An open input that was not read yet.
pub(super) enum OpenInput {
    /// A file on a disk.
    File(Watched<File>),
    /// A pipe or standard input, which can be read once.
    Stream(Watched<Box<dyn Read>>),
}

/// Opens a file or a pipe; a pipe waits here for its writer.
pub(super) fn open(name: &Path) -> Result<OpenInput, Error> {
    let unreadable = |source| Error::Unreadable { path: name.to_owned(), source };
    let wait = Wait::for_writer(name);
    let file = File::open(name).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    let shown = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(if found.is_file() {
        OpenInput::File(Watched { inner: file, bar: ReadProgress::start(&shown, Some(found.len())) })
    } else {
        let input = PatientInput::new(file, wait);
        OpenInput::Stream(Watched { inner: Box::new(input), bar: ReadProgress::start(&shown, None) })
    })
}

/// Returns standard input.
pub(super) fn standard_input() -> OpenInput {
    let input = PatientInput::new(io::stdin().lock(), Some(Wait::for_standard_input()));
    OpenInput::Stream(Watched { inner: Box::new(input), bar: ReadProgress::start("standard input", None) })
}

/// Unpacks an input. The directory of a zip file is at its end, so a zip file from a pipe is read into memory first.
pub(super) fn unpack(source: OpenInput) -> Result<Opened<'static>, ContainerError> {
    let stream = match source {
        OpenInput::File(file) => return container::open(file),
        OpenInput::Stream(stream) => stream,
    };
    let mut stream = BufReader::new(stream);
    if sniff(stream.fill_buf()?) != ContentKind::Zip {
        return container::open_stream(stream);
    }
    let mut whole = Vec::new();
    stream.take(container::MOST_BYTES).read_to_end(&mut whole)?;
    container::open(Cursor::new(whole))
}

/// A reader with a progress bar.
pub(super) struct Watched<R> {
    inner: R,
    bar: ReadProgress,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bar.advance(count);
        Ok(count)
    }
}

impl<R: Seek> Seek for Watched<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = self.inner.seek(to)?;
        self.bar.seek(position);
        Ok(position)
    }
}
