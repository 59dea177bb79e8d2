//! The switches of the programs that run out: an engine's share of the device, an interface's mode for small devices.

use report::Remedy;
use trace::text::{Application, Framework};

use super::{advice, applications, frameworks};

/// Returns the switches of a framework, the most effective first.
pub(in crate::rules) fn of_framework(framework: Framework) -> Vec<Remedy> {
    select(frameworks::TABLE, framework)
}

/// Returns the switches of a program that runs PyTorch.
pub(in crate::rules) fn of_application(program: Application) -> Vec<Remedy> {
    match program {
        Application::Vllm => of_framework(Framework::Vllm),
        _ => select(applications::TABLE, program),
    }
}

fn select<K: PartialEq + Copy>(table: &[(K, &str, &str)], key: K) -> Vec<Remedy> {
    table.iter().filter(|row| row.0 == key).map(|(_, remedy, how)| advice(remedy, how)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_program_stand_together() {
        fn check<K: PartialEq + Copy + std::fmt::Debug>(table: &[(K, &str, &str)]) {
            let mut keys: Vec<K> = table.iter().map(|row| row.0).collect();
            keys.dedup();
            for (place, key) in keys.iter().enumerate() {
                assert!(!keys[..place].contains(key), "{key:?} has rows in two places");
            }
        }
        check(frameworks::TABLE);
        check(applications::TABLE);
    }

    #[test]
    fn a_program_has_its_own_switches_in_their_order() {
        let first = |remedies: Vec<Remedy>| remedies.first().map(|remedy| remedy.remedy.clone()).unwrap_or_default();
        assert_eq!(first(of_framework(Framework::Sglang)), "raise --mem-fraction-static");
        assert_eq!(first(of_application(Application::Sglang)), "lower --mem-fraction-static");
        assert_eq!(of_application(Application::Vllm), of_framework(Framework::Vllm));
        assert_eq!(of_framework(Framework::Cuda), Vec::new());
    }
}
