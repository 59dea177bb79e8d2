//! Environment variables of the user. The crate `run` sets the variables of a run; `wire` documents names that start with `OOMPH_`.

pub(crate) use wire::variable::CACHE_DIR;

/// The folder of user caches (XDG base directories).
pub(crate) const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";
/// The user's home.
pub(crate) const HOME: &str = "HOME";
/// The active virtual environment.
pub(crate) const VIRTUAL_ENV: &str = "VIRTUAL_ENV";
/// The active Conda environment.
pub(crate) const CONDA_PREFIX: &str = "CONDA_PREFIX";
/// The folders of programs.
pub(crate) const PATH: &str = "PATH";

/// Reads a variable; unset and empty are the same.
pub(crate) fn get(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The GPUs of this machine that CUDA shows. A dry run has GPUs of its own.
const CUDA_VISIBLE_DEVICES: &str = "CUDA_VISIBLE_DEVICES";

/// The first GPU that CUDA shows to a program: a number, or an identity. Without a choice it is the first of the machine; empty if all are hidden.
pub fn first_visible_gpu() -> String {
    let visible = std::env::var(CUDA_VISIBLE_DEVICES).unwrap_or_else(|_| "0".to_owned());
    visible.split(',').next().unwrap_or_default().trim().to_owned()
}

/// A sentence for a user whose environment hides every GPU, from which a dry run differs.
pub fn describe_hidden_gpus() -> Option<String> {
    let value = std::env::var(CUDA_VISIBLE_DEVICES).ok()?;
    let shown = match value.trim() {
        "" => "is empty".to_owned(),
        hiding if hiding.starts_with('-') => format!("is `{hiding}`"),
        _ => return None,
    };
    Some(format!(
        "{CUDA_VISIBLE_DEVICES} {shown} in the environment, so outside of oomph the program sees no GPU; here it was run with a GPU"
    ))
}
