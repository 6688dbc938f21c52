//! Models by declaration.

use super::{Dataset, MAX_HIDDEN_LAYERS, MAX_LAYERS};
use alloc::{vec, vec::Vec};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Models by declaration.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Model {
	/// Fully connected layers: features, the hidden widths, classes. An activation
	/// follows every layer but the last.
	Mlp {
		/// Widths of the hidden layers, from the input on; may be empty.
		hidden: BoundedVec<u32, ConstU32<MAX_HIDDEN_LAYERS>>,
		/// Activation after each hidden layer.
		activation: Activation,
	},
	/// A convolutional network: the features of a row are an image, channel by channel and row by
	/// row. The activation follows every convolution and every fully connected layer; a last fully
	/// connected layer to the classes is added, without an activation.
	Cnn {
		/// Channels of the image.
		channels: u32,
		/// Height of the image.
		height: u32,
		/// Width of the image; `channels height width` is `dataset.features`.
		width: u32,
		/// The layers, from the input on.
		layers: BoundedVec<CnnLayer, ConstU32<MAX_LAYERS>>,
		/// The activation.
		activation: Activation,
	},
	/// A decoder of tokens (Vaswani and others 2017; norms before the blocks, GELU): the features
	/// of a row are tokens, `dataset.features` is the context and `dataset.classes` the vocabulary.
	/// It predicts the token after each.
	Transformer {
		/// Blocks of attention and fully connected layers.
		layers: u32,
		/// Heads of each attention; divides `width`.
		heads: u32,
		/// Width of an embedded token.
		width: u32,
		/// Width of the fully connected layers in a block is this times `width`.
		mlp_factor: u32,
		/// Share x 10^9 of elements dropped after the embedding and after both parts of a block; 0
		/// for none.
		dropout_nano: u64,
	},
	/// Any list of layers; the last must give as many numbers as there are classes.
	Layers {
		/// What the features of a row are.
		input: Input,
		/// The layers, from the input on.
		layers: BoundedVec<Layer, ConstU32<MAX_LAYERS>>,
	},
}

/// What the features of a row are.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Input {
	/// Numbers without an order.
	Numbers,
	/// An image, channel by channel and row by row.
	Image {
		/// Channels.
		channels: u32,
		/// Height.
		height: u32,
		/// Width.
		width: u32,
	},
	/// Tokens: whole numbers below `dataset.classes`.
	Tokens,
}

/// A layer of [`Model::Cnn`].
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CnnLayer {
	/// Convolution, as [`Layer::Conv2d`].
	Conv {
		/// Planes of the result.
		filters: u32,
		/// Height and width of the window.
		kernel: u32,
		/// Distance of neighbouring windows.
		stride: u32,
		/// Zeros around the image.
		padding: u32,
	},
	/// The largest of each window, as [`Layer::MaxPool2d`].
	MaxPool {
		/// Height and width of the window.
		kernel: u32,
		/// Distance of neighbouring windows.
		stride: u32,
	},
	/// The mean of each window, as [`Layer::AvgPool2d`].
	AvgPool {
		/// Height and width of the window.
		kernel: u32,
		/// Distance of neighbouring windows.
		stride: u32,
	},
	/// Fully connected, as [`Layer::Linear`].
	Linear {
		/// Outputs.
		outputs: u32,
	},
	/// As [`Layer::Dropout`].
	Dropout {
		/// Share x 10^9 of elements dropped.
		rate_nano: u64,
	},
}

/// A layer of [`Model::Layers`].
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Layer {
	/// `x W^T + b`, on all numbers of a row, or on each position of a sequence.
	Linear {
		/// Outputs.
		outputs: u32,
	},
	/// Convolution with a bias for each filter, on an image.
	Conv2d {
		/// Planes of the result.
		filters: u32,
		/// Height and width of the window.
		kernel: u32,
		/// Distance of neighbouring windows.
		stride: u32,
		/// Zeros around the image, at most half of `kernel`.
		padding: u32,
	},
	/// The largest of each window of an image.
	MaxPool2d {
		/// Height and width of the window.
		kernel: u32,
		/// Distance of neighbouring windows.
		stride: u32,
	},
	/// The mean of each window of an image.
	AvgPool2d {
		/// Height and width of the window.
		kernel: u32,
		/// Distance of neighbouring windows.
		stride: u32,
	},
	/// An elementwise function.
	Activation {
		/// The function.
		function: Activation,
	},
	/// Layer normalisation with weight and bias (Ba, Kiros and Hinton 2016), epsilon 10^-5,
	/// over all numbers of a row, or over each position of a sequence.
	LayerNorm,
	/// Drops elements while training, and scales the rest up (Srivastava and others 2014).
	Dropout {
		/// Share x 10^9 of elements dropped.
		rate_nano: u64,
	},
	/// A table of vectors by token, plus one by position; on tokens.
	Embedding {
		/// Width of a vector.
		width: u32,
	},
	/// Scaled dot-product attention of every position to itself and those before it, with
	/// projections of query, key, value and output; on a sequence.
	Attention {
		/// Heads; divides the width of the sequence.
		heads: u32,
	},
	/// Adds the value from `back` layers earlier: with 1, the input of the layer before this one.
	Skip {
		/// How many layers the sum steps over; the shapes at both ends are equal.
		back: u32,
	},
	/// Normalisation by the root of the mean square, with a weight (Zhang and Sennrich 2019),
	/// epsilon 10^-5, over all numbers of a row, or over each position of a sequence.
	RmsNorm,
	/// An orthogonal mapping that the seed of the training fixes, as the first layer of numbers or of an
	/// image: reflections (Householder 1958) that are not trained.
	Mapping {
		/// Reflections, one after the other.
		reflections: u32,
		/// Height and width of the patches of an image that are mapped each by itself, and become its
		/// channels; they divide its height and width. 1 for its channels at each place; 0 for all numbers
		/// of a row as they are.
		patch: u32,
	},
}

