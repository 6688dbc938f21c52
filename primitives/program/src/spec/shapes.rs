//! The shapes that flow through a model, and the rules of its layers.

use super::{
	checked::ensure, Input, JobSpec, Layer, Model, SpecError, MAX_BLOCKS, MAX_CONTEXT,
	MAX_DROPOUT_NANO, MAX_MLP_FACTOR, MAX_ROW_ELEMENTS, MAX_WIDTH,
};
use crate::ops::Window;
use alloc::vec::Vec;

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

/// Returns the windows of an image layer over `images` images of a shape; `None` where that is not
/// an image.
pub fn window(images: u32, shape: Shape, kernel: u32, stride: u32, padding: u32) -> Option<Window> {
	match shape {
		Shape::Image { channels, height, width } => {
			Some(Window { images, channels, height, width, kernel, stride, padding })
		}
		_ => None,
	}
}

/// A layer with what goes in and what comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaped {
	/// The layer.
	pub layer: Layer,
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
			let output = match layer {
				Layer::Skip { back } => {
					// With 1, the input of the layer before this one.
					let from = (all.len() as u64).checked_sub(u64::from(back));
					let from = from.and_then(|at| all.get(usize::try_from(at).ok()?));
					let same = from.is_some_and(|from| from.input == shape);
					ensure(back > 0 && same, SpecError::BadSkip)?;
					shape
				}
				layer => output(layer, shape)?,
			};
			ensure(output.elements() <= MAX_ROW_ELEMENTS, SpecError::LayerTooLarge)?;
			all.push(Shaped { layer, input: shape, output });
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
		match self.model.input() {
			Input::Tokens => self.dataset.features,
			Input::Numbers | Input::Image { .. } => 1,
		}
	}
}

/// Returns the shape after a layer that is not a skip.
fn output(layer: Layer, shape: Shape) -> Result<Shape, SpecError> {
	let width = |n: u32| ensure((1..=MAX_WIDTH).contains(&n), SpecError::BadLayerWidth);
	let dense = !matches!(shape, Shape::Tokens { .. });
	match layer {
		Layer::Linear { outputs } => {
			ensure(dense, SpecError::LayerMismatch)?;
			width(outputs)?;
			Ok(shape.with_width(outputs))
		}
		Layer::Conv2d { filters, kernel, stride, padding } => {
			width(filters)?;
			// Taps in the padding are counted as work.
			ensure(padding <= kernel / 2, SpecError::BadWindow)?;
			image(shape, kernel, stride, padding, Some(filters))
		}
		Layer::MaxPool2d { kernel, stride } | Layer::AvgPool2d { kernel, stride } => {
			image(shape, kernel, stride, 0, None)
		}
		Layer::Activation { .. } => {
			ensure(dense, SpecError::LayerMismatch)?;
			Ok(shape)
		}
		Layer::LayerNorm => {
			ensure(dense, SpecError::LayerMismatch)?;
			// One number is normalised to zero: nothing before it would need to be computed.
			ensure(shape.vectors().1 >= 2, SpecError::BadLayerWidth)?;
			Ok(shape)
		}
		Layer::Dropout { rate_nano } => {
			ensure(dense, SpecError::LayerMismatch)?;
			ensure((1..=MAX_DROPOUT_NANO).contains(&rate_nano), SpecError::BadDropout)?;
			Ok(shape)
		}
		Layer::Embedding { width: outputs } => {
			width(outputs)?;
			match shape {
				Shape::Tokens { positions, .. } => {
					Ok(Shape::Sequence { positions, width: outputs })
				}
				_ => Err(SpecError::LayerMismatch),
			}
		}
		Layer::Attention { heads } => match shape {
			Shape::Sequence { width, .. } => {
				ensure(width.checked_rem(heads) == Some(0), SpecError::BadHeads)?;
				Ok(shape)
			}
			_ => Err(SpecError::LayerMismatch),
		},
		Layer::Skip { .. } => Err(SpecError::BadSkip),
	}
}

/// Returns the image after windows with that many filters, or with as many channels as before.
fn image(
	shape: Shape,
	kernel: u32,
	stride: u32,
	padding: u32,
	filters: Option<u32>,
) -> Result<Shape, SpecError> {
	let window = window(1, shape, kernel, stride, padding).ok_or(SpecError::LayerMismatch)?;
	let (height, width) = (window.out_height(), window.out_width());
	let fits = kernel <= window.height && kernel <= window.width;
	let good = kernel > 0 && stride > 0 && fits && height > 0 && width > 0;
	ensure(good, SpecError::BadWindow)?;
	Ok(Shape::Image { channels: filters.unwrap_or(window.channels), height, width })
}

impl Shaped {
	/// Returns the number of parameters of the layer; `None` past `u64`.
	pub fn parameters(&self) -> Option<u64> {
		let inputs = u64::from(self.input.vectors().1);
		match self.layer {
			Layer::Linear { outputs } => inputs.checked_add(1)?.checked_mul(u64::from(outputs)),
			Layer::Conv2d { filters, kernel, stride, padding } => {
				window(1, self.input, kernel, stride, padding)?
					.patch()
					.checked_add(1)?
					.checked_mul(u64::from(filters))
			}
			Layer::LayerNorm => inputs.checked_mul(2),
			Layer::Embedding { width } => match self.input {
				Shape::Tokens { positions, vocabulary } => u64::from(positions)
					.checked_add(u64::from(vocabulary))?
					.checked_mul(u64::from(width)),
				_ => None,
			},
			Layer::Attention { .. } => inputs.checked_add(1)?.checked_mul(inputs)?.checked_mul(4),
			_ => Some(0),
		}
	}
}
