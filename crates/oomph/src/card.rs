//! Which GPU is meant: the one that was named, this machine's, or a common one.

use std::fs;

use gpus::Profile;
use trace::Bytes;

use crate::error::Error;
use crate::{args, output};

/// The GPU that is assumed where none was named and the machine has none that is known.
const DEFAULT: &str = "rtx-4090";

/// A GPU with its memory as it is for this invocation.
pub(crate) struct Card {
    pub(crate) profile: Profile,
    /// Whether nobody named it.
    pub(crate) is_assumed: bool,
}

/// The card for `--gpu` and `--vram`.
pub(crate) fn choose(arguments: &args::Card) -> Result<Card, Error> {
    let found = match &arguments.gpu {
        Some(name) => find(name)?,
        None => gpus::find(&of_this_machine().unwrap_or_else(|| DEFAULT.to_owned()))?,
    };
    Ok(Card { profile: with_memory(found, arguments.vram)?, is_assumed: arguments.gpu.is_none() })
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
            Err(Error::TooLittleMemory { vram, context: profile.context_bytes })
        }
        Some(vram) => Ok(profile.with_total(vram)),
        None => Ok(profile.clone()),
    }
}

/// The first GPU that the driver of this machine lists, if it is one of those that are known.
fn of_this_machine() -> Option<String> {
    let folders = fs::read_dir("/proc/driver/nvidia/gpus").ok()?;
    let mut folders: Vec<_> = folders.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let text = fs::read_to_string(folders.first()?.join("information")).ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("Model:"))?.trim().to_owned();
    gpus::find(&name).is_ok().then_some(name)
}
