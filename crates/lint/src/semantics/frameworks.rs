//! Methods called by a framework in each step: of a LightningModule, and of a Trainer of transformers.

use super::Model;
use super::data::{Binding, ClassId, FunctionId, Mode, RegionId};
use super::names::last;

/// A method called by a framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// A step of training; the framework calls backward on the returned loss.
    Training,
    /// A step of evaluation, with gradients off.
    Evaluation,
}

impl Hook {
    /// Returns the gradient mode of the call.
    pub(crate) fn mode(self) -> Mode {
        match self {
            Hook::Training => Mode::On,
            Hook::Evaluation => Mode::Off,
        }
    }
}

fn is_test_runner(path: &str) -> bool {
    let is_of = |module: &str| path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    ["unittest", "pytest", "torch.testing._internal"].into_iter().any(is_of)
}

impl Model<'_> {
    /// Checks whether a file holds tests: it imports a test runner, or has a class that pytest collects.
    pub(crate) fn is_of_tests(&self) -> bool {
        let own = self.tree.ends.first().map_or(self.tree.definitions.len(), |end| end.1.index());
        let mut own = self.tree.definitions.iter().take(own).map(|it| &it.binding);
        own.any(|binding| match binding {
            Binding::Import(path) => is_test_runner(path),
            Binding::Class(class) => {
                let class = &self.tree.classes[class.index()];
                class.syntax.name.starts_with("Test") && class.methods.keys().any(|name| name.starts_with("test_"))
            }
            _ => false,
        })
    }

    /// Returns the hook that a function implements.
    pub(crate) fn hook(&self, function: FunctionId) -> Option<Hook> {
        let it = &self.tree.functions[function.index()];
        let class = it.class?;
        match it.syntax.name.as_str() {
            "training_step" if self.is_lightning(class) || self.is_trainer(class) => Some(Hook::Training),
            "validation_step" | "test_step" | "predict_step" if self.is_lightning(class) => Some(Hook::Evaluation),
            "compute_loss" if self.is_trainer(class) => Some(Hook::Training),
            "prediction_step" if self.is_trainer(class) => Some(Hook::Evaluation),
            _ => None,
        }
    }

    /// Checks whether a region is in a method that a framework calls in each training step.
    pub(crate) fn is_training_hook(&self, region: RegionId) -> bool {
        self.function(region).is_some_and(|function| self.hook(function) == Some(Hook::Training))
    }

    /// Checks whether a class is a LightningModule.
    fn is_lightning(&self, class: ClassId) -> bool {
        self.derives(class, &|path| last(path) == "LightningModule")
    }

    /// Checks whether a class is a Trainer of transformers or of trl.
    fn is_trainer(&self, class: ClassId) -> bool {
        let is_library = |path: &str| path.starts_with("transformers.") || path.starts_with("trl.");
        self.derives(class, &|path| is_library(path) && last(path).ends_with("Trainer"))
    }

    /// Checks whether a parameter is the model that a Trainer passes to its methods.
    pub(crate) fn is_model_of_trainer(&self, function: FunctionId, name: &str) -> bool {
        let class = self.tree.functions[function.index()].class;
        name == "model" && self.hook(function).is_some() && class.is_some_and(|class| self.is_trainer(class))
    }
}
