//! What results are made of, what seats ask for of them, and what trainers store of that.
//!
//! Nothing is trained here: each state of a result hashes to the same byte, again and again. So the
//! root of a result has leaves, which a trainer must show when it stores a state.

use crate::{
	jobs::{Ask, Model},
	scene::{Party, Scene},
};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	audit::{AuditPhase, GroupVerdict, Leaf, Leaves, Piece, Pieces},
	bundle::{bundle_leaves, bundle_root, Checkpoint, Diverged, Evaluation},
	job::WorkResult,
	merkle,
	views::{AuditView, GroupView},
	JobId, H256,
};
use trainyard_runtime::{AccountId, Balance, Runtime, RuntimeCall};

/// The checkpoints of a result with that many segments, whose states are of this byte.
fn checkpoints(byte: u8, segments: u32) -> impl Iterator<Item = Checkpoint> {
	(0..=segments).map(move |step| Checkpoint {
		step,
		state: H256::repeat_byte(byte),
		evaluation: Evaluation::new(1.0, step, 1_000),
		trace: H256::repeat_byte(byte),
	})
}

/// What such a result says of where training diverged, if it says that it did.
fn end(byte: u8, segments: u32, diverged: bool) -> Option<Diverged> {
	diverged.then(|| Diverged { step: segments, trace: H256::repeat_byte(byte) })
}

/// The root of such a result.
pub fn root(byte: u8, segments: u32, diverged: bool) -> H256 {
	bundle_root(checkpoints(byte, segments), end(byte, segments, diverged))
}

/// Returns whether a result is of this byte.
pub fn is_of(byte: u8, result: &WorkResult) -> bool {
	result.bundle_root == root(byte, result.segments, result.diverged)
}

/// All that an audit of this result reads.
pub fn everything(group: &GroupView) -> Pieces {
	let last = group.result.segments;
	let ends = group.drawn.iter().flat_map(|segment| [*segment, segment + 1]);
	let mut pieces: Vec<Piece> = ends.chain([last]).map(Piece::State).collect();
	pieces.retain(|piece| *piece <= Piece::State(last));
	pieces.extend([Piece::Manifest, Piece::Files, Piece::Searched]);
	pieces.sort();
	pieces.dedup();
	pieces.try_into().expect("an audit reads no more")
}

/// The leaves of what is asked for of a result, where its states are of this byte.
pub fn leaves(byte: u8, group: &GroupView) -> Leaves {
	let WorkResult { segments, diverged, .. } = group.result;
	let all: Vec<Checkpoint> = checkpoints(byte, segments).collect();
	let hashes = bundle_leaves(all.iter().copied(), end(byte, segments, diverged));
	let leaf = |piece: &Piece| {
		let Piece::State(index) = *piece else { return None };
		let path = merkle::proof(&hashes, index as usize)?.try_into().ok()?;
		Some(Leaf { index, checkpoint: all[index as usize], path })
	};
	let leaves: Vec<Leaf> = group.asked.iter().filter_map(leaf).collect();
	leaves.try_into().expect("there are few")
}

/// What one says who waits.
pub fn silence(_: &Ask) -> Option<GroupVerdict> {
	None
}

impl Scene {
	/// Takes a job to its audit's committee, before that commits.
	pub fn seated(&mut self, job: JobId) -> AuditView<AccountId> {
		self.reaches(job, |phase| matches!(phase, AuditPhase::Committing { .. }))
	}

	/// Lets the seats wait until trainers have to store what is asked for.
	pub fn window(&mut self, job: JobId) -> AuditView<AccountId> {
		self.reaches(job, |phase| matches!(phase, AuditPhase::Rescue { .. }))
	}

	fn reaches(&mut self, job: JobId, phase: fn(&AuditPhase) -> bool) -> AuditView<AccountId> {
		let there = |audit: &AuditView<AccountId>| phase(&audit.phase);
		let view = self.until(job, &silence, |view| view.audit.as_ref().is_some_and(there));
		view.audit.expect("it runs")
	}

	/// Who sits on this committee, in the order drawn.
	pub fn seats(&self, audit: &AuditView<AccountId>) -> Vec<Party> {
		let party = |who: &AccountId| self.parties.iter().find(|party| party.account == *who);
		audit.committee.iter().filter_map(|seat| party(&seat.verifier)).cloned().collect()
	}

	/// The bytes of what an honest trainer stores of these pieces of the only result of `job`, and
	/// their price. Nothing stands still, so there are no states that show where that began.
	pub fn archive(&mut self, job: JobId, pieces: &Pieces) -> (usize, Balance) {
		let audit = self.chain.state(|| pallet_verification::AuditRecords::<Runtime>::get(job));
		let audit = audit.expect("it runs");
		let stored = pieces.iter().copied().filter(|piece| *piece != Piece::Searched);
		let bytes = audit.sizes.sum(stored, audit.groups[0].result.segments);
		(bytes as usize, Balance::from(bytes) * audit.storage_byte)
	}

	/// `trainer` says that it is going to store a blob for what is asked of the only result of `job`,
	/// stores it, and says so again, with these leaves. Returns the first answer that refuses it.
	pub fn store(
		&mut self,
		trainer: &Party,
		job: JobId,
		blob: &Model,
		leaves: &Leaves,
	) -> Result<(), DispatchError> {
		let name = name(job, blob, leaves);
		self.call(trainer, name.clone())?;
		self.bring(trainer, std::iter::once(&blob.register).chain(&blob.uploads));
		self.call(trainer, name)
	}

	/// `trainer` makes these calls, as many in each block as have room there.
	pub fn bring<'a>(&mut self, trainer: &Party, calls: impl Iterator<Item = &'a RuntimeCall>) {
		let mut calls = calls.peekable();
		while calls.peek().is_some() {
			self.begin();
			while let Some(call) = calls.peek() {
				match self.send(trainer, RuntimeCall::clone(call)) {
					Some(result) => result.expect("it may be stored"),
					None => break,
				}
				calls.next();
			}
			self.end();
		}
	}
}

/// The call by which a trainer says that it stores `blob` for what is asked of the only result of
/// `job`, or has stored it.
pub fn name(job: JobId, blob: &Model, leaves: &Leaves) -> RuntimeCall {
	let (blob, leaves) = (blob.root, leaves.clone());
	pallet_verification::Call::rescue { job, group: 0, blob, leaves }.into()
}

/// The call by which a seat asks for these pieces of the only result of `job`.
pub fn request(job: JobId, pieces: &Pieces) -> RuntimeCall {
	pallet_verification::Call::request { job, group: 0, pieces: pieces.clone() }.into()
}

/// The call by which it says that it has them.
pub fn withdraw(job: JobId) -> RuntimeCall {
	pallet_verification::Call::withdraw_request { job, group: 0 }.into()
}
