//! BABE and GRANDPA with unequal weights.
//!
//! The session handlers of `pallet_babe` and `pallet_grandpa` give every authority the weight 1.
//! [`WeightedBabe`] and [`WeightedGrandpa`] replace them in the runtime's `impl_opaque_keys!` and
//! give the weights that [`session`](crate::session) announced. GRANDPA carries the same linear
//! weights as BABE: with one head one vote, a little power split into many identities could halt
//! finality, and only linear weights make splitting worthless.
//!
//! The runtime also takes from here [`AuthorVrf`] (this pallet's `VrfOutput`),
//! [`BlockAuthor`] (Authorship's `FindAuthor`) and [`KeepCandidateKeys`] (part of the base
//! call filter).

use crate::{
	session::weight_of, Config, CurrentWeights, NextWeights, OldestRecord, OldestSet,
	SessionAccess, LOG_TARGET,
};
use alloc::vec::Vec;
use codec::Encode;
use core::marker::PhantomData;
use frame_support::{
	traits::{Contains, FindAuthor, Get, IsSubType, OneSessionHandler},
	WeakBoundedVec,
};
use frame_system::RawOrigin;
use sp_consensus_babe::AuthorityId as BabeId;
use sp_consensus_grandpa::{AuthorityId as GrandpaId, AuthorityList, SetId};
use sp_core::H256;
use sp_runtime::{
	traits::{OpaqueKeys, Zero},
	BoundToRuntimeAppPublic, ConsensusEngineId, DispatchResult,
};
use sp_staking::SessionIndex;

/// A runtime with this pallet, Babe, Grandpa and Session, whose validators are accounts.
pub trait WeightedConfig:
	Config
	+ pallet_babe::Config
	+ pallet_grandpa::Config
	+ pallet_session::Config<ValidatorId = <Self as frame_system::Config>::AccountId>
{
}

impl<T> WeightedConfig for T where
	T: Config
		+ pallet_babe::Config
		+ pallet_grandpa::Config
		+ pallet_session::Config<ValidatorId = <T as frame_system::Config>::AccountId>
{
}

type BabeAuthorities<T> = WeakBoundedVec<(BabeId, u64), <T as pallet_babe::Config>::MaxAuthorities>;

type GrandpaAuthorities<T> =
	pallet_grandpa::BoundedAuthorityList<<T as pallet_grandpa::Config>::MaxAuthorities>;

/// BABE's session handler, with weights.
pub struct WeightedBabe<T>(PhantomData<T>);

impl<T> BoundToRuntimeAppPublic for WeightedBabe<T> {
	type Public = BabeId;
}

impl<T: WeightedConfig> WeightedBabe<T> {
	/// Returns BABE's authorities announced for the next session, from session keys.
	fn announced<'a>(keys: impl Iterator<Item = (&'a T::AccountId, BabeId)>) -> BabeAuthorities<T>
	where
		T::AccountId: 'a,
	{
		let weights = NextWeights::<T>::get();
		let list = keys.map(|(who, key)| (key, weight_of(&weights, who))).collect();
		WeakBoundedVec::force_from(list, Some("hashrate: more authorities than Babe takes"))
	}
}

impl<T: WeightedConfig> OneSessionHandler<T::AccountId> for WeightedBabe<T> {
	type Key = BabeId;

	/// The first two epochs have the same authorities.
	fn on_genesis_session<'a, I>(validators: I)
	where
		I: 'a + Iterator<Item = (&'a T::AccountId, BabeId)>,
		T::AccountId: 'a,
	{
		assert!(
			pallet_babe::Authorities::<T>::get().is_empty(),
			"babe.authorities stays empty: authorities come from session.keys"
		);
		let authorities = Self::announced(validators);
		pallet_babe::Authorities::<T>::put(&authorities);
		pallet_babe::NextAuthorities::<T>::put(&authorities);
	}

	fn on_new_session<'a, I>(_changed: bool, _validators: I, queued: I)
	where
		I: 'a + Iterator<Item = (&'a T::AccountId, BabeId)>,
		T::AccountId: 'a,
	{
		// The weights announced for the epoch that begins, to the bit: clients took them from the
		// announcement, and recomputed weights would fork them off.
		let current = pallet_babe::NextAuthorities::<T>::get();
		let mut next = Self::announced(queued);
		if next.is_empty() {
			// All of them lost their keys. The last authorities go on rather than none.
			log::error!(target: LOG_TARGET, "no authority has keys; the last ones go on");
			next = current.clone();
		}
		// Babe mixes only segments before the open one into the next randomness: without
		// this, an epoch of fewer than 256 primary blocks would add nothing.
		let open = pallet_babe::SegmentIndex::<T>::get();
		if pallet_babe::UnderConstruction::<T>::decode_len(open).unwrap_or(0) > 0 {
			pallet_babe::SegmentIndex::<T>::put(open.saturating_add(1));
		}
		let session = pallet_session::Pallet::<T>::current_index();
		pallet_babe::Pallet::<T>::enact_epoch_change(current, next, Some(session));
	}

	fn on_disabled(index: u32) {
		<pallet_babe::Pallet<T> as OneSessionHandler<T::AccountId>>::on_disabled(index)
	}
}

