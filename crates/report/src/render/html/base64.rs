//! Base64 (RFC 4648 §4, padded), as the content policy and the page data use it.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `bytes` in letters.
pub(super) fn encode(bytes: &[u8]) -> String {
    bytes.chunks(3).flat_map(group).collect()
}

/// Three bytes, or the one or two that are left, as four letters.
fn group(bytes: &[u8]) -> [char; 4] {
    let byte = |at: usize| u32::from(bytes.get(at).copied().unwrap_or(0));
    let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    std::array::from_fn(|at| match at {
        at if at > bytes.len() => '=',
        at => letter(bits >> (18 - 6 * at)),
    })
}

fn letter(bits: u32) -> char {
    let index = usize::try_from(bits & 63).unwrap_or_default();
    char::from(LETTERS.get(index).copied().unwrap_or(b'='))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases of RFC 4648 §10.
    #[test]
    fn the_cases_of_the_rfc() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (text, letters) in cases {
            assert_eq!(encode(text.as_bytes()), letters);
        }
        assert_eq!(encode(&[0xfb, 0xff]), "+/8=");
    }
}
