//! The next step after an error that a program raised: the first row of a table that says something.

use super::{data, hub};

/// An exception that ended a program.
#[derive(Clone, Copy)]
pub(super) struct Exception<'a> {
    pub(super) type_name: &'a str,
    pub(super) message: &'a str,
    /// The last line that read an uncomputed value.
    pub(super) read: Option<&'a (String, u32)>,
}

/// The sentence for the errors of which `when` is true.
struct Hint {
    when: fn(&Exception) -> bool,
    say: Say,
}

/// A sentence.
enum Say {
    /// The same for all errors of the row.
    Text(&'static str),
    /// It names a part of the error.
    Made(fn(&Exception) -> Option<String>),
}

impl Hint {
    const fn text(when: fn(&Exception) -> bool, text: &'static str) -> Hint {
        Hint { when, say: Say::Text(text) }
    }

    const fn made(make: fn(&Exception) -> Option<String>) -> Hint {
        Hint { when: |_| true, say: Say::Made(make) }
    }

    fn of(&self, error: &Exception) -> Option<String> {
        match self.say {
            _ if !(self.when)(error) => None,
            Say::Text(text) => Some(text.to_owned()),
            Say::Made(make) => make(error),
        }
    }
}

/// Hints for the errors of dry runs.
const OF_DRY_RUNS: &[Hint] = &[
    Hint::made(|error| hub::find_hint(error.message)),
    // CUDA's errors 900 to 908 all name a capture.
    Hint::text(
        |error| error.message.contains("CUDA error") && error.message.contains("captur"),
        "a GPU refuses it, too: in a capture, nothing may wait for the device (`.item()`, `.cpu()`, `nonzero`, \
         `synchronize`), and each side stream waits for the capture's stream first and is waited for at the end",
    ),
    Hint::made(describe_read),
    // Weights by an address (`python/oomph/agent/scenery/weights/ranges.py`), and a server's refusal.
    Hint::text(
        |error| {
            error.is_a(&[
                "oomph.AnswerError",
                "oomph.NoNetworkError",
                "oomph.UnknownWeightsError",
                "urllib.error.HTTPError",
            ])
        },
        "fetch the file once by other means, to the path where the script looks first; with a network a dry run \
         fetches headers alone, and `--online` opens the network for all runs",
    ),
    Hint::text(
        |error| error.says(&["No CUDA GPUs are available", "invalid device ordinal", "Invalid device id"]),
        "does the script name a GPU, perhaps in CUDA_VISIBLE_DEVICES? --gpus N shows it N of them",
    ),
    // A model that is neither on the disk nor in the network (transformers 4.30 to 5.17, diffusers).
    Hint::text(
        |error| {
            error.says(&[
                "couldn't connect to 'https://huggingface.co'",
                "is not a local folder and is not a valid model identifier",
            ])
        },
        "fetch it once where there is a network (`hf download NAME`), or build the model from its configuration \
         (`AutoModelForCausalLM.from_config`): of the weights a dry run needs the shapes alone",
    ),
    Hint::made(|error| data::hint(error.type_name, error.message)),
];

/// A condition, and the sentence where it holds.
type TextHint = (fn(&Exception) -> bool, &'static str);

/// Hints for the errors of all programs, recorded or not. The first seven are about configurations (transformers 4.50 to 5.17, diffusers 0.42),
/// the last is for all other errors.
const OF_PROGRAMS: &[TextHint] = &[
    (
        |error| error.says(&["does not recognize this architecture"]),
        "is `model_type` in config.json right? Else this transformers is older than the model: --python chooses another",
    ),
    (
        |error| error.says(&["Should have a `model_type` key"]),
        "a model's folder has a config.json that states `model_type`; the weights may be absent",
    ),
    (
        |error| error.says(&["is not a valid JSON file"]),
        "fetch the file again: of a model a dry run needs the configuration, whole, and no weights",
    ),
    (
        |error| error.says(&["contains custom code which must be executed"]),
        "a dry run executes the model's own code, too: read it first, then pass trust_remote_code=True",
    ),
    (
        |error| error.says(&["does not appear to have a file named"]) && error.says(&[".py"]),
        "config.json names code in `auto_map`: fetch those .py files too; the weights may be absent",
    ),
    (
        |error| error.says(&["in the checkpoint, the model expects", "size mismatch for", "expected shape torch.Size"]),
        "config.json and the weights are of different models: fetch both again, or move the weights away, for a dry run needs only config.json",
    ),
    (
        |error| error.says(&["Error no file named"]),
        "config.json is enough if no weights lie beside it; these have another name: `variant`, `subfolder` or `use_safetensors` selects them",
    ),
    (
        |error| error.says(&["environment variable RANK"]),
        "a launcher sets RANK: put yours in front (`oomph check -- torchrun …`), or check one rank of N with --world-size N",
    ),
    (
        |error| error.is_a(&["FileNotFoundError"]) && error.says(&["'nvidia-smi'"]),
        "the script starts nvidia-smi, which this machine lacks; a file of that name on the PATH is enough for a dry run",
    ),
    (
        |error| error.is_a(&["FileNotFoundError"]),
        "a dry run needs the files that the script opens; run it from the folder you train in",
    ),
    (
        |error| error.is_a(&["ModuleNotFoundError", "ImportError"]),
        "install what the script imports, or choose another Python with --python",
    ),
    (|_| true, "run the script by itself first; --verbose shows all that it prints"),
];

impl Exception<'_> {
    fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|words| self.message.contains(words))
    }

    fn is_a(&self, types: &[&str]) -> bool {
        types.contains(&self.type_name)
    }
}

