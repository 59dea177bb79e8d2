//! `caught-oom`: an out-of-memory error was caught, and the program continued.
//!
//! Role caught, order 230.

use causes::CauseId;
use report::{Caught, Finding, Recovery, Severity, SizeSearch, Then};

use crate::rules::facts::input::{Facts, Failure};
use crate::rules::rule::{Cause, Check, Rank, Rule};

pub(super) const RULE: Rule = Rule { cause: CauseId::CaughtOom, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let request = facts.failure.as_ref().filter(|failure| !failure.is_fatal || failure.caught.is_some())?;
    let times = request.times.map(|times| times.row("out-of-memory errors"));
    let evidence = times.into_iter().chain(request.requested.map(|requested| requested.row("request"))).collect();
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: if request.search.is_some() { Severity::Info } else { Severity::Warning },
        message: message(facts, request),
        location: request.location.clone(),
        evidence,
        remedies: Vec::new(),
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside, removal: None })
}

fn message(facts: &Facts, request: &Failure) -> String {
    match (&request.caught, &request.search) {
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
    let at = facts.at(&search.caught_at);
    let times = if search.errors == 1 { "once".to_owned() } else { format!("{} times", search.errors) };
    match (search.recovery, &search.lowers) {
        (Recovery::Smaller, Some(lowers)) => {
            format!("the program looks for a size that fits: it ran out {times}, and made `{lowers}` smaller at {at}")
        }
        (Recovery::Smaller, None) => {
            format!(
                "the program looks for a size that fits: it ran out {times}, caught the error at {at}, and tried again with less"
            )
        }
        (Recovery::OtherWay, _) => {
            format!(
                "the program lives with the error: it ran out {times}, caught the error at {at}, and took another way"
            )
        }
        (Recovery::Measured, _) => {
            format!("the program fills the device to measure it: it ran out {times}, caught at {at}")
        }
    }
}
