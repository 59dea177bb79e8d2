//! A process, by proc(5).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Uid, User};
use trace::machine::HostProcess;

use crate::live::find::read_variable;

/// The milliseconds of a tick of processor time: `USER_HZ` is 100 on x86-64 and aarch64 (include/asm-generic/param.h of Linux).
const TICK_MILLIS: u64 = 10;

/// Describes a process; `None` if this machine, or this container, has none of the number.
pub(super) fn read(pid: u32) -> Option<HostProcess> {
    let folder = Path::new("/proc").join(pid.to_string());
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let (name, fields) = split_stat(&stat)?;
    let ticks = |number: usize| fields.get(number - 3).and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    Some(HostProcess {
        user: find_user(&folder),
        command: read_command(&folder, name),
        started_ticks: ticks(22),
        cpu_millis: (ticks(14) + ticks(15)) * TICK_MILLIS,
        container: find_container(&folder),
        visible_devices: read_variable(pid, "CUDA_VISIBLE_DEVICES").map(|value| value.to_string_lossy().into_owned()),
    })
}

/// Nanoseconds of the clock that all processes of the machine share.
pub(super) fn read_clock() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or((0, 0), |now| (now.tv_sec(), now.tv_nsec()));
    now.0.cast_unsigned() * 1_000_000_000 + now.1.cast_unsigned()
}

/// The name of a process, and the fields from the third on. The name may have blanks and parentheses.
fn split_stat(stat: &str) -> Option<(&str, Vec<&str>)> {
    let (head, fields) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    Some((name, fields.split_whitespace().collect()))
}

fn find_user(folder: &Path) -> Option<String> {
    let uid = fs::metadata(folder).ok()?.uid();
    let known = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    Some(known.map_or_else(|| uid.to_string(), |user| user.name))
}

/// The command line; of a kernel thread or a zombie its name.
fn read_command(folder: &Path, name: &str) -> Vec<String> {
    let line = fs::read(folder.join("cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut words: Vec<String> = words.collect();
    while words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    if words.is_empty() { vec![format!("[{name}]")] } else { words }
}

/// The container, by the names that container engines choose for control groups.
fn find_container(folder: &Path) -> Option<String> {
    let groups = fs::read_to_string(folder.join("cgroup")).ok()?;
    name_container(&groups)
}

fn name_container(groups: &str) -> Option<String> {
    const ENGINES: [(&str, &str); 5] = [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("containerd", "containerd"),
        ("lxc", "lxc"),
    ];
    let path = groups.lines().map(|line| line.rsplit(':').next().unwrap_or_default()).max_by_key(|path| path.len())?;
    let (_, engine) = ENGINES.iter().find(|(word, _)| path.contains(word))?;
    let last = PathBuf::from(path).file_name()?.to_string_lossy().into_owned();
    let id: String = last.rsplit(['-', ':']).next()?.trim_end_matches(".scope").chars().take(12).collect();
    Some(format!("{engine} {id}"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_moves_no_field() {
        let (name, fields) = split_stat("7 (a) b (c) S 1 7 7").unwrap();
        assert_eq!((name, fields), ("a) b (c", vec!["S", "1", "7", "7"]));
        assert_eq!(split_stat("7"), None);
    }

    #[test]
    fn containers_are_named_by_their_engine() {
        let id = "3f2a9c1b77aa0123456789";
        let cases = [
            (format!("0::/system.slice/docker-{id}.scope\n"), Some("docker 3f2a9c1b77aa")),
            (format!("12:memory:/docker/{id}\n0::/\n"), Some("docker 3f2a9c1b77aa")),
            (
                format!("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{id}.scope"),
                Some("kubernetes 3f2a9c1b77aa"),
            ),
            (format!("0::/machine.slice/libpod-{id}.scope"), Some("podman 3f2a9c1b77aa")),
            ("0::/user.slice/user-1000.slice".to_owned(), None),
            (String::new(), None),
        ];
        for (groups, expected) in cases {
            assert_eq!(name_container(&groups).as_deref(), expected, "{groups}");
        }
    }

    #[test]
    fn this_process_is_known() {
        let own = read(std::process::id()).unwrap();
        assert!(own.started_ticks > 0 && !own.command.is_empty() && own.user.is_some(), "{own:?}");
        assert_eq!(read(u32::MAX), None);
        assert!(read_clock() > 0);
    }
}
