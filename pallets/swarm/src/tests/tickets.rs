//! What peers owe by tickets.

use super::*;
use trainyard_protocol::{swarm::Ticket, H256};

/// 11 pays, 12 made the remote model; 11 has the model of seed 1, 12 that of seed 2.
fn opened() -> u32 {
	let id = open(Payer::Peers);
	(11..15).for_each(|who| join(id, who));
	assert_ok!(Swarming::fund(signed(11), id, 10_000));
	assert_ok!(Swarming::announce(signed(12), id, root(&model_file(2))));
	id
}

fn mixed() -> Vec<u8> {
	mean(&model_file(1), &model_file(2))
}

/// Stores the models of a ticket.
fn store_all() {
	for file in [model_file(1), model_file(2), mixed()] {
		store(&file);
	}
}

fn commit(id: u32, who: u64, file: &[u8], ticket: &Ticket<u64>) -> u32 {
	let made = commitment(id, who, file, Some(ticket.digest(&genesis())));
	assert_ok!(Swarming::claim(signed(who), id, made));
	get(id).claims - 1
}

fn say_by(
	id: u32,
	who: u64,
	number: u32,
	file: &[u8],
	ticket: &Ticket<u64>,
	(new, base): (u32, u32),
) -> frame_support::dispatch::DispatchResult {
	let mut said = said(file, new, base);
	said.promise = Some(promise(ticket, 1));
	Swarming::say(signed(who), id, number, said, [7; 32])
}

/// A round in which 12 claims by the ticket that the mean gets so many labels right.
fn claimed(id: u32, new: u32, base: u32) -> Vec<Event<Test>> {
	let ticket = ticket(id, 11, 12, 1, 2);
	let number = commit(id, 12, &mixed(), &ticket);
	show(id);
	store_all();
	assert_ok!(say_by(id, 12, number, &mixed(), &ticket, (new, base)));
	finish(id)
}

#[test]
fn a_refused_payment_is_taken_from_the_purse() {
	run(|| {
		let id = opened();
		let all = claimed(id, 620, 600);
		let gained = |event: &Event<Test>| {
			matches!(event, Event::Gained { amount: 2_000, payer: Some(11), .. })
		};
		assert!(happened(&all, gained));
		assert_eq!((peer(id, 11).purse, peer(id, 11).paid), (8_000, 2_000));
		assert_eq!((peer(id, 12).earned, free(12)), (2_000, ENDOWMENT - PEER - FEE + 2_000));
		assert_eq!(get(id).best, model(&model_file(0)), "no model of the swarm");
	});
}

#[test]
fn what_was_paid_is_not_owed_again() {
	run(|| {
		let id = opened();
		let ticket = ticket(id, 11, 12, 1, 2);
		let digest = ticket.digest(&genesis());
		let paid = Payment { to: 12, amount: 1_500, ticket: digest, expires: ticket.expires };
		assert_ok!(Swarming::pay(signed(11), id, vec![paid].try_into().unwrap()));
		claimed(id, 620, 600);
		assert_eq!((peer(id, 12).earned, peer(id, 11).purse), (2_000, 9_500));
	});
}

#[test]
fn a_purse_pays_what_it_has() {
	run(|| {
		let id = opened();
		let all = claimed(id, 900, 600);
		assert!(happened(&all, |event| matches!(event, Event::Gained { amount: STAKE, .. })));
		claimed_again(id);
	});
}

/// A second ticket, which the purse cannot pay in full.
fn claimed_again(id: u32) {
	for _ in 0..2 {
		let ticket = Ticket { nonce: System::block_number(), ..ticket(id, 11, 12, 1, 2) };
		let number = commit(id, 12, &mixed(), &ticket);
		show(id);
		assert_ok!(say_by(id, 12, number, &mixed(), &ticket, (900, 600)));
		finish(id);
	}
	assert_eq!((peer(id, 11).purse, peer(id, 12).earned), (0, 10_000));
}

#[test]
fn who_claims_what_brought_nothing_pays_who_was_accused() {
	run(|| {
		let id = opened();
		let all = claimed(id, 580, 600);
		assert!(happened(&all, |event| matches!(event, Event::Lost { amount: 2_000, .. })));
		assert_eq!(free(11), ENDOWMENT - PEER - 10_000 + 2_000);
		assert_eq!(free(12), ENDOWMENT - PEER - FEE - 2_000);
	});
}

