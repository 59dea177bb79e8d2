//! Compares this parser of `PYTORCH_CUDA_ALLOC_CONF` with real PyTorch on the same texts.
//!
//! ```sh
//! oomph phantom --gpu rtx-4090 -- python tests/settings/fuzz.py --seed 1 --cases 1000 |
//!     cargo run --release -p allocator --example settings
//! ```

use std::io::{self, BufRead};
use std::process::ExitCode;

#[path = "../tests/settings/recorded.rs"]
mod recorded;

use recorded::{Recorded, Verdict};

/// The number of differences to print.
const SHOWN: usize = 20;

fn main() -> io::Result<ExitCode> {
    let (mut equal, mut undefined, mut different) = (0, 0, 0);
    for line in io::stdin().lock().lines() {
        let recorded: Recorded = serde_json::from_str(&line?).map_err(io::Error::other)?;
        match recorded.compare() {
            Verdict::Equal => equal += 1,
            Verdict::Undefined => undefined += 1,
            Verdict::Different(how) => {
                different += 1;
                if different <= SHOWN {
                    println!("{how}");
                }
            }
        }
    }
    println!("{equal} equal, {different} different, {undefined} where PyTorch's answer is not defined");
    Ok(if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
