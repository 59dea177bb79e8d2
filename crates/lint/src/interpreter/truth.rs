//! Tests that the values in them decide.

use ruff_python_ast::{BoolOp, CmpOp, Expr, ExprCall, ExprCompare, UnaryOp};

use super::Interpreter;
use super::value::{AbstractValue, ObjectId, ObjectKind};

impl<'a> Interpreter<'_, 'a> {
    /// Decides a test by the values in it, where that is certain.
    pub(super) fn truth(&mut self, test: &'a Expr) -> Option<bool> {
        match test {
            Expr::UnaryOp(it) if it.op == UnaryOp::Not => self.truth(&it.operand).map(|it| !it),
            Expr::BooleanLiteral(it) => Some(it.value),
            Expr::BoolOp(it) => {
                let is_and = it.op == BoolOp::And;
                let known: Vec<Option<bool>> = it.values.iter().map(|value| self.truth(value)).collect();
                if known.contains(&Some(!is_and)) {
                    return Some(!is_and);
                }
                known.iter().all(|it| *it == Some(is_and)).then_some(is_and)
            }
            Expr::Compare(it) => self.truth_of_comparison(it),
            Expr::Call(it) => self.truth_of_call(test, it),
            Expr::Name(_) | Expr::Attribute(_) => match self.evaluate(test) {
                AbstractValue::Nothing => Some(false),
                AbstractValue::Int(number) => Some(number != 0),
                AbstractValue::Object(id) => self.truth_of_object(id),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn truth_of_object(&self, id: ObjectId) -> Option<bool> {
        let object = self.object(id);
        let is_sure =
            matches!(object.kind, ObjectKind::Module | ObjectKind::Optimizer | ObjectKind::Scaler | ObjectKind::Loader);
        is_sure.then_some(true)
    }

    /// `value is None`, `value is not None`
    pub(super) fn truth_of_comparison(&mut self, it: &'a ExprCompare) -> Option<bool> {
        if let AbstractValue::Int(number) = self.value_of_comparison(it) {
            return Some(number != 0);
        }
        let ([op], [right]) = (&*it.ops, &*it.comparators) else { return None };
        let is_none = matches!(right, Expr::NoneLiteral(_));
        let left = self.evaluate(&it.left);
        let found = match left {
            AbstractValue::Nothing => true,
            AbstractValue::Unknown => return None,
            _ => false,
        };
        match op {
            CmpOp::Is if is_none => Some(found),
            CmpOp::IsNot if is_none => Some(!found),
            _ => None,
        }
    }

    /// `isinstance(value, torch.Tensor)`, `torch.is_tensor(value)`, `hasattr(value, "item")`
    pub(super) fn truth_of_call(&mut self, test: &'a Expr, syntax: &'a ExprCall) -> Option<bool> {
        let call = self.model.call(test)?;
        let function = call.path.as_deref().or_else(|| self.model.builtin(&syntax.func))?;
        let first = syntax.arguments.args.first()?;
        let asks_tensor = match function {
            "torch.is_tensor" => true,
            "isinstance" => self.model.path(syntax.arguments.args.get(1)?).is_some_and(|it| it == "torch.Tensor"),
            "hasattr" => syntax.arguments.args.get(1).is_some_and(|it| {
                it.as_string_literal_expr().is_some_and(|it| matches!(it.value.to_str(), "item" | "detach" | "cpu"))
            }),
            _ => return None,
        };
        match self.evaluate(first) {
            AbstractValue::Tensor(_) if asks_tensor => Some(true),
            AbstractValue::Unknown => None,
            value if asks_tensor && (value.is_plain() || value.object().is_some()) => Some(false),
            _ => None,
        }
    }
}
