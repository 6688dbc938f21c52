//! The shapes that flow through a model, and the rules of its layers.

use super::{
	checked::ensure, Activation, Input, JobSpec, Layer, Model, SpecError, MAX_BLOCKS, MAX_CONTEXT,
	MAX_DROPOUT_NANO, MAX_MLP_FACTOR, MAX_NORM_WIDTH, MAX_REFLECTIONS, MAX_ROW_ELEMENTS, MAX_WIDTH,
};
use crate::ops::Window;
use alloc::vec::Vec;
use core::ops::Range;

/// What one row is between two layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
	/// That many numbers.
	Numbers(u32),
	/// An image, channel by channel and row by row.
	Image {
		/// Channels.
		channels: u32,
		/// Height.
		height: u32,
		/// Width.
		width: u32,
	},
	/// Tokens.
	Tokens {
		/// Tokens of the row.
		positions: u32,
		/// Number of different tokens.
		vocabulary: u32,
	},
	/// Vectors, position by position.
	Sequence {
		/// Vectors.
		positions: u32,
		/// Numbers of a vector.
		width: u32,
	},
}

impl Shape {
	/// Returns how many numbers a row has.
	pub fn elements(&self) -> u64 {
		let product = |a: u32, b: u32| u64::from(a).saturating_mul(u64::from(b));
		match *self {
			Shape::Numbers(n) | Shape::Tokens { positions: n, .. } => u64::from(n),
			Shape::Image { channels, height, width } => {
				product(channels, height).saturating_mul(u64::from(width))
			}
			Shape::Sequence { positions, width } => product(positions, width),
		}
	}

	/// Returns how layers on vectors see a row: (number of vectors, numbers in each).
	pub fn vectors(&self) -> (u32, u32) {
		match *self {
			Shape::Sequence { positions, width } => (positions, width),
			_ => (1, u32::try_from(self.elements()).unwrap_or(u32::MAX)),
		}
	}

	fn with_width(self, width: u32) -> Shape {
		match self {
			Shape::Sequence { positions, .. } => Shape::Sequence { positions, width },
			_ => Shape::Numbers(width),
		}
	}
}

/// A layer in its place, with all extents that programs need. Some of them are those of the shape
/// before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
	/// Fully connected, on each vector.
	Linear {
		/// Numbers of a vector before it.
		inputs: u32,
		/// Numbers of a vector after it.
		outputs: u32,
	},
	/// A convolution.
	Conv2d {
		/// The windows, over one image.
		window: Window,
		/// Planes after it.
		filters: u32,
	},
	/// The largest number of each window.
	MaxPool2d {
		/// The windows, over one image.
		window: Window,
	},
	/// The mean of each window.
	AvgPool2d {
		/// The windows, over one image.
		window: Window,
	},
	/// A function of each number.
	Activation {
		/// The function.
		function: Activation,
	},
	/// A norm of each vector.
	LayerNorm {
		/// Numbers of a vector.
		width: u32,
	},
	/// A norm of each vector by the root of its mean square.
	RmsNorm {
		/// Numbers of a vector.
		width: u32,
	},
	/// A dropout.
	Dropout {
		/// The share that is dropped, x 10^9.
		rate_nano: u64,
	},
	/// Vectors for tokens and positions.
	Embedding {
		/// Tokens of a row.
		positions: u32,
		/// Tokens that there are.
		vocabulary: u32,
		/// Numbers of a vector.
		width: u32,
	},
	/// An attention.
	Attention {
		/// Vectors of a row.
		positions: u32,
		/// Heads.
		heads: u32,
		/// Numbers of a vector for each head.
		depth: u32,
	},
	/// The sum with the input of an earlier layer.
	Skip {
		/// The earlier layer's place among all layers.
		from: usize,
	},
	/// A mapping of each vector.
	Mapping {
		/// Reflections.
		reflections: u32,
		/// Side of the patches that are the vectors; 0 where one is all of a row.
		patch: u32,
		/// Numbers of a vector.
		width: u32,
	},
}

/// A layer with what goes in and what comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaped {
	/// The layer.
	pub layer: Layer,
	/// The layer with its extents.
	pub placed: Placed,
	/// Shape of a row before it.
	pub input: Shape,
	/// Shape of a row after it.
	pub output: Shape,
}

