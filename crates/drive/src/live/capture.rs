//! A consistent image of a recording, while the process writes. See Note `[Growing recordings]` in `crates/trace/src/recording/growing.rs`.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use base::Error;
use trace::recording::{RecordingHeader, read_header, settle_blocks};
use wire::recording::{EVENT_BYTES, header};

/// The copies of the table of blocks that are tried for one between two events.
const TRIES: usize = 5;

/// Reads a recording as of one instant; `None` if it does not exist.
pub(crate) fn capture(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Unreadable { path: path.to_owned(), source }),
    };
    read_image(&file).map(Some).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Error::Damaged { path: path.to_owned(), problem: error.to_string() },
        _ => Error::Unreadable { path: path.to_owned(), source: error },
    })
}

/// Reads the header as of now.
pub(crate) fn read_head(file: &File) -> io::Result<RecordingHeader> {
    decode(&read_range(file, 0..header::BYTES as u64)?)
}

fn decode(start: &[u8]) -> io::Result<RecordingHeader> {
    read_header(start).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
}

/// Reads the events `from..to`; `None` if the process has overwritten some meanwhile.
pub(crate) fn read_events(file: &File, head: &RecordingHeader, from: u64, to: u64) -> io::Result<Option<Vec<u8>>> {
    let mut events = Vec::new();
    for range in head.locate_events(from, to) {
        events.extend(read_range(file, range)?);
    }
    Ok((from >= first_whole(&read_head(file)?)).then_some(events))
}

/// Reads the texts behind the first `known` bytes of them.
pub(crate) fn read_texts(file: &File, head: &RecordingHeader, known: u64) -> io::Result<Vec<u8>> {
    let all = head.locate_texts();
    let start = all.start.saturating_add(known).min(all.end);
    read_range(file, start..all.end)
}

/// The first event that is not overwritten, also by the next one.
fn first_whole(head: &RecordingHeader) -> u64 {
    (head.events + 1).saturating_sub(head.ring_length())
}

/// Reads the table of blocks as of the returned header, which is also returned as bytes.
pub(crate) fn read_blocks(file: &File) -> io::Result<(Vec<u8>, RecordingHeader, Vec<u8>)> {
    for _ in 1..TRIES {
        if let Some(found) = try_blocks(file, |before, after| before.events == after.events)? {
            return Ok(found);
        }
    }
    // A process that never rests for a copy.
    let found = try_blocks(file, |_, _| true)?;
    found.ok_or_else(|| io::Error::other("the process allocates faster than its recording can be read"))
}

type Blocks = (Vec<u8>, RecordingHeader, Vec<u8>);

fn try_blocks(
    file: &File,
    is_enough: impl Fn(&RecordingHeader, &RecordingHeader) -> bool,
) -> io::Result<Option<Blocks>> {
    let before = read_head(file)?;
    let mut table = read_range(file, before.locate_blocks())?;
    let start = read_range(file, 0..header::BYTES as u64)?;
    let after = decode(&start)?;
    if !is_enough(&before, &after) {
        return Ok(None);
    }
    // The event under way when the copy began may have changed the table.
    let Some(since) = read_events(file, &after, before.events.saturating_sub(1), after.events)? else {
        return Ok(None);
    };
    settle_blocks(&mut table, &since);
    Ok(Some((table, after, start)))
}

fn read_image(file: &File) -> io::Result<Vec<u8>> {
    let (table, head, start) = read_blocks(file)?;
    let (length, found) = (head.length(), file.metadata()?.len());
    if found < length {
        let problem = format!("the file has {found} bytes, and its header states {length}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    let mut image = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    put(&mut image, 0, &start);
    put(&mut image, head.locate_blocks().start, &table);
    let events = head.locate_events(head.first_event(), head.events);
    for range in events.into_iter().chain([head.locate_texts(), head.locate_reserve()]) {
        put(&mut image, range.start, &read_range(file, range.clone())?);
    }
    // The oldest events that the process has overwritten meanwhile become empty, and are passed over.
    for number in head.first_event()..first_whole(&read_head(file)?).min(head.events) {
        put(&mut image, head.locate_event(number), &[0; EVENT_BYTES]);
    }
    Ok(image)
}

fn put(image: &mut [u8], at: u64, bytes: &[u8]) {
    let place = usize::try_from(at).ok().and_then(|at| image.get_mut(at..at.checked_add(bytes.len())?));
    if let Some(place) = place {
        place.copy_from_slice(bytes);
    }
}

/// Reads a range of a file. A range behind the end is an error.
fn read_range(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    if range.end > file.metadata()?.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is shorter than its header states"));
    }
    let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, range.start)?;
    Ok(bytes)
}
