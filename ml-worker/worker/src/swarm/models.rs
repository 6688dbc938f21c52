//! Models as files: each in the one form that a model of the swarm has, under its root.
//!
//! A file of a model is served as one part, whose BLAKE3 hash is its content hash, so what was announced, the
//! root of the blob, says which hash that is. Whoever fetches therefore checks each group of 16 KiB against the
//! root that was *announced* when it comes, and may take the groups of a layer from one peer and those of the
//! next from another. Parts by tensor would have hashes that do not follow from the root.

use crate::roles::store::StoreError;
use std::{
	collections::BTreeSet,
	path::{Path, PathBuf},
};
use trainyard_engine::{Tensor32, TensorMap};
use trainyard_proof::bundle::{
	self,
	files::{self, FileError},
	tensors,
};
use trainyard_protocol::{
	blob, content,
	federation::{self, weights},
	model_file::Layout,
	H256,
};
use trainyard_transport::record_of;

/// Ending of the file of a model.
const ENDING: &str = ".safetensors";
/// Ending of the file of a model that is not whole.
const PART: &str = ".part";

/// Why bytes are no model of the swarm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoModel {
	/// They are too few or too many.
	#[error("it has {found} bytes, and a model of this swarm has {expected}")]
	Length {
		/// Bytes that there are.
		found: u64,
		/// Bytes that there should be.
		expected: u64,
	},
	/// They do not begin as models do.
	#[error("its header is not that of a model of this swarm")]
	Header,
	/// They are not those of this root.
	#[error("its bytes are not those of its root")]
	Root,
	/// A number is infinite, or none.
	#[error("a number of {0} is infinite, or what is not a number")]
	NotFinite(String),
	/// It cannot be read.
	#[error("it cannot be read: {0}")]
	Unreadable(String),
}

/// The models in a folder.
#[derive(Clone, Debug)]
pub struct Models {
	folder: PathBuf,
	layout: Layout,
}

/// Returns the root under which these bytes are announced, and a blob.
pub fn root_of(bytes: &[u8]) -> H256 {
	blob::root_of(bytes.len() as u64, &content::hash(bytes))
}

/// Returns the root of a file of so many bytes with this BLAKE3 hash.
pub fn root_of_parts(bytes: u64, hash: &[u8; 32]) -> H256 {
	blob::root_of(bytes, &H256(*hash))
}

impl Models {
	/// Opens a folder, which is made where it is missing. All models have this layout.
	pub fn open(folder: &Path, layout: Layout) -> Result<Self, FileError> {
		files::create_folder(folder)?;
		files::remove_temporaries(folder)?;
		Ok(Self::at(folder, layout))
	}

	/// Looks at a folder in which another process may be writing.
	pub fn at(folder: &Path, layout: Layout) -> Self {
		Self { folder: folder.to_owned(), layout }
	}

	/// Returns what the files consist of.
	pub fn layout(&self) -> &Layout {
		&self.layout
	}

	/// Returns where the file of a model is, or will be.
	pub fn path(&self, root: &H256) -> PathBuf {
		self.folder.join(format!("{}{ENDING}", hex::encode(root)))
	}

	/// Returns where what came of a model is until all of it is there.
	pub fn part(&self, root: &H256) -> PathBuf {
		self.folder.join(format!("{}{PART}", hex::encode(root)))
	}

	/// Returns whether a model is here.
	pub fn has(&self, root: &H256) -> bool {
		self.path(root).is_file()
	}

	/// Returns the roots of the models that are here.
	pub fn roots(&self) -> Vec<H256> {
		self.named(ENDING)
	}

	/// Returns the roots of the files with this ending.
	fn named(&self, ending: &str) -> Vec<H256> {
		let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
		let root = |name: String| {
			let mut root = H256::zero();
			hex::decode_to_slice(name.strip_suffix(ending)?, &mut root.0).ok().map(|()| root)
		};
		entries.filter_map(|entry| root(entry.file_name().to_string_lossy().into_owned())).collect()
	}

	/// Writes a model down, and returns its root. It is on disk when this returns.
	pub fn put(&self, bytes: &[u8]) -> Result<H256, FileError> {
		let root = root_of(bytes);
		let path = self.path(&root);
		if !path.is_file() {
			files::write(&path, bytes)?;
		}
		Ok(root)
	}

	/// Returns the file of a model.
	pub fn bytes(&self, root: &H256) -> Result<Vec<u8>, FileError> {
		files::read(&self.path(root), self.layout.size)
	}

	/// Returns a model that is here. Fails where its file cannot be read, and says where it is no model.
	pub fn read(&self, root: &H256) -> Result<Result<TensorMap, NoModel>, FileError> {
		let bytes = self.bytes(root)?;
		Ok(match root_of(&bytes) == *root {
			true => self.parse(&bytes),
			false => Err(NoModel::Root),
		})
	}

	/// Returns the tensors of a model of the swarm, all of whose numbers are finite.
	pub fn parse(&self, bytes: &[u8]) -> Result<TensorMap, NoModel> {
		parse(&self.layout, bytes)
	}

