//! Finds a model by a name that somebody typed.
//!
//! # Note [Names]
//!
//! Case, spaces, dashes, underscores and the words of [`BRANDS`] do not count. The first of these rules that names a
//! model decides:
//!
//! 1. The text equals a name or an alias of the model: `4090` is the RTX 4090 and never its laptop variant, `rtx 3080`
//!    is the 10 GB model, CUDA's name for that model.
//! 2. The words of the text are a subset of the words of a name or an alias: `h100 sxm`, `quadro 8000`. The words that
//!    mark a part or a variant of a GPU ([`VARIANTS`]) have to be typed: `h100` never means a MIG slice.
//! 3. Several models match, the text names their chip (`a100`, `h100-80gb`), and SXM models are among them: the SXM
//!    model with the least memory. [`Match::passed_over`] lists the other models, which `oomph` prints.
//!
//! Other shared names are errors, with the names to type: `gh200` has variants of 96 GB and 144 GB, and
//! `rtx-6000` is a name of three generations.

use std::collections::BTreeSet;

use crate::profile::{GpuKind, Profile};
use crate::table::all;

/// Words that people leave out or put in front of any model. `quadro` is not among them: only this word tells the
/// Quadro RTX 6000 from the RTX 6000 of the Ada generation.
const BRANDS: [&str; 6] = ["nvidia", "geforce", "tesla", "rtx", "gtx", "generation"];

/// Words of variants that a name without them never means.
const VARIANTS: [&str; 2] = ["mig", "laptop"];

/// The least likeness, of 1, at which a name is offered as a suggestion.
const LIKE: f64 = 0.75;

/// Errors of [`find`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownGpu {
    /// No model matches the name.
    #[error("no GPU is known as `{asked}`{}", hint(nearest))]
    NoSuch {
        /// The name as typed.
        asked: String,
        /// The most similar names, at most three, best first.
        nearest: Vec<String>,
    },
    /// Several models match, and no rule prefers one of them.
    #[error("`{asked}` may be any of several GPUs; expected one of: {}", candidates.join(", "))]
    Ambiguous {
        /// The name as typed.
        asked: String,
        /// The names to type for the models, in the order of the table.
        candidates: Vec<String>,
    },
}

fn hint(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; the nearest names are: {}", nearest.join(", ")) }
}

/// The model that a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The model.
    pub profile: &'static Profile,
    /// The names to type for the other models that the name matches, in the order of the table.
    pub passed_over: Vec<String>,
}

/// Finds the model of a name by the rules of Note `[Names]`.
pub fn find(name: &str) -> Result<&'static Profile, UnknownGpu> {
    lookup(name).map(|found| found.profile)
}

/// Finds the model of a name, and the models that the name passes over.
pub fn lookup(name: &str) -> Result<Match, UnknownGpu> {
    let asked = Words::of(name);
    let equal = matches(|label| label.key() == asked.key());
    let matching = if equal.is_empty() { matches(|label| label.covers(&asked)) } else { equal };
    let profile = match matching.as_slice() {
        [profile] => Some(*profile),
        several => preferred(&asked, several),
    };
    let asked_name = || name.trim().to_owned();
    match profile {
        Some(profile) => {
            let others = matching.into_iter().filter(|other| other.name != profile.name);
            Ok(Match { profile, passed_over: others.map(typed_name).collect() })
        }
        None if matching.is_empty() => Err(UnknownGpu::NoSuch { asked: asked_name(), nearest: nearest(&asked) }),
        None => {
            let candidates = matching.into_iter().map(typed_name).collect();
            Err(UnknownGpu::Ambiguous { asked: asked_name(), candidates })
        }
    }
}

