//! Reads the sections of `[model]`.

use super::reader::{nano_range, Section};
use std::fmt::Write;
use trainyard_client::amount::{format_scaled, parse_scaled};
use trainyard_program::spec::{
	Activation, CnnLayer, Input, Layer, Model, MAX_BLOCKS, MAX_DROPOUT_NANO, MAX_HIDDEN_LAYERS,
	MAX_LAYERS, MAX_MLP_FACTOR, MAX_WIDTH,
};

/// Activations by name.
const ACTIVATIONS: [(&str, Activation); 5] = [
	("relu", Activation::Relu),
	("gelu", Activation::Gelu),
	("silu", Activation::Silu),
	("tanh", Activation::Tanh),
	("sigmoid", Activation::Sigmoid),
];

/// What a layer in a list may be.
const LAYERS: &str = "\"linear 64\", \"conv 16 3 stride 1 padding 1\" (filters, window), \
	\"max_pool 2 stride 2\", \"avg_pool 2\", \"dropout 0.5\"";
const MORE_LAYERS: &str = ", \"relu\" (gelu, silu, tanh, sigmoid), \"layer_norm\", \
	\"rms_norm\", \"embedding 64\", \"attention 4\" (heads), \"skip 2\" (layers), \
	\"mapping 4 patch 2\" (reflections; first)";

fn name(activation: Activation) -> &'static str {
	ACTIVATIONS.iter().find(|(_, a)| *a == activation).map_or("relu", |(name, _)| name)
}

pub(super) fn read(section: &Section<'_, '_>) -> Option<Model> {
	let [mlp, cnn, transformer, layers] =
		["mlp", "cnn", "transformer", "layers"].map(|key| section.section(key));
	section.finish();
	let given = [&mlp, &cnn, &transformer, &layers].iter().filter(|s| s.exists()).count();
	if given == 0 {
		let allowed = "the section [model.mlp] with hidden = [64, 32], or [model.cnn], \
			[model.transformer] or [model.layers]";
		section.require("mlp", allowed);
		return None;
	}
	if given > 1 {
		section.complain("mlp", "more than one model is given; allowed: one section in [model]");
		return None;
	}
	if mlp.exists() {
		read_mlp(&mlp)
	} else if cnn.exists() {
		read_cnn(&cnn)
	} else if transformer.exists() {
		read_transformer(&transformer)
	} else {
		read_layers(&layers)
	}
}

fn widths() -> std::ops::RangeInclusive<u64> {
	1..=u64::from(MAX_WIDTH)
}

fn read_mlp(section: &Section<'_, '_>) -> Option<Model> {
	section.require("hidden", "the widths of the hidden layers: [64, 32]; [] for none");
	let hidden = section.integers("hidden", widths(), MAX_HIDDEN_LAYERS as usize);
	let activation = section.choice("activation", &ACTIVATIONS);
	section.finish();
	let hidden: Vec<u32> = hidden?.into_iter().map(|w| w as u32).collect();
	Some(Model::Mlp {
		hidden: hidden.try_into().ok()?,
		activation: activation.unwrap_or(Activation::Relu),
	})
}

/// Reads channels, height and width of an image.
fn read_image(section: &Section<'_, '_>) -> Option<[u32; 3]> {
	let side = |key: &'static str| {
		section.require(key, "a whole number; channels x height x width is dataset.features");
		section.integer(key, widths()).map(|n| n as u32)
	};
	let image = [side("channels"), side("height"), side("width")];
	Some([image[0]?, image[1]?, image[2]?])
}

fn read_cnn(section: &Section<'_, '_>) -> Option<Model> {
	let image = read_image(section);
	let list = read_list(section, LAYERS, |text| {
		let layer = layer(text)?;
		cnn_layer(layer).ok_or_else(|| "a convolutional network has no such layer".into())
	});
	let activation = section.choice("activation", &ACTIVATIONS);
	section.finish();
	let [channels, height, width] = image?;
	Some(Model::Cnn {
		channels,
		height,
		width,
		layers: list?.try_into().ok()?,
		activation: activation.unwrap_or(Activation::Relu),
	})
}

fn read_transformer(section: &Section<'_, '_>) -> Option<Model> {
	let number = |key: &'static str, range: std::ops::RangeInclusive<u64>| {
		section.require(key, &format!("a whole number up to {}", range.end()));
		section.integer(key, range).map(|n| n as u32)
	};
	let layers = number("layers", 1..=u64::from(MAX_BLOCKS));
	let heads = number("heads", widths());
	let width = number("width", widths());
	let mlp_factor = section.integer("mlp_factor", 1..=u64::from(MAX_MLP_FACTOR)).unwrap_or(4);
	let dropout = section.nano("dropout", "dropout_nano", 0..=MAX_DROPOUT_NANO).unwrap_or(0);
	section.finish();
	Some(Model::Transformer {
		layers: layers?,
		heads: heads?,
		width: width?,
		mlp_factor: mlp_factor as u32,
		dropout_nano: dropout,
	})
}

