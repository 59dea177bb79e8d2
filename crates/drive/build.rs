//! Builds the libraries of the phantom and the recorder, gathers the agent's files, and compresses all of them for the binary to carry.
//!
//! Cargo cannot depend on a cdylib as an artefact, so this script builds the libraries with a second Cargo and a target folder of its own: the
//! first Cargo holds the lock on the usual folder. They are optimised for a release, and have the quick profile of `make demo` for all else. A
//! linker named in the environment (`CARGO_TARGET_…_LINKER`, as `make wheel` sets for an older glibc) links them as well.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use flate2::Compression;
use flate2::write::ZlibEncoder;

fn main() {
    let crate_dir = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let workspace = crate_dir.join("../..");
    let out = PathBuf::from(variable("OUT_DIR"));
    watch(&workspace);
    let mut files: BTreeMap<String, PathBuf> = if has_libraries() {
        let built = build_libraries(&workspace, &out);
        LIBRARIES.iter().map(|name| (format!("lib/{name}"), built.join(name))).collect()
    } else {
        BTreeMap::new()
    };
    gather(&workspace.join("python"), &workspace.join("python/oomph"), &mut files);
    fs::write(out.join("carried.rs"), pack(&files, &out)).expect("OUT_DIR is writable");
}

/// The libraries, each of a package of its own.
const LIBRARIES: [&str; 2] = ["liboomph_phantom.so", "liboomph_recorder.so"];

/// The libraries know the system calls and the structures of x86-64 alone; on other processors `unpack` refuses (`CARRIES_LIBRARIES`).
fn has_libraries() -> bool {
    variable("CARGO_CFG_TARGET_ARCH") == "x86_64"
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("Cargo sets {name} for build scripts"))
}

fn watch(workspace: &Path) {
    for path in [
        "crates/phantom/src",
        "crates/phantom/Cargo.toml",
        "crates/recorder/src",
        "crates/recorder/Cargo.toml",
        "crates/wire/src",
        "python/oomph",
        "Cargo.lock",
        "Cargo.toml",
    ] {
        println!("cargo::rerun-if-changed={}", workspace.join(path).display());
    }
}

fn build_libraries(workspace: &Path, out: &Path) -> PathBuf {
    // Beside the folders of the profiles, which all carry the same libraries: `target/PROFILE/build/drive-HASH/out` is `out`.
    let target = out.ancestors().nth(4).unwrap_or(out).join("phantom");
    let is_release = out.ancestors().nth(3).is_some_and(|folder| folder.ends_with("release"));
    let profile = if is_release { "release" } else { "demo" };
    let status = Command::new(variable("CARGO"))
        .args([
            "build",
            "--profile",
            profile,
            "--package",
            "phantom",
            "--package",
            "recorder",
            "--lib",
            "--manifest-path",
        ])
        .arg(workspace.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        // What the outer build set for its own crates must not leak into this one.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .status()
        .expect("Cargo can be started again");
    assert!(status.success(), "the libraries did not build");
    target.join(profile)
}

/// The agent's files, by the path that they have below the cache folder.
fn gather(root: &Path, folder: &Path, files: &mut BTreeMap<String, PathBuf>) {
    for entry in fs::read_dir(folder).expect("the agent lies beside the crates") {
        let path = entry.expect("the agent's folder can be read").path();
        if path.is_dir() {
            gather(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "py" || extension == "json") {
            let name = path.strip_prefix(root).expect("it lies below the root");
            files.insert(format!("python/{}", name.display()), path);
        }
    }
}

/// Writes `carried.zlib`, all files one after the other, and returns a Rust table of their names and lengths with a hash that names
/// the cache folder.
fn pack(files: &BTreeMap<String, PathBuf>, out: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    let mut source = String::from(
        "/// Path below the cache folder, and length in bytes, of each packed file.\npub(crate) const FILES: &[(&str, usize)] = &[\n",
    );
    for (name, path) in files {
        let bytes = fs::read(path).expect("the file was just found");
        (name, &bytes).hash(&mut hasher);
        packer.write_all(&bytes).expect("writing to memory");
        // Writing to a `String` cannot fail.
        let _ = writeln!(source, "    ({name:?}, {}),", bytes.len());
    }
    fs::write(out.join("carried.zlib"), packer.finish().expect("writing to memory")).expect("OUT_DIR is writable");
    let hash = hasher.finish();
    source
        + &format!(
            "];\n/// The files' contents in the order of [`FILES`], as one zlib stream.\n\
             pub(crate) const PACKED: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/carried.zlib\"));\n\
             /// A hash of all names and contents.\npub(crate) const HASH: &str = \"{hash:016x}\";\n"
        )
}
