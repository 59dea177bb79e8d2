//! Numbers and strings.

use std::borrow::Cow;

use super::super::input::Input;
use super::super::text;
use super::super::value::{Node, NodeId};
use super::{FALSE, Machine, Step, TRUE, ZERO, number};

impl<'a> Machine<'a> {
    pub(super) fn small_int(&mut self) -> Step {
        let value = self.input.u8()?;
        self.stack.push(NodeId(ZERO + u32::from(value)));
        Ok(())
    }

    pub(super) fn int_of<const N: usize>(&mut self, value: fn([u8; N]) -> i64) -> Step {
        let bytes = self.input.array()?;
        self.push(Node::Int(value(bytes)));
        Ok(())
    }

    pub(super) fn long_int(&mut self, length: fn(&mut Input<'a>) -> Step<u64>) -> Step {
        let length = length(&mut self.input)?;
        let value = text::long(self.input.take(length)?)?;
        self.push_int(value);
        Ok(())
    }

    fn push_int(&mut self, value: i128) {
        let node = i64::try_from(value).map_or_else(|_| self.wide(value), Node::Int);
        self.push(node);
    }

    fn wide(&mut self, value: i128) -> Node {
        self.document.wide.push(value);
        Node::Wide(number(self.document.wide.len() - 1))
    }

    /// Protocols 0 and 1 write booleans as the integers `00` and `01`.
    pub(super) fn text_int(&mut self) -> Step {
        match self.input.line()? {
            b"00" => self.stack.push(FALSE),
            b"01" => self.stack.push(TRUE),
            line => self.push_int(text::number(line)?),
        }
        Ok(())
    }

    pub(super) fn text_long(&mut self) -> Step {
        let line = self.input.line()?;
        self.push_int(text::number(line.strip_suffix(b"L").unwrap_or(line))?);
        Ok(())
    }

    pub(super) fn text_float(&mut self) -> Step {
        let value = self.input.line().and_then(text::number)?;
        self.push(Node::Float(value));
        Ok(())
    }

    pub(super) fn float(&mut self) -> Step {
        let value = self.input.array().map(f64::from_be_bytes)?;
        self.push(Node::Float(value));
        Ok(())
    }

    pub(super) fn string(&mut self, length: fn(&mut Input<'a>) -> Step<u64>) -> Step {
        let length = length(&mut self.input)?;
        let bytes = self.input.take(length)?;
        self.push_string(text::utf8(bytes));
        Ok(())
    }

    pub(super) fn text_string(&mut self, decode: fn(&'a [u8]) -> Step<Cow<'a, str>>) -> Step {
        let string = decode(self.input.line()?)?;
        self.push_string(string);
        Ok(())
    }

    fn push_string(&mut self, string: Cow<'a, str>) {
        let at = number(self.document.strings.len());
        self.document.strings.push(string);
        self.push(Node::Str(at));
    }

    pub(super) fn byte_string(&mut self, length: fn(&mut Input<'a>) -> Step<u64>) -> Step {
        let length = length(&mut self.input)?;
        let bytes = self.input.take(length)?;
        let at = number(self.document.bytes.len());
        self.document.bytes.push(bytes);
        self.push(Node::Bytes(at));
        Ok(())
    }
}
