//! A file that a generator writes, or a part of one.

use crate::error::GenerateError;

/// A generated file, or the generated part of a file that is otherwise written by hand.
///
/// A part lies between two lines of comment, `make generate: NAME` and `end: NAME`.
pub(crate) struct Output {
    /// The path from the workspace.
    pub(crate) path: &'static str,
    part: Option<&'static str>,
    text: String,
}

impl Output {
    /// A whole file.
    pub(crate) fn file(path: &'static str, text: String) -> Output {
        Output { path, part: None, text }
    }

    /// The part `name` of a file.
    pub(crate) fn part(path: &'static str, name: &'static str, text: String) -> Output {
        Output { path, part: Some(name), text }
    }

    /// Returns the expected text of the file, from its present text.
    pub(crate) fn apply(&self, current: &str) -> Result<String, GenerateError> {
        let Some(name) = self.part else { return Ok(self.text.clone()) };
        let start = self.find(current, 0, &format!("make generate: {name}"))?.end;
        let end = self.find(current, start, &format!("end: {name}"))?.start;
        Ok(format!("{}{}{}", &current[..start], self.text, &current[end..]))
    }

    /// Finds the line of a mark at `from` or later, as a range of bytes.
    fn find(&self, text: &str, from: usize, mark: &str) -> Result<std::ops::Range<usize>, GenerateError> {
        let mut start = from;
        for line in text[from..].split_inclusive('\n') {
            if is_mark(line, mark) {
                return Ok(start..start + line.len());
            }
            start += line.len();
        }
        Err(GenerateError::NoMark { path: self.path, mark: mark.to_owned() })
    }
}

/// Checks that a line is `mark` as a comment of Rust, Python or Markdown.
fn is_mark(line: &str, mark: &str) -> bool {
    let line = line.trim();
    let comment = ["// ", "# ", "<!-- "].iter().find_map(|sign| line.strip_prefix(sign));
    comment.is_some_and(|text| text.trim_end_matches(" -->") == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(current: &str, expected: Result<&str, &str>) {
        let output = Output::part("a.rs", "list", "new\n".to_owned());
        let found = output.apply(current).map_err(|error| error.to_string());
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{current}");
    }

    #[test]
    fn only_the_part_between_its_marks_changes() {
        check(
            "a\n// make generate: list\nold\n// end: list\nb\n",
            Ok("a\n// make generate: list\nnew\n// end: list\nb\n"),
        );
        check(
            "<!-- make generate: lists -->\n<!-- end: lists -->\n<!-- make generate: list -->\n<!-- end: list -->",
            Ok(
                "<!-- make generate: lists -->\n<!-- end: lists -->\n<!-- make generate: list -->\nnew\n<!-- end: list -->",
            ),
        );
    }

    #[test]
    fn a_missing_mark_is_an_error() {
        check("a\n", Err("a.rs: expected a line `make generate: list`"));
        check("// end: list\n// make generate: list\n", Err("a.rs: expected a line `end: list`"));
    }

    #[test]
    fn a_whole_file_needs_no_marks() {
        assert_eq!(Output::file("a", "new".to_owned()).apply("old").ok().as_deref(), Some("new"));
    }
}
