//! The device of a tensor.

use ruff_python_ast::Expr;

use super::super::data::{Binding, DefinitionId};
use super::super::{Call, Model};
use super::{TensorDevice, ValueKind};

impl<'a> Model<'a> {
    pub(super) fn device_of_to(&self, call: &Call<'a>, tensor: ValueKind) -> TensorDevice {
        let ValueKind::Tensor(_, before) = tensor else { return TensorDevice::Unsure };
        match call.argument("device", 0) {
            Some(device)
                if self
                    .path(device)
                    .is_some_and(|path| path.starts_with("torch.") && !path.starts_with("torch.device")) =>
            {
                before
            }
            Some(device) => self.device_of(device),
            None => before,
        }
    }

    /// Returns the device that an expression names. A choice by `torch.cuda.is_available()` counts as the GPU.
    pub(crate) fn device_of(&self, device: &'a Expr) -> TensorDevice {
        self.device_within(device, 6)
    }

    pub(super) fn device_within(&self, device: &'a Expr, left: usize) -> TensorDevice {
        let Some(left) = left.checked_sub(1) else { return TensorDevice::Unsure };
        match device {
            Expr::StringLiteral(text) => named_device(text.value.to_str()),
            Expr::FString(text) => named_device(self.source(text).trim_start_matches(['f', 'F', '"', '\''])),
            Expr::If(it) => match (self.device_within(&it.body, left), self.device_within(&it.orelse, left)) {
                (TensorDevice::Gpu, _) | (_, TensorDevice::Gpu) => TensorDevice::Gpu,
                (one, other) if one == other => one,
                _ => TensorDevice::Unsure,
            },
            Expr::NumberLiteral(_) => TensorDevice::Gpu,
            Expr::Call(_) => match self.call(device) {
                Some(call) if call.is("torch.device") => match call.argument("type", 0) {
                    Some(name) => self.device_within(name, left),
                    None => TensorDevice::Unsure,
                },
                Some(call) if call.is("torch.cuda.current_device") => TensorDevice::Gpu,
                _ => TensorDevice::Unsure,
            },
            Expr::Name(name) => self.device_of_definition(self.definition(name), left),
            _ => TensorDevice::Unsure,
        }
    }

    pub(super) fn device_of_definition(&self, definition: DefinitionId, left: usize) -> TensorDevice {
        let Some(left) = left.checked_sub(1) else { return TensorDevice::Unsure };
        match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) => self.device_within(value, left),
            Binding::Alias(definition) => self.device_of_definition(*definition, left),
            Binding::Outer(symbol) => self.device_of_any(&self.tree.symbols[symbol.index()].bindings, left),
            Binding::Join(inputs, None) => self.device_of_any(inputs, left),
            Binding::Parameter(function, index, parameter) => {
                let name = parameter.name.as_str();
                let mut devices = self.callers(*function).map(|call| {
                    let device = self.argument_of(call, *function, *index, name);
                    device.map_or(TensorDevice::Unsure, |device| self.device_within(device, left))
                });
                let first = devices.next().unwrap_or(TensorDevice::Unsure);
                if devices.all(|device| device == first) { first } else { TensorDevice::Unsure }
            }
            _ => TensorDevice::Unsure,
        }
    }

    /// `device = "cuda"` in one branch and `device = "cpu"` in another counts as the GPU.
    pub(super) fn device_of_any(&self, definitions: &[DefinitionId], left: usize) -> TensorDevice {
        let devices = definitions.iter().take(4).map(|&it| self.device_of_definition(it, left));
        devices
            .reduce(|one, other| {
                if one == TensorDevice::Gpu || other == TensorDevice::Gpu {
                    TensorDevice::Gpu
                } else if one == other {
                    one
                } else {
                    TensorDevice::Unsure
                }
            })
            .unwrap_or(TensorDevice::Unsure)
    }
}

fn named_device(name: &str) -> TensorDevice {
    match name.split(':').next() {
        Some("cuda") => TensorDevice::Gpu,
        Some("cpu") => TensorDevice::Host,
        _ => TensorDevice::Unsure,
    }
}
