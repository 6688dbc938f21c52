//! Follows a federation to its end: proposes the aggregate of each round, and refutes false proposals.

use super::made::{self, Fault, Made, MadeError, Mean};
use crate::roles::{
	blocks::{next_block, Complaints},
	report::Reporter,
};
use serde_json::{json, Value};
use std::{
	collections::HashSet,
	path::{Path, PathBuf},
};
use tracing::warn;
use trainyard_client::{
	blobs::{self, BlobError},
	federation as calls, ChainError, FederationView, ProposalView, Transactor, TxError, MORTALITY,
};
use trainyard_program::spec::SpecError;
use trainyard_proof::bundle::files::{self, FileError};
use trainyard_protocol::{
	federation::{self, FederationId, Stage, MAX_PROPOSALS},
	model_file::Layout,
	H256,
};

/// Says why a federation cannot be followed, or why something of it could not be done.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
	/// The chain knows no such federation.
	#[error("the chain knows no federation {0}; ended ones are forgotten after a while")]
	Unknown(FederationId),
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// A transaction failed.
	#[error(transparent)]
	Tx(#[from] TxError),
	/// A model cannot be read or stored.
	#[error(transparent)]
	Blob(#[from] BlobError),
	/// A file of the folder cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
	/// A model is not as it should be.
	#[error(transparent)]
	Made(#[from] MadeError),
	/// The specification on chain is not valid here.
	#[error("the specification on chain is not valid: {0}")]
	Spec(#[from] SpecError),
	/// The chain says that a proposal stands, and has no pieces of it.
	#[error("proposal {0} was removed meanwhile")]
	Gone(u32),
}

/// What a follower does of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Does {
	/// Proposes aggregates.
	pub proposes: bool,
	/// For tests: proposes a false aggregate of the first round that it sees, refutes nothing, and proposes
	/// nothing more.
	pub lies: bool,
}

/// Somebody who follows a federation.
pub struct Follower<'a> {
	sender: &'a Transactor,
	id: FederationId,
	folder: PathBuf,
	report: Reporter,
	does: Does,
	/// The round's aggregate, once made.
	made: Option<(u32, Layout, Made)>,
	/// Proposals that are true, or that were refuted.
	judged: HashSet<u32>,
}

impl<'a> Follower<'a> {
	/// Makes a follower that keeps models in `folder`.
	pub fn new(
		sender: &'a Transactor,
		id: FederationId,
		folder: &Path,
		report: Reporter,
		does: Does,
	) -> Self {
		let (folder, made, judged) = (folder.join("models"), None, HashSet::new());
		Self { sender, id, folder, report, does, made, judged }
	}

	/// Follows it until it has ended, and returns its last view. What fails on the way is said, and tried again at
	/// the next block.
	pub async fn run(mut self) -> Result<FederationView, FollowError> {
		files::create_folder(&self.folder)?;
		let chain = self.sender.chain().clone();
		let (mut before, mut seen, mut absent) = (None::<FederationView>, None, 0u64);
		let (mut complaints, mut last) = (Complaints::default(), String::new());
		loop {
			let head = next_block(&chain, seen).await?;
			seen = Some(head.hash);
			let now = match chain.federation(self.id).await {
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
				fields["federation"] = json!(self.id);
				self.report.general(event, &format!("federation {}: {text}", self.id), fields);
			}
			match now.stage {
				Stage::Ended(_) => return Ok(now),
				Stage::Aggregating => {
					if let Err(error) = self.judge_and_propose(&now).await {
						let text = error.to_string();
						if text != last {
							warn!("{text}; trying again at the next block");
							last = text;
						}
					}
				}
				Stage::Training | Stage::Finishing => {}
			}
			before = Some(now);
		}
	}

	/// Refutes what is false, and proposes what is true where nobody has.
	async fn judge_and_propose(&mut self, view: &FederationView) -> Result<(), FollowError> {
		if self.made.as_ref().is_none_or(|(round, ..)| *round != view.round) {
			self.made = Some(self.make(view).await?);
			self.judged.clear();
		}
		let Some((_, layout, made)) = self.made.take() else { return Ok(()) };
		let done = self.judge_and_propose_by(view, &layout, &made).await;
		self.made = Some((view.round, layout, made));
		done
	}

	async fn judge_and_propose_by(
		&mut self,
		view: &FederationView,
		layout: &Layout,
		made: &Made,
	) -> Result<(), FollowError> {
		if self.does.lies {
			return self.lie(view, layout, made).await;
		}
		let mut is_proposed = false;
		for proposal in &view.proposals {
			let is_true = (proposal.root, proposal.parameters) == (made.root, made.parameters);
			is_proposed |= is_true;
			if is_true || self.judged.contains(&proposal.number) {
				continue;
			}
			self.refute(view, proposal, layout, made).await?;
			self.judged.insert(proposal.number);
		}
		let room = view.proposals.len() < MAX_PROPOSALS as usize;
		if !is_proposed && room && self.does.proposes {
			self.propose(view, made).await?;
		}
		Ok(())
	}

	/// Makes the aggregate of the running round from the models of its parts.
	async fn make(&self, view: &FederationView) -> Result<(u32, Layout, Made), FollowError> {
		let first = view.parts.first().ok_or(FollowError::Unknown(self.id))?;
		let spec = federation::spec_of_part(&view.template, &first.data, &view.initial);
		let layout = Layout::of(&spec.check()?);
		let answers = answers(view);
		let rows: Vec<u32> = answers.iter().map(|(rows, _)| *rows).collect();
		let mut mean = Mean::new(&layout, &rows);
		for (_, root) in &answers {
			mean.take(*root, &self.model(*root, layout.size).await?)?;
		}
		let made = mean.finish()?;
		Ok((view.round, layout, made))
	}

	/// Returns the bytes of a model, from the folder or from the chain.
	async fn model(&self, root: H256, size: u64) -> Result<Vec<u8>, FollowError> {
		let path = self.folder.join(format!("{}.safetensors", hex::encode(root)));
		blobs::load_into(self.sender.chain(), root, size, &path).await?;
		Ok(files::read(&path, size)?)
	}

	/// For tests: proposes what is false in its last byte.
	async fn lie(
		&mut self,
		view: &FederationView,
		layout: &Layout,
		made: &Made,
	) -> Result<(), FollowError> {
		if std::mem::take(&mut self.does.proposes) {
			let mut file = made.file.clone();
			if let Some(byte) = file.last_mut() {
				*byte ^= 1;
			}
			self.propose(view, &Made::of(layout, file)?).await?;
		}
		Ok(())
	}

	async fn propose(&self, view: &FederationView, made: &Made) -> Result<(), FollowError> {
		blobs::store(self.sender, &made.file).await?;
		let call = calls::propose(self.id, &made.content, &made.pieces);
		match self.sender.run(&call).await {
			Ok(_) => {}
			// Somebody was faster.
			Err(error) if error.failed_with("AlreadyProposed") => return Ok(()),
			Err(error) => return Err(error.into()),
		}
		let text = format!("proposed the aggregate {:?} of round {}", made.root, view.round);
		let fields = json!({ "federation": self.id, "round": view.round, "model": made.root });
		self.report.general("proposed_own", &format!("federation {}: {text}", self.id), fields);
		Ok(())
	}

	/// Refutes a proposal that is false.
	async fn refute(
		&self,
		view: &FederationView,
		proposal: &ProposalView,
		layout: &Layout,
		made: &Made,
	) -> Result<(), FollowError> {
		let number = proposal.number;
		let (fault, call) = if proposal.root == made.root {
			let said = self.sender.chain().federation_pieces(self.id, number).await?;
			let said = said.ok_or(FollowError::Gone(number))?;
			let Some(piece) = made.lies_about(&said) else { return Ok(()) };
			let (bytes, siblings) = made::piece(layout, &made.file, piece)?;
			let call = calls::refute_piece(self.id, number, piece, &bytes, &siblings);
			(Fault::Piece(piece), call)
		} else {
			let file = self.model(proposal.root, layout.size).await?;
			let Some(chunk) = made.differs_at(&file) else { return Ok(()) };
			let mut openings = vec![made::opening(&file, chunk)?];
			for (_, root) in answers(view) {
				let part = self.model(root, layout.size).await?;
				openings.push(made::opening(&part, chunk)?);
			}
			(Fault::Chunk(chunk), calls::refute(self.id, number, chunk, &openings))
		};
		match self.sender.run(&call).await {
			Ok(_) => {}
			// Somebody was faster.
			Err(error) if error.failed_with("NoSuchProposal") => return Ok(()),
			Err(error) => return Err(error.into()),
		}
		let place = match fault {
			Fault::Chunk(chunk) => format!("its file is false at KiB {chunk}"),
			Fault::Piece(piece) => format!("what it says of piece {piece} is false"),
		};
		let text = format!("refuted proposal {number} of {}: {place}", proposal.proposer);
		let fields = json!({ "federation": self.id, "proposal": number, "why": place });
		self.report.general("refuted_own", &format!("federation {}: {text}", self.id), fields);
		Ok(())
	}
}

/// Returns the rows that train and the root of each model of the running round, in the order of the parts.
fn answers(view: &FederationView) -> Vec<(u32, H256)> {
	let parts = view.parts.iter();
	parts.filter_map(|part| Some((part.data.train_rows, part.answer?))).collect()
}

/// Something that happened to a federation.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
	/// A word for programs.
	pub event: &'static str,
	/// A line for people.
	pub text: String,
	/// Details for programs, an object.
	pub fields: Value,
}

