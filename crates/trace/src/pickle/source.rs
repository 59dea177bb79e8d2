//! The bytes of a pickle, taken from the front through a buffer: nothing is read that is not there, and a length that
//! the file states allocates nothing before its bytes have come.

use std::io::{ErrorKind, Read};

use memchr::memchr;

use super::error::PickleErrorKind;

type Step<T> = Result<T, PickleErrorKind>;

/// Small enough to stay in a core's second cache.
const BUFFER: usize = 128 << 10;

/// What is left of a pickle.
pub(super) struct Source<R> {
    reader: R,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    /// How many bytes came before the buffer's first.
    before: u64,
    /// What does not lie in the buffer as a whole is put together here.
    scratch: Vec<u8>,
    /// The most bytes that are put together.
    most: usize,
}

impl<R: Read> Source<R> {
    pub(super) fn new(reader: R, most: usize) -> Source<R> {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Source { reader, buffer, at: 0, end: 0, before: 0, scratch: Vec::new(), most }
    }

    /// How many bytes were taken.
    #[inline]
    pub(super) fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Step<u8> {
        if self.at == self.end && !self.refill()? {
            return Err(PickleErrorKind::Truncated { needed: 1, left: 0 });
        }
        let byte = self.buffer[self.at];
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Step<[u8; N]> {
        if let Some(&bytes) = self.buffer.get(self.at..self.end).and_then(|rest| rest.first_chunk()) {
            self.at += N;
            return Ok(bytes);
        }
        let mut bytes = [0; N];
        self.gather(N)?;
        bytes.copy_from_slice(&self.scratch);
        Ok(bytes)
    }

    /// The next `length` bytes.
    #[inline]
    pub(super) fn take(&mut self, length: u64) -> Step<&[u8]> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length <= self.end - self.at {
            let start = self.at;
            self.at += length;
            return Ok(&self.buffer[start..self.at]);
        }
        self.gather(length)?;
        Ok(&self.scratch)
    }

    /// Puts the next `length` bytes into the scratch, buffer by buffer.
    #[cold]
    fn gather(&mut self, length: usize) -> Step<()> {
        if length > self.most {
            return Err(PickleErrorKind::TooLong { length: length as u64, limit: self.most });
        }
        self.scratch.clear();
        while self.scratch.len() < length {
            if self.at == self.end && !self.refill()? {
                return Err(PickleErrorKind::Truncated { needed: length as u64, left: self.scratch.len() });
            }
            let missing = length - self.scratch.len();
            let stop = self.end.min(self.at.saturating_add(missing));
            self.scratch.extend_from_slice(&self.buffer[self.at..stop]);
            self.at = stop;
        }
        Ok(())
    }

    /// The text up to the end of the line, which is skipped.
    pub(super) fn line(&mut self) -> Step<&[u8]> {
        if let Some(length) = memchr(b'\n', &self.buffer[self.at..self.end]) {
            let start = self.at;
            self.at += length + 1;
            return Ok(&self.buffer[start..start + length]);
        }
        self.long_line()
    }

    fn long_line(&mut self) -> Step<&[u8]> {
        self.scratch.clear();
        loop {
            let rest = &self.buffer[self.at..self.end];
            let end = memchr(b'\n', rest);
            self.scratch.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            self.at = end.map_or(self.end, |length| self.at + length + 1);
            let length = self.scratch.len();
            if length > self.most {
                return Err(PickleErrorKind::TooLong { length: length as u64, limit: self.most });
            }
            if end.is_some() {
                return Ok(&self.scratch);
            }
            if !self.refill()? {
                return Err(PickleErrorKind::Truncated { needed: length as u64 + 1, left: length });
            }
        }
    }

    /// Reads on, where all of the buffer was taken; `false` at the end of the input.
    #[cold]
    fn refill(&mut self) -> Step<bool> {
        self.before += self.end as u64;
        (self.at, self.end) = (0, 0);
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(count) => {
                    self.end = count.min(self.buffer.len());
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(PickleErrorKind::Read(error.to_string())),
            }
        }
    }

    pub(super) fn length_u8(&mut self) -> Step<u64> {
        self.u8().map(u64::from)
    }

    pub(super) fn length_u32(&mut self) -> Step<u64> {
        self.array().map(|bytes| u32::from_le_bytes(bytes).into())
    }

    pub(super) fn length_u64(&mut self) -> Step<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn length_i32(&mut self) -> Step<u64> {
        let length = self.array().map(i32::from_le_bytes)?;
        u64::try_from(length).map_err(|_| PickleErrorKind::NegativeLength(length))
    }
}
