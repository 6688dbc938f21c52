//! Equivocations and what they cost.
//!
//! An authority that makes two blocks in one slot, or gives two votes of one round, has signed the
//! proof against itself. Nodes that see both report it, in a transaction without a sender that
//! authors put into their own blocks; anyone may also sign a report. The pallets of BABE and
//! GRANDPA check the signatures, the [records](crate::records) show whose key it was, and this
//! module punishes.
//!
//! - An authority offends once a session, however often it equivocated in it: a node that
//!   ran twice by mistake does so in every slot that it wins.
//! - What is taken depends on power, not on heads. Where those who offended in *any* session on record
//!   (a day of blocks) had the shares `x` of the weight together, each with the largest that it
//!   offended with, each of them loses the part `min(1, (3 x)^2)` of its bond, of its power of both
//!   kinds and of what it has as a founder, and at least [`Config::MinSlash`]. With a third of the
//!   weight finality can be broken; whoever tries that loses everything. Splitting into identities
//!   changes nothing, and neither does offending in different sessions: a set of GRANDPA serves in
//!   many, and its members choose the blocks that they vote for.
//! - An offender that comes later raises the part for those before it, who lose the difference.
//! - An offender ceases to be a candidate, and may stand again [`SUSPENSION`] sessions later. It
//!   makes blocks until the session after the running one is over, because the authorities of that
//!   one are announced already.
//! - The reporter gets [`Config::ReporterShare`] of what is taken of bonds, the jackpot the rest.
//!   If a report has no sender, the block's author is the reporter. An offender that reports itself
//!   gets nothing of its own bond.
//!
//! In which session GRANDPA's equivocation happened is not in the proof, as a set may serve in
//! many: it is that of the lower of both blocks voted for, as far as these are of sessions on
//! record ([`session_of_votes`]). Otherwise one proof would serve for every session of its set.

use crate::{
	authorities::WeightedConfig,
	records::{KeyOwnerProof, Offender},
	Absence, Config, Convicts, Event, Founders, Offenders, Pallet, Power, Records, SessionAccess,
	Suspended, WeightInfo,
};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::{cmp::Reverse, marker::PhantomData};
use frame_support::{
	traits::{Get, KeyOwnerProofSystem},
	weights::Weight,
	BoundedVec,
};
use frame_system::pallet_prelude::{BlockNumberFor, HeaderFor};
use pallet_grandpa::EquivocationReportSystem;
use scale_info::TypeInfo;
use sp_consensus_babe::Slot;
use sp_consensus_grandpa::{Equivocation, EquivocationProof, SetId};
use sp_runtime::{
	traits::{UniqueSaturatedInto, Zero},
	transaction_validity::{InvalidTransaction, TransactionValidityError},
	DispatchError, PerThing, Perbill, Saturating,
};
use sp_staking::{
	offence::{Offence, OffenceError, OffenceReportSystem, ReportOffence},
	SessionIndex,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	views::WHOLE_WEIGHT,
};

/// Sessions from a report until the offender may stand again.
pub const SUSPENSION: SessionIndex = 4;

/// One that offended in a session on record.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Convict<AccountId> {
	/// Who.
	pub who: AccountId,
	/// The latest session in which it offended.
	pub session: SessionIndex,
	/// Its largest share of the weight of a session in which it offended, in parts of
	/// [`WHOLE_WEIGHT`], rounded up.
	pub share: u64,
	/// The part of its bond and power that each of its offences has cost, or the last of them.
	pub lost: Perbill,
}

/// Returns `min(1, (3 x)^2)` of the share `x` of `offending` in `total`, at least `least`.
pub fn slash_part(offending: u128, total: u128, least: Perbill) -> Perbill {
	Perbill::from_rational(offending.saturating_mul(3), total.max(1)).square().max(least)
}

impl<T: Config> Pallet<T> {
	/// Returns whether `offender` has been punished already.
	pub fn is_known(offender: &Offender<T::AccountId>) -> bool {
		Offenders::<T>::get(offender.session).binary_search(&offender.who).is_ok()
	}

