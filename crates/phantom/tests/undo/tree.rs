//! A tree of files of every kind, and its state.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, XattrFlags};

/// The state of a path: kind and mode, owner, links, time of the last change, target or content, attribute.
pub type State = (u32, u32, u64, (i64, i64), Vec<u8>, Option<Vec<u8>>);
pub type Tree = BTreeMap<PathBuf, State>;

/// Reads all paths below `root`, and `root`.
pub fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        let content = if found.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if found.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        if found.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let mut value = vec![0; 64];
        let attribute = rustix::fs::lgetxattr(&path, "user.note", value.as_mut_slice()).ok();
        let attribute = attribute.map(|length| value[..length].to_vec());
        let links = if found.is_dir() { 0 } else { found.nlink() };
        let time = (found.mtime(), found.mtime_nsec());
        tree.insert(
            path.strip_prefix(root).unwrap().to_owned(),
            (found.mode(), found.uid(), links, time, content, attribute),
        );
    }
    tree
}

/// Makes files of every kind, all with times in the past.
pub fn make(root: &Path) {
    let path = |name: &str| root.join(name);
    for folder in ["sub/deep", "other", "hollow"] {
        fs::create_dir_all(path(folder)).unwrap();
    }
    for (name, bytes) in [
        ("a.txt", b"alpha".to_vec()),
        ("b.bin", vec![7; 600 << 10]),
        ("empty", Vec::new()),
        ("hard1", b"hard".to_vec()),
        ("log", b"one\n".to_vec()),
        ("read_only", b"fixed".to_vec()),
        ("run.sh", b"#!/bin/sh\n".to_vec()),
        ("sub/c.txt", b"c".to_vec()),
        ("sub/deep/d.txt", b"d".to_vec()),
        ("other/e.txt", b"e".to_vec()),
    ] {
        fs::write(path(name), bytes).unwrap();
    }
    let holes = fs::File::create(path("holes")).unwrap();
    holes.set_len(3 << 20).unwrap();
    fs::hard_link(path("hard1"), path("sub/hard2")).unwrap();
    symlink("a.txt", path("link")).unwrap();
    symlink("nowhere", path("dangling")).unwrap();
    symlink("sub", path("folder_link")).unwrap();
    rustix::fs::mknodat(CWD, path("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    for (name, mode) in [("read_only", 0o444), ("run.sh", 0o755), ("other", 0o750)] {
        fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    rustix::fs::setxattr(path("a.txt"), "user.note", b"kept", XattrFlags::empty()).unwrap();
    age(root);
}

/// Sets all times to one in the past.
pub fn age(root: &Path) {
    for name in read(root).keys().rev() {
        let time = Timespec { tv_sec: 1_600_000_000, tv_nsec: 123_456_789 };
        let times = Timestamps { last_access: time, last_modification: time };
        rustix::fs::utimensat(CWD, root.join(name), &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
}
