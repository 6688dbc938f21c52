//! Records of who was an authority in which session, with which keys and which weight.
//!
//! They prove whose key it was that equivocated. The session pallet's own history cannot: it looks
//! up the keys that an account has set *now*, so that an authority could set new keys and then
//! equivocate with the old ones, which stay in use for two sessions more. These records are of the
//! keys that a session really uses.
//!
//! A session is on record until [`Config::UnbondingBlocks`] have passed since finality overtook it (see
//! [`in_force`](crate::in_force)), a few blocks after its end where finality does not stall. No authority
//! has its bond back before that, so whatever it did, it can be reported as long as its bond is held.
//! Where finality stalls, records pile up, one for each session; nothing that the chain does in a block
//! depends on how many there are, but a search that takes a step more for twice as many.

use crate::{
	session::weight_of, Config, Convicts, CurrentWeights, Offenders, OldestRecord, Overtaken,
	Pallet, Records, SessionAccess, Starts,
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::ops::RangeInclusive;
use frame_support::{
	traits::{Get, KeyOwnerProofSystem},
	BoundedVec,
};
use scale_info::TypeInfo;
use sp_core::crypto::KeyTypeId;
use sp_session::{GetSessionNumber, GetValidatorCount, ValidatorCount};
use sp_staking::SessionIndex;
use trainyard_protocol::job::BlockNumber;

/// Most records that one change of session removes. It adds one.
const REMOVED_AT_ONCE: u32 = 4;

/// An authority of one session.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Member<AccountId> {
	/// Who.
	pub who: AccountId,
	/// Its weight, as announced.
	pub weight: u64,
	/// Its BABE key.
	pub babe: [u8; 32],
	/// Its GRANDPA key.
	pub grandpa: [u8; 32],
}

impl<AccountId> Member<AccountId> {
	/// Returns whether this key is its key.
	fn owns(&self, kind: KeyTypeId, key: &[u8]) -> bool {
		match kind {
			sp_consensus_babe::KEY_TYPE => self.babe == key,
			sp_consensus_grandpa::KEY_TYPE => self.grandpa == key,
			_ => false,
		}
	}
}

/// Says in which session a key was used. The chain's own record is the proof.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct KeyOwnerProof {
	/// The session.
	pub session: SessionIndex,
	/// Authorities of that session.
	pub authorities: ValidatorCount,
}

impl GetSessionNumber for KeyOwnerProof {
	fn session(&self) -> SessionIndex {
		self.session
	}
}

impl GetValidatorCount for KeyOwnerProof {
	fn validator_count(&self) -> ValidatorCount {
		self.authorities
	}
}

/// Whose key it was, in which session.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Offender<AccountId> {
	/// Who.
	pub who: AccountId,
	/// When.
	pub session: SessionIndex,
}

impl<T: Config> Pallet<T> {
	/// Records the session that begins with the present block, and removes records that
	/// nobody can be reported by any more.
	pub(crate) fn record_session(session: SessionIndex) {
		let weights = CurrentWeights::<T>::get();
		let members = T::Session::queued_keys().into_iter().map(|(who, babe, grandpa)| Member {
			weight: weight_of(&weights, &who),
			who,
			babe,
			grandpa,
		});
		let members = members.take(T::MaxAuthorities::get() as usize).collect();
		let members = BoundedVec::<_, T::MaxAuthorities>::truncate_from(members);
		Self::note_serving(session, members.iter().map(|member| &member.who));
		Records::<T>::insert(session, members);
		Starts::<T>::insert(session, Self::now());

		let mut oldest = OldestRecord::<T>::get().unwrap_or(session);
		for _ in 0..REMOVED_AT_ONCE {
			// The running session cannot be: its end is not known.
			if !Self::is_settled(oldest) {
				break;
			}
			Records::<T>::remove(oldest);
			Starts::<T>::remove(oldest);
			Overtaken::<T>::remove(oldest);
			Offenders::<T>::remove(oldest);
			oldest = oldest.saturating_add(1);
		}
		OldestRecord::<T>::put(oldest);
		if Convicts::<T>::get().iter().any(|convict| convict.session < oldest) {
			Convicts::<T>::mutate(|all| all.retain(|convict| convict.session >= oldest));
		}
	}

	/// Returns who used this key in `session`, if that is on record.
	fn owner(session: SessionIndex, kind: KeyTypeId, key: &[u8]) -> Option<T::AccountId> {
		Records::<T>::get(session)?.into_iter().find(|m| m.owns(kind, key)).map(|m| m.who)
	}

	/// Returns the proof that this key was used in `session`, if that is on record.
	pub fn prove_key(session: SessionIndex, kind: KeyTypeId, key: &[u8]) -> Option<KeyOwnerProof> {
		Self::owner(session, kind, key)?;
		let authorities = Records::<T>::decode_len(session)?;
		Some(KeyOwnerProof { session, authorities: authorities.try_into().ok()? })
	}

	/// Returns the sessions on record.
	pub fn recorded() -> Option<RangeInclusive<SessionIndex>> {
		Some(OldestRecord::<T>::get()?..=T::Session::current_index())
	}

	/// Returns the session on record to which block `height` belongs; `None` for heights before
	/// them and for blocks to come.
	pub fn session_at(height: BlockNumber) -> Option<SessionIndex> {
		let recorded = Self::recorded()?;
		let (mut low, mut high) = (*recorded.start(), *recorded.end());
		if height > Self::now() || Starts::<T>::get(low)? > height {
			return None;
		}
		// The last session that began at `height` or before.
		while low < high {
			let middle = high.saturating_sub(high.saturating_sub(low) / 2);
			if Starts::<T>::get(middle)? <= height {
				low = middle;
			} else {
				high = middle.saturating_sub(1);
			}
		}
		Some(low)
	}
}

impl<T: Config, K: AsRef<[u8]>> KeyOwnerProofSystem<(KeyTypeId, K)> for Pallet<T> {
	type Proof = KeyOwnerProof;
	type IdentificationTuple = Offender<T::AccountId>;

	/// Proves that the key is used in the running session.
	fn prove((kind, key): (KeyTypeId, K)) -> Option<KeyOwnerProof> {
		Self::prove_key(T::Session::current_index(), kind, key.as_ref())
	}

	fn check_proof(
		(kind, key): (KeyTypeId, K),
		proof: KeyOwnerProof,
	) -> Option<Offender<T::AccountId>> {
		let session = proof.session;
		let truth = Self::prove_key(session, kind, key.as_ref())?;
		let who = Self::owner(session, kind, key.as_ref())?;
		(truth == proof).then_some(Offender { who, session })
	}
}