/// Activations.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
	/// `x` where `x > 0`, otherwise +0.
	Relu,
	/// `x` times the standard normal distribution at `x`.
	Gelu,
	/// `x sigmoid(x)`.
	Silu,
	/// The hyperbolic tangent.
	Tanh,
	/// The logistic function.
	Sigmoid,
}

impl Model {
	/// Returns what the features of a row are to this model.
	pub fn input(&self) -> Input {
		match *self {
			Model::Mlp { .. } => Input::Numbers,
			Model::Cnn { channels, height, width, .. } => Input::Image { channels, height, width },
			Model::Transformer { .. } => Input::Tokens,
			Model::Layers { input, .. } => input,
		}
	}

	/// Returns every layer, from the input on. This list is what is computed.
	pub fn layers(&self, dataset: &Dataset) -> Vec<Layer> {
		let head = Layer::Linear { outputs: dataset.classes };
		match self {
			Model::Mlp { hidden, activation } => {
				let hidden = hidden.iter().flat_map(|width| {
					let function = *activation;
					[Layer::Linear { outputs: *width }, Layer::Activation { function }]
				});
				hidden.chain([head]).collect()
			}
			Model::Cnn { layers, activation, .. } => {
				let layers = layers.iter().flat_map(|layer| cnn_layer(*layer, *activation));
				layers.chain([head]).collect()
			}
			Model::Transformer { layers, width, .. } => {
				let mut all = vec![Layer::Embedding { width: *width }];
				all.extend(self.dropout());
				for _ in 0..*layers {
					all.extend(self.block());
				}
				all.extend([Layer::LayerNorm, head]);
				all
			}
			Model::Layers { layers, .. } => layers.to_vec(),
		}
	}

	fn dropout(&self) -> Option<Layer> {
		match *self {
			Model::Transformer { dropout_nano: rate_nano @ 1.., .. } => {
				Some(Layer::Dropout { rate_nano })
			}
			_ => None,
		}
	}

	/// Returns the layers of one block of a transformer.
	fn block(&self) -> Vec<Layer> {
		let Model::Transformer { heads, width, mlp_factor, .. } = *self else { return vec![] };
		let mut block = vec![Layer::LayerNorm, Layer::Attention { heads }];
		block.extend(self.dropout());
		block.push(Layer::Skip { back: block.len() as u32 });
		let mut mlp = vec![
			Layer::LayerNorm,
			Layer::Linear { outputs: width.saturating_mul(mlp_factor) },
			Layer::Activation { function: Activation::Gelu },
			Layer::Linear { outputs: width },
		];
		mlp.extend(self.dropout());
		mlp.push(Layer::Skip { back: mlp.len() as u32 });
		block.extend(mlp);
		block
	}
}

/// Returns a layer of a convolutional network and the activation after it.
fn cnn_layer(layer: CnnLayer, function: Activation) -> Vec<Layer> {
	let active = |layer| vec![layer, Layer::Activation { function }];
	match layer {
		CnnLayer::Conv { filters, kernel, stride, padding } => {
			active(Layer::Conv2d { filters, kernel, stride, padding })
		}
		CnnLayer::Linear { outputs } => active(Layer::Linear { outputs }),
		CnnLayer::MaxPool { kernel, stride } => vec![Layer::MaxPool2d { kernel, stride }],
		CnnLayer::AvgPool { kernel, stride } => vec![Layer::AvgPool2d { kernel, stride }],
		CnnLayer::Dropout { rate_nano } => vec![Layer::Dropout { rate_nano }],
	}
}
