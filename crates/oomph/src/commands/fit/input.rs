//! The input of the search, as it is known before any run.

use diagnose::{Allowed, FitCase};
use drive::Program;
use gpus::Profile;
use report::Assumption;
use report::fit::FitGpu;
use trace::Bytes;

use crate::args::Fit;
use crate::environment::current_folder;
use crate::{gpu_choice, program};

/// The memory sizes of `--any-gpu`, from buyers' guides.
const VRAM_GIB: [u64; 9] = [8, 12, 16, 24, 32, 40, 48, 80, 141];

/// Returns the remedies that the user allows.
pub(super) fn allowed(arguments: &Fit) -> Allowed {
    Allowed {
        allow: arguments.allow.clone(),
        deny: arguments.deny.clone(),
        keep_numerics: arguments.keep_numerics,
        tries_all: arguments.try_all,
        prefer: arguments.prefer.into(),
        only: None,
        gpus: arguments.gpu.gpus.into(),
    }
}

/// Returns the sizes of memory that a plan is searched for.
pub(super) fn targets(case: &FitCase) -> Vec<Bytes> {
    std::iter::once(case.gpu.target_bytes).chain(case.by_vram.iter().map(|(_, target)| *target)).collect()
}

/// Returns the facts for the report.
pub(super) fn case(arguments: &Fit, program: &Program) -> FitCase {
    let profile = &program.profile;
    let others = program.spec.device.facts().map(|device| device.others).unwrap_or_default();
    let share = |total: Bytes| take_percent(total - others, arguments.target);
    let gpu = |profile: &Profile| FitGpu {
        name: profile.name.clone(),
        total_bytes: profile.total_bytes,
        target_bytes: share(profile.total_bytes),
    };
    // Only whole GPUs can be bought or rented: no slices, and no devices with the CPU's memory.
    let cards = gpus::all().iter().filter(|profile| profile.kind == gpus::GpuKind::Card);
    let mut gpus: Vec<(FitGpu, Bytes)> = cards.map(|profile| (gpu(profile), profile.context_bytes)).collect();
    gpus.sort_by_key(|(gpu, _)| gpu.total_bytes);
    let sizes = if arguments.any_gpu { VRAM_GIB.as_slice() } else { &[] };
    FitCase {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: current_folder(),
        gpu: gpu(profile),
        by_vram: sizes.iter().map(|gib| (Bytes::from_gib(*gib), share(Bytes::from_gib(*gib)))).collect(),
        context_bytes: profile.context_bytes,
        gpus,
        assumptions: gpu_choice::list_assumptions(profile).collect::<Vec<Assumption>>(),
        emit: command_for_patch(),
        command: command(arguments),
    }
}

/// The words that start the program, as a user types them.
pub(super) fn command(arguments: &Fit) -> Vec<String> {
    program::words_as_typed(&arguments.program)
}

/// The next GPU with more memory, and the bytes that a program may use of it.
pub(super) fn next_gpu(case: &FitCase) -> Option<(FitGpu, Bytes)> {
    let more = case.gpus.iter().find(|(gpu, _)| gpu.total_bytes.0 > case.gpu.total_bytes.0 / 10 * 13);
    more.map(|(gpu, context)| {
        let target = gpu.target_bytes - (*context - case.context_bytes.min(*context));
        (gpu.clone(), target)
    })
}

/// The words of this command line, with `--emit diff`: the search is not made again.
fn command_for_patch() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let mut command: Vec<String> = std::iter::once("oomph".to_owned()).chain(words).collect();
    let at = command.iter().position(|word| word == "fit").map_or(command.len(), |at| at + 1);
    command.splice(at..at, ["--emit", "diff"].map(str::to_owned));
    command
}

fn take_percent(total: Bytes, percent: u64) -> Bytes {
    Bytes(u64::try_from(u128::from(total.0) * u128::from(percent) / 100).unwrap_or(total.0))
}
