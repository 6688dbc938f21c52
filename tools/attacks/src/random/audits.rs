//! What those do next who are concerned in an audit: its seats, and the trainers of its results.

use crate::{
	states,
	world::{Actor, World, SALT},
};
use rand::Rng;
use trainyard_protocol::{
	accusation::Target,
	audit::{AuditPhase, Findings, GroupVerdict, Paths},
	commitment, forced,
	pieces::Piece,
	trace::seal,
	views::{AuditView, GroupView, JobView},
	JobId, H256,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};
use trainyard_sandbox::{
	bundles::{secret, Bundle},
	seats::{Seat, Verdict},
};

impl World {
	pub(super) fn audits(&mut self, view: &JobView<AccountId>) -> Option<(Actor, RuntimeCall)> {
		let job = view.id;
		let audit = view.audit.as_ref()?;
		let committee: Vec<_> = audit.committee.iter().map(|seat| seat.verifier.clone()).collect();
		match audit.phase {
			AuditPhase::Committing { .. } => {
				let who = self.one(&committee)?;
				let call = match self.chance(15) {
					true => self.claims(job, audit)?,
					false => self.commits_to_findings(view, audit, &who)?,
				};
				Some((self.owner(&who)?, call))
			}
			AuditPhase::Revealing { .. } => {
				use pallet_verification::Call::reveal;
				let who = self.one(&committee)?;
				let (findings, paths) =
					self.findings.get(&(job, audit.round, who.clone()))?.clone();
				Some((self.owner(&who)?, reveal { job, findings, paths, salt: SALT }.into()))
			}
			AuditPhase::Standing { .. } if self.chance(30) => {
				Some((self.anyone(), self.claims(job, audit)?))
			}
			AuditPhase::Standing { .. } => {
				let who = self.one(&committee)?;
				let accusation = self.accusation(view)?;
				let accuse = pallet_verification::Call::accuse { accusation };
				Some((self.owner(&who)?, accuse.into()))
			}
			AuditPhase::Rescue { .. } => {
				let trainers: Vec<_> = view.replicas.iter().map(|r| r.trainer.clone()).collect();
				let trainer = self.one(&trainers)?;
				let who = self.owner(&trainer)?;
				self.rescues(job, audit, who)
			}
			AuditPhase::Opening { .. } => {
				let bundles = audit.groups.iter().flat_map(|group| group.bundles.clone());
				let bundle = self.one(&bundles.collect::<Vec<_>>())?;
				let call = self.bundles.get(&bundle.root)?.opens(job)?;
				// Sometimes it is another one's.
				let who = if self.chance(5) { self.anyone() } else { self.owner(&bundle.trainer)? };
				Some((who, call))
			}
			AuditPhase::Drawing { .. } | AuditPhase::Done => None,
		}
	}

	/// A result of an audit and its number, mostly one that there is.
	fn group(&mut self, audit: &AuditView<AccountId>) -> (u32, Option<GroupView<AccountId>>) {
		let count = audit.groups.len() as u32 + u32::from(self.chance(5));
		let group = self.rng.random_range(0..count);
		(group, audit.groups.get(group as usize).cloned())
	}

	/// Somebody asks for something, or has it.
	fn claims(&mut self, job: JobId, audit: &AuditView<AccountId>) -> Option<RuntimeCall> {
		use pallet_verification::Call::{request, withdraw_request};
		let (group, found) = self.group(audit);
		if self.chance(40) {
			return Some(withdraw_request { job, group }.into());
		}
		let segment = self.rng.random_range(0..30);
		let read = |found: GroupView<_>| states::read_by(&[segment], &found.result).to_vec();
		let read = found.map_or(vec![Piece::Leaves], read);
		let mut pieces: Vec<Piece> = read.into_iter().filter(|_| self.chance(50)).collect();
		if self.chance(10) {
			pieces.push(Piece::State(self.rng.random_range(0..40)));
			pieces.sort();
		}
		let pledge = if self.chance(50) { 0 } else { self.rng.random_range(0..TRY) };
		Some(request { job, group, pieces: pieces.try_into().ok()?, pledge }.into())
	}

	fn commits_to_findings(
		&mut self,
		view: &JobView<AccountId>,
		audit: &AuditView<AccountId>,
		who: &AccountId,
	) -> Option<RuntimeCall> {
		let (job, round) = (view.id, audit.round);
		// Sometimes it draws by a key that is not its own.
		let by = if self.chance(3) { self.anyone() } else { self.owner(who)? };
		let (findings, paths) = self.finds(view, audit, &by, who)?;
		let commitment = commitment::verdict(&self.genesis, job, round, who, &findings, &SALT);
		self.findings.insert((job, round, who.clone()), (findings, paths));
		Some(pallet_verification::Call::commit { job, commitment }.into())
	}

