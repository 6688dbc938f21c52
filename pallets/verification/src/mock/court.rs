//! A court that hears what seats and others accuse somebody of, and decides as a test says.

use super::*;
use frame_support::traits::{fungible::Mutate, tokens::Preservation};
use sp_runtime::DispatchError;
use trainyard_protocol::accusation::{Claimed, Target};
use trainyard_traits::{
	Accusation, Audited, Conviction, Court, Defendant, DisputeId, Stakes, Standing,
};

/// A dispute that is not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispute {
	pub id: DisputeId,
	pub by: AccountId,
	pub accusation: Accusation<AccountId>,
	pub committed_at: BlockNumber,
	pub stake: u128,
}

parameter_types! {
	/// What runs.
	pub static Disputes: Vec<Dispute> = Vec::new();
	/// The number of the next one.
	pub static NextDispute: DisputeId = 0;
	/// The height at which the last one ended.
	pub static DisputeEnded: Option<BlockNumber> = None;
	/// Whether accusations are refused.
	pub static Refuses: bool = false;
	/// What seats lost, and to whom.
	pub static Lost: Vec<(Defendant<AccountId>, u128)> = Vec::new();
	/// Trainers whose results can be seen to be false.
	pub static Flagrant: Vec<AccountId> = Vec::new();
}

pub fn forget_court() {
	Disputes::set(Vec::new());
	NextDispute::set(0);
	DisputeEnded::set(None);
	Refuses::set(false);
	Flagrant::set(Vec::new());
	Lost::set(Vec::new());
}

pub struct FakeCourt;
impl Court<AccountId> for FakeCourt {
	fn accuse(
		by: &AccountId,
		accusation: Accusation<AccountId>,
		committed_at: BlockNumber,
		stake: u128,
	) -> Result<DisputeId, DispatchError> {
		if Refuses::get() {
			return Err(DispatchError::Other("refused"));
		}
		if Self::is_accusing(by, &accusation.defendant, &accusation.target) {
			return Err(DispatchError::Other("accused already"));
		}
		let id = NextDispute::mutate(|next| core::mem::replace(next, *next + 1));
		let defendant = accusation.defendant;
		let by = *by;
		Disputes::mutate(|all| {
			all.push(Dispute { id, by, accusation, committed_at, stake });
		});
		if Flagrant::get().contains(defendant.who()) {
			convict(id, true);
		}
		Ok(id)
	}
	fn is_accusing(by: &AccountId, defendant: &Defendant<AccountId>, target: &Target) -> bool {
		Disputes::get().iter().any(|dispute| {
			let accusation = &dispute.accusation;
			(dispute.by, &accusation.defendant, &accusation.target) == (*by, defendant, target)
		})
	}
	fn standing(job: JobId) -> Standing {
		let of_job = |dispute: &&Dispute| dispute.accusation.defendant.job() == job;
		Standing {
			commitments: 0,
			disputes: Disputes::get().iter().filter(of_job).count() as u32,
			ended: DisputeEnded::get(),
		}
	}
	fn settle(_: &Defendant<AccountId>, _: bool) -> u128 {
		0
	}
	#[cfg(feature = "runtime-benchmarks")]
	fn make_lost(defendant: &Defendant<AccountId>, amount: u128) {
		Lost::mutate(|lost| lost.push((*defendant, amount)));
	}
	fn acquit_seats(_: JobId) {}
	fn reclaim(defendant: &Defendant<AccountId>, to: &AccountId, amount: u128) -> u128 {
		Lost::mutate(|lost| {
			let Some((_, left)) = lost.iter_mut().find(|(other, _)| other == defendant) else {
				return 0;
			};
			let part = amount.min(*left);
			*left -= part;
			Balances::transfer(defendant.who(), to, part, Preservation::Expendable).unwrap();
			part
		})
	}
	fn forget(_: JobId) {}
	fn accuse_weight() -> Weight {
		Weight::from_parts(1, 1)
	}
	fn standing_weight() -> Weight {
		Weight::zero()
	}
	fn acquit_seats_weight() -> Weight {
		Weight::zero()
	}
	fn forget_weight() -> Weight {
		Weight::zero()
	}
	fn settle_weight() -> Weight {
		Weight::from_parts(1, 1)
	}
}

/// Takes a dispute out.
fn take(id: DisputeId) -> Dispute {
	Disputes::mutate(|all| {
		let at = all.iter().position(|dispute| dispute.id == id).expect("it runs");
		all.remove(at)
	})
}

fn ended() {
	DisputeEnded::set(Some(System::block_number() as u32));
	Progressed::mutate(|jobs| jobs.push(JOB));
}

/// The challenger wins. All other disputes with this defendant are moot.
pub fn convict(id: DisputeId, proven: bool) {
	let dispute = take(id);
	let defendant = dispute.accusation.defendant;
	let unlock = |dispute: &Dispute| {
		if dispute.stake > 0 {
			Verification::unlock(defendant.job(), &dispute.by);
		}
	};
	unlock(&dispute);
	// What seats lost to it is the jackpot's.
	Lost::mutate(|lost| {
		for (_, sum) in lost.iter_mut().filter(|(other, _)| *other == defendant) {
			let all = core::mem::take(sum);
			Balances::transfer(defendant.who(), &JACKPOT, all, Preservation::Expendable).unwrap();
		}
	});
	let conviction = Conviction { dispute: id, finder: dispute.by, second: None, proven };
	<Verification as Audited<_>>::convict(&defendant, &conviction);
	let others = Disputes::get().into_iter().filter(|d| d.accusation.defendant == defendant);
	for other in others {
		unlock(&take(other.id));
	}
	ended();
}

/// The challenger loses. Returns how much the defendant has of it.
pub fn acquit(id: DisputeId) -> u128 {
	let dispute = take(id);
	let defendant = dispute.accusation.defendant;
	let moved = match dispute.stake {
		0 => 0,
		stake => Verification::forfeit(defendant.job(), &dispute.by, &defendant, stake),
	};
	Lost::mutate(|lost| match lost.iter_mut().find(|(other, _)| *other == defendant) {
		Some((_, sum)) => *sum += moved,
		None => lost.push((defendant, moved)),
	});
	ended();
	moved
}

/// A dispute ends without a loser: the challenger takes it back, or the leaf was forced.
pub fn call_off(id: DisputeId) {
	let dispute = take(id);
	Verification::unlock(dispute.accusation.defendant.job(), &dispute.by);
	ended();
}

/// The numbers of the disputes that run.
pub fn disputes() -> Vec<DisputeId> {
	Disputes::get().iter().map(|dispute| dispute.id).collect()
}

/// Somebody without a seat challenges with a deposit.
pub fn sue(by: AccountId, accusation: Accusation<AccountId>) -> DisputeId {
	FakeCourt::accuse(&by, accusation, System::block_number() as u32, 0).unwrap()
}

/// What a trainer is accused of in these tests.
pub fn of_trainer(who: AccountId) -> Accusation<AccountId> {
	Accusation {
		defendant: Defendant::Trainer { job: JOB, who },
		target: Target::Model,
		claimed: Claimed::Other,
		leaves: Default::default(),
	}
}

/// What a seat is accused of, of its evidence about what `trainer` delivered.
pub fn of_seat(who: AccountId, trainer: AccountId, segment: u32) -> Accusation<AccountId> {
	let bundle_root = bundle_of(trainer);
	Accusation {
		defendant: Defendant::Seat { job: JOB, who, bundle_root },
		target: Target::Evidence(segment),
		claimed: Claimed::Other,
		leaves: Default::default(),
	}
}