/// GRANDPA's session handler, with the weights that BABE uses in the same session, as long
/// as they moved enough.
///
/// A new set is issued, and the set id advances, only when an authority comes, goes or changes its
/// key, when a weight has moved by more than a tenth since the set was issued, or when finality was
/// declared stalled. Otherwise the set stays, and is noted as the set of one more session.
pub struct WeightedGrandpa<T>(PhantomData<T>);

impl<T> BoundToRuntimeAppPublic for WeightedGrandpa<T> {
	type Public = GrandpaId;
}

/// Returns whether `next` differs from `present` enough for a new set: other keys, or a weight that
/// moved by more than a tenth of what it was.
fn differs(present: &[(GrandpaId, u64)], next: &[(GrandpaId, u64)]) -> bool {
	let moved =
		|was: u64, is: u64| u128::from(was.abs_diff(is)).saturating_mul(10) > u128::from(was);
	present.len() != next.len()
		|| present.iter().zip(next).any(|((k, was), (l, is))| k != l || moved(*was, *is))
}

/// Most sets that one change of the set forgets. It adds one.
const FORGOTTEN_AT_ONCE: u32 = 4;

impl<T: WeightedConfig> WeightedGrandpa<T> {
	/// Forgets sets of which no session is on record, but for the last of them, which bounds the
	/// sessions of the next: equivocations in a set can be reported for as long as those who were in it
	/// answer for them, however many sets come after it while finality stalls.
	fn forget_sets(current: SetId) {
		type Ends<T> = pallet_grandpa::SetIdSession<T>;
		let Some(on_record) = OldestRecord::<T>::get() else { return };
		let kept = T::MaxSetIdSessionEntries::get().max(1);
		let mut oldest = OldestSet::<T>::get().unwrap_or_else(|| current.saturating_sub(kept));
		for _ in 0..FORGOTTEN_AT_ONCE {
			let next = oldest.saturating_add(1);
			if next >= current || Ends::<T>::get(next).is_some_and(|ended| ended >= on_record) {
				break;
			}
			Ends::<T>::remove(oldest);
			oldest = next;
		}
		OldestSet::<T>::put(oldest);
	}
}

impl<T: WeightedConfig> OneSessionHandler<T::AccountId> for WeightedGrandpa<T> {
	type Key = GrandpaId;

	fn on_genesis_session<'a, I>(validators: I)
	where
		I: 'a + Iterator<Item = (&'a T::AccountId, GrandpaId)>,
		T::AccountId: 'a,
	{
		assert!(
			pallet_grandpa::Authorities::<T>::get().is_empty(),
			"grandpa.authorities stays empty: authorities come from session.keys"
		);
		// Not `CurrentWeights`: that is written when the session starts, a little later.
		let weights = NextWeights::<T>::get();
		let list = validators.map(|(who, key)| (key, weight_of(&weights, who))).collect();
		pallet_grandpa::Authorities::<T>::put(GrandpaAuthorities::<T>::force_from(
			list,
			Some("hashrate: more authorities than Grandpa takes"),
		));
		pallet_grandpa::SetIdSession::<T>::insert(0, 0);
	}

	fn on_new_session<'a, I>(_changed: bool, validators: I, _queued: I)
	where
		I: 'a + Iterator<Item = (&'a T::AccountId, GrandpaId)>,
		T::AccountId: 'a,
	{
		let weights = CurrentWeights::<T>::get();
		let next: AuthorityList =
			validators.map(|(who, key)| (key, weight_of(&weights, who))).collect();
		let stalled = pallet_grandpa::Stalled::<T>::get();
		let mut set_id = pallet_grandpa::CurrentSetId::<T>::get();
		let needed = stalled.is_some() || differs(&pallet_grandpa::Authorities::<T>::get(), &next);
		if needed && !next.is_empty() {
			let scheduled = match stalled {
				Some((wait, median)) => {
					pallet_grandpa::Pallet::<T>::schedule_change(next, wait, Some(median))
				}
				None => pallet_grandpa::Pallet::<T>::schedule_change(next, Zero::zero(), None),
			};
			// A change that is still pending is left alone; the next session tries again.
			if scheduled.is_ok() {
				pallet_grandpa::Stalled::<T>::kill();
				set_id = set_id.saturating_add(1);
				pallet_grandpa::CurrentSetId::<T>::put(set_id);
				Self::forget_sets(set_id);
			}
		}
		let session = pallet_session::Pallet::<T>::current_index();
		pallet_grandpa::SetIdSession::<T>::insert(set_id, session);
	}

	fn on_disabled(index: u32) {
		<pallet_grandpa::Pallet<T> as OneSessionHandler<T::AccountId>>::on_disabled(index)
	}
}