	/// Punishes `offender`, and raises the punishment of those who offended in sessions on record.
	/// Fails where it is known already, and where the session is not on record.
	pub(crate) fn punish(
		offender: &Offender<T::AccountId>,
		reporter: Option<&T::AccountId>,
	) -> Result<(), OffenceError> {
		let Offender { who, session } = offender;
		let members = Records::<T>::get(session).ok_or(OffenceError::Other(0))?;
		let own = members.iter().find(|member| member.who == *who);
		let own = own.ok_or(OffenceError::Other(0))?.weight;
		let mut guilty = Offenders::<T>::get(session);
		let Err(at) = guilty.binary_search(who) else {
			return Err(OffenceError::DuplicateReport);
		};
		guilty.try_insert(at, who.clone()).map_err(|_| OffenceError::Other(1))?;
		Offenders::<T>::insert(session, guilty);

		// Who has left with its bond makes it dearer for nobody: it could say anything.
		if !Self::is_registered(who) {
			return Ok(());
		}
		let total = members.iter().fold(0u128, |sum, m| sum.saturating_add(m.weight.into()));
		let share = u128::from(own).saturating_mul(WHOLE_WEIGHT.into());
		let share = u64::try_from(share.div_ceil(total.max(1))).unwrap_or(WHOLE_WEIGHT);
		let mut convicts = Self::convict(who, *session, share);
		let whole = u128::from(WHOLE_WEIGHT);
		let all = convicts.iter().fold(0u128, |sum, c| sum.saturating_add(c.share.into()));
		let part = slash_part(all, whole, T::MinSlash::get());
		Self::deposit_event(Event::Equivocated {
			trainer: who.clone(),
			session: *session,
			share: Perbill::from_rational(all, whole),
		});

		Self::suspend(who);
		Self::take_part(who, *session, part, reporter);
		for convict in &mut convicts {
			// The part of what the others have left that makes their loss `part` in all.
			let more = part.saturating_sub(convict.lost);
			if convict.who != *who && !more.is_zero() {
				let left = convict.lost.left_from_one();
				let more = Perbill::from_rational(more.deconstruct(), left.deconstruct().max(1));
				Self::take_part(&convict.who, convict.session, more, reporter);
			}
			convict.lost = convict.lost.max(part);
		}
		Convicts::<T>::put(BoundedVec::<_, T::MaxAuthorities>::truncate_from(convicts));
		Ok(())
	}

	/// Returns everyone who is convicted, with `who` among them, the largest shares first.
	fn convict(
		who: &T::AccountId,
		session: SessionIndex,
		share: u64,
	) -> Vec<Convict<T::AccountId>> {
		let mut all = Convicts::<T>::get().into_inner();
		match all.iter_mut().find(|convict| convict.who == *who) {
			Some(convict) => {
				convict.session = convict.session.max(session);
				convict.share = convict.share.max(share);
			}
			None => {
				all.push(Convict { who: who.clone(), session, share, lost: Perbill::zero() });
			}
		}
		all.sort_by_key(|convict| Reverse(convict.share));
		all
	}

	/// Ends the candidacy of `who` for a while.
	fn suspend(who: &T::AccountId) {
		Absence::<T>::remove(who);
		if Self::delist(who) {
			Self::deposit_event(Event::AuthoritySuspended { trainer: who.clone() });
		}
		if Self::is_registered(who) {
			let until = T::Session::current_index().saturating_add(SUSPENSION);
			Suspended::<T>::insert(who, until);
		}
	}

	/// Takes `part` of the bond and the power of `who`.
	fn take_part(
		who: &T::AccountId,
		session: SessionIndex,
		part: Perbill,
		reporter: Option<&T::AccountId>,
	) {
		if !Self::is_registered(who) {
			return;
		}
		Power::<T>::mutate_exists(who, |ledger| {
			if let Some(ledger) = ledger {
				ledger.drilling.lose(part);
				ledger.training.lose(part);
			}
		});
		if Founders::<T>::get().iter().any(|(founder, _)| founder == who) {
			Founders::<T>::mutate(|founders| {
				for (_, own) in founders.iter_mut().filter(|(founder, _)| founder == who) {
					*own = own.saturating_sub(part.mul_ceil(*own));
				}
			});
		}
		let amount = part.mul_floor(Self::bond_of(who));
		let reward = T::ReporterShare::get().mul_floor(amount);
		let reward = match reporter.filter(|reporter| *reporter != who) {
			Some(reporter) if !reward.is_zero() => Self::take_bond(who, reward, reporter),
			_ => Balance::zero(),
		};
		let rest = Self::take_bond(who, amount.saturating_sub(reward), &T::Jackpot::get());
		Self::deposit_event(Event::Slashed {
			trainer: who.clone(),
			session,
			part,
			amount: reward.saturating_add(rest),
			reward,
		});
	}
}

