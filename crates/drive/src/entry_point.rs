//! The entry points of installed packages, such as `tune` and `litgpt`: short Python files that a command line starts by name.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::python;

/// Launchers start processes of their own, which no fork server makes faster.
const LAUNCHERS: [&str; 4] = ["torchrun", "accelerate", "deepspeed", "ray"];

/// True if a program is an entry point, and no launcher: a text whose first line names a Python.
pub(crate) fn is_entry_point(program: &Path) -> bool {
    let Some(name) = program.file_name().and_then(|name| name.to_str()) else { return false };
    if LAUNCHERS.contains(&name) {
        return false;
    }
    names_python(&read_head(program))
}

/// The Python of a command line: its first word, or the interpreter of an entry point or a launcher, such as `torchrun`; else the chosen Python.
pub(crate) fn find_python(command: &[OsString], named: Option<&Path>) -> PathBuf {
    let program = command.first().map(PathBuf::from).unwrap_or_default();
    if program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python")) {
        return program;
    }
    find_interpreter(&program).unwrap_or_else(|| python::choose(named))
}

/// The interpreter in the first line of a program; `None` if the line names no Python by its path.
fn find_interpreter(program: &Path) -> Option<PathBuf> {
    let head = read_head(program);
    let interpreter = PathBuf::from(read_interpreter(&head));
    (names_python(&head) && interpreter.is_file()).then_some(interpreter)
}

fn read_head(program: &Path) -> Vec<u8> {
    let name = program.file_name().unwrap_or_default();
    let file =
        if program.as_os_str() == name { python::on_path(&name.to_string_lossy()) } else { Some(program.to_owned()) };
    let mut head = vec![0; 256];
    let read = file.and_then(|file| File::open(file).ok()).and_then(|mut file| file.read(&mut head).ok());
    head.truncate(read.unwrap_or_default());
    head
}

/// True if the first line of a file names a Python as the interpreter.
fn names_python(head: &[u8]) -> bool {
    read_interpreter(head).rsplit(['/', ' ']).next().is_some_and(|name| name.starts_with("python"))
}

/// The words behind `#!`; empty without them.
fn read_interpreter(head: &[u8]) -> String {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.strip_prefix(b"#!").map(|rest| String::from_utf8_lossy(rest).trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_names_the_interpreter() {
        let check = |head: &str, expected: bool| assert_eq!(names_python(head.as_bytes()), expected, "{head}");
        check("#!/venv/bin/python3.11\nimport sys\n", true);
        check("#!/usr/bin/env python\n", true);
        check("#!/bin/sh\n'''exec' \"/a long path/python\" \"$0\" \"$@\"\n", false);
        check("#!/bin/bash\npython train.py\n", false);
        check("\u{7f}ELF", false);
        check("", false);
    }

    #[test]
    fn a_command_line_names_its_python() {
        let folder = tempfile::tempdir().expect("a folder");
        let launcher = folder.path().join("torchrun");
        std::fs::write(&launcher, "#!/proc/self/exe\n").expect("a file");
        let python = folder.path().join("python3.11");
        std::fs::write(&python, "").expect("a file");
        let entry = folder.path().join("tune");
        std::fs::write(&entry, format!("#!{}\n", python.display())).expect("a file");
        let named = Path::new("/chosen/python");
        let check = |program: &Path, expected: &Path| {
            assert_eq!(find_python(&[program.into()], Some(named)), expected, "{}", program.display());
        };
        check(&python, &python);
        check(&entry, &python);
        check(&launcher, named);
        check(Path::new("absent"), named);
    }

    #[test]
    fn a_launcher_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let check = |name: &str, expected: bool| {
            let file = folder.path().join(name);
            std::fs::write(&file, "#!/venv/bin/python\n").expect("a file");
            assert_eq!(is_entry_point(&file), expected, "{name}");
        };
        check("tune", true);
        check("torchrun", false);
        assert!(!is_entry_point(&folder.path().join("absent")));
    }
}