/// The SXM model with the least memory, if `asked` names a chip.
fn preferred(asked: &Words, matching: &[&'static Profile]) -> Option<&'static Profile> {
    let is_sxm = |word: &String| word.starts_with("sxm");
    let has_sxm = |profile: &Profile| labels(profile).any(|label| label.0.iter().any(is_sxm));
    let cards = matching.iter().filter(|profile| profile.kind == GpuKind::Card && has_sxm(profile));
    cards.copied().min_by_key(|profile| profile.total_bytes).filter(|_| asked.names_chip())
}

/// Lists the name to type for each model, in the order of the table.
pub fn list_names() -> Vec<String> {
    all().iter().map(typed_name).collect()
}

/// The shortest name to type for a model: `a100-sxm-40gb`.
fn typed_name(profile: &'static Profile) -> String {
    let typed = |label: &String| {
        let lower = label.to_lowercase();
        let brands = ["nvidia ", "geforce ", "tesla "];
        brands.iter().fold(lower.as_str(), |rest, brand| rest.strip_prefix(brand).unwrap_or(rest)).replace(' ', "-")
    };
    let names = std::iter::once(&profile.name).chain(&profile.aliases).map(typed);
    names.min_by_key(String::len).unwrap_or_default()
}

/// The models with a name or an alias that `accept` takes.
fn matches(accept: impl Fn(&Words) -> bool) -> Vec<&'static Profile> {
    all().iter().filter(|profile| labels(profile).any(|label| accept(&label))).collect()
}

fn labels(profile: &Profile) -> impl Iterator<Item = Words> {
    std::iter::once(&profile.name).chain(&profile.aliases).map(|label| Words::of(label))
}

/// The words of a name, without brands and separators.
struct Words(Vec<String>);

impl Words {
    fn of(name: &str) -> Words {
        let lower = name.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).map(without_brands).filter(|word| !word.is_empty());
        Words(words.map(str::to_owned).collect())
    }

    /// The words run together, so that `rtx4070tisuper` equals `RTX 4070 Ti SUPER`.
    fn key(&self) -> String {
        self.0.concat()
    }

    /// Tests for a word such as `a100`: letters, then digits. `sxm4` is a socket.
    fn names_chip(&self) -> bool {
        let is_chip = |word: &String| {
            let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number && digits.len() < word.len() && !word.starts_with("sxm")
        };
        self.0.iter().any(is_chip)
    }

    /// Tests that the label has all words of `asked`, and that `asked` has the label's words of [`VARIANTS`].
    fn covers(&self, asked: &Words) -> bool {
        let mine: BTreeSet<&str> = self.0.iter().map(String::as_str).collect();
        let asked: BTreeSet<&str> = asked.0.iter().map(String::as_str).collect();
        let wanted = |variant| asked.contains(variant) || (variant == "mig" && names_slice(&asked));
        let variants_wanted = VARIANTS.into_iter().all(|variant| !mine.contains(variant) || wanted(variant));
        !asked.is_empty() && asked.is_subset(&mine) && variants_wanted
    }
}

/// Strips brands that are joined to the number, as in `rtx4090`.
fn without_brands(word: &str) -> &str {
    BRANDS.iter().find_map(|brand| word.strip_prefix(brand)).map_or(word, without_brands)
}

/// Tests for the compute part of a slice, `1g` to `7g`.
fn names_slice(words: &BTreeSet<&str>) -> bool {
    words.iter().any(|word| matches!(word.as_bytes(), [b'1'..=b'7', b'g']))
}

/// The names most similar to `asked`, at most three.
fn nearest(asked: &Words) -> Vec<String> {
    let key = asked.key();
    let score = |profile: &'static Profile| {
        let best = labels(profile).map(|label| likeness(&label, &key));
        (best.fold(0.0, f64::max), profile)
    };
    let mut scored: Vec<(f64, &'static Profile)> =
        all().iter().map(score).filter(|&(score, _)| score >= LIKE).collect();
    scored.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    scored.into_iter().take(3).map(|(_, profile)| typed_name(profile)).collect()
}