#[test]
fn worth_is_measured_from_the_payers_own_score() {
	run(|| {
		let mut plan = plan(Payer::Peers);
		plan.reward.curve = Curve::Power { factor: 100_000, exponent: 2 };
		let id = open_with(plan);
		(11..13).for_each(|who| join(id, who));
		assert_ok!(Swarming::fund(signed(11), id, 10_000));
		assert_ok!(Swarming::announce(signed(12), id, root(&model_file(2))));
		claimed(id, 620, 600);
		// 100,000 * (0.62^2 - 0.6^2)
		assert_eq!(peer(id, 12).earned, 2_440);
	});
}

/// What saying the claim by a ticket comes to, where all models are there.
fn refused(id: u32, ticket: &Ticket<u64>, error: Error<Test>) {
	let number = commit(id, 12, &mixed(), ticket);
	show(id);
	store_all();
	store(&model_file(3));
	let call = say_by(id, 12, number, &mixed(), ticket, (620, 600));
	assert_noop!(call, error);
	finish(id);
}

#[test]
fn what_is_no_promise_is_refused() {
	let wrong = |change: fn(&mut Ticket<u64>), error: Error<Test>| {
		run(|| {
			let id = opened();
			pass(3);
			let mut ticket = ticket(id, 11, 12, 1, 2);
			change(&mut ticket);
			refused(id, &ticket, error);
		})
	};
	wrong(|ticket| ticket.swarm += 1, Error::WrongTicket);
	wrong(|ticket| ticket.maker = 13, Error::WrongTicket);
	wrong(|ticket| ticket.payer = 12, Error::OwnTicket);
	wrong(|ticket| ticket.expires = 0, Error::BadExpiry);
	wrong(|ticket| ticket.expires = 4 + 5 + 30 + 1, Error::BadExpiry);
	wrong(|ticket| ticket.payer = 20, Error::NotPeer);
	wrong(|ticket| ticket.remote = H256::repeat_byte(1), Error::NotAnnounced);
	wrong(|ticket| ticket.own = root(&model_file(3)), Error::WrongTicket);
}

#[test]
fn a_ticket_is_signed_by_the_payers_key_and_claimed_once() {
	run(|| {
		let id = opened();
		let good = ticket(id, 11, 12, 1, 2);
		let (first, second) = (commit(id, 12, &mixed(), &good), commit(id, 12, &mixed(), &good));
		show(id);
		store_all();
		let mut forged = said(&mixed(), 620, 600);
		let mut by = promise(&good, 1);
		by.signature = joining(id, 12, 12).0;
		forged.promise = Some(by);
		let call = Swarming::say(signed(12), id, second, forged, [7; 32]);
		assert_noop!(call, Error::<Test>::BadSignature);
		assert_ok!(say_by(id, 12, first, &mixed(), &good, (620, 600)));
		let again = say_by(id, 12, second, &mixed(), &good, (620, 600));
		assert_noop!(again, Error::<Test>::WrongTicket);
	});
	run(|| {
		let id = opened();
		let bare = commitment(id, 12, &mixed(), None);
		assert_ok!(Swarming::claim(signed(12), id, bare));
		show(id);
		let call = Swarming::say(signed(12), id, 0, said(&mixed(), 620, 600), [7; 32]);
		assert_noop!(call, Error::<Test>::NoTicket);
	});
}

#[test]
fn a_ticket_that_expired_while_a_round_ran_holds_for_the_next() {
	run(|| {
		let id = opened();
		// A round of somebody else, in which nobody can claim.
		claim(id, 13, 1);
		to(7);
		let ticket = Ticket { expires: 8, ..ticket(id, 11, 12, 1, 2) };
		show(id);
		finish(id);
		assert!(System::block_number() > 8);
		let number = commit(id, 12, &mixed(), &ticket);
		show(id);
		store_all();
		assert_ok!(say_by(id, 12, number, &mixed(), &ticket, (620, 600)));
		finish(id);
		assert_eq!(peer(id, 12).earned, 2_000);
	});
}

#[test]
fn what_was_paid_to_somebody_else_is_owed_all_the_same() {
	run(|| {
		let id = opened();
		let ticket = ticket(id, 11, 12, 1, 2);
		let (digest, expires) = (ticket.digest(&genesis()), ticket.expires);
		// 13 is the payer's own second account.
		let paid = Payment { to: 13, amount: 2_000, ticket: digest, expires };
		assert_ok!(Swarming::pay(signed(11), id, vec![paid].try_into().unwrap()));
		claimed(id, 620, 600);
		assert_eq!(peer(id, 12).earned, 2_000);
	});
}

