//! `caught-oom`: an out-of-memory error was caught, and the program continued.
//!
//! Role caught, order 230.

use causes::CauseId;
use report::{Caught, Finding, Severity, SizeSearch, Then};

use super::input::Facts;
use super::rule::{Cause, Check, Rank, Rule, When};
use super::shared::{bytes, count};

pub(super) const RULE: Rule = Rule { cause: CauseId::CaughtOom, when: When::Both, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    if facts.fatal && facts.caught.is_none() {
        return None;
    }
    let request = facts.failure.as_ref()?;
    let mut evidence = vec![count("out-of-memory errors", facts.failures, request.request_source)];
    evidence.extend(request.requested.map(|requested| bytes("request", requested.nearest, request.request_source)));
    let finding = Finding {
        rule: RULE.cause,
        severity: if facts.search.is_some() { Severity::Info } else { Severity::Warning },
        message: message(facts),
        location: request.location.clone(),
        evidence,
        remedies: Vec::new(),
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside })
}

fn message(facts: &Facts) -> String {
    match (&facts.caught, &facts.search) {
        (Some(caught), _) => say_caught(facts, caught),
        (None, Some(search)) => say_search(facts, search),
        (None, None) => "an out-of-memory error was raised and caught, and the program continued".to_owned(),
    }
}

fn say_caught(facts: &Facts, caught: &Caught) -> String {
    let at = caught.location.as_ref().map_or_else(String::new, |location| format!(" at {}", facts.at(location)));
    let what = match caught.errors {
        0 | 1 => format!("the out-of-memory error was caught{at}"),
        errors => format!("{errors} out-of-memory errors were caught{at}"),
    };
    match caught.then {
        Then::WentOn { steps: 1 } => format!("{what}; the program went on and made 1 optimizer step"),
        Then::WentOn { steps } => format!("{what}; the program went on and made {steps} optimizer steps"),
        Then::Ended { status: Some(status) } => format!("{what}; the program ended with status {status}"),
        Then::Ended { status: None } => format!("{what}; the program was ended from outside"),
    }
}

fn say_search(facts: &Facts, search: &SizeSearch) -> String {
    let (lowers, at) = (&search.lowers, facts.at(&search.caught_at));
    let times = if search.errors == 1 { "once".to_owned() } else { format!("{} times", search.errors) };
    format!("the program looks for a size that fits: it ran out {times}, and made `{lowers}` smaller at {at}")
}
