//! What somebody does before the court: it binds itself to accuse others, shows of what, and gives up. Nobody
//! plays a dispute, since nothing here was trained: clocks decide.

use crate::world::{Actor, World, SALT};
use pallet_court::{Call, CommittedBy, Disputes};
use rand::Rng;
use trainyard_protocol::{
	accusation::{Claimed, Target},
	job::JobState,
	views::JobView,
	JobId, H256,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};
use trainyard_traits::{Accusation, Defendant, DisputeId};

impl World {
	pub(super) fn about_disputes(&mut self) -> Option<(Actor, RuntimeCall)> {
		let ids: Vec<DisputeId> =
			self.chain.state(|| Disputes::<Runtime>::iter().map(|(id, _)| id).collect());
		let id = self.one(&ids).unwrap_or_default();
		let bound: Vec<(JobId, AccountId)> = self
			.chain
			.state(|| CommittedBy::<Runtime>::iter().map(|(job, who, _)| (job, who)).collect());
		match self.rng.random_range(0..10) {
			0..4 => self.binds(),
			4..7 => {
				let (job, account) = self.one(&bound)?;
				let who = self.owner(&account)?;
				let accusation = self.accusations.get(&(job, account))?.clone();
				Some((who, Call::challenge { accusation, salt: SALT }.into()))
			}
			7..8 => Some((self.anyone(), Call::poke { id }.into())),
			choice => {
				// Who brought it, mostly.
				let brought = self.chain.state(|| Disputes::<Runtime>::get(id));
				let own = brought.and_then(|dispute| self.owner(&dispute.challenger));
				let who = own.unwrap_or_else(|| self.anyone());
				let call = match choice {
					8 => Call::raise { id, more: self.rng.random_range(0..5) * TRY },
					_ => Call::withdraw { id },
				};
				Some((who, call.into()))
			}
		}
	}

	/// Somebody binds itself to accuse a trainer, or a seat, while a job is audited or after it was
	/// settled.
	fn binds(&mut self) -> Option<(Actor, RuntimeCall)> {
		let jobs: Vec<JobView<AccountId>> = self.chain.state(|| {
			let all = Runtime::active_jobs();
			let audited = all.into_iter().filter(|job| job.state == JobState::Auditing);
			let late = pallet_task_market::Lates::<Runtime>::iter_keys();
			audited.chain(late.filter_map(Runtime::job)).collect()
		});
		let (view, who) = (self.one(&jobs)?, self.anyone());
		let job = view.id;
		let account = who.account.clone();
		if self.chain.state(|| CommittedBy::<Runtime>::contains_key(job, &account)) {
			return None;
		}
		let accusation = self.accusation(&view)?;
		let Accusation { defendant, target, claimed, .. } = &accusation;
		let account = &who.account;
		let hash = self.chain.state(|| Court::digest(account, defendant, target, claimed, &SALT));
		self.accusations.insert((job, who.account.clone()), accusation);
		// Sometimes it is bound to nothing that it could show.
		let hash = if self.chance(5) { H256(self.rng.random()) } else { hash };
		Some((who, Call::commit { job, hash }.into()))
	}

	/// An accusation that the court takes, mostly.
	pub(super) fn accusation(
		&mut self,
		view: &JobView<AccountId>,
	) -> Option<Accusation<AccountId>> {
		let job = view.id;
		let replica = self.one(&view.replicas)?;
		let bundle_root = replica.reveal.as_ref()?.bundle_root;
		let delivered = self.bundles.get(&bundle_root)?.clone();
		let segment = self.rng.random_range(0..view.spec.segments());
		let seats = view.audit.as_ref().map_or(vec![], |audit| audit.committee.clone());
		let seat = if self.chance(40) { self.one(&seats) } else { None };
		let (defendant, target) = match seat {
			Some(seat) => {
				let who = seat.verifier;
				(Defendant::Seat { job, who, bundle_root }, Target::Evidence(segment))
			}
			None => {
				let targets =
					[Target::Segment(segment), Target::Start, Target::Model, Target::Stop];
				(Defendant::Trainer { job, who: replica.trainer }, self.one(&targets)?)
			}
		};
		let others: Vec<_> = self.bundles.values().cloned().collect();
		let claimed = match target {
			Target::Model | Target::Stop => Claimed::Other,
			_ => self.one(&others)?.claims(&target),
		};
		Some(Accusation { defendant, target, claimed, leaves: delivered.shown(&target) })
	}
}
