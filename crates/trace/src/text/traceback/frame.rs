//! One line of a traceback.

use crate::stack::Frame;

/// The location in a line of a traceback.
pub(super) enum FrameLine {
    /// A complete frame.
    At(Frame),
    /// A frame without its line, which an arrow below states (IPython up to 7).
    AtArrow(Frame),
    /// A frame without the beginning of its path, which is on the line above (rich breaks long paths).
    Broken(Frame),
    /// The current line of the function: `---> 12 loss.backward()`.
    Arrow(u32),
    /// No location.
    Nowhere,
}

/// The content of a line without the borders of a box and their blanks.
pub(super) fn without_border(line: &str) -> &str {
    line.trim_matches(|character: char| character.is_whitespace() || "│┃|╭╮╰╯─".contains(character))
}

/// Reads a line without borders; `below` is the line under it, for wrapped names.
pub(super) fn parse(content: &str, below: &str) -> FrameLine {
    let whole = python(content).or_else(|| ipython(content)).or_else(|| pytest(content));
    if let Some(frame) = whole {
        return FrameLine::At(frame);
    }
    if let Some(frame) = ipython_without_line(content) {
        return FrameLine::AtArrow(frame);
    }
    if let Some(number) = arrow(content) {
        return FrameLine::Arrow(number);
    }
    match rich(content, below) {
        Some(frame) if begins_a_path(&frame.file) => FrameLine::At(frame),
        Some(frame) => FrameLine::Broken(frame),
        None => FrameLine::Nowhere,
    }
}

/// Tests that a line without a location may be within a traceback: code, carets, borders, empty lines.
pub(super) fn is_of_traceback(line: &str) -> bool {
    let content = line.trim_start_matches(|character: char| !character.is_whitespace());
    let is_indented = line.starts_with([' ', '\t', '│', '|', '╭', '╰', '>']) || content.starts_with("   ");
    is_indented || line.trim().is_empty() || line.starts_with("---") || line.starts_with("E  ")
}

/// `File "train.py", line 12, in main`, after any prefix.
fn python(content: &str) -> Option<Frame> {
    let (_, rest) = content.split_once("File \"")?;
    let (file, rest) = rest.split_once('"')?;
    let (line, rest) = number(rest.strip_prefix(", line ")?)?;
    let function = rest.strip_prefix(", in ").unwrap_or_default();
    Some(frame(file, line, function.trim_end()))
}

/// `File ~/train.py:12, in main(x)`, `Cell In[3], line 2, in main(x)`, `Cell In[3], line 2`, `Input In [3], in <cell line: 2>()`.
fn ipython(content: &str) -> Option<Frame> {
    if let Some(rest) = content.strip_prefix("File ") {
        let (place, function) = rest.split_once(", in ")?;
        let (file, line) = place.rsplit_once(':')?;
        return Some(frame(file, line.parse().ok()?, without_arguments(function)));
    }
    let end = content.find(']').filter(|_| content.starts_with("Cell In[") || content.starts_with("Input In ["))? + 1;
    let (cell, rest) = content.split_at(end);
    let (place, function) = rest.split_once(", in ").unwrap_or((rest, "<module>"));
    let line =
        place.split_once("line ").or_else(|| function.split_once("<cell line: ")).and_then(|(_, line)| number(line));
    let function = without_arguments(function);
    Some(frame(cell, line.map_or(0, |(line, _)| line), function))
}

/// `<ipython-input-3-0123abcd> in main(x)`, `~/train.py in main(x)`.
fn ipython_without_line(content: &str) -> Option<Frame> {
    let (file, function) = content.split_once(" in ")?;
    let is_file = file.starts_with("<ipython-input") || (begins_a_path(file) && is_python(file));
    let is_one = is_file && (!function.contains(' ') || function.contains('('));
    is_one.then(|| frame(file, 0, without_arguments(function)))
}

/// `train.py:12: in main`.
fn pytest(content: &str) -> Option<Frame> {
    let (place, function) = content.split_once(": in ")?;
    let (file, line) = place.rsplit_once(':')?;
    let is_one = is_python(file) && !function.contains(' ');
    is_one.then_some(()).and_then(|()| Some(frame(file, line.parse().ok()?, function)))
}

/// `/home/me/train.py:12 in main`; a long name is on the line below.
fn rich(content: &str, below: &str) -> Option<Frame> {
    let (place, function) = match content.strip_suffix(" in") {
        Some(place) => (place, below),
        None => content.split_once(" in ")?,
    };
    let (file, line) = place.rsplit_once(':')?;
    let is_one = !function.is_empty() && !function.contains(' ') && !file.contains(' ');
    is_one.then_some(()).and_then(|()| Some(frame(file, line.parse().ok()?, function)))
}

/// `---> 12 loss.backward()`.
fn arrow(content: &str) -> Option<u32> {
    let rest = content.trim_start_matches('-').strip_prefix("> ").filter(|_| content.starts_with("--"))?;
    number(rest.trim_start()).map(|(line, _)| line)
}

fn is_python(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, ending)| ending == "py")
}

fn begins_a_path(file: &str) -> bool {
    let is_drive = file.as_bytes().get(1) == Some(&b':');
    file.starts_with(['/', '~', '<', '.', '\\']) || is_drive
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn without_arguments(function: &str) -> &str {
    let name = function.split('(').next().unwrap_or_default();
    name.trim_end()
}

fn frame(file: &str, line: u32, function: &str) -> Frame {
    Frame { function: function.to_owned(), file: file.to_owned(), line }
}
