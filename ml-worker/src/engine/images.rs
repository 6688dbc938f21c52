//! The operators on images as candle custom operators around their kernels
//! ([`super::kernels::images`]).

use super::{
	kernels::{
		images::{channels, conv, pool},
		Kernel,
	},
	ops::{Binary, Ternary, Unary},
	EngineError,
};
use candle_core::Tensor;
use trainyard_primitives::ops::{OpKind, TensorId};

/// The result of the operator `kind`, of `shape`; none where it is not one on images.
pub fn apply<'a>(
	kernel: Kernel,
	kind: &OpKind,
	shape: &[usize],
	read: impl Fn(TensorId) -> Result<&'a Tensor, EngineError>,
) -> Option<Result<Tensor, EngineError>> {
	type Of1<'f> = &'f dyn Fn(&[f32]) -> Vec<f32>;
	type Of2<'f> = &'f dyn Fn(&[f32], &[f32]) -> Vec<f32>;
	type Of3<'f> = &'f dyn Fn(&[f32], &[f32], &[f32]) -> Vec<f32>;
	let unary = |name, x: TensorId, f: Of1<'_>| -> Result<Tensor, EngineError> {
		let op = Unary { name, shape: shape.into(), f };
		Ok(read(x)?.apply_op1_no_bwd(&op)?)
	};
	let binary = |name, [x, y]: [TensorId; 2], f: Of2<'_>| -> Result<Tensor, EngineError> {
		let op = Binary { name, shape: shape.into(), f };
		Ok(read(x)?.apply_op2_no_bwd(read(y)?, &op)?)
	};
	let ternary = |name, [x, y, z]: [TensorId; 3], f: Of3<'_>| -> Result<Tensor, EngineError> {
		let op = Ternary { name, shape: shape.into(), f };
		Ok(read(x)?.apply_op3_no_bwd(read(y)?, read(z)?, &op)?)
	};
	let out = match *kind {
		OpKind::Conv2d { x, weight, window: w, filters } => {
			binary("strict-conv2d", [x, weight], &|x, weight| {
				conv::conv(kernel, &w, filters, x, weight)
			})
		}
		OpKind::Conv2dWeightGrad { gradient, x, window: w, filters } => {
			binary("strict-conv2d-weight-grad", [gradient, x], &|gradient, x| {
				conv::conv_weight_grad(kernel, &w, filters, gradient, x)
			})
		}
		OpKind::Conv2dInputGrad { gradient, weight, window: w, filters } => {
			binary("strict-conv2d-input-grad", [gradient, weight], &|gradient, weight| {
				conv::conv_input_grad(kernel, &w, filters, gradient, weight)
			})
		}
		OpKind::AddChannel { x, channel, area, .. } => {
			binary("strict-add-channel", [x, channel], &|x, channel| {
				channels::add_channel(kernel, x, channel, area as usize)
			})
		}
		OpKind::SumChannels { x, channels: count, area, .. } => {
			unary("strict-sum-channels", x, &|x| {
				channels::sum_channels(kernel, x, count as usize, area as usize)
			})
		}
		OpKind::MaxPool2d { x, window: w } => {
			unary("strict-max-pool2d", x, &|x| pool::max_pool(kernel, &w, x))
		}
		OpKind::MaxPool2dGrad { gradient, x, maximum, window: w } => {
			ternary("strict-max-pool2d-grad", [gradient, x, maximum], &|gradient, x, maximum| {
				pool::max_pool_grad(kernel, &w, gradient, x, maximum)
			})
		}
		OpKind::AvgPool2d { x, window: w } => {
			unary("strict-avg-pool2d", x, &|x| pool::avg_pool(kernel, &w, x))
		}
		OpKind::AvgPool2dGrad { gradient, window: w } => {
			unary("strict-avg-pool2d-grad", gradient, &|gradient| {
				pool::avg_pool_grad(kernel, &w, gradient)
			})
		}
		_ => return None,
	};
	Some(out)
}

#[cfg(test)]
mod tests;
