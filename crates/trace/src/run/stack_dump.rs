//! The stacks that CPython's `faulthandler` writes (`_Py_DumpTraceback` in Python/traceback.c, 3.9 to 3.14).

/// Returns the last complete stack of a file of stacks, innermost frame first: `(function, file, line)`. Empty without one.
///
/// A stack is a line that ends with `(most recent call first):`, and a line `  File "PATH", line N in FUNCTION` for each frame. The path is
/// ASCII: other characters are escaped as in Python's `ascii`.
pub fn read_last_stack(text: &str) -> Vec<(String, String, u32)> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let start = whole.rfind("(most recent call first):").unwrap_or(whole.len());
    whole[start..].lines().skip(1).map_while(read_frame).collect()
}

fn read_frame(line: &str) -> Option<(String, String, u32)> {
    let (path, rest) = line.strip_prefix("  File \"")?.rsplit_once("\", line ")?;
    let (number, function) = rest.split_once(" in ")?;
    Some((function.to_owned(), unescape(path), number.parse().ok()?))
}

/// Replaces `\xNN`, `\uNNNN` and `\UNNNNNNNN`; anything else stays as it is.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let (character, length) = read_escape(&rest[at..]).unwrap_or(('\\', 1));
        plain.push(character);
        rest = &rest[at + length..];
    }
    plain + rest
}

/// The character of an escape at the start of a text, and the length of the escape.
fn read_escape(text: &str) -> Option<(char, usize)> {
    let digits = match text.as_bytes().get(1)? {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => return None,
    };
    let code = u32::from_str_radix(text.get(2..2 + digits)?, 16).ok()?;
    Some((char::from_u32(code)?, 2 + digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "Stack (most recent call first):\n  File \"/w/old.py\", line 1 in <module>\n";
    const LAST: &str = "Stack (most recent call first):\n  File \"/w/g\\xfcte \\u4e2d.py\", line 12 in step\n  \
                        File \"/w/a \"b\", line 3.py\", line 40 in <module>\n";

    #[test]
    fn the_last_whole_stack_counts() {
        let frame = |function: &str, file: &str, line| (function.to_owned(), file.to_owned(), line);
        let old = vec![frame("<module>", "/w/old.py", 1)];
        let last = vec![frame("step", "/w/güte 中.py", 12), frame("<module>", "/w/a \"b\", line 3.py", 40)];
        assert_eq!(read_last_stack(FIRST), old);
        assert_eq!(read_last_stack(&[FIRST, LAST].concat()), last);
        assert_eq!(read_last_stack(&format!("{FIRST}Stack (most recent call first):\n  File \"/w/n")), vec![], "cut");
        assert_eq!(read_last_stack("Stack (most recent call first):\n  <no Python frame>\n"), vec![]);
        assert_eq!(read_last_stack(""), vec![]);
    }

    #[test]
    fn no_text_is_too_strange() {
        for text in ["\\", "\\x", "\\xf", "\\ud800", "\\U0011ffff", "\\xé", "a\\nb"] {
            assert_eq!(unescape(text), text);
        }
    }
}
