//! The bytes of a pickle, read through a buffer. A length that the file states allocates memory only as its bytes
//! arrive.

use std::io::{ErrorKind, Read};

use memchr::memchr;

use super::error::PickleErrorKind;

type Step<T> = Result<T, PickleErrorKind>;

/// The number of bytes read at once: few at first, since many inputs are small, then the size of a core's second cache.
const FIRST: usize = 4 << 10;
const MOST: usize = 128 << 10;

/// The unread part of a pickle.
pub(super) struct PickleInput<R> {
    reader: R,
    /// Exactly the bytes read, so that its end is the only bound to check.
    buffer: Vec<u8>,
    at: usize,
    /// The number of bytes to read next.
    ask: usize,
    /// The number of bytes before the buffer's first.
    before: u64,
    /// Values that cross the end of the buffer are assembled here.
    scratch: Vec<u8>,
    /// The most bytes to assemble.
    most: usize,
}

impl<R: Read> PickleInput<R> {
    pub(super) fn new(reader: R, most: usize) -> PickleInput<R> {
        PickleInput { reader, buffer: Vec::new(), at: 0, ask: FIRST, before: 0, scratch: Vec::new(), most }
    }

    /// The number of bytes consumed.
    #[inline]
    pub(super) fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Step<u8> {
        match self.buffer.get(self.at) {
            Some(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => self.first_of_next(),
        }
    }

    #[cold]
    fn first_of_next(&mut self) -> Step<u8> {
        self.refill()?;
        let first = self.buffer.first().copied().ok_or(PickleErrorKind::Truncated { needed: 1, left: 0 })?;
        self.at = 1;
        Ok(first)
    }

    /// Consumes the next byte if it is `byte` and lies in the buffer.
    #[inline]
    pub(super) fn skip(&mut self, byte: u8) -> bool {
        let same = self.buffer.get(self.at) == Some(&byte);
        self.at += usize::from(same);
        same
    }

    /// Consumes the next `length` bytes as a little-endian integer in two's complement, if `length` is at most 8 and 8
    /// bytes lie in the buffer; else `None`, and nothing is consumed.
    #[inline]
    pub(super) fn short_long(&mut self, length: u64) -> Option<i64> {
        let length = usize::try_from(length).ok().filter(|length| (1..=8).contains(length))?;
        let unused = 64 - 8 * length;
        let bytes = self.buffer.get(self.at..)?.first_chunk()?;
        self.at += length;
        Some((u64::from_le_bytes(*bytes) << unused).cast_signed() >> unused)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Step<[u8; N]> {
        if let Some(&bytes) = self.buffer.get(self.at..).and_then(|rest| rest.first_chunk()) {
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
        if length <= self.buffer.len() - self.at {
            let start = self.at;
            self.at += length;
            return Ok(&self.buffer[start..self.at]);
        }
        self.gather(length)?;
        Ok(&self.scratch)
    }

    /// Copies the next `length` bytes into the scratch buffer.
    #[cold]
    fn gather(&mut self, length: usize) -> Step<()> {
        if length > self.most {
            return Err(PickleErrorKind::TooLong { length: length as u64, limit: self.most });
        }
        self.scratch.clear();
        while self.scratch.len() < length {
            if self.at == self.buffer.len() && !self.refill()? {
                return Err(PickleErrorKind::Truncated { needed: length as u64, left: self.scratch.len() });
            }
            let missing = length - self.scratch.len();
            let stop = self.buffer.len().min(self.at.saturating_add(missing));
            self.scratch.extend_from_slice(&self.buffer[self.at..stop]);
            self.at = stop;
        }
        Ok(())
    }

    /// The text up to the end of the line, which is skipped.
    pub(super) fn read_line(&mut self) -> Step<&[u8]> {
        if let Some(length) = memchr(b'\n', &self.buffer[self.at..]) {
            let start = self.at;
            self.at += length + 1;
            return Ok(&self.buffer[start..start + length]);
        }
        self.read_long_line()
    }

    fn read_long_line(&mut self) -> Step<&[u8]> {
        self.scratch.clear();
        loop {
            let rest = &self.buffer[self.at..];
            let end = memchr(b'\n', rest);
            self.scratch.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            self.at = end.map_or(self.buffer.len(), |length| self.at + length + 1);
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

    /// Reads on if the whole buffer is consumed; `false` at the end of the input.
    #[cold]
    fn refill(&mut self) -> Step<bool> {
        self.before += self.buffer.len() as u64;
        self.at = 0;
        self.buffer.resize(self.ask, 0);
        self.ask = (self.ask * 2).min(MOST);
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(count) => {
                    self.buffer.truncate(count);
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.buffer.clear();
                    return Err(PickleErrorKind::Read(error.to_string()));
                }
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
