//! Claims what a model is better by: commits to it, waits for the slice by which it is measured, counts and says.
//!
//! What a claim is about is on disk, with the salt that blinds its commitment, before the commitment is sent, and
//! each step looks at the chain: a claimant that was killed loses nothing, as long as it is back while claims are
//! counted.

use super::{
	board::{Board, BoardError},
	learner::{LearnError, Learner, Slice},
	models::{self, NoModel},
	ticket::Signed,
};
use crate::{
	federate::made::{Made, MadeError},
	roles::store::{load, save, Salt, StoreError},
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use trainyard_client::swarm::{Promise, Said, SwarmView};
use trainyard_proof::bundle::files::{self, FileError};
use trainyard_protocol::{
	model_file::Layout,
	swarm::{self, slice_roots, ClaimView, Count, Stage},
	H256,
};

/// Says why something cannot be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
	/// The chain cannot be asked, or refuses.
	#[error(transparent)]
	Board(#[from] BoardError),
	/// A file cannot be read or written.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// The same of a model.
	#[error(transparent)]
	File(#[from] FileError),
	/// A model is none of the swarm.
	#[error("{which} is no model of this swarm: {why}")]
	Model {
		/// Which one.
		which: &'static str,
		/// Why.
		why: NoModel,
	},
	/// A model cannot be opened.
	#[error(transparent)]
	Made(#[from] MadeError),
	/// It cannot be counted.
	#[error(transparent)]
	Learn(#[from] LearnError),
	/// The slice is not on chain.
	#[error("slice {0} is not one of blobs on chain, so nobody can count by it")]
	Slice(u32),
	/// The claim came too late.
	#[error("the round went on without this claim: {0}")]
	Late(&'static str),
	/// A thread of this process ended early.
	#[error("a computation ended early: {0}")]
	Thread(#[from] tokio::task::JoinError),
}

/// By which a peer owes for the mean of its model and another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
	/// The ticket.
	pub signed: Signed,
}

/// What is claimed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
	/// What was committed to.
	pub commitment: H256,
	/// What blinds it.
	pub salt: Salt,
	/// Root of the model that is better. Its file is beside the record.
	pub root: H256,
	/// The ticket, where a peer owes. The files of its model and of the one that it took are beside the record.
	pub by: Option<By>,
	/// Whether the commitment was seen on chain.
	#[serde(default)]
	pub committed: bool,
	/// Whether it was said what was counted.
	#[serde(default)]
	pub said: bool,
}

impl Record {
	/// Returns the roots of all models that the claim is about.
	fn roots(&self) -> Vec<H256> {
		let by = self.by.iter().map(|by| &by.signed.ticket);
		let others = by.flat_map(|ticket| [ticket.own, ticket.remote]);
		std::iter::once(self.root).chain(others).collect()
	}
}

/// Where a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
	/// The running round takes in no claims: it is tried at the next one.
	NoRoom,
	/// It is committed to, and waits for the slice.
	Committed,
	/// It was said what was counted.
	Said(Count, Count),
	/// The round is over.
	Over,
}

/// Claims in one folder.
pub struct Claims<'a, B> {
	board: &'a B,
	folder: PathBuf,
}

impl<'a, B: Board> Claims<'a, B> {
	/// Keeps claims in `folder`, which is made where it is missing.
	pub fn open(board: &'a B, folder: &Path) -> Result<Self, ClaimError> {
		files::create_private_folder(folder)?;
		files::remove_temporaries(folder)?;
		Ok(Self { board, folder: folder.to_owned() })
	}

	fn record(&self, commitment: &H256) -> PathBuf {
		self.folder.join(format!("{}.json", hex::encode(commitment)))
	}

	fn model(&self, root: &H256) -> PathBuf {
		self.folder.join(format!("{}.safetensors", hex::encode(root)))
	}

	/// Returns the claims that are not over.
	pub fn unfinished(&self) -> Result<Vec<Record>, ClaimError> {
		let entries = std::fs::read_dir(&self.folder);
		let entries = entries.map_err(files::at("read the folder", &self.folder))?;
		let (mut records, mut paths) = (Vec::new(), Vec::new());
		for entry in entries {
			paths.push(entry.map_err(files::at("read the folder", &self.folder))?.path());
		}
		paths.sort();
		for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "json")) {
			records.extend(load::<Record>(path)?);
		}
		Ok(records)
	}

	/// Writes down a claim of this model, which a peer owes for by a ticket, or the budget pays for. Nothing is
	/// sent yet. With a ticket come the model of that peer and the one that it took.
	pub fn prepare(
		&self,
		layout: &Layout,
		model: &[u8],
		by: Option<(Signed, [&[u8]; 2])>,
	) -> Result<Record, ClaimError> {
		let length = |which, bytes: &[u8]| match bytes.len() as u64 {
			found if found != layout.size => {
				let why = NoModel::Length { found, expected: layout.size };
				Err(ClaimError::Model { which, why })
			}
			_ => Ok(()),
		};
		length("what is claimed", model)?;
		let root = models::root_of(model);
		files::write(&self.model(&root), model)?;
		let (genesis, id) = (self.board.genesis(), self.board.swarm_id());
		let by = match by {
			Some((signed, [own, remote])) => {
				let ticket = &signed.ticket;
				for (which, root, bytes) in [
					("the model of the payer", ticket.own, own),
					("the model that the payer took", ticket.remote, remote),
				] {
					length(which, bytes)?;
					if models::root_of(bytes) != root {
						return Err(ClaimError::Model { which, why: NoModel::Root });
					}
					files::write(&self.model(&root), bytes)?;
				}
				Some(By { signed })
			}
			None => None,
		};
		let digest = by.as_ref().map(|by| by.signed.digest(&genesis));
		let salt = Salt::random();
		let me = self.board.me();
		let commitment = swarm::commitment(&genesis, id, me, &root, digest.as_ref(), &salt.0);
		let record = Record { commitment, salt, root, by, committed: false, said: false };
		save(&self.record(&commitment), &record)?;
		Ok(record)
	}

	fn update(
		&self,
		record: &mut Record,
		change: impl FnOnce(&mut Record),
	) -> Result<(), ClaimError> {
		change(record);
		Ok(save(&self.record(&record.commitment), record)?)
	}

	/// Removes what is kept of a claim.
	pub fn forget(&self, record: &Record) -> Result<(), ClaimError> {
		for root in record.roots() {
			models::remove(&self.model(&root))?;
		}
		Ok(models::remove(&self.record(&record.commitment))?)
	}

	/// Does what the chain waits for, and returns where the claim stands.
	pub async fn step(&self, record: &mut Record) -> Result<Progress, ClaimError> {
		let view = self.board.swarm().await?;
		let claim = view.claims.iter().find(|claim| claim.commitment == record.commitment);
		let Some(claim) = claim else {
			if record.committed {
				return Ok(Progress::Over);
			}
			return match view.stage {
				Stage::Idle | Stage::Collecting { .. } => {
					self.board.claim(&record.commitment).await?;
					Ok(Progress::Committed)
				}
				Stage::Ended => Err(ClaimError::Late("the swarm has ended")),
				_ => Ok(Progress::NoRoom),
			};
		};
		if !record.committed {
			self.update(record, |record| record.committed = true)?;
		}
		if let Some((new, base)) = claim.counts {
			return Ok(Progress::Said(new, base));
		}
		match view.stage {
			// Whoever saw the model before all claims are in could claim it as well.
			Stage::Idle | Stage::Collecting { .. } => Ok(Progress::Committed),
			Stage::Drawing { .. } | Stage::Showing { .. } => {
				self.store(record).await?;
				Ok(Progress::Committed)
			}
			Stage::Counting { slice, .. } => self.count_and_say(&view, claim, slice, record).await,
			_ if record.said => Ok(Progress::Committed),
			_ => {
				Err(ClaimError::Late("it was not said what it was about while claims were counted"))
			}
		}
	}

	/// Stores the models of a claim on chain, where everybody can count.
	async fn store(&self, record: &Record) -> Result<(), ClaimError> {
		for root in record.roots() {
			let bytes = files::read(&self.model(&root), u64::MAX)?;
			self.board.store(&bytes).await?;
		}
		Ok(())
	}

	async fn count_and_say(
		&self,
		view: &SwarmView,
		claim: &ClaimView<trainyard_client::AccountId32>,
		slice: u32,
		record: &mut Record,
	) -> Result<Progress, ClaimError> {
		self.store(record).await?;
		let layout = Layout::of(&super::learner::plain(&view.template).map_err(LearnError::from)?);
		let model = files::read(&self.model(&record.root), layout.size)?;
		let base = match &record.by {
			Some(by) => files::read(&self.model(&by.signed.ticket.own), layout.size)?,
			None => self.board.blob(view.best.root, layout.size).await?,
		};
		let path = self.folder.join(format!("slice-{slice}"));
		let new =
			count_by(self.board, view, slice, &path, vec![model.clone(), base.clone()]).await?;
		let [new, of_base] = new[..] else { return Err(ClaimError::Slice(slice)) };
		let made = Made::of(&layout, model)?;
		let promise = match &record.by {
			Some(by) => {
				let own = Made::of(&layout, base)?;
				let Signed { ticket, signature } = by.signed.clone();
				let own_pieces = own.pieces.try_into().unwrap_or_default();
				Some(Promise { ticket, signature, own_content: own.content, own_pieces })
			}
			None => None,
		};
		let pieces = made.pieces.try_into().unwrap_or_default();
		let said = Said { content: made.content, pieces, new, base: of_base, promise };
		self.board.say(claim.number, &said, &record.salt.0).await?;
		self.update(record, |record| record.said = true)?;
		models::remove(&path)?;
		Ok(Progress::Said(new, of_base))
	}
}

