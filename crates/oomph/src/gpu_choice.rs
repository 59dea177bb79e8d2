//! Chooses the GPU: the user's choice, this machine's GPU, or a common model.

use std::fs;

use base::SetupError;
use gpus::{Field, Profile, Provenance};
use report::Assumption;
use trace::Bytes;

use crate::args::GpuOptions;
use crate::error::Error;
use crate::output;

/// The assumed GPU if the user names none and the machine has no known GPU.
const DEFAULT: &str = "rtx-4090";

/// A GPU, with the memory set by the user.
pub(crate) struct GpuChoice {
    pub(crate) profile: Profile,
    /// True if the user named no GPU.
    pub(crate) is_assumed: bool,
}

/// Chooses the GPU for `--gpu` and `--vram`.
pub(crate) fn choose(options: &GpuOptions) -> Result<GpuChoice, Error> {
    let found = match &options.gpu {
        Some(name) => find(name)?,
        None => gpus::find(&of_this_machine().unwrap_or_else(|| DEFAULT.to_owned()))?,
    };
    Ok(GpuChoice { profile: with_memory(found, options.vram)?, is_assumed: options.gpu.is_none() })
}

/// Finds a GPU by name; a note on standard error lists the variants that a short name passes over.
pub(crate) fn find(name: &str) -> Result<&'static Profile, Error> {
    let found = gpus::lookup(name)?;
    if !found.passed_over.is_empty() {
        let (taken, others) = (&found.profile.name, found.passed_over.join(", "));
        output::say(&format!("note: `{name}` is taken as {taken}; other GPUs of this name: {others}"));
    }
    Ok(found.profile)
}

fn with_memory(profile: &Profile, vram: Option<Bytes>) -> Result<Profile, Error> {
    match vram {
        Some(vram) if vram <= profile.context_bytes => {
            Err(Error::from(SetupError::TooLittleMemory { vram, context: profile.context_bytes }))
        }
        Some(vram) => Ok(profile.with_total(vram)),
        None => Ok(profile.clone()),
    }
}

/// The first GPU in the list of this machine's driver, if oomph knows the model.
fn of_this_machine() -> Option<String> {
    let folders = fs::read_dir("/proc/driver/nvidia/gpus").ok()?;
    let mut folders: Vec<_> = folders.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let text = fs::read_to_string(folders.first()?.join("information")).ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("Model:"))?.trim().to_owned();
    gpus::find(&name).is_ok().then_some(name)
}

/// Lists the estimated figures of a GPU, which count against "fits". Published context sizes are estimates too:
/// programs load different kernels.
pub(crate) fn list_assumptions(profile: &Profile) -> impl Iterator<Item = Assumption> + '_ {
    let figures = [
        (Field::TotalBytes, "gpu-memory", "the GPU's memory", profile.total_bytes),
        (Field::ContextBytes, "cuda-context", "what the CUDA context takes", profile.context_bytes),
    ];
    figures.into_iter().filter_map(|(field, id, what, bytes)| {
        let (provenance, source) = profile.provenance(field);
        let how = match provenance {
            Provenance::Estimated => "estimated",
            Provenance::Published if field == Field::ContextBytes => "taken from what others published",
            Provenance::Published | Provenance::Measured | Provenance::Given => return None,
        };
        Some(Assumption { id: id.to_owned(), text: format!("{what} is {how}: {source}"), bytes })
    })
}