/// Returns the hint for an error.
pub(super) fn find_hint(error: &Exception) -> String {
    OF_DRY_RUNS.iter().find_map(|row| row.of(error)).unwrap_or_else(|| of_program(error).to_owned())
}

fn of_program(error: &Exception) -> &'static str {
    OF_PROGRAMS.iter().find(|row| (row.0)(error)).map(|row| row.1).unwrap_or_default()
}

/// The hint for a program that ended before oomph's agent started: its last line tells a Python error from a usage message.
pub(super) fn of_output(output: &str) -> &'static str {
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    match last.split_once(": ") {
        Some((type_name, message)) if output.contains("Traceback (most recent call last)") => {
            of_program(&Exception { type_name, message, read: None })
        }
        _ => "give the script the arguments that it needs; --verbose shows what it prints",
    }
}

/// The hint for an error after a read of an uncomputed value, unless the error is of another kind.
fn describe_read(error: &Exception) -> Option<String> {
    let (file, line) = error.read?;
    let is_decided_elsewhere = is_about_the_machine(error.type_name)
        || is_about_a_signature(error)
        || data::hint(error.type_name, error.message).is_some();
    (!is_decided_elsewhere).then(|| {
        format!(
            "{file}:{line} read a value that a GPU would have computed; a dry run answers with assumed values, \
             which a check in the script may not accept"
        )
    })
}

/// True for a call that does not match its function (CPython 3.10 to 3.13): no value decides it.
fn is_about_a_signature(error: &Exception) -> bool {
    error.says(&["got an unexpected keyword argument", "required positional argument"])
}

/// True if an error of this type is about files, programs or packages, and not about a computed value.
fn is_about_the_machine(type_name: &str) -> bool {
    [
        "FileNotFoundError",
        "PermissionError",
        "NotADirectoryError",
        "ConnectionError",
        "ModuleNotFoundError",
        "ImportError",
    ]
    .contains(&type_name)
}

