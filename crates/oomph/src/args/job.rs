//! `--world-size N`: the ranks of a job to run, each alone in a process.

use base::SetupError;
use clap::Args;
use trace::run::Job;

use crate::error::Error;

/// The number of GPUs of a machine, where the user does not say: that of most cluster nodes.
const USUAL_LOCAL_WORLD_SIZE: u32 = 8;

/// A job of more ranks than are run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Job")]
pub(crate) struct JobOptions {
    /// Check ranks of a job of N GPUs, each in one process; the other ranks need not exist
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "gpus")]
    pub(crate) world_size: Option<u32>,

    /// The ranks to check, such as `0,7` or `first,last` [default: 0]
    #[arg(long = "rank", value_name = "R", value_delimiter = ',', requires = "world_size")]
    pub(crate) ranks: Vec<RankName>,

    /// GPUs of each machine of the job [default: N, at most 8]
    #[arg(long, value_name = "M", requires = "world_size", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) local_world_size: Option<u32>,
}

/// A rank as a person names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RankName {
    Number(u32),
    Last,
}

impl std::str::FromStr for RankName {
    type Err = String;

    fn from_str(text: &str) -> Result<RankName, String> {
        match text.trim() {
            "first" => Ok(RankName::Number(0)),
            "last" => Ok(RankName::Last),
            number => number
                .parse()
                .map(RankName::Number)
                .map_err(|_| format!("`{number}` is not a rank; expected a number, `first` or `last`")),
        }
    }
}

impl JobOptions {
    /// The job; `None` without `--world-size`.
    pub(crate) fn job(&self) -> Result<Option<Job>, Error> {
        let Some(world_size) = self.world_size else { return Ok(None) };
        let local_world_size = self.local_world_size.unwrap_or(world_size.min(USUAL_LOCAL_WORLD_SIZE));
        if !world_size.is_multiple_of(local_world_size) {
            return Err(Error::from(SetupError::UnevenWorld { world_size, local_world_size }));
        }
        Ok(Some(Job { world_size, local_world_size, ranks: self.chosen(world_size)? }))
    }

    /// The ranks in order, each once.
    fn chosen(&self, world_size: u32) -> Result<Vec<u32>, Error> {
        let mut ranks: Vec<u32> = self.ranks.iter().map(|rank| rank.number(world_size)).collect();
        if ranks.is_empty() {
            ranks.push(0);
        }
        ranks.sort_unstable();
        ranks.dedup();
        match ranks.iter().find(|rank| **rank >= world_size) {
            Some(rank) => Err(Error::from(SetupError::NoSuchRank { rank: *rank, world_size })),
            None => Ok(ranks),
        }
    }
}

impl RankName {
    fn number(self, world_size: u32) -> u32 {
        match self {
            RankName::Number(rank) => rank,
            RankName::Last => world_size - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(world_size: u32, ranks: &[RankName], local_world_size: Option<u32>) -> Result<(u32, Vec<u32>), String> {
        let options = JobOptions { world_size: Some(world_size), ranks: ranks.to_vec(), local_world_size };
        let job = options.job().map_err(|error| error.to_string())?;
        Ok(job.map(|job| (job.local_world_size, job.ranks)).unwrap_or_default())
    }

    #[test]
    fn a_job_is_what_was_asked_for_or_an_error_says_why_not() {
        use RankName::{Last, Number};
        assert_eq!(job(64, &[], None), Ok((8, vec![0])));
        assert_eq!(job(4, &[Last, Number(0), Number(3)], None), Ok((4, vec![0, 3])));
        assert_eq!(job(12, &[Number(5)], Some(6)), Ok((6, vec![5])));
        assert!(job(12, &[], None).is_err_and(|text| text.contains("--local-world-size 8")), "12 is no multiple of 8");
        assert!(job(4, &[Number(4)], None).is_err_and(|text| text.contains("ranks 0 to 3")));
    }

    #[test]
    fn ranks_are_named_by_number_or_word() {
        let cases = [("7", Ok(RankName::Number(7))), (" last", Ok(RankName::Last)), ("first", Ok(RankName::Number(0)))];
        for (text, expected) in cases {
            assert_eq!(text.parse(), expected, "{text}");
        }
        assert!("one".parse::<RankName>().is_err_and(|text| text.contains("`one`")));
    }
}
