//! A setting as lines to copy.

use report::tune::Lines;

/// The variable that every version reads, with precedence over the newer `PYTORCH_ALLOC_CONF` (2.10 and later).
pub(super) const VARIABLE: &str = "PYTORCH_CUDA_ALLOC_CONF";

/// Returns the lines that set `conf`; for the defaults, the lines that remove the present setting.
pub(super) fn write_lines(conf: &str) -> Lines {
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
        // The quotes enclose the whole assignment, or `cmd` would add them to the value.
        cmd: format!("set \"{VARIABLE}={conf}\""),
        python: format!("import os; os.environ[\"{VARIABLE}\"] = \"{conf}\"  # before `import torch`"),
    }
}
