//! The court's calls.

use super::{Accusation, DisputeId};
use crate::Call;
use codec::Encode;
use trainyard_court::{
	game::{Opening, Place, Roots, Witness},
	referee::Openings,
};
use trainyard_protocol::{job::Balance, JobId, H256};

/// Name of the pallet in the runtime.
pub(super) const PALLET: &str = "Court";

/// `Court.commit`: bind oneself to a challenge, by [`challenge_hash`](super::challenge_hash), before
/// it is shown; its deposit is held.
pub fn commit(job: JobId, hash: &H256) -> Call {
	Call::new(PALLET, "commit", (job, hash))
}

/// `Court.challenge`: show the accusation to which one is bound, and begin a dispute.
pub fn challenge(accusation: &Accusation, salt: &[u8; 32]) -> Call {
	Call::new(PALLET, "challenge", (accusation, salt))
}

/// `Court.raise`: add `more` to the deposit of one's challenge.
pub fn raise(id: DisputeId, more: Balance) -> Call {
	Call::new(PALLET, "raise", (id, more))
}

/// `Court.withdraw`: give one's challenge up.
pub fn withdraw(id: DisputeId) -> Call {
	Call::new(PALLET, "withdraw", id)
}

/// `Court.post`: post digests at the place where a dispute stands.
pub fn post(id: DisputeId, place: &Place, roots: &Roots) -> Call {
	Call::new(PALLET, "post", (id, place, roots))
}

/// `Court.open`: open the place where a dispute stands.
pub fn open(id: DisputeId, place: &Place, opening: &Opening) -> Call {
	Call::new(PALLET, "open", (id, place, opening))
}

/// `Court.deny`: deny claim `at` of what is claimed at the place where a dispute stands.
pub fn deny(id: DisputeId, place: &Place, at: u32) -> Call {
	Call::new(PALLET, "deny", (id, place, at))
}

/// `Court.judge`: bring what the piece of a dispute reads.
pub fn judge(id: DisputeId, openings: &Openings) -> Call {
	Call::new(PALLET, "judge", (id, openings.encode()))
}

/// `Court.show`: show a number that is not finite at the place where a dispute stands.
pub fn show(id: DisputeId, place: &Place, witness: &Witness) -> Call {
	Call::new(PALLET, "show", (id, place, witness))
}

/// `Court.poke`: serve what is due of a dispute or of a commitment.
pub fn poke(id: DisputeId) -> Call {
	Call::new(PALLET, "poke", id)
}

#[cfg(test)]
mod tests {
	use super::*;
	use codec::DecodeAll;
	use trainyard_court::game::Target;

	#[test]
	fn moves_decode_as_the_pallet_declares_them() {
		let place = Place::Ends { target: Target::Segment(3) };
		let roots = Roots::truncate_from(vec![H256::repeat_byte(7); 3]);
		let call = post(5, &place, &roots);
		let decoded = <(DisputeId, Place, Roots)>::decode_all(&mut call.arguments()).unwrap();
		assert_eq!((call.title().as_str(), decoded), ("Court.post", (5, place, roots)));
		// The pallet takes openings as bytes: it looks at their length before it decodes them.
		let openings = Openings::Contents(vec![H256::repeat_byte(1)]);
		let call = judge(5, &openings);
		let (id, bytes) = <(DisputeId, Vec<u8>)>::decode_all(&mut call.arguments()).unwrap();
		assert_eq!((id, Openings::from_bytes(&bytes).unwrap()), (5, openings));
		assert_eq!(poke(5).arguments(), 5u64.encode());
	}
}