#[test]
fn nobody_is_paid_as_the_maker_of_what_another_one_made() {
	run(|| {
		let id = opened();
		// 13 took the model of 12, and gave it to 11.
		assert_noop!(
			Swarming::announce(signed(13), id, root(&model_file(2))),
			Error::<Test>::IsAnnounced
		);
		let ticket = ticket(id, 11, 13, 1, 2);
		let number = commit(id, 13, &mixed(), &ticket);
		show(id);
		store_all();
		let call = say_by(id, 13, number, &mixed(), &ticket, (620, 600));
		assert_noop!(call, Error::<Test>::NotAnnounced);
	});
}

#[test]
fn claimed_tickets_are_remembered_until_they_expire() {
	run(|| {
		let id = opened();
		claimed(id, 620, 600);
		assert_eq!(peer(id, 12).claimed.len(), 1);
		to(100);
		claimed(id, 620, 600);
		to(150);
		claimed(id, 620, 600);
		assert_eq!(peer(id, 12).claimed.len(), 2, "the first can be claimed by no more");
		assert_eq!(peer(id, 12).earned, 6_000);
	});
}

#[test]
fn a_maker_with_too_many_tickets_cannot_claim_what_it_could_not_say() {
	run(|| {
		let id = opened();
		crate::Peers::<Test>::mutate(id, 12, |peer| {
			let claimed = &mut peer.as_mut().unwrap().claimed;
			(0..31).for_each(|byte| claimed.try_push((H256::repeat_byte(byte), 20)).unwrap());
		});
		let call = Swarming::claim(signed(12), id, H256::zero());
		assert_noop!(call, Error::<Test>::TooManyTickets);
	});
}

#[test]
fn a_model_that_is_not_the_mean_is_refuted() {
	run(|| {
		let id = opened();
		let ticket = ticket(id, 11, 12, 1, 2);
		let mut false_mean = mixed();
		let place = false_mean.len() - 8;
		false_mean[place] ^= 1;
		let number = commit(id, 12, &false_mean, &ticket);
		let honest = commit(id, 12, &mixed(), &Ticket { nonce: 1, ..ticket.clone() });
		show(id);
		store_all();
		store(&false_mean);
		assert_ok!(say_by(id, 12, number, &false_mean, &ticket, (700, 600)));
		let second = Ticket { nonce: 1, ..ticket.clone() };
		assert_ok!(say_by(id, 12, honest, &mixed(), &second, (620, 600)));
		let chunk = place as u64 / 1_024;
		let (own, remote) = (model_file(1), model_file(2));
		let refute = |who, number, chunk, files: [&[u8]; 3]| {
			Swarming::refute_mean(signed(who), id, number, chunk, openings(chunk, files))
		};
		let files: [&[u8]; 3] = [&false_mean, &own, &remote];
		assert_noop!(refute(14, number, chunk, files), Error::<Test>::NotChallenging);
		until_challenging(id);
		assert_noop!(refute(14, number, 0, files), Error::<Test>::NotRefuted);
		assert_noop!(refute(14, 7, chunk, files), Error::<Test>::NoSuchClaim);
		let swapped: [&[u8]; 3] = [&own, &false_mean, &remote];
		assert_noop!(refute(14, number, chunk, swapped), Error::<Test>::BadOpening);
		let mean = mixed();
		let honest_files: [&[u8]; 3] = [&mean, &own, &remote];
		for chunk in 0..(mean.len() as u64).div_ceil(1_024) {
			assert_noop!(refute(14, honest, chunk, honest_files), Error::<Test>::NotRefuted);
		}
		let issued = Balances::total_issuance();
		assert_ok!(refute(14, number, chunk, files));
		let reward = STAKE / 2;
		let refuted =
			Event::Refuted { swarm: id, claim: number, claimant: 12, refuter: 14, reward };
		assert_eq!(events().last(), Some(&refuted));
		assert_eq!(free(14), ENDOWMENT - PEER + reward);
		assert_eq!(Balances::total_issuance(), issued - (STAKE - reward));
		assert_noop!(refute(14, number, chunk, files), Error::<Test>::NoSuchClaim);
		check();
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::Gained { claim: 1, .. })));
		assert_eq!(peer(id, 12).earned, 2_000);
	});
}

#[test]
fn where_the_budget_pays_there_is_no_mean_to_refute() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		let number = claim(id, 11, 1);
		show(id);
		say(id, 11, number, 1, 620, 600);
		until_challenging(id);
		let file = model_file(1);
		let all = openings(0, [&file, &file, &file]);
		let call = Swarming::refute_mean(signed(12), id, number, 0, all);
		assert_noop!(call, Error::<Test>::NoTicket);
	});
}
