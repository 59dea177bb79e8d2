//! The table of models: `gpus.toml`, compiled in and read once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, de::Error};
use trace::Bytes;

use crate::profile::{ComputeCapability, Field, FigureSource, GpuKind, Profile, Provenance};

/// All models, in the order of the table.
pub fn all() -> &'static [Profile] {
    static TABLE: LazyLock<Vec<Profile>> = LazyLock::new(|| {
        #[expect(clippy::expect_used, reason = "the table is part of the program, and a test reads it")]
        read(include_str!("../gpus.toml")).expect("gpus.toml is well-formed")
    });
    &TABLE
}

/// Errors in `gpus.toml`; seen only by developers who edit the table.
#[derive(Debug, thiserror::Error)]
enum BadTable {
    /// Invalid TOML, or TOML of another shape.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// A model whose compute capability has no `[[architecture]]`.
    #[error("{name}: no [[architecture]] has compute capability {capability}")]
    NoArchitecture { name: String, capability: ComputeCapability },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    context: Context,
    common: Common,
    provenance: Sources,
    architecture: Vec<Architecture>,
    gpu: Vec<TableEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    base_bytes: Bytes,
    bytes_per_thread: Bytes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    shared_memory_per_block_bytes: Bytes,
    registers_per_multiprocessor: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Architecture {
    compute_capability: ComputeCapability,
    threads_per_multiprocessor: u32,
    blocks_per_multiprocessor: u32,
    shared_memory_per_multiprocessor_bytes: Bytes,
    shared_memory_per_block_optin_bytes: Bytes,
    reserved_shared_memory_per_block_bytes: Bytes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableEntry {
    name: String,
    #[serde(default)]
    kind: GpuKind,
    cuda_name: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    compute_capability: ComputeCapability,
    context_bytes: Option<Bytes>,
    chip: Chip,
    memory: Memory,
    #[serde(default)]
    provenance: Sources,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chip {
    multiprocessors: u32,
    clock_khz: u32,
    l2_bytes: Bytes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Memory {
    total_bytes: Bytes,
    clock_khz: u32,
    bus_bits: u32,
}

/// `field = "kind: source"`.
#[derive(Clone, Default, Deserialize)]
struct Sources(BTreeMap<Field, SourceText>);

#[derive(Clone)]
struct SourceText(FigureSource);

impl<'de> Deserialize<'de> for SourceText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SourceText, D::Error> {
        let text = String::deserialize(from)?;
        let wrong = || D::Error::custom(format!("`{text}`: expected `measured: …`, `published: …` or `estimated: …`"));
        let (kind, source) = text.split_once(": ").ok_or_else(wrong)?;
        let provenance = match kind {
            "measured" => Provenance::Measured,
            "published" => Provenance::Published,
            "estimated" => Provenance::Estimated,
            _ => return Err(wrong()),
        };
        Ok(SourceText((provenance, source.to_owned())))
    }
}

impl<'de> Deserialize<'de> for ComputeCapability {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ComputeCapability, D::Error> {
        let text = String::deserialize(from)?;
        let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let (major, minor) = parts.ok_or_else(|| D::Error::custom(format!("`{text}`: expected `major.minor`")))?;
        Ok(ComputeCapability { major, minor })
    }
}

fn read(text: &str) -> Result<Vec<Profile>, BadTable> {
    let mut table: Table = toml::from_str(text)?;
    let entries = std::mem::take(&mut table.gpu);
    entries.into_iter().map(|entry| table.profile(entry)).collect()
}

impl Table {
    /// Joins the entries of a model, of its architecture and of all models.
    fn profile(&self, entry: TableEntry) -> Result<Profile, BadTable> {
        let sources = self.merge_sources(&entry);
        let architecture = self.find_architecture(&entry)?;
        let resident_threads = entry.chip.multiprocessors * architecture.threads_per_multiprocessor;
        Ok(Profile {
            cuda_name: entry.cuda_name.unwrap_or_else(|| entry.name.clone()),
            name: entry.name,
            kind: entry.kind,
            aliases: entry.aliases,
            total_bytes: entry.memory.total_bytes,
            context_bytes: entry.context_bytes.unwrap_or_else(|| self.context.estimate(resident_threads)),
            compute_capability: entry.compute_capability,
            multiprocessors: entry.chip.multiprocessors,
            l2_bytes: entry.chip.l2_bytes,
            shared_memory_per_block_bytes: self.common.shared_memory_per_block_bytes,
            shared_memory_per_block_optin_bytes: architecture.shared_memory_per_block_optin_bytes,
            shared_memory_per_multiprocessor_bytes: architecture.shared_memory_per_multiprocessor_bytes,
            reserved_shared_memory_per_block_bytes: architecture.reserved_shared_memory_per_block_bytes,
            registers_per_multiprocessor: self.common.registers_per_multiprocessor,
            threads_per_multiprocessor: architecture.threads_per_multiprocessor,
            blocks_per_multiprocessor: architecture.blocks_per_multiprocessor,
            clock_khz: entry.chip.clock_khz,
            memory_clock_khz: entry.memory.clock_khz,
            memory_bus_bits: entry.memory.bus_bits,
            sources,
        })
    }

    fn find_architecture(&self, entry: &TableEntry) -> Result<&Architecture, BadTable> {
        let capability = entry.compute_capability;
        let missing = || BadTable::NoArchitecture { name: entry.name.clone(), capability };
        self.architecture.iter().find(|architecture| architecture.compute_capability == capability).ok_or_else(missing)
    }

    /// The sources of all models, overridden by the model's own.
    fn merge_sources(&self, entry: &TableEntry) -> BTreeMap<Field, FigureSource> {
        let own = entry.provenance.0.iter();
        self.provenance.0.iter().chain(own).map(|(&field, text)| (field, text.0.clone())).collect()
    }
}

impl Context {
    /// The driver keeps local memory for every resident thread, so a context grows with their number.
    fn estimate(&self, resident_threads: u32) -> Bytes {
        Bytes(self.base_bytes.0 + self.bytes_per_thread.0 * u64::from(resident_threads))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "test")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_is_read_and_large() {
        assert!(read(include_str!("../gpus.toml")).unwrap().len() >= 60);
    }

    #[test]
    fn every_model_is_sane() {
        for profile in all() {
            let name = &profile.name;
            assert!((Bytes::from_gib(1)..Bytes::from_gib(400)).contains(&profile.total_bytes), "{name}");
            assert!(profile.context_bytes > Bytes::ZERO && profile.context_bytes < profile.total_bytes, "{name}");
            assert!((1..=200).contains(&profile.multiprocessors), "{name}");
            assert!((Bytes::from_kib(512)..=Bytes::from_mib(128)).contains(&profile.l2_bytes), "{name}");
            assert!((500_000..4_000_000).contains(&profile.clock_khz), "{name}");
            assert!((500_000..20_000_000).contains(&profile.memory_clock_khz), "{name}");
            assert!((64..=8192).contains(&profile.memory_bus_bits), "{name}");
            assert!(!profile.device_variable().is_empty(), "{name}");
            for text in [name, &profile.cuda_name] {
                assert!(!text.contains([';', '=']) && !text.is_empty(), "{text}");
            }
        }
    }

    #[test]
    fn what_an_architecture_offers_is_as_the_programming_guide_says() {
        // Capability: threads, blocks, KiB of shared memory per multiprocessor and, with opt-in, per block.
        let guide = BTreeMap::from([
            ((6, 0), (2048, 32, 64, 48)),
            ((6, 1), (2048, 32, 96, 48)),
            ((7, 0), (2048, 32, 96, 96)),
            ((7, 5), (1024, 16, 64, 64)),
            ((8, 0), (2048, 32, 164, 163)),
            ((8, 6), (1536, 16, 100, 99)),
            ((8, 7), (1536, 16, 164, 163)),
            ((8, 9), (1536, 24, 100, 99)),
            ((9, 0), (2048, 32, 228, 227)),
            ((10, 0), (2048, 32, 228, 227)),
            ((12, 0), (1536, 24, 100, 99)),
        ]);
        for profile in all() {
            let capability = profile.compute_capability;
            let found = (
                profile.threads_per_multiprocessor,
                profile.blocks_per_multiprocessor,
                profile.shared_memory_per_multiprocessor_bytes.0 >> 10,
                profile.shared_memory_per_block_optin_bytes.0 >> 10,
            );
            assert_eq!(guide.get(&(capability.major, capability.minor)), Some(&found), "{}", profile.name);
            let reserved = if capability.major >= 8 { Bytes::from_kib(1) } else { Bytes::ZERO };
            assert_eq!(profile.reserved_shared_memory_per_block_bytes, reserved, "{}", profile.name);
        }
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = BTreeSet::new();
        for profile in all() {
            for name in std::iter::once(&profile.name).chain(&profile.aliases) {
                assert!(seen.insert(name.to_lowercase()), "{name}");
            }
        }
    }

    #[test]
    fn every_figure_has_a_source() {
        for profile in all() {
            for field in Field::ALL {
                assert!(profile.sources.contains_key(&field), "{}: {}", profile.name, field.key());
                assert!(!profile.provenance(field).1.is_empty());
            }
        }
    }

    #[test]
    fn the_models_that_known_peaks_rest_on_have_no_estimate_but_the_context() {
        let cases: [(&str, u32, u64, u32, &[Field]); 4] = [
            ("T4", 40, 4, 1024, &[]),
            ("A100-SXM4-40GB", 108, 40, 2048, &[]),
            ("RTX 4090", 128, 72, 1536, &[]),
            ("H100 80GB HBM3", 132, 50, 2048, &[Field::ContextBytes]),
        ];
        for (name, multiprocessors, l2_mib, threads, expected) in cases {
            let profile = all().iter().find(|profile| profile.name.ends_with(name)).unwrap();
            assert_eq!(profile.multiprocessors, multiprocessors, "{name}");
            assert_eq!(profile.l2_bytes, Bytes::from_mib(l2_mib), "{name}");
            assert_eq!(profile.threads_per_multiprocessor, threads, "{name}");
            let estimates =
                Field::ALL.into_iter().filter(|&field| profile.provenance(field).0 == Provenance::Estimated);
            assert_eq!(estimates.collect::<Vec<_>>(), expected, "{name}");
        }
    }

    #[test]
    fn a_wrong_table_is_an_error_that_names_what_is_wrong() {
        let good = include_str!("../gpus.toml");
        let cases = [
            (good.replacen("compute_capability = \"6.1\"", "compute_capability = \"3.5\"", 1), "6.1"),
            (
                good.replacen("[provenance]\ntotal_bytes = \"estimated", "[provenance]\ntotal_bytes = \"guessed", 1),
                "guessed",
            ),
            (good.replacen("[common]", "[common]\ncolour = 1", 1), "colour"),
        ];
        for (text, expected) in cases {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
