//! The bytes of a pickle, taken from the front: nothing is read that is not there.

use super::error::PickleErrorKind;

type Step<T> = Result<T, PickleErrorKind>;

/// What is left of a pickle.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes, at: 0 }
    }

    /// How many bytes the whole pickle has.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// How many bytes were taken.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn u8(&mut self) -> Step<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Step<[u8; N]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (&bytes, _) = rest.split_first_chunk().ok_or_else(|| self.truncated(N as u64))?;
        self.at += N;
        Ok(bytes)
    }

    pub(super) fn take(&mut self, length: u64) -> Step<&'a [u8]> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
        let taken = end.and_then(|end| self.bytes.get(self.at..end)).ok_or_else(|| self.truncated(length))?;
        self.at += taken.len();
        Ok(taken)
    }

    /// The text up to the end of the line, which is skipped.
    pub(super) fn line(&mut self) -> Step<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length =
            rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| self.truncated(rest.len() as u64 + 1))?;
        self.at += length + 1;
        Ok(&rest[..length])
    }

    /// An error unless so many bytes are left.
    pub(super) fn expect(&self, length: u64) -> Step<()> {
        let left = self.bytes.len().saturating_sub(self.at);
        if length > left as u64 { Err(self.truncated(length)) } else { Ok(()) }
    }

    fn truncated(&self, needed: u64) -> PickleErrorKind {
        PickleErrorKind::Truncated { needed, left: self.bytes.len().saturating_sub(self.at) }
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
