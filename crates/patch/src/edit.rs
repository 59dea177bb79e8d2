//! Edits of a text, and where each offset is after them.

use crate::syntax::Span;

/// The replacement of the text at `span` by `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) span: Span,
    pub(crate) text: String,
}

impl Edit {
    pub(crate) fn insert(offset: usize, text: impl Into<String>) -> Edit {
        Edit { span: Span::at(offset), text: text.into() }
    }

    pub(crate) fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit { span, text: text.into() }
    }

    pub(crate) fn delete(span: Span) -> Edit {
        Edit::replace(span, "")
    }
}

/// A text after edits that do not overlap.
#[derive(Clone, Debug)]
pub(crate) struct Edited {
    pub(crate) text: String,
    /// The edits in order, each with where its text ended up.
    pub(crate) edits: Vec<(Span, Span)>,
}

impl Edited {
    /// The offset of `offset` after the edits. A deleted byte has the offset of its deletion; text inserted at `offset`
    /// goes before it.
    pub(crate) fn offset(&self, offset: usize) -> usize {
        let passed = self.edits.iter().rev().find(|(old, _)| old.start <= offset);
        passed.map_or(offset, |(old, new)| if offset < old.end { new.start } else { new.end + (offset - old.end) })
    }
}

/// Makes the edits, in their order at equal offsets; `None` if two edits overlap or an edit lies outside the text.
pub(crate) fn apply(text: &str, mut edits: Vec<Edit>) -> Option<Edited> {
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut edited = Edited { text: String::with_capacity(text.len()), edits: Vec::with_capacity(edits.len()) };
    let mut at = 0;
    for edit in edits {
        edited.text.push_str(text.get(at..edit.span.start)?);
        let start = edited.text.len();
        edited.text.push_str(&edit.text);
        edited.edits.push((edit.span, Span::new(start, edited.text.len())));
        at = edit.span.end;
    }
    edited.text.push_str(text.get(at..)?);
    Some(edited)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by it")]
    use super::*;

    #[test]
    fn edits_are_made_and_offsets_follow() {
        let edits = vec![Edit::replace(Span::new(2, 4), "XYZ"), Edit::insert(0, "a"), Edit::insert(0, "b")];
        let edited = apply("012345", edits).unwrap();
        assert_eq!(edited.text, "ab01XYZ45");
        // 3 was replaced; 0 stands after the text inserted there.
        assert_eq!([0, 1, 2, 3, 4, 6].map(|offset| edited.offset(offset)), [2, 3, 4, 4, 7, 9]);
    }

    #[test]
    fn edits_that_cannot_be_made_are_refused() {
        let cases = [
            vec![Edit::delete(Span::new(0, 2)), Edit::delete(Span::new(1, 3))],
            vec![Edit::insert(9, "x")],
            vec![Edit::insert(1, "x")], // within a character
        ];
        for edits in cases {
            assert!(apply("é12", edits).is_none());
        }
    }
}
