//! Code actions: the fix of a finding, a comment that silences it, and all fixes at once.

use std::collections::HashMap;

use ::lint::{Applicability, Edit, Finding, suppress};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextEdit, WorkspaceEdit,
};
use patch::Rewrite;

use super::documents::{Documents, LintedText, OpenDocument};
use super::feedback::diagnostic;
use super::linting::Linter;
use super::position::{LineTable, PositionEncoding};
use crate::error::Error;

/// The kind of the action for all fixes; editors run the action at a save.
pub(super) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.oomph");

/// The abilities of the client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Client {
    pub(super) encoding: PositionEncoding,
    /// True if edits may state the version of the document: the client refuses edits of an old text.
    pub(super) takes_versions: bool,
    /// True if the client reports changes of files.
    pub(super) watches_files: bool,
}

/// Lists the actions for a range of a document.
pub(super) fn list(
    wanted: &CodeActionParams,
    document: &OpenDocument,
    open: &Documents,
    linter: &Linter,
    client: Client,
) -> Result<Vec<CodeActionOrCommand>, Error> {
    let Some(linted) = &document.linted else { return Ok(Vec::new()) };
    let mut actions = Vec::new();
    let editor = ActionBuilder { document, linted, client, lines: LineTable::new(&document.text, client.encoding) };
    if is_wanted(wanted, &CodeActionKind::QUICKFIX) {
        let touched: Vec<&Finding> = linted.findings.iter().filter(|it| editor.touches(it, wanted)).collect();
        actions.extend(touched.iter().filter_map(|finding| editor.fix(finding)));
        actions.extend(touched.iter().filter_map(|finding| editor.silence(finding)));
    }
    if is_wanted(wanted, &FIX_ALL)
        && let Some(text) = linter.fix_all(document, open)?
    {
        actions.push(editor.replace(&text));
    }
    Ok(actions.into_iter().map(CodeActionOrCommand::CodeAction).collect())
}

/// Checks whether a client asks for a kind: a kind stands for those below it, `source` for `source.fixAll`.
fn is_wanted(wanted: &CodeActionParams, kind: &CodeActionKind) -> bool {
    let Some(only) = &wanted.context.only else { return true };
    only.iter()
        .any(|it| kind.as_str().strip_prefix(it.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// Makes actions for a document.
struct ActionBuilder<'a> {
    document: &'a OpenDocument,
    linted: &'a LintedText,
    client: Client,
    lines: LineTable<'a>,
}

impl ActionBuilder<'_> {
    fn touches(&self, finding: &Finding, wanted: &CodeActionParams) -> bool {
        let found = diagnostic(self.document, &self.lines, finding).range;
        found.start <= wanted.range.end && wanted.range.start <= found.end
    }

    /// The fix of a finding, if the fixed text is verified.
    fn fix(&self, finding: &Finding) -> Option<CodeAction> {
        let fix = finding.fix.as_ref()?;
        let mut rewrite = Rewrite::new(self.linted.source.text());
        rewrite.make(fix.edits.iter().map(|edit| (edit.span.start..edit.span.end, edit.text.as_str()))).ok()?;
        let is_safe = fix.applicability == Applicability::Safe;
        let risk = if is_safe { "" } else { " (unsafe: results may change)" };
        Some(CodeAction {
            title: format!("oomph: {}{risk}", finding.help),
            is_preferred: is_safe.then_some(true),
            ..self.quick_fix(finding, &fix.edits)
        })
    }

    fn silence(&self, finding: &Finding) -> Option<CodeAction> {
        let edit = suppress(&self.linted.source, finding)?;
        Some(CodeAction { title: format!("oomph: ignore {} here", finding.rule), ..self.quick_fix(finding, &[edit]) })
    }

    fn quick_fix(&self, finding: &Finding, edits: &[Edit]) -> CodeAction {
        let mark = self.document.mark_bytes();
        let edit = |edit: &Edit| TextEdit {
            range: self.lines.range(edit.span.start + mark..edit.span.end + mark),
            new_text: edit.text.clone(),
        };
        CodeAction {
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostic(self.document, &self.lines, finding)]),
            edit: Some(self.workspace_edit(edits.iter().map(edit).collect())),
            ..CodeAction::default()
        }
    }

    /// All fixes. Only the changed lines are replaced: a cursor elsewhere stays.
    fn replace(&self, text: &str) -> CodeAction {
        let (old, mark) = (self.document.python(), self.document.mark_bytes());
        let start = shared(old.split_inclusive('\n'), text.split_inclusive('\n'));
        let (rest, new) = (&old[start..], &text[start..]);
        let end = shared(rest.split_inclusive('\n').rev(), new.split_inclusive('\n').rev());
        let range = self.lines.range(start + mark..old.len() - end + mark);
        let edit = TextEdit { range, new_text: new[..new.len() - end].to_owned() };
        CodeAction {
            title: "oomph: fix all".to_owned(),
            kind: Some(FIX_ALL),
            edit: Some(self.workspace_edit(vec![edit])),
            ..CodeAction::default()
        }
    }

    fn workspace_edit(&self, edits: Vec<TextEdit>) -> WorkspaceEdit {
        let uri = self.document.uri.clone();
        if !self.client.takes_versions {
            return WorkspaceEdit { changes: Some(changes_of(uri, edits)), ..WorkspaceEdit::default() };
        }
        let text_document = OptionalVersionedTextDocumentIdentifier { uri, version: Some(self.document.version) };
        let edits = edits.into_iter().map(OneOf::Left).collect();
        let changes = vec![TextDocumentEdit { text_document, edits }];
        WorkspaceEdit { document_changes: Some(DocumentChanges::Edits(changes)), ..WorkspaceEdit::default() }
    }
}

#[expect(
    clippy::mutable_key_type,
    reason = "the map of the protocol's crate; the key's cell holds no state of the key"
)]
fn changes_of(uri: lsp_types::Uri, edits: Vec<TextEdit>) -> HashMap<lsp_types::Uri, Vec<TextEdit>> {
    HashMap::from([(uri, edits)])
}

/// The bytes of the lines that two texts share, one after the other.
fn shared<'a>(one: impl Iterator<Item = &'a str>, other: impl Iterator<Item = &'a str>) -> usize {
    one.zip(other).take_while(|(line, twin)| line == twin).map(|(line, _)| line.len()).sum()
}
