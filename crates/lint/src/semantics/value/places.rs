//! The device of a tensor.

use ruff_python_ast::Expr;

use super::super::data::{Binding, DefinitionId};
use super::super::{Call, Model};
use super::{Place, Value};

impl<'a> Model<'a> {
    pub(super) fn place_of_to(&self, call: &Call<'a>, tensor: Value) -> Place {
        let Value::Tensor(_, before) = tensor else { return Place::Unsure };
        match call.argument("device", 0) {
            Some(device)
                if self
                    .path(device)
                    .is_some_and(|path| path.starts_with("torch.") && !path.starts_with("torch.device")) =>
            {
                before
            }
            Some(device) => self.place(device),
            None => before,
        }
    }

    /// Returns the device that an expression names. A choice by `torch.cuda.is_available()` counts as the GPU.
    pub(crate) fn place(&self, device: &'a Expr) -> Place {
        self.place_within(device, 6)
    }

    pub(super) fn place_within(&self, device: &'a Expr, left: usize) -> Place {
        let Some(left) = left.checked_sub(1) else { return Place::Unsure };
        match device {
            Expr::StringLiteral(text) => named_place(text.value.to_str()),
            Expr::FString(text) => named_place(self.source(text).trim_start_matches(['f', 'F', '"', '\''])),
            Expr::If(it) => match (self.place_within(&it.body, left), self.place_within(&it.orelse, left)) {
                (Place::Gpu, _) | (_, Place::Gpu) => Place::Gpu,
                (one, other) if one == other => one,
                _ => Place::Unsure,
            },
            Expr::NumberLiteral(_) => Place::Gpu,
            Expr::Call(_) => match self.call(device) {
                Some(call) if call.is("torch.device") => match call.argument("type", 0) {
                    Some(name) => self.place_within(name, left),
                    None => Place::Unsure,
                },
                Some(call) if call.is("torch.cuda.current_device") => Place::Gpu,
                _ => Place::Unsure,
            },
            Expr::Name(name) => self.place_of_definition(self.definition(name), left),
            _ => Place::Unsure,
        }
    }

    pub(super) fn place_of_definition(&self, definition: DefinitionId, left: usize) -> Place {
        let Some(left) = left.checked_sub(1) else { return Place::Unsure };
        match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) => self.place_within(value, left),
            Binding::Outer(symbol) => self.place_of_any(&self.tree.symbols[symbol.index()].bindings, left),
            Binding::Join(inputs, None) => self.place_of_any(inputs, left),
            Binding::Parameter(function, index, parameter) => {
                let name = parameter.name.as_str();
                let mut places = self.callers(*function).map(|call| {
                    let device = self.given(call, *function, *index, name);
                    device.map_or(Place::Unsure, |device| self.place_within(device, left))
                });
                let first = places.next().unwrap_or(Place::Unsure);
                if places.all(|place| place == first) { first } else { Place::Unsure }
            }
            _ => Place::Unsure,
        }
    }

    /// `device = "cuda"` in one branch and `device = "cpu"` in another counts as the GPU.
    pub(super) fn place_of_any(&self, definitions: &[DefinitionId], left: usize) -> Place {
        let places = definitions.iter().take(4).map(|&it| self.place_of_definition(it, left));
        places
            .reduce(|one, other| {
                if one == Place::Gpu || other == Place::Gpu {
                    Place::Gpu
                } else if one == other {
                    one
                } else {
                    Place::Unsure
                }
            })
            .unwrap_or(Place::Unsure)
    }
}

fn named_place(name: &str) -> Place {
    match name.split(':').next() {
        Some("cuda") => Place::Gpu,
        Some("cpu") => Place::Host,
        _ => Place::Unsure,
    }
}
