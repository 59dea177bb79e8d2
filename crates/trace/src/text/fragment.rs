//! A quick test for the anchors among the significant bytes of a text.
//!
//! # Note [Fragments]
//! The automaton reads each byte in turn. A log of gigabytes has an anchor in few of its blocks, so a block is first
//! reduced to its significant bytes, in which every anchor is contiguous, and searched for fragments: six letters, rare
//! in other texts, of which every anchor has one. Of six letters, every third place starts a gram of four letters, so
//! one place in three is looked up. A known gram is compared with the anchors that have it there; only a block with an
//! anchor goes to the automaton.

use std::sync::LazyLock;

use super::anchor;

/// The letters of a fragment.
const LENGTH: usize = 6;
/// The letters of a gram.
const GRAM: usize = 4;
/// The distance of the places that are looked up.
const STRIDE: usize = LENGTH - GRAM + 1;
/// The bits of a place in the table of grams.
const BITS: u32 = 14;

/// Every anchor has one of these.
#[rustfmt::skip]
const FRAGMENTS: [&[u8; LENGTH]; 84] = [
    b"outofm", b"nnotal", b"wedmem", b"ionond", b"hoomon", b"ut_of_", b"loc_fa", b"g`cubl", b"ceallo", b"rocbla",
    b"nengin", b"hmemor", b"ion_fa", b"dtocud", b"youtri", b"etomma", b"agingf", b"opensh", b"</torc", b"er(pid",
    b"oom-ki", b"oom_re", b"oom_ki", b"killed", b"ut-of-", b"edstep", b"edjobm", b"9(sigk", b"ls.sig", b"xitcod",
    b"hcode1", b"xitsta", b"oomwhe", b"exhaus", b"h-buff", b"bfcare", b"cheblo", b"inkvca",
    b"redgpu", b"lekvca", b"lowonm", b"vaheap", b"oryerr", b"bad_al", b"rversi", b"nvsmil", b"l[mib]", b"d[mib]",
    b"e[mib]", b"y[mib]", b".all.a", b".all.c", b"hcudam", b"ryprof", b"m-frac", b"nbalan", b"emmemo", b"fgpume", b"oolsiz",
    b"v_err_",
    b"toallo", b"yalloc",
    b"non-py", b"edmemo", b"otcaus", b"tgpume", b"cememo", b"d/dev/", b"y!ator", b"memlim",
    b"rncode", b"hcode-", b"gkill(", b"alsigk", b"ignal9", b"ed(137", b"bleram", b"sageth", b"etooom", b"winerr", b"ror145", b"eadyma",
    b"esulte", b"ramtot",
];

/// The anchors with a gram, each with the letters before the gram.
type Places = Vec<(&'static [u8], usize)>;

/// The grams of all fragments.
pub(super) struct Grams {
    /// By the hash of a gram: an index into `places`; 0 for unknown grams.
    slots: Vec<u16>,
    places: Vec<Places>,
}

/// The grams of all anchors.
pub(super) static GRAMS: LazyLock<Grams> = LazyLock::new(Grams::new);

impl Grams {
    fn new() -> Grams {
        let mut grams = Grams { slots: vec![0; 1 << BITS], places: vec![Places::new()] };
        for pattern in anchor::patterns().map(str::as_bytes) {
            let Some(start) = fragment(pattern) else { continue };
            for at in start..start + STRIDE {
                grams.insert(pattern, at);
            }
        }
        grams
    }

    fn insert(&mut self, pattern: &'static [u8], at: usize) {
        let Some(&gram) = pattern[at..].first_chunk() else { return };
        let slot = &mut self.slots[slot(gram)];
        if *slot == 0 {
            *slot = u16::try_from(self.places.len()).unwrap_or(0);
            self.places.push(Places::new());
        }
        self.places[usize::from(*slot)].push((pattern, at));
    }

    /// Tests that an anchor ends behind the first `known` of `letters`.
    pub(super) fn is_anchor_in(&self, letters: &[u8], known: usize) -> bool {
        let mut at = 0;
        while let Some(&gram) = letters.get(at..).and_then(<[u8]>::first_chunk) {
            let slot = self.slots[slot(gram)];
            if slot != 0 && self.places[usize::from(slot)].iter().any(|place| is_at(letters, known, at, *place)) {
                return true;
            }
            at += STRIDE;
        }
        false
    }
}

/// The offset of the first fragment in an anchor.
fn fragment(pattern: &[u8]) -> Option<usize> {
    pattern.windows(LENGTH).position(|letters| FRAGMENTS.iter().any(|fragment| *fragment == letters))
}

/// The hash of a gram. Some signs have the hash of others, beside the two cases of a letter.
fn slot(gram: [u8; GRAM]) -> usize {
    const LOWER: u32 = 0x2020_2020;
    const FACTOR: u32 = 0x9e37_79b1;
    let hash = (u32::from_le_bytes(gram) | LOWER).wrapping_mul(FACTOR);
    (hash >> (u32::BITS - BITS)) as usize
}

/// Tests that `pattern` has its letter `offset` at `at`, and ends behind the first `known` of `letters`.
fn is_at(letters: &[u8], known: usize, at: usize, (pattern, offset): (&[u8], usize)) -> bool {
    let Some(start) = at.checked_sub(offset) else { return false };
    let end = start + pattern.len();
    end > known && letters.get(start..end).is_some_and(|found| found.eq_ignore_ascii_case(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_anchor_has_a_fragment_and_every_fragment_an_anchor() {
        let without: Vec<_> = anchor::patterns().filter(|pattern| fragment(pattern.as_bytes()).is_none()).collect();
        assert_eq!(without, [""; 0]);
        let is_used = |wanted: &[u8; LENGTH]| {
            anchor::patterns().any(|pattern| {
                fragment(pattern.as_bytes()).is_some_and(|at| pattern.as_bytes()[at..].starts_with(wanted))
            })
        };
        let unused = FRAGMENTS.iter().filter(|fragment| !is_used(fragment));
        assert_eq!(unused.map(|fragment| String::from_utf8_lossy(*fragment)).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn every_anchor_is_found_at_every_place_and_in_either_case() {
        for pattern in anchor::patterns() {
            for before in 0..STRIDE {
                let letters = ".".repeat(before) + &pattern.to_uppercase() + "...";
                let end = before + pattern.len();
                assert!(GRAMS.is_anchor_in(letters.as_bytes(), end - 1), "{letters}");
                assert!(!GRAMS.is_anchor_in(letters.as_bytes(), end), "{letters}");
            }
        }
    }
}
