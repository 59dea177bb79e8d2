//! A setting as lines to copy.

use report::tune::Lines;

/// The variable that every version reads, and that wins where the newer `PYTORCH_ALLOC_CONF` (2.10 and later) is set too.
pub(super) const VARIABLE: &str = "PYTORCH_CUDA_ALLOC_CONF";

/// The lines for `conf`; for no setting at all, those that remove what is set.
pub(super) fn lines(conf: &str) -> Lines {
    if conf.is_empty() {
        return Lines {
            bash: format!("unset {VARIABLE}"),
            powershell: format!("Remove-Item Env:{VARIABLE}"),
            cmd: format!("set {VARIABLE}="),
            python: format!("import os; os.environ.pop(\"{VARIABLE}\", None)  # before `import torch`"),
        };
    }
    Lines {
        bash: format!("export {VARIABLE}=\"{conf}\""),
        powershell: format!("$env:{VARIABLE}=\"{conf}\""),
        // The quotes stand around the whole, or they would become part of the value.
        cmd: format!("set \"{VARIABLE}={conf}\""),
        python: format!("import os; os.environ[\"{VARIABLE}\"] = \"{conf}\"  # before `import torch`"),
    }
}
