//! The entry points that PyTorch needs are exported, and the state of each is written down.
//!
//! `symbols/needed.txt` lists the CUDA entry points that the libraries of PyTorch's wheels need, with the versions that
//! need them; `symbols/coverage.txt` says of each if it is modelled, inert or absent (Note [Out-parameters] in
//! `boundary.rs`), and counts them for each version. The test writes the two files. To regenerate them, unpack wheels into folders
//! of their own below one folder and run `OOMPH_BLESS=that-folder cargo test -p phantom --test coverage` twice, because
//! the second file is made from the first; an empty folder updates only the second.
//! file is made from the first; an empty folder brings only the second up to date.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use object::read::elf::{ElfFile64, SectionHeader as _};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

/// The folders of torch's libraries in `site-packages`, and in an unpacked wheel.
const LIBRARY_FOLDERS: [&str; 2] = ["torch", "torch/lib"];
/// Libraries that find entry points at run time by names in their constants.
const LOOKING_UP: [&str; 2] = ["libc10_cuda.so", "libtorch_cuda.so"];
const LIST: &str = "symbols/needed.txt";
const COVERAGE: &str = "symbols/coverage.txt";
const COVERAGE_HEADER: &str = "\
# What each entry point of needed.txt is worth on a phantom; made by tests/coverage.rs from the sources.
# modelled: behaves as on a GPU. inert: computes on the device only, so nothing is done. absent: fails by name.
";

#[test]
fn every_entry_point_that_pytorch_needs_is_exported() {
    let exports = exported(&library());
    let needed = Needed::read();
    assert!(!needed.names().is_empty(), "{LIST} names nothing");
    let missing: Vec<_> =
        needed.names().into_iter().filter(|name| versions(name).all(|name| !exports.contains(&name))).collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn the_list_is_what_the_wheels_need() {
    let mut needed = Needed::read();
    let packages = wheels();
    if packages.is_empty() {
        // Unlike `eprintln`, this is seen although the test passes.
        writeln!(std::io::stderr(), "skipped: no .venv with PyTorch here").unwrap();
    }
    for packages in &packages {
        needed.put(packages);
    }
    check_file(LIST, &needed.to_string());
}

#[test]
fn the_coverage_is_what_the_sources_say() {
    let kinds = kinds_in(&crate_path("src"));
    let exports = exported(&library());
    let kind = |name: &str| {
        // A plain name counts as the version that `resolve` would return.
        let found = versions(name).find(|name| exports.contains(name) && kinds.get(name) != Some(&"absent"));
        *kinds.get(found.as_deref().unwrap_or(name)).unwrap_or(&"modelled")
    };
    let needed = Needed::read();
    let counts = needed.versions.iter().map(|version| needed.count(version, kind)).collect::<String>();
    let lines: Vec<String> = needed.names().iter().map(|name| format!("{name} {}", kind(name))).collect();
    check_file(COVERAGE, &format!("{COVERAGE_HEADER}{counts}{}\n", lines.join("\n")));
}

/// Compares a committed file with the expected text, or writes it if `OOMPH_BLESS` is set.
fn check_file(path: &str, expected: &str) {
    // An unchanged file is not written, because another test may be reading it.
    if std::env::var_os("OOMPH_BLESS").is_some() && read(path) != expected {
        fs::write(crate_path(path), expected).unwrap();
    }
    let found: BTreeSet<String> = read(path).lines().map(str::to_owned).collect();
    let wanted: BTreeSet<String> = expected.lines().map(str::to_owned).collect();
    let surplus: Vec<_> = found.difference(&wanted).collect();
    let lacking: Vec<_> = wanted.difference(&found).collect();
    assert!(surplus.is_empty() && lacking.is_empty(), "{path}: surplus {surplus:?}, lacking {lacking:?}");
}

/// A name and its later versions, newest first: a look-up of the name finds the newest.
fn versions(name: &str) -> impl Iterator<Item = String> {
    ["_v4", "_v3", "_v2", ""].map(|version| format!("{name}{version}")).into_iter()
}

/// Entry points that the versions of PyTorch need, linked or found by name at run time, with the indices of the
/// versions.
#[derive(Default)]
struct Needed {
    versions: Vec<String>,
    linked: BTreeMap<String, BTreeSet<usize>>,
    looked_up: BTreeMap<String, BTreeSet<usize>>,
}

impl Needed {
    /// Reads the list; the format is what `fmt` writes.
    fn read() -> Needed {
        let text = read(LIST);
        let (linked, looked_up) = text.split_once("\nlooked up\n").unwrap_or((&text, ""));
        let mut lines = linked.lines().filter(|line| !line.starts_with('#'));
        let versions: Vec<String> = lines.next().unwrap_or_default().split(' ').skip(1).map(str::to_owned).collect();
        let part = |lines: &mut dyn Iterator<Item = &str>| lines.map(|line| spans(line, &versions)).collect();
        Needed { linked: part(&mut lines.skip(1)), looked_up: part(&mut looked_up.lines()), versions }
    }

    /// Puts in, or brings up to date, the version that lies in a folder.
    fn put(&mut self, packages: &Path) {
        let version = version_of(packages);
        let known = self.versions.iter().position(|known| *known == version);
        let index = known.unwrap_or_else(|| {
            self.versions.push(version);
            self.versions.len() - 1
        });
        let (linked, looked_up) = names_of(packages);
        replace(&mut self.linked, index, linked);
        replace(&mut self.looked_up, index, looked_up);
        self.sort();
    }

    /// Orders the versions, and with them the indices.
    fn sort(&mut self) {
        let number = |version: &String| version.split('.').map(|part| part.parse().unwrap()).collect::<Vec<u32>>();
        let mut order: Vec<usize> = (0..self.versions.len()).collect();
        order.sort_by_key(|index| number(&self.versions[*index]));
        self.versions = order.iter().map(|index| self.versions[*index].clone()).collect();
        for needing in self.linked.values_mut().chain(self.looked_up.values_mut()) {
            *needing = needing.iter().map(|old| order.iter().position(|index| index == old).unwrap()).collect();
        }
    }

    /// Every name once.
    fn names(&self) -> BTreeSet<String> {
        self.linked.keys().chain(self.looked_up.keys()).cloned().collect()
    }

    /// The number of names of each kind that a version needs, in words.
    fn count(&self, version: &str, kind: impl Fn(&str) -> &'static str) -> String {
        let index = self.versions.iter().position(|known| known == version).unwrap();
        let all = self.linked.iter().chain(&self.looked_up);
        let names: BTreeSet<&String> =
            all.filter(|(_, needing)| needing.contains(&index)).map(|(name, _)| name).collect();
        let of = |wanted: &str| names.iter().filter(|name| kind(name) == wanted).count();
        let (modelled, inert, absent) = (of("modelled"), of("inert"), of("absent"));
        format!("# torch {version}: {} needed, {modelled} modelled, {inert} inert, {absent} absent\n", names.len())
    }
}

impl fmt::Display for Needed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "# The CUDA entry points that the libraries of PyTorch's wheels need; made by tests/coverage.rs from the wheels."
        )?;
        writeln!(
            formatter,
            "# After a name: the versions that need it, where not all do. Left out: nvrtc* and cupti*, whose real libraries stay."
        )?;
        writeln!(formatter, "versions {}", self.versions.join(" "))?;
        for (title, names) in [("linked", &self.linked), ("looked up", &self.looked_up)] {
            writeln!(formatter, "{title}")?;
            for (name, needing) in names {
                writeln!(formatter, "{name}{}", in_words(needing, &self.versions))?;
            }
        }
        Ok(())
    }
}

