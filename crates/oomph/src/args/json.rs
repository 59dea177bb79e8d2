//! The places where a program expects JSON, on any command line: clap's own errors come before its answers.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use report::render::Format;

use super::check::CheckForm;
use super::format::LintFormat;
use super::run::ReportKind;
use super::{define, format};

/// The places for a JSON object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonTargets {
    /// Set if the object is expected on standard output.
    pub(crate) is_on_stdout: bool,
    /// Set if `--agent` or `--format agent` is among the options.
    asks_for_agent: bool,
    /// Set if another format is.
    names_format: bool,
    /// The file of `--json-file`, or of `--report`.
    pub(crate) file: Option<PathBuf>,
}

/// Returns the name of the command, if it is one of oomph's.
pub(crate) fn find_command(line: &[OsString]) -> Option<String> {
    Some(define().find_subcommand(line.get(1)?)?.get_name().to_owned())
}

/// Finds the places that the options of a command line name, oomph's own name first. The words of a program are not oomph's.
pub(crate) fn find_json(line: &[OsString]) -> JsonTargets {
    let (all, mut targets) = (define(), JsonTargets::default());
    let command = line.get(1).and_then(|name| all.find_subcommand(name)).unwrap_or(&all);
    let is_run = command.get_name() == super::run::RUN;
    // The answer of this command is for a program alone.
    targets.is_on_stdout = command.get_name() == super::run::RECORD_INTO;
    let mut words = line.iter().skip(1 + usize::from(command.get_name() != all.get_name()));
    // With a program, clap takes an unknown option for the program's first word, and most such options are misspelt.
    let mut is_ours = true;
    let (mut reports, mut format) = (Vec::new(), None);
    while let Some(word) = words.next() {
        let Some(option) = Written::of(word) else {
            if has_program(command) {
                break;
            }
            continue;
        };
        if option.name == "--" {
            break;
        }
        let found = option.find(command);
        is_ours &= found.is_some() || !has_program(command);
        let value = match option.value {
            None if found.is_some_and(takes_next_word) => words.next().cloned(),
            value => value,
        };
        match option.name.as_str() {
            "--report" if is_ours => reports.extend(value.map(PathBuf::from)),
            "--format" if is_run => format = value.and_then(|name| format::named(name.to_str()?)),
            "--agent" => targets.asks_for_agent = true,
            "--json" => targets.is_on_stdout = true,
            "--format" | "--output-format" => match value.as_deref().and_then(OsStr::to_str) {
                Some("json") => targets.is_on_stdout = true,
                Some("agent") => targets.asks_for_agent = true,
                _ => targets.names_format = true,
            },
            "--json-file" if is_ours => targets.file = value.map(PathBuf::from).or(targets.file),
            _ => {}
        }
    }
    let is_json = |path: &PathBuf| match command.get_name() {
        super::run::RUN => ReportKind::of(path, format) == ReportKind::Text(Format::Json),
        super::lint::LINT => LintFormat::of_file(path) == LintFormat::Common(Format::Json),
        _ => CheckForm::of(path) == CheckForm::Common(ReportKind::Text(Format::Json)),
    };
    targets.file = reports.into_iter().find(is_json).or(targets.file);
    targets
}

/// True if the options ask for the answer of a coding agent.
pub(crate) fn asks_for_agent(line: &[OsString]) -> bool {
    find_json(line).asks_for_agent
}

impl JsonTargets {
    /// True if an answer on standard output is the object of a coding agent: no other format is named.
    pub(crate) fn is_for_agent(&self) -> bool {
        crate::audience::is_agent() && !self.is_on_stdout && !self.names_format
    }
}

/// True if the words from the first one without a dash on are a program's.
fn has_program(command: &clap::Command) -> bool {
    command.get_positionals().any(clap::Arg::is_trailing_var_arg_set)
}

/// An option as written.
struct Written {
    /// The name with its dashes; `--` alone for the end of the options.
    name: String,
    /// The value behind `=`.
    value: Option<OsString>,
}

impl Written {
    /// The option of a word; `None` for a word that is no option.
    fn of(word: &OsString) -> Option<Written> {
        let text = word.to_string_lossy();
        if !text.starts_with('-') || text == "-" {
            return None;
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (text.as_ref(), None),
        };
        Some(Written { name: name.to_owned(), value })
    }

    /// The definition of the option; `None` for an unknown one.
    fn find<'a>(&self, command: &'a clap::Command) -> Option<&'a clap::Arg> {
        command.get_arguments().find(|option| match self.name.strip_prefix("--") {
            Some(long) => {
                option.get_long() == Some(long) || option.get_all_aliases().unwrap_or_default().contains(&long)
            }
            None => self.name.strip_prefix('-').is_some_and(|short| option.get_short() == short.parse().ok()),
        })
    }
}

fn takes_next_word(option: &clap::Arg) -> bool {
    option.get_action().takes_values() && !option.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_among_the_options_of_oomph_alone() {
        let file = |name: &str| Some(PathBuf::from(name));
        let cases = [
            ("explain --json none.log", true, None),
            ("explain none.log --json", true, None),
            ("explain --format json none.log", true, None),
            ("explain --format=json none.log", true, None),
            ("lint --output-format json", true, None),
            ("explain --format concise none.log", false, None),
            ("check --gpu l4 --json train.py", true, None),
            ("check --gpu l4 train.py --json", false, None),
            ("check -v --json-file a.json train.py", false, file("a.json")),
            ("check --json-file=a.json --json train.py --json-file b.json", true, file("a.json")),
            ("check -- python --json", false, None),
            ("fit -j 2 --json train.py", true, None),
            ("check --nonsense --json train.py", true, None),
            ("check --nonsense --json-file train.json", false, None),
            ("top --once --json", true, None),
            ("record-into folder", true, None),
            ("nonsense --json", true, None),
            ("run --retry train.py --json", false, None),
            ("check --report a.xml --report b.md --report c.json train.py", false, file("c.json")),
            ("check --report a.xml train.py", false, None),
            ("lint --report a.sarif --report b.xml --report c.md", false, None),
            ("lint --report a.sarif --report b.json", false, file("b.json")),
            ("run --report a.json train.py", false, file("a.json")),
            ("run --report a.xml train.py", false, file("a.xml")),
            ("run --report a.html train.py", false, None),
            ("run --report=a --format json train.py --report b", false, file("a")),
            ("run --report a --format markdown train.py", false, None),
            ("", false, None),
        ];
        for (line, is_on_stdout, file) in cases {
            let words: Vec<OsString> = ["oomph"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
            let found = find_json(&words);
            assert_eq!((found.is_on_stdout, found.file), (is_on_stdout, file), "{line}");
        }
    }
}
