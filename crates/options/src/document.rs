//! YAML and JSON files: the scalars with their places, and the edit of one of them. JSON is read as YAML's flow style.
//!
//! # Note [One scalar]
//! An edit replaces the text of one scalar; comments, order, quotes and line ends are not touched. The new text is read again, and
//! every other key must have its old value. An edit is refused where that cannot be: the scalar belongs to an anchor that is used
//! elsewhere, the key occurs twice, the file has several documents.

use std::collections::BTreeSet;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use serde_json::Value;
use thiserror::Error;

use crate::OwnOption;
use crate::values::{of_text, to_text};

/// Deeper files are refused: no configuration has so many levels.
const MOST_LEVELS: usize = 64;

/// The reason why a key of a file is not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// The text is neither YAML nor JSON.
    #[error("line {line} cannot be read: {what}")]
    Unreadable {
        /// The line, from 1.
        line: usize,
        /// The parser's message.
        what: String,
    },
    /// A form that is not edited.
    #[error("{0}")]
    Unfit(&'static str),
    /// The key is not in the file.
    #[error("there is no key `{0}`")]
    NoKey(String),
    /// The key occurs several times.
    #[error("the key `{0}` occurs twice")]
    Twice(String),
    /// Another key has the same value by an alias.
    #[error("`{0}` belongs to an anchor that other keys use")]
    Shared(String),
    /// The edited text would have other values elsewhere.
    #[error("a change of `{0}` would change other keys")]
    Spreads(String),
}

/// A scalar of a file.
#[derive(Clone, Debug, PartialEq)]
struct Leaf {
    /// The keys and the indices on the way, joined by dots.
    path: String,
    value: Value,
    span: Range<usize>,
    line: usize,
    style: Style,
    /// The anchors of the scalar and of everything around it.
    anchors: Vec<usize>,
}

/// The way in which a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Plain,
    Quoted(char),
    Alias,
    Block,
}

/// Lists the scalars of a file as settings with the keys `FILE#PATH`, each with its line.
///
/// # Errors
/// A text that cannot be read.
pub fn list_keys(file: &str, text: &str) -> Result<Vec<(OwnOption, usize)>, EditError> {
    let (leaves, _) = read(text)?;
    let option = |leaf: Leaf| {
        let key = format!("{file}#{}", leaf.path);
        (OwnOption { key, value: leaf.value, ..OwnOption::default() }, leaf.line)
    };
    Ok(leaves.into_iter().map(option).collect())
}

/// Returns the text with another value for the key `path`. See Note [One scalar].
///
/// # Errors
/// A text that cannot be read, and a key that cannot be changed alone.
pub fn edit(text: &str, path: &str, value: &Value) -> Result<String, EditError> {
    let (leaves, used) = read(text)?;
    let named: Vec<&Leaf> = leaves.iter().filter(|leaf| leaf.path == path).collect();
    let leaf = match named[..] {
        [] => return Err(EditError::NoKey(path.to_owned())),
        [leaf] => leaf,
        _ => return Err(EditError::Twice(path.to_owned())),
    };
    if leaf.style != Style::Alias && leaf.anchors.iter().any(|anchor| used.contains(anchor)) {
        return Err(EditError::Shared(path.to_owned()));
    }
    let scalar = match leaf.style {
        Style::Block => return Err(EditError::Unfit("the value is a text of several lines")),
        Style::Quoted(quote) => format!("{quote}{}{quote}", to_text(value)),
        Style::Plain | Style::Alias if is_json(text) && value.is_string() => value.to_string(),
        Style::Plain | Style::Alias => to_text(value),
    };
    let mut edited = text.to_owned();
    edited.replace_range(leaf.span.clone(), &scalar);
    let (after, _) = read(&edited)?;
    let is_same = |(one, other): (&Leaf, &Leaf)| {
        one.path == other.path
            && (one.value == other.value || (one.path == path && to_text(&other.value) == to_text(value)))
    };
    let holds = leaves.len() == after.len() && leaves.iter().zip(&after).all(is_same);
    if holds { Ok(edited) } else { Err(EditError::Spreads(path.to_owned())) }
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Reads all scalars, and the anchors that aliases use.
fn read(text: &str) -> Result<(Vec<Leaf>, BTreeSet<usize>), EditError> {
    let mut reader = ScalarReader { offsets: offsets(text), ..ScalarReader::default() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error: ScanError| EditError::Unreadable {
            line: error.marker().line(),
            what: error.info().to_owned(),
        })?;
        reader.take(event, span, text)?;
    }
    Ok((reader.leaves, reader.used))
}

