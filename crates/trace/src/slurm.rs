//! A job of Slurm, from the output of `scontrol show job` and `sacct -P`.

use std::path::PathBuf;

use crate::Bytes;

/// The fields of `sacct --format`, in the order that [`SlurmJob::read_accounts`] expects.
pub const ACCOUNT_FIELDS: &str = "JobID,JobIDRaw,JobName,State,ExitCode,ReqMem,MaxRSS,NodeList,WorkDir";

/// The known facts of a job. A text is empty if Slurm does not state it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmJob {
    /// The id without its task, as `SLURM_JOB_ID` has it in the job.
    pub raw_id: String,
    /// The id as people write it, such as `123_4`.
    pub id: String,
    /// The name.
    pub name: String,
    /// The state, such as `FAILED`, without the user behind `CANCELLED by`.
    pub state: String,
    /// The end of the batch script; `None` if Slurm does not state it.
    pub exit: Option<JobExit>,
    /// The requested host memory, as Slurm writes it.
    pub requested_memory: String,
    /// The largest resident memory of any process of a step; `None` without accounting.
    pub largest_process: Option<Bytes>,
    /// The nodes.
    pub nodes: String,
    /// The working directory.
    pub folder: PathBuf,
    /// The files of the batch script's standard output and error; none if the job is known from the accounts alone.
    pub logs: Vec<PathBuf>,
    /// True if a step of the job ran out of host memory by its own state.
    has_full_step: bool,
}

/// The end of a batch script or a step, `STATUS:SIGNAL` in Slurm's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobExit {
    /// The exit status.
    pub status: i32,
    /// The signal; 0 for none.
    pub signal: i32,
}

/// The end that Slurm assigns to a step with an out-of-memory event.
const FULL: JobExit = JobExit { status: 0, signal: 125 };
const OUT_OF_MEMORY: &str = "OUT_OF_MEMORY";
const COMPLETED: &str = "COMPLETED";

impl SlurmJob {
    /// Reads a job of `scontrol show job`: of an array the first task that did not end well, else the first one. `None` if the text has none. The lines
    /// of a job are pairs, `KEY=VALUE`, separated by blanks.
    pub fn read_control(text: &str) -> Option<SlurmJob> {
        let mut jobs = text.split("\n\n").filter(|part| !read_word(part, "JobId").is_empty());
        let first = jobs.clone().next()?;
        let job = jobs.find(|job| read_word(job, "JobState") != COMPLETED).unwrap_or(first);
        let of = |key| read_word(job, key);
        let raw_id = of("JobId");
        let logs = [read_rest(job, "StdOut"), read_rest(job, "StdErr")].into_iter().filter(is_log);
        Some(SlurmJob {
            raw_id: raw_id.to_owned(),
            id: name_job(
                raw_id,
                [("ArrayJobId", '_', "ArrayTaskId"), ("HetJobId", '+', "HetJobOffset")]
                    .map(|(job, sign, part)| (of(job), sign, of(part))),
            ),
            name: of("JobName").to_owned(),
            state: of("JobState").to_owned(),
            exit: read_exit(of("ExitCode")),
            requested_memory: read_memory(of("TRES"))
                .or_else(|| read_memory(of("ReqTRES")))
                .unwrap_or_default()
                .to_owned(),
            nodes: Some(of("NodeList")).filter(|nodes| *nodes != "(null)").unwrap_or_default().to_owned(),
            folder: read_rest(job, "WorkDir").into(),
            logs: distinct(logs.map(PathBuf::from)),
            ..SlurmJob::default()
        })
    }

