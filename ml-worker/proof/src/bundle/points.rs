//! What is recorded of a run: the lines of [`super::metrics`], and the points of
//! [`super::records`], which are made of them.

use serde::{Deserialize, Serialize};
use trainyard_protocol::bundle::Evaluation;

/// About how many training losses are kept of a run.
const LOSSES: u32 = 2_000;

/// One line: the loss of a training step, or the validation of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
	/// Steps done.
	pub step: u32,
	/// Mean loss of the step's batch, before its update.
	#[serde(default, skip_serializing_if = "Option::is_none")]
	pub loss: Option<f32>,
	/// Norm of the whole gradient of that batch before it is clipped, where it is and the norm is
	/// finite.
	#[serde(default, skip_serializing_if = "Option::is_none")]
	pub gradient_norm: Option<f32>,
	/// Mean loss over the validation rows.
	#[serde(default, skip_serializing_if = "Option::is_none")]
	pub validation_loss: Option<f32>,
	/// Share of validation rows classified correctly.
	#[serde(default, skip_serializing_if = "Option::is_none")]
	pub validation_accuracy: Option<f64>,
}

impl Line {
	/// Returns the line of a training step.
	pub fn training(step: u32, loss: f32, gradient_norm: Option<f32>) -> Self {
		Self {
			step,
			loss: Some(loss),
			// JSON has no infinities.
			gradient_norm: gradient_norm.filter(|norm| norm.is_finite()),
			validation_loss: None,
			validation_accuracy: None,
		}
	}

	/// Returns the line of a checkpoint.
	pub fn validation(step: u32, validation: &Evaluation) -> Self {
		Self {
			step,
			loss: None,
			gradient_norm: None,
			validation_loss: Some(validation.loss()),
			validation_accuracy: Some(validation.accuracy()),
		}
	}
}

/// Returns the number of steps from one written training loss to the next.
pub fn interval(steps: u32) -> u32 {
	(steps / LOSSES).max(1)
}

/// Everything that is known of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
	/// Steps done.
	pub step: u32,
	/// Mean loss of the step's batch, before its update.
	pub loss: Option<f32>,
	/// Learning rate of that update; none where there is no loss.
	pub learning_rate: Option<f32>,
	/// Mean loss over the validation rows.
	pub validation_loss: Option<f32>,
	/// Share of validation rows classified correctly, rounded.
	pub validation_accuracy: Option<f32>,
	/// Norm of the batch's whole gradient, where it is clipped.
	pub gradient_norm: Option<f32>,
}

impl Point {
	/// Returns the point of a line; `rate` is the learning rate of the update that completes that
	/// many steps.
	pub(super) fn new(line: &Line, rate: &dyn Fn(u32) -> f32) -> Self {
		Self {
			step: line.step,
			loss: line.loss,
			learning_rate: line.loss.map(|_| rate(line.step)),
			validation_loss: line.validation_loss,
			validation_accuracy: line.validation_accuracy.map(|share| share as f32),
			gradient_norm: line.gradient_norm,
		}
	}

	/// Merges the two points of one step.
	pub(super) fn and(self, later: Self) -> Self {
		Self {
			step: self.step,
			loss: self.loss.or(later.loss),
			learning_rate: self.learning_rate.or(later.learning_rate),
			validation_loss: self.validation_loss.or(later.validation_loss),
			validation_accuracy: self.validation_accuracy.or(later.validation_accuracy),
			gradient_norm: self.gradient_norm.or(later.gradient_norm),
		}
	}
}
