//! Files that are encoded and decoded again, and files that lie.

use super::*;
use proptest::prelude::*;
use safetensors::{tensor::TensorView, Dtype, SafeTensors};
use std::collections::HashMap;

const GIB: u64 = 1 << 30;
const LOSSY: [Encoding; 3] = [Encoding::F16, Encoding::Bf16, Encoding::I8];

type Tensors = Vec<(String, Dtype, Vec<usize>, Vec<u8>)>;

fn f32s(values: &[f32]) -> Vec<u8> {
	values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A file as the usual library writes it.
fn file(tensors: &Tensors, notes: &[(&str, &str)]) -> Vec<u8> {
	let views = tensors.iter().map(|(name, dtype, shape, data)| {
		(name.as_str(), TensorView::new(*dtype, shape.clone(), data).unwrap())
	});
	let notes: HashMap<String, String> =
		notes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
	safetensors::serialize(views, (!notes.is_empty()).then_some(notes)).unwrap()
}

/// A small model: two layers, numbers of another type, and a scalar.
fn model() -> Tensors {
	let weights: Vec<f32> = (0..96u32).map(|i| ((i * 37 % 41) as f32 - 20.0) / 7.0).collect();
	let bias: Vec<f32> = (0..6).map(|i| i as f32 / 3.0).collect();
	vec![
		("steps".into(), Dtype::I64, vec![2], [7i64.to_le_bytes(), 9i64.to_le_bytes()].concat()),
		("b.weight".into(), Dtype::F32, vec![6, 4, 4], f32s(&weights)),
		("b.bias".into(), Dtype::F32, vec![6], f32s(&bias)),
		("a".into(), Dtype::F32, vec![], f32s(&[0.1])),
		("mask".into(), Dtype::BOOL, vec![3], vec![1, 0, 1]),
		("half".into(), Dtype::F16, vec![2], vec![0, 0x3c, 0, 0xc0]),
	]
}

struct Folder(tempfile::TempDir);

impl Folder {
	fn new() -> Self {
		Self(tempfile::tempdir().unwrap())
	}

	fn path(&self, name: &str) -> PathBuf {
		self.0.path().join(name)
	}

	fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
		let path = self.path(name);
		std::fs::write(&path, bytes).unwrap();
		path
	}

	/// Encodes and decodes bytes. Returns the header, what is encoded and what is decoded.
	fn round(&self, encoding: Encoding, bytes: &[u8]) -> (Header, Vec<u8>, Vec<u8>) {
		let (from, encoded, back) =
			(self.put("from", bytes), self.path("encoded"), self.path("back"));
		let made = encode(encoding, &from, &encoded).unwrap();
		assert_eq!(header(&encoded).unwrap(), Some(made));
		assert_eq!(decode(&encoded, &back, GIB).unwrap(), made);
		let (encoded, back) = (std::fs::read(encoded).unwrap(), std::fs::read(back).unwrap());
		assert_eq!(
			(made.encoding, made.root, made.size),
			(encoding, root(bytes), bytes.len() as u64)
		);
		assert_eq!((made.decoded_root, made.decoded_size), (root(&back), back.len() as u64));
		assert_eq!(std::fs::read_dir(self.0.path()).unwrap().count(), 3, "nothing else is left");
		(made, encoded, back)
	}

	/// Says why bytes are not decoded; nothing is left of that.
	fn refused(&self, bytes: &[u8]) -> String {
		let (from, back) = (self.put("false", bytes), self.path("none"));
		let error = decode(&from, &back, GIB).unwrap_err().to_string();
		assert!(!back.exists() && !self.path("none.part").exists());
		error
	}
}

fn root(bytes: &[u8]) -> H256 {
	blob::root_of_reader(bytes).unwrap()
}

