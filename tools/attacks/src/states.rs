//! What seats and others ask for of results, and what trainers store of that.

use crate::{
	jobs::{Ask, Model, Say, Voice},
	scene::{Party, Scene},
};
use sp_runtime::DispatchError;
use std::{collections::BTreeMap, rc::Rc};
use trainyard_protocol::{
	audit::AuditPhase,
	job::WorkResult,
	pieces::{Answers, Piece, Pieces},
	views::{AuditView, BundleView},
	JobId, H256,
};
use trainyard_runtime::{AccountId, Balance, Runtime, RuntimeCall};
use trainyard_sandbox::bundles::Bundle;

/// All that a replay of these segments of a result reads, but the rows of the data, which everybody has
/// here.
pub fn read_by(segments: &[u32], result: &WorkResult) -> Pieces {
	let last = result.segments;
	let ends = segments.iter().flat_map(|segment| [*segment, segment + 1]);
	let mut pieces: Vec<Piece> = ends.chain([last]).map(Piece::State).collect();
	pieces.retain(|piece| *piece <= Piece::State(last));
	pieces.push(Piece::Leaves);
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

	/// What answers for all that is asked for of the only result of `job`, with files of `bytes` bytes as
	/// states, of which each `number` has others.
	pub fn files(
		&self,
		job: JobId,
		audit: &AuditView<AccountId>,
		bytes: usize,
		number: u32,
	) -> Files {
		let group = &audit.groups[0];
		let delivered = self.delivered(job, &group.result.bundle_root);
		self.files_of(&delivered, &group.asked, bytes, number)
	}

	/// What `who` answers, who is one of several trainers of the only result of `job`: by its own bundle.
	pub fn files_by(
		&self,
		who: &Party,
		job: JobId,
		audit: &AuditView<AccountId>,
		(bytes, number): (usize, u32),
	) -> Files {
		let group = &audit.groups[0];
		let own = |of: &&BundleView<_>| of.trainer == who.account;
		let root = group.bundles.iter().find(own).expect("it delivered the result").root;
		self.files_of(&self.delivered(job, &root), &group.asked, bytes, number)
	}

	/// What answers for all that is asked for of the only result of `job`, with this file as every state.
	pub fn file(&self, job: JobId, audit: &AuditView<AccountId>, file: &Rc<Model>) -> Files {
		let group = &audit.groups[0];
		let delivered = self.delivered(job, &group.result.bundle_root);
		Files { answers: delivered.answers(&group.asked, |_| file.root), blobs: vec![file.clone()] }
	}

	/// What [`Self::files`] answers with, for these pieces of a bundle.
	pub fn files_of(&self, bundle: &Bundle, pieces: &[Piece], bytes: usize, number: u32) -> Files {
		let file = |index: u32| {
			let mut file = vec![9; bytes];
			file[..4].copy_from_slice(&number.to_le_bytes());
			file[4..8].copy_from_slice(&index.to_le_bytes());
			(index, Model::new(&file))
		};
		let states = pieces.iter().filter_map(|piece| match piece {
			Piece::State(index) => Some(*index),
			_ => None,
		});
		let blobs: BTreeMap<u32, Rc<Model>> = states.map(file).collect();
		let root = |index: u32| blobs.get(&index).map_or(H256::zero(), |blob| blob.root);
		let answers = bundle.answers(pieces, root);
		Files { answers, blobs: blobs.into_values().collect() }
	}

	/// Bytes of the largest file of a state of `job`.
	pub fn state_bytes(&mut self, job: JobId) -> usize {
		let audit = self.chain.state(|| pallet_verification::AuditRecords::<Runtime>::get(job));
		audit.expect("it runs").sizes.state as usize
	}

	/// The price of the bytes of these pieces of the only result of `job`.
	pub fn price_of(&mut self, job: JobId, pieces: &Pieces) -> Balance {
		let audit = self.chain.state(|| pallet_verification::AuditRecords::<Runtime>::get(job));
		let audit = audit.expect("it runs");
		let bytes = audit.sizes.sum(pieces.iter().copied(), &audit.groups[0].result, &[]);
		Balance::from(bytes) * audit.storage_byte
	}

	/// `trainer` says that it is going to store these files for what is asked of the only result of
	/// `job`, stores them, and says so again. Returns the first answer that refuses it.
	pub fn store(
		&mut self,
		trainer: &Party,
		job: JobId,
		files: &Files,
	) -> Result<(), DispatchError> {
		self.call(trainer, files.name(job))?;
		self.bring(trainer, files.calls());
		self.call(trainer, files.name(job))
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

/// What a trainer answers, and the files that it stores for that.
pub struct Files {
	/// What it says.
	pub answers: Answers,
	/// The files.
	pub blobs: Vec<Rc<Model>>,
}

impl Files {
	/// The call by which it says that it stores them for the only result of `job`, or has stored them.
	pub fn name(&self, job: JobId) -> RuntimeCall {
		let answers = self.answers.clone();
		pallet_verification::Call::rescue { job, group: 0, answers }.into()
	}

	/// The calls by which it stores them.
	pub fn calls(&self) -> impl Iterator<Item = &RuntimeCall> {
		self.blobs.iter().flat_map(|blob| std::iter::once(&blob.register).chain(&blob.uploads))
	}

	/// How many chunks they have.
	pub fn chunks(&self) -> usize {
		self.blobs.iter().map(|blob| blob.uploads.len()).sum()
	}
}

/// The call by which a seat asks for these pieces of the only result of `job`.
pub fn request(job: JobId, pieces: &Pieces) -> RuntimeCall {
	let (pieces, pledge) = (pieces.clone(), 0);
	pallet_verification::Call::request { job, group: 0, pieces, pledge }.into()
}

/// The call by which it says that it has them.
pub fn withdraw(job: JobId) -> RuntimeCall {
	pallet_verification::Call::withdraw_request { job, group: 0 }.into()
}
