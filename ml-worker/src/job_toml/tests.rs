use super::*;
use trainyard_primitives::{
	spec::{
		Activation, CnnLayer, DataFormat, EarlyStop, FileRef, Input, Layer, Loss, Model,
		Normalization, Optimizer, Schedule, MAX_NANO,
	},
	Text,
};

const DATASET: &str = r#"
[dataset]
location = "https://example.org/digits.csv"
content_hash = "0101010101010101010101010101010101010101010101010101010101010101"
bytes = 264964
train_rows = 1438
validation_rows = 359
features = 64
classes = 10
feature_divisor = 16
"#;
const MODEL: &str = "[model.mlp]\nhidden = [64, 32]\n";
const TRAINING: &str = "[training]\nsteps = 1500\nbatch_size = 32\ncheckpoint_interval = 50\n\
	learning_rate = 0.002\n";
const ADAMW: &str = "[training.optimizer.adamw]\n";
const TERMS: &str = "[terms]\nprice_per_ut = \"1000\"\naudit_fee = 0.5\n";

fn whole() -> String {
	format!("{DATASET}{MODEL}{TRAINING}{ADAMW}{TERMS}")
}

fn read(text: &str) -> Result<JobFile, Problems> {
	parse(text, Path::new("job.toml"))
}

/// The job with `from` replaced by `to` is refused with one problem, at the line of
/// `line`, about `field`, that says `what`.
fn refused(from: &str, to: &str, field: &str, line: &str, what: &str) {
	let text = whole().replacen(from, to, 1);
	assert_ne!(text, whole(), "{from:?} is not in the job");
	let error = read(&text).expect_err(to);
	let [problem] = &error.problems[..] else { panic!("{to}: {error}") };
	assert_eq!(problem.field, field, "{error}");
	assert_eq!(problem.source, line, "{error}");
	let at = text.lines().position(|l| l == line).expect("the line is in the job") + 1;
	assert_eq!(problem.line, at, "{error}");
	assert!(problem.what.contains(what), "{error}");
	assert!(error.to_string().starts_with(&format!("job.toml:{at}: {field}: ")), "{error}");
}

#[test]
fn a_job_without_local_data() {
	let job = read(&whole()).unwrap();
	let mut spec = JobSpec::example();
	spec.dataset.location = Text::new("https://example.org/digits.csv").unwrap();
	assert_eq!(job.spec, spec);
	assert_eq!(job.dataset_path, None);
	assert!(job.has_location());
	let terms = job.terms.unwrap();
	assert_eq!(terms.price_per_ut, 1_000_000_000_000_000);
	assert_eq!(terms.audit_fee, 500_000_000_000);
	assert_eq!((terms.replicas, terms.verifiers, terms.audit_segments), (1, 3, 3));
}

#[test]
fn the_shipped_example() {
	let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/digits.toml");
	let job = load(&path).unwrap();
	let mut spec = JobSpec::example();
	spec.dataset.content_hash = job.spec.dataset.content_hash;
	assert_eq!(job.spec, spec);
	assert!(job.dataset_path.unwrap().is_file());
	assert!(job.terms.is_some());
}

#[test]
fn the_shipped_example_that_stops_early() {
	let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/early-stop.toml");
	let job = load(&path).unwrap();
	let mut spec = JobSpec::example();
	spec.dataset.content_hash = job.spec.dataset.content_hash;
	spec.training.steps = 6_000;
	spec.training.early_stop = Some(EarlyStop { patience: 3, min_delta_nano: 1_000_000 });
	assert_eq!(job.spec, spec);
}

#[test]
fn what_is_written_is_read_again() {
	let mut job = read(&whole()).unwrap();
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	job.spec.training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
	job.spec.training.learning_rate_nano = MAX_NANO;
	job.spec.training.weight_decay_nano = 1;
	job.spec.dataset.format = DataFormat::CsvLabelFirst;
	job.terms = None;
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/digits.toml");
	let job = load(&example).unwrap();
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
}

