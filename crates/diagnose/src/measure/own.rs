//! Which source files are the user's own, and which are libraries'.

use std::path::Path;

use trace::stack::is_installed;

/// Whether `file` is the user's own code, for a script that lies in `script_dir`.
///
/// A script may itself lie among the libraries (`python -m package`); then its folder is its own all the same. An
/// environment inside the script's folder is not.
pub(crate) fn is_own(file: &str, script_dir: &str) -> bool {
    let inside = file.strip_prefix(script_dir).filter(|_| !script_dir.is_empty());
    let path = inside.filter(|rest| rest.starts_with('/')).unwrap_or(file);
    !path.starts_with('<') && !is_native(path) && !is_installed(path) && !is_agent(path)
}

/// Whether a frame's file is none of Python's: a source of C++, a library, `??` or nothing. `_record_memory_history()` records
/// such frames between Python's unless `stacks="python"` is said (`torch/csrc/cuda/memory_snapshot.cpp`, 2.1 and later).
pub(crate) fn is_native(file: &str) -> bool {
    const EXTENSIONS: [&str; 9] = ["c", "cc", "cpp", "cxx", "cu", "cuh", "h", "hpp", "so"];
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    matches!(file, "" | "??")
        || extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
        || file.contains(".so.")
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
            ("/tmp/x/oomph/agent/steps.py", "/home/ann/gpt", false),
            ("", "", false),
            ("??", "", false),
            ("CUDACachingAllocator.cpp", "", false),
            ("/opt/cuda/lib/libcudart.so.13", "", false),
            ("/home/ann/bin/train", "", true),
        ];
        for (file, script_dir, own) in cases {
            assert_eq!(is_own(file, script_dir), own, "{file}");
        }
    }
}
