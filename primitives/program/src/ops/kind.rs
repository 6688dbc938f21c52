//! The operators.

use super::{Factor, Nano, TensorId, Window};
use crate::schedule::LearningRate;
use trainyard_strict::Function;

/// The operators. `rows` and `cols` are those of the (row major) operand; elementwise
/// operators carry the number of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpKind {
	/// `out[i, j] = dot over p of A[i, p] B[p, j]` (`strict::dot`), for `out` of `[m, n]`.
	MatMul {
		/// Left operand: `[m, k]`, or `[k, m]` where `transpose_a`.
		a: TensorId,
		/// Right operand: `[k, n]`, or `[n, k]` where `transpose_b`.
		b: TensorId,
		/// Whether `a` is stored transposed.
		transpose_a: bool,
		/// Whether `b` is stored transposed.
		transpose_b: bool,
		/// Rows of the result.
		m: u32,
		/// Columns of the result.
		n: u32,
		/// Length of the dot products.
		k: u32,
	},
	/// `out[i, j] = a[i, j] + row[j]`.
	AddRow {
		/// `[rows, cols]`.
		a: TensorId,
		/// `[cols]`.
		row: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out = a where a > 0, otherwise +0`.
	Relu {
		/// Any shape.
		a: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// `out = gradient where activation > 0, otherwise +0`.
	ReluGrad {
		/// Gradient of the activation.
		gradient: TensorId,
		/// What [`OpKind::Relu`] returned.
		activation: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// Per row: `m = max, s = sum of exp(x - m), l = log(s); out = (x - m) - l`.
	LogSoftmax {
		/// `[rows, cols]`.
		logits: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out[i] = -log_p[i, labels[i]]`.
	RowLoss {
		/// `[rows, cols]`: what [`OpKind::LogSoftmax`] returned.
		log_p: TensorId,
		/// `[rows]`.
		labels: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// Gradient of the mean loss by the logits:
	/// `out[i, j] = (exp(log_p[i, j]) - (1 where j = labels[i], otherwise 0)) / rows`.
	RowLossGrad {
		/// `[rows, cols]`: what [`OpKind::LogSoftmax`] returned.
		log_p: TensorId,
		/// `[rows]`.
		labels: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out[i] = 1` where the first of the largest of `logits[i, ..]` stands at
	/// `labels[i]`, otherwise `+0`.
	Correct {
		/// `[rows, cols]`.
		logits: TensorId,
		/// `[rows]`.
		labels: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out[0] = sum(a) / len` (`strict::sum`).
	Mean {
		/// Any shape.
		a: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// `out[j] = sum over i of a[i, j]` (`strict::sum`).
	SumRows {
		/// `[rows, cols]`.
		a: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out = factor x`.
	Scale {
		/// Any shape.
		x: TensorId,
		/// The factor.
		factor: Factor,
		/// Number of elements.
		len: u64,
	},
	/// Decoupled weight decay: `out = d x` with `d = fma(-learning_rate, weight_decay, 1)`.
	Decay {
		/// Any shape.
		x: TensorId,
		/// Learning rate.
		learning_rate: Factor,
		/// Weight decay.
		weight_decay: Nano,
		/// Number of elements.
		len: u64,
	},
	/// `out = fma(factor, x, y)`; with `negate`, `fma(-factor, x, y)`.
	MulAdd {
		/// Any shape.
		x: TensorId,
		/// The shape of `x`.
		y: TensorId,
		/// The factor.
		factor: Factor,
		/// Whether the factor is negated.
		negate: bool,
		/// Number of elements.
		len: u64,
	},
	/// Exponential moving average: `out = fma(keep, average, take * x)`.
	Ema {
		/// The average so far.
		average: TensorId,
		/// What joins it.
		x: TensorId,
		/// Weight of the average.
		keep: Nano,
		/// Weight of `x`.
		take: Nano,
		/// Number of elements.
		len: u64,
	},
	/// Exponential moving average of squares: `out = fma(keep, average, take * (x * x))`.
	EmaSquare {
		/// The average so far.
		average: TensorId,
		/// What joins it, squared.
		x: TensorId,
		/// Weight of the average.
		keep: Nano,
		/// Weight of the square.
		take: Nano,
		/// Number of elements.
		len: u64,
	},
	/// Adam's update: `out = fma(-learning_rate, (m / (1 - power1)) / (sqrt(v / (1 - power2))
	/// + epsilon), x)`.
	AdamStep {
		/// The parameter, decayed if it decays.
		x: TensorId,
		/// First moment, this step's gradient included.
		m: TensorId,
		/// Second moment, this step's gradient included.
		v: TensorId,
		/// `[1]`: beta1 to the power of the steps, this one included.
		power1: TensorId,
		/// `[1]`: beta2 to the power of the steps, this one included.
		power2: TensorId,
		/// Learning rate.
		learning_rate: Factor,
		/// Epsilon.
		epsilon: Nano,
		/// Number of elements.
		len: u64,
	},
	/// `out = x + y`.
	Add {
		/// Any shape.
		x: TensorId,
		/// The shape of `x`.
		y: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// `out = function(x)`.
	Activation {
		/// The function.
		function: Function,
		/// Any shape.
		x: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// `out = gradient` times the function's derivative.
	ActivationGrad {
		/// The function.
		function: Function,
		/// Gradient of [`OpKind::Activation`]'s result.
		gradient: TensorId,
		/// Its result where [`Function::gradient_from_result`], otherwise its argument.
		at: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// Matrix by matrix, [`OpKind::MatMul`]: `out` is `[batch, m, n]`.
	BatchMatMul {
		/// Left operands: `[batch, m, k]`, or `[batch, k, m]` where `transpose_a`.
		a: TensorId,
		/// Right operands: `[batch, k, n]`, or `[batch, n, k]` where `transpose_b`.
		b: TensorId,
		/// Whether the matrices of `a` are stored transposed.
		transpose_a: bool,
		/// Whether the matrices of `b` are stored transposed.
		transpose_b: bool,
		/// Pairs of matrices.
		batch: u32,
		/// Rows of a result.
		m: u32,
		/// Columns of a result.
		n: u32,
		/// Length of the dot products.
		k: u32,
	},
	/// `[outer, a, b, inner]` as `[outer, b, a, inner]`: elements move, nothing is computed.
	SwapAxes {
		/// `[outer, a, b, inner]`.
		x: TensorId,
		/// Extent before the two axes.
		outer: u32,
		/// Extent of the first of them.
		a: u32,
		/// Extent of the second.
		b: u32,
		/// Extent after them.
		inner: u32,
	},
	/// Convolution (cross-correlation): `out[i, o, y, x]` = dot product, over the places of
	/// the window in the order (channel, row, column), of the image there, `+0` in the
	/// padding, and `weight[o]`; `out` is `[images, filters, out height, out width]`.
	Conv2d {
		/// `[images, channels, height, width]`.
		x: TensorId,
		/// `[filters, channels, kernel, kernel]`.
		weight: TensorId,
		/// The windows.
		window: Window,
		/// Planes of the result.
		filters: u32,
	},
	/// Gradient of [`OpKind::Conv2d`] by its weight: `out[o, c, r, s]` = dot product, over all
	/// windows in the order (image, row, column), of `gradient[i, o, y, x]` and what tap
	/// `(r, s)` of the window reads on plane `c`, `+0` in the padding.
	Conv2dWeightGrad {
		/// `[images, filters, out height, out width]`.
		gradient: TensorId,
		/// `[images, channels, height, width]`.
		x: TensorId,
		/// The windows.
		window: Window,
		/// Planes of the convolution's result.
		filters: u32,
	},
	/// Gradient of [`OpKind::Conv2d`] by its images: `out` begins at `+0`; for the taps `(r, s)`
	/// in the order (row, column), `out[i, c, h, w]` adds the dot product, over the filters `o`,
	/// of `gradient[i, o, y, x]` and `weight[o, c, r, s]`, with `(y, x)` the window whose tap
	/// `(r, s)` reads `(h, w)`; nothing where there is none.
	Conv2dInputGrad {
		/// `[images, filters, out height, out width]`.
		gradient: TensorId,
		/// `[filters, channels, kernel, kernel]`.
		weight: TensorId,
		/// The windows.
		window: Window,
		/// Planes of the convolution's result.
		filters: u32,
	},
	/// `out[i, c, p] = x[i, c, p] + channel[c]`.
	AddChannel {
		/// `[images, channels, area]`.
		x: TensorId,
		/// `[channels]`.
		channel: TensorId,
		/// Images.
		images: u32,
		/// Channels.
		channels: u32,
		/// Places of a plane.
		area: u64,
	},
	/// `out[c]` = sum of `x[i, c, p]` over images, and in each over its places.
	SumChannels {
		/// `[images, channels, area]`.
		x: TensorId,
		/// Images.
		images: u32,
		/// Channels.
		channels: u32,
		/// Places of a plane.
		area: u64,
	},
	/// `out[i, c, y, x]` = the largest of the window (`strict::max`). No padding.
	MaxPool2d {
		/// `[images, channels, height, width]`.
		x: TensorId,
		/// The windows.
		window: Window,
	},
	/// Gradient of [`OpKind::MaxPool2d`]. All elements begin at `+0`; then every window, in
	/// the order (image, channel, row, column), adds its gradient to the first of its places,
	/// row by row, whose element equals its maximum (`0` equals `-0`).
	MaxPool2dGrad {
		/// `[images, channels, out height, out width]`.
		gradient: TensorId,
		/// What the pooling read.
		x: TensorId,
		/// What the pooling returned.
		maximum: TensorId,
		/// The windows.
		window: Window,
	},
	/// `out[i, c, y, x]` = mean of the window: from `+0`, its elements are added row by row;
	/// then the division by their number. No padding.
	AvgPool2d {
		/// `[images, channels, height, width]`.
		x: TensorId,
		/// The windows.
		window: Window,
	},
	/// Gradient of [`OpKind::AvgPool2d`]. All elements begin at `+0`; then every window, in
	/// the order (image, channel, row, column), adds its gradient divided by the number of its
	/// places to each of them.
	AvgPool2dGrad {
		/// `[images, channels, out height, out width]`.
		gradient: TensorId,
		/// The windows.
		window: Window,
	},
	/// Per row `h = (x - m) / s` with `m = sum(x) / cols` and
	/// `s = sqrt(sum((x - m) * (x - m)) / cols + epsilon)`; `out = fma(h, weight, bias)`.
	LayerNorm {
		/// `[rows, cols]`.
		x: TensorId,
		/// `[cols]`.
		weight: TensorId,
		/// `[cols]`.
		bias: TensorId,
		/// Epsilon.
		epsilon: Nano,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// Gradient of [`OpKind::LayerNorm`] by `x`. With its `h` and `s`, `q = gradient * weight`,
	/// `a = sum(q) / cols` and `b = sum(q * h) / cols`: `out = ((q - a) - h * b) / s`.
	LayerNormGrad {
		/// `[rows, cols]`.
		gradient: TensorId,
		/// `[rows, cols]`.
		x: TensorId,
		/// `[cols]`.
		weight: TensorId,
		/// Epsilon.
		epsilon: Nano,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// Gradient of [`OpKind::LayerNorm`] by its weight: `out[j]` = sum over `i` of
	/// `gradient[i, j] * h[i, j]`.
	LayerNormWeightGrad {
		/// `[rows, cols]`.
		gradient: TensorId,
		/// `[rows, cols]`.
		x: TensorId,
		/// Epsilon.
		epsilon: Nano,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// Per row `h = x / s` with `s = sqrt(sum(x * x) / cols + epsilon)`; `out = h * weight`.
	RmsNorm {
		/// `[rows, cols]`.
		x: TensorId,
		/// `[cols]`.
		weight: TensorId,
		/// Epsilon.
		epsilon: Nano,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// Gradient of [`OpKind::RmsNorm`] by `x`. With its `h` and `s`, `q = gradient * weight` and
	/// `b = sum(q * h) / cols`: `out = (q - h * b) / s`.
	RmsNormGrad {
		/// `[rows, cols]`.
		gradient: TensorId,
		/// `[rows, cols]`.
		x: TensorId,
		/// `[cols]`.
		weight: TensorId,
		/// Epsilon.
		epsilon: Nano,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// Gradient of [`OpKind::RmsNorm`] by its weight: `out[j]` = sum over `i` of
	/// `gradient[i, j] * h[i, j]`.
	RmsNormWeightGrad {
		/// `[rows, cols]`.
		gradient: TensorId,
		/// `[rows, cols]`.
		x: TensorId,
		/// Epsilon.
		epsilon: Nano,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out[i] = table[tokens[i]]`.
	Embedding {
		/// `[vocabulary, width]`.
		table: TensorId,
		/// `[rows]`: whole numbers below the vocabulary, in binary32.
		tokens: TensorId,
		/// Tokens.
		rows: u32,
		/// Rows of the table.
		vocabulary: u32,
		/// Columns.
		width: u32,
	},
	/// Gradient of [`OpKind::Embedding`] by its table: `out` begins at `+0`; for `i` ascending
	/// `out[tokens[i]] = out[tokens[i]] + gradient[i]`.
	EmbeddingGrad {
		/// `[rows, width]`.
		gradient: TensorId,
		/// `[rows]`.
		tokens: TensorId,
		/// Tokens.
		rows: u32,
		/// Rows of the table.
		vocabulary: u32,
		/// Columns.
		width: u32,
	},
	/// Softmax of scaled, causally masked scores. In row `i` of each matrix, over the columns
	/// `j <= i`: `s = factor * x`, `m` their maximum, `e = exp(s - m)`, `out = e / sum(e)`;
	/// `+0` in the others. `factor = 1 / sqrt(depth)`.
	CausalSoftmax {
		/// `[batch, size, size]`.
		x: TensorId,
		/// Matrices.
		batch: u32,
		/// Rows and columns of each.
		size: u32,
		/// Length of the dot products that made the scores.
		depth: u32,
	},
	/// Gradient of [`OpKind::CausalSoftmax`]. Over the columns `j <= i` of row `i`, with `d` the
	/// sum of `gradient * p`: `out = factor * (p * (gradient - d))`; `+0` in the others.
	CausalSoftmaxGrad {
		/// `[batch, size, size]`.
		gradient: TensorId,
		/// What [`OpKind::CausalSoftmax`] returned.
		p: TensorId,
		/// Matrices.
		batch: u32,
		/// Rows and columns of each.
		size: u32,
		/// As in [`OpKind::CausalSoftmax`].
		depth: u32,
	},
	/// `out = k x` where the element is kept, otherwise `+0`; `k = 1 / (1 - rate)`, with the
	/// difference taken in integers. Element `i` is kept where word `i mod 4` of block
	/// `i / 4 + 2^32 site` of the stream `dropout`, at this step, is at least `floor(rate * 2^32)`.
	/// Applied to a gradient, it computes the gradient.
	Dropout {
		/// Any shape.
		x: TensorId,
		/// Share of the elements that are dropped, below 1.
		rate: Nano,
		/// Number of the dropout in the model: each drops different elements.
		site: u32,
		/// Number of elements.
		len: u64,
	},
	/// `out = fma(deviation, z, x)` with `z` the standard normal of word `i mod 4` of block
	/// `i / 4` of the stream `noise`, at this step.
	Noise {
		/// Any shape.
		x: TensorId,
		/// Standard deviation of the noise.
		deviation: Nano,
		/// Number of elements.
		len: u64,
	},
	/// `out[i] = sum((x - t) * (x - t)) / cols` over the row, with `t` 1 where
	/// `j = labels[i]`, otherwise `+0`.
	SquaredLoss {
		/// `[rows, cols]`.
		outputs: TensorId,
		/// `[rows]`.
		labels: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// Gradient of the mean of [`OpKind::SquaredLoss`]: with `d = x - t`,
	/// `out = (d + d) / (rows * cols)`, with the product taken in integers.
	SquaredLossGrad {
		/// `[rows, cols]`.
		outputs: TensorId,
		/// `[rows]`.
		labels: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out[0] = sum(x * x)` (`strict::sum`).
	SumSquares {
		/// Any shape.
		x: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// Factor that clips a gradient to a largest norm: with `n = sqrt(squares[0])`,
	/// `out[0] = largest / n` where `n > largest`, otherwise 1.
	ClipFactor {
		/// `[1]`: sum of the squares of the whole gradient.
		squares: TensorId,
		/// Largest norm.
		largest: Nano,
	},
	/// `cycles` cycles of [`trainyard_strict::whetstone`] of each lane. Units of drilling use it;
	/// no training does.
	Whetstone {
		/// `[whetstone::VARIABLES, lanes]`.
		x: TensorId,
		/// Lanes.
		lanes: u32,
		/// Cycles.
		cycles: u32,
	},
	/// `out[0]` = the learning rate of this step, see [`crate::schedule`].
	LearningRate {
		/// The schedule.
		schedule: LearningRate,
	},
}
