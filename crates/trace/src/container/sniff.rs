//! Recognises a file by its first bytes. The name is ignored, since people rename files.

/// The kind of a file, or of the content of a packed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentKind {
    /// A Python pickle, possibly a snapshot.
    Pickle,
    /// A JSON object, or a list of objects.
    Json,
    /// Packed with gzip.
    Gzip,
    /// Packed with zstd.
    Zstd,
    /// A zip archive, as written by `torch.save` and offered by web sites.
    Zip,
    /// Any other content, possibly a log.
    Text,
}

/// The first bytes of each kind. No text that people write starts with these bytes.
const STARTS: [(&[u8], ContentKind); 11] = [
    (b"\x1f\x8b", ContentKind::Gzip),
    (b"\x28\xb5\x2f\xfd", ContentKind::Zstd),
    (b"PK\x03\x04", ContentKind::Zip),
    (b"PK\x05\x06", ContentKind::Zip),
    // Protocols 0 and 1 have no header; these are the first bytes of their pickles of a dict or a list.
    (b"(dp0\n", ContentKind::Pickle),
    (b"(lp0\n", ContentKind::Pickle),
    (b"}q\x00", ContentKind::Pickle),
    (b"]q\x00", ContentKind::Pickle),
    (b"}(", ContentKind::Pickle),
    (b"](}", ContentKind::Pickle),
    (b"].", ContentKind::Pickle),
];

/// The kind of a file with these first bytes. A few hundred bytes are enough.
pub fn sniff(first: &[u8]) -> ContentKind {
    if let Some(&(_, kind)) = STARTS.iter().find(|(start, _)| first.starts_with(start)) {
        return kind;
    }
    match first {
        // PROTO. Protocols that Python does not have yet are rejected later, by the pickle reader.
        [0x80, 0..=0x0f, ..] => ContentKind::Pickle,
        // The magic number of zstd's skippable frames, which may come first.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => ContentKind::Zstd,
        _ if is_json(first) => ContentKind::Json,
        _ => ContentKind::Text,
    }
}

/// Recognises `{"` or `[{`, with blanks wherever JSON allows them. `[rank0]:` and a Python dict are not JSON.
fn is_json(first: &[u8]) -> bool {
    let blank = |byte: &&u8| byte.is_ascii_whitespace();
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    let mut signs = first.iter().skip_while(blank);
    let opening = signs.next();
    let next = signs.find(|byte| !byte.is_ascii_whitespace());
    matches!((opening, next), (Some(b'{'), Some(b'"' | b'}')) | (Some(b'['), Some(b'{' | b']')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        let cases: [(&[u8], ContentKind); 17] = [
            (b"\x80\x04\x95\x05\x02", ContentKind::Pickle),
            (b"\x80\x02}(X\x08\0\0\0segments", ContentKind::Pickle),
            (b"(dp0\nS'segments'\n", ContentKind::Pickle),
            (b"}q\x00(X\x08\0\0\0segments", ContentKind::Pickle),
            (b"{\"segments\": []}", ContentKind::Json),
            (b"\n [ \n {\"address\": 1", ContentKind::Json),
            (b"[]", ContentKind::Json),
            (b"\x1f\x8b\x08\x00", ContentKind::Gzip),
            (b"\x28\xb5\x2f\xfd\x04", ContentKind::Zstd),
            (b"PK\x03\x04\x14", ContentKind::Zip),
            (b"", ContentKind::Text),
            (b"Traceback (most recent call last):", ContentKind::Text),
            (b"[rank0]: torch.OutOfMemoryError", ContentKind::Text),
            (b"[2024-01-01 00:00:00] starting", ContentKind::Text),
            (b"{'allocated_bytes.all.current': 0}", ContentKind::Text),
            (b"(default) ann@node:~$ python train.py", ContentKind::Text),
            (b"PKU 12", ContentKind::Text),
        ];
        for (first, kind) in cases {
            assert_eq!(sniff(first), kind, "{first:?}");
        }
    }
}
