//! Tables and random sequences for the alignment.

use proptest::prelude::*;

use super::*;

fn letters(text: &str) -> Vec<u32> {
    text.chars().map(u32::from).collect()
}

/// The unpaired letters of each hunk of both sequences.
type Expected = &'static [(&'static str, &'static str)];

/// The unpaired letters of each hunk.
fn describe(a: &str, b: &str) -> Vec<(String, String)> {
    let (ours, theirs) = (letters(a), letters(b));
    let hunks = list_hunks(&align(&ours, &theirs), ours.len(), theirs.len());
    hunks.into_iter().map(|hunk| (a[hunk.a].to_owned(), b[hunk.b].to_owned())).collect()
}

#[test]
fn hunks_are_the_letters_without_a_pair() {
    let cases: [(&str, &str, Expected); 10] = [
        ("", "", &[]),
        ("abc", "abc", &[]),
        ("abc", "", &[("abc", "")]),
        ("abc", "xyz", &[("abc", "xyz")]),
        ("abc", "abbc", &[("", "b")]),
        ("axbxc", "abc", &[("x", ""), ("x", "")]),
        ("abcabcabc", "abcaXcabc", &[("b", "X")]),
        // Anchors: `p` and `q` keep their order, and the repeated letters between them are aligned.
        ("xxpyyqxx", "xpyyyqx", &[("x", ""), ("", "y"), ("x", "")]),
        // Without anchors: the search finds the fewest edits.
        ("aabbaabb", "abbaabba", &[("a", ""), ("", "a")]),
        ("cdcdcd", "dcdcdc", &[("c", ""), ("", "c")]),
    ];
    for (a, b, expected) in cases {
        let hunks = describe(a, b);
        let found: Vec<(&str, &str)> = hunks.iter().map(|(one, other)| (one.as_str(), other.as_str())).collect();
        assert_eq!(found, expected, "{a} {b}");
    }
}

#[test]
fn a_million_repeated_elements_are_aligned_at_a_bounded_cost() {
    let steady: Vec<u32> = (0..1_000_000).map(|index| index % 7).collect();
    let others: Vec<u32> = steady.iter().map(|element| element % 3).collect();
    let (once, twice) = (align(&steady, &others), align(&steady, &steady[500_000..]));
    assert!(once.iter().all(|stretch| stretch.len > 0));
    assert_eq!(twice.iter().map(|stretch| stretch.len).sum::<usize>(), 500_000);
}

fn unpaired(a: &[u32], b: &[u32]) -> (usize, usize) {
    let hunks = list_hunks(&align(a, b), a.len(), b.len());
    (hunks.iter().map(|hunk| hunk.a.len()).sum(), hunks.iter().map(|hunk| hunk.b.len()).sum())
}

/// A sequence of few or of many different elements.
fn sequences() -> impl Strategy<Value = Vec<u32>> {
    (1u32..40).prop_flat_map(|kinds| prop::collection::vec(0..kinds, 0..300))
}

proptest! {
    #[test]
    fn a_sequence_has_no_difference_to_itself(a in sequences()) {
        prop_assert_eq!(unpaired(&a, &a), (0, 0));
    }

    #[test]
    fn deletions_are_found_as_so_many(a in sequences(), kept in prop::collection::vec(any::<bool>(), 300)) {
        let b: Vec<u32> = a.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(element, _)| *element).collect();
        prop_assert_eq!(unpaired(&a, &b), (a.len() - b.len(), 0));
        prop_assert_eq!(unpaired(&b, &a), (0, a.len() - b.len()));
    }

    #[test]
    fn stretches_are_equal_elements_in_order(a in sequences(), b in sequences()) {
        let mut at = (0, 0);
        for Stretch { a: one, b: other, len } in align(&a, &b) {
            prop_assert!(one >= at.0 && other >= at.1 && len > 0);
            prop_assert_eq!(&a[one..one + len], &b[other..other + len]);
            at = (one + len, other + len);
        }
    }

    #[test]
    fn the_search_finds_no_fewer_pairs_than_the_longest_common_subsequence(
        a in prop::collection::vec(0u32..4, 0..30),
        b in prop::collection::vec(0u32..4, 0..30),
    ) {
        let found = myers::find_pairs(&a, &b, 1000).unwrap_or_default();
        prop_assert!(found.iter().all(|(one, other)| a[*one] == b[*other]));
        prop_assert!(found.is_sorted_by(|one, next| one.0 < next.0 && one.1 < next.1));
        prop_assert_eq!(found.len(), longest_common(&a, &b));
    }
}

/// The length of the longest common subsequence, by the table of all prefixes.
fn longest_common(a: &[u32], b: &[u32]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for one in a {
        let mut corner = 0;
        for (index, other) in b.iter().enumerate() {
            let above = row[index + 1];
            row[index + 1] = if one == other { corner + 1 } else { above.max(row[index]) };
            corner = above;
        }
    }
    row[b.len()]
}
