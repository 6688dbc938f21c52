//! For which specifications the bounds bind.

use crate::spec::{CheckedSpec, Optimizer, ONE_NANO};
use core::fmt;

/// Why a state of a specification has bounds too weak to earn power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbounded {
	/// Gradients are not clipped: moments and velocities can be as large as they like.
	NoClipping,
	/// Adam adds the weight decay to the gradient after clipping, so parameters of any size make
	/// moments of any size. AdamW decays the parameters themselves.
	DecayPastClipping,
	/// The square of beta1 is not below beta2: a first moment can outlast the second, and a step
	/// can be as long as it likes.
	BetasDisagree,
}

/// Returns the first reason why the states of a specification are not bounded; `None` where every
/// velocity, every moment and every step is.
///
/// The chain does not ask for it yet: [`JobSpec::no_power`](crate::spec::JobSpec::no_power) has
/// the rules that are in force.
pub fn unbounded(spec: &CheckedSpec) -> Option<Unbounded> {
	let t = &spec.training;
	if t.clip_norm_nano == 0 {
		return Some(Unbounded::NoClipping);
	}
	if matches!(t.optimizer, Optimizer::Adam { .. }) && t.weight_decay_nano > 0 {
		return Some(Unbounded::DecayPastClipping);
	}
	match t.optimizer {
		Optimizer::AdamW { beta1_nano, beta2_nano, .. }
		| Optimizer::Adam { beta1_nano, beta2_nano, .. } => {
			let square = u128::from(beta1_nano).saturating_mul(u128::from(beta1_nano));
			let other = u128::from(beta2_nano).saturating_mul(u128::from(ONE_NANO));
			(square >= other).then_some(Unbounded::BetasDisagree)
		}
		Optimizer::Sgd { .. } => None,
	}
}

impl fmt::Display for Unbounded {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			Unbounded::NoClipping => {
				"its gradients are not clipped, so its moments have no bound: set \
				 training.clip_norm, for example to 1.0"
			}
			Unbounded::DecayPastClipping => {
				"Adam adds its weight decay to the clipped gradient, so its moments have no bound: \
				 use adamw, or set training.weight_decay = 0"
			}
			Unbounded::BetasDisagree => {
				"its steps have no bound: the square of beta1 must be below beta2"
			}
		})
	}
}

#[cfg(feature = "std")]
impl std::error::Error for Unbounded {}
