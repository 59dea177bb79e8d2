//! Limits on the text passed to the Python parser; `lint` and `patch` check them first.
//!
//! # Note [Depth of a tree]
//! A syntax tree is walked and dropped recursively, so its depth is limited before parsing: brackets and indentation to CPython's limits
//! (200 and 100, `Parser/lexer/state.h` at 029775f), chains such as `a.b.c` to 1,000 links, for which CPython has no limit. Deeper files are
//! generated data.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};
use thiserror::Error;

const BRACKETS: usize = 200;
const BLOCKS: usize = 100;
const LINKS: usize = 1000;

/// The text is nested or chained deeper than hand-written code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the file is nested too deeply; expected at most {BRACKETS} brackets, {BLOCKS} blocks and {LINKS} links of a chain"
)]
pub struct TooDeep;

/// Checks the limits of Note [Depth of a tree].
pub fn check_depth(text: &str, mode: Mode) -> Result<(), TooDeep> {
    let mut lexer = lexer::lex(text, mode);
    let mut depth = Nesting::default();
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return Ok(()),
            kind => depth.pass(kind),
        }
        if depth.brackets > BRACKETS || depth.blocks > BLOCKS || depth.links > LINKS {
            return Err(TooDeep);
        }
    }
}

/// The open brackets and blocks at a token.
#[derive(Default)]
struct Nesting {
    brackets: usize,
    blocks: usize,
    /// Tokens since the last end of an expression.
    links: usize,
}

impl Nesting {
    fn pass(&mut self, kind: TokenKind) {
        match kind {
            TokenKind::Indent => self.blocks += 1,
            TokenKind::Dedent => self.blocks = self.blocks.saturating_sub(1),
            _ if opens(kind) => self.brackets += 1,
            _ if closes(kind) => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        let ends = matches!(kind, TokenKind::Comma | TokenKind::Newline | TokenKind::Semi);
        self.links = if ends { 0 } else { self.links + 1 };
    }
}

fn opens(kind: TokenKind) -> bool {
    use TokenKind::{FStringStart, Lbrace, Lpar, Lsqb, TStringStart};
    matches!(kind, Lpar | Lsqb | Lbrace | FStringStart | TStringStart)
}

fn closes(kind: TokenKind) -> bool {
    use TokenKind::{FStringEnd, Rbrace, Rpar, Rsqb, TStringEnd};
    matches!(kind, Rpar | Rsqb | Rbrace | FStringEnd | TStringEnd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_limited_at_each_limit() {
        let nested = |depth| "(".repeat(depth) + &")".repeat(depth);
        let blocks = |depth: usize| (0..=depth).map(|level| " ".repeat(level) + "if x:\n").collect::<String>();
        let chain = |links: usize| "-".repeat(links);
        let cases = [
            (nested(BRACKETS), nested(BRACKETS + 1)),
            (blocks(BLOCKS), blocks(BLOCKS + 1)),
            (chain(LINKS), chain(LINKS + 1)),
            // Lists of any length are fine, and so are expressions one after the other.
            ("1, ".repeat(10 * LINKS) + "\n" + &"x;".repeat(LINKS), "a.".repeat(LINKS)),
        ];
        for (allowed, refused) in cases {
            let start = &allowed[..allowed.len().min(20)];
            assert_eq!(check_depth(&allowed, Mode::Module), Ok(()), "{start}");
            assert_eq!(check_depth(&refused, Mode::Module), Err(TooDeep), "{start}");
        }
    }
}