	/// What the seat of `by` finds; usually the truth.
	fn finds(
		&mut self,
		view: &JobView<AccountId>,
		audit: &AuditView<AccountId>,
		by: &Actor,
		who: &AccountId,
	) -> Option<(Findings<AccountId>, Paths)> {
		let mut seat = Seat::of(&self.genesis, view.id, audit, &by.key)?;
		let places = audit.committee.iter();
		seat.number = places.map(|seat| &seat.verifier).position(|other| other == who)?;
		let spec = view.spec.clone().check().ok()?;
		let mut verdicts = Vec::new();
		for (number, group) in (0u32..).zip(&audit.groups) {
			let result = &group.result;
			let bundle = self.one(&group.bundles)?;
			let (delivered, account) = (self.bundles.get(&bundle.root)?.clone(), bundle.trainer);
			let honest = Bundle::made_up(&spec, 1, result.segments, result.diverged);
			let is_true = honest.true_root() == result.true_root;
			let truth = match is_true {
				true => honest,
				false => Bundle::made_up(&spec, 1, spec.segments(), false),
			};
			let segments = seat.wanted(number, result, &[]);
			let first = segments.first().copied().unwrap_or(0);
			let replica = self.one(&view.replicas)?;
			let rejects = |segment: u32, says: &Bundle| {
				let target = Target::Segment(segment);
				Verdict::rejects(replica.trainer.clone(), target, &delivered, says)
			};
			verdicts.push(match self.rng.random_range(0..100) {
				0..75 if is_true => seat.vouches(number, result, &delivered, &[]),
				0..75 => rejects(first, &truth),
				75..85 => Verdict::unavailable(),
				85..90 => rejects(first, &Bundle::made_up(&spec, 9, spec.segments(), false)),
				90..95 => {
					let mut guess = seat.vouches(number, result, &delivered, &[]);
					if let GroupVerdict::Replayed(replayed) = &mut guess.said {
						for evidence in replayed.evidence.iter_mut() {
							// It says of all that they differ.
							evidence.differs.get_or_insert(seal(&evidence.trace_root));
							evidence.trace_root = H256::zero();
						}
					}
					guess
				}
				95..97 => {
					// It says of all that they are right; that is no evidence where one is forced.
					let mut guess = seat.vouches(number, result, &delivered, &[]);
					if let GroupVerdict::Replayed(replayed) = &mut guess.said {
						for evidence in replayed.evidence.iter_mut() {
							let forced =
								forced::trace_root(&secret(&account), evidence.segment + 1);
							if evidence.differs.take().is_some() {
								evidence.trace_root = forced;
							}
						}
					}
					guess
				}
				_ => seat.vouches(number, result, &delivered, &[]),
			});
			if let Some(said) = verdicts.pop() {
				verdicts.push(said.about(group, &delivered));
			}
		}
		Some(seat.finds(verdicts))
	}

	/// A trainer stores something for what is asked of a result, mostly of its own and with its leaves.
	fn rescues(
		&mut self,
		job: JobId,
		audit: &AuditView<AccountId>,
		who: Actor,
	) -> Option<(Actor, RuntimeCall)> {
		let (group, found) = self.group(audit);
		// Another one for each trainer and each thing that is asked for.
		let own = self.actors.iter().position(|actor| actor.account == who.account)?;
		let asked = found.as_ref().map_or(0, |found| found.asked.len());
		let blob = self.file([job as u8, own as u8, asked as u8, 7].repeat(700));
		let there = self.chain.state(|| Runtime::blob(blob));
		let complete = there.is_some_and(|blob| blob.missing.is_empty());
		if !complete && !self.chance(20) {
			return self.stores(who, blob);
		}
		let of = |found: &GroupView<_>| {
			let mut bundles = found.bundles.iter();
			let own = bundles.find(|bundle| bundle.trainer == who.account);
			let bundle = self.bundles.get(&own.map_or(found.result.bundle_root, |own| own.root))?;
			Some(bundle.answers(&found.asked, |_| blob))
		};
		let shown = found.as_ref().and_then(of);
		let answers = shown.filter(|_| self.chance(90)).unwrap_or_default();
		Some((who, pallet_verification::Call::rescue { job, group, answers }.into()))
	}
}
