//! Joins the Python cells of a Jupyter notebook into one text.
//!
//! # Note [Cells]
//! "Run all" executes the cells from top to bottom in one module, so they are linted as one file, in order. Cells in another language
//! (`%%bash`) are left out. A line break separates two cells.
//!
//! # Note [Commands]
//! IPython's commands (`%time`, `!ls`, `x = !ls`, `x?`) are overwritten before parsing by text of the same length, so that offsets stay
//! valid. The parser's IPython mode is not used: version 0.0.10 panics on some invalid texts (an open bracket, then a line that begins with
//! a comma; found by fuzzing). Commands are recognised by line: formatters write no line of Python that begins with `%` and a letter, with
//! `!` or with `?`.

use serde_json::Value;

/// The position of a cell in the joined text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The number of the cell in the notebook, from 1.
    pub(crate) number: u32,
    /// The offset of the first byte.
    pub(crate) start: usize,
}

/// Returns the joined Python of a notebook, or the reason why the notebook is unreadable.
pub(crate) fn join(bytes: &[u8]) -> Result<(String, Vec<Cell>), String> {
    let notebook: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let cells = notebook.get("cells").and_then(Value::as_array).ok_or("no list `cells` at its top")?;
    let (mut text, mut places) = (String::new(), Vec::new());
    for (number, cell) in (1..).zip(cells) {
        let Some(source) = python_source(cell) else { continue };
        places.push(Cell { number, start: text.len() });
        text.push_str(&source);
        text.push('\n');
    }
    Ok((text, places))
}

/// Removes IPython's commands from a text: Note [Commands].
pub(crate) fn without_commands(text: &str) -> String {
    let (mut python, mut goes_on) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let is_rest = goes_on;
        let command = if is_rest { Some(0) } else { command(content) };
        goes_on = command.is_some() && content.ends_with('\\');
        match command {
            Some(at) => {
                python.push_str(&line[..at]);
                let first = if is_rest { "" } else { "0" };
                python.extend([first, &" ".repeat(content.len() - at - first.len()), &line[content.len()..]]);
            }
            None => python.push_str(line),
        }
    }
    python
}

/// Returns the offset at which a line's command begins.
fn command(line: &str) -> Option<usize> {
    let start = line.len() - line.trim_start().len();
    let rest = line.get(start..)?;
    let is_magic =
        |text: &str| text.starts_with('%') && text[1..].starts_with(|it: char| it == '%' || it.is_alphabetic());
    if is_magic(rest) || rest.starts_with(['!', '?']) || is_question(rest) {
        return Some(start);
    }
    let (before, value) = line.split_once("= ")?;
    let is_name = before.chars().all(|it| it.is_alphanumeric() || " _,".contains(it));
    (is_name && (is_magic(value) || value.starts_with('!'))).then(|| line.len() - value.len())
}

/// Checks whether a line is a call for help: `x?`, `torch.load??`.
fn is_question(line: &str) -> bool {
    line.ends_with('?') && line.trim_end_matches('?').chars().all(|it| it.is_alphanumeric() || " _.".contains(it))
}

/// Returns the source of a Python cell.
fn python_source(cell: &Value) -> Option<String> {
    if cell.get("cell_type")?.as_str()? != "code" {
        return None;
    }
    let source = match cell.get("source")? {
        Value::String(source) => source.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    match cell_magic(&source).map(str::to_owned) {
        None => Some(source),
        Some(magic) if RUNS_PYTHON.contains(&magic.as_str()) => Some(source.replacen("%%", "# ", 1)),
        Some(_) => None,
    }
}

/// Cell magics that run the cell as Python of the notebook.
const RUNS_PYTHON: [&str; 5] = ["time", "timeit", "capture", "prun", "debug"];

/// Returns the name of the magic that begins a cell.
fn cell_magic(source: &str) -> Option<&str> {
    source.trim_start().strip_prefix("%%")?.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_overwritten_in_place() {
        let cases = [
            ("%time f()\nx = 1\n", "0        \nx = 1\n"),
            ("    !pip install é\n", "    0              \n"),
            ("files = !ls -l\n", "files = 0     \n"),
            ("!ls \\\n  -l\nx\n", "0    \n    \nx\n"),
            ("torch.load??\r\n", "0           \r\n"),
            ("if x:\n    optimizer.zero_grad?\n", "if x:\n    0                   \n"),
            ("?torch", "0     "),
            ("y = a % b\n", "y = a % b\n"),
            ("z = (a\n    % b)\n", "z = (a\n    % b)\n"),
            ("print('x = !ls')\n", "print('x = !ls')\n"),
            ("# why?\n", "# why?\n"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(without_commands(text), expected, "{text:?}");
        }
    }
}