/// The value of a tensor in a file.
fn value(bytes: &[u8], name: &str) -> Vec<f32> {
	let view = SafeTensors::deserialize(bytes).unwrap();
	let data = view.tensor(name).unwrap();
	assert_eq!(data.dtype(), Dtype::F32);
	data.data().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn nothing_is_lost_by_zstd_and_any_reader_reads_it() {
	let folder = Folder::new();
	for bytes in [b"x".to_vec(), vec![7; 3 * BLOCK + 1], file(&model(), &[])] {
		let (made, encoded, back) = folder.round(Encoding::Zstd, &bytes);
		assert_eq!(back, bytes);
		assert_eq!(made.decoded_root, made.root);
		assert_eq!(zstd::stream::decode_all(&encoded[..]).unwrap(), bytes);
		assert_eq!(folder.round(Encoding::Zstd, &bytes).1, encoded, "the same again");
	}
	assert!(folder.round(Encoding::Zstd, &vec![7; 1 << 20]).1.len() < 1_000);
}

#[test]
fn tensors_are_rounded_and_any_library_reads_them() {
	let folder = Folder::new();
	let bytes = file(&model(), &[("format", "pt")]);
	for (encoding, dtype) in
		[(Encoding::F16, Dtype::F16), (Encoding::Bf16, Dtype::BF16), (Encoding::I8, Dtype::I8)]
	{
		let (_, encoded, back) = folder.round(encoding, &bytes);
		assert!(encoding == Encoding::I8 || encoded.len() < bytes.len() + 700);
		let read = SafeTensors::deserialize(&encoded).unwrap();
		assert_eq!(read.tensor("b.weight").unwrap().dtype(), dtype);
		assert_eq!(read.tensor("b.weight").unwrap().shape(), [6, 4, 4]);
		// Vectors have no rows.
		let bias = if encoding == Encoding::I8 { Dtype::F32 } else { dtype };
		assert_eq!(read.tensor("b.bias").unwrap().dtype(), bias);
		for (name, kept, _, data) in model().iter().filter(|(_, dtype, ..)| *dtype != Dtype::F32) {
			let there = read.tensor(name).unwrap();
			assert_eq!((there.dtype(), there.data()), (*kept, &data[..]));
		}
		// Every tensor is aligned as its type needs.
		let (_, listed) = SafeTensors::read_metadata(&encoded).unwrap();
		for (name, info) in listed.tensors() {
			assert_eq!(info.data_offsets.0 * 8 % info.dtype.bitsize(), 0, "{name}");
		}

		let read = SafeTensors::deserialize(&back).unwrap();
		assert_eq!(read.names().len(), model().len());
		let (_, listed) = SafeTensors::read_metadata(&back).unwrap();
		let notes = listed.metadata().clone().unwrap();
		assert_eq!(notes, HashMap::from([("format".to_owned(), "pt".to_owned())]));
		for (was, is) in value(&bytes, "b.weight").iter().zip(value(&back, "b.weight")) {
			assert!((was - is).abs() <= 0.012, "{was} {is}");
		}
		// What is rounded stays when it is rounded again.
		let again = folder.round(encoding, &back);
		assert_eq!(again.2, back);
	}
}

/// The layout of what is decoded is that of the usual library, so that only chunks whose values changed are
/// other chunks.
#[test]
fn what_16_bits_hold_comes_back_to_the_byte() {
	let folder = Folder::new();
	let values: Vec<f32> = (0..40u16).map(|i| numbers::of_f16(0x3800 + i * 16)).collect();
	let tensors = vec![
		("w".into(), Dtype::F32, vec![2, 20], f32s(&values)),
		("\"é\\".into(), Dtype::F32, vec![0], vec![]),
	];
	let bytes = file(&tensors, &[("format", "pt")]);
	let (made, _, back) = folder.round(Encoding::F16, &bytes);
	assert_eq!(back, bytes);
	assert_eq!(made.root, made.decoded_root);
}

#[test]
fn what_cannot_be_encoded_says_why() {
	let folder = Folder::new();
	let says = |encoding, bytes: &[u8]| {
		let (from, out) = (folder.put("from", bytes), folder.path("out"));
		let error = encode(encoding, &from, &out).unwrap_err().to_string();
		assert!(!out.exists() && !folder.path("out.part").exists());
		error
	};
	assert!(says(Encoding::Zstd, b"").contains("empty"));
	for encoding in LOSSY {
		for text in [&b"short"[..], b"not a model at all", &u64::MAX.to_le_bytes()] {
			assert!(says(encoding, text).contains("not a whole safetensors file"));
		}
		let whole = file(&model(), &[]);
		assert!(says(encoding, &whole[..whole.len() - 1]).contains("longer or shorter"));
		let ints = vec![("i".into(), Dtype::I32, vec![32, 32], vec![0; 4_096])];
		assert!(says(encoding, &file(&ints, &[])).contains("no tensor"));
		for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
			let tensors = vec![("w".into(), Dtype::F32, vec![1, 16], f32s(&[bad; 16]))];
			assert!(says(encoding, &file(&tensors, &[])).contains("tensor w has the value"));
		}
		let (_, encoded, _) = Folder::new().round(encoding, &whole);
		assert!(says(Encoding::F16, &encoded).contains("already"));
		assert!(says(encoding, &file(&model(), &[("trainyard.x", "")])).contains("metadata"));
	}
	let large = vec![("w".into(), Dtype::F32, vec![1, 16], f32s(&[70_000.0; 16]))];
	assert!(says(Encoding::F16, &file(&large, &[])).contains("try bf16"));
	let largest = vec![("w".into(), Dtype::F32, vec![1, 16], f32s(&[f32::MAX; 16]))];
	assert!(says(Encoding::Bf16, &file(&largest, &[])).contains("the value"));
	let small = vec![("w".into(), Dtype::F32, vec![16, 1], f32s(&[1.0; 16]))];
	assert!(says(Encoding::I8, &file(&small, &[])).contains("rows of 16"));
	let taken = vec![
		("w".into(), Dtype::F32, vec![1, 16], f32s(&[1.0; 16])),
		("w.i8_scale".into(), Dtype::F32, vec![1], f32s(&[1.0])),
	];
	assert!(says(Encoding::I8, &file(&taken, &[])).contains("w.i8_scale"));
}

