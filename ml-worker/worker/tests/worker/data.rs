//! Data as HEPMASS has them, through the shipped example; from memory and from the disk.

use crate::common::{command, json, roots, text, write_job};
use flate2::{write::GzEncoder, Compression};
use std::{
	io::Write,
	path::{Path, PathBuf},
};

/// Numbers from 0 to 1, repeatable.
struct Noise(u32);

impl Noise {
	fn next(&mut self) -> f32 {
		self.0 ^= self.0 << 13;
		self.0 ^= self.0 >> 17;
		self.0 ^= self.0 << 5;
		(self.0 >> 8) as f32 / 16_777_216.0
	}
}

/// Writes data of the shape of HEPMASS: the label first, 27 features and a mass, 18 decimals,
/// compressed. The features of signal are larger, the more the heavier the particle.
fn hepmass(folder: &Path, rows: usize) -> PathBuf {
	let path = folder.join("hepmass.csv.gz");
	let mut file = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
	let names: String = (0..27).map(|i| format!("f{i},")).collect();
	writeln!(file, "# label,{names}mass").unwrap();
	let mut noise = Noise(2016);
	for _ in 0..rows {
		let label = (noise.next() * 2.0).floor();
		let mass = 500.0 + 250.0 * (noise.next() * 5.0).floor();
		write!(file, "{label:.18}e+00").unwrap();
		for i in 0..27 {
			let shift = if i % 3 == 0 { label * mass / 1_500.0 } else { 0.0 };
			write!(file, ",{:.18e}", noise.next() * 2.0 - 1.0 + shift).unwrap();
		}
		writeln!(file, ",{mass:.18e}").unwrap();
	}
	file.finish().unwrap();
	path
}

/// The shipped example, as long as a test may take.
fn job(folder: &Path) -> PathBuf {
	let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hepmass.toml");
	let mut text = std::fs::read_to_string(example).unwrap();
	for (long, short) in [
		("validation_every = 50 ", "validation_every = 5 "),
		("hidden = [128, 128]", "hidden = [16]"),
		("steps = 40000", "steps = 90"),
		("batch_size = 1024", "batch_size = 64"),
		("checkpoint_interval = 2000", "checkpoint_interval = 30"),
		("learning_rate = 0.001", "learning_rate = 0.01"),
		("warmup_steps = 500", "warmup_steps = 5"),
	] {
		assert!(text.contains(long), "{long}");
		text = text.replace(long, short);
	}
	write_job(folder, &text)
}

#[test]
fn the_hepmass_example_trains_from_memory_and_from_the_disk() {
	let folder = tempfile::tempdir().unwrap();
	let data = hepmass(folder.path(), 2_500);
	let job = job(folder.path());
	let train = |name: &str, memory: Option<&str>| {
		let out = folder.path().join(name);
		let mut command = command(&["train", text(&job), "--out", text(&out)]);
		match memory {
			Some(memory) => command.env("TRAINYARD_DATA_MEMORY", memory),
			None => command.env_remove("TRAINYARD_DATA_MEMORY"),
		};
		let output = command.output().unwrap();
		let [out, err] =
			[output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
		(output.status.code(), out, err)
	};
	let (code, held, err) = train("held", None);
	assert_eq!(code, Some(0), "{held}{err}");
	let (code, stored, err) = train("stored", Some("0"));
	assert_eq!(code, Some(0), "{stored}{err}");
	assert_eq!(roots(&held).len(), 2, "{held}");
	assert_eq!(roots(&held), roots(&stored));

	let bundle = |name: &str, file: &str| folder.path().join(name).join(file);
	for file in ["config.json", "model.safetensors", "metrics.jsonl"] {
		let read = |name| std::fs::read(bundle(name, file)).unwrap();
		assert_eq!(read("held"), read("stored"), "{file}");
	}
	let config = json(&bundle("held", "config.json"));
	assert_eq!(config["normalization"], "standard");
	let list = |key: &str| -> Vec<f64> {
		config[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
	};
	let (mean, deviation) = (list("feature_mean"), list("feature_deviation"));
	assert_eq!((mean.len(), deviation.len()), (28, 28));
	assert!((950.0..1_050.0).contains(&mean[27]) && (300.0..400.0).contains(&deviation[27]));
	let manifest = json(&bundle("held", "manifest.json"));
	assert_eq!(manifest["spec"]["dataset"]["features"], 28);
	assert_eq!(manifest["spec"]["dataset"]["normalization"], "standard");
	let last = &manifest["checkpoints"].as_array().unwrap().last().unwrap()["validation"];
	let accuracy = last["correct"].as_f64().unwrap() / last["rows"].as_f64().unwrap();
	assert!(accuracy > 0.8, "{accuracy}");

	let (code, _, err) = train("wrong", Some("much"));
	assert_eq!(code, Some(1), "{err}");
	assert!(err.contains("TRAINYARD_DATA_MEMORY is \"much\"; allowed: "), "{err}");
	// A damaged file is named before anything is trained.
	let bytes = std::fs::read(&data).unwrap();
	std::fs::write(&data, &bytes[..bytes.len() - 40]).unwrap();
	let (code, _, err) = train("cut", None);
	assert_eq!(code, Some(1), "{err}");
	assert!(err.contains("hepmass.csv.gz: it ends too early"), "{err}");
}
