//! Reads a report on standard input and writes it again: `reread check < report.json`. Tests compare the two.

use std::io::{Read as _, stdin};
use std::process::ExitCode;

use report::document::{JsonReport, read};
use report::explain::ExplainReport;
use report::fit::FitReport;
use report::render::json::write;
use report::tune::TuneReport;
use report::{CheckReport, Report};
use serde::de::DeserializeOwned;

fn main() -> ExitCode {
    let rewrite = match std::env::args().nth(1).unwrap_or_default().as_str() {
        "check" => rewrite::<CheckReport>,
        "explain" => rewrite::<ExplainReport>,
        "fit" => rewrite::<FitReport>,
        "tune" => rewrite::<TuneReport>,
        _ => refuse,
    };
    let mut bytes = Vec::new();
    match stdin().read_to_end(&mut bytes).map_err(Failure::from).and_then(|_| rewrite(&bytes)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn refuse(_: &[u8]) -> Result<String, Failure> {
    Err("expected the command of a report that is read: check, explain, fit or tune".into())
}

type Failure = Box<dyn std::error::Error>;

fn rewrite<R: JsonReport + Report + DeserializeOwned>(bytes: &[u8]) -> Result<String, Failure> {
    Ok(write(&read::<R>(bytes)?)?)
}
