//! What PyTorch needs is exported, and what each entry point is worth is written down.
//!
//! `symbols/torch-2.11.0.txt` lists the CUDA entry points that torch 2.11.0's and torchvision 0.26.0's libraries need;
//! `symbols/coverage.txt` says of each whether it is modelled, inert or absent (Note [Out-parameters] in
//! `boundary.rs`). Both are made here: `OOMPH_BLESS=1 cargo test -p phantom --test coverage` writes them anew; run it
//! twice, because the second is made from the first.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use object::read::elf::{ElfFile64, SectionHeader as _};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

/// Where torch's and torchvision's libraries lie in `site-packages`.
const LIBRARY_FOLDERS: [&str; 3] = ["torch", "torch/lib", "torchvision"];
/// The libraries that look entry points up at run time, by names in their constants.
const LOOKING_UP: [&str; 2] = ["libc10_cuda.so", "libtorch_cuda.so"];
/// What separates the two parts of the list.
const AT_RUN_TIME: &str = "# looked up by name at run time";
const LIST: &str = "symbols/torch-2.11.0.txt";
const COVERAGE: &str = "symbols/coverage.txt";
const LIST_HEADER: &str = "\
# The CUDA entry points that the libraries of torch 2.11.0 (CUDA 13.0) and torchvision 0.26.0 need; made by
# tests/coverage.rs from the wheels. Left out: nvrtc* and cupti*, whose real libraries stay in place.
";
const COVERAGE_HEADER: &str = "\
# What each entry point of torch-2.11.0.txt is worth on a phantom; made by tests/coverage.rs from the sources.
# modelled: behaves as on a GPU. inert: computes on the device only, so nothing is done. absent: fails by name.
";

#[test]
fn every_entry_point_that_pytorch_needs_is_exported() {
    let exports = exported(&library());
    let missing: Vec<_> =
        needed(&read(LIST)).filter(|name| versions(name).all(|name| !exports.contains(&name))).collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn the_list_is_what_the_wheels_need() {
    let Some(packages) = site_packages() else {
        // Unlike `eprintln`, this is seen although the test passes.
        writeln!(std::io::stderr(), "skipped: no .venv with torch 2.11.0 and torchvision 0.26.0 here").unwrap();
        return;
    };
    check_file(LIST, &format!("{LIST_HEADER}{}", listing(&packages)));
}

#[test]
fn the_coverage_is_what_the_sources_say() {
    let kinds = kinds_in(&crate_path("src"));
    let exports = exported(&library());
    let line = |name: String| {
        // A plain name that is looked up gets the version that `resolve` would give it.
        let found = versions(&name).find(|name| exports.contains(name) && kinds.get(name) != Some(&"absent"));
        let kind = kinds.get(found.as_ref().unwrap_or(&name)).unwrap_or(&"modelled");
        format!("{name} {kind}\n")
    };
    let lines: String = needed(&read(LIST)).map(line).collect();
    check_file(COVERAGE, &format!("{COVERAGE_HEADER}{lines}"));
}

/// Compares a committed file with what it should hold, or writes it when asked to.
fn check_file(path: &str, expected: &str) {
    if std::env::var_os("OOMPH_BLESS").is_some() {
        fs::write(crate_path(path), expected).unwrap();
    }
    let found: BTreeSet<String> = read(path).lines().map(str::to_owned).collect();
    let wanted: BTreeSet<String> = expected.lines().map(str::to_owned).collect();
    let surplus: Vec<_> = found.difference(&wanted).collect();
    let lacking: Vec<_> = wanted.difference(&found).collect();
    assert!(surplus.is_empty() && lacking.is_empty(), "{path}: surplus {surplus:?}, lacking {lacking:?}");
}

/// The names of a list, each once.
fn needed(list: &str) -> impl Iterator<Item = String> {
    let names: BTreeSet<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    names.into_iter().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// A name and its later versions, newest first: who looks a name up gets the newest.
fn versions(name: &str) -> impl Iterator<Item = String> {
    ["_v4", "_v3", "_v2", ""].map(|version| format!("{name}{version}")).into_iter()
}

/// The list as the wheels give it.
fn listing(packages: &Path) -> String {
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
    let lines = |names: BTreeSet<String>| names.into_iter().map(|name| name + "\n").collect::<String>();
    format!("{}{AT_RUN_TIME}\n{}", lines(linked), lines(looked_up))
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

/// Whether a name is one of the libraries that the phantom stands for.
fn is_cuda(name: &str) -> bool {
    let prefixes =
        ["cublas", "cudnn", "cufft", "curand", "cusolver", "cusparse", "nccl", "nvml", "nvshmem", "__cuda", "cuda"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || starts_a_word(name, "cu")
}

/// Whether a constant is the name of a driver or NVML entry point.
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
        "Launch",
        "Link",
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

/// The names that stand in `inert!` and `absent!` lists.
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
    let opening = format!("{kind}! {{");
    let bodies = source.split(&opening).skip(1).filter_map(|rest| rest.split('}').next());
    let code = bodies.flat_map(|body| body.lines().skip(1)).filter_map(|line| line.split("//").next());
    code.flat_map(str::split_whitespace).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

fn exported(library: &Path) -> BTreeSet<String> {
    let bytes = fs::read(library).unwrap();
    let file = ElfFile64::<object::Endianness>::parse(&*bytes).unwrap();
    let defined = file.dynamic_symbols().filter(|symbol| !symbol.is_undefined());
    defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

/// The library that cargo built for these tests, beside them.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("liboomph_phantom.so")
}

fn site_packages() -> Option<PathBuf> {
    let lib = crate_path("../../.venv/lib");
    let pythons = fs::read_dir(lib).ok()?.filter_map(|entry| Some(entry.ok()?.path().join("site-packages")));
    let wheels = ["torch-2.11.0.dist-info", "torchvision-0.26.0.dist-info"];
    pythons.into_iter().find(|path| wheels.iter().all(|wheel| path.join(wheel).is_dir()))
}

fn read(path: &str) -> String {
    fs::read_to_string(crate_path(path)).unwrap()
}

fn crate_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