/// The byte offset of each character, and of the end.
fn offsets(text: &str) -> Vec<usize> {
    text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect()
}

/// The state while a file is read.
#[derive(Default)]
struct ScalarReader {
    offsets: Vec<usize>,
    levels: Vec<Level>,
    leaves: Vec<Leaf>,
    /// Scalars with an anchor.
    anchored: Vec<(usize, Value)>,
    used: BTreeSet<usize>,
    documents: usize,
}

/// A mapping or a sequence that is being read.
struct Level {
    /// The key of the next value; `None` before a key.
    key: Option<String>,
    /// The number of the next item; `None` in a mapping.
    index: Option<usize>,
    anchor: usize,
}

impl ScalarReader {
    fn take(&mut self, event: Event<'_>, span: Span, text: &str) -> Result<(), EditError> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(EditError::Unfit("the file has several documents"));
                }
            }
            Event::Scalar(scalar, style, anchor, _) => self.scalar(&scalar, style, anchor, span, text)?,
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::MappingStart(anchor, _) => self.open(None, anchor)?,
            Event::SequenceStart(anchor, _) => self.open(Some(0), anchor)?,
            Event::MappingEnd | Event::SequenceEnd => {
                self.levels.pop();
                self.advance();
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn open(&mut self, index: Option<usize>, anchor: usize) -> Result<(), EditError> {
        if self.levels.len() == MOST_LEVELS {
            return Err(EditError::Unfit("the file has too many levels"));
        }
        if self.awaits_key() {
            return Err(EditError::Unfit("a key of the file is not a text"));
        }
        self.levels.push(Level { key: None, index, anchor });
        Ok(())
    }

    /// True inside a mapping, before a key.
    fn awaits_key(&self) -> bool {
        self.levels.last().is_some_and(|level| level.index.is_none() && level.key.is_none())
    }

    fn scalar(
        &mut self,
        scalar: &str,
        style: ScalarStyle,
        anchor: usize,
        span: Span,
        text: &str,
    ) -> Result<(), EditError> {
        if self.awaits_key() {
            if let Some(level) = self.levels.last_mut() {
                level.key = Some(scalar.to_owned());
            }
            return Ok(());
        }
        let range = self.range(span)?;
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::Quoted('\''),
            ScalarStyle::DoubleQuoted => Style::Quoted('"'),
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        };
        let value = if style == Style::Plain { of_text(scalar) } else { Value::from(scalar) };
        if anchor > 0 {
            self.anchored.push((anchor, value.clone()));
        }
        let range = if style == Style::Plain { trimmed(range, text) } else { range };
        self.add(value, range, span, style, anchor);
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), EditError> {
        if self.awaits_key() {
            return Err(EditError::Unfit("a key of the file is an alias"));
        }
        self.used.insert(anchor);
        let known = self.anchored.iter().find(|(known, _)| *known == anchor).map(|(_, value)| value.clone());
        let range = self.range(span)?;
        self.add(known.unwrap_or_else(|| Value::from(format!("*{anchor}"))), range, span, Style::Alias, 0);
        Ok(())
    }

    fn add(&mut self, value: Value, range: Range<usize>, span: Span, style: Style, anchor: usize) {
        let path = self.path();
        let around = self.levels.iter().map(|level| level.anchor).chain([anchor]);
        let anchors = around.filter(|anchor| *anchor > 0).collect();
        self.leaves.push(Leaf { path, value, span: range, line: span.start.line(), style, anchors });
        self.advance();
    }

    /// The next value of the innermost level has another key.
    fn advance(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.key = None;
            level.index = level.index.map(|index| index + 1);
        }
    }

    fn path(&self) -> String {
        let name =
            |level: &Level| level.index.map_or_else(|| level.key.clone().unwrap_or_default(), |at| at.to_string());
        self.levels.iter().map(name).collect::<Vec<String>>().join(".")
    }

    fn range(&self, span: Span) -> Result<Range<usize>, EditError> {
        let at = |index: usize| self.offsets.get(index).copied();
        let range = at(span.start.index()).zip(at(span.end.index())).map(|(start, end)| start..end);
        range.filter(|range| range.start <= range.end).ok_or(EditError::Unfit("a place in the file is unknown"))
    }
}

