//! The connections of a run, from the phantom's notes.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::effects::Host;

/// Reads the notes (Note `[Connections]` in `crates/phantom/src/files/network.rs`): `n NAME ADDRESS` for a name looked up by the program,
/// `c ADDRESS PORT` for a connection, `b PORT` for a port listened on by the program. Connections to ports of the program are left out.
pub fn read_hosts(bytes: &[u8]) -> Vec<Host> {
    let text = String::from_utf8_lossy(bytes);
    let notes: Vec<Vec<&str>> = text.split('\0').map(|note| note.split(' ').collect()).collect();
    let own = |port: &str| notes.iter().any(|note| note.as_slice() == ["b", port]);
    let name = |address: &str| {
        let known = notes.iter().find(|note| matches!(note.as_slice(), ["n", _, found] if *found == address));
        known.map_or(address, |note| note[1]).to_owned()
    };
    let mut counts = BTreeMap::new();
    for note in &notes {
        let ["c", address, port] = note.as_slice() else { continue };
        let is_loopback = address.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
        if let Ok(number) = port.parse::<u16>()
            && !(is_loopback && own(port))
        {
            *counts.entry((name(address), number)).or_insert(0) += 1;
        }
    }
    counts.into_iter().map(|((name, port), connections)| Host { name, port, connections }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_name_and_port() {
        let notes = b"n api.example.org 192.0.2.7\0c 192.0.2.7 443\0c 192.0.2.7 443\0b 29500\0c 127.0.0.1 29500\0c ::1 5432\0c 192.0.2.7";
        let host = |name: &str, port, connections| Host { name: name.to_owned(), port, connections };
        assert_eq!(read_hosts(notes), [host("::1", 5432, 1), host("api.example.org", 443, 2)]);
    }
}
