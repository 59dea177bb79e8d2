//! The path of a document's URI.

use std::path::PathBuf;

use crate::system::decode_path;

/// Returns the path of a `file:` URI of this machine (RFC 8089); `None` for every other URI.
pub(super) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    path.starts_with('/').then(|| decode_path(&decode(path)))
}

/// Replaces percent codes by their bytes; other text stays as it is.
fn decode(text: &str) -> Vec<u8> {
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let code = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        let digits = code.filter(|code| code.bytes().all(|it| it.is_ascii_hexdigit()));
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(value.unwrap_or(byte));
        at += if value.is_some() { 3 } else { 1 };
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_path() {
        let cases = [
            ("file:///home/ann/my%20train.py", Some("/home/ann/my train.py")),
            ("file://localhost/a/%C3%BC.py", Some("/a/ü.py")),
            ("file:///a%2", Some("/a%2")),
            ("file:///a%+1", Some("/a%+1")),
            ("file://server/share/a.py", None),
            ("untitled:Untitled-1", None),
            ("vscode-notebook-cell:/a.ipynb#1", None),
        ];
        for (uri, expected) in cases {
            assert_eq!(to_path(uri), expected.map(PathBuf::from), "{uri}");
        }
    }
}
