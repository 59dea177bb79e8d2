//! Requests for resources, in the languages of schedulers and clouds.

mod hf_jobs;
mod kai;
mod sky;
mod slurm;

use crate::resources::ResourceRequest;

/// The language of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFormat {
    /// A script for `sbatch`.
    Slurm,
    /// A pod for NVIDIA's KAI Scheduler, on a shared GPU.
    Kai,
    /// A task of SkyPilot.
    Sky,
    /// A command line of Hugging Face Jobs.
    HfJobs,
}

impl RequestFormat {
    /// All languages, in the order of the help page.
    pub const ALL: [RequestFormat; 4] =
        [RequestFormat::Slurm, RequestFormat::Kai, RequestFormat::Sky, RequestFormat::HfJobs];

    /// The name on the command line, and a summary for the help page.
    pub const fn describe(self) -> (&'static str, &'static str) {
        match self {
            RequestFormat::Slurm => ("slurm", "A script for sbatch that asks for what the program needs"),
            RequestFormat::Kai => ("kai", "A pod for the KAI Scheduler, with the GPU memory that the program needs"),
            RequestFormat::Sky => ("sky", "A task of SkyPilot, with the GPUs on which the program fits"),
            RequestFormat::HfJobs => ("hf-jobs", "A command line of Hugging Face Jobs, on the smallest flavor"),
        }
    }
}

/// Writes a request; `None` if none of the GPUs can be asked for in the language. Ends with a newline.
pub fn write_request(request: &ResourceRequest, format: RequestFormat) -> Option<String> {
    match format {
        RequestFormat::Slurm => (!request.gpus.is_empty()).then(|| slurm::write(request)),
        RequestFormat::Kai => (!request.gpus.is_empty()).then(|| kai::write(request)),
        RequestFormat::Sky => sky::write(request),
        RequestFormat::HfJobs => hf_jobs::write(request),
    }
}

/// Comments on the way to the figures, a `#` before each line.
fn comments(request: &ResourceRequest) -> String {
    let torch = request.torch.as_ref().map_or_else(String::new, |torch| format!(" with PyTorch {torch}"));
    let names: Vec<&str> = request.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    format!(
        "# oomph {}: the program needs {} of a GPU, by dry runs{torch}.\n# It fits: {}\n",
        env!("CARGO_PKG_VERSION"),
        request.most_bytes(),
        names.join(", ")
    )
}

/// A text of YAML in double quotes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A name that Kubernetes takes: lower case, digits and hyphens.
fn label(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let label: String = text.chars().map(plain).take(50).collect();
    let label = label.trim_matches('-');
    if label.is_empty() { "program".to_owned() } else { label.to_owned() }
}

#[cfg(test)]
mod tests {
    use trace::Bytes;

    use super::*;
    use crate::resources::RequestedGpu;

    fn sample() -> ResourceRequest {
        let gpu = |name: &str, gib: u64, sky: Option<&str>, flavor: Option<&str>| RequestedGpu {
            name: name.to_owned(),
            need_bytes: Bytes(gib << 30),
            sky: sky.map(str::to_owned),
            flavor: flavor.map(str::to_owned),
        };
        ResourceRequest {
            command: "python 'my train.py' --batch 8".to_owned(),
            program: "my train".to_owned(),
            torch: Some("2.11.0".to_owned()),
            gpus: vec![
                gpu("NVIDIA GeForce RTX 4090", 20, None, None),
                gpu("NVIDIA L4", 21, Some("L4"), Some("l4x1")),
                gpu("NVIDIA A10G", 20, Some("A10G"), Some("a10g-small")),
            ],
        }
    }

    #[test]
    fn each_language_asks_for_the_smallest() {
        let check = |format: RequestFormat, lines: &[&str]| {
            let text = write_request(&sample(), format).unwrap_or_default();
            for line in lines {
                assert!(text.lines().any(|found| found.trim_start() == *line), "{format:?}: {line} is not in\n{text}");
            }
        };
        check(
            RequestFormat::Slurm,
            &["#SBATCH --job-name=my-train", "#SBATCH --gpus=1", "python 'my train.py' --batch 8"],
        );
        check(RequestFormat::Kai, &["gpu-memory: \"21504\" # MiB", "name: my-train", "schedulerName: kai-scheduler"]);
        check(RequestFormat::Sky, &["accelerators: {L4: 1, A10G: 1}", "python 'my train.py' --batch 8"]);
        check(RequestFormat::HfJobs, &["hf jobs run --flavor l4x1 IMAGE python 'my train.py' --batch 8"]);
    }

    #[test]
    fn a_gpu_without_an_offer_cannot_be_asked_for() {
        let own = ResourceRequest { gpus: sample().gpus[..1].to_vec(), ..sample() };
        let check = |format, expected| assert_eq!(write_request(&own, format).is_some(), expected, "{format:?}");
        check(RequestFormat::Slurm, true);
        check(RequestFormat::Kai, true);
        check(RequestFormat::Sky, false);
        check(RequestFormat::HfJobs, false);
    }

    #[test]
    fn a_label_has_no_other_characters() {
        let check = |text: &str, expected: &str| assert_eq!(label(text), expected, "{text}");
        check("My Train_2", "my-train-2");
        check("__", "program");
        check("größe", "gr--e");
    }
}