/// The likeness of a label and a typed name: of the whole label, or of a single word that is nearly equal (`h10`).
fn likeness(label: &Words, key: &str) -> f64 {
    const ALMOST: f64 = 0.92;
    let words = label.0.iter().map(|word| strsim::jaro_winkler(word, key)).filter(|score| *score >= ALMOST);
    words.fold(strsim::normalized_damerau_levenshtein(&label.key(), key), f64::max)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_as_people_type_them_are_found() {
        let cases = [
            ("4090", "NVIDIA GeForce RTX 4090"),
            ("rtx-4090", "NVIDIA GeForce RTX 4090"),
            ("RTX 4090", "NVIDIA GeForce RTX 4090"),
            ("rtx4090", "NVIDIA GeForce RTX 4090"),
            ("nvidia_geforce_rtx_4090", "NVIDIA GeForce RTX 4090"),
            ("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090"),
            ("  geforce rtx 4090 ", "NVIDIA GeForce RTX 4090"),
            ("4090 laptop", "NVIDIA GeForce RTX 4090 Laptop GPU"),
            ("rtx4070tisuper", "NVIDIA GeForce RTX 4070 Ti SUPER"),
            ("4070-ti", "NVIDIA GeForce RTX 4070 Ti"),
            ("3060", "NVIDIA GeForce RTX 3060"),
            ("3060ti", "NVIDIA GeForce RTX 3060 Ti"),
            ("3080", "NVIDIA GeForce RTX 3080"),
            ("3080 10gb", "NVIDIA GeForce RTX 3080"),
            ("3080-12gb", "NVIDIA GeForce RTX 3080 12GB"),
            ("4060 ti 16gb", "NVIDIA GeForce RTX 4060 Ti 16GB"),
            ("gtx-1650", "NVIDIA GeForce GTX 1650"),
            ("titan v", "NVIDIA TITAN V"),
            ("t4", "Tesla T4"),
            ("NVIDIA T4", "Tesla T4"),
            ("tesla-t4", "Tesla T4"),
            ("p100", "Tesla P100-PCIE-16GB"),
            ("v100-sxm2-32gb", "Tesla V100-SXM2-32GB"),
            ("l4", "NVIDIA L4"),
            ("l40", "NVIDIA L40"),
            ("l40s", "NVIDIA L40S"),
            ("a10", "NVIDIA A10"),
            ("A10G", "NVIDIA A10G"),
            ("a100 sxm 80gb", "NVIDIA A100-SXM4-80GB"),
            ("a100-pcie-40gb", "NVIDIA A100-PCIE-40GB"),
            ("a100 80gb pcie", "NVIDIA A100 80GB PCIe"),
            ("h100-sxm", "NVIDIA H100 80GB HBM3"),
            ("h100 pcie", "NVIDIA H100 PCIe"),
            ("h100-nvl", "NVIDIA H100 NVL"),
            ("h200", "NVIDIA H200"),
            ("b200", "NVIDIA B200"),
            ("gh200-96gb", "NVIDIA GH200 480GB"),
            ("a6000", "NVIDIA RTX A6000"),
            ("6000 ada", "NVIDIA RTX 6000 Ada Generation"),
            ("rtx-6000-ada-generation", "NVIDIA RTX 6000 Ada Generation"),
            ("Quadro RTX 6000", "Quadro RTX 6000"),
            ("rtx 8000", "Quadro RTX 8000"),
            ("a100-sxm4-40gb mig 1g.5gb", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"),
            ("a100 1g.5gb", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"),
            ("h100 mig 3g.40gb", "NVIDIA H100 80GB HBM3 MIG 3g.40gb"),
        ];
        for (asked, name) in cases {
            assert_eq!(find(asked).map(|profile| profile.name.as_str()), Ok(name), "{asked}");
        }
    }

    #[test]
    fn every_name_and_alias_finds_its_own_model() {
        for profile in all() {
            for label in std::iter::once(&profile.name).chain(&profile.aliases) {
                assert_eq!(find(label).unwrap().name, profile.name, "{label}");
            }
        }
        for (profile, name) in all().iter().zip(list_names()) {
            assert_eq!(lookup(&name), Ok(Match { profile, passed_over: Vec::new() }), "{name}");
        }
    }

    #[test]
    fn a_name_that_several_models_share_lists_the_names_to_type() {
        let cases: [(&str, &[&str]); 5] = [
            ("a100 pcie", &["a100-pcie-40gb", "a100-80gb-pcie"]),
            ("80gb pcie", &["a100-80gb-pcie", "h100-pcie"]),
            ("1g.10gb", &["a100-sxm4-80gb-mig-1g.10gb", "h100-80gb-hbm3-mig-1g.10gb"]),
            ("gh200", &["gh200-96gb", "gh200-144gb"]),
            ("rtx-6000", &["quadro-rtx-6000", "rtx-6000-ada-generation", "rtx-pro-6000"]),
        ];
        for (asked, names) in cases {
            let Err(UnknownGpu::Ambiguous { candidates, .. }) = lookup(asked) else { panic!("{asked} was decided") };
            for name in names {
                assert!(candidates.iter().any(|candidate| candidate.starts_with(name)), "{asked}: {candidates:?}");
            }
            for candidate in &candidates {
                assert_eq!(lookup(candidate).map(|found| found.passed_over), Ok(Vec::new()), "{candidate}");
            }
        }
    }

    #[test]
    fn a_chip_with_sxm_cards_means_the_one_with_the_least_memory() {
        let cases: [(&str, &str, &[&str]); 9] = [
            ("a100", "NVIDIA A100-SXM4-40GB", &["a100-pcie-40gb", "a100-sxm-80gb", "a100-80gb-pcie"]),
            ("a100-40gb", "NVIDIA A100-SXM4-40GB", &["a100-pcie-40gb"]),
            ("A100 80GB", "NVIDIA A100-SXM4-80GB", &["a100-80gb-pcie"]),
            ("h100", "NVIDIA H100 80GB HBM3", &["h100-pcie", "h100-nvl"]),
            ("h100-80gb", "NVIDIA H100 80GB HBM3", &["h100-pcie"]),
            ("h200", "NVIDIA H200", &[]),
            ("b200", "NVIDIA B200", &[]),
            ("v100", "Tesla V100-SXM2-16GB", &["v100-sxm-32gb", "v100-pcie-16gb", "v100-pcie-32gb"]),
            ("v100-32gb", "Tesla V100-SXM2-32GB", &["v100-pcie-32gb"]),
        ];
        for (asked, name, passed_over) in cases {
            let found = lookup(asked).unwrap();
            assert_eq!(
                (found.profile.name.as_str(), found.passed_over),
                (name, passed_over.iter().map(|name| (*name).to_owned()).collect()),
                "{asked}"
            );
        }
    }

    #[test]
    fn an_unknown_name_offers_the_nearest() {
        let cases =
            [("4091", Some("rtx-4090")), ("rtx 4900", None), ("a6001", Some("rtx-a6000")), ("h10", Some("h100-pcie"))];
        for (asked, near) in cases {
            let UnknownGpu::NoSuch { nearest, .. } = find(asked).unwrap_err() else { panic!("{asked} was ambiguous") };
            assert!(nearest.len() <= 3, "{asked}");
            if let Some(near) = near {
                assert!(nearest.iter().any(|name| name == near), "{asked}: {nearest:?}");
            }
        }
    }

    #[test]
    fn a_name_like_no_other_offers_nothing() {
        for asked in ["", "  ", "nvidia", "rtx", "mi300x", "🎮", "banana"] {
            let expected = UnknownGpu::NoSuch { asked: asked.trim().to_owned(), nearest: Vec::new() };
            assert_eq!(find(asked).unwrap_err(), expected, "{asked}");
        }
        assert_eq!(find("banana").unwrap_err().to_string(), "no GPU is known as `banana`");
    }

    #[test]
    fn a_shared_name_is_an_error_that_says_what_to_type() {
        let message = find("gh200").unwrap_err().to_string();
        assert_eq!(message, "`gh200` may be any of several GPUs; expected one of: gh200-96gb, gh200-144gb");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            let _ = find(&text);
        }

        #[test]
        fn neither_case_nor_separators_matter(index in any::<prop::sample::Index>(), separator in "[ _-]{1,3}") {
            let profile = &all()[index.index(all().len())];
            let typed = profile.name.to_uppercase().replace(' ', &separator);
            prop_assert_eq!(&find(&typed).unwrap().name, &profile.name);
        }
    }
}
