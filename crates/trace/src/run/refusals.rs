//! The refused acts of a program on other processes, from the notes of the run directory.

use std::collections::BTreeSet;

use super::effects::{Refusal, RefusedAct};

/// Reads the notes (Note `[Other processes]` in `crates/phantom/src/others.rs`): `ACT TARGET`, each with a NUL at the end. An act counts
/// once; a cut note is left out.
pub fn read_refusals(bytes: &[u8]) -> Vec<Refusal> {
    let whole = bytes.iter().rposition(|byte| *byte == 0).map_or(&[][..], |end| &bytes[..end]);
    let text = String::from_utf8_lossy(whole);
    let refusals: BTreeSet<Refusal> = text.split('\0').filter_map(parse).collect();
    refusals.into_iter().collect()
}

fn parse(note: &str) -> Option<Refusal> {
    let (act, target) = note.split_once(' ')?;
    Some(Refusal { act: RefusedAct::ALL.into_iter().find(|it| it.word() == act)?, target: target.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_act_counts_once() {
        let notes = b"signal 71\0settings 4\0signal 71\0unknown 3\0machine sethostname\0signal 9";
        let refusal = |act, target: &str| Refusal { act, target: target.to_owned() };
        let expected = [
            refusal(RefusedAct::Signal, "71"),
            refusal(RefusedAct::Settings, "4"),
            refusal(RefusedAct::Machine, "sethostname"),
        ];
        assert_eq!(read_refusals(notes), expected);
    }
}
