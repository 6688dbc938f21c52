//! What whoever opened a swarm does while it runs: shows slices that are drawn, and has false counts measured.

use super::{
	board::{Board, BoardError},
	chain::OnChain,
	claim::{count_by, ClaimError},
	learner::{self, LearnError},
	open::kept,
};
use crate::roles::{
	common::bundles::{fetch_bundle, servers, SourceError},
	fetch::Fetcher,
	report::Reporter,
	submit::with_audit_fee,
};
use serde_json::json;
use std::{
	collections::BTreeSet,
	path::{Path, PathBuf},
	time::Duration,
};
use tracing::warn;
use trainyard_client::{swarm as calls, swarm::SwarmView, AccountId32, TxError};
use trainyard_program::spec::{FileRef, InitialModel, ON_CHAIN};
use trainyard_proof::bundle::{
	files::{self, FileError},
	manifest::Manifest,
	Bundle,
};
use trainyard_protocol::{
	accusation::{Leaf, LeafContent},
	federation,
	job::Balance,
	merkle,
	model_file::Layout,
	swarm::{self, ClaimView, Count, Model, Stage, MAX_FAILURES},
	Text, H256,
};

/// A model in doubt, as the chain has it.
type DoubtView = swarm::DoubtView<AccountId32>;

/// Pause between two looks at the chain.
const PAUSE: Duration = Duration::from_secs(6);

