//! What seats and others ask for of results, and what trainers store of that.

use crate::{
	jobs::{Ask, Model, Say, Voice},
	scene::{Party, Scene},
};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	audit::{AuditPhase, Leaves, Piece, Pieces},
	job::WorkResult,
	views::AuditView,
	JobId,
};
use trainyard_runtime::{AccountId, Balance, Runtime, RuntimeCall};

/// All that a replay of these segments of a result reads, or can read.
pub fn read_by(segments: &[u32], result: &WorkResult) -> Pieces {
	let last = result.segments;
	let ends = segments.iter().flat_map(|segment| [*segment, segment + 1]);
	let mut pieces: Vec<Piece> = ends.chain([last]).map(Piece::State).collect();
	pieces.retain(|piece| *piece <= Piece::State(last));
	pieces.extend([Piece::Manifest, Piece::Files]);
	if !result.diverged {
		pieces.push(Piece::Searched);
	}
	pieces.sort();
	pieces.dedup();
	pieces.try_into().expect("a seat reads no more")
}

/// What one says who waits.
pub fn silence(_: &Ask) -> Option<Say> {
	None
}

impl Scene {
	/// Takes a job to its audit's committee, before that commits.
	pub fn seated(&mut self, job: JobId) -> AuditView<AccountId> {
		self.reaches(job, &silence, |phase| matches!(phase, AuditPhase::Committing { .. }))
	}

	/// Lets the seats wait until trainers have to store what is asked for.
	pub fn window(&mut self, job: JobId) -> AuditView<AccountId> {
		self.reaches(job, &silence, |phase| matches!(phase, AuditPhase::Rescue { .. }))
	}

	/// Takes a job to such a phase of its audit.
	pub fn reaches(
		&mut self,
		job: JobId,
		voice: Voice,
		phase: fn(&AuditPhase) -> bool,
	) -> AuditView<AccountId> {
		let there = |audit: &AuditView<AccountId>| phase(&audit.phase);
		let view = self.until(job, voice, |view| view.audit.as_ref().is_some_and(there));
		view.audit.expect("it runs")
	}

	/// Who sits on this committee, in the order drawn.
	pub fn seats(&self, audit: &AuditView<AccountId>) -> Vec<Party> {
		let party = |who: &AccountId| self.parties.iter().find(|party| party.account == *who);
		audit.committee.iter().filter_map(|seat| party(&seat.verifier)).cloned().collect()
	}

	/// All that a seat of this committee reads of the only result of `job`.
	pub fn read_by(&self, job: JobId, audit: &AuditView<AccountId>, party: &Party) -> Pieces {
		let result = &audit.groups[0].result;
		read_by(&self.seat(job, audit, party).wanted(0, result, &[]), result)
	}

	/// The leaves of all that is asked for of the only result of `job`.
	pub fn leaves(&self, job: JobId, audit: &AuditView<AccountId>) -> Leaves {
		let group = &audit.groups[0];
		self.delivered(job, &group.result.bundle_root).states(&group.asked)
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
