//! Splits a text into tokens.

/// The tokens of a text: each of `,` `:` `[` `]`, and the text between them without blanks.
pub(super) fn cut(text: &str, blank: fn(char) -> bool) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    for c in text.chars() {
        if matches!(c, ',' | ':' | '[' | ']') {
            finish(&mut token, &mut tokens);
            tokens.push(c.to_string());
        } else if !blank(c) {
            token.push(c);
        }
    }
    finish(&mut token, &mut tokens);
    tokens
}

fn finish(token: &mut String, tokens: &mut Vec<String>) {
    if !token.is_empty() {
        tokens.push(std::mem::take(token));
    }
}

/// C's `isspace`, in any locale that Python runs in.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// A position in a list of tokens.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    tokens: &'a [String],
    next: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: &'a [String]) -> Cursor<'a> {
        Cursor { tokens, next: 0 }
    }

    /// The token that [`Cursor::next`] will return.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.next).map(String::as_str)
    }

    /// The number of tokens returned so far.
    pub(super) fn consumed_count(&self) -> usize {
        self.next
    }
}

impl<'a> Iterator for Cursor<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let token = self.peek()?;
        self.next += 1;
        Some(token)
    }
}
