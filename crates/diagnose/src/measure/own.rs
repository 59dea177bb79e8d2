//! Distinguishes the user's source files and frames from libraries'.

use std::path::Path;

use trace::Frame;
pub(crate) use trace::source_file::{is_agent, is_user_file as is_own};

use super::paths::{in_torch, posix};

/// Checks that a frame is Python's. `_record_memory_history()` records C++ frames between Python frames unless called
/// with `stacks="python"` (`torch/csrc/cuda/memory_snapshot.cpp`, 2.1 and later); C++ frames have no line, or a line
/// of a C++ or assembler source.
pub(crate) fn is_python(frame: &Frame) -> bool {
    let is_source = match Path::new(&frame.file).extension() {
        Some(extension) => {
            let is_cell = extension.to_str().is_some_and(|extension| extension.starts_with("ipynb:cell "));
            extension == "py" || extension == "pyw" || extension == "pyx" || is_cell || frame.file.starts_with('<')
        }
        // A script. Headers of the C++ standard library have no extension either.
        None => !frame.file.contains("/include/"),
    };
    frame.line > 0 && is_source
}

/// True for the script that an installer writes for a command of a package, such as `bin/yolo`: its line says nothing of the program.
pub(crate) fn is_entry_point(frame: &Frame) -> bool {
    let is_command = frame
        .file
        .rsplit_once('/')
        .is_some_and(|(folder, name)| (folder.ends_with("/bin") || folder == "bin") && !name.contains('.'));
    is_command && frame.function == "<module>"
}

/// Checks that a frame is PyTorch's call of a module.
pub(crate) fn calls_module(frame: &Frame) -> bool {
    frame.function == "_call_impl" && in_torch(&posix(&frame.file)) == Some("nn/modules/module.py")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_packages_are_entry_points() {
        let cases = [
            ("/venv/bin/yolo", "<module>", true),
            ("/venv/bin/yolo", "main", false),
            ("/home/ann/bin/train.py", "<module>", false),
            ("/home/ann/train", "<module>", false),
        ];
        for (file, function, expected) in cases {
            let frame = Frame { function: function.to_owned(), file: file.to_owned(), line: 8 };
            assert_eq!(is_entry_point(&frame), expected, "{file} {function}");
        }
    }

    #[test]
    fn frames_of_python_and_of_cpp() {
        let cases = [
            ("/home/ann/train.py", 3, true),
            ("<string>", 1, true),
            ("/home/ann/train.ipynb:cell 3", 1, true),
            ("/home/ann/bin/train", 9, true),
            ("<frozen importlib._bootstrap>", 1, true),
            ("/usr/include/c++/13/functional", 59, false),
            ("../sysdeps/unix/sysv/linux/x86_64/clone3.S", 81, false),
            ("??", 0, false),
            ("", 0, false),
            ("thread48.o", 0, false),
            ("/usr/bin/python3.11", 0, false),
            ("/pytorch/c10/cuda/CUDACachingAllocator.cpp", 1438, false),
        ];
        for (file, line, expected) in cases {
            let frame = Frame { function: "f".to_owned(), file: file.to_owned(), line };
            assert_eq!(is_python(&frame), expected, "{file}:{line}");
        }
    }
}
