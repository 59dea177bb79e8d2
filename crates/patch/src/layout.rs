//! The layout of the file, and edits that keep to the layout: whole lines with its indentation and line endings.

use crate::edit::Edit;
use crate::source::{Source, TokenClass};
use crate::syntax::{Kind, Node, Span};
use crate::why::Why;

/// The line break of the file: its first.
pub(crate) fn line_break(source: &Source<'_>) -> &'static str {
    let first = source.text.find(['\n', '\r']).and_then(|at| source.text.get(at..));
    match first {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// The indentation of a statement; refused if other code stands before the statement on the line.
pub(crate) fn indent<'a>(source: &Source<'a>, statement: &Node) -> Result<&'a str, Why> {
    let start = source.lines.start(statement.span.start);
    let before = source.slice(Span::new(start, statement.span.start)).trim_start_matches('\u{feff}');
    let previous = source.token_before(statement.span.start).map(|token| token.class);
    let begins = matches!(previous, None | Some(TokenClass::Newline));
    if begins && before.chars().all(char::is_whitespace) {
        Ok(before)
    } else {
        Err(Why::SharedLine(source.lines.line_at(statement.span.start)))
    }
}

/// Refuses a statement with a later statement on the same line.
pub(crate) fn ends_line(source: &Source<'_>, statement: &Node) -> Result<(), Why> {
    match source.token_after(statement.span.end).map(|token| token.class) {
        None | Some(TokenClass::Newline | TokenClass::Comment) => Ok(()),
        _ => Err(Why::SharedLine(source.lines.line_at(statement.span.end))),
    }
}

/// One level of indentation, as in the first body of the file.
pub(crate) fn unit(source: &Source<'_>) -> String {
    let units = source.root.walk().filter(|node| node.is_statement()).filter_map(|outer| {
        let inner = outer.body()?.children.first()?;
        let (inner, outer) = (indent(source, inner).ok()?, indent(source, outer).ok()?);
        inner.strip_prefix(outer).filter(|unit| !unit.is_empty())
    });
    units.into_iter().next().unwrap_or("    ").to_owned()
}

/// `lines` before a statement, indented as it is.
pub(crate) fn before(source: &Source<'_>, statement: &Node, lines: &[String]) -> Result<Edit, Why> {
    let indent = indent(source, statement)?;
    let text: Vec<String> = lines.iter().map(|line| indented(indent, line)).collect();
    let line_break = line_break(source);
    Ok(Edit::insert(statement.span.start - indent.len(), format!("{}{line_break}", text.join(line_break))))
}

/// `lines` after a statement, indented as it is.
pub(crate) fn after(source: &Source<'_>, statement: &Node, lines: &[String]) -> Result<Edit, Why> {
    let indent = indent(source, statement)?;
    ends_line(source, statement)?;
    let text: Vec<String> = lines.iter().map(|line| indented(indent, line)).collect();
    let end = source.lines.next(statement.span.end);
    Ok(Edit::insert(end, joined(source, end, &text)))
}

/// Lines to insert at `end`, the end of a line that may be the last and lack its line break.
fn joined(source: &Source<'_>, end: usize, lines: &[String]) -> String {
    let line_break = line_break(source);
    let text = lines.join(line_break);
    if source.text.get(..end).is_some_and(|text| text.ends_with(['\n', '\r'])) {
        format!("{text}{line_break}")
    } else {
        format!("{line_break}{text}")
    }
}

fn indented(indent: &str, line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("{indent}{line}") }
}

/// The statements from `first` to `last` of one body, put under `header`.
pub(crate) fn wrap(source: &Source<'_>, first: &Node, last: &Node, header: &str) -> Result<Vec<Edit>, Why> {
    ends_line(source, last)?;
    let mut edits = vec![before(source, first, &[header.to_owned()])?];
    edits.extend(deepen(source, Span::new(first.span.start, last.span.end)));
    Ok(edits)
}

/// One more level of indentation for all lines of a span, strings that go on over lines excepted.
fn deepen(source: &Source<'_>, span: Span) -> Vec<Edit> {
    let unit = unit(source);
    let lines = source.lines.line_at(span.start)..=source.lines.line_at(span.end);
    let starts = lines.map(|line| source.lines.span(line)).filter(|line| !source.slice(*line).trim().is_empty());
    let starts = starts.map(|line| line.start + if source.slice(line).starts_with('\u{feff}') { 3 } else { 0 });
    starts.filter(|start| !source.is_in_text(*start)).map(|start| Edit::insert(start, unit.clone())).collect()
}