#[test]
fn what_is_not_encoded_or_damaged_is_not_decoded() {
	let folder = Folder::new();
	let plain = file(&model(), &[]);
	assert!(folder.refused(&plain).contains("not encoded"));
	assert!(folder.refused(b"any").contains("not encoded"));
	assert!(folder.refused(&zstd::bulk::compress(&plain, 3).unwrap()).contains("not encoded"));
	for encoding in [Encoding::Zstd, Encoding::F16, Encoding::Bf16, Encoding::I8] {
		let (_, encoded, _) = Folder::new().round(encoding, &plain);
		let mut damaged = encoded.clone();
		*damaged.last_mut().unwrap() ^= 1;
		folder.refused(&damaged);
		folder.refused(&encoded[..encoded.len() - 1]);
		folder.refused(&[&encoded[..], b"more"].concat());
	}
	// Another file is under the header.
	let (made, encoded, _) = Folder::new().round(Encoding::F16, &plain);
	let other = String::from_utf8_lossy(&encoded)
		.find(&format!("{:?}", made.decoded_root)[2..])
		.map(|at| [&encoded[..at], b"00", &encoded[at + 2..]].concat());
	assert!(folder.refused(&other.unwrap()).contains("decoding gives a file with root"));
}

/// Who lies about a length takes no disk: a bomb ends at the length that its header says, and one that says
/// a large one is refused before anything is written.
#[test]
fn bombs_are_bounded() {
	let folder = Folder::new();
	let bomb = vec![0; 8 << 20];
	let (_, encoded, _) = Folder::new().round(Encoding::Zstd, &bomb);
	assert!(encoded.len() < 2_000);
	let from = folder.put("bomb", &encoded);
	let error = decode(&from, &folder.path("out"), (8 << 20) - 1).unwrap_err().to_string();
	assert!(error.contains("--max-gib"), "{error}");
	let claims = |size: &str| {
		let at = encoded.windows(7).position(|w| w == b"8388608").unwrap();
		[&encoded[..at], size.as_bytes(), &encoded[at + 7..]].concat()
	};
	for size in ["8388607", "8388609", "0000001", "1000000"] {
		assert!(!folder.refused(&claims(size)).is_empty());
	}
	assert!(folder.refused(&claims("8388607")).contains("does not give the 8388607 bytes"));
	assert!(!folder.path("out").exists());
}

