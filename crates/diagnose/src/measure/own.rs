//! Which source files are the user's own, and which are libraries'.

use std::path::Path;

use trace::Frame;
use trace::stack::{is_generated, is_installed};

/// Whether `file` is the user's own code, for a script that lies in `script_dir`.
///
/// A script may itself lie among the libraries (`python -m package`); then its folder is its own all the same. An
/// environment inside the script's folder is not.
pub(crate) fn is_own(file: &str, script_dir: &str) -> bool {
    let inside = file.strip_prefix(script_dir).filter(|_| !script_dir.is_empty());
    let path = inside.filter(|rest| rest.starts_with('/')).unwrap_or(file);
    !path.starts_with('<') && !path.is_empty() && !is_installed(path) && !is_generated(path) && !is_agent(path)
}

/// Whether a frame is Python's. `_record_memory_history()` records those of C++ between them unless `stacks="python"` is said
/// (`torch/csrc/cuda/memory_snapshot.cpp`, 2.1 and later); they have no line, or one in a source of C++ or assembler.
pub(crate) fn is_python(frame: &Frame) -> bool {
    let is_source = match Path::new(&frame.file).extension() {
        Some(extension) => extension == "py" || extension == "pyw" || extension == "pyx" || frame.file.starts_with('<'),
        // A script; the headers of C++'s own library have no extension either.
        None => !frame.file.contains("/include/"),
    };
    frame.line > 0 && is_source
}

/// oomph's own agent, whose wrappers stand between the user's code and PyTorch's.
pub(crate) fn is_agent(file: &str) -> bool {
    file.ends_with("/sitecustomize.py") || file.contains("/_oomph_agent/") || file.contains("/oomph/agent/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_files() {
        let cases = [
            ("/home/ann/gpt/train.py", "/home/ann/gpt", true),
            ("/home/ann/lib/model.py", "/home/ann/gpt", true),
            ("train.py", "/home/ann/gpt", true),
            ("/home/ann/gpt/.venv/lib/python3.11/site-packages/torch/nn/f.py", "/home/ann/gpt", false),
            ("/v/lib/python3.11/site-packages/torch/nn/f.py", "/home/ann/gpt", false),
            ("/v/lib/python3.11/site-packages/tool/__main__.py", "/v/lib/python3.11/site-packages/tool", true),
            ("/usr/lib/python3.11/runpy.py", "/home/ann/gpt", false),
            ("<frozen runpy>", "/home/ann/gpt", false),
            ("/tmp/i/24/c2432jyt6wwchfp4x4s5cfdasxrcs5jwuseulwca6su35buatfcx.py", "/home/ann/gpt", false),
            ("/tmp/torch_geometric.nn.conv.gat_conv_GATConv_propagate_6hb1zwx2.py", "/home/ann/gpt", false),
            ("/tmp/i/42/c2432jyt6wwchfp4x4s5cfdasxrcs5jwuseulwca6su35buatfcx.py", "/home/ann/gpt", true),
            ("/tmp/x/oomph/agent/steps.py", "/home/ann/gpt", false),
            ("", "", false),
        ];
        for (file, script_dir, own) in cases {
            assert_eq!(is_own(file, script_dir), own, "{file}");
        }
    }

    #[test]
    fn frames_of_python_and_of_cpp() {
        let cases = [
            ("/home/ann/train.py", 3, true),
            ("<string>", 1, true),
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
