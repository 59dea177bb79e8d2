//! The owner of a source file, decided by its path: the user, an installed package, Python, a code generator, oomph.
//!
//! The agent decides in `python/oomph/agent/process/frames.py`. Both are tested with `tests/user_files.json`; the agent also knows
//! the folders of its interpreter and of PyTorch, and does not know the script's folder.

use std::borrow::Cow;

/// Files of PyTorch in a folder `torch`: a build of one's own lies in its source tree, outside of all installed packages.
const PYTORCH: [&str; 23] = [
    "_compile.py",
    "_dynamo/",
    "_functorch/",
    "_inductor/",
    "_ops.py",
    "_tensor.py",
    "amp/autocast_mode.py",
    "amp/grad_scaler.py",
    "autograd/function.py",
    "autograd/grad_mode.py",
    "autograd/graph.py",
    "distributed/fsdp/",
    "functional.py",
    "nn/functional.py",
    "nn/modules/",
    "nn/parallel/",
    "nn/utils/",
    "optim/adam.py",
    "optim/adamw.py",
    "optim/optimizer.py",
    "optim/sgd.py",
    "utils/_contextlib.py",
    "utils/checkpoint.py",
];

/// Tests that a file belongs to the user's code, for a script in the folder `script_dir`.
///
/// A script may lie among installed packages (`python -m package`); its own folder is then user code all the same. An
/// environment inside the script's folder is not. Without a script, `script_dir` is empty. Cells of a notebook are user
/// code; other names in angle brackets, such as `<string>`, are not.
pub fn is_user_file(file: &str, script_dir: &str) -> bool {
    let (file, script_dir) = (&*with_slashes(file), &*with_slashes(script_dir));
    let inside = file.strip_prefix(script_dir).filter(|_| !script_dir.is_empty());
    let path = inside.filter(|rest| rest.starts_with('/')).unwrap_or(file);
    let is_source = !path.is_empty() && (!path.starts_with('<') || path.starts_with("<ipython-input-"));
    is_source && !is_installed(path) && !is_generated(path) && !is_agent(path)
}

/// Tests that a file belongs to an installed package or to Python itself.
pub fn is_installed(file: &str) -> bool {
    let file = &*with_slashes(file);
    let is_package = ["/site-packages/", "/dist-packages/"].iter().any(|folder| file.contains(folder));
    let is_python = || ["/lib/python3", "/lib64/python3"].iter().any(|folder| has_version_after(file, folder));
    is_package || is_python() || is_pytorch(file) || is_windows_python(file)
}

/// Returns a path of Windows with slashes; any other path stays as it is.
pub fn with_slashes(file: &str) -> Cow<'_, str> {
    if has_drive(file) { Cow::Owned(file.replace('\\', "/")) } else { Cow::Borrowed(file) }
}

fn has_drive(file: &str) -> bool {
    matches!(file.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
}

/// Tests for the library of a Python of Windows: `C:/…/Python310/lib/runpy.py`, and those of Anaconda and its environments.
fn is_windows_python(file: &str) -> bool {
    let names: Vec<String> = file.split('/').map(str::to_ascii_lowercase).collect();
    let is_version =
        |name: &str| name.strip_prefix("python").is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_digit()));
    let is_python = |at: usize| {
        let of_environment = at.checked_sub(1).is_some_and(|above| names[above] == "envs");
        of_environment || is_version(&names[at]) || names[at].contains("conda") || names[at].contains("miniforge")
    };
    has_drive(file) && (1..names.len()).any(|at| names[at] == "lib" && is_python(at - 1))
}

fn is_pytorch(file: &str) -> bool {
    file.split("/torch/").skip(1).any(|rest| PYTORCH.iter().any(|own| rest.starts_with(own)))
}

/// Tests for the folder of a version, such as the `.11/` of `/usr/lib/python3.11/`, `.13t/`, or `/`.
fn has_version_after(file: &str, folder: &str) -> bool {
    file.split(folder).skip(1).any(|rest| {
        let rest = rest.strip_prefix('.').map_or(rest, |minor| minor.trim_start_matches(|c: char| c.is_ascii_digit()));
        rest.strip_prefix('t').unwrap_or(rest).starts_with('/')
    })
}

/// Tests that a library wrote the source file at run time, by its name.
///
/// `torch.compile`: 52 digits of base 32 that begin with `c`, in a folder named by the next two (`code_hash` and
/// `get_path` of `torch/_inductor/codecache.py`, 2.0 and later). PyTorch Geometric: `…_propagate_` or `…_edge_updater_`
/// and eight characters of `tempfile`'s (`module_from_template` and `MessagePassing`, 2.6 and later).
pub fn is_generated(file: &str) -> bool {
    let mut parts = file.rsplit(['/', '\\']);
    let (Some(name), Some(folder)) = (parts.next(), parts.next()) else {
        return false;
    };
    let stem = name.strip_suffix(".py").unwrap_or_default();
    is_compiled(stem, folder) || is_message_passing(stem)
}

fn is_compiled(stem: &str, folder: &str) -> bool {
    let is_digit = |digit: u8| matches!(digit, b'a'..=b'z' | b'2'..=b'7');
    stem.len() == 52 && stem.bytes().all(is_digit) && stem.starts_with('c') && stem.get(1..3) == Some(folder)
}

fn is_message_passing(stem: &str) -> bool {
    let named = stem.len().checked_sub(8).and_then(|end| stem.get(..end)).unwrap_or_default();
    named.ends_with("_propagate_") || named.ends_with("_edge_updater_")
}

/// Tests for a file of oomph's agent, whose wrappers are in the stack between the user's code and PyTorch's.
pub fn is_agent(file: &str) -> bool {
    file.ends_with("/sitecustomize.py") || file.contains("/_oomph_agent/") || file.contains("/oomph/agent/")
}
