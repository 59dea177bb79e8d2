//! Messages on standard input and output: the base protocol of the Language Server Protocol, 3.17.
//!
//! `lsp-server` reads messages, too, but ends at the first that is no JSON, and allocates whatever length a header states.

use std::io::{self, BufRead, Read};

use lsp_server::Message;
use thiserror::Error;

/// The longest line of a header; clients write some 30 bytes.
const LONGEST_LINE: u64 = 8 << 10;
/// The longest message: a file of the largest size that is linted, with an escape for each character.
const LONGEST_MESSAGE: u64 = 128 << 20;
const LENGTH: &str = "content-length";

/// The content of a message.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message of JSON-RPC.
    Message(Message),
    /// Some other text, and the problem.
    Malformed(String),
}

/// The reason why no further message can be read.
#[derive(Debug, Error)]
pub(super) enum TransportError {
    #[error("standard input cannot be read: {0}")]
    Input(#[from] io::Error),
    #[error("standard input ended inside of a message")]
    Ended,
    #[error("`{0}` is no line of a header; expected `Content-Length: BYTES`")]
    Header(String),
    #[error("a message has {0} bytes; expected at most {LONGEST_MESSAGE}")]
    Length(u64),
}

/// Reads a message; `None` at the end of the input.
pub(super) fn read(input: &mut impl BufRead) -> Result<Option<Incoming>, TransportError> {
    let Some(length) = read_header(input)? else { return Ok(None) };
    if length > LONGEST_MESSAGE {
        return Err(TransportError::Length(length));
    }
    let mut body = Vec::new();
    let read = input.by_ref().take(length).read_to_end(&mut body)?;
    if (read as u64) < length {
        return Err(TransportError::Ended);
    }
    Ok(Some(
        serde_json::from_slice(&body).map_or_else(
            |error| Incoming::Malformed(format!("a message is not of JSON-RPC: {error}")),
            Incoming::Message,
        ),
    ))
}

/// Reads a header up to its empty line, and returns the length of the body; `None` at the end of the input.
fn read_header(input: &mut impl BufRead) -> Result<Option<u64>, TransportError> {
    let (mut length, mut is_first) = (None, true);
    loop {
        let mut line = Vec::new();
        input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        let line = String::from_utf8_lossy(&line);
        match (line.trim_end(), line.ends_with('\n')) {
            ("", false) if is_first => return Ok(None),
            ("", false) => return Err(TransportError::Ended),
            ("", true) => return length.map(Some).ok_or_else(|| TransportError::Header(String::new())),
            (field, _) => length = parse_field(field)?.or(length),
        }
        is_first = false;
    }
}

/// The length, if a field states it.
fn parse_field(field: &str) -> Result<Option<u64>, TransportError> {
    let wrong = || TransportError::Header(field.to_owned());
    let (name, value) = field.split_once(':').ok_or_else(wrong)?;
    if !name.eq_ignore_ascii_case(LENGTH) {
        return Ok(None);
    }
    value.trim().parse().map(Some).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(input: &[u8]) -> String {
        match read(&mut &*input) {
            Ok(Some(Incoming::Message(Message::Request(request)))) => format!("request {}", request.method),
            Ok(Some(Incoming::Message(message))) => format!("{message:?}"),
            Ok(Some(Incoming::Malformed(problem))) => problem.split(':').next().unwrap_or_default().to_owned(),
            Ok(None) => "end".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn any_input_is_a_message_or_an_error() {
        let cases: [(&[u8], &str); 9] = [
            (b"", "end"),
            (b"Content-Length: 24\r\n\r\n{\"id\":1,\"method\":\"hover\"}", "a message is not of JSON-RPC"),
            (b"content-length:25\r\nX-Y: z\r\n\r\n{\"id\":1,\"method\":\"hover\"}", "request hover"),
            (b"Content-Length: 2\r\n\r\n[]", "a message is not of JSON-RPC"),
            (b"Content-Length: 20\r\n\r\n{}", "standard input ended inside of a message"),
            (b"Content-Length: 20\r\n", "standard input ended inside of a message"),
            (b"GET / HTTP/1.1\r\n\r\n", "`GET / HTTP/1.1` is no line of a header; expected `Content-Length: BYTES`"),
            (b"\r\n", "`` is no line of a header; expected `Content-Length: BYTES`"),
            (b"Content-Length: 99999999999\r\n\r\n", "a message has 99999999999 bytes; expected at most 134217728"),
        ];
        for (input, expected) in cases {
            assert_eq!(words(input), expected, "{}", String::from_utf8_lossy(input));
        }
    }
}
