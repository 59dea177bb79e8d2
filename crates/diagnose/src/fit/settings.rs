//! The allocator's settings that suit a recorded program: what `tune` finds.

use trace::Run;

use crate::explain::{ExplainInput, InputContents};
use crate::tune::{Gpu, TuneCase, TuneError, tune};

/// What `PYTORCH_CUDA_ALLOC_CONF` should be for a program that was recorded in `run`, on `gpu`; `None` where nothing is better than
/// what it has, or where PyTorch keeps no history.
///
/// # Errors
/// A history that cannot be replayed.
pub fn settings_by_replay(run: Run, gpu: Gpu) -> Result<Option<String>, TuneError> {
    let input = ExplainInput { path: "the program".to_owned(), rank: None, contents: InputContents::Run(run, None) };
    match tune(&TuneCase { inputs: vec![input], device: Some(gpu), ..TuneCase::default() }, &()) {
        Ok(tuning) => Ok(tuning.recommended_conf().map(str::to_owned)),
        Err(TuneError::NoHistory(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
