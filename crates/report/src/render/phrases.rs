//! Phrases of findings and headlines: one fact has one wording.

use causes::CauseId;
use trace::Bytes;

use super::grouped;
use crate::check::{Growth, Keeper};
use crate::finding::Location;

/// `full at step 9 of 1,000; 512.00 MiB stay of each step (train.py:41), kept in the list `outputs` (train.py:12)`, without the unknown parts.
/// Without a container, `cause` names the keeper. `line` is the allocating line, unless the reader sees the line elsewhere.
pub fn describe_growth(
    growth: &Growth,
    cause: Option<CauseId>,
    line: Option<&Location>,
    show: impl Fn(&Location) -> String,
) -> String {
    let unit = growth.unit();
    let of = growth.of_iterations.map_or_else(String::new, |total| format!(" of {}", grouped(total)));
    let full = growth.full_at.filter(|_| !growth.is_harmless());
    let full = full.map(|at| format!("full at {unit} {}{of}; ", grouped(u64::from(at))));
    let at = growth.loop_at.as_ref().map(|at| format!(" of the loop at {}", show(at)));
    let line = line.map(|at| format!(" ({})", show(at)));
    let keeper = match &growth.keeper {
        Some(keeper) => Some(describe_keeper(keeper, growth, cause, show)),
        None => cause.and_then(name_holder).map(str::to_owned),
    };
    let stays = format!("{} stay of each {unit}", growth.bytes_per_iteration);
    let parts = [full, Some(stays), at, line, keeper.map(|keeper| format!(", {keeper}"))];
    parts.into_iter().flatten().collect()
}

/// `kept in the dict `features` of Extractor (store.py:12)`, without the line that allocates.
fn describe_keeper(
    keeper: &Keeper,
    growth: &Growth,
    cause: Option<CauseId>,
    show: impl Fn(&Location) -> String,
) -> String {
    let other = keeper.location.as_ref().filter(|at| Some(*at) != growth.location.as_ref());
    let line = other.map_or_else(String::new, |at| format!(" ({})", show(at)));
    let graph = if cause == Some(CauseId::RetainedGraph) { " with their graph" } else { "" };
    format!("kept{graph} in {}{line}", keeper.container)
}

/// The holder of tensors in no container.
fn name_holder(cause: CauseId) -> Option<&'static str> {
    match cause {
        CauseId::RetainedGraph => Some("kept by an autograd graph"),
        CauseId::SavedIntermediates => Some("made inside a module"),
        _ => None,
    }
}

/// The everyday name of a GPU: `RTX 4090`, `A100 40GB`, `H100`.
pub fn shorten_gpu(name: &str) -> String {
    const PREFIXES: [&str; 3] = ["NVIDIA", "GeForce", "Tesla"];
    const SUFFIXES: [&str; 2] = ["Generation", "Edition"];
    // `A100-SXM4-40GB`: the socket says nothing about the memory.
    let words: Vec<&str> = name.split([' ', '-']).filter(|word| !word.is_empty()).collect();
    let is_told = |word: &str| !PREFIXES.contains(&word) && !SUFFIXES.contains(&word);
    let is_socket = |word: &str| word.starts_with("SXM") || word == "PCIE" || word.starts_with("HBM");
    // `80GB HBM3`: all GPUs of the model have the size.
    let has_one_size = |index: usize| words.get(index + 1).is_some_and(|next| next.starts_with("HBM"));
    let kept =
        words.iter().enumerate().filter(|(index, word)| is_told(word) && !is_socket(word) && !has_one_size(*index));
    let short = kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
    if short.is_empty() { name.to_owned() } else { short }
}

/// `17.15 of 23.64 GiB`, `512.00 MiB of 23.64 GiB`.
pub fn part_of(part: Bytes, whole: Bytes) -> String {
    format!("{} of {whole}", without_unit_of(part, whole))
}

/// `bytes` as text, without the unit if `other` has the same unit.
pub fn without_unit_of(bytes: Bytes, other: Bytes) -> String {
    let (text, other) = (bytes.to_string(), other.to_string());
    match (text.split_once(' '), other.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => number.to_owned(),
        _ => text,
    }
}

/// `text` with a capital, unless the first word is a name in a program: `torch.cat`, `backward(...)`.
pub fn capitalize(text: &str) -> String {
    let first = text.split([' ', ',', ':']).next().unwrap_or_default();
    let is_word = first.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
    match text.chars().next() {
        Some(letter) if is_word => letter.to_ascii_uppercase().to_string() + &text[letter.len_utf8()..],
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_has_the_name_that_people_say() {
        let cases = [
            ("NVIDIA GeForce RTX 4090", "RTX 4090"),
            ("NVIDIA GeForce RTX 3080 Laptop GPU", "RTX 3080 Laptop GPU"),
            ("NVIDIA H100 80GB HBM3", "H100"),
            ("NVIDIA H100 PCIe", "H100 PCIe"),
            ("NVIDIA A100-SXM4-40GB", "A100 40GB"),
            ("NVIDIA A100 80GB PCIe", "A100 80GB PCIe"),
            ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "A100 80GB MIG 1g.10gb"),
            ("NVIDIA B200", "B200"),
            ("Tesla V100-SXM2-16GB", "V100 16GB"),
            ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
            ("Quadro RTX 6000", "Quadro RTX 6000"),
            ("NVIDIA", "NVIDIA"),
            ("", ""),
        ];
        for (name, short) in cases {
            assert_eq!(shorten_gpu(name), short, "{name}");
        }
    }

    #[test]
    fn a_unit_stands_once_where_two_sizes_share_it() {
        assert_eq!(part_of(Bytes::from_mib(1536), Bytes::from_gib(3)), "1.50 of 3.00 GiB");
        assert_eq!(part_of(Bytes::from_mib(512), Bytes::from_gib(3)), "512.00 MiB of 3.00 GiB");
    }

    #[test]
    fn a_name_of_the_program_keeps_its_letters() {
        let cases = [
            ("logits over 8 classes", "Logits over 8 classes"),
            ("one-hot rows", "One-hot rows"),
            ("backward(create_graph=True) makes", "backward(create_graph=True) makes"),
            ("scaled_dot_product_attention takes", "scaled_dot_product_attention takes"),
            ("2.00 GiB stay", "2.00 GiB stay"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(capitalize(text), expected);
        }
    }
}