    /// Reads the rows of a job and its steps, as `sacct -P -n` prints them with [`ACCOUNT_FIELDS`]; `None` without a row.
    pub fn read_accounts(text: &str) -> Option<SlurmJob> {
        let rows: Vec<[&str; 9]> =
            text.lines().filter_map(|row| row.split('|').collect::<Vec<_>>().try_into().ok()).collect();
        let mut jobs = rows.iter().filter(|row| !row[0].contains('.'));
        let first = jobs.clone().next()?;
        let of_job = jobs.find(|row| row[3] != COMPLETED).unwrap_or(first);
        let [id, raw_id, name, state, exit, requested_memory, _, nodes, folder] = *of_job;
        let steps = rows.iter().filter(|row| row[0].strip_prefix(id).is_some_and(|rest| rest.starts_with('.')));
        let steps: Vec<&[&str; 9]> = steps.collect();
        Some(SlurmJob {
            raw_id: raw_id.to_owned(),
            id: id.to_owned(),
            name: name.to_owned(),
            state: first_word(state),
            exit: read_exit(exit),
            requested_memory: requested_memory.to_owned(),
            largest_process: steps.iter().filter_map(|row| read_size(row[6])).max(),
            nodes: nodes.to_owned(),
            folder: folder.into(),
            logs: Vec::new(),
            has_full_step: steps.iter().any(|row| row[3] == OUT_OF_MEMORY || read_exit(row[4]) == Some(FULL)),
        })
    }

    /// Adds the facts that only the accounts have.
    #[must_use]
    pub fn with_accounts(self, accounts: Option<SlurmJob>) -> SlurmJob {
        let Some(accounts) = accounts else { return self };
        SlurmJob {
            largest_process: accounts.largest_process,
            has_full_step: accounts.has_full_step,
            requested_memory: Some(self.requested_memory)
                .filter(|text| !text.is_empty())
                .unwrap_or(accounts.requested_memory),
            ..self
        }
    }

    /// True if the kernel or Slurm ended a step because the job's host memory was full, by the state of the job or of a step.
    pub fn is_out_of_host_memory(&self) -> bool {
        self.state == OUT_OF_MEMORY || self.exit == Some(FULL) || self.has_full_step
    }

    /// The requested host memory; `None` if Slurm does not state it.
    pub fn requested_bytes(&self) -> Option<Bytes> {
        // Before 21.08 `n` and `c` tell memory of a node from memory of a core.
        read_size(self.requested_memory.trim_end_matches(['n', 'c']))
    }

    /// True if the job has ended.
    pub fn has_ended(&self) -> bool {
        !["PENDING", "RUNNING", "SUSPENDED", "CONFIGURING", "REQUEUED", "RESIZING"].contains(&self.state.as_str())
    }

    /// The names that `sbatch` chooses for a log.
    pub fn default_log(&self) -> PathBuf {
        // An array's pattern is `slurm-%A_%a.out`, any other job's `slurm-%j.out`.
        let name = if self.id.contains('_') { &self.id } else { &self.raw_id };
        // The batch script of a heterogeneous job runs in its first part.
        let name = self.id.split_once('+').map_or(name.as_str(), |(leader, _)| leader);
        self.folder.join(format!("slurm-{name}.out"))
    }
}

fn name_job(raw_id: &str, parts: [(&str, char, &str); 2]) -> String {
    let found = parts.into_iter().find(|(job, _, part)| !job.is_empty() && !part.is_empty());
    found.map_or_else(|| raw_id.to_owned(), |(job, sign, part)| format!("{job}{sign}{part}"))
}

/// The value of a key that stands at the start of a line or behind a blank, up to the next blank.
fn read_word<'a>(text: &'a str, key: &str) -> &'a str {
    let words = text.split_ascii_whitespace();
    words.filter_map(|word| word.split_once('=')).find(|(name, _)| *name == key).map_or("", |(_, value)| value)
}

/// The value of a key to the end of its line: a path may have blanks.
fn read_rest<'a>(text: &'a str, key: &str) -> &'a str {
    let lines = text.lines().filter_map(|line| line.trim_start().split_once('='));
    lines.into_iter().find(|(name, _)| *name == key).map_or("", |(_, value)| value)
}

fn is_log(path: &&str) -> bool {
    !path.is_empty() && *path != "/dev/null" && *path != "(null)"
}

