//! The stages of a program's life.

use serde::{Deserialize, Serialize};

/// A stage of the life of a training program, as seen by the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LifeStage {
    /// Before the first forward.
    Load,
    /// The first optimizer steps.
    Steps,
    /// Steps with the largest batches of the data.
    WorstBatches,
    /// An evaluation.
    Evaluation,
    /// Generation of tokens or samples.
    Generation,
    /// A save of weights or of the optimizer's state.
    Save,
    /// Steps after the first evaluation or save.
    LaterSteps,
    /// The beginning of the second epoch.
    NextEpoch,
    /// After the last training loop.
    End,
}

impl LifeStage {
    /// All stages, in the order of the declaration.
    pub const ALL: [LifeStage; 9] = [
        LifeStage::Load,
        LifeStage::Steps,
        LifeStage::WorstBatches,
        LifeStage::Evaluation,
        LifeStage::Generation,
        LifeStage::Save,
        LifeStage::LaterSteps,
        LifeStage::NextEpoch,
        LifeStage::End,
    ];

    /// The stage of a name in the agent's text; `None` for a name of another version.
    pub fn from_name(name: &str) -> Option<LifeStage> {
        LifeStage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// The name in marks and records; the inverse of [`LifeStage::from_name`].
    pub fn name(self) -> &'static str {
        match self {
            LifeStage::Load => "load",
            LifeStage::Steps => "steps",
            LifeStage::WorstBatches => "worst-batches",
            LifeStage::Evaluation => "evaluation",
            LifeStage::Generation => "generation",
            LifeStage::Save => "save",
            LifeStage::LaterSteps => "later-steps",
            LifeStage::NextEpoch => "next-epoch",
            LifeStage::End => "end",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_stage_is_that_of_its_json() {
        for stage in LifeStage::ALL {
            assert_eq!(serde_json::to_value(stage).ok(), Some(stage.name().into()), "{stage:?}");
            assert_eq!(LifeStage::from_name(stage.name()), Some(stage));
        }
        assert_eq!(LifeStage::from_name("lunch"), None);
    }
}
