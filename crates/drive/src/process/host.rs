//! The memory of the host while a program ran: processes that the kernel killed, the limit, the largest process.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::resource::{UsageWho, getrusage};
use trace::run::HostRecord;

/// The counters at the start of a program.
#[derive(Debug)]
pub struct HostWatch {
    groups: Vec<PathBuf>,
    kills: Kills,
}

/// The processes that the kernel has killed since the machine started: of this control group and below, and of the machine.
#[derive(Clone, Copy, Debug, Default)]
struct Kills {
    in_group: Option<u64>,
    on_machine: Option<u64>,
}

impl HostWatch {
    /// Reads the counters before the program starts.
    pub fn start() -> HostWatch {
        let groups = list_groups(&read(Path::new("/proc/self/cgroup")));
        let kills = count_kills(&groups);
        HostWatch { groups, kills }
    }

    /// Compares the counters with those of the start. All children of this process count as the program.
    pub fn finish(&self) -> HostRecord {
        let now = count_kills(&self.groups);
        let since = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        let in_group = since(now.in_group, self.kills.in_group).filter(|kills| *kills > 0);
        let largest = getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss());
        HostRecord {
            killed_processes: in_group.or_else(|| since(now.on_machine, self.kills.on_machine)),
            is_of_group: in_group.is_some(),
            limit_bytes: self.groups.iter().filter_map(|group| read_limit(group)).min(),
            largest_process_bytes: u64::try_from(largest).unwrap_or_default() * 1024,
            ended_micros: micros_now(),
        }
    }
}

/// The time by which recordings are dated.
fn micros_now() -> u64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(passed.as_micros()).unwrap_or(u64::MAX)
}

/// The folders of the memory controller for this process, innermost first, from /proc/self/cgroup (cgroups(7)): version 2 has the line
/// `0::PATH`, version 1 `N:memory:PATH`. In a container the path may be that of the host, of which only the root is mounted.
fn list_groups(text: &str) -> Vec<PathBuf> {
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let root = match controllers {
            "" => Path::new("/sys/fs/cgroup"),
            _ if controllers.split(',').any(|name| name == "memory") => Path::new("/sys/fs/cgroup/memory"),
            _ => continue,
        };
        let own = root.join(path.trim_start_matches('/'));
        groups.extend(own.ancestors().take_while(|folder| folder.starts_with(root)).map(Path::to_owned));
    }
    groups
}

/// The limit of a group: `memory.max` of version 2, `memory.limit_in_bytes` of version 1; `None` without a limit.
fn read_limit(group: &Path) -> Option<u64> {
    let text = [read(&group.join("memory.max")), read(&group.join("memory.limit_in_bytes"))].concat();
    // Version 1 writes a number near 2^63 for no limit.
    text.trim().parse().ok().filter(|limit| *limit < 1 << 60)
}

fn count_kills(groups: &[PathBuf]) -> Kills {
    let own = groups.iter().find_map(|group| {
        let text = [read(&group.join("memory.events")), read(&group.join("memory.oom_control"))].concat();
        find_count(&text, "oom_kill")
    });
    Kills { in_group: own, on_machine: find_count(&read(Path::new("/proc/vmstat")), "oom_kill") }
}

/// The number behind a name, of lines `name number`.
fn find_count(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

/// The text of a file of the kernel; empty if there is no such file.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_lie_from_the_inside_out() {
        let folders = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let cases = [
            ("0::/\n", folders(&["/sys/fs/cgroup"])),
            (
                "0::/system.slice/slurm\n",
                folders(&["/sys/fs/cgroup/system.slice/slurm", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup"]),
            ),
            ("4:memory:/job\n3:cpuset:/\n", folders(&["/sys/fs/cgroup/memory/job", "/sys/fs/cgroup/memory"])),
            ("", Vec::new()),
            ("no colons\n", Vec::new()),
        ];
        for (text, expected) in cases {
            assert_eq!(list_groups(text), expected, "{text:?}");
        }
    }

    #[test]
    fn counts_have_names() {
        // `memory.events` of version 2, `memory.oom_control` of version 1, and /proc/vmstat.
        let version_2 = "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 0\n";
        assert_eq!(find_count(version_2, "oom_kill"), Some(3));
        assert_eq!(find_count("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", "oom_kill"), Some(2));
        assert_eq!(find_count("nr_free_pages 5\n", "oom_kill"), None);
    }
}
