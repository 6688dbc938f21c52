//! What is known of a result, for those who trade in what it is paid.

use crate::{mock::*, Fault, Tariff};
use frame_support::assert_ok;
use trainyard_protocol::{
	audit::{AuditPhase, Decision},
	claims::Known,
	pieces::Piece,
	H256,
};
use trainyard_traits::Audits;

const TRAINER: AccountId = TRAINERS[0];

fn known() -> Option<Known> {
	Verification::known(JOB, &TRAINER)
}

/// What is known in round 0.
fn at(stands: bool, asked: u32) -> Option<Known> {
	Some(Known { root: bundle_of(TRAINER), round: 0, stands, asked })
}

#[test]
fn nothing_is_known_of_what_is_not_audited() {
	run(|| {
		assert_eq!(known(), None);
		bonded(3);
		open(1, 3);
		assert_eq!(Verification::known(JOB, &VERIFIERS[0]), None);
		assert_eq!(Verification::known(JOB + 1, &TRAINER), None);
		assert_eq!(known(), None, "no committee is drawn");
		tick_until(is_committing);
		assert_eq!(known(), at(false, 0));
		assert_ne!(known().map(|known| known.root), Some(H256::zero()));
	});
}

/// From the first seat that may reveal until trainers have opened what they forced, some know more than others.
#[test]
fn while_seats_reveal_nothing_is_said() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		assert_eq!(known(), at(false, 0));
		let seats = committee();
		let says: Vec<Said> = seats.iter().map(|who| say(*who, &[Say::Yes])).collect();
		for (who, said) in seats.iter().zip(&says) {
			assert_ok!(commit(*who, said));
			assert_eq!(known(), at(false, 0), "what is committed nobody knows");
		}
		tick_until(is_revealing);
		assert_eq!(known(), None);
		for (who, said) in seats.iter().zip(&says) {
			assert_ok!(reveal(*who, said));
			assert_eq!(known(), None);
		}
		tick_until(is_standing);
		assert_eq!(known(), at(true, 0));
		assert_eq!(finish().0, [Decision::Accepted]);
		assert_eq!((view().phase, known()), (AuditPhase::Done, None));
	});
}

/// Who had its seats be silent knows more than others of what the next committee will say.
#[test]
fn of_another_round_nothing_is_said_before_results_stand() {
	run(|| {
		bonded(5);
		open(1, 3);
		round(&vec![Act::Vanish; 3]);
		tick_until(is_committing);
		assert!(view().round > 0);
		assert_eq!(known(), None);
		unanimous(Say::Yes);
		tick_until(is_standing);
		assert_eq!(known(), Some(Known { round: view().round, ..at(true, 0).unwrap() }));
	});
}

/// While somebody lacks something, the trainer alone knows whether it will be had.
#[test]
fn while_somebody_lacks_something_nothing_is_said() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		assert_ok!(ask(committee()[0], 0, &[Piece::State(SEGMENTS)]));
		assert_eq!(known(), None, "others may give it to the seat");
		tick_until(is_rescue);
		assert_eq!(known(), None);
		let blob = H256::repeat_byte(77);
		assert_ok!(upload(TRAINER, TRAINER, 0, blob));
		tick();
		assert!(is_committing(&view().phase));
		assert_eq!(known(), at(false, 1), "what was stored is known");
	});
}

/// A trainer that was convicted has no claim to sell; another one with the same result has.
#[test]
fn of_a_convict_nothing_is_said() {
	run(|| {
		bonded(3);
		let mut request = request(1, 3);
		request.groups[0] = group_of(&[TRAINERS[0], TRAINERS[1]]);
		open_with(request);
		unanimous(Say::Yes);
		tick_until(is_standing);
		assert_eq!(known(), at(true, 0));
		let id = sue(VERIFIERS[0], of_trainer(TRAINER));
		convict(id, true);
		tick();
		assert_eq!(known(), None);
		let other = Verification::known(JOB, &TRAINERS[1]);
		assert_eq!(other.map(|known| known.root), Some(bundle_by(TRAINERS[0], TRAINERS[1])));
	});
}

/// Whatever a seat locks, what silence costs it is no less than what pools of claims count with.
#[test]
fn silence_costs_no_less_than_is_said() {
	for fee in [0, 1, STAKE / 5, STAKE, 2 * STAKE, MIN_BOND, 10 * MIN_BOND] {
		let said = <Verification as Audits<AccountId>>::silence_cost(fee);
		for locked in [STAKE, fee + fee.div_ceil(4), 10 * fee + STAKE] {
			// The least that a seat locks, and no more than the least bond where a verifier has no more.
			let stake = locked.max(STAKE).max(fee + fee.div_ceil(4)).min(MIN_BOND);
			let tariff = Tariff { stake, absence_fees: 5, contrary: 0 };
			assert!(tariff.of(Fault::NoVerdict, fee) >= said, "{fee} {locked}");
		}
		assert!(said <= 5 * fee);
	}
}
