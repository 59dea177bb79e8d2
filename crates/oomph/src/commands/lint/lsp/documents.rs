//! The documents that are open in the client, with their unsaved texts and the findings in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lint::{Finding, SourceFile};
use lsp_types::{TextDocumentContentChangeEvent, TextDocumentItem, Uri};

use super::position::{LineTable, PositionEncoding};
use super::uri::to_path;

const PYTHON: &str = "python";
const UNTITLED: &str = "untitled:";
/// The path of a document without a file.
const NO_FILE: &str = "untitled.py";
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The text of a file as the editor shows it, saved or not, with its latest findings.
#[derive(Debug)]
pub(super) struct OpenDocument {
    pub(super) uri: Uri,
    pub(super) path: PathBuf,
    pub(super) version: i32,
    pub(super) text: String,
    /// True if the text changed since it was linted.
    pub(super) is_stale: bool,
    pub(super) linted: Option<LintedText>,
}

/// A text with its findings.
#[derive(Debug)]
pub(super) struct LintedText {
    pub(super) source: SourceFile,
    pub(super) findings: Vec<Finding>,
}

impl OpenDocument {
    /// The document of an item; `None` for another language, and for a place without files, such as a cell of a notebook.
    fn open(item: TextDocumentItem) -> Option<OpenDocument> {
        let uri = item.uri.as_str();
        let path = to_path(uri).or_else(|| uri.starts_with(UNTITLED).then(|| PathBuf::from(NO_FILE)))?;
        let is_python = match path.extension().and_then(|it| it.to_str()) {
            Some("ipynb") => false,
            Some("py") if path.is_absolute() => true,
            _ => item.language_id == PYTHON,
        };
        let document =
            OpenDocument { path, uri: item.uri, version: item.version, text: item.text, is_stale: true, linted: None };
        is_python.then_some(document)
    }

    /// Makes the client's edits, of a range or of the whole text.
    fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>, encoding: PositionEncoding) {
        for change in changes {
            let Some(range) = change.range else {
                self.text = change.text;
                continue;
            };
            let lines = LineTable::new(&self.text, encoding);
            let (start, end) = (lines.offset(range.start), lines.offset(range.end));
            self.text.replace_range(start..end.max(start), &change.text);
        }
        self.version = version;
        self.is_stale = true;
    }

    /// The text without its byte order mark, in which findings count bytes.
    pub(super) fn python(&self) -> &str {
        self.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.text)
    }

    /// The position in the document of an offset in [`OpenDocument::python`] is that of the offset and this number of bytes.
    pub(super) fn mark_bytes(&self) -> usize {
        self.text.len() - self.python().len()
    }
}

/// All open documents, by their URIs.
#[derive(Debug, Default)]
pub(super) struct Documents {
    all: BTreeMap<String, OpenDocument>,
}

impl Documents {
    pub(super) fn open(&mut self, item: TextDocumentItem) {
        let uri = item.uri.as_str().to_owned();
        match OpenDocument::open(item) {
            Some(document) => self.all.insert(uri, document),
            None => self.all.remove(&uri),
        };
    }

    pub(super) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: PositionEncoding,
    ) {
        if let Some(document) = self.all.get_mut(uri.as_str()) {
            document.change(version, changes, encoding);
        }
    }

    /// Removes a document. Returns false for a document that was not open.
    pub(super) fn close(&mut self, uri: &Uri) -> bool {
        self.all.remove(uri.as_str()).is_some()
    }

    pub(super) fn get(&self, uri: &Uri) -> Option<&OpenDocument> {
        self.all.get(uri.as_str())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OpenDocument> {
        self.all.values()
    }

    /// Lints every document again: a change of a file or of the settings may change all findings.
    pub(super) fn mark_stale(&mut self) {
        self.all.values_mut().for_each(|document| document.is_stale = true);
    }

    /// Returns the URIs of the documents to lint.
    pub(super) fn list_stale(&self) -> Vec<Uri> {
        self.iter().filter(|document| document.is_stale).map(|document| document.uri.clone()).collect()
    }

    /// Keeps the findings of a document.
    pub(super) fn set_linted(&mut self, uri: &Uri, linted: Option<LintedText>) {
        if let Some(document) = self.all.get_mut(uri.as_str()) {
            (document.linted, document.is_stale) = (linted, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use lsp_types::{Position, Range};

    use super::*;

    fn item(uri: &str, language: &str) -> TextDocumentItem {
        let uri = Uri::from_str(uri).unwrap_or_else(|error| panic!("{uri}: {error}"));
        TextDocumentItem { uri, language_id: language.to_owned(), version: 1, text: "import torch\n".to_owned() }
    }

    #[test]
    fn python_is_linted_and_nothing_else() {
        let cases = [
            ("file:///a/train.py", "python", true),
            ("file:///a/train.py", "plaintext", true),
            ("file:///a/train", "python", true),
            ("untitled:Untitled-1", "python", true),
            ("untitled:Untitled-1", "rust", false),
            ("file:///a/notes.ipynb", "python", false),
            ("file:///a/notes.md", "markdown", false),
            ("vscode-notebook-cell:/a/notes.ipynb", "python", false),
            ("git:/a/train.py", "python", false),
        ];
        for (uri, language, expected) in cases {
            assert_eq!(OpenDocument::open(item(uri, language)).is_some(), expected, "{uri} {language}");
        }
    }

    #[test]
    fn edits_are_made_in_their_order() {
        let mut documents = Documents::default();
        let opened = item("file:///a/train.py", "python");
        let uri = opened.uri.clone();
        documents.open(opened);
        let at = |line, character| Position { line, character };
        let edit = |start, end, text: &str| TextDocumentContentChangeEvent {
            range: Some(Range { start, end }),
            range_length: None,
            text: text.to_owned(),
        };
        let changes =
            vec![edit(at(0, 7), at(0, 12), "🔥"), edit(at(0, 9), at(9, 0), "x"), edit(at(0, 0), at(0, 6), "")];
        documents.change(&uri, 2, changes, PositionEncoding::Utf16);
        let found = documents.get(&uri).map(|document| (document.text.as_str(), document.version));
        assert_eq!(found, Some((" 🔥x", 2)));
    }
}
