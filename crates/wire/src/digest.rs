//! The digest of the names in a folder, by which the binary sees that a folder changed since the phantom noted it.

/// The FNV-1a hash of no bytes.
pub const FNV_EMPTY: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
/// Endings of names that Python can import, or that list what is installed.
const IMPORTABLE: [&[u8]; 6] = [b".py", b".pyc", b".so", b".pth", b".dist-info", b".egg-info"];

/// Continues an FNV-1a hash with `bytes`.
pub fn extend_fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// Hashes the names in a folder, in any order: all of them, or only [importable](is_importable) ones.
pub fn hash_names(mut names: Vec<Vec<u8>>, importable_only: bool) -> u64 {
    names.retain(|name| !importable_only || is_importable(name));
    names.sort();
    names.iter().fold(FNV_EMPTY, |hash, name| extend_fnv(extend_fnv(hash, name), b"\0"))
}

/// True if a file name may be a module, a package (any name without a dot) or the metadata of an installed package.
pub fn is_importable(name: &[u8]) -> bool {
    name != b"__pycache__" && (!name.contains(&b'.') || IMPORTABLE.iter().any(|ending| name.ends_with(ending)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of the FNV authors (draft-eastlake-fnv, appendix C).
    #[test]
    fn fnv_equals_the_published_vectors() {
        let cases: [(&[u8], u64); 3] =
            [(b"", 0xcbf2_9ce4_8422_2325), (b"a", 0xaf63_dc4c_8601_ec8c), (b"foobar", 0x8594_4171_f739_67e8)];
        for (bytes, expected) in cases {
            assert_eq!(extend_fnv(FNV_EMPTY, bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn names_are_hashed_sorted_each_with_a_nul() {
        let names = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>();
        let expected = extend_fnv(FNV_EMPTY, b"a.py\0b.txt\0");
        assert_eq!(hash_names(names(&["b.txt", "a.py"]), false), expected);
        assert_eq!(hash_names(names(&["b.txt", "a.py", "__pycache__"]), true), extend_fnv(FNV_EMPTY, b"a.py\0"));
        assert_eq!(hash_names(Vec::new(), false), FNV_EMPTY);
    }

    #[test]
    fn modules_packages_and_metadata_can_be_imported() {
        let importable =
            ["a.py", "a.pyc", "a.cpython-312.so", "x.pth", "torch-2.11.0.dist-info", "y.egg-info", "package"];
        let others = ["__pycache__", "data.txt", ".git", "a.py~"];
        assert!(importable.iter().all(|name| is_importable(name.as_bytes())));
        assert!(!others.iter().any(|name| is_importable(name.as_bytes())));
    }
}