#[test]
fn a_false_list_of_tensors_is_refused() {
	let folder = Folder::new();
	let (_, encoded, _) = Folder::new().round(Encoding::I8, &file(&model(), &[]));
	let text = String::from_utf8_lossy(&encoded).into_owned();
	assert!(text.contains(r#"[\"b.weight\"]"#));
	for (was, is, why) in [
		(r#"[\"b.weight\"]"#, r#"[\"c.weight\"]"#, "is not there"),
		(r#"[\"b.weight\"]"#, r#"[\"steps\"]   "#, "is of type"),
		(r#"[\"b.weight\"]"#, r#"{\"b.weight\"}"#, "no list of names"),
		(r#""b.weight.i8_scale""#, r#""b.weight.i8_scalf""#, "has no scales"),
		(r#""trainyard.encoding":"i8""#, r#""trainyard.encoding":"i9""#, "encoding \"i9\""),
		(r#""trainyard.size":""#, r#""trainyard.sise":""#, "trainyard.size is not there"),
	] {
		let at = encoded.windows(was.len()).position(|w| w == was.as_bytes()).unwrap();
		let lies = [&encoded[..at], is.as_bytes(), &encoded[at + was.len()..]].concat();
		let error = folder.refused(&lies);
		assert!(error.contains(why), "{error}");
	}
}

#[test]
fn names_of_encoded_files() {
	let path = Path::new("a/model.safetensors");
	assert_eq!(Encoding::F16.name_of(path), Path::new("a/model.f16.safetensors"));
	assert_eq!(Encoding::Zstd.name_of(path), Path::new("a/model.safetensors.zst"));
	assert_eq!(Encoding::I8.name_of(Path::new("model")), Path::new("model.i8"));
	for encoding in [Encoding::Zstd, Encoding::F16, Encoding::Bf16, Encoding::I8] {
		assert_eq!(Encoding::named(encoding.name()), Some(encoding));
	}
	assert_eq!(Encoding::named("f32"), None);
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(48))]

	#[test]
	fn any_bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 1..20_000)) {
		let folder = Folder::new();
		prop_assert_eq!(folder.round(Encoding::Zstd, &bytes).2, bytes);
	}

	/// Every value is what its rule says, in tensors of any shape.
	#[test]
	fn any_tensor_is_rounded_by_its_rule(
		rows in 1usize..9,
		length in 16usize..40,
		bits in proptest::collection::vec(-60_000f32..60_000.0, 400),
		shift in 0u32..30,
	) {
		let folder = Folder::new();
		let factor = 0.5f32.powi(shift as i32);
		let values: Vec<f32> = bits.iter().take(rows * length).map(|x| x * factor).collect();
		let tensors = vec![
			("w".into(), Dtype::F32, vec![rows, length], f32s(&values)),
			("v".into(), Dtype::F32, vec![values.len()], f32s(&values)),
		];
		let bytes = file(&tensors, &[]);
		let f16 = value(&folder.round(Encoding::F16, &bytes).2, "v");
		let bf16 = value(&folder.round(Encoding::Bf16, &bytes).2, "w");
		let (_, _, back) = folder.round(Encoding::I8, &bytes);
		prop_assert_eq!(value(&back, "v"), values.clone());
		for (place, (value, i8)) in values.iter().zip(value(&back, "w")).enumerate() {
			let row = &values[place / length * length..][..length];
			let scale = row.iter().fold(0f32, |most, x| most.max(x.abs())) / 127.0;
			prop_assert!((value - i8).abs() <= scale * 0.5001);
			prop_assert_eq!(f16[place], numbers::of_f16(numbers::to_f16(*value).unwrap()));
			prop_assert_eq!(bf16[place], numbers::of_bf16(numbers::to_bf16(*value).unwrap()));
		}
	}

	/// Whatever is done to an encoded file, it is refused or gives what its header says; nothing panics.
	#[test]
	fn damage_is_refused(at in any::<prop::sample::Index>(), change in 1u8..=255, which in 0usize..4) {
		let encoding = [Encoding::Zstd, Encoding::F16, Encoding::Bf16, Encoding::I8][which];
		let folder = Folder::new();
		let (_, mut encoded, back) = folder.round(encoding, &file(&model(), &[]));
		let at = at.index(encoded.len());
		encoded[at] ^= change;
		let (from, out) = (folder.put("damaged", &encoded), folder.path("out"));
		if let Ok(header) = decode(&from, &out, GIB) {
			prop_assert_eq!(root(&std::fs::read(&out).unwrap()), header.decoded_root);
			prop_assert_eq!(std::fs::read(&out).unwrap().len(), back.len());
		}
	}
}