fn distinct(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

fn read_exit(text: &str) -> Option<JobExit> {
    let (status, signal) = text.split_once(':')?;
    Some(JobExit { status: status.parse().ok()?, signal: signal.parse().ok()? })
}

/// `mem=500M` among the resources.
fn read_memory(resources: &str) -> Option<&str> {
    resources.split(',').find_map(|resource| resource.strip_prefix("mem="))
}

/// `CANCELLED by 1000` is `CANCELLED`.
fn first_word(state: &str) -> String {
    state.split(' ').next().unwrap_or_default().to_owned()
}

/// A size of `MaxRSS`, such as `330136K` or `1.50G`; `None` for an empty one.
fn read_size(text: &str) -> Option<Bytes> {
    let (number, shift) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 10),
        'M' => (&text[..text.len() - 1], 20),
        'G' => (&text[..text.len() - 1], 30),
        'T' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let unit = 1u64 << shift;
    let of_part = part.parse::<u64>().ok()?.checked_mul(unit)? / 10u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(of_part).map(Bytes)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    /// Output of Slurm 22.05, cut.
    const TASK: &str = "JobId=5 ArrayJobId=3 ArrayTaskId=4 JobName=train\n   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)\n   \
        Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=3:0\n   ReqNodeList=(null) ExcNodeList=(null)\n   NodeList=node2\n   \
        TRES=cpu=1,mem=100M,node=1,billing=1\n   WorkDir=/home/a user/job\n   StdErr=/home/a user/job/slurm-3_4.out\n   \
        StdIn=/dev/null\n   StdOut=/home/a user/job/slurm-3_4.out\n   Power=\n\n";
    const STEPS: &str = "1|1|train|FAILED|9:0|300M||node1|/job\n1.batch|1.batch|batch|FAILED|9:0||12468K|node1|\n1.0|1.0|python|CANCELLED by 0|0:9||330136K|node1|\n";

    #[test]
    fn the_controller_states_a_job_in_pairs() {
        let job = SlurmJob::read_control(TASK).unwrap();
        assert_eq!((job.raw_id.as_str(), job.id.as_str(), job.name.as_str()), ("5", "3_4", "train"));
        assert_eq!((job.state.as_str(), job.nodes.as_str()), ("FAILED", "node2"));
        assert_eq!(job.exit, Some(JobExit { status: 3, signal: 0 }));
        assert_eq!(job.requested_bytes(), Some(Bytes(100 << 20)));
        assert_eq!(job.logs, [PathBuf::from("/home/a user/job/slurm-3_4.out")]);
        assert_eq!(SlurmJob::read_control("slurm_load_jobs error: Invalid job id specified\n"), None);
        let part =
            SlurmJob::read_control("JobId=7 HetJobId=6 HetJobOffset=1 JobName=train\n   JobState=COMPLETED\n").unwrap();
        assert_eq!((part.id.as_str(), part.exit), ("6+1", None), "an end that is not stated is unknown");
        let both = format!("{}{TASK}", TASK.replace("FAILED", "COMPLETED").replace("TaskId=4", "TaskId=9"));
        assert_eq!(SlurmJob::read_control(&both).unwrap().id, "3_4", "the task that did not end well");
    }

    #[test]
    fn accounts_state_the_steps() {
        let job = SlurmJob::read_accounts(STEPS).unwrap();
        assert_eq!((job.largest_process, job.requested_bytes()), (Some(Bytes(330_136 << 10)), Some(Bytes(300 << 20))));
        assert!(!job.is_out_of_host_memory() && job.has_ended());
        assert_eq!(job.default_log(), PathBuf::from("/job/slurm-1.out"));
        for full in ["OUT_OF_MEMORY|0:125", "FAILED|0:125"] {
            let text = STEPS.replace("CANCELLED by 0|0:9", full);
            assert!(SlurmJob::read_accounts(&text).unwrap().is_out_of_host_memory(), "{full}");
        }
        assert_eq!(SlurmJob::read_accounts(""), None);
    }

    #[test]
    fn a_size_has_a_unit() {
        let cases = [
            ("", None),
            ("0", Some(0)),
            ("12468K", Some(12_468 << 10)),
            ("1.50G", Some(3 << 29)),
            ("2T", Some(2 << 40)),
            ("x", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(read_size(text), bytes.map(Bytes), "{text}");
        }
    }
}
