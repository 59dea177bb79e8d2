//! Hints for data that is not on this machine.

/// The ways to go on with a data set of the Hugging Face Hub.
const ON_THE_HUB: &str = "fetch it once where there is a network (`hf download --repo-type dataset NAME`), let the run use the network \
                          (--online), or make it up (--fake-data)";
/// The ways to go on with a data set of torchvision.
const OF_TORCHVISION: &str =
    "fetch it once where there is a network (`download=True`, by itself), or make it up (--fake-data)";
/// The ways to go on with a metric of evaluate.
const METRIC: &str = "a dry run needs no metric: fetch it once where there is a network, by the script itself, let the run use the \
                      network (--online), or leave it out";
/// The ways to go on with a file.
const FILE: &str = "a dry run needs the files that the script opens; run it from the folder you train in";

/// Endings of the names of files with data.
const ENDINGS: [&str; 13] =
    [".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".txt", ".npy", ".npz", ".bin", ".h5", ".tar", ".zst"];

/// Returns the hint for an error about data; `None` for another error.
pub(super) fn hint(type_name: &str, message: &str) -> Option<String> {
    // A type of a library has the module in front.
    let type_name = type_name.rsplit('.').next().unwrap_or(type_name);
    let has = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if has(&["--fake-data makes up"]) {
        return Some("--online or a copy on the disk serves every other data set".to_owned());
    }
    if is_of_the_hub(type_name, message) {
        return Some(ON_THE_HUB.to_owned());
    }
    if has(&["Couldn't find a module script at"])
        || (has(&["evaluate-metric", "/evaluate/"]) && is_about_connections(type_name))
    {
        return Some(METRIC.to_owned());
    }
    if has(&["You can use download=True to download it", "is not present in the root directory"])
        || (type_name == "RuntimeError" && message.starts_with("Error downloading"))
        || (type_name == "URLError")
    {
        return Some(OF_TORCHVISION.to_owned());
    }
    name_file(type_name, message)
}

/// True if `datasets` does not find or reach a data set (2.14 to 5.2).
fn is_of_the_hub(type_name: &str, message: &str) -> bool {
    type_name == "DatasetNotFoundError"
        || (is_about_connections(type_name) && message.starts_with("Couldn't reach"))
        || message.contains("doesn't exist on the Hub or cannot be accessed")
}

fn is_about_connections(type_name: &str) -> bool {
    ["ConnectionError", "OfflineModeIsEnabled", "FileNotFoundError"].contains(&type_name)
}

/// The hint for a file that is not there: of a file with data, it names the file.
fn name_file(type_name: &str, message: &str) -> Option<String> {
    let name = message.split('\'').nth(1).filter(|_| type_name == "FileNotFoundError")?;
    let is_data = ENDINGS.iter().any(|ending| name.ends_with(ending));
    is_data.then(|| format!("{FILE}, or put a short `{name}` with the same columns and sizes there"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_about_data_names_the_way() {
        let cases = [
            ("ConnectionError", "Couldn't reach 'imdb' on the Hub (LocalEntryNotFoundError)", Some("--fake-data")),
            (
                "datasets.exceptions.DatasetNotFoundError",
                "Dataset 'a/b' doesn't exist on the Hub or cannot be accessed.",
                Some("hf download --repo-type dataset"),
            ),
            (
                "RuntimeError",
                "MNIST is not in data: Dataset not found. You can use download=True to download it",
                Some("--fake-data"),
            ),
            ("urllib.error.URLError", "<urlopen error [Errno -2] Name or service not known>", Some("download=True")),
            (
                "FileNotFoundError",
                "Couldn't find a module script at /a/accuracy.py. Module 'accuracy' doesn't exist",
                Some("metric"),
            ),
            ("FileNotFoundError", "[Errno 2] No such file or directory: 'train.csv'", Some("`train.csv`")),
            ("FileNotFoundError", "[Errno 2] No such file or directory: 'nvidia-smi'", None),
            ("RuntimeError", "mat1 and mat2 shapes cannot be multiplied", None),
            ("ValueError", "--fake-data makes up no shapes for 'a/b'; it knows: imdb", Some("a copy on the disk")),
        ];
        for (type_name, message, expected) in cases {
            let found = hint(type_name, message);
            assert_eq!(found.is_some(), expected.is_some(), "{message}: {found:?}");
            assert!(
                expected.is_none_or(|words| found.as_ref().is_some_and(|hint| hint.contains(words))),
                "{message}: {found:?}"
            );
        }
    }
}