impl JobSpec {
	/// Returns the model's layers with their shapes, from the input on. Fails where the layers do
	/// not fit each other, the data or the limits.
	pub(super) fn shaped_layers(&self) -> Result<Vec<Shaped>, SpecError> {
		let features = self.dataset.features;
		let mut shape = match self.model.input() {
			Input::Numbers => Shape::Numbers(features),
			Input::Image { channels, height, width } => {
				let image = Shape::Image { channels, height, width };
				ensure(image.elements() == u64::from(features), SpecError::BadImage)?;
				image
			}
			Input::Tokens => {
				ensure((1..=MAX_CONTEXT).contains(&features), SpecError::BadContext)?;
				Shape::Tokens { positions: features, vocabulary: self.dataset.classes }
			}
		};
		match self.model {
			Model::Transformer { layers, width, mlp_factor, dropout_nano, .. } => {
				ensure((1..=MAX_BLOCKS).contains(&layers), SpecError::BadBlocks)?;
				ensure((1..=MAX_MLP_FACTOR).contains(&mlp_factor), SpecError::BadMlpFactor)?;
				ensure((1..=MAX_WIDTH).contains(&width), SpecError::BadLayerWidth)?;
				ensure(dropout_nano <= MAX_DROPOUT_NANO, SpecError::BadDropout)?;
			}
			Model::Mlp { ref hidden, .. } => {
				let good = hidden.iter().all(|w| (1..=MAX_WIDTH).contains(w));
				ensure(good, SpecError::BadHiddenWidth)?;
			}
			_ => {}
		}
		let mut all: Vec<Shaped> = Vec::new();
		for layer in self.model.layers(&self.dataset) {
			let (placed, output) = match layer {
				Layer::Skip { back } => {
					// With 1, the input of the layer before this one.
					let from = usize::try_from(back).ok().filter(|back| *back > 0);
					let from = from.and_then(|back| all.len().checked_sub(back));
					// What a mapping reads goes nowhere else.
					let same = |at: &usize| {
						let mapped = |at: &Shaped| matches!(at.layer, Layer::Mapping { .. });
						all.get(*at).is_some_and(|at| at.input == shape && !mapped(at))
					};
					let from = from.filter(same).ok_or(SpecError::BadSkip)?;
					(Placed::Skip { from }, shape)
				}
				Layer::Mapping { .. } if !all.is_empty() => return Err(SpecError::BadMapping),
				layer => place(layer, shape)?,
			};
			ensure(output.elements() <= MAX_ROW_ELEMENTS, SpecError::LayerTooLarge)?;
			all.push(Shaped { layer, placed, input: shape, output });
			shape = output;
		}
		let classes = self.dataset.classes;
		let good = matches!(shape, Shape::Numbers(n) if n == classes)
			|| matches!(shape, Shape::Sequence { width, .. } if width == classes);
		ensure(good && !all.is_empty(), SpecError::BadOutput)?;
		Ok(all)
	}

	/// Returns the number of labels of a row: one, or one for every position of a text, which stays
	/// a sequence of as many positions through all layers.
	pub fn labels_per_row(&self) -> u32 {
		self.dataset.labels_per_row()
	}

	/// Returns the rows of a slice: as many as have [`SLICE_LABELS`] labels, at least one.
	///
	/// An evaluation is computed and committed to slice by slice, in ascending rows; the last one has
	/// the rows that are left. Rows do not meet before the mean of their losses, so no number depends
	/// on the slices, but memory does, and so does what has to be recomputed of a disputed one.
	pub fn slice_rows(&self) -> u32 {
		SLICE_LABELS.checked_div(self.labels_per_row()).unwrap_or(1).max(1)
	}

	/// Returns the number of slices of an evaluation.
	pub fn slices(&self) -> u32 {
		self.dataset.validation_rows.div_ceil(self.slice_rows())
	}

	/// Returns the validation rows of a slice; `None` where there is no such slice.
	pub fn slice(&self, slice: u32) -> Option<Range<u32>> {
		let begin = slice.checked_mul(self.slice_rows())?;
		let all = self.dataset.validation_rows;
		(begin < all).then(|| begin..begin.saturating_add(self.slice_rows()).min(all))
	}
}

/// Labels of a [slice](JobSpec::slice_rows) of an evaluation, where a row has fewer.
pub const SLICE_LABELS: u32 = 1_024;