fn read_layers(section: &Section<'_, '_>) -> Option<Model> {
	#[derive(Clone, Copy)]
	enum Kind {
		Numbers,
		Image,
		Tokens,
	}
	let kinds = [("numbers", Kind::Numbers), ("image", Kind::Image), ("tokens", Kind::Tokens)];
	let input = match section.choice("input", &kinds).unwrap_or(Kind::Numbers) {
		Kind::Numbers => Some(Input::Numbers),
		Kind::Tokens => Some(Input::Tokens),
		Kind::Image => read_image(section).map(|[channels, height, width]| Input::Image {
			channels,
			height,
			width,
		}),
	};
	let list = read_list(section, &format!("{LAYERS}{MORE_LAYERS}"), layer);
	section.finish();
	Some(Model::Layers { input: input?, layers: list?.try_into().ok()? })
}

/// Reads the field `layers`: a list of texts, one for each layer.
fn read_list<T>(
	section: &Section<'_, '_>,
	allowed: &str,
	parse: impl Fn(&str) -> Result<T, String>,
) -> Option<Vec<T>> {
	let allowed = format!("a list of at most {MAX_LAYERS} layers: {allowed}");
	section.require("layers", &allowed);
	let texts = section.texts("layers", MAX_LAYERS as usize, &allowed)?;
	let mut layers = Vec::new();
	for text in texts {
		match parse(text) {
			Ok(layer) => layers.push(layer),
			Err(why) => {
				section.complain("layers", format!("{text:?}: {why}; allowed: {allowed}"));
				return None;
			}
		}
	}
	Some(layers)
}

/// The words of a layer, read from the left.
struct Words<'a>(Vec<&'a str>);

impl Words<'_> {
	fn number(&mut self, what: &str) -> Result<u32, String> {
		if self.0.is_empty() {
			return Err(format!("{what} is missing"));
		}
		let word = self.0.remove(0);
		word.parse().map_err(|_| format!("{what} is {word:?}, not a whole number"))
	}

	/// Returns the number after a word, if the word is there.
	fn option(&mut self, word: &str) -> Result<Option<u32>, String> {
		match self.0.iter().position(|w| *w == word) {
			Some(at) => {
				self.0.remove(at);
				let mut rest = Words(self.0.split_off(at));
				let number = rest.number(word);
				self.0.append(&mut rest.0);
				number.map(Some)
			}
			None => Ok(None),
		}
	}
}

/// Reads a layer from its text.
fn layer(text: &str) -> Result<Layer, String> {
	let mut words = text.split_whitespace();
	let kind = words.next().unwrap_or_default();
	let mut words = Words(words.collect());
	let layer = match kind {
		"linear" => Layer::Linear { outputs: words.number("the number of outputs")? },
		"conv" => {
			let (stride, padding) = (words.option("stride")?, words.option("padding")?);
			Layer::Conv2d {
				filters: words.number("the number of filters")?,
				kernel: words.number("the size of the window")?,
				stride: stride.unwrap_or(1),
				padding: padding.unwrap_or(0),
			}
		}
		"max_pool" | "avg_pool" => {
			let stride = words.option("stride")?;
			let kernel = words.number("the size of the window")?;
			let stride = stride.unwrap_or(kernel);
			match kind {
				"max_pool" => Layer::MaxPool2d { kernel, stride },
				_ => Layer::AvgPool2d { kernel, stride },
			}
		}
		"dropout" => {
			let share = if words.0.is_empty() { "" } else { words.0.remove(0) };
			let rate = parse_scaled(share, 9).ok().and_then(|n| u64::try_from(n).ok());
			let rate_nano =
				rate.filter(|rate| (1..=MAX_DROPOUT_NANO).contains(rate)).ok_or_else(|| {
					format!("the share is {share:?}, not {}", nano_range(&(1..=MAX_DROPOUT_NANO)))
				})?;
			Layer::Dropout { rate_nano }
		}
		"layer_norm" => Layer::LayerNorm,
		"rms_norm" => Layer::RmsNorm,
		"embedding" => Layer::Embedding { width: words.number("the width")? },
		"attention" => Layer::Attention { heads: words.number("the number of heads")? },
		"mapping" => {
			let patch = words.option("patch")?.unwrap_or(0);
			Layer::Mapping { reflections: words.number("the number of reflections")?, patch }
		}
		"skip" => Layer::Skip { back: words.number("the number of layers")? },
		other => match ACTIVATIONS.iter().find(|(name, _)| *name == other) {
			Some((_, function)) => Layer::Activation { function: *function },
			None => return Err(format!("no layer is called {other:?}")),
		},
	};
	match words.0.first() {
		Some(word) => Err(format!("{word:?} has no meaning here")),
		None => Ok(layer),
	}
}

