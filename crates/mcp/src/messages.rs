//! The bytes of a line into a message of the protocol, or the answer to a damaged one.

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde_json::{Value, json};

use crate::lines::StreamLine;

/// The most bytes of a message. A pasted log fits; a longer one is named by its path.
pub(crate) const MOST_BYTES: usize = 4 << 20;

/// The content of a line.
#[derive(Debug)]
pub(crate) enum Decoded {
    /// A message for the server.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// The answer to a line without such a message.
    Refused(String),
    /// A line without an answer: a blank one, or a notification of another protocol.
    Ignored,
}

/// Decodes a line.
pub(crate) fn decode(line: StreamLine) -> Decoded {
    let StreamLine::Whole(bytes) = line else {
        let text = format!("the message has more than {MOST_BYTES} bytes; name a file by its path instead of its text");
        return Decoded::Refused(refuse(None, ErrorCode::INVALID_REQUEST, &text));
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Decoded::Ignored;
    }
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(value) => decode_value(value),
        Err(error) => Decoded::Refused(refuse(None, ErrorCode::PARSE_ERROR, &format!("no JSON: {error}"))),
    }
}

fn decode_value(value: Value) -> Decoded {
    let id = find_id(&value);
    let is_notification = value.get("method").is_some_and(Value::is_string) && value.get("id").is_none();
    match serde_json::from_value(value) {
        Ok(message) => Decoded::Message(Box::new(message)),
        Err(_) if is_notification => Decoded::Ignored,
        Err(_) => Decoded::Refused(refuse(
            id.as_ref(),
            ErrorCode::INVALID_REQUEST,
            "no message of JSON-RPC 2.0: a request is an object with `jsonrpc`, `id`, `method` and `params`",
        )),
    }
}

fn find_id(value: &Value) -> Option<RequestId> {
    serde_json::from_value(value.get("id")?.clone()).ok()
}

/// Writes the error to a message. JSON-RPC 2.0 demands `null` for an unknown id (section 5), which the SDK's own type leaves out.
pub(crate) fn refuse(id: Option<&RequestId>, code: ErrorCode, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The word for a decoded line: `message`, `ignored`, or code and id of the error.
    fn describe(bytes: &[u8]) -> String {
        match decode(StreamLine::Whole(bytes.to_vec())) {
            Decoded::Message(_) => "message".to_owned(),
            Decoded::Ignored => "ignored".to_owned(),
            Decoded::Refused(text) => {
                let answer: Value = serde_json::from_str(&text).expect("an answer is JSON");
                format!("{} {}", answer["error"]["code"], answer["id"])
            }
        }
    }

    #[test]
    fn a_damaged_line_has_the_error_of_json_rpc() {
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        let cases: [(&[u8], &str); 17] = [
            (br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "message"),
            (br#"{"jsonrpc":"2.0","id":"a","method":"nonsense","params":{}}"#, "message"),
            (br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "message"),
            (b"", "ignored"),
            (b" \t ", "ignored"),
            (br#"{"jsonrpc":"1.0","method":"textDocument/didOpen"}"#, "ignored"),
            (br#"{"jsonrpc":"2.0","id":1,"method":"#, "-32700 null"),
            (b"\xff\xfe\x00", "-32700 null"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}", "-32700 null"),
            (&deep, "-32700 null"),
            (b"7", "-32600 null"),
            (b"[]", "-32600 null"),
            (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "-32600 null"),
            (br#"{"jsonrpc":"2.0","id":5,"method":7}"#, "-32600 5"),
            (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "-32600 null"),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "-32600 null"),
            (br#"{"id":"x","method":"ping"}"#, "-32600 \"x\""),
        ];
        for (bytes, expected) in cases {
            assert_eq!(describe(bytes), expected, "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(80)]));
        }
    }
}
