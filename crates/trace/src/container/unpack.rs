//! Streams that unpack while they are read, and a bound on their output.

use std::io::{self, BufRead, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::MOST_BYTES;

/// Reads up to `most` bytes from the front; the reader continues behind them.
pub(super) fn fill(input: &mut impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(most);
    input.by_ref().take(most as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// A stream that fails beyond [`MOST_BYTES`](super::MOST_BYTES). See Note [Container limits].
pub(super) struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R) -> Bounded<R> {
        Bounded { inner, left: MOST_BYTES }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let left = self.left.checked_sub(count as u64);
        self.left = left.ok_or_else(|| io::Error::other(format!("more than {MOST_BYTES} bytes when unpacked")))?;
        Ok(count)
    }
}

pub(super) fn gzip(input: impl BufRead) -> impl Read {
    MultiGzDecoder::new(input)
}

pub(super) fn deflate(input: impl BufRead) -> impl Read {
    DeflateDecoder::new(input)
}

/// The header of an empty frame.
const EMPTY_FRAME: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0];

/// The decoder compares a frame's window with its limit only after a first frame (ruzstd 0.8.3, found by fuzzing: 42
/// bytes took 2 GiB), so an empty frame comes first.
pub(super) fn zstd(input: impl BufRead) -> io::Result<impl Read> {
    let mut decoder = FrameDecoder::new();
    decoder.reset(EMPTY_FRAME.as_slice()).map_err(io::Error::other)?;
    Ok(Zstd { input, decoder, started: false })
}

/// All frames of a zstd file. Parallel packers write many.
struct Zstd<R> {
    input: R,
    decoder: FrameDecoder,
    /// Set while the decoder is inside a frame.
    started: bool,
}

impl<R: BufRead> Zstd<R> {
    /// Starts the next frame; `false` at the end of the input.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.input.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if !self.started || self.decoder.is_finished() {
                self.started = self.next_frame()?;
                if !self.started {
                    return Ok(0);
                }
            }
            let some = BlockDecodingStrategy::UptoBytes(buffer.len());
            self.decoder.decode_blocks(&mut self.input, some).map_err(io::Error::other)?;
        }
    }
}