/// True if an error of this type is about Python's own data, and not about a function of CUDA.
pub fn is_about_data(type_name: &str) -> bool {
    let types = ["ZeroDivisionError", "ValueError", "IndexError", "KeyError", "TypeError", "AssertionError"];
    types.contains(&type_name) || is_about_the_machine(type_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error for each row of [`OF_DRY_RUNS`], and the start of its hint. Most errors match later rows, too: the order counts.
    #[test]
    fn each_row_of_dry_runs_has_its_error() {
        let read = ("train.py".to_owned(), 7);
        let cases = [
            ("ValueError", "`a/b` is gated: the hub at X; CUDA error: captur", true, "accept the terms"),
            (
                "RuntimeError",
                "CUDA error: operation not permitted when stream is capturing",
                true,
                "a GPU refuses it, too",
            ),
            ("urllib.error.HTTPError", "HTTP Error 404: Not Found", true, "train.py:7 read a value"),
            ("urllib.error.HTTPError", "HTTP Error 404: invalid device ordinal", false, "fetch the file once"),
            ("RuntimeError", "CUDA error: invalid device ordinal", false, "does the script name a GPU"),
            ("OSError", "We couldn't connect to 'https://huggingface.co' to load it", false, "fetch it once where"),
            (
                "ConnectionError",
                "Couldn't reach 'imdb' on the Hub",
                true,
                "fetch it once where there is a network (`hf download --repo-type",
            ),
        ];
        assert_eq!(cases.len(), OF_DRY_RUNS.len());
        for (place, (type_name, message, has_read, expected)) in cases.into_iter().enumerate() {
            let error = Exception { type_name, message, read: has_read.then_some(&read) };
            let found = OF_DRY_RUNS.iter().position(|row| row.of(&error).is_some());
            assert_eq!(found, Some(place), "{message}");
            assert!(find_hint(&error).starts_with(expected), "{message}: {}", find_hint(&error));
        }
    }

    #[test]
    fn each_row_of_programs_has_its_error() {
        let cases = [
            ("ValueError", "Transformers does not recognize this architecture. Should have a `model_type` key"),
            ("ValueError", "Unrecognized model in m. Should have a `model_type` key in its config.json"),
            ("OSError", "It looks like the config file at 'm/config.json' is not a valid JSON file."),
            ("ValueError", "m contains custom code which must be executed to correctly load the model"),
            ("OSError", "m does not appear to have a file named modeling_m.py"),
            ("RuntimeError", "size mismatch for lm_head.weight"),
            ("OSError", "Error no file named model.safetensors found in directory m."),
            ("ValueError", "environment variable RANK expected, but not set"),
            ("FileNotFoundError", "[Errno 2] No such file or directory: 'nvidia-smi'"),
            ("FileNotFoundError", "[Errno 2] No such file or directory: 'a.yaml'"),
            ("ModuleNotFoundError", "No module named 'timm'"),
            ("RuntimeError", "mat1 and mat2 shapes cannot be multiplied"),
        ];
        assert_eq!(cases.len(), OF_PROGRAMS.len());
        for (place, (type_name, message)) in cases.into_iter().enumerate() {
            let error = Exception { type_name, message, read: None };
            assert_eq!(OF_PROGRAMS.iter().position(|row| (row.0)(&error)), Some(place), "{message}");
            assert_eq!(find_hint(&error), OF_PROGRAMS[place].1, "{message}");
        }
    }

    #[test]
    fn a_value_that_was_read_explains_no_error_of_files_and_calls() {
        let read = ("train.py".to_owned(), 7);
        let cases = [
            ("ModuleNotFoundError", "No module named 'timm'", false),
            ("TypeError", "f() got an unexpected keyword argument 'x'", false),
            ("FileNotFoundError", "[Errno 2] No such file or directory: 'train.csv'", false),
            ("AssertionError", "", true),
        ];
        for (type_name, message, expected) in cases {
            let hint = find_hint(&Exception { type_name, message, read: Some(&read) });
            assert_eq!(hint.starts_with("train.py:7 read"), expected, "{message}: {hint}");
        }
    }

    #[test]
    fn output_without_a_traceback_is_a_usage_message() {
        let traced = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'timm'\n";
        assert!(of_output(traced).starts_with("install what the script imports"));
        assert!(
            of_output("train.py: error: the following arguments are required: --data").starts_with("give the script")
        );
    }
}
