//! The models that a job may declare.

use super::*;
use trainyard_program::spec::{Activation, CnnLayer, DataFormat, Input, Layer, Model};

/// Returns the job with a different model.
fn with_model(model: &str) -> String {
	// The fee of the MLP would be too low: the default is not.
	whole().replace(MODEL, model).replace("audit_fee = 0.15\n", "")
}

#[test]
fn a_convolutional_network() {
	let text = with_model(
		"[model.cnn]\nchannels = 1\nheight = 8\nwidth = 8\nactivation = \"gelu\"\n\
		 layers = [\"conv 16 3 padding 1\", \"max_pool 2\", \"conv 8 3 stride 2\", \
		 \"avg_pool 1 stride 1\", \"dropout 0.25\", \"linear 32\"]\n",
	);
	let job = read(&text).unwrap();
	let layers = vec![
		CnnLayer::Conv { filters: 16, kernel: 3, stride: 1, padding: 1 },
		CnnLayer::MaxPool { kernel: 2, stride: 2 },
		CnnLayer::Conv { filters: 8, kernel: 3, stride: 2, padding: 0 },
		CnnLayer::AvgPool { kernel: 1, stride: 1 },
		CnnLayer::Dropout { rate_nano: 250_000_000 },
		CnnLayer::Linear { outputs: 32 },
	];
	let layers = layers.try_into().unwrap();
	let (activation, height) = (Activation::Gelu, 8);
	let model = Model::Cnn { channels: 1, height, width: 8, layers, activation };
	assert_eq!(job.spec.model, model);
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
}

#[test]
fn a_transformer() {
	let text =
		with_model("[model.transformer]\nlayers = 2\nheads = 4\nwidth = 32\ndropout = 0.1\n")
			.replace("feature_divisor = 16", "format = \"text\"");
	let job = read(&text).unwrap();
	let model = Model::Transformer {
		layers: 2,
		heads: 4,
		width: 32,
		mlp_factor: 4,
		dropout_nano: 100_000_000,
	};
	assert_eq!(job.spec.model, model);
	assert_eq!(job.spec.dataset.format, DataFormat::Text);
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
}

#[test]
fn a_list_of_layers() {
	let text = with_model(
		"[model.layers]\ninput = \"image\"\nchannels = 1\nheight = 8\nwidth = 8\n\
		 layers = [\"conv 2 3 padding 1\", \"silu\", \"conv 2 3 padding 1\", \"skip 2\", \
		 \"layer_norm\", \"rms_norm\", \"linear 10\"]\n",
	);
	let job = read(&text).unwrap();
	let Model::Layers { input, layers } = &job.spec.model else { panic!("{:?}", job.spec) };
	assert_eq!(*input, Input::Image { channels: 1, height: 8, width: 8 });
	assert_eq!(layers[3], Layer::Skip { back: 2 });
	assert_eq!(layers[1], Layer::Activation { function: Activation::Silu });
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	let tokens = with_model(
		"[model.layers]\ninput = \"tokens\"\nlayers = [\"embedding 8\", \"attention 2\", \
		 \"linear 10\"]\n",
	);
	let job = read(&tokens.replace("feature_divisor = 16", "format = \"text\"")).unwrap();
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
}

#[test]
fn a_mapping_is_the_first_layer() {
	let image = |layers: &str| {
		let input = "input = \"image\"\nchannels = 1\nheight = 8\nwidth = 8";
		with_model(&format!("[model.layers]\n{input}\nlayers = [{layers}]\n"))
	};
	for (text, reflections, patch) in [("mapping 4 patch 2", 4, 2), ("mapping 16", 16, 0)] {
		let job = read(&image(&format!("\"{text}\", \"linear 10\""))).unwrap();
		let Model::Layers { layers, .. } = &job.spec.model else { panic!("{:?}", job.spec) };
		assert_eq!(layers[0], Layer::Mapping { reflections, patch });
		assert_eq!(read(&to_toml(&job)).unwrap(), job);
	}
	for (layers, what) in [
		("\"mapping\", \"linear 10\"", "the number of reflections is missing"),
		("\"mapping 4 patch 3\", \"linear 10\"", "its patches must divide"),
		("\"relu\", \"mapping 4\", \"linear 10\"", "a mapping must be the first layer"),
		("\"mapping 17\", \"linear 10\"", "with 1 to 16 reflections"),
	] {
		let error = read(&image(layers)).unwrap_err().to_string();
		assert!(error.contains(what), "{layers}: {error}");
	}
}

#[test]
fn wrong_layers_are_named() {
	for (layer, what) in [
		("conv 16", "the size of the window is missing"),
		("conv 16 x", "the size of the window is \"x\", not a whole number"),
		("conv 16 3 stride", "stride is missing"),
		("linear 4 5", "\"5\" has no meaning here"),
		("dropout 1.5", "the share is \"1.5\""),
		("dropout", "the share is \"\""),
		("convolution 3", "no layer is called \"convolution\""),
		("attention 2", "a convolutional network has no such layer"),
		("conv 4 9", "the kernel must fit the image"),
	] {
		let model =
			format!("[model.cnn]\nchannels = 1\nheight = 8\nwidth = 8\nlayers = [{layer:?}]\n");
		let error = read(&with_model(&model)).unwrap_err().to_string();
		assert!(error.contains(what), "{layer}: {error}");
	}
	let both = with_model(&format!("{MODEL}[model.transformer]\nlayers = 1\n"));
	assert!(read(&both).unwrap_err().to_string().contains("more than one model"));
}