impl<T, O> ReportOffence<T::AccountId, Offender<T::AccountId>, O> for Pallet<T>
where
	T: Config,
	O: Offence<Offender<T::AccountId>>,
{
	/// Punishes the offenders; the first of the reporters is rewarded.
	fn report_offence(reporters: Vec<T::AccountId>, offence: O) -> Result<(), OffenceError> {
		for offender in offence.offenders() {
			Self::punish(&offender, reporters.first())?;
		}
		Ok(())
	}

	fn is_known_offence(offenders: &[Offender<T::AccountId>], _: &O::Slot) -> bool {
		offenders.iter().all(Self::is_known)
	}
}

/// How long a report may wait in the pool: as long as an offence can be punished.
pub struct ReportLongevity<T>(PhantomData<T>);

impl<T: Config> Get<u64> for ReportLongevity<T> {
	fn get() -> u64 {
		T::UnbondingBlocks::get().into()
	}
}

/// BABE's `EquivocationReportSystem`.
pub type BabeReports<T> =
	pallet_babe::EquivocationReportSystem<T, Pallet<T>, Pallet<T>, ReportLongevity<T>>;

/// GRANDPA's `EquivocationReportSystem`: the pallet's own, for reports that name the
/// session of [`session_of_votes`].
pub struct GrandpaReports<T>(PhantomData<T>);

/// What GRANDPA's pallet does with a report.
type Inner<T> = EquivocationReportSystem<T, Pallet<T>, Pallet<T>, ReportLongevity<T>>;

/// GRANDPA's evidence.
type Evidence<T> = (
	EquivocationProof<<T as frame_system::Config>::Hash, BlockNumberFor<T>>,
	<T as pallet_grandpa::Config>::KeyOwnerProof,
);

impl<T> OffenceReportSystem<Option<T::AccountId>, Evidence<T>> for GrandpaReports<T>
where
	T: WeightedConfig + pallet_grandpa::Config<KeyOwnerProof = KeyOwnerProof>,
	Inner<T>: OffenceReportSystem<Option<T::AccountId>, Evidence<T>>,
{
	type Longevity = ReportLongevity<T>;

	fn publish_evidence(evidence: Evidence<T>) -> Result<(), ()> {
		Inner::<T>::publish_evidence(evidence)
	}

	fn check_evidence(evidence: Evidence<T>) -> Result<(), TransactionValidityError> {
		if session_of_votes::<T>(&evidence.0) != Some(evidence.1.session) {
			return Err(InvalidTransaction::BadProof.into());
		}
		Inner::<T>::check_evidence(evidence)
	}

	fn process_evidence(
		reporter: Option<T::AccountId>,
		evidence: Evidence<T>,
	) -> Result<(), DispatchError> {
		if session_of_votes::<T>(&evidence.0) != Some(evidence.1.session) {
			return Err(pallet_grandpa::Error::<T>::InvalidKeyOwnershipProof.into());
		}
		Inner::<T>::process_evidence(reporter, evidence)
	}
}

/// Returns the session in which `slot` is, as BABE counts them.
pub fn session_of_slot<T: pallet_babe::Config>(slot: Slot) -> SessionIndex {
	let since = slot.saturating_sub(*pallet_babe::GenesisSlot::<T>::get());
	let epoch = since.checked_div(T::EpochDuration::get()).unwrap_or(0);
	// Epochs without a block are no sessions: the latest skip up to this epoch shows how many have
	// been left out so far.
	let skipped = pallet_babe::SkippedEpochs::<T>::get();
	let last = skipped.iter().rev().find(|(at, _)| *at <= epoch);
	let left_out = last.map_or(0, |(at, session)| at.saturating_sub(u64::from(*session)));
	epoch.saturating_sub(left_out).unique_saturated_into()
}

/// Returns the session in which both votes of a proof were given: that of the lower of the voted
/// blocks whose session is on record, limited to the sessions of the set.
pub fn session_of_votes<T: WeightedConfig>(
	proof: &EquivocationProof<T::Hash, BlockNumberFor<T>>,
) -> Option<SessionIndex> {
	// The proof does not show its votes.
	let encoded = proof.encode();
	let (set, equivocation) =
		<(SetId, Equivocation<T::Hash, BlockNumberFor<T>>)>::decode(&mut &encoded[..]).ok()?;
	let targets = match equivocation {
		Equivocation::Prevote(e) => [e.first.0.target_number, e.second.0.target_number],
		Equivocation::Precommit(e) => [e.first.0.target_number, e.second.0.target_number],
	};
	let at = |target: BlockNumberFor<T>| {
		let height: BlockNumber = target.try_into().ok()?;
		Pallet::<T>::session_at(height)
	};
	let session = targets.into_iter().filter_map(at).min()?;
	let last = pallet_grandpa::SetIdSession::<T>::get(set)?;
	let before = set.checked_sub(1).and_then(pallet_grandpa::SetIdSession::<T>::get);
	let first = before.map_or(0, |session| session.saturating_add(1));
	Some(session.max(first).min(last))
}