/// Sets the names needed by the version `index`; removes names without any version.
fn replace(part: &mut BTreeMap<String, BTreeSet<usize>>, index: usize, names: BTreeSet<String>) {
    for needing in part.values_mut() {
        needing.remove(&index);
    }
    for name in names {
        part.entry(name).or_default().insert(index);
    }
    part.retain(|_, needing| !needing.is_empty());
}

/// The versions after a name: nothing for all versions, else spans such as `2.5.1-2.8.0`.
fn in_words(needing: &BTreeSet<usize>, versions: &[String]) -> String {
    if needing.len() == versions.len() {
        return String::new();
    }
    let mut words = String::new();
    for &index in needing {
        if index == 0 || !needing.contains(&(index - 1)) {
            words += " ";
            words += &versions[index];
        }
        if !needing.contains(&(index + 1)) {
            words += "-";
            words += &versions[index];
        }
    }
    words
}

/// A line of the list: a name, and the indices of the versions that need it.
fn spans(line: &str, versions: &[String]) -> (String, BTreeSet<usize>) {
    let mut words = line.split(' ');
    let name = words.next().unwrap().to_owned();
    let index = |version: &str| versions.iter().position(|known| known == version).unwrap();
    let mut needing: BTreeSet<usize> = words
        .flat_map(|span| {
            let (first, last) = span.split_once('-').unwrap();
            index(first)..=index(last)
        })
        .collect();
    if needing.is_empty() {
        needing = (0..versions.len()).collect();
    }
    (name, needing)
}