fn cnn_layer(layer: Layer) -> Option<CnnLayer> {
	match layer {
		Layer::Linear { outputs } => Some(CnnLayer::Linear { outputs }),
		Layer::Conv2d { filters, kernel, stride, padding } => {
			Some(CnnLayer::Conv { filters, kernel, stride, padding })
		}
		Layer::MaxPool2d { kernel, stride } => Some(CnnLayer::MaxPool { kernel, stride }),
		Layer::AvgPool2d { kernel, stride } => Some(CnnLayer::AvgPool { kernel, stride }),
		Layer::Dropout { rate_nano } => Some(CnnLayer::Dropout { rate_nano }),
		_ => None,
	}
}

/// Writes a layer as a text that [`layer`] reads.
fn layer_text(layer: &Layer) -> String {
	match layer {
		Layer::Linear { outputs } => format!("linear {outputs}"),
		Layer::Conv2d { filters, kernel, stride, padding } => {
			format!("conv {filters} {kernel} stride {stride} padding {padding}")
		}
		Layer::MaxPool2d { kernel, stride } => format!("max_pool {kernel} stride {stride}"),
		Layer::AvgPool2d { kernel, stride } => format!("avg_pool {kernel} stride {stride}"),
		Layer::Activation { function } => name(*function).into(),
		Layer::LayerNorm => "layer_norm".into(),
		Layer::RmsNorm => "rms_norm".into(),
		Layer::Dropout { rate_nano } => {
			format!("dropout {}", format_scaled(u128::from(*rate_nano), 9))
		}
		Layer::Embedding { width } => format!("embedding {width}"),
		Layer::Attention { heads } => format!("attention {heads}"),
		Layer::Skip { back } => format!("skip {back}"),
		Layer::Mapping { reflections, patch: 0 } => format!("mapping {reflections}"),
		Layer::Mapping { reflections, patch } => format!("mapping {reflections} patch {patch}"),
	}
}

fn cnn_layer_text(layer: &CnnLayer) -> String {
	layer_text(&match *layer {
		CnnLayer::Linear { outputs } => Layer::Linear { outputs },
		CnnLayer::Conv { filters, kernel, stride, padding } => {
			Layer::Conv2d { filters, kernel, stride, padding }
		}
		CnnLayer::MaxPool { kernel, stride } => Layer::MaxPool2d { kernel, stride },
		CnnLayer::AvgPool { kernel, stride } => Layer::AvgPool2d { kernel, stride },
		CnnLayer::Dropout { rate_nano } => Layer::Dropout { rate_nano },
	})
}

/// Writes the section of a model.
pub(super) fn write(out: &mut String, model: &Model) {
	// Writing to a String cannot fail.
	let _ = match model {
		Model::Mlp { hidden, activation } => writeln!(
			out,
			"\n[model.mlp]\nhidden = {:?}\nactivation = \"{}\"",
			hidden.iter().collect::<Vec<_>>(),
			name(*activation)
		),
		Model::Cnn { channels, height, width, layers, activation } => writeln!(
			out,
			"\n[model.cnn]\nchannels = {channels}\nheight = {height}\nwidth = {width}\n\
			 layers = {:?}\nactivation = \"{}\"",
			layers.iter().map(cnn_layer_text).collect::<Vec<_>>(),
			name(*activation)
		),
		Model::Transformer { layers, heads, width, mlp_factor, dropout_nano } => writeln!(
			out,
			"\n[model.transformer]\nlayers = {layers}\nheads = {heads}\nwidth = {width}\n\
			 mlp_factor = {mlp_factor}\ndropout_nano = {dropout_nano}"
		),
		Model::Layers { input, layers } => {
			let input = match input {
				Input::Numbers => "input = \"numbers\"".into(),
				Input::Tokens => "input = \"tokens\"".into(),
				Input::Image { channels, height, width } => format!(
					"input = \"image\"\nchannels = {channels}\nheight = {height}\nwidth = {width}"
				),
			};
			let layers: Vec<String> = layers.iter().map(layer_text).collect();
			writeln!(out, "\n[model.layers]\n{input}\nlayers = {layers:?}")
		}
	};
}
