//! A text, cut into tokens.

/// The tokens of a text: each of `,` `:` `[` `]`, and what stands between them less the blanks.
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

/// What C's `isspace` says of a character in any locale that Python runs in.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// A walk over tokens.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    tokens: &'a [String],
    next: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: &'a [String]) -> Cursor<'a> {
        Cursor { tokens, next: 0 }
    }

    /// The token that the next call of [`Cursor::next`] gives.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.next).map(String::as_str)
    }

    /// How many tokens were given.
    pub(super) fn given(&self) -> usize {
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
