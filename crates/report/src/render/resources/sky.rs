//! A task of SkyPilot. Of several accelerators SkyPilot takes the cheapest that is to be had.

use super::{comments, label};
use crate::resources::ResourceRequest;

pub(super) fn write(request: &ResourceRequest) -> Option<String> {
    let names = request.gpus.iter().filter_map(|gpu| gpu.sky.as_ref());
    let accelerators: Vec<String> = names.map(|name| format!("{name}: 1")).collect();
    let text = format!(
        "{}name: {}\nworkdir: .\nresources:\n  accelerators: {{{}}}\nrun: |\n  {}\n",
        comments(request),
        label(&request.program),
        accelerators.join(", "),
        request.command
    );
    (!accelerators.is_empty()).then_some(text)
}
