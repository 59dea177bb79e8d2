//! Runs in letters: the steps that are compared, and the requests without a pair.

use proptest::prelude::*;

use super::*;
use crate::against::places::PlaceId;
use crate::against::requests::Request;

/// The requests of `steps`, by their letters; the part behind `|` comes after the last step.
fn run(text: &str) -> Requests {
    let (steps, tail) = text.split_once('|').unwrap_or((text, ""));
    let mut list = Vec::new();
    let done = if steps.is_empty() { 0 } else { steps.split(' ').count() };
    for (step, letters) in (1..).zip(steps.split(' ').take(done).chain([tail])) {
        list.extend(letters.bytes().map(|letter| Request {
            place: PlaceId(letter.into()),
            bytes: 512,
            step,
            ..Request::default()
        }));
    }
    Requests { list, done: u32::try_from(done).unwrap_or_default(), ..Requests::default() }
}

fn cut(text: &str) -> Requests {
    Requests { is_cut: true, ..run(text) }
}

fn headless(text: &str, lost: usize) -> Requests {
    let whole = run(text);
    Requests { list: whole.list[lost..].to_vec(), is_headless: true, ..whole }
}

/// The unpaired requests of both runs, and the run, the steps and the requests that are not compared.
fn check(a: &Requests, b: &Requests, unpaired: [&str; 2], surplus: Option<(usize, u32, u64)>) {
    let paired = pair(a, b);
    let letters = |run: &Requests, range: Range<usize>| {
        run.list[range].iter().filter_map(|it| char::from_u32(it.place.0)).collect::<String>()
    };
    let found_a: String = paired.hunks.iter().map(|hunk| letters(a, hunk.a.clone())).collect();
    let found_b: String = paired.hunks.iter().map(|hunk| letters(b, hunk.b.clone())).collect();
    assert_eq!([found_a.as_str(), found_b.as_str()], unpaired);
    assert_eq!(paired.surplus.map(|it| (it.run, it.steps, it.requests)), surplus);
}

#[test]
fn steps_are_paired_with_steps_and_ends_with_ends() {
    check(&run("ab ab"), &run("ab ab"), ["", ""], None);
    check(&run("ab ab|e"), &run("ab ab ab|e"), ["", ""], Some((1, 1, 2)));
    check(&run("ab ab ab|e"), &run("ab ab|f"), ["e", "f"], Some((0, 1, 2)));
    check(&run("ab axb"), &run("ab ab"), ["x", ""], None);
    // The end of a run that ended well is compared, that of a run which was ended is not.
    check(&run("ab ab|e"), &run("ab ab"), ["e", ""], None);
    check(&run("ab ab|e"), &cut("ab ab"), ["", ""], Some((0, 0, 1)));
    check(&run("abc abc abc"), &cut("abc|ab"), ["", ""], Some((0, 2, 4)));
    check(&run("abc abc abc"), &cut("abc|ax"), ["bc", "x"], Some((0, 2, 3)));
}

#[test]
fn a_lost_beginning_is_no_difference() {
    check(&run("zabc abc"), &headless("zabc abc", 2), ["", ""], None);
    check(&run("zabc abc"), &headless("zabc abc", 5), ["", ""], None);
    check(&run("zabc axc"), &headless("zabc abc", 5), ["ax", "b"], None);
    check(&headless("|abcabc", 1), &headless("|abcabc", 3), ["", ""], None);
}

#[test]
fn a_run_without_requests_is_compared() {
    check(&run(""), &run(""), ["", ""], None);
    check(&run(""), &run("|ab"), ["", "ab"], None);
}

proptest! {
    #[test]
    fn a_run_has_no_difference_to_itself(text in "[a-d]{0,9}( [a-d]{0,9}){0,4}\\|[a-d]{0,5}") {
        let all = run(&text);
        prop_assert!(pair(&all, &all).hunks.is_empty());
    }

    #[test]
    fn so_many_deleted_requests_are_found(text in "[a-d]{1,9}( [a-d]{1,9}){0,4}", kept in prop::collection::vec(any::<bool>(), 60)) {
        let all = run(&text);
        let rest = all.list.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(request, _)| *request).collect();
        let fewer = Requests { list: rest, ..all.clone() };
        let hunks = pair(&all, &fewer).hunks;
        let found: usize = hunks.iter().map(|hunk| hunk.a.len()).sum();
        prop_assert_eq!(found, all.list.len() - fewer.list.len());
        prop_assert!(hunks.iter().all(|hunk| hunk.b.is_empty()));
    }
}
