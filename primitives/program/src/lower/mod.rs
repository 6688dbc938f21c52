//! Lowering: from a specification to its operator lists.
//!
//! There are two: one optimizer step, and one evaluation. Neither depends on the number of the
//! step. What changes from step to step is the batch ([`crate::order`]), the state, which carries
//! Adam's powers of beta along, and what dropout, noise and the learning rate derive from seed and
//! step, which are given to the executor. Shapes follow the specification's, so lists are short and
//! cheap to make. They are made of a [`CheckedSpec`] alone, of which there is always one.
//!
//! A model is its list of layers ([`crate::spec::Model::layers`]). `forward` has the rule of each
//! layer, `backward` that of its gradients, `linear` those of fully connected layers and attention;
//! `update` is the optimizer. A new layer is a rule in each, and at most one operator.

mod backward;
mod builder;
mod forward;
mod linear;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod update;

pub use state::{layer_prefix, state, Initial, StateTensor};
pub(crate) use state::{FIRST_MOMENT, SECOND_MOMENT, VELOCITY};

use crate::{
	ops::{Nano, Program, Role},
	spec::CheckedSpec,
};
use builder::{Builder, Purpose};

/// State tensor: beta1 to the power of the steps taken, `[1]`.
pub const BETA1_POWER: &str = "optimizer.beta1_power";
/// State tensor: beta2 to the power of the steps taken, `[1]`.
pub const BETA2_POWER: &str = "optimizer.beta2_power";
/// What the name of every state tensor that is not a parameter begins with.
pub const OPTIMIZER_PREFIX: &str = "optimizer.";

/// What the name of every vector of a mapping begins with.
pub const MAPPING_PREFIX: &str = "mapping.";

/// Epsilon of layer norms and RMS norms: 10^-5.
pub const NORM_EPSILON: Nano = Nano(10_000);

/// Returns the list of one training step: forward and backward over a batch, and the update.
///
/// Given: `Features`, `Labels` and the state; results: `Loss`, `Logits` and the next state.
pub fn training_step(spec: &CheckedSpec) -> Program {
	let mut list = Builder::new(spec, spec.training.batch_size, Purpose::Training);
	let (forward, logits) = list.forward();
	let of = list.losses(logits, Role::Local);
	let gradient = list.loss_gradient(of);
	let gradients = list.backward(&forward, gradient);
	list.update(gradients);
	list.program
}

/// Returns the list of one evaluation of a state over all validation rows.
///
/// Given: `Features`, `Labels` and the parameters; results: `RowLosses`, `Correct`, `Loss`
/// and `Logits`.
pub fn evaluation(spec: &CheckedSpec) -> Program {
	evaluation_of(spec, spec.dataset.validation_rows)
}

/// Returns the list of [`evaluation`] over `rows` rows. Rows do not meet before the mean, so an
/// executor may take them in slices and reduce the row losses of all slices at the end.
pub fn evaluation_of(spec: &CheckedSpec, rows: u32) -> Program {
	let mut list = Builder::new(spec, rows, Purpose::Evaluation);
	let (_, logits) = list.forward();
	list.losses(logits, Role::RowLosses);
	list.correct(logits);
	list.program
}
