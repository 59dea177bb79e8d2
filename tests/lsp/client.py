"""A client of the language server: that of pygls, which keeps the published diagnostics."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.workspace import PositionCodec, TextDocument

# No answer takes this long, unless the server hangs.
PATIENCE = 30
PYTHON = "python"


class Client(LanguageClient):
    """A session with a server."""

    def __init__(self, folder: Path, encoding: types.PositionEncodingKind) -> None:
        super().__init__("oomph-tests", "1")
        self.folder = folder
        self.encoding = encoding
        self.messages: list[str] = []
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published.put_nowait(params))
        self.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self.messages.append(params.message))
        self.feature(types.WINDOW_LOG_MESSAGE)(lambda params: self.messages.append(params.message))
        self.registered: list[str] = []
        self.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: self.registered.extend(one.method for one in params.registrations))

    def uri(self, name: str) -> str:
        """The URI of a file."""
        return (self.folder / name).as_uri()

    async def begin(self, takes_versions: bool) -> types.InitializeResult:
        """Makes the first requests."""
        edits = types.WorkspaceEditClientCapabilities(document_changes=takes_versions)
        watches = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=[self.encoding, types.PositionEncodingKind.Utf16]),
            workspace=types.WorkspaceClientCapabilities(workspace_edit=edits, did_change_watched_files=watches),
        )
        folders = [types.WorkspaceFolder(uri=self.folder.as_uri(), name="work")]
        params = types.InitializeParams(capabilities=capabilities, workspace_folders=folders)
        result = await asyncio.wait_for(self.initialize_async(params), PATIENCE)
        self.initialized(types.InitializedParams())
        return result

    async def open(self, name: str, text: str, language: str = PYTHON) -> list[types.Diagnostic]:
        """Opens a document, and returns its diagnostics."""
        self.open_only(name, text, language)
        return await self.diagnostics(name, 1)

    def open_only(self, name: str, text: str, language: str = PYTHON) -> None:
        """Opens a document."""
        item = types.TextDocumentItem(uri=self.uri(name), language_id=language, version=1, text=text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))

    def change(self, name: str, version: int, *edits: tuple[types.Range | None, str]) -> None:
        """Sends edits of a document: of a range, or of the whole."""
        whole, part = types.TextDocumentContentChangeWholeDocument, types.TextDocumentContentChangePartial
        changes = [whole(text=text) if place is None else part(range=place, text=text) for place, text in edits]
        identifier = types.VersionedTextDocumentIdentifier(uri=self.uri(name), version=version)
        self.text_document_did_change(types.DidChangeTextDocumentParams(text_document=identifier, content_changes=changes))

    async def replace(self, name: str, version: int, text: str) -> list[types.Diagnostic]:
        """Replaces a text, and returns its diagnostics."""
        self.change(name, version, (None, text))
        return await self.diagnostics(name, version)

    def save(self, name: str) -> None:
        """Says that a document was saved."""
        identifier = types.TextDocumentIdentifier(uri=self.uri(name))
        self.text_document_did_save(types.DidSaveTextDocumentParams(text_document=identifier))

    async def diagnostics(self, name: str, version: int | None) -> list[types.Diagnostic]:
        """Waits for the diagnostics of a version of a document."""
        while True:
            params = await asyncio.wait_for(self.published.get(), PATIENCE)
            if params.uri == self.uri(name) and params.version == version:
                return list(params.diagnostics)

    async def actions(self, name: str, place: types.Range, *only: str) -> list[types.CodeAction]:
        """The code actions for a range."""
        context = types.CodeActionContext(diagnostics=[], only=list(only) or None)
        identifier = types.TextDocumentIdentifier(uri=self.uri(name))
        params = types.CodeActionParams(text_document=identifier, range=place, context=context)
        return list(await asyncio.wait_for(self.text_document_code_action_async(params), PATIENCE) or [])

    async def page(self, name: str, at: types.Position) -> str | None:
        """The text that hovers at a position."""
        params = types.HoverParams(text_document=types.TextDocumentIdentifier(uri=self.uri(name)), position=at)
        hover = await asyncio.wait_for(self.text_document_hover_async(params), PATIENCE)
        return hover and hover.contents.value


@contextlib.asynccontextmanager
async def connect(
    oomph: Path, folder: Path, *words: str, encoding: types.PositionEncodingKind = types.PositionEncodingKind.Utf16, takes_versions: bool = True
) -> AsyncIterator[Client]:
    """A session from the first request to the last, whose server ends with status 0."""
    client = Client(folder, encoding)
    await client.start_io(str(oomph), "lint", "--lsp", *words)
    result = await client.begin(takes_versions)
    assert result.capabilities.position_encoding == encoding, result.capabilities.position_encoding
    yield client
    await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
    client.exit(None)
    status = await asyncio.wait_for(client._server.wait(), PATIENCE)
    assert status == 0, f"expected exit status 0 after `shutdown` and `exit`, found {status}"


def apply(action: types.CodeAction, text: str, encoding: types.PositionEncodingKind) -> str:
    """The text with the edits of an action, by the positions of the protocol."""
    edit = action.edit
    edits = [one for change in edit.document_changes for one in change.edits] if edit.document_changes else next(iter(edit.changes.values()))
    document = TextDocument("file:///x.py", source=text, version=1, position_codec=PositionCodec(encoding))
    found = sorted(((document.offset_at_position(one.range.start), document.offset_at_position(one.range.end), one.new_text) for one in edits), reverse=True)
    for start, end, new in found:
        text = text[:start] + new + text[end:]
    return text
