//! The entry points of installed packages, such as `tune` and `litgpt`: short Python files that a command line starts by name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::python;

/// Launchers start processes of their own, which no fork server makes faster.
const LAUNCHERS: [&str; 4] = ["torchrun", "accelerate", "deepspeed", "ray"];

/// True if a program is an entry point, and no launcher: a text whose first line names a Python.
pub(crate) fn is_entry_point(program: &Path) -> bool {
    let Some(name) = program.file_name().and_then(|name| name.to_str()) else { return false };
    if LAUNCHERS.contains(&name) {
        return false;
    }
    let file = if program.as_os_str() == name { python::on_path(name) } else { Some(program.to_owned()) };
    let mut head = [0; 256];
    let read = file.and_then(|file| File::open(file).ok()).and_then(|mut file| file.read(&mut head).ok());
    names_python(&head[..read.unwrap_or_default()])
}

/// True if the first line of a file names a Python as the interpreter.
fn names_python(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let interpreter = line.strip_prefix(b"#!").map(String::from_utf8_lossy).unwrap_or_default();
    interpreter.trim().rsplit(['/', ' ']).next().is_some_and(|name| name.starts_with("python"))
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
