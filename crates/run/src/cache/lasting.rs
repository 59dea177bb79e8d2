//! Tests if a result depends on the program, or on the moment.

/// Parts of error messages about the machine's state.
const OF_THE_MACHINE: [&str; 8] = [
    "MemoryError",
    "OSError",
    "BlockingIOError",
    "TimeoutError",
    "KeyboardInterrupt",
    "Cannot allocate memory",
    "DefaultCPUAllocator",
    "No space left",
];

/// True if a run would end the same way again. `failure` is the error that ended the program, `status` its process's
/// exit status, negative for a signal.
pub fn is_lasting(failure: Option<&str>, status: i32, timed_out: bool) -> bool {
    let is_of_the_machine = failure.is_some_and(|message| OF_THE_MACHINE.iter().any(|part| message.contains(part)));
    status >= 0 && !timed_out && !is_of_the_machine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_machine_do_not_last() {
        let cases = [
            (None, 0, false, true),
            (Some("ValueError: no"), 1, false, true),
            (Some("MemoryError: "), 1, false, false),
            (Some("it was killed by signal 9"), -9, false, false),
            (None, 0, true, false),
        ];
        for (failure, status, timed_out, expected) in cases {
            assert_eq!(is_lasting(failure, status, timed_out), expected, "{failure:?} {status}");
        }
    }
}