/// The VRF output of the latest finished block's author, from Babe; stale where a block
/// had none.
pub struct AuthorVrf<T>(PhantomData<T>);

impl<T: pallet_babe::Config> Get<Option<H256>> for AuthorVrf<T> {
	fn get() -> Option<H256> {
		pallet_babe::AuthorVrfRandomness::<T>::get().map(H256)
	}
}

/// The account that made a block.
///
/// The first block of an epoch names its author by index among the *new* authorities, but
/// Authorship asks before Session has turned to them. `FindAccountFromAuthorIndex` would
/// then name someone else whenever the authorities change; this looks among the queued
/// ones instead.
pub struct BlockAuthor<T>(PhantomData<T>);

impl<T: WeightedConfig> FindAuthor<T::AccountId> for BlockAuthor<T> {
	fn find_author<'a, I>(digests: I) -> Option<T::AccountId>
	where
		I: 'a + IntoIterator<Item = (ConsensusEngineId, &'a [u8])>,
	{
		let index = pallet_babe::Pallet::<T>::find_author(digests)? as usize;
		let now = frame_system::Pallet::<T>::block_number();
		// Babe has taken the slot from the block's digest before Authorship asks; once
		// Session has turned, the epoch is the block's own.
		if pallet_babe::Pallet::<T>::should_epoch_change(now) {
			let queued = pallet_session::QueuedKeys::<T>::get();
			queued.get(index).map(|(who, _)| who.clone())
		} else {
			pallet_session::Validators::<T>::get().get(index).cloned()
		}
	}
}

/// A base call filter that refuses `Session.purge_keys`.
///
/// A filter does not know who calls, and the session pallet does not check whether its caller is
/// needed: if all authorities purged their keys, none would be left. So that call is refused to
/// all, and [`purge_keys`](crate::Pallet::purge_keys) of this pallet does the same for everyone who
/// is neither a candidate nor an authority.
pub struct KeepCandidateKeys<T>(PhantomData<T>);

impl<T> Contains<<T as frame_system::Config>::RuntimeCall> for KeepCandidateKeys<T>
where
	T: pallet_session::Config,
	<T as frame_system::Config>::RuntimeCall: IsSubType<pallet_session::Call<T>>,
{
	fn contains(call: &<T as frame_system::Config>::RuntimeCall) -> bool {
		!matches!(call.is_sub_type(), Some(pallet_session::Call::purge_keys { .. }))
	}
}

impl<T> SessionAccess<T::AccountId> for pallet_session::Pallet<T>
where
	T: pallet_session::Config<ValidatorId = <T as frame_system::Config>::AccountId>,
{
	fn keys(who: &T::AccountId) -> Option<H256> {
		let keys = pallet_session::NextKeys::<T>::get(who)?;
		Some(H256(keys.using_encoded(sp_io::hashing::blake2_256)))
	}

	fn has_keys(who: &T::AccountId) -> bool {
		pallet_session::NextKeys::<T>::contains_key(who)
	}

	fn authorities() -> Vec<T::AccountId> {
		pallet_session::Validators::<T>::get()
	}

	fn current_index() -> SessionIndex {
		Self::current_index()
	}

	fn queued_keys() -> Vec<(T::AccountId, [u8; 32], [u8; 32])> {
		let raw = |keys: &T::Keys, kind| <[u8; 32]>::try_from(keys.get_raw(kind)).ok();
		pallet_session::QueuedKeys::<T>::get()
			.into_iter()
			.filter_map(|(who, keys)| {
				let babe = raw(&keys, sp_consensus_babe::KEY_TYPE)?;
				let grandpa = raw(&keys, sp_consensus_grandpa::KEY_TYPE)?;
				Some((who, babe, grandpa))
			})
			.collect()
	}

	fn purge_keys(who: &T::AccountId) -> DispatchResult {
		Self::purge_keys(RawOrigin::Signed(who.clone()).into())
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_keys(who: &T::AccountId) {
		use codec::Decode;
		// Any 32 bytes pass as a public key; every account gets its own.
		let seed = who.using_encoded(sp_io::hashing::blake2_256).repeat(4);
		let keys = T::Keys::decode(&mut &seed[..]).expect("keys are at most 128 bytes");
		for id in T::Keys::key_ids() {
			let raw = keys.get_raw(*id).to_vec();
			pallet_session::KeyOwner::<T>::insert((*id, raw), who);
		}
		pallet_session::NextKeys::<T>::insert(who, keys);
		frame_system::Pallet::<T>::inc_consumers(who).expect("the account exists");
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_authorities(all: Vec<T::AccountId>) {
		pallet_session::Validators::<T>::put(all);
	}
}
