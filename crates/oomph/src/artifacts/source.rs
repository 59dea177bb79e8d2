//! Opens what was named, and shows at a terminal how far it was read.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trace::container::{self, ContainerError, Opened};
use trace::{ContentKind, sniff};

use super::STANDARD_INPUT;
use crate::error::Error;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file, or a pipe: something that can be read to its end.
    File,
    /// A folder.
    Folder,
    /// `-`
    StandardInput,
}

/// Looks at what stands under a name, without opening it.
pub(super) fn look(name: &Path) -> Result<Place, Error> {
    if name.as_os_str() == STANDARD_INPUT {
        return Ok(Place::StandardInput);
    }
    match fs::metadata(name) {
        Ok(found) if found.is_dir() => Ok(Place::Folder),
        // A disk has no end that we want to see.
        Ok(found) if found.file_type().is_block_device() => Err(Error::Device(name.to_owned())),
        Ok(_) => Ok(Place::File),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::NoFile(name.to_owned())),
        Err(source) => Err(Error::Unreadable { path: name.to_owned(), source }),
    }
}

/// Something that is open and not read yet.
pub(super) enum Source {
    /// A file on a disk.
    File(Watched<File>),
    /// A pipe, or standard input: it is gone once it was read.
    Stream(Watched<Box<dyn Read>>),
}

/// Opens a file or a pipe; a pipe waits here for who writes into it.
pub(super) fn open(name: &Path) -> Result<Source, Error> {
    let unreadable = |source| Error::Unreadable { path: name.to_owned(), source };
    let file = File::open(name).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    let shown = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(if found.is_file() {
        Source::File(Watched { inner: file, bar: Bar::new(&shown, Some(found.len())) })
    } else {
        Source::Stream(Watched { inner: Box::new(file), bar: Bar::new(&shown, None) })
    })
}

/// Standard input.
pub(super) fn standard_input() -> Source {
    Source::Stream(Watched { inner: Box::new(io::stdin().lock()), bar: Bar::new("standard input", None) })
}

/// What it holds, unpacked. The directory of a zip is at its end, so one that comes through a pipe is kept first.
pub(super) fn unpack(source: Source) -> Result<Opened<'static>, ContainerError> {
    let stream = match source {
        Source::File(file) => return container::open(file),
        Source::Stream(stream) => stream,
    };
    let mut stream = BufReader::new(stream);
    if sniff(stream.fill_buf()?) != ContentKind::Zip {
        return container::open_stream(stream);
    }
    let mut whole = Vec::new();
    stream.take(container::MOST_BYTES).read_to_end(&mut whole)?;
    container::open(Cursor::new(whole))
}

/// A reader that shows how far it has come.
pub(super) struct Watched<R> {
    inner: R,
    bar: Bar,
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
        self.bar.drawn.set_position(position);
        Ok(position)
    }
}

/// How far a file was read. It is shown at a terminal alone, and only where reading takes a while.
struct Bar {
    drawn: ProgressBar,
    since: Instant,
    is_shown: bool,
}

/// What nobody notices as waiting.
const A_WHILE: Duration = Duration::from_millis(300);

impl Bar {
    fn new(name: &str, length: Option<u64>) -> Bar {
        let drawn = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
        drawn.set_draw_target(ProgressDrawTarget::hidden());
        let template = match length {
            Some(_) => "{msg} {bar:24} {bytes} of {total_bytes}",
            None => "{spinner} {msg} {bytes}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            drawn.set_style(style);
        }
        drawn.set_message(format!("reading {}", name.escape_debug()));
        Bar { drawn, since: Instant::now(), is_shown: false }
    }

    fn advance(&mut self, count: usize) {
        self.drawn.inc(count as u64);
        if !self.is_shown && self.since.elapsed() > A_WHILE {
            self.drawn.set_draw_target(ProgressDrawTarget::stderr());
            self.is_shown = true;
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.drawn.finish_and_clear();
    }
}
