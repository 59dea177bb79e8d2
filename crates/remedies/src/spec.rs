//! The columns of the table.

use serde::{Deserialize, Serialize};

/// A row of the table: one remedy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemedySpec {
    /// Its stable name.
    pub name: &'static str,
    /// The effect in a few words.
    pub summary: &'static str,
    /// The effect on the program's results.
    pub exactness: Exactness,
    /// A plan has at most one remedy of a group.
    pub group: &'static str,
    /// The condition under which `fit` tries the remedy.
    pub trying: Trying,
    /// The options that `fit` tries, the cheapest first.
    pub options: &'static [StandardOption],
    /// The names of the remedy's settings.
    pub settings: &'static [&'static str],
    /// The remedy without which this remedy has no effect in training.
    pub partner: Option<&'static str>,
    /// True if a rejection in a run voids all earlier edits.
    pub is_all_or_nothing: bool,
    /// True if a module of the agent applies the remedy.
    pub has_agent: bool,
    /// True if the agent's module has a `prepare`, which runs before the program imports torch.
    pub is_before_torch: bool,
    /// The kind of edits in a source.
    pub rewriting: Rewriting,
    /// The memory that the remedy can save.
    pub saves: Saves,
    /// The turn at which `fit` tries the remedy.
    pub turn: SearchTurn,
}

/// The turn of a remedy in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchTurn {
    /// With the usual remedies.
    First,
    /// If the usual remedies have no plan: slow remedies, and those of the optimizer, the weights and the sizes.
    Last,
}

/// The memory that a remedy can save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saves {
    /// Of any kind.
    Any,
    /// Activations and temporaries.
    Activations,
    /// Gradients.
    Gradients,
    /// The optimizer's state, and temporaries of its step.
    Optimizer,
    /// Parameters.
    Parameters,
}

/// The effect of a change on the results. Ordered: the mildest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Exactness {
    /// The same to the bit.
    #[default]
    Identical,
    /// The same sums in another order.
    UpToRounding,
    /// Numbers of a different precision.
    OtherNumerics,
    /// A different model, or different data.
    OtherModel,
}

/// The condition under which `fit` tries a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trying {
    /// Unless the user denies it.
    Usual,
    /// Only if the user allows the remedy by name: it changes the training, or needs more than this machine.
    Asked,
    /// To show that the remedy has no effect; plans never contain folklore.
    Folklore,
}

/// An option of a remedy: at most one setting, and the typical price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardOption {
    /// The setting; `None` is the remedy without settings.
    pub setting: Option<(&'static str, SettingValue)>,
    /// The typical time of a step, as a multiple of the unchanged program's.
    pub time_ratio: f64,
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A whole number.
    Number(u64),
    /// A text.
    Text(&'static str),
}

/// The kind of a remedy's edits in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewriting {
    /// As edits at the lines that the run recorded.
    Edits {
        /// The order among all remedies' edits: calls first, then loops, which move the lines of later edits.
        order: u8,
        /// True if all recorded lines must be edited or none: a part makes a wrong program.
        is_whole: bool,
    },
    /// As code for the user to place.
    Snippet,
    /// Not at all.
    Absent,
}

impl StandardOption {
    /// The remedy without settings.
    pub(crate) const fn alone(time_ratio: f64) -> StandardOption {
        StandardOption { setting: None, time_ratio }
    }

    /// A setting that is a number.
    pub(crate) const fn number(key: &'static str, value: u64, time_ratio: f64) -> StandardOption {
        StandardOption { setting: Some((key, SettingValue::Number(value))), time_ratio }
    }

    /// A setting that is a text.
    pub(crate) const fn text(key: &'static str, value: &'static str, time_ratio: f64) -> StandardOption {
        StandardOption { setting: Some((key, SettingValue::Text(value))), time_ratio }
    }
}

impl RemedySpec {
    /// A remedy that `fit` tries without being asked, in a group of its own, with no options, no settings and no edits.
    pub(crate) const fn new(name: &'static str, exactness: Exactness, summary: &'static str) -> RemedySpec {
        RemedySpec {
            name,
            summary,
            exactness,
            group: name,
            trying: Trying::Usual,
            options: &[],
            settings: &[],
            partner: None,
            is_all_or_nothing: false,
            has_agent: true,
            is_before_torch: false,
            rewriting: Rewriting::Absent,
            saves: Saves::Any,
            turn: SearchTurn::First,
        }
    }

    pub(crate) const fn saves(self, saves: Saves) -> RemedySpec {
        RemedySpec { saves, ..self }
    }

    pub(crate) const fn late(self) -> RemedySpec {
        RemedySpec { turn: SearchTurn::Last, ..self }
    }

    pub(crate) const fn group(self, group: &'static str) -> RemedySpec {
        RemedySpec { group, ..self }
    }

    pub(crate) const fn options(self, options: &'static [StandardOption]) -> RemedySpec {
        RemedySpec { options, ..self }
    }

    pub(crate) const fn settings(self, settings: &'static [&'static str]) -> RemedySpec {
        RemedySpec { settings, ..self }
    }

    pub(crate) const fn asked(self) -> RemedySpec {
        RemedySpec { trying: Trying::Asked, ..self }
    }

    pub(crate) const fn folklore(self) -> RemedySpec {
        RemedySpec { trying: Trying::Folklore, ..self }
    }

    pub(crate) const fn beside(self, partner: &'static str) -> RemedySpec {
        RemedySpec { partner: Some(partner), ..self }
    }

    pub(crate) const fn all_or_nothing(self) -> RemedySpec {
        RemedySpec { is_all_or_nothing: true, ..self }
    }

    pub(crate) const fn without_agent(self) -> RemedySpec {
        RemedySpec { has_agent: false, ..self }
    }

    pub(crate) const fn before_torch(self) -> RemedySpec {
        RemedySpec { is_before_torch: true, ..self }
    }

    /// Edits of one line at a time.
    pub(crate) const fn edits(self, order: u8) -> RemedySpec {
        RemedySpec { rewriting: Rewriting::Edits { order, is_whole: false }, ..self }
    }

    /// Edits of all lines or none.
    pub(crate) const fn whole_edits(self, order: u8) -> RemedySpec {
        RemedySpec { rewriting: Rewriting::Edits { order, is_whole: true }, ..self }
    }

    pub(crate) const fn snippet(self) -> RemedySpec {
        RemedySpec { rewriting: Rewriting::Snippet, ..self }
    }

    /// The name of the Python module and of the Rust module.
    pub fn module(&self) -> String {
        self.name.replace('-', "_")
    }

    /// True if a plan may contain the remedy.
    pub fn is_planned(&self) -> bool {
        self.trying != Trying::Folklore && self.rewriting != Rewriting::Absent
    }

    /// The place in a patch; snippets come last.
    pub(crate) fn patch_order(&self) -> u8 {
        match self.rewriting {
            Rewriting::Edits { order, .. } => order,
            Rewriting::Snippet | Rewriting::Absent => u8::MAX,
        }
    }

    /// True if a patch edits all recorded lines or none.
    pub fn is_patched_whole(&self) -> bool {
        matches!(self.rewriting, Rewriting::Edits { is_whole: true, .. })
    }
}