/// Returns how a stage is called.
pub fn stage(stage: &Stage) -> &'static str {
	use trainyard_protocol::federation::FederationEnding::*;
	match stage {
		Stage::Training => "training",
		Stage::Aggregating => "aggregating",
		Stage::Finishing => "waiting for audits",
		Stage::Ended(Done) => "done",
		Stage::Ended(TooFewParts) => "ended: too few parts answered",
		Stage::Ended(NoAggregate) => "ended: nobody proposed an aggregate",
		Stage::Ended(Tainted) => "ended: a result that counted was false",
		Stage::Ended(Cancelled) => "ended: stopped by its submitter",
	}
}

/// Returns what happened to a federation between two looks.
pub fn changes(before: Option<&FederationView>, now: &FederationView) -> Vec<Change> {
	let mut out = Vec::new();
	let mut say = |event, text: String, fields| out.push(Change { event, text, fields });
	let known = before.map_or(0, |before| before.rounds.len());
	for (at, round) in now.rounds.iter().enumerate().skip(known) {
		let text =
			format!("round {at} has the model {:?}, of {} parts", round.root, round.parts.len());
		say("round", text, json!({ "round": at, "model": round.root, "parts": round.parts.len() }));
	}
	let same_round = before.filter(|before| before.round == now.round);
	if before.is_none_or(|before| (before.stage, before.round) != (now.stage, now.round)) {
		let name = stage(&now.stage);
		let text = match now.stage {
			Stage::Training | Stage::Aggregating => format!("round {}: {name}", now.round),
			Stage::Finishing | Stage::Ended(_) => name.to_owned(),
		};
		say("stage", text, json!({ "stage": now.stage, "round": now.round }));
	}
	for (at, part) in now.parts.iter().enumerate() {
		let then = same_round.and_then(|before| before.parts.get(at));
		if let Some(job) = part.job.filter(|job| then.is_none_or(|then| then.job != Some(*job))) {
			let text = format!("part {at} is job {job}");
			say("part_posted", text, json!({ "part": at, "job": job }));
		}
		if let Some(model) = part.answer.filter(|_| then.is_none_or(|then| then.answer.is_none())) {
			let text = format!("part {at} answered with {model:?}");
			say("part_answered", text, json!({ "part": at, "model": model, "job": part.job }));
		}
		let ended = matches!(now.stage, Stage::Ended(_));
		if part.given_up && !ended && then.is_none_or(|then| !then.given_up) {
			say("part_given_up", format!("part {at} is given up"), json!({ "part": at }));
		}
	}
	let standing = same_round.map_or(&[][..], |before| &before.proposals);
	for proposal in &now.proposals {
		if standing.iter().all(|then| then.number != proposal.number) {
			let ProposalView { number, proposer, root, until, .. } = proposal;
			let text = format!("{proposer} proposed {root:?}, to be refuted until block {until}");
			say(
				"proposed",
				text,
				json!({ "proposal": number, "proposer": proposer, "model": root }),
			);
		}
	}
	if now.stage == Stage::Aggregating {
		for gone in standing {
			if now.proposals.iter().all(|here| here.number != gone.number) {
				let text = format!("proposal {} was refuted", gone.number);
				say("refuted", text, json!({ "proposal": gone.number }));
			}
		}
	}
	if let Some(round) = now.tainted {
		if before.is_none_or(|before| before.tainted != now.tainted) {
			let text = format!("a result of round {round} that counted is false");
			say("tainted", text, json!({ "round": round }));
		}
	}
	out
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::AccountId32;
	use trainyard_program::spec::{InitialModel, JobSpec};
	use trainyard_protocol::{
		federation::{FederationEnding, PartData, PartView, Plan, Round, Rule},
		job::JobState,
	};

	fn view() -> FederationView {
		let template = JobSpec::example();
		let file = template.dataset.file();
		let part = PartView {
			data: PartData {
				file: file.clone(),
				labels: None,
				train_rows: 8,
				validation_rows: 2,
				rows: H256::zero(),
			},
			attempts: 0,
			job: None,
			answer: None,
			given_up: false,
		};
		FederationView {
			id: 3,
			submitter: AccountId32([1; 32]),
			initial: InitialModel { file, parameters: H256::zero() },
			template,
			terms: trainyard_client::fake::job(JobState::Open).terms,
			plan: Plan {
				rounds: 2,
				min_parts: 1,
				rule: Rule::Agreed,
				round_blocks: 9,
				stop_if_tainted: false,
				aggregate_fee: 1,
				max_fee_per_ut: 0,
			},
			stage: Stage::Training,
			round: 0,
			since: 1,
			parts: vec![part.clone(), part],
			proposals: vec![],
			rounds: vec![],
			undecided: 0,
			tainted: None,
			fees: 2,
		}
	}

	fn words(before: Option<&FederationView>, now: &FederationView) -> Vec<&'static str> {
		changes(before, now).into_iter().map(|change| change.event).collect()
	}

	#[test]
	fn every_change_is_said_once() {
		let opened = view();
		assert_eq!(words(None, &opened), ["stage"]);
		assert!(words(Some(&opened), &opened).is_empty());
		let mut posted = opened.clone();
		posted.parts[0].job = Some(7);
		assert_eq!(words(Some(&opened), &posted), ["part_posted"]);
		let mut answered = posted.clone();
		answered.stage = Stage::Aggregating;
		answered.parts[0].answer = Some(H256::zero());
		answered.parts[1].given_up = true;
		let said = ["stage", "part_answered", "part_given_up"];
		assert_eq!(words(Some(&posted), &answered), said);
		let mut proposed = answered.clone();
		let (proposer, root) = (AccountId32([2; 32]), H256::repeat_byte(5));
		let proposal = ProposalView { number: 4, proposer, root, parameters: root, until: 30 };
		proposed.proposals.push(proposal);
		assert_eq!(words(Some(&answered), &proposed), ["proposed"]);
		assert_eq!(words(Some(&proposed), &answered), ["refuted"]);

		let mut next = view();
		next.round = 1;
		let parts = vec![(0, 7, root)].try_into().unwrap();
		next.rounds.push(Round { root, parameters: root, parts, at: 31 });
		// What stood is the model now: nobody refuted it.
		assert_eq!(words(Some(&proposed), &next), ["round", "stage"]);
		let mut tainted = next.clone();
		tainted.tainted = Some(0);
		assert_eq!(words(Some(&next), &tainted), ["tainted"]);
		let mut ended = next.clone();
		ended.stage = Stage::Ended(FederationEnding::Cancelled);
		ended.parts.iter_mut().for_each(|part| part.given_up = true);
		assert_eq!(words(Some(&next), &ended), ["stage"]);
		assert!(changes(Some(&next), &ended)[0].text.contains("stopped by its submitter"));
	}

	#[test]
	fn answers_are_in_the_order_of_the_parts() {
		let mut view = view();
		view.parts[1].answer = Some(H256::repeat_byte(2));
		view.parts[1].data.train_rows = 30;
		assert_eq!(answers(&view), [(30, H256::repeat_byte(2))]);
	}
}
