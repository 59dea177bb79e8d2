//! The writer of HTML pages. Only literals of this crate are written unescaped.

use std::fmt::Write as _;

use crate::sanitize::clean;

/// An unfinished page.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// Appends markup. The `'static` lifetime keeps foreign strings out.
    pub(super) fn raw(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Appends text with markup and control characters escaped (Note [Foreign text]).
    pub(super) fn text(&mut self, text: &str) {
        for letter in clean(text).chars() {
            match letter {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                letter => self.0.push(letter),
            }
        }
    }

    /// Appends text between markup.
    pub(super) fn wrap(&mut self, open: &'static str, text: &str, close: &'static str) {
        self.raw(open);
        self.text(text);
        self.raw(close);
    }

    /// Appends JSON inside a `script` element of a type that browsers do not run. `<` is written as an escape, so that no text in the
    /// value can end the element or open a comment in it.
    pub(super) fn write_json(&mut self, value: &serde_json::Value) {
        let text = value.to_string().replace('<', "\\u003c");
        self.0.push_str(&text);
    }

    /// Appends a number, e.g. in an attribute.
    pub(super) fn number(&mut self, number: u64) {
        let written = write!(self.0, "{number}");
        debug_assert!(written.is_ok(), "writing to a String does not fail");
    }

    /// Returns the finished text.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}