/// Places a layer that is not a skip after this shape. Returns also the shape after it.
fn place(layer: Layer, shape: Shape) -> Result<(Placed, Shape), SpecError> {
	let width = |n: u32| ensure((1..=MAX_WIDTH).contains(&n), SpecError::BadLayerWidth);
	let dense = ensure(!matches!(shape, Shape::Tokens { .. }), SpecError::LayerMismatch);
	let inputs = shape.vectors().1;
	match layer {
		Layer::Linear { outputs } => {
			dense?;
			width(outputs)?;
			Ok((Placed::Linear { inputs, outputs }, shape.with_width(outputs)))
		}
		Layer::Conv2d { filters, kernel, stride, padding } => {
			width(filters)?;
			// Taps in the padding are counted as work.
			ensure(padding <= kernel / 2, SpecError::BadWindow)?;
			let window = window(shape, kernel, stride, padding)?;
			Ok((Placed::Conv2d { window, filters }, image(&window, filters)))
		}
		Layer::MaxPool2d { kernel, stride } => {
			let window = window(shape, kernel, stride, 0)?;
			Ok((Placed::MaxPool2d { window }, image(&window, window.channels)))
		}
		Layer::AvgPool2d { kernel, stride } => {
			let window = window(shape, kernel, stride, 0)?;
			Ok((Placed::AvgPool2d { window }, image(&window, window.channels)))
		}
		Layer::Activation { function } => {
			dense?;
			Ok((Placed::Activation { function }, shape))
		}
		Layer::LayerNorm => {
			dense?;
			// One number is normalised to zero: nothing before it would need to be computed.
			ensure((2..=MAX_NORM_WIDTH).contains(&inputs), SpecError::BadLayerWidth)?;
			Ok((Placed::LayerNorm { width: inputs }, shape))
		}
		Layer::RmsNorm => {
			dense?;
			// Over one number the result is nearly always 1 or -1.
			ensure((2..=MAX_NORM_WIDTH).contains(&inputs), SpecError::BadLayerWidth)?;
			Ok((Placed::RmsNorm { width: inputs }, shape))
		}
		Layer::Dropout { rate_nano } => {
			dense?;
			ensure((1..=MAX_DROPOUT_NANO).contains(&rate_nano), SpecError::BadDropout)?;
			Ok((Placed::Dropout { rate_nano }, shape))
		}
		Layer::Embedding { width: outputs } => {
			width(outputs)?;
			match shape {
				Shape::Tokens { positions, vocabulary } => Ok((
					Placed::Embedding { positions, vocabulary, width: outputs },
					Shape::Sequence { positions, width: outputs },
				)),
				_ => Err(SpecError::LayerMismatch),
			}
		}
		Layer::Attention { heads } => match shape {
			Shape::Sequence { positions, width } => {
				let depth = width.checked_div(heads).ok_or(SpecError::BadHeads)?;
				ensure(depth.checked_mul(heads) == Some(width), SpecError::BadHeads)?;
				Ok((Placed::Attention { positions, heads, depth }, shape))
			}
			_ => Err(SpecError::LayerMismatch),
		},
		Layer::Skip { .. } => Err(SpecError::BadSkip),
		Layer::Mapping { reflections, patch } => {
			ensure((1..=MAX_REFLECTIONS).contains(&reflections), SpecError::BadMapping)?;
			let (width, output) = match (shape, patch) {
				(Shape::Numbers(_) | Shape::Image { .. }, 0) => (inputs, shape),
				(Shape::Image { channels, height, width }, side) => {
					let whole = height.is_multiple_of(side) && width.is_multiple_of(side);
					ensure(whole, SpecError::BadMapping)?;
					let (height, width) = (
						height.checked_div(side).unwrap_or(0),
						width.checked_div(side).unwrap_or(0),
					);
					// No more than the numbers of a row.
					let channels = channels.saturating_mul(side).saturating_mul(side);
					(channels, Shape::Image { channels, height, width })
				}
				_ => return Err(SpecError::BadMapping),
			};
			// A reflection of one number is a change of its sign.
			ensure(width >= 2, SpecError::BadMapping)?;
			Ok((Placed::Mapping { reflections, patch, width }, output))
		}
	}
}

/// Returns the windows of a layer over one image.
fn window(shape: Shape, kernel: u32, stride: u32, padding: u32) -> Result<Window, SpecError> {
	let Shape::Image { channels, height, width } = shape else {
		return Err(SpecError::LayerMismatch);
	};
	let window = Window { images: 1, channels, height, width, kernel, stride, padding };
	let fits = kernel <= height && kernel <= width;
	let some = window.out_height() > 0 && window.out_width() > 0;
	ensure(kernel > 0 && stride > 0 && fits && some, SpecError::BadWindow)?;
	Ok(window)
}

/// Returns the shape of the image after these windows, with that many planes.
fn image(window: &Window, channels: u32) -> Shape {
	Shape::Image { channels, height: window.out_height(), width: window.out_width() }
}

impl Shaped {
	/// Returns whether the layer has parameters that are trained. The vectors of a mapping are not.
	pub fn has_parameters(&self) -> bool {
		self.parameters() != Some(0) && !matches!(self.placed, Placed::Mapping { .. })
	}

	/// Returns the number of parameters of the layer; `None` past `u64`.
	pub fn parameters(&self) -> Option<u64> {
		match self.placed {
			Placed::Linear { inputs, outputs } => {
				u64::from(inputs).checked_add(1)?.checked_mul(u64::from(outputs))
			}
			Placed::Conv2d { window, filters } => {
				window.patch().checked_add(1)?.checked_mul(u64::from(filters))
			}
			Placed::LayerNorm { width } => u64::from(width).checked_mul(2),
			Placed::RmsNorm { width } => Some(u64::from(width)),
			Placed::Embedding { positions, vocabulary, width } => u64::from(positions)
				.checked_add(u64::from(vocabulary))?
				.checked_mul(u64::from(width)),
			Placed::Attention { heads, depth, .. } => {
				let inputs = u64::from(heads).checked_mul(u64::from(depth))?;
				inputs.checked_add(1)?.checked_mul(inputs)?.checked_mul(4)
			}
			Placed::Mapping { reflections, width, .. } => {
				u64::from(reflections).checked_mul(u64::from(width))
			}
			Placed::MaxPool2d { .. }
			| Placed::AvgPool2d { .. }
			| Placed::Activation { .. }
			| Placed::Dropout { .. }
			| Placed::Skip { .. } => Some(0),
		}
	}
}
