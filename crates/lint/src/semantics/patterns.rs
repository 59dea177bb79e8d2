//! Small patterns that several rules ask for: a move to the GPU, a handler of out-of-memory errors, a remainder in a condition.

use ruff_python_ast::{ExceptHandlerExceptHandler, Operator, StmtIf};

use super::{Call, Model, TensorDevice};

impl<'a> Model<'a> {
    /// Checks whether a call is `.cuda()` or `.to("cuda")`.
    pub(crate) fn is_move_to_gpu(&self, call: &Call<'a>) -> bool {
        call.is_method("cuda")
            || (call.is_method("to")
                && call.argument("device", 0).is_some_and(|device| self.device_of(device) == TensorDevice::Gpu))
    }

    /// Checks whether a condition computes a remainder, as in `step % 4 == 0`.
    pub(crate) fn has_remainder(&self, condition: &StmtIf) -> bool {
        let Some(id) = self.id(&*condition.test) else { return false };
        self.expressions((id, self.node(id).last))
            .any(|(_, it)| it.as_bin_op_expr().is_some_and(|it| it.op == Operator::Mod))
    }

    /// Checks whether a handler catches out-of-memory errors: by the exception's type, or by the message it compares with.
    pub(crate) fn catches_oom(&self, handler: &ExceptHandlerExceptHandler) -> bool {
        let Some(kind) = handler.type_.as_deref() else { return false };
        let kind = self.source(kind);
        kind.contains("OutOfMemoryError")
            || (kind.contains("RuntimeError") && self.source(handler).contains("out of memory"))
    }
}