/// The range of a plain scalar without the blanks after it.
fn trimmed(range: Range<usize>, text: &str) -> Range<usize> {
    let length = text.get(range.clone()).map_or(0, |scalar| scalar.trim_end().len());
    range.start..range.start + length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const YAML: &str = "\
# how we train
train:
  lr: 3e-4            # from the paper
  batch: 64           # per GPU
  name: 'base'
  sizes: [1, 2]
common: &common
  steps: 10
other:
  <<: *common
half: &half 8
same: *half
precision: \"fp32\"
";

    #[test]
    fn one_scalar_changes_and_nothing_else() {
        let check = |path: &str, value: Value, old: &str, new: &str| {
            let edited = edit(YAML, path, &value);
            assert_eq!(edited, Ok(YAML.replacen(old, new, 1)), "{path}");
        };
        check("train.batch", 32.into(), "batch: 64 ", "batch: 32 ");
        check("train.sizes.1", 7.into(), "[1, 2]", "[1, 7]");
        check("precision", "bf16".into(), "\"fp32\"", "\"bf16\"");
        check("train.name", "small".into(), "'base'", "'small'");
        check("same", 4.into(), "*half", "4");
    }

    #[test]
    fn what_cannot_be_changed_alone_is_refused() {
        let check = |text: &str, path: &str, expected: EditError| {
            assert_eq!(edit(text, path, &Value::from(1)), Err(expected), "{text}");
        };
        check(YAML, "common.steps", EditError::Shared("common.steps".to_owned()));
        check(YAML, "half", EditError::Shared("half".to_owned()));
        check(YAML, "train.none", EditError::NoKey("train.none".to_owned()));
        check("a: 1\na: 2\n", "a", EditError::Twice("a".to_owned()));
        check("a: 1\n---\na: 2\n", "a", EditError::Unfit("the file has several documents"));
        check("a: |\n  x\n  y\n", "a", EditError::Unfit("the value is a text of several lines"));
        check("? [1]\n: 2\n", "a", EditError::Unfit("a key of the file is not a text"));
        assert!(matches!(edit("a: [1\nb: }", "a", &Value::from(1)), Err(EditError::Unreadable { .. })));
    }

    #[test]
    fn json_stays_json() {
        let text = "{\n  \"batch\": 64,\n  \"amp\": false, \"é\": \"fp32\"\n}\n";
        assert_eq!(edit(text, "batch", &8.into()), Ok(text.replace("64", "8")));
        assert_eq!(edit(text, "amp", &true.into()), Ok(text.replace("false", "true")));
        assert_eq!(edit(text, "é", &"bf16".into()), Ok(text.replace("fp32", "bf16")));
        let keys: Vec<String> =
            list_keys("c.json", text).unwrap_or_default().into_iter().map(|(one, _)| one.key).collect();
        assert_eq!(keys, ["c.json#batch", "c.json#amp", "c.json#é"]);
    }

    proptest! {
        /// No text makes the reader panic, and an edit of any of its keys leaves the others as they were.
        #[test]
        fn any_text_is_read_or_refused(text in "[a-c:#&*\\-\\[\\]{}'\",0-9 \n|é]{0,60}") {
            for (option, _) in list_keys("f", &text).unwrap_or_default() {
                let path = option.key.trim_start_matches("f#");
                if let Ok(edited) = edit(&text, path, &Value::from(7)) {
                    let (before, after) = (read(&text).map(|(leaves, _)| leaves), read(&edited).map(|(leaves, _)| leaves));
                    let others = |leaves: &Vec<Leaf>| {
                        leaves.iter().filter(|leaf| leaf.path != path).map(|leaf| (leaf.path.clone(), leaf.value.clone())).collect::<Vec<_>>()
                    };
                    prop_assert_eq!(before.as_ref().map(others), after.as_ref().map(others));
                }
            }
        }
    }
}
