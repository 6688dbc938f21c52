//! Follows a set to its end, and shows what its members score as their jobs end.
//!
//! All that it needs is on chain and with the trainers, so it can be killed at any time and goes on where the set
//! stands.

use super::tell::{changes, Change};
use crate::{
	federate::made::{Made, MadeError},
	roles::{
		blocks::{next_block, Complaints},
		common::bundles::{fetch_bundle, servers, SourceError},
		fetch::Fetcher,
		report::Reporter,
	},
};
use serde_json::json;
use std::path::{Path, PathBuf};
use tracing::warn;
use trainyard_client::{
	blobs::{self, BlobError},
	sets as calls, ChainError, SetView, Transactor, TxError, MORTALITY,
};
use trainyard_program::spec::{JobSpec, SpecError};
use trainyard_proof::bundle::{
	files::{self, FileError},
	Bundle,
};
use trainyard_protocol::{
	accusation::{Leaf, LeafContent},
	job::WorkResult,
	merkle,
	model_file::Layout,
	sets::{Run, SetId, Stage},
	JobId, H256,
};

/// Says why a set cannot be followed, or why something of it could not be done.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
	/// The chain knows no such set.
	#[error("the chain knows no set {0}; ended ones are forgotten after a while")]
	Unknown(SetId),
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// A transaction failed.
	#[error(transparent)]
	Tx(#[from] TxError),
	/// A model cannot be read.
	#[error(transparent)]
	Blob(#[from] BlobError),
	/// A file of the folder cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
	/// A model is not as it should be.
	#[error(transparent)]
	Made(#[from] MadeError),
	/// The bundle of a result cannot be fetched.
	#[error("the bundle of job {job}: {error}")]
	Source {
		/// The job.
		job: JobId,
		/// Why.
		error: SourceError,
	},
	/// Nobody serves the bundle of a result.
	#[error("no trainer of job {0} says where its bundle is served")]
	NoServer(JobId),
	/// The bundle of a result has no such leaf.
	#[error("the bundle of job {0} has no last checkpoint")]
	NoLeaf(JobId),
	/// The specification on chain is not valid here.
	#[error("the specification on chain is not valid: {0}")]
	Spec(#[from] SpecError),
}

/// Somebody who follows a set.
pub struct Follower<'a> {
	sender: &'a Transactor,
	id: SetId,
	folder: PathBuf,
	report: Reporter,
	fetcher: Fetcher,
}

impl<'a> Follower<'a> {
	/// Makes a follower that keeps what it fetches in `folder`.
	pub fn new(
		sender: &'a Transactor,
		id: SetId,
		folder: &Path,
		report: Reporter,
		fetcher: Fetcher,
	) -> Self {
		Self { sender, id, folder: folder.to_owned(), report, fetcher }
	}

	/// Follows it until it has ended, and returns its last view. What fails on the way is said, and tried again at
	/// the next block.
	pub async fn run(self) -> Result<SetView, FollowError> {
		files::create_folder(&self.folder)?;
		let chain = self.sender.chain().clone();
		let (mut before, mut seen, mut absent) = (None::<SetView>, None, 0u64);
		let (mut complaints, mut last) = (Complaints::default(), String::new());
		loop {
			let head = next_block(&chain, seen).await?;
			seen = Some(head.hash);
			let now = match chain.job_set(self.id).await {
				Ok(Some(view)) => view,
				// After a fork it comes back while its transaction may still be included.
				Ok(None) if absent < MORTALITY => {
					absent += 1;
					continue;
				}
				Ok(None) => return Err(FollowError::Unknown(self.id)),
				Err(e) => {
					complaints.tolerate(&chain, e.into()).await?;
					continue;
				}
			};
			absent = 0;
			for Change { event, text, mut fields } in changes(before.as_ref(), &now) {
				fields["set"] = json!(self.id);
				self.report.general(event, &format!("set {}: {text}", self.id), fields);
			}
			match now.stage {
				Stage::Ended(_) => return Ok(now),
				Stage::Training | Stage::Showing { .. } => {
					let failed = self.show_all(&now).await.map(|error| error.to_string());
					let text = failed.unwrap_or_default();
					if text != last && !text.is_empty() {
						warn!("{text}; trying again at the next block");
					}
					last = text;
				}
				Stage::Drawing { .. } => {}
			}
			before = Some(now);
		}
	}

	/// Shows what can be shown. One that cannot be keeps nobody from the others; the last error is returned.
	async fn show_all(&self, view: &SetView) -> Option<FollowError> {
		let mut failed = None;
		for (number, wanted) in wanted(view, view.submitter == *self.sender.account()) {
			if let Err(error) = self.show(view, number, wanted).await {
				failed = Some(error);
			}
		}
		failed
	}

	async fn show(&self, view: &SetView, number: u32, wanted: Wanted) -> Result<(), FollowError> {
		let Wanted { job, result, parameters } = wanted;
		let leaf = self.leaf(job, &result).await?;
		let said = match parameters {
			true => Some(self.parameters(view, number, &result.model_root).await?),
			false => None,
		};
		match self.sender.run(&calls::show(self.id, number, &leaf, said)).await {
			Ok(_) => {}
			// Somebody was faster.
			Err(error) if error.failed_with("AlreadyShown") => return Ok(()),
			Err(error) => return Err(error.into()),
		}
		let text = format!("set {}: showed the score of member {number}", self.id);
		let fields = json!({ "set": self.id, "member": number, "job": job });
		self.report.general("shown_own", &text, fields);
		Ok(())
	}

	/// Returns the last leaf of a result, from the manifest of whoever serves it.
	async fn leaf(&self, number: JobId, result: &WorkResult) -> Result<Leaf, FollowError> {
		let folder = self.folder.join(format!("job-{number}"));
		files::create_folder(&folder)?;
		let job = self.sender.chain().job(number).await?.ok_or(FollowError::NoServer(number))?;
		let mut last = Err(FollowError::NoServer(number));
		for server in servers(&job, result) {
			match fetch_bundle(&self.fetcher, &server, result, &[], &folder, 0).await {
				Ok(()) => {
					last = Ok(());
					break;
				}
				Err(error) => last = Err(FollowError::Source { job: number, error }),
			}
		}
		last?;
		let leaves = Bundle::open(&folder).ok().map(|bundle| bundle.manifest().leaves());
		leaves.and_then(|leaves| last_leaf(&leaves, result)).ok_or(FollowError::NoLeaf(number))
	}

	/// Returns the state hash of the parameters of a member's model, which is on chain.
	async fn parameters(
		&self,
		view: &SetView,
		number: u32,
		root: &H256,
	) -> Result<H256, FollowError> {
		let member = view.members.get(number as usize).ok_or(FollowError::Unknown(self.id))?;
		let spec = JobSpec { initial_model: None, ..member.spec.clone() };
		let layout = Layout::of(&spec.check()?);
		let bytes = blobs::load(self.sender.chain(), *root, layout.size).await?;
		Ok(Made::of(&layout, bytes)?.parameters)
	}
}

/// Something that is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
	job: JobId,
	result: WorkResult,
	/// Whether the parameters of its model are to be said.
	parameters: bool,
}

/// Returns the members of which something is to be shown; the parameters by the submitter alone, and where another
/// generation comes.
fn wanted(view: &SetView, is_submitter: bool) -> Vec<(u32, Wanted)> {
	let more = !view.stopping && view.generation.saturating_add(1) < view.plan.generations;
	let says = more && is_submitter;
	let of = |run: &Run| match *run {
		Run::Accepted { job, result } => Some(Wanted { job, result, parameters: says }),
		Run::Shown { job, result, parameters: None, .. } if says => {
			Some(Wanted { job, result, parameters: true })
		}
		_ => None,
	};
	let all = (0u32..).zip(&view.members);
	all.filter_map(|(at, member)| Some((at, of(&member.run)?))).collect()
}

/// Returns the leaf of the last checkpoint of a result that did not diverge, with its path.
fn last_leaf(leaves: &[LeafContent], result: &WorkResult) -> Option<Leaf> {
	let hashes: Vec<H256> = leaves.iter().map(LeafContent::leaf).collect();
	let at = result.segments as usize;
	let path = merkle::proof(&hashes, at)?.try_into().ok()?;
	Some(Leaf { content: *leaves.get(at)?, path })
}

#[cfg(test)]
mod tests {
	use super::{super::tell::tests::*, *};
	use trainyard_protocol::bundle::{Checkpoint, Evaluation};

	#[test]
	fn what_is_accepted_is_shown_and_parameters_where_more_comes() {
		let mut view = view();
		let (score, own) = (Evaluation::new(0.5, 1, 2), result(1));
		view.members[0].run = Run::Accepted { job: 5, result: own };
		view.members[1].run = Run::Shown { job: 6, result: own, score, parameters: None };
		let first = Wanted { job: 5, result: own, parameters: true };
		let second = Wanted { job: 6, ..first };
		assert_eq!(wanted(&view, true), [(0, first), (1, second)]);
		let plain = Wanted { parameters: false, ..first };
		assert_eq!(wanted(&view, false), [(0, plain)]);
		view.generation = 1;
		assert_eq!(wanted(&view, true), [(0, plain)], "in the last generation");
		view.generation = 0;
		view.stopping = true;
		assert_eq!(wanted(&view, true), [(0, plain)]);
	}

	#[test]
	fn the_last_leaf_opens_under_the_root() {
		let leaves: Vec<LeafContent> = (0..4)
			.map(|step| {
				let evaluation = Evaluation::new(0.5, step, 9);
				let (state, trace) = (H256::zero(), H256::zero());
				LeafContent::Checkpoint(Checkpoint { step, state, evaluation, trace })
			})
			.collect();
		let hashes: Vec<H256> = leaves.iter().map(LeafContent::leaf).collect();
		let result = WorkResult { bundle_root: merkle::root(&hashes), ..result(1) };
		let leaf = last_leaf(&leaves, &result).unwrap();
		let hash = leaf.content.leaf();
		assert!(merkle::verify(&result.bundle_root, &hash, 3, result.leaves(), &leaf.path));
		assert!(last_leaf(&leaves[..3], &result).is_none());
	}
}
