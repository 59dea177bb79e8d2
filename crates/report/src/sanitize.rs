//! Text from outside, made harmless, and its width on a terminal.
//!
//! # Note [Foreign text]
//! Names of files and functions, and the words of error messages, come from files of unknown authors. On a terminal an
//! escape sequence in a name could move the cursor, set the title or answer for the user, and a character that reverses
//! the direction of writing could make a path look like another. So every human format shows a control or invisible
//! formatting character as an escape in plain letters (`\x1b`, `\u{202e}`), and white space as one space. Functions
//! that measure, break or cut a text clean the text first, and the page cleans each line again before decorating the
//! line: no caller can forget the step. JSON writes them as `\u202e` (`escape_json`), HTML has its own escapes in
//! `html/escape.rs`.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces characters that a terminal would act on or hide by escapes, and white space by one space.
///
/// Every human format calls the function for each foreign text; the binary does so for messages.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    text.chars().for_each(|letter| push(&mut cleaned, letter));
    Cow::Owned(cleaned)
}

fn push(cleaned: &mut String, letter: char) {
    if !is_harmful(letter) {
        cleaned.push(letter);
        return;
    }
    if letter.is_whitespace() {
        cleaned.push(' ');
        return;
    }
    let code = u32::from(letter);
    let written = if code < 0x100 { write!(cleaned, "\\x{code:02x}") } else { write!(cleaned, "\\u{{{code:x}}}") };
    debug_assert!(written.is_ok(), "writing to a String does not fail");
}

/// Escapes the harmful characters of JSON. Its own characters are those of ASCII, so all others are in strings, where an
/// escape means the same.
pub(crate) fn escape_json(text: String) -> String {
    let is_escaped = |letter: char| letter >= '\u{7f}' && is_harmful(letter);
    if !text.chars().any(is_escaped) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_escaped(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let written = write!(escaped, "\\u{unit:04x}");
                debug_assert!(written.is_ok(), "writing to a String does not fail");
            }
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

/// Control characters, line separators, and invisible characters that change the display of others.
fn is_harmful(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The columns of `text` on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The columns of a character: two for East Asian wide characters and pictures, none for marks that join the letter
/// before. The ranges are the large ones of Unicode's `EastAsianWidth.txt` (W and F) and of its combining blocks.
pub(crate) fn columns_of(letter: char) -> usize {
    match letter {
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown_in_letters() {
        let cases = [
            ("train.py", "train.py"),
            ("größe 模型", "größe 模型"),
            ("a\u{1b}[31mb", "a\\x1b[31mb"),
            ("a\nb\tc\r\n", "a b c  "),
            ("\u{9b}2J", "\\x9b2J"),
            ("a\u{202e}yp.exe", "a\\u{202e}yp.exe"),
            ("\u{7}\u{7f}", "\\x07\\x7f"),
        ];
        for (text, shown) in cases {
            assert_eq!(clean(text), shown);
            assert_eq!(clean(&clean(text)), shown, "cleaning twice changes nothing");
        }
    }

    #[test]
    fn json_means_the_same_after_its_harmful_characters_are_escaped() {
        let cases = [
            ("größe 模型", r#""größe 模型""#),
            ("a\n\u{1b}b", r#""a\n\u001bb""#),
            ("\u{9b}2J\u{7f}", r#""\u009b2J\u007f""#),
            ("a\u{202e}b\u{2066}", r#""a\u202eb\u2066""#),
            ("\u{e0041}", r#""\udb40\udc41""#),
        ];
        for (text, expected) in cases {
            let json = escape_json(serde_json::Value::from(text).to_string());
            assert_eq!(json, expected);
            assert_eq!(serde_json::from_str::<String>(&json).ok().as_deref(), Some(text));
        }
    }

    #[test]
    fn wide_letters_take_two_columns_and_joined_marks_none() {
        let cases = [("abc", 3), ("模型", 4), ("e\u{301}", 1), ("🔥", 2), ("█▌", 2)];
        for (text, width) in cases {
            assert_eq!(columns(text), width, "{text}");
        }
    }
}