/// Says why a swarm cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
	/// The chain cannot be asked.
	#[error(transparent)]
	Board(#[from] BoardError),
	/// A transaction failed.
	#[error(transparent)]
	Tx(#[from] TxError),
	/// A file cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
	/// The result of a job that measured something cannot be fetched.
	#[error(transparent)]
	Source(#[from] SourceError),
	/// Counts cannot be checked.
	#[error(transparent)]
	Claim(#[from] ClaimError),
	/// The template on chain is not valid here.
	#[error(transparent)]
	Learn(#[from] LearnError),
	/// A slice that was drawn is not here.
	#[error(
		"slice {number} was drawn and is not in {}: put its file there, under its root, or its deposit is lost",
		.path.display()
	)]
	NoSlice {
		/// Its number.
		number: u32,
		/// Where it should be.
		path: PathBuf,
	},
}

/// What is to be done about a claim, by what was counted here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
	/// The claim.
	pub claim: u32,
	/// The model of which something false is said.
	pub model: Model,
	/// What is said.
	pub said: Count,
	/// What is so.
	pub counted: Count,
}

/// Returns which counts of a claim are false, where both of its models were counted.
pub fn doubts(claim: &ClaimView<AccountId32>, counted: [Count; 2]) -> Vec<Doubt> {
	let Some((new, base)) = claim.counts else { return Vec::new() };
	let of = |model: Option<Model>, said: Count, counted: Count| {
		let model = model.filter(|_| said != counted)?;
		Some(Doubt { claim: claim.number, model, said, counted })
	};
	let [of_new, of_base] = counted;
	of(claim.model, new, of_new).into_iter().chain(of(claim.base, base, of_base)).collect()
}

/// Somebody who watches a swarm.
pub struct Watcher {
	board: OnChain,
	folder: PathBuf,
	report: Reporter,
	fetcher: Fetcher,
	/// Claims of a round that were looked at.
	looked: BTreeSet<(u32, u32)>,
}

impl Watcher {
	/// Watches with the files in `folder`, where [`slices`](super::open::slices) put them.
	/// Results of jobs that measured something come by `fetcher`.
	pub fn new(
		board: OnChain,
		folder: &Path,
		report: Reporter,
		fetcher: Fetcher,
	) -> Result<Self, WatchError> {
		files::create_private_folder(folder)?;
		let (folder, looked) = (folder.to_owned(), BTreeSet::new());
		Ok(Self { board, folder, report, fetcher, looked })
	}

	/// Watches until the swarm has ended. What fails is said, and tried again.
	pub async fn run(mut self) -> Result<(), WatchError> {
		let mut last = String::new();
		loop {
			match self.look().await {
				Ok(true) => return Ok(()),
				Ok(false) => {}
				Err(WatchError::Board(e))
					if e.is_final() || matches!(e, BoardError::Unknown(_)) =>
				{
					return Err(e.into());
				}
				Err(e) => {
					let text = e.to_string();
					if text != last {
						warn!("{text}; trying again");
						last = text;
					}
				}
			}
			tokio::time::sleep(PAUSE).await;
		}
	}

	/// Does what the chain waits for; returns whether the swarm has ended.
	pub async fn look(&mut self) -> Result<bool, WatchError> {
		let view = self.board.swarm().await?;
		match view.stage {
			Stage::Showing { slice, .. } => self.show(&view, slice).await?,
			Stage::Challenging { slice, .. } => {
				self.check(&view, slice).await?;
				self.testify(&view).await?;
			}
			Stage::Ended => return Ok(true),
			_ => {}
		}
		Ok(false)
	}

	/// Stores a slice that was drawn, if it is of this account.
	async fn show(&self, view: &SwarmView, number: u32) -> Result<(), WatchError> {
		let slice = view.slices.iter().find(|slice| slice.number == number);
		let Some(slice) = slice.filter(|slice| slice.owner == *self.board.me()) else {
			return Ok(());
		};
		let path = kept(&self.folder, &slice.data);
		if !path.is_file() {
			return Err(WatchError::NoSlice { number, path });
		}
		// Chunks that are there already are not sent once more.
		self.board.store(&files::read(&path, slice.data.file.bytes)?).await?;
		let text = format!("slice {number} is on chain");
		self.report.general("shown", &text, json!({ "slice": number }));
		Ok(())
	}

	/// Counts what claimants counted, and has the market measure what is false.
	async fn check(&mut self, view: &SwarmView, slice: u32) -> Result<(), WatchError> {
		let spec = learner::plain(&view.template).map_err(LearnError::from)?;
		let (size, mut failed) = (Layout::of(&spec).size, None);
		let mut challenged = BTreeSet::new();
		for claim in &view.claims {
			if self.looked.contains(&(view.round, claim.number)) {
				continue;
			}
			// A claim that cannot be counted keeps nobody from the others.
			match self.check_one(view, slice, claim, size, &mut challenged).await {
				Ok(()) => {
					self.looked.insert((view.round, claim.number));
				}
				Err(e) => failed = Some(e),
			}
		}
		failed.map_or(Ok(()), Err)
	}

	async fn check_one(
		&self,
		view: &SwarmView,
		slice: u32,
		claim: &ClaimView<AccountId32>,
		size: u64,
		challenged: &mut BTreeSet<H256>,
	) -> Result<(), WatchError> {
		let (Some(new), Some(base)) = (claim.model, claim.base) else { return Ok(()) };
		let models =
			vec![self.board.blob(new.root, size).await?, self.board.blob(base.root, size).await?];
		let path = self.folder.join(format!("slice-{slice}"));
		let counts = count_by(&self.board, view, slice, &path, models).await?;
		let [of_new, of_base] = counts[..] else { return Ok(()) };
		for doubt in doubts(claim, [of_new, of_base]) {
			// Two claims, or both counts of one, may be about one model.
			if challenged.insert(doubt.model.root) {
				self.challenge(view, &doubt).await?;
			}
		}
		Ok(())
	}

	async fn challenge(&self, view: &SwarmView, doubt: &Doubt) -> Result<(), WatchError> {
		let known = view.doubts.iter().find(|known| known.model == doubt.model);
		let taken = |known: &DoubtView| {
			let measured = known.challenge.is_some() || known.proven.is_some();
			measured || known.failures >= MAX_FAILURES
		};
		if known.is_some_and(taken) {
			return Ok(());
		}
		let sender = self.board.sender();
		let fee = self.fee(view, &doubt.model).await?;
		sender.run(&calls::challenge(view.id, &doubt.model, fee)).await?;
		let Doubt { claim, model, said, counted } = doubt;
		let root = model.root;
		let text = format!(
			"challenged claim {claim}: of model {root:?} it says {} of {} are right, and it is {}",
			said.correct, said.labels, counted.correct
		);
		let fields = json!({ "claim": claim, "model": root, "said": said, "counted": counted });
		self.report.general("challenged", &text, fields);
		Ok(())
	}

	/// Returns what the market asks for auditing the job that measures a model.
	async fn fee(&self, view: &SwarmView, model: &Model) -> Result<Balance, WatchError> {
		let Stage::Challenging { slice, .. } = view.stage else { return Ok(0) };
		let slice = view.slices.iter().find(|known| known.number == slice);
		let data = &slice.ok_or(ClaimError::Slice(0))?.data;
		let size = Layout::of(&learner::plain(&view.template).map_err(LearnError::from)?).size;
		let location = Text::new(ON_CHAIN).unwrap_or_default();
		let file = FileRef { content_hash: model.root, bytes: size, location };
		let initial = InitialModel { file, parameters: model.parameters };
		let spec = federation::spec_of_part(&view.template, data, &initial);
		let spec = spec.check().map_err(LearnError::from)?;
		let chain = self.board.sender().chain();
		let terms = with_audit_fee(chain, &spec, &view.plan.appeal).await;
		Ok(terms.map_err(BoardError::from)?.audit_fee)
	}

	/// Shows what the jobs of challenges counted, as soon as their audits accepted a result.
	async fn testify(&self, view: &SwarmView) -> Result<(), WatchError> {
		for DoubtView { model, challenge, .. } in &view.doubts {
			let Some((_, number)) = challenge else { continue };
			let chain = self.board.sender().chain();
			let job = chain.job(*number).await.map_err(BoardError::from)?;
			let Some(job) = job else { continue };
			let mut accepted = job.replicas.iter().filter(|replica| replica.fate.is_true());
			let Some(reveal) = accepted.find_map(|replica| replica.reveal.as_ref()) else {
				continue;
			};
			let (result, folder) = (reveal.result(), self.folder.join(format!("job-{}", job.id)));
			files::create_folder(&folder)?;
			let mut last = None;
			for server in servers(&job, &result) {
				match fetch_bundle(&self.fetcher, &server, &result, &[], &folder, 0).await {
					Ok(()) => {
						last = None;
						break;
					}
					Err(e) => last = Some(e),
				}
			}
			if let Some(e) = last {
				return Err(e.into());
			}
			let manifest = Bundle::open(&folder).ok().map(|bundle| bundle.manifest().clone());
			let Some(leaf) = manifest.as_ref().and_then(first_leaf) else { continue };
			let sender = self.board.sender();
			sender.run(&calls::testify(view.id, model, &leaf)).await?;
			let text = format!("it was shown what job {} counted of {:?}", job.id, model.root);
			let fields = json!({ "model": model.root, "job": job.id });
			self.report.general("testified", &text, fields);
		}
		Ok(())
	}
}

/// Returns the first leaf of a bundle, which says what the model counted with which it began.
fn first_leaf(manifest: &Manifest) -> Option<Leaf> {
	let leaves = manifest.leaves();
	let hashes: Vec<H256> = leaves.iter().map(LeafContent::leaf).collect();
	let path = merkle::proof(&hashes, 0)?.try_into().ok()?;
	Some(Leaf { content: *leaves.first()?, path })
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::swarm::testing::account;

	#[test]
	fn a_count_that_is_false_either_way_is_doubted() {
		let count = |correct| Count { correct, labels: 50 };
		let model = |n| Some(Model { root: H256::repeat_byte(n), parameters: H256::zero() });
		let claim = ClaimView {
			number: 3,
			claimant: account(1),
			commitment: H256::zero(),
			model: model(1),
			base: model(2),
			counts: Some((count(40), count(30))),
			payer: None,
			remote: None,
			refuter: None,
		};
		assert_eq!(doubts(&claim, [count(40), count(30)]), []);
		let both = doubts(&claim, [count(39), count(31)]);
		let roots: Vec<H256> = both.iter().map(|doubt| doubt.model.root).collect();
		assert_eq!(roots, [H256::repeat_byte(1), H256::repeat_byte(2)]);
		assert_eq!(both[0].counted, count(39));
		assert_eq!(doubts(&claim, [count(40), count(29)]).len(), 1);
		let unsaid = ClaimView { counts: None, ..claim };
		assert_eq!(doubts(&unsaid, [count(1), count(1)]), []);
	}
}
