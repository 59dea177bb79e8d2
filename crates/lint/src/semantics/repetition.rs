//! Code that runs once in each step: directly in a step's loop, in a function that the loop calls, in a module's `forward`, or in a method that
//! a framework calls for each batch.

use super::data::{FunctionId, RegionId, RegionKind};
use super::{Call, Model, ValueKind};

impl<'a> Model<'a> {
    /// Checks whether a call runs in each step, through any number of functions.
    pub(crate) fn runs_each_step(&self, call: &Call<'a>) -> bool {
        self.is_region_of_each_step(call.region)
    }

    /// Checks whether a region runs in each step: unconditionally in a step's loop, or in a function that is called so.
    pub(crate) fn is_region_of_each_step(&self, region: RegionId) -> bool {
        if let Some(around) = self.loops(region).next() {
            return self.is_step_loop(around) && !self.is_conditional(region, around);
        }
        let mut kinds = self.regions(region);
        if kinds.any(|kind| matches!(kind, RegionKind::If(..) | RegionKind::Maybe | RegionKind::Handler(_))) {
            return false;
        }
        self.function(region).is_some_and(|function| self.is_called_each_step(function))
    }

    /// Checks whether a function is called in each step.
    pub(crate) fn is_called_each_step(&self, function: FunctionId) -> bool {
        self.is_batch_method(function)
            || self
                .follow(|| self.callers(function).any(|call| self.is_region_of_each_step(call.region)))
                .unwrap_or(false)
    }

    /// Checks for a method that runs once a batch: a module's `forward`, a step of a framework, a callback at the end of a batch.
    fn is_batch_method(&self, function: FunctionId) -> bool {
        let it = &self.tree.functions[function.index()];
        let Some(class) = it.class else { return false };
        match it.syntax.name.as_str() {
            "forward" => self.value_of_instance(class) == ValueKind::Module,
            "on_train_batch_end"
            | "on_train_batch_start"
            | "on_batch_end"
            | "on_batch_start"
            | "on_step_end"
            | "on_step_begin"
            | "on_before_zero_grad"
            | "on_after_backward"
            | "on_before_backward"
            | "optimizer_step"
            | "on_validation_batch_end"
            | "on_substep_end" => true,
            _ => self.hook(function).is_some(),
        }
    }
}
