//! For which specifications the bounds bind.

use crate::spec::{JobSpec, NoPower, Optimizer, MAX_POWER_CLIP_NANO, ONE_NANO};

/// Returns the first reason why the states of a specification are bounded too weakly to earn power;
/// `None` where every velocity, every moment and every step is bounded well enough.
///
/// Steps are bounded as well as states: whoever posts a job to itself would choose a specification
/// whose longest step reaches any state. For Adam and AdamW the rate times `K` is at most 0.1
/// (`docs/start-states.md`), for SGD the rate times the largest velocity at most 1.
pub fn unbounded(spec: &JobSpec) -> Option<NoPower> {
	let t = &spec.training;
	if t.clip_norm_nano == 0 || t.clip_norm_nano > MAX_POWER_CLIP_NANO {
		return Some(NoPower::Unclipped);
	}
	if matches!(t.optimizer, Optimizer::Adam { .. }) && t.weight_decay_nano > 0 {
		return Some(NoPower::DecayPastClipping);
	}
	let (one, rate) = (u128::from(ONE_NANO), u128::from(t.learning_rate_nano));
	match t.optimizer {
		Optimizer::AdamW { beta1_nano, beta2_nano, .. }
		| Optimizer::Adam { beta1_nano, beta2_nano, .. } => {
			let (beta1, beta2) = (u128::from(beta1_nano), u128::from(beta2_nano));
			let rest = beta2.saturating_mul(one).saturating_sub(beta1.saturating_mul(beta1));
			if rest == 0 {
				return Some(NoPower::BetasDisagree);
			}
			// rate^2 (1 - b1)^2 b2 against (1 - b2) (b2 - b1^2) / 100.
			let step = rate.saturating_mul(one.saturating_sub(beta1)).div_ceil(one);
			let square = step.saturating_mul(step).saturating_mul(beta2).saturating_mul(100);
			let most = one.saturating_sub(beta2).saturating_mul(rest);
			(square > most).then_some(NoPower::LongSteps)
		}
		Optimizer::Sgd { momentum_nano, .. } => {
			let most = one.saturating_sub(u128::from(momentum_nano)).saturating_mul(one);
			let longest = rate.saturating_mul(u128::from(t.clip_norm_nano));
			(longest > most).then_some(NoPower::LongSteps)
		}
	}
}
