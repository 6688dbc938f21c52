//! Says what turns came to.

use super::{
	board::Board,
	peer::{Peer, Turn},
};
use serde_json::json;
use trainyard_client::amount;
use trainyard_protocol::swarm::Count;

impl<B: Board> Peer<B> {
	/// Says what a turn came to.
	pub(super) fn tell(&self, turn: &Turn) {
		let percent = |count: &Count| f64::from(count.score()) / 10_000.0;
		let root = self.position.own.map(|own| own.root);
		let (event, text, fields) = match turn {
			Turn::Began(Some(maker)) => {
				("began", format!("begins with the model of {maker}"), json!({ "maker": maker }))
			}
			Turn::Began(None) => ("began", "begins with the best model on chain".into(), json!({})),
			Turn::TookSlice(from) => {
				("took_slice", format!("took a slice of {from}"), json!({ "from": from }))
			}
			Turn::Trained(count) => (
				"trained",
				format!("trained; gets {:.2} % right", percent(count)),
				json!({ "correct": count.correct, "labels": count.labels, "model": root }),
			),
			Turn::Better { maker, before, after, owed } => (
				"mixed",
				format!(
					"the mean with the model of {maker} gets {:.2} % right, {:.2} % before; owes {}",
					percent(after),
					percent(before),
					amount::format(*owed)
				),
				json!({
					"maker": maker, "before": before, "after": after, "owed": owed.to_string(), "model": root
				}),
			),
			Turn::InVain(maker) => (
				"in_vain",
				format!("the mean with the model of {maker} is no better"),
				json!({ "maker": maker }),
			),
			Turn::Failed { who, why } => {
				("failed_peer", format!("{who}: {why}"), json!({ "who": who, "why": why }))
			}
			Turn::Dropped { who, why } => {
				("dropped", format!("{who} is dropped: {why}"), json!({ "who": who, "why": why }))
			}
			Turn::Stepped { step, counted, of } => {
				let right = match self.position.own.and_then(|own| own.count) {
					Some(count) => {
						format!("; the model before gets {:.2} % right", percent(&count))
					}
					None => String::new(),
				};
				(
					"stepped",
					format!("outer step {step}: {counted} of {of} contributions count{right}"),
					json!({ "step": step, "counted": counted, "of": of, "model": root }),
				)
			}
			Turn::WentBack(step) => (
				"went_back",
				format!("the chain changed what counts of step {step}; computes it again"),
				json!({ "step": step }),
			),
			Turn::Worked(step) => (
				"worked",
				format!("trained from the model of step {step}"),
				json!({ "step": step }),
			),
			Turn::Diverged { step, why } => (
				"diverged",
				format!("training from the model of step {step} came to nothing: {why}"),
				json!({ "step": step, "why": why }),
			),
			Turn::Contributed { step, late } => (
				"contributed",
				match late {
					0 => format!("contributed to step {step}"),
					late => format!("contributed to step {step}, {late} steps late"),
				},
				json!({ "step": step, "late": late }),
			),
			Turn::Missed(step) => (
				"missed",
				format!("was too late for step {step}; contributes to the next one"),
				json!({ "step": step }),
			),
			Turn::Vouched { step, count, of } => (
				"vouched",
				format!("vouched for {count} of {of} contributions to step {step}"),
				json!({ "step": step, "count": count, "of": of }),
			),
			Turn::Replayed { step, who, right } => {
				let found = if *right { "it is right" } else { "it is false" };
				(
					"replayed",
					format!("computed the contribution of {who} to step {step} again: {found}"),
					json!({ "step": step, "who": who, "right": right }),
				)
			}
			Turn::Ended => ("ended", "the swarm has ended".into(), json!({})),
			Turn::Nothing => return,
		};
		self.report.general(event, &text, fields);
	}
}