	/// Returns the file of the mean of two models, the own one first: what
	/// `average` of trainyard-mixing computes, and the chain where somebody doubts it.
	pub fn mean(&self, own: &[u8], remote: &[u8]) -> Result<Vec<u8>, NoModel> {
		let mean = federation::aggregate(&self.layout, &weights(&[1, 1]), 0, &[own, remote]);
		mean.filter(|mean| mean.len() as u64 == self.layout.size)
			.ok_or(NoModel::Length { found: remote.len() as u64, expected: self.layout.size })
	}

	/// Removes all models but these, and what came of those that nobody announces any more.
	pub fn keep(
		&self,
		kept: &BTreeSet<H256>,
		announced: &BTreeSet<H256>,
	) -> Result<(), StoreError> {
		for root in self.named(ENDING).iter().filter(|root| !kept.contains(root)) {
			self.remove(root)?;
		}
		for root in self.named(PART).iter().filter(|root| !announced.contains(root)) {
			let part = self.part(root);
			remove(&record_of(&part))?;
			remove(&part)?;
		}
		Ok(())
	}

	/// Removes a model.
	pub fn remove(&self, root: &H256) -> Result<(), StoreError> {
		remove(&self.path(root))
	}
}

/// Returns the tensors in the bytes of a model with this layout, all of whose numbers are finite.
pub fn parse(layout: &Layout, bytes: &[u8]) -> Result<TensorMap, NoModel> {
	let (found, expected) = (bytes.len() as u64, layout.size);
	if found != expected {
		return Err(NoModel::Length { found, expected });
	}
	if !bytes.starts_with(&layout.header) {
		return Err(NoModel::Header);
	}
	let model = tensors::decode(bytes).map_err(|e| NoModel::Unreadable(e.to_string()))?;
	let infinite = |tensor: &Tensor32| !tensor.data.iter().all(|x| x.is_finite());
	match model.iter().find(|(_, tensor)| infinite(tensor)) {
		Some((name, _)) => Err(NoModel::NotFinite(name.clone())),
		None => Ok(model),
	}
}

/// Removes a file, if there is one.
pub fn remove(path: &Path) -> Result<(), StoreError> {
	match std::fs::remove_file(path) {
		Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
			Err(files::at("remove", path)(e).into())
		}
		_ => Ok(()),
	}
}

/// Returns the bytes of the file of the model in this state.
pub fn file_of(state: &TensorMap) -> Vec<u8> {
	bundle::model_bytes(state)
}

#[cfg(test)]
mod tests {
	use super::*;
	fn model(values: [f32; 4]) -> TensorMap {
		[("a", [values[0], values[1]]), ("b", [values[2], values[3]])]
			.map(|(name, data)| (name.to_owned(), Tensor32 { shape: vec![2], data: data.to_vec() }))
			.into()
	}

	fn models(folder: &Path) -> Models {
		let layout = Layout::new([("a".to_owned(), vec![2]), ("b".to_owned(), vec![2])]);
		Models::open(folder, layout).unwrap()
	}

	#[test]
	fn a_model_comes_back_and_another_one_is_none() {
		let dir = tempfile::tempdir().unwrap();
		let (models, model) = (models(dir.path()), model([1.0, -2.0, 3.5, 0.0]));
		let root = models.put(&file_of(&model)).unwrap();
		assert_eq!(models.read(&root).unwrap().unwrap(), model);
		assert_eq!((models.roots(), models.has(&root)), (vec![root], true));
		let mut bytes = models.bytes(&root).unwrap();
		assert!(matches!(models.parse(&bytes[1..]), Err(NoModel::Length { .. })));
		*bytes.last_mut().unwrap() ^= 1;
		std::fs::write(models.path(&root), &bytes).unwrap();
		assert_eq!(models.read(&root).unwrap(), Err(NoModel::Root));
		bytes[12] ^= 1;
		assert_eq!(models.parse(&bytes), Err(NoModel::Header));
		let part = models.part(&root);
		for path in [part.clone(), record_of(&part)] {
			std::fs::write(path, "some").unwrap();
		}
		models.keep(&BTreeSet::new(), &[root].into()).unwrap();
		assert!(models.roots().is_empty() && part.exists());
		models.keep(&BTreeSet::new(), &BTreeSet::new()).unwrap();
		assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
	}

	#[test]
	fn what_is_not_finite_is_no_model() {
		let dir = tempfile::tempdir().unwrap();
		let models = models(dir.path());
		for bad in [f32::INFINITY, f32::NAN] {
			let bytes = file_of(&model([0.0, 0.0, 1.0, bad]));
			assert_eq!(models.parse(&bytes), Err(NoModel::NotFinite("b".into())));
		}
	}

	#[test]
	fn the_mean_is_that_of_two_equal_parts() {
		let dir = tempfile::tempdir().unwrap();
		let models = models(dir.path());
		let [own, remote] =
			[[1.0, -2.0, 3.5, 0.0], [2.0, 2.0, 0.25, -1.0]].map(|values| file_of(&model(values)));
		let mean = models.mean(&own, &remote).unwrap();
		assert_eq!(models.parse(&mean).unwrap(), model([1.5, 0.0, 1.875, -0.5]));
		assert!(models.mean(&own, &remote[4..]).is_err());
	}
}
