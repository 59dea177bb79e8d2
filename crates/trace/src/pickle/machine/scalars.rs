//! Numbers and strings.

use std::borrow::Cow;
use std::io::Read;

use super::super::arena::Slot;
use super::super::builder::Fold;
use super::super::source::PickleInput;
use super::super::text;
use super::{Machine, Step};

impl<R: Read, F: Fold> Machine<R, F> {
    #[inline]
    pub(super) fn int_of<const N: usize>(&mut self, value: fn([u8; N]) -> i64) -> Step {
        let bytes = self.input.array()?;
        self.builder.push(Slot::Int(value(bytes)))
    }

    #[inline]
    pub(super) fn long_int(&mut self) -> Step {
        let length = self.input.length_u8()?;
        self.long_of(length)
    }

    #[inline]
    pub(super) fn long_of(&mut self, length: u64) -> Step {
        match self.input.short_long(length) {
            Some(value) => self.builder.push(Slot::Int(value)),
            None => self.builder.push_wide(text::long(self.input.take(length)?)?),
        }
    }

    /// Protocols 0 and 1 write booleans as the integers `00` and `01`.
    pub(super) fn text_int(&mut self) -> Step {
        match self.input.read_line()? {
            b"00" => self.push(Slot::Bool(false)),
            b"01" => self.push(Slot::Bool(true)),
            line => text::number(line).and_then(|value| self.builder.push_wide(value)),
        }
    }

    pub(super) fn text_long(&mut self) -> Step {
        let line = self.input.read_line()?;
        let value = text::number(line.strip_suffix(b"L").unwrap_or(line))?;
        self.builder.push_wide(value)
    }

    #[inline]
    pub(super) fn string(&mut self, read_length: fn(&mut PickleInput<R>) -> Step<u64>) -> Step {
        let length = read_length(&mut self.input)?;
        self.builder.push_string(self.input.take(length)?)
    }

    pub(super) fn text_string(&mut self, decode: fn(&[u8]) -> Step<Cow<'_, str>>) -> Step {
        let string = decode(self.input.read_line()?)?;
        self.builder.push_string(string.as_bytes())
    }

    pub(super) fn byte_string(&mut self, read_length: fn(&mut PickleInput<R>) -> Step<u64>) -> Step {
        let length = read_length(&mut self.input)?;
        self.builder.push_bytes(self.input.take(length)?)
    }
}
