//! Edits by `lint`, for its fixes: made and verified like the edits of remedies.

use std::ops::Range;

use crate::edit::Edit;
use crate::source::Source;
use crate::syntax::Span;
use crate::{Work, apply_verified, diff};

/// A Python file that is edited step by step.
#[derive(Clone)]
pub struct Rewrite {
    original: String,
    work: Work,
}

impl Rewrite {
    /// Nothing is changed yet.
    pub fn new(text: &str) -> Rewrite {
        Rewrite { original: text.to_owned(), work: Work { text: text.to_owned(), moves: Vec::new() } }
    }

    /// The current text of the file; the spans of the next edits refer to it.
    pub fn text(&self) -> &str {
        &self.work.text
    }

    /// Makes edits that stand and fall together. If the file would not parse after them, or anything but the edited places would differ,
    /// none is made, and the error says why.
    pub fn make<'a>(&mut self, edits: impl IntoIterator<Item = (Range<usize>, &'a str)>) -> Result<(), String> {
        let edits = edits.into_iter().map(|(range, text)| Edit::replace(Span::new(range.start, range.end), text));
        let source = Source::parse(&self.work.text).map_err(|unreadable| unreadable.to_string())?;
        let edited = apply_verified(&source, edits.collect())?;
        self.work.take(edited);
        Ok(())
    }

    /// The changes, as a unified diff in which the file is called `file`; empty without changes.
    pub fn diff(&self, file: &str) -> String {
        diff::unified(file, &self.original, &self.work.text, |offset| self.work.new_offset(offset))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by it")]
    use super::*;

    #[test]
    fn steps_add_up_and_what_breaks_the_file_is_refused() {
        let mut rewrite = Rewrite::new("a = 1\nb = 2\nc = 3\n");
        rewrite.make([(4..5, "10")]).unwrap();
        rewrite.make([(0..0, "# first\n"), (7..13, "")]).unwrap();
        assert_eq!(rewrite.text(), "# first\na = 10\nc = 3\n");
        for refused in [(8..9, "a b"), (8..10, "("), (0..99, "")] {
            assert!(rewrite.make([refused]).is_err());
        }
        assert_eq!(rewrite.text(), "# first\na = 10\nc = 3\n");
        let expected = "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n-a = 1\n-b = 2\n+# first\n+a = 10\n c = 3\n";
        assert_eq!(rewrite.diff("x.py"), expected);
    }
}
