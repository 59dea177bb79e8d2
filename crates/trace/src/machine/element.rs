//! A small XML document as a tree.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::error::SmiError;

/// The deepest nesting that is read; `nvidia-smi` writes 7 levels.
const DEEPEST: usize = 64;

/// An element. Attributes are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    text: String,
    children: Vec<Element>,
}

impl Element {
    /// The first child of a name.
    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.list(name).next()
    }

    /// The children of a name.
    pub(super) fn list(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the child at a path; `None` if there is no such child, no text, or a text such as `N/A` or `[Not Supported]`.
    pub(super) fn text_at(&self, path: &[&str]) -> Option<&str> {
        let found = path.iter().try_fold(self, |element, name| element.child(name))?;
        let text = found.text.trim();
        let is_stated = !text.is_empty() && !UNSTATED.contains(&text.trim_matches(['[', ']']));
        is_stated.then_some(text)
    }
}

/// The texts of `nvidia-smi` in place of a figure.
const UNSTATED: [&str; 7] = [
    "N/A",
    "Not Supported",
    "Not Available",
    "Unknown Error",
    "GPU requires reset",
    "Insufficient Permissions",
    "Requested functionality has been deprecated",
];

/// Parses a document; returns its outermost element.
pub(super) fn parse(text: &str) -> Result<Element, SmiError> {
    let mut reader = Reader::from_str(text);
    let mut open = vec![Element::default()];
    loop {
        let event = reader
            .read_event()
            .map_err(|error| SmiError::Xml { offset: reader.error_position(), problem: error.to_string() })?;
        match event {
            Event::Start(start) if open.len() <= DEEPEST => open.push(begin(&start)),
            Event::Start(_) => return Err(SmiError::TooDeep),
            Event::Empty(start) => close(&mut open, begin(&start)),
            Event::End(_) => {
                if let Some(element) = open.pop() {
                    close(&mut open, element);
                }
            }
            Event::Text(read) => append(&mut open, &read),
            Event::CData(read) => append(&mut open, &read),
            Event::GeneralRef(read) => append(&mut open, resolve(&read)),
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::DocType(_) | Event::PI(_) => {}
        }
    }
    let is_cut = open.len() > 1;
    let outermost = open.swap_remove(0).children.into_iter().next();
    if is_cut { Err(SmiError::Cut) } else { outermost.ok_or(SmiError::NotALog { found: None }) }
}

fn begin(start: &BytesStart) -> Element {
    Element { name: start.name().as_ref().to_owned(), ..Element::default() }
}

fn close(open: &mut [Element], element: Element) {
    if let Some(parent) = open.last_mut() {
        parent.children.push(element);
    }
}

fn append(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// The character of an entity in a command line. Other entities do not occur.
fn resolve(name: &str) -> &'static str {
    match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => "\u{FFFD}",
    }
}
