//! Allocator settings that PyTorch does not read: a misspelt variable or option, a wrong value, a variable that the pinned version ignores.

use causes::CauseId;
use report::RuleId;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::allocator::{AllocatorSetting, VARIABLES};
use crate::semantics::data::Syntax;
use crate::semantics::texts::UNKNOWN_PART;

pub(super) const RULE: Rule = Rule {
    id: RuleId("alloc-conf-ignored"),
    effect: MemoryEffect::Style,
    summary: "an allocator setting under a name that PyTorch does not read, or with a misspelt option",
    help: "compare the variable and its options with the page of PyTorch on memory management",
    cause: Some(CauseId::AllocatorSettingHarmful),
    check,
};

/// The options of the allocator.
const OPTIONS: [&str; 15] = [
    "max_split_size_mb",
    "max_non_split_rounding_mb",
    "roundup_power2_divisions",
    "garbage_collection_threshold",
    "expandable_segments",
    "backend",
    "release_lock_on_cudamalloc",
    "release_lock_on_hipmalloc",
    "pinned_use_cuda_host_register",
    "pinned_use_hip_host_register",
    "pinned_num_register_threads",
    "pinned_use_background_threads",
    "pinned_reserve_segment_size_mb",
    "graph_capture_record_stream_reuse",
    "per_process_memory_fraction",
];

/// Names under which the variable is looked for in vain.
const MISSPELT: [&str; 9] = [
    "PYTORCH_CUDA_ALLOC_CONFIG",
    "PYTORCH_ALLOC_CONFIG",
    "PYTORCH_CUDA_ALLOCATOR_CONF",
    "PYTORCH_CUDA_ALLOCATOR_CONFIG",
    "PYTORCH_CUDA_MALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONFS",
    "PYTORCH_ALLOCATOR_CONF",
    "CUDA_ALLOC_CONF",
    "TORCH_CUDA_ALLOC_CONF",
];

fn check(model: &Model<'_>, matches: &mut Matches) {
    let settings = model.allocator_settings();
    let has_old_name = settings.iter().any(|it| it.variable == "PYTORCH_CUDA_ALLOC_CONF");
    for setting in &settings {
        let message = if setting.variable == "PYTORCH_ALLOC_CONF" && !has_old_name && pins_version_without(model) {
            Some(
                "the pinned version of PyTorch reads `PYTORCH_CUDA_ALLOC_CONF` alone: this setting has no effect"
                    .to_owned(),
            )
        } else if MISSPELT.contains(&setting.variable.as_str()) {
            Some(format!("PyTorch does not read `{}`: this setting has no effect", setting.variable))
        } else {
            wrong_option(model, setting)
        };
        if let Some(message) = message {
            match model.node(setting.at).syntax {
                Syntax::Statement(it) => matches.add(it, message),
                Syntax::Expression(it) => matches.add(it, message),
            };
        }
    }
}

/// Describes an option that the allocator rejects.
fn wrong_option(model: &Model<'_>, setting: &AllocatorSetting<'_>) -> Option<String> {
    if !VARIABLES.contains(&setting.variable.as_str()) {
        return None;
    }
    let texts = model.texts(setting.assigned);
    texts.iter().find_map(|text| options(text).find_map(|(name, value)| fault(name, value)))
}

/// Iterates over the options of a setting; the commas of a list in brackets separate none.
fn options(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut depth = 0_usize;
    let parts = text.split(move |letter| {
        depth = match letter {
            '[' => depth + 1,
            ']' => depth.saturating_sub(1),
            _ => depth,
        };
        letter == ',' && depth == 0
    });
    parts.map(|part| part.split_once(':').map_or((part.trim(), ""), |(name, value)| (name.trim(), value.trim())))
}

fn fault(name: &str, value: &str) -> Option<String> {
    if name.is_empty() || name.contains(UNKNOWN_PART) {
        return None;
    }
    if !OPTIONS.contains(&name) {
        let meant = OPTIONS.iter().find(|it| is_similar(name, it))?;
        return Some(format!("the allocator has no option `{name}`: `{meant}` is meant"));
    }
    if value.contains(UNKNOWN_PART) {
        return None;
    }
    let is_wrong = match name {
        "expandable_segments" => !matches!(value, "True" | "False"),
        "garbage_collection_threshold" => value.parse().is_ok_and(|it: f64| it >= 1.0),
        "max_split_size_mb" => value.parse().is_ok_and(|it: u64| it <= 20),
        _ => false,
    };
    is_wrong.then(|| format!("the allocator rejects the value `{value}` of `{name}`"))
}

/// Checks for a name that differs from an option by a few letters, or by a missing or added end.
fn is_similar(name: &str, option: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let name = name.split('=').next().unwrap_or_default();
    let is_part = name.len() >= 7 && (option.starts_with(name) || name.starts_with(option));
    is_part || distance(name, option) <= option.len() / 5
}

/// The number of letters to insert, delete or replace.
fn distance(one: &str, other: &str) -> usize {
    let mut costs: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.bytes().enumerate() {
        let mut diagonal = row;
        let mut left = row + 1;
        for (cost, to) in costs.iter_mut().skip(1).zip(other.bytes()) {
            let replaced = diagonal + usize::from(letter != to);
            diagonal = *cost;
            *cost = replaced.min(diagonal + 1).min(left + 1);
            left = *cost;
        }
        if let Some(first) = costs.first_mut() {
            *first = row + 1;
        }
    }
    costs.last().copied().unwrap_or(usize::MAX)
}

/// Checks whether the files pin a version of PyTorch that does not read `PYTORCH_ALLOC_CONF`: 2.9.1, or one before 2.9.
fn pins_version_without(model: &Model<'_>) -> bool {
    model.text.match_indices("torch").any(|(at, name)| {
        let behind = model.text.get(at + name.len()..).unwrap_or_default().trim_start_matches([' ', '\t']);
        let pin = behind.strip_prefix("==").or_else(|| behind.strip_prefix("~="));
        pin.is_some_and(|it| is_version_without(pinned(model, it.trim_start())))
    })
}

/// Returns the text of a version, also behind a name in an f-string: `f"torch=={TORCH}"`.
fn pinned<'m>(model: &Model<'m>, version: &'m str) -> &'m str {
    let Some((name, _)) = version.strip_prefix('{').and_then(|it| it.split_once('}')) else { return version };
    let assigned = model.text.split_once(&format!("{name} = ")).map_or("", |(_, it)| it);
    assigned.trim_start_matches(['"', '\''])
}

fn is_version_without(version: &str) -> bool {
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit()).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return false };
    let patch = numbers.next().and_then(Result::ok);
    major < 2 || (major == 2 && (minor < 9 || (minor == 9 && patch == Some(1))))
}
