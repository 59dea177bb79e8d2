//! The number of parameters of a program's layers, where their sizes stand in the source.

use ruff_python_ast::Expr;

use super::Model;
use super::known::makes_module;
use super::names::last;

/// The largest number of parameters of a small model: 4 MB of gradients.
const SMALL: u64 = 1_000_000;

impl<'a> Model<'a> {
    /// Checks whether all layers of the program together are small; a layer of unknown size, or a model of a library, is not.
    pub(crate) fn has_small_layers_alone(&self) -> bool {
        let mut total = 0_u64;
        let mut count = 0;
        for call in self.calls() {
            let Some(path) = call.path.as_deref().filter(|path| makes_module(path)) else { continue };
            let name = last(path);
            if !path.starts_with("torch.nn.") {
                return false;
            }
            let size = |index: usize| call.syntax.arguments.args.get(index).and_then(|it| self.constant(it, 4));
            let weights = match name {
                "Linear" | "Embedding" | "Bilinear" => size(0).zip(size(1)).map(|(rows, columns)| rows * columns),
                "LSTM" | "GRU" | "RNN" | "LSTMCell" | "GRUCell" | "RNNCell" => {
                    size(0).zip(size(1)).map(|(input, hidden)| 4 * hidden * (input + hidden))
                }
                name if name.starts_with("Conv") => {
                    let kernel = size(2).unwrap_or(3).saturating_pow(2);
                    size(0).zip(size(1)).map(|(input, output)| input * output * kernel)
                }
                name if name.starts_with("Transformer") || name.starts_with("Lazy") || name == "MultiheadAttention" => {
                    None
                }
                _ => continue,
            };
            let Some(weights) = weights else { return false };
            total = total.saturating_add(weights);
            count += 1;
        }
        count > 0 && total < SMALL
    }

    /// Returns the value of a constant: a literal, a name of one, or a product of them.
    fn constant(&self, expression: &'a Expr, left: u32) -> Option<u64> {
        let left = left.checked_sub(1)?;
        match expression {
            Expr::NumberLiteral(it) => it.value.as_int()?.as_u64().filter(|it| *it < 1 << 24),
            Expr::BinOp(it) => {
                let (one, other) = (self.constant(&it.left, left)?, self.constant(&it.right, left)?);
                match it.op {
                    ruff_python_ast::Operator::Mult => one.checked_mul(other),
                    ruff_python_ast::Operator::Add => one.checked_add(other),
                    ruff_python_ast::Operator::FloorDiv => one.checked_div(other),
                    _ => None,
                }
            }
            Expr::Name(_) | Expr::Attribute(_) => match self.origins(expression).as_slice() {
                [only] => self.constant(only, left),
                _ => None,
            },
            _ => None,
        }
    }
}