/// Returns the proof of ownership for a BABE key that was used in `slot`.
pub fn prove_babe_key<T: WeightedConfig>(slot: Slot, key: &[u8]) -> Option<KeyOwnerProof> {
	let session = session_of_slot::<T>(slot);
	Pallet::<T>::prove_key(session, sp_consensus_babe::KEY_TYPE, key)
}

/// Returns the proof of ownership for a GRANDPA key of the set `set`: in the latest of its
/// sessions.
pub fn prove_grandpa_key<T: WeightedConfig>(set: SetId, key: &[u8]) -> Option<KeyOwnerProof> {
	let session = pallet_grandpa::SetIdSession::<T>::get(set)?;
	Pallet::<T>::prove_key(session, sp_consensus_grandpa::KEY_TYPE, key)
}

/// Reports two blocks of one slot to this node's pool, unless the offender is punished already.
/// Returns `None` for a proof that is none, and where it is not known whose key it was.
///
/// BABE's import reports headers whose seals it has taken off. The pool would keep such a report,
/// for its check looks at the owner of the key alone, and would refuse the true one that comes
/// after it: both provide the same tag.
pub fn submit_babe_report<T>(
	proof: sp_consensus_babe::EquivocationProof<HeaderFor<T>>,
) -> Option<()>
where
	T: WeightedConfig + pallet_babe::Config<KeyOwnerProof = KeyOwnerProof>,
{
	if !sp_consensus_babe::check_equivocation_proof(proof.clone()) {
		return None;
	}
	let key: &[u8] = proof.offender.as_ref();
	let owner = prove_babe_key::<T>(proof.slot, key)?;
	let offender = Pallet::<T>::check_proof((sp_consensus_babe::KEY_TYPE, key), owner)?;
	if Pallet::<T>::is_known(&offender) {
		return Some(());
	}
	pallet_babe::Pallet::<T>::submit_unsigned_equivocation_report(proof, owner)
}

/// Reports two votes of one round to this node's pool. The node that asked for a proof of ownership
/// could name the set only; the votes show the session.
pub fn submit_grandpa_report<T>(proof: EquivocationProof<T::Hash, BlockNumberFor<T>>) -> Option<()>
where
	T: WeightedConfig + pallet_grandpa::Config<KeyOwnerProof = KeyOwnerProof>,
{
	let session = session_of_votes::<T>(&proof)?;
	let key: &[u8] = proof.offender().as_ref();
	let owner = Pallet::<T>::prove_key(session, sp_consensus_grandpa::KEY_TYPE, key)?;
	pallet_grandpa::Pallet::<T>::submit_unsigned_equivocation_report(proof, owner)
}

/// Weights of Babe's and Grandpa's calls: their own, and for a report also what this pallet does
/// about it at worst.
pub struct ReportWeight<T>(PhantomData<T>);

impl<T: Config> ReportWeight<T> {
	fn punishing() -> Weight {
		T::WeightInfo::punish(T::MaxAuthorities::get())
	}
}

impl<T: Config> pallet_babe::WeightInfo for ReportWeight<T> {
	fn plan_config_change() -> Weight {
		<() as pallet_babe::WeightInfo>::plan_config_change()
	}

	fn report_equivocation(authorities: u32, nominators: u32) -> Weight {
		let own = <() as pallet_babe::WeightInfo>::report_equivocation(authorities, nominators);
		own.saturating_add(Self::punishing())
	}
}

impl<T: Config> pallet_grandpa::WeightInfo for ReportWeight<T> {
	fn report_equivocation(authorities: u32, nominators: u32) -> Weight {
		let own = <() as pallet_grandpa::WeightInfo>::report_equivocation(authorities, nominators);
		own.saturating_add(Self::punishing())
	}

	fn note_stalled() -> Weight {
		<() as pallet_grandpa::WeightInfo>::note_stalled()
	}
}
