//! The operators of the program as launches.

use super::{
	backend::{Arg, Backend},
	launches::{geometry, Launches, Product, CONV, CONV_WEIGHT_GRAD, MATMUL},
	DeviceError,
};
use trainyard_program::{
	ops::{Factor, Nano, OpKind, TensorId, Window},
	reference::{dropout_threshold, StepContext},
};
use trainyard_strict as strict;
use trainyard_strict::{
	philox::{Stream, StreamName},
	Function,
};

/// Computes the result of operator `kind` at `moment`, of `len` elements. `read` returns the
/// buffers that the operator names. Labels and tokens must be below the classes and the vocabulary.
pub fn apply<'a, B: Backend>(
	backend: &B,
	kind: &OpKind,
	moment: StepContext,
	len: usize,
	read: impl Fn(TensorId) -> Result<&'a B::Buffer, DeviceError>,
) -> Result<B::Buffer, DeviceError> {
	let device = Launches(backend);
	let buffer = |id| read(id).map(Arg::Buffer);
	let n = len as u64;
	// Elementwise on one, two or three tensors: `(x, .., out, n, ..)`.
	let elementwise = |kernel, operands: &[TensorId], rest: &[Arg<'_, B::Buffer>]| {
		let out = backend.allocate(len)?;
		let mut arguments = Vec::new();
		for id in operands {
			arguments.push(buffer(*id)?);
		}
		arguments.extend([Arg::Buffer(&out), Arg::U64(n)]);
		arguments.extend(rest);
		device.each(kernel, n, &arguments)?;
		Ok(out)
	};
	// As the kernels' `factor_of` reads it; if it is a number, the address is not used.
	let factor = |factor: Factor, unused: TensorId| match factor {
		Factor::Nano(nano) => Ok([Arg::F32(nano.to_f32()), buffer(unused)?, Arg::U32(0)]),
		Factor::Tensor(id) => Ok([Arg::F32(0.0), buffer(id)?, Arg::U32(1)]),
	};
	// Sixteen threads for each row: `(x, .., out, rows, cols, ..)`.
	let by_rows = |kernel, operands: &[TensorId], rows: u64, cols, rest: &[Arg<'_, B::Buffer>]| {
		let out = backend.allocate(len)?;
		let mut arguments = Vec::new();
		for id in operands {
			arguments.push(buffer(*id)?);
		}
		arguments.extend([Arg::Buffer(&out), Arg::U64(rows), Arg::U32(cols)]);
		arguments.extend(rest);
		device.rows(kernel, rows, cols, &arguments)?;
		Ok(out)
	};
	// Per column the sum of what a kernel of norms makes of each row.
	let column_sums_of = |kernel, [gradient, x]: [TensorId; 2], epsilon: Nano, rows: u32, cols| {
		let products = backend.allocate(rows as usize * cols as usize)?;
		let arguments = [
			buffer(gradient)?,
			buffer(x)?,
			Arg::Buffer(&products),
			Arg::U64(rows.into()),
			Arg::U32(cols),
			Arg::F32(cols as f32),
			Arg::F32(epsilon.to_f32()),
		];
		device.rows(kernel, rows.into(), cols, &arguments)?;
		device.column_sums(&products, rows.into(), cols)
	};
	let windows = |w: &Window| Arg::Window(geometry(w));
	match *kind {
		OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, k } => {
			let kernels = MATMUL[usize::from(transpose_a)][usize::from(transpose_b)];
			device.product(kernels, read(a)?, read(b)?, Product { batch: 1, m, n, k }, None)
		}
		OpKind::BatchMatMul { a, b, transpose_a, transpose_b, batch, m, n, k } => {
			let kernels = MATMUL[usize::from(transpose_a)][usize::from(transpose_b)];
			device.product(kernels, read(a)?, read(b)?, Product { batch, m, n, k }, None)
		}
		OpKind::Conv2d { x, weight, window, filters } => {
			let (n, k) = (index(u64::from(window.images), window.out_area())?, terms(&window)?);
			let size = Product { batch: 1, m: filters, n, k };
			device.product(CONV, read(weight)?, read(x)?, size, Some(geometry(&window)))
		}
		OpKind::Conv2dWeightGrad { gradient, x, window, filters } => {
			let (n, k) = (terms(&window)?, index(u64::from(window.images), window.out_area())?);
			let size = Product { batch: 1, m: filters, n, k };
			let window = Some(geometry(&window));
			device.product(CONV_WEIGHT_GRAD, read(gradient)?, read(x)?, size, window)
		}
		OpKind::Conv2dInputGrad { gradient, weight, window, filters } => {
			let rest = [windows(&window), Arg::U32(filters)];
			elementwise("conv_input_grad", &[gradient, weight], &rest)
		}
		OpKind::MaxPool2d { x, window } => elementwise("max_pool", &[x], &[windows(&window)]),
		OpKind::MaxPool2dGrad { gradient, x, maximum, window } => {
			elementwise("max_pool_grad", &[gradient, x, maximum], &[windows(&window)])
		}
		OpKind::AvgPool2d { x, window } => {
			let rest = [windows(&window), Arg::F32(window.taps() as f32)];
			elementwise("avg_pool", &[x], &rest)
		}
		OpKind::AvgPool2dGrad { gradient, window } => {
			let rest = [windows(&window), Arg::F32(window.taps() as f32)];
			elementwise("avg_pool_grad", &[gradient], &rest)
		}
		OpKind::AddRow { a, row, cols, .. } => {
			elementwise("add_channel", &[a, row], &[Arg::U32(cols), Arg::U64(1)])
		}
		OpKind::AddChannel { x, channel, channels, area, .. } => {
			elementwise("add_channel", &[x, channel], &[Arg::U32(channels), Arg::U64(area)])
		}
		OpKind::Relu { a, .. } => elementwise("relu", &[a], &[]),
		OpKind::ReluGrad { gradient, activation, .. } => {
			elementwise("relu_grad", &[gradient, activation], &[])
		}
		OpKind::Activation { function, x, .. } => {
			let out = backend.allocate(len)?;
			let number = Arg::U32(number(function));
			let arguments = [number, buffer(x)?, Arg::Buffer(&out), Arg::U64(n)];
			device.each("activation", n, &arguments)?;
			Ok(out)
		}
		OpKind::ActivationGrad { function, gradient, at, .. } => {
			let out = backend.allocate(len)?;
			let (number, gradient, at) =
				(Arg::U32(number(function)), buffer(gradient)?, buffer(at)?);
			let arguments = [number, gradient, at, Arg::Buffer(&out), Arg::U64(n)];
			device.each("activation_grad", n, &arguments)?;
			Ok(out)
		}
		OpKind::SwapAxes { x, a, b, inner, .. } => {
			elementwise("swap_axes", &[x], &[a, b, inner].map(Arg::U32))
		}
		OpKind::Scale { x, factor: by, .. } => elementwise("scale", &[x], &factor(by, x)?),
		OpKind::Decay { x, learning_rate, weight_decay, .. } => {
			let [value, tensor, from] = factor(learning_rate, x)?;
			let rest = [Arg::F32(weight_decay.to_f32()), value, tensor, from];
			elementwise("decay", &[x], &rest)
		}
		OpKind::MulAdd { x, y, factor: by, negate, .. } => {
			let [value, tensor, from] = factor(by, x)?;
			elementwise("mul_add", &[x, y], &[Arg::U32(negate.into()), value, tensor, from])
		}
		OpKind::Ema { average, x, keep, take, .. } => {
			elementwise("ema", &[average, x], &[keep, take].map(|by| Arg::F32(by.to_f32())))
		}
		OpKind::EmaSquare { average, x, keep, take, .. } => {
			elementwise("ema_square", &[average, x], &[keep, take].map(|by| Arg::F32(by.to_f32())))
		}
		OpKind::AdamStep { x, m, v, power1, power2, learning_rate, epsilon, .. } => {
			let [value, tensor, from] = factor(learning_rate, x)?;
			let rest = [Arg::F32(epsilon.to_f32()), value, tensor, from];
			elementwise("adam_step", &[x, m, v, power1, power2], &rest)
		}
		OpKind::Add { x, y, .. } => elementwise("add_elements", &[x, y], &[]),
		OpKind::LogSoftmax { logits, rows, cols } => {
			by_rows("log_softmax", &[logits], rows.into(), cols, &[])
		}
		OpKind::CausalSoftmax { x, batch, size, depth } => {
			let rows = u64::from(batch) * u64::from(size);
			by_rows("causal_softmax", &[x], rows, size, &[score_factor(depth)])
		}
		OpKind::CausalSoftmaxGrad { gradient, p, batch, size, depth } => {
			let rows = u64::from(batch) * u64::from(size);
			by_rows("causal_softmax_grad", &[gradient, p], rows, size, &[score_factor(depth)])
		}
		OpKind::LayerNorm { x, weight, bias, epsilon, rows, cols } => {
			let rest = [cols as f32, epsilon.to_f32()].map(Arg::F32);
			by_rows("layer_norm", &[x, weight, bias], rows.into(), cols, &rest)
		}
		OpKind::LayerNormGrad { gradient, x, weight, epsilon, rows, cols } => {
			let rest = [cols as f32, epsilon.to_f32()].map(Arg::F32);
			by_rows("layer_norm_grad", &[gradient, x, weight], rows.into(), cols, &rest)
		}
		OpKind::LayerNormWeightGrad { gradient, x, epsilon, rows, cols } => {
			column_sums_of("layer_norm_products", [gradient, x], epsilon, rows, cols)
		}
		OpKind::RmsNorm { x, weight, epsilon, rows, cols } => {
			let rest = [cols as f32, epsilon.to_f32()].map(Arg::F32);
			by_rows("rms_norm", &[x, weight], rows.into(), cols, &rest)
		}
		OpKind::RmsNormGrad { gradient, x, weight, epsilon, rows, cols } => {
			let rest = [cols as f32, epsilon.to_f32()].map(Arg::F32);
			by_rows("rms_norm_grad", &[gradient, x, weight], rows.into(), cols, &rest)
		}
		OpKind::RmsNormWeightGrad { gradient, x, epsilon, rows, cols } => {
			column_sums_of("rms_norm_products", [gradient, x], epsilon, rows, cols)
		}
		OpKind::SquaredLoss { outputs, labels, rows, cols } => {
			let rest = [Arg::F32(cols as f32)];
			by_rows("squared_loss", &[outputs, labels], rows.into(), cols, &rest)
		}
		OpKind::SquaredLossGrad { outputs, labels, rows, cols } => {
			let count = u64::from(rows).saturating_mul(u64::from(cols)) as f32;
			let rest = [Arg::U32(cols), Arg::F32(count)];
			elementwise("squared_loss_grad", &[outputs, labels], &rest)
		}
		OpKind::RowLoss { log_p, labels, cols, .. } => {
			elementwise("row_loss", &[log_p, labels], &[Arg::U32(cols)])
		}
		OpKind::RowLossGrad { log_p, labels, rows, cols } => {
			let rest = [Arg::U32(cols), Arg::F32(rows as f32)];
			elementwise("row_loss_grad", &[log_p, labels], &rest)
		}
		OpKind::Correct { logits, labels, cols, .. } => {
			elementwise("correct", &[logits, labels], &[Arg::U32(cols)])
		}
		OpKind::Mean { a, len: terms } => {
			let sum = device.sums(read(a)?, 1, terms, false)?;
			let out = backend.allocate(1)?;
			let by = Arg::F32(terms as f32);
			let arguments = [Arg::Buffer(&sum), Arg::Buffer(&out), Arg::U64(1), by];
			device.each("divide_elements", 1, &arguments)?;
			Ok(out)
		}
		OpKind::SumSquares { x, len: terms } => device.sums(read(x)?, 1, terms, true),
		OpKind::SumRows { a, rows, cols } => device.column_sums(read(a)?, rows.into(), cols),
		OpKind::SumChannels { x, images, channels, area } => {
			device.channel_sums(read(x)?, images.into(), channels.into(), area)
		}
		OpKind::Embedding { table, tokens, vocabulary, width, .. } => {
			elementwise("embedding", &[table, tokens], &[vocabulary, width].map(Arg::U32))
		}
		OpKind::EmbeddingGrad { gradient, tokens, rows, vocabulary, width } => {
			let (next, first) =
				(backend.allocate(rows as usize)?, backend.allocate(rows as usize)?);
			let (next, first, tokens) = (Arg::Buffer(&next), Arg::Buffer(&first), buffer(tokens)?);
			device.each("token_chain", rows.into(), &[tokens, next, first, Arg::U32(rows)])?;
			let out = device.filled(0.0, len)?;
			let mut arguments = vec![buffer(gradient)?, tokens, next, first, Arg::Buffer(&out)];
			arguments.extend([rows, vocabulary, width].map(Arg::U32));
			device.each("embedding_grad", u64::from(rows) * u64::from(width), &arguments)?;
			Ok(out)
		}
		OpKind::Dropout { x, rate, site, .. } => {
			let [k0, k1] = Stream::new(&moment.seed.0, StreamName::Dropout).key();
			let words = [k0, k1, moment.step, site, dropout_threshold(rate)].map(Arg::U32);
			let kept = Arg::F32(1.0 / rate.one_minus().to_f32());
			elementwise("dropout", &[x], &[&words[..], &[kept]].concat())
		}
		OpKind::Noise { x, deviation, .. } => {
			let [k0, k1] = Stream::new(&moment.seed.0, StreamName::Noise).key();
			let words = [k0, k1, moment.step].map(Arg::U32);
			let deviation = Arg::F32(deviation.to_f32());
			elementwise("noise", &[x], &[&words[..], &[deviation]].concat())
		}
		OpKind::ClipFactor { squares, largest } => {
			let out = backend.allocate(1)?;
			let arguments = [buffer(squares)?, Arg::Buffer(&out), Arg::F32(largest.to_f32())];
			device.each("clip_factor", 1, &arguments)?;
			Ok(out)
		}
		OpKind::Whetstone { .. } => {
			Err(DeviceError::Unsupported("the calibration of drilling".into()))
		}
		OpKind::LearningRate { schedule } => device.filled(schedule.at(moment.step), 1),
	}
}

/// `1 / sqrt(depth)`.
fn score_factor<B>(depth: u32) -> Arg<'static, B> {
	Arg::F32(1.0 / strict::sqrt(depth as f32))
}

/// Returns the number of an activation in `functions.cuh`.
fn number(function: Function) -> u32 {
	match function {
		Function::Gelu => 0,
		Function::Silu => 1,
		Function::Tanh => 2,
		Function::Sigmoid => 3,
	}
}

/// A product of extents that kernels count in 32 bits.
fn index(a: u64, b: u64) -> Result<u32, DeviceError> {
	a.checked_mul(b).and_then(|n| u32::try_from(n).ok()).ok_or_else(|| {
		DeviceError::Unsupported(format!("a convolution over {a} times {b} windows"))
	})
}

/// Places of a window on all planes.
fn terms(window: &Window) -> Result<u32, DeviceError> {
	index(window.patch(), 1)
}