/// The names that the libraries of a version link, and the names looked up.
fn names_of(packages: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut linked = BTreeSet::new();
    let mut looked_up = BTreeSet::new();
    for path in libraries(packages) {
        let bytes = fs::read(&path).unwrap();
        let file = ElfFile64::<object::Endianness>::parse(&*bytes).unwrap();
        linked.extend(undefined(&file).filter(|name| is_cuda(name)));
        if LOOKING_UP.iter().any(|library| path.ends_with(library)) {
            looked_up.extend(constants(&file).into_iter().filter(|name| is_looked_up(name)));
        }
    }
    (linked, looked_up)
}

fn libraries(packages: &Path) -> Vec<PathBuf> {
    let entries = LIBRARY_FOLDERS.iter().flat_map(|folder| fs::read_dir(packages.join(folder)).unwrap());
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|ext| ext == "so")).collect()
}

fn undefined(file: &ElfFile64) -> impl Iterator<Item = String> {
    file.dynamic_symbols()
        .filter(object::ObjectSymbol::is_undefined)
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
}

/// The strings among a library's constants.
fn constants(file: &ElfFile64) -> Vec<String> {
    let section = file.section_by_name(".rodata").unwrap();
    assert_eq!(section.elf_section_header().sh_type(file.endian()), object::elf::SHT_PROGBITS);
    let bytes = section.data().unwrap();
    bytes.split(|byte| *byte == 0).filter_map(|text| str::from_utf8(text).ok()).map(str::to_owned).collect()
}

/// True if the phantom replaces the library of this name.
fn is_cuda(name: &str) -> bool {
    let prefixes =
        ["cublas", "cudnn", "cufft", "curand", "cusolver", "cusparse", "nccl", "nvml", "nvshmem", "__cuda", "cuda"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || starts_a_word(name, "cu")
}

/// True if a constant is the name of a driver or NVML entry point.
fn is_looked_up(name: &str) -> bool {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let nouns = [
        "Ctx",
        "Dev",
        "Event",
        "Func",
        "Get",
        "Graph",
        "GreenCtx",
        "Init",
        "Kernel",
        "Launch",
        "Link",
        "Logs",
        "Mem",
        "Module",
        "Multicast",
        "Occupancy",
        "Pointer",
        "Stream",
        "TensorMap",
    ];
    let is_driver = name.strip_prefix("cu").is_some_and(|rest| nouns.iter().any(|noun| rest.starts_with(noun)));
    is_name && (is_driver || starts_a_word(name, "nvml"))
}

fn starts_a_word(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// The names that stand in `inert!`, `inert_on_stream!` and `absent!` lists.
fn kinds_in(folder: &Path) -> BTreeMap<String, &'static str> {
    let mut kinds = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            kinds.extend(kinds_in(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") && !path.ends_with("boundary.rs") {
            let text = fs::read_to_string(&path).unwrap();
            for kind in ["inert", "absent"] {
                kinds.extend(listed(&text, kind).map(|name| (name, kind)));
            }
        }
    }
    kinds
}

/// The names in a source's lists of one kind.
fn listed(source: &str, kind: &str) -> impl Iterator<Item = String> {
    let openings = [format!("{kind}! {{"), format!("{kind}_on_stream! {{")];
    let lists = openings.iter().flat_map(|opening| source.split(opening.as_str()).skip(1));
    let bodies = lists.filter_map(|rest| rest.split('}').next());
    let code = bodies.flat_map(|body| body.lines().skip(1)).filter_map(|line| line.split("//").next());
    code.flat_map(str::split_whitespace).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

fn exported(library: &Path) -> BTreeSet<String> {
    let bytes = fs::read(library).unwrap();
    let file = ElfFile64::<object::Endianness>::parse(&*bytes).unwrap();
    let defined = file.dynamic_symbols().filter(|symbol| !symbol.is_undefined());
    defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

/// The path of the library, built by cargo for the tests.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("liboomph_phantom.so")
}

/// The PyTorch of the tests or, to regenerate the list, the wheels in the named folder.
fn wheels() -> Vec<PathBuf> {
    let folders = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let found: Vec<PathBuf> = match std::env::var_os("OOMPH_BLESS") {
        Some(folder) => folders(folder.into()).collect(),
        None => folders(crate_path("../../.venv/lib")).map(|python| python.join("site-packages")).collect(),
    };
    found.into_iter().filter(|packages| packages.join("torch/version.py").is_file()).collect()
}

/// `__version__` of `torch/version.py`, without the suffix for CUDA.
fn version_of(packages: &Path) -> String {
    let text = fs::read_to_string(packages.join("torch/version.py")).unwrap();
    let line = text.lines().find(|line| line.starts_with("__version__")).unwrap();
    line.split('\'').nth(1).unwrap().split('+').next().unwrap().to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(crate_path(path)).unwrap()
}

fn crate_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