/// Returns what models get right of a slice of the swarm that is on chain, which is kept at `path` meanwhile.
pub async fn count_by<B: Board>(
	board: &B,
	view: &SwarmView,
	slice: u32,
	path: &Path,
	all: Vec<Vec<u8>>,
) -> Result<Vec<Count>, ClaimError> {
	let shown = view.slices.iter().find(|known| known.number == slice);
	let data = shown.map(|slice| slice.data.clone()).ok_or(ClaimError::Slice(slice))?;
	let roots = slice_roots(&data).ok_or(ClaimError::Slice(slice))?;
	let [root] = roots[..] else { return Err(ClaimError::Slice(slice)) };
	let bytes = board.blob(root, data.file.bytes).await?;
	files::write(path, &bytes)?;
	let (template, me, path) = (view.template.clone(), *board.me(), path.to_owned());
	let counting = move || {
		let slice = Slice::of(&template, data, &path, &me)?;
		let learner = Learner::new(&template)?;
		let layout = Layout::of(&super::learner::plain(&template).map_err(LearnError::from)?);
		let mut counts = Vec::new();
		for bytes in &all {
			let model = models::parse(&layout, bytes)
				.map_err(|why| ClaimError::Model { which: "one of the two models", why })?;
			counts.push(slice.count(&learner.state_of(model, None))?);
		}
		Ok::<_, ClaimError>(counts)
	};
	tokio::task::spawn_blocking(counting).await?
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::swarm::testing::{account, rows, Memory};
	use trainyard_engine::Engine;
	use trainyard_program::spec::{FileRef, ON_CHAIN};
	use trainyard_protocol::{
		federation::PartData,
		swarm::{Payer, SliceView},
		Text,
	};

	fn model(seed: u8) -> Vec<u8> {
		let spec = super::super::learner::plain(&crate::swarm::testing::template()).unwrap();
		let state = Engine::initial_state(&spec, &H256::repeat_byte(seed), None).unwrap();
		models::file_of(&state.to_host().unwrap())
	}

	fn claim_view(number: u32, commitment: H256) -> ClaimView<trainyard_client::AccountId32> {
		let (model, base, counts, payer, remote, refuter) = Default::default();
		let claimant = account(1);
		ClaimView { number, claimant, commitment, model, base, counts, payer, remote, refuter }
	}

	#[tokio::test(flavor = "multi_thread")]
	async fn a_claim_is_counted_and_said_whatever_is_killed_on_the_way() {
		let dir = tempfile::tempdir().unwrap();
		let (memory, folder) = (Memory::new(Payer::Budget, true), dir.path().join("claims"));
		let seat = memory.seen_by(1);
		let layout =
			Layout::of(&super::super::learner::plain(&memory.world().view.template).unwrap());
		let slice = rows(77, 200).into_bytes();
		let root = models::root_of(&slice);
		let location = Text::new(ON_CHAIN).unwrap();
		let file = FileRef { content_hash: root, bytes: slice.len() as u64, location };
		let (train_rows, validation_rows, rows) = (160, 40, H256::zero());
		let data = PartData { file, labels: None, train_rows, validation_rows, rows };
		let view = SliceView { number: 4, owner: account(9), data, waits: true };
		memory.world().view.slices.push(view);
		let claims = Claims::open(&seat, &folder).unwrap();
		let record = claims.prepare(&layout, &model(9), None).unwrap();
		// Killed before it was sent, and again before it is known that it was.
		let again = || Claims::open(&seat, &folder).unwrap().unfinished().unwrap().remove(0);
		assert_eq!(again(), record);
		assert_eq!(claims.step(&mut again()).await.unwrap(), Progress::Committed);
		assert_eq!(memory.world().commitments, [(account(1), record.commitment)]);
		{
			let mut world = memory.world();
			world.view.claims.push(claim_view(7, record.commitment));
			world.view.stage = Stage::Showing { slice: 4, until: 9 };
		}
		assert_eq!(claims.step(&mut again()).await.unwrap(), Progress::Committed);
		assert!(memory.world().blobs.contains_key(&record.root));
		{
			let mut world = memory.world();
			world.blobs.insert(root, slice);
			world.view.stage = Stage::Counting { slice: 4, until: 19 };
		}
		let Progress::Said(new, base) = claims.step(&mut again()).await.unwrap() else { panic!() };
		let said = memory.world().said.remove(0);
		assert_eq!((said.1, said.2.new, said.2.base, said.3), (7, new, base, record.salt.0));
		assert_eq!((new.labels, base.labels), (40, 40));
		assert_eq!(said.2.content, trainyard_protocol::content::hash(&model(9)));
		assert!(!said.2.pieces.is_empty() && said.2.promise.is_none());
		memory.world().view.claims.clear();
		assert_eq!(claims.step(&mut again()).await.unwrap(), Progress::Over);
		claims.forget(&again()).unwrap();
		assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
	}

	#[tokio::test]
	async fn a_round_that_goes_on_is_waited_for_and_a_missed_one_is_said() {
		let dir = tempfile::tempdir().unwrap();
		let memory = Memory::new(Payer::Budget, true);
		let seat = memory.seen_by(1);
		let layout =
			Layout::of(&super::super::learner::plain(&memory.world().view.template).unwrap());
		let claims = Claims::open(&seat, dir.path()).unwrap();
		assert!(claims.prepare(&layout, &model(9)[1..], None).is_err());
		let mut record = claims.prepare(&layout, &model(9), None).unwrap();
		memory.world().view.stage = Stage::Challenging { slice: 4, until: 9 };
		assert_eq!(claims.step(&mut record).await.unwrap(), Progress::NoRoom);
		memory.world().view.claims.push(claim_view(7, record.commitment));
		assert!(matches!(claims.step(&mut record).await, Err(ClaimError::Late(_))));
	}
}