/// The lines of a statement, taken out with the comment at their end.
pub(crate) fn remove(source: &Source<'_>, statement: &Node) -> Result<Edit, Why> {
    let indent = indent(source, statement)?;
    ends_line(source, statement)?;
    Ok(Edit::delete(Span::new(statement.span.start - indent.len(), source.lines.next(statement.span.end))))
}

/// `text` as the last argument of a call, laid out as the others are.
pub(crate) fn argument(source: &Source<'_>, call: &Node, text: &str) -> Result<Edit, Why> {
    let close = call.span.end.saturating_sub(1);
    let unclear = || Why::Unfit("the call does not end in a bracket".to_owned());
    let last = source
        .token_before(close)
        .filter(|_| source.slice(Span::new(close, call.span.end)) == ")")
        .ok_or_else(unclear)?;
    let (is_first, has_comma) = (source.slice(last.span) == "(", source.slice(last.span) == ",");
    let line = source.lines.start(close);
    let on_own_line = has_comma && source.slice(Span::new(line, close)).trim().is_empty() && last.span.end <= line;
    if on_own_line && !source.is_in_text(line) {
        let indent = argument_indent(source, call, line);
        return Ok(Edit::insert(line, format!("{indent}{text},{}", line_break(source))));
    }
    let separator = if is_first {
        ""
    } else if has_comma {
        " "
    } else {
        ", "
    };
    Ok(Edit::insert(last.span.end, format!("{separator}{text}")))
}

/// The indentation of the last argument's line.
fn argument_indent<'a>(source: &Source<'a>, call: &Node, close: usize) -> &'a str {
    let start = call.arguments().last().map_or(close, |argument| source.lines.start(argument.span.start));
    let line = source.slice(source.lines.span(source.lines.line_at(start)));
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

/// The keyword of a call with another value, or added.
pub(crate) fn keyword(source: &Source<'_>, call: &Node, name: &str, value: &str) -> Result<Vec<Edit>, Why> {
    let line = source.lines.line_at(call.span.start);
    match call.keyword(name) {
        Some(keyword) if keyword.value().is_some_and(|old| source.slice(old.span) == value) => Ok(Vec::new()),
        Some(keyword) => Ok(vec![Edit::replace(keyword.span, format!("{name}={value}"))]),
        None if call.has_unpacked() => Err(Why::Unpacked(line, name.to_owned())),
        None => Ok(vec![argument(source, call, &format!("{name}={value}"))?]),
    }
}

/// Removes a keyword of a call, with the comma beside the keyword.
pub(crate) fn drop_keyword(source: &Source<'_>, call: &Node, name: &str) -> Option<Edit> {
    let keyword = call.keyword(name)?;
    let index = call.arguments().iter().position(|argument| argument.span == keyword.span)?;
    let previous = index.checked_sub(1).and_then(|index| call.arguments().get(index));
    let next = call.arguments().get(index + 1);
    Some(Edit::delete(match (previous, next) {
        (_, Some(next)) => Span::new(keyword.span.start, next.span.start),
        (Some(_), None) => Span::new(source.token_before(keyword.span.start)?.span.start, keyword.span.end),
        (None, None) => keyword.span,
    }))
}

/// True if a statement of the module is its docstring or an import from `__future__`, which must stay first.
fn stays_first(index: usize, statement: &Node) -> bool {
    match &statement.kind {
        Kind::Expression => index == 0 && matches!(statement.children.first(), Some(Node { kind: Kind::Text(_), .. })),
        Kind::Import(bindings) => bindings.iter().any(|binding| binding.path.starts_with("__future__.")),
        _ => false,
    }
}

/// The statements of the module after its docstring and `__future__` imports.
pub(crate) fn after_prologue<'a>(source: &'a Source<'_>) -> &'a [Node] {
    let statements = &source.root.children;
    let first = statements.iter().enumerate().take_while(|(index, statement)| stays_first(*index, statement)).count();
    statements.get(first..).unwrap_or_default()
}

/// Inserts a line after the last of the imports with which the module begins.
pub(crate) fn import(source: &Source<'_>, line: &str) -> Result<Edit, Why> {
    after_imports(source, &[line.to_owned()])
}

/// Lines after the last of the imports with which the module begins.
pub(crate) fn after_imports(source: &Source<'_>, lines: &[String]) -> Result<Edit, Why> {
    let rest = after_prologue(source);
    let imports = rest.iter().take_while(|statement| matches!(statement.kind, Kind::Import(_)));
    match (imports.last(), rest.first()) {
        (Some(last), _) => after(source, last, lines),
        (None, Some(first)) => before(source, first, lines),
        (None, None) => Err(Why::Unfit("the file has no statement".to_owned())),
    }
}
