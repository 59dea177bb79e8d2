//! Finding a model by the name that somebody typed.
//!
//! # Note [Names]
//!
//! Case, spaces, dashes, underscores and the words of [`BRANDS`] do not count. The first of these rules that names a
//! model decides:
//!
//! 1. The text is a name or an alias of the model, to the letter: `4090` is the RTX 4090 and never its laptop
//!    variant, `rtx 3080` is the card of 10 GB, which is the one that CUDA calls so.
//! 2. The words of the text are among the words of a name or an alias: `h100 sxm`, `quadro 8000`. Words that mark a
//!    part or a variant of a card ([`VARIANTS`]) must be asked for: `h100` does not mean a slice of one.
//!
//! Where a rule names several models there is no default: a wrong guess between 40 GB and 80 GB would be a wrong
//! answer. The error lists them.

use std::collections::BTreeSet;

use crate::profile::Profile;
use crate::table::all;

/// Words that people leave out or put in front of any model. `quadro` is not among them: it is all that tells the
/// Quadro RTX 6000 from the RTX 6000 of the Ada generation.
const BRANDS: [&str; 6] = ["nvidia", "geforce", "tesla", "rtx", "gtx", "generation"];

/// Words that mark a variant which nobody means who does not say so.
const VARIANTS: [&str; 2] = ["mig", "laptop"];

/// How like a name must be, of 1, to be offered as the one that was meant.
const LIKE: f64 = 0.75;

/// Why a name does not lead to one model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownGpu {
    /// No model has that name.
    #[error("no GPU is known as `{asked}`{}", hint(nearest))]
    NoSuch {
        /// What was asked for.
        asked: String,
        /// The names most like it, at most three, best first.
        nearest: Vec<&'static str>,
    },
    /// Several models have it.
    #[error("`{asked}` may be any of several GPUs; expected one of: {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// Their names, in the order of the table.
        candidates: Vec<&'static str>,
    },
}

fn hint(nearest: &[&str]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; the nearest names are: {}", nearest.join(", ")) }
}

/// The model of that name, by the rules of Note `[Names]`.
pub fn find(name: &str) -> Result<&'static Profile, UnknownGpu> {
    let asked = Words::of(name);
    let equal = matches(|label| label.key() == asked.key());
    let found = if equal.is_empty() { matches(|label| label.covers(&asked)) } else { equal };
    match found.as_slice() {
        [profile] => Ok(profile),
        [] => Err(UnknownGpu::NoSuch { asked: name.trim().to_owned(), nearest: nearest(&asked) }),
        several => Err(UnknownGpu::Ambiguous { asked: name.trim().to_owned(), candidates: names(several) }),
    }
}

fn names(profiles: &[&'static Profile]) -> Vec<&'static str> {
    profiles.iter().map(|profile| profile.name.as_str()).collect()
}

/// The models of which some name or alias is accepted.
fn matches(accept: impl Fn(&Words) -> bool) -> Vec<&'static Profile> {
    all().iter().filter(|profile| labels(profile).any(|label| accept(&label))).collect()
}

fn labels(profile: &Profile) -> impl Iterator<Item = Words> {
    std::iter::once(&profile.name).chain(&profile.aliases).map(|label| Words::of(label))
}

/// A name without what does not count.
struct Words(Vec<String>);

impl Words {
    fn of(name: &str) -> Words {
        let lower = name.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).map(without_brands).filter(|word| !word.is_empty());
        Words(words.map(str::to_owned).collect())
    }

    /// The words run together, so that `rtx4070tisuper` is `RTX 4070 Ti SUPER`.
    fn key(&self) -> String {
        self.0.concat()
    }

    /// Whether all words of `asked` are among these, and those of [`VARIANTS`] were asked for.
    fn covers(&self, asked: &Words) -> bool {
        let mine: BTreeSet<&str> = self.0.iter().map(String::as_str).collect();
        let asked: BTreeSet<&str> = asked.0.iter().map(String::as_str).collect();
        let wanted = |variant| asked.contains(variant) || (variant == "mig" && names_slice(&asked));
        let variants_wanted = VARIANTS.into_iter().all(|variant| !mine.contains(variant) || wanted(variant));
        !asked.is_empty() && asked.is_subset(&mine) && variants_wanted
    }
}

/// Strips brands that are written in one with the number, as in `rtx4090`.
fn without_brands(word: &str) -> &str {
    BRANDS.iter().find_map(|brand| word.strip_prefix(brand)).map_or(word, without_brands)
}

/// Whether a word is the compute part of a slice: `1g` to `7g`.
fn names_slice(words: &BTreeSet<&str>) -> bool {
    words.iter().any(|word| matches!(word.as_bytes(), [b'1'..=b'7', b'g']))
}

/// The names most like what was asked for, at most three.
fn nearest(asked: &Words) -> Vec<&'static str> {
    let key = asked.key();
    let score = |profile: &'static Profile| {
        let best = labels(profile).map(|label| likeness(&label, &key));
        (best.fold(0.0, f64::max), profile.name.as_str())
    };
    let mut scored: Vec<(f64, &str)> = all().iter().map(score).filter(|&(score, _)| score >= LIKE).collect();
    scored.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// How alike a label is to what was asked for: as a whole, or where one word of it is all but the same (`h10`).
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
    }

    #[test]
    fn a_name_that_several_models_share_lists_them() {
        let cases: [(&str, &[&str]); 6] = [
            (
                "a100",
                &["NVIDIA A100-SXM4-40GB", "NVIDIA A100-PCIE-40GB", "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe"],
            ),
            ("a100-80gb", &["NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe"]),
            ("H100", &["NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL"]),
            ("v100", &["Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB", "Tesla V100-PCIE-16GB", "Tesla V100-PCIE-32GB"]),
            ("1g.10gb", &["NVIDIA A100-SXM4-80GB MIG 1g.10gb", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"]),
            ("gh200", &["NVIDIA GH200 480GB", "NVIDIA GH200 144G HBM3e"]),
        ];
        for (asked, candidates) in cases {
            let expected = UnknownGpu::Ambiguous { asked: asked.to_owned(), candidates: candidates.to_vec() };
            assert_eq!(find(asked).unwrap_err(), expected, "{asked}");
        }
    }

    #[test]
    fn an_rtx_6000_may_be_of_three_generations() {
        let message = find("rtx-6000").unwrap_err().to_string();
        for name in ["Quadro RTX 6000", "NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX PRO 6000"] {
            assert!(message.contains(name), "{message}");
        }
    }

    #[test]
    fn an_unknown_name_offers_the_nearest() {
        let cases = [
            ("4091", Some("NVIDIA GeForce RTX 4090")),
            ("rtx 4900", None),
            ("a6001", Some("NVIDIA RTX A6000")),
            ("h10", Some("NVIDIA H100 PCIe")),
        ];
        for (asked, near) in cases {
            let UnknownGpu::NoSuch { nearest, .. } = find(asked).unwrap_err() else { panic!("{asked} was ambiguous") };
            assert!(nearest.len() <= 3, "{asked}");
            if let Some(near) = near {
                assert!(nearest.contains(&near), "{asked}: {nearest:?}");
            }
        }
    }

    #[test]
    fn what_names_nothing_is_said_without_a_guess() {
        for asked in ["", "  ", "nvidia", "rtx", "mi300x", "🎮", "banana"] {
            let expected = UnknownGpu::NoSuch { asked: asked.trim().to_owned(), nearest: Vec::new() };
            assert_eq!(find(asked).unwrap_err(), expected, "{asked}");
        }
        assert_eq!(find("banana").unwrap_err().to_string(), "no GPU is known as `banana`");
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