/// The job with another model instead of its own.
fn with_model(model: &str) -> String {
	// The fee of the MLP would be too low: the default is not.
	whole().replace(MODEL, model).replace("audit_fee = 0.5\n", "")
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
		 \"layer_norm\", \"linear 10\"]\n",
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
fn labels_apart_and_normalisation() {
	let hash = "02".repeat(32);
	let labels = format!(
		"feature_divisor = 16\nformat = \"idx\"\nnormalization = \"standard\"\n[dataset.labels]\n\
		 location = \"https://example.org/labels\"\ncontent_hash = \"{hash}\"\nbytes = 1805\n"
	);
	let text = whole().replace("feature_divisor = 16\n", &labels);
	let job = read(&text).unwrap();
	let d = &job.spec.dataset;
	assert_eq!((d.format, d.normalization), (DataFormat::Idx, Normalization::Standard));
	let location = Text::new("https://example.org/labels").unwrap();
	let content_hash = H256::repeat_byte(2);
	assert_eq!(d.labels, Some(FileRef { content_hash, bytes: 1805, location }));
	assert!(job.has_location() && job.labels_path.is_none());
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	for format in ["npy", "npz", "safetensors"] {
		let text = whole().replace("feature_divisor = 16", &format!("format = \"{format}\""));
		let job = read(&text).unwrap();
		assert!(to_toml(&job).contains(&format!("format = \"{format}\"")));
		assert_eq!(read(&to_toml(&job)).unwrap(), job);
	}
	let missing = text.replace("bytes = 1805\n", "");
	let error = read(&missing).unwrap_err().to_string();
	assert!(error.contains("dataset.labels.bytes: the field is missing"), "{error}");
	let other = text.replace("format = \"idx\"\n", "");
	let error = read(&other).unwrap_err().to_string();
	assert!(error.contains("dataset.labels: only the format idx keeps labels"), "{error}");
	refused(
		"feature_divisor = 16",
		"format = \"idx\"",
		"dataset.labels",
		"[dataset]",
		"the section is missing: the format idx keeps labels in a file of their own",
	);
	refused(
		"feature_divisor = 16",
		"normalization = \"standart\"",
		"dataset.normalization",
		"normalization = \"standart\"",
		"did you mean standard?",
	);
}

#[test]
fn local_labels_fill_in_and_contradict() {
	let dir = tempfile::tempdir().unwrap();
	let images = [&[0, 0, 8, 2, 0, 0, 0, 4, 0, 0, 0, 2][..], &[1, 2, 3, 4, 5, 6, 7, 8]].concat();
	let labels = [&[0, 0, 8, 1, 0, 0, 0, 4][..], &[0, 1, 2, 1]].concat();
	std::fs::write(dir.path().join("x.idx"), images).unwrap();
	std::fs::write(dir.path().join("y.idx"), labels).unwrap();
	let job = |dataset: &str, labels: &str| {
		let text = format!(
			"[dataset]\npath = \"x.idx\"\nformat = \"idx\"\nvalidation_every = 2\n{dataset}\n\
			 {labels}\n{MODEL}{}{ADAMW}",
			TRAINING.replace("batch_size = 32", "batch_size = 2")
		);
		parse(&text, &dir.path().join("job.toml"))
	};
	let at = "[dataset.labels]\npath = \"y.idx\"";
	let whole = job("", at).unwrap();
	let d = &whole.spec.dataset;
	assert_eq!((d.train_rows, d.validation_rows, d.features, d.classes), (2, 2, 2, 3));
	let labels = d.labels.clone().unwrap();
	let path = dir.path().join("y.idx");
	assert_eq!((labels.content_hash, labels.bytes), crate::hash::file(&path).unwrap());
	assert!(!whole.has_location());
	assert_eq!(whole.labels_path, Some(path));
	assert_eq!(parse(&to_toml(&whole), Path::new("")).unwrap(), whole);
	let half = job("location = \"https://example.org/x\"", at).unwrap();
	assert!(!half.has_location(), "the labels cannot be fetched");
	for (labels, what) in [
		("", "job.toml:1: dataset.labels: the section is missing"),
		("[dataset.labels]", "dataset.labels.path: the field is missing"),
		(
			"[dataset.labels]\npath = \"y.idx\"\nbytes = 7",
			"dataset.labels.bytes: it is 7, but the file at dataset.labels.path has 12",
		),
		("[dataset.labels]\npath = \"none\"", "cannot read"),
		("[dataset.labels]\npath = \"x.idx\"", "labels are [rows]"),
		("[dataset.labels]\npath = \"y.idx\"\nrows = 7", "dataset.labels.rows: no such field"),
	] {
		let error = job("", labels).unwrap_err().to_string();
		assert!(error.contains(what), "{what}: {error}");
	}
	let wrong = format!("{at}\ncontent_hash = \"{}\"", "01".repeat(32));
	let error = job("", &wrong).unwrap_err().to_string();
	assert!(error.contains("dataset.labels.content_hash: it is 0x01"), "{error}");
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

#[test]
fn options_of_the_training() {
	let options = "learning_rate = 0.002\nloss = \"mean_squared_error\"\nschedule = \"cosine\"\n\
		final_learning_rate = 0.0001\nwarmup_steps = 10\nclip_norm = 1.5\ninput_noise = 0.01\n\
		[training.early_stop]\npatience = 3\nmin_delta = 0.001\n";
	let text = whole()
		.replace("learning_rate = 0.002\n", options)
		.replace(ADAMW, "[training.optimizer.sgd]\nmomentum = 0.9\nnesterov = true\n");
	let job = read(&text).unwrap();
	let t = &job.spec.training;
	assert_eq!(t.loss, Loss::MeanSquaredError);
	assert_eq!(t.schedule, Schedule::Cosine { final_rate_nano: 100_000 });
	assert_eq!((t.warmup_steps, t.clip_norm_nano), (10, 1_500_000_000));
	assert_eq!(t.input_noise_nano, 10_000_000);
	assert_eq!(t.early_stop, Some(EarlyStop { patience: 3, min_delta_nano: 1_000_000 }));
	assert_eq!(t.optimizer, Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true });
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	let adam = read(&whole().replace("adamw", "adam")).unwrap();
	assert!(matches!(adam.spec.training.optimizer, Optimizer::Adam { .. }));
	assert_eq!(read(&to_toml(&adam)).unwrap(), adam);
}

#[test]
fn numbers_are_exact_in_every_spelling() {
	for (text, nano) in [
		("learning_rate = 2e-3", 2_000_000),
		("learning_rate = \"0.002\"", 2_000_000),
		("learning_rate_nano = 2_000_000", 2_000_000),
		("learning_rate = 0.000000001", 1),
		("learning_rate = 1000", MAX_NANO),
		("learning_rate = 0.123456789", 123_456_789),
	] {
		let job = read(&whole().replace("learning_rate = 0.002", text)).unwrap();
		assert_eq!(job.spec.training.learning_rate_nano, nano, "{text}");
	}
}

#[test]
fn wrong_fields_are_named() {
	refused(
		"batch_size = 32",
		"batch_size = 0",
		"training.batch_size",
		"batch_size = 0",
		"it is 0; allowed: a whole number from 1 to 65536",
	);
	refused(
		"batch_size = 32",
		"batch_size = \"32\"",
		"training.batch_size",
		"batch_size = \"32\"",
		"the text \"32\"",
	);
	refused(
		"batch_size = 32",
		"batch_size = 32.5",
		"training.batch_size",
		"batch_size = 32.5",
		"allowed: a whole number",
	);
	refused(
		"batch_size = 32",
		"batch_size = -1",
		"training.batch_size",
		"batch_size = -1",
		"it is -1",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = 0.0",
		"training.learning_rate",
		"learning_rate = 0.0",
		"a number from 0.000000001 to 1000",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = 1e-10",
		"training.learning_rate",
		"learning_rate = 1e-10",
		"more than 9 decimals",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = nan",
		"training.learning_rate",
		"learning_rate = nan",
		"not a decimal number",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = \"fast\"",
		"training.learning_rate",
		"learning_rate = \"fast\"",
		"not a decimal number",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = -0.1",
		"training.learning_rate",
		"learning_rate = -0.1",
		"negative",
	);
	refused(
		"steps = 1500",
		"steps = 99999999999",
		"training.steps",
		"steps = 99999999999",
		"1 to 100000000",
	);
	refused(
		"hidden = [64, 32]",
		"hidden = [64, 0]",
		"model.mlp.hidden",
		"hidden = [64, 0]",
		"one entry is 0",
	);
	refused(
		"hidden = [64, 32]",
		"hidden = 64",
		"model.mlp.hidden",
		"hidden = 64",
		"it is 64; allowed: a list",
	);
	refused(
		"hidden = [64, 32]",
		"hidden = []\nactivation = \"rleu\"",
		"model.mlp.activation",
		"activation = \"rleu\"",
		"did you mean relu?",
	);
	refused(
		"location = \"https:",
		"location = \"ftp:",
		"dataset.location",
		"location = \"ftp://example.org/digits.csv\"",
		"http://",
	);
	refused(
		"content_hash = \"01",
		"content_hash = \"",
		"dataset.content_hash",
		"content_hash = \"01010101010101010101010101010101010101010101010101010101010101\"",
		"62 characters",
	);
	refused(
		"price_per_ut = \"1000\"",
		"price_per_ut = \"0\"",
		"terms.price_per_ut",
		"price_per_ut = \"0\"",
		"at least 0.000000000001",
	);
	refused(
		"audit_fee = 0.5",
		"audit_fee = 0.5\nreplicas = 9",
		"terms.replicas",
		"replicas = 9",
		"from 1 to 8",
	);
	refused(
		"audit_fee = 0.5",
		"audit_fee = 0.5\naudit_segments = 17",
		"terms.audit_segments",
		"audit_segments = 17",
		"from 1 to 16",
	);
	refused(
		"audit_fee = 0.5",
		"audit_fee = 0.5\nverifiers = 4",
		"terms.verifiers",
		"verifiers = 4",
		"an odd number",
	);
	refused(
		"audit_fee = 0.5",
		"audit_fee = 0.5\nverifiers = 1",
		"terms.verifiers",
		"verifiers = 1",
		"from 3 to 15",
	);
	// The price of three of thirty segments of 0.0042 ut, and of the evaluation of checkpoint 0.
	refused(
		"audit_fee = 0.5",
		"audit_fee = 0.4",
		"terms.audit_fee",
		"audit_fee = 0.4",
		"at least 0.428",
	);
}

#[test]
fn without_an_audit_fee_the_least_is_paid() {
	let job = read(&whole().replace("audit_fee = 0.5\n", "")).unwrap();
	let terms = job.terms.unwrap();
	let least = work::audit_fee(&job.spec, terms.audit_segments, terms.price_per_ut).unwrap();
	assert_eq!(terms.audit_fee, least);
	assert!(least > 410_000_000_000, "{least}");
}

#[test]
fn unknown_fields_are_named_with_a_suggestion() {
	refused(
		"feature_divisor = 16",
		"feature_devisor = 16",
		"dataset.feature_devisor",
		"feature_devisor = 16",
		"did you mean feature_divisor?",
	);
	refused(
		"audit_fee = 0.5",
		"audit_fee = 0.5\nreplica = 2",
		"terms.replica",
		"replica = 2",
		"did you mean replicas?",
	);
	refused("[terms]", "[term]", "term", "[term]", "did you mean terms?");
	refused(
		"audit_fee = 0.5",
		"audit_fee = 0.5\ncolour = 2",
		"terms.colour",
		"colour = 2",
		"[terms] may have: apply_blocks,",
	);
}

#[test]
fn missing_fields_are_named_at_their_section() {
	refused(
		"steps = 1500\n",
		"",
		"training.steps",
		"[training]",
		"missing; allowed: a whole number",
	);
	refused("learning_rate = 0.002\n", "", "training.learning_rate", "[training]", "missing");
	refused(
		"[training.optimizer.adamw]\n",
		"",
		"training.optimizer",
		"[training]",
		"[training.optimizer.adam] or",
	);
	refused("features = 64\n", "", "dataset.features", "[dataset]", "only be left out where path");
	refused("price_per_ut = \"1000\"\n", "", "terms.price_per_ut", "[terms]", "an amount of TRY");
	refused(
		"[training.optimizer.adamw]",
		"[training.optimizer.adamw]\n[training.optimizer.sgd]",
		"training.optimizer",
		"[training.optimizer.adamw]",
		"two optimizers",
	);
}

#[test]
fn rules_between_fields_are_named() {
	refused(
		"validation_rows = 359",
		"validation_rows = 360",
		"dataset.validation_rows",
		"validation_rows = 360",
		"validation_every",
	);
	refused(
		"checkpoint_interval = 50",
		"checkpoint_interval = 1501",
		"training.checkpoint_interval",
		"checkpoint_interval = 1501",
		"1 to 1500",
	);
	refused(
		"batch_size = 32",
		"batch_size = 1439",
		"training.batch_size",
		"batch_size = 1439",
		"train_rows",
	);
	refused(
		"learning_rate = 0.002",
		"learning_rate = 0.002\nlearning_rate_nano = 1",
		"training.learning_rate_nano",
		"learning_rate_nano = 1",
		"one of the two",
	);
	refused(
		"hidden = [64, 32]",
		"hidden = [65536, 65536]",
		"model.mlp.hidden",
		"hidden = [65536, 65536]",
		"more than 268435456 parameters",
	);
}

#[test]
fn all_problems_are_told_at_once_in_order() {
	let text = whole()
		.replace("batch_size = 32", "batch_size = 0")
		.replace("features = 64", "features = 0")
		.replace("audit_fee", "audit_fees");
	let error = read(&text).unwrap_err();
	let fields: Vec<&str> = error.problems.iter().map(|p| p.field.as_str()).collect();
	assert_eq!(fields, ["dataset.features", "training.batch_size", "terms.audit_fees"]);
}

#[test]
fn what_is_no_toml_is_named_by_line() {
	let error = read("[dataset]\npath = \n").unwrap_err();
	assert_eq!(error.problems[0].line, 2, "{error}");
	assert!(error.to_string().contains("this is not TOML"), "{error}");
	let error = read("").unwrap_err();
	assert!(error.problems.len() >= 3, "{error}");
}

#[test]
fn a_local_file_fills_in_and_contradicts() {
	let dir = tempfile::tempdir().unwrap();
	std::fs::write(dir.path().join("d.csv"), "a,b,label\n1,2,0\n3,4,2\n5,6,1\n7,8,0\n").unwrap();
	let job_path = dir.path().join("job.toml");
	let job = |dataset: &str| {
		let text = format!(
			"[dataset]\npath = \"d.csv\"\nvalidation_every = 2\n{dataset}\n{MODEL}{}{ADAMW}",
			TRAINING.replace("batch_size = 32", "batch_size = 2")
		);
		parse(&text, &job_path)
	};
	let whole = job("").unwrap();
	assert!(!whole.has_location() && whole.terms.is_none());
	assert_eq!(whole.dataset_path, Some(dir.path().join("d.csv")));
	let d = &whole.spec.dataset;
	assert_eq!((d.train_rows, d.validation_rows, d.features, d.classes), (2, 2, 2, 3));
	assert_eq!((d.content_hash, d.bytes), crate::hash::file(&dir.path().join("d.csv")).unwrap());
	assert!(job(&format!("content_hash = \"{:?}\"\nclasses = 10", d.content_hash)).is_ok());
	for (field, value) in [
		("content_hash", format!("\"{}\"", "01".repeat(32))),
		("bytes", "7".into()),
		("train_rows", "3".into()),
		("features", "3".into()),
		("classes", "2".into()),
	] {
		let error = job(&format!("{field} = {value}")).unwrap_err().to_string();
		assert!(error.contains(&format!("job.toml:4: dataset.{field}: ")), "{error}");
		assert!(error.contains("dataset.path"), "{error}");
	}
	std::fs::write(dir.path().join("d.csv"), "a,b,label\n1,2,0\n3,x,2\n").unwrap();
	let error = job("").unwrap_err().to_string();
	assert!(error.contains("job.toml:2: dataset.path: ") && error.contains("d.csv:3: "), "{error}");
	std::fs::remove_file(dir.path().join("d.csv")).unwrap();
	let error = job("").unwrap_err().to_string();
	assert!(
		error.contains("job.toml:2: dataset.path: ") && error.contains("cannot read"),
		"{error}"
	);
}

#[test]
fn a_fine_tuning_names_its_model() {
	let section = "[initial_model]\nlocation = \"https://example.org/model.safetensors\"\n\
		content_hash = \"0202020202020202020202020202020202020202020202020202020202020202\"\n\
		bytes = 26664\n";
	let text = whole() + section;
	let job = read(&text).unwrap();
	let file = job.spec.initial_model.clone().unwrap();
	assert_eq!((file.content_hash, file.bytes), (H256::repeat_byte(2), 26_664));
	assert_eq!(file.location.to_string_lossy(), "https://example.org/model.safetensors");
	assert_eq!((job.has_location(), &job.initial_model_path), (true, &None));
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	let mut without = job.clone();
	without.spec.initial_model = None;
	assert_eq!(read(&whole()).unwrap(), without);

	let complaint = |from: &str, to: &str| {
		let changed = text.replacen(from, to, 1);
		assert_ne!(changed, text, "{from}");
		read(&changed).unwrap_err().to_string()
	};
	for (from, to, field, what) in [
		("bytes = 26664\n", "", "initial_model.bytes", "the field is missing"),
		("bytes = 26664", "bytes = 0", "initial_model.bytes", "from 1 to 2147483648"),
		("\"0202", "\"02", "initial_model.content_hash", "62 characters"),
		("\"https://example.org/model", "\"ftp://x/model", "initial_model", "http(s) location"),
		("bytes = 26664", "bytes = 26664\nsize = 3", "initial_model.size", "no such field"),
		("https://example.org/model.safetensors", "", "initial_model", "http(s) location"),
	] {
		let error = complaint(from, to);
		assert!(error.contains(&format!("{field}: ")) && error.contains(what), "{to}: {error}");
	}
	let missing = read(&(whole() + "[initial_model]\n")).unwrap_err();
	assert_eq!(missing.problems.len(), 3, "{missing}");
}

#[test]
fn a_local_initial_model_fills_in_and_must_fit() {
	use crate::bundle::{tensors, Tensor32, Tensors};
	let dir = tempfile::tempdir().unwrap();
	let model = dir.path().join("model.safetensors");
	let write = |bias: u32| {
		let shape_of = [("layers.0.bias", vec![bias]), ("layers.0.weight", vec![10, 64])];
		let tensors: Tensors = shape_of
			.map(|(name, shape)| {
				let n = shape.iter().product::<u32>() as usize;
				(name.to_owned(), Tensor32 { shape, data: vec![0.5; n] })
			})
			.into();
		std::fs::write(&model, tensors::encode(&tensors)).unwrap();
	};
	let job_path = dir.path().join("job.toml");
	let job = |more: &str| {
		let text = whole().replace("[64, 32]", "[]").replace("audit_fee = 0.5\n", "");
		let section = "[initial_model]\npath = \"model.safetensors\"\n";
		parse(&(text + section + more), &job_path)
	};
	write(10);
	let read = job("").unwrap();
	let file = read.spec.initial_model.clone().unwrap();
	assert_eq!((file.content_hash, file.bytes), crate::hash::file(&model).unwrap());
	assert_eq!(read.initial_model_path, Some(model.clone()));
	assert_eq!(read.without_location(), Some(InputFile::InitialModel), "it cannot be posted");
	assert_eq!(parse(&to_toml(&read), &job_path).unwrap(), read);
	assert!(job("location = \"http://x/m\"\n").unwrap().has_location());
	// The data have no local file, and the model has.
	let error = read.inputs(&InputArgs::default(), &job_path).unwrap_err().to_string();
	assert!(error.contains("job.toml: dataset.path: ") && error.contains("--data FILE"), "{error}");

	let wrong = format!("content_hash = \"{}\"\n", "01".repeat(32));
	for (more, field) in [(wrong.as_str(), "content_hash"), ("bytes = 7\n", "bytes")] {
		let error = job(more).unwrap_err().to_string();
		assert!(error.contains(&format!("initial_model.{field}: ")), "{error}");
		assert!(error.contains("initial_model.path"), "{error}");
	}
	write(11);
	let error = job("").unwrap_err().to_string();
	for part in ["initial_model.path: ", "layers.0.bias has shape [11], the job's has [10]"] {
		assert!(error.contains(part), "{part}: {error}");
	}
	std::fs::remove_file(&model).unwrap();
	let error = job("").unwrap_err().to_string();
	assert!(error.contains("initial_model.path: cannot read"), "{error}");
}
