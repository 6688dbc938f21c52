//! Joining, announcing, paying, leaving.

use super::*;
use trainyard_protocol::{swarm::role, H256};

#[test]
fn a_peer_joins_with_a_key_that_speaks_for_it() {
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		assert_eq!(held(11), PEER);
		let view = Swarming::peer(id, &11).unwrap();
		assert_eq!((view.key, view.roles, view.since), (public(11), 6, 1));
		assert_eq!(Swarming::peers(id, None, 9), [view]);
		let try_join = |who, key: u64, signer, roles, id| {
			let signature = joining(id, who, signer);
			Swarming::join(signed(who), id, public(key), signature, roles, text(""))
		};
		assert_noop!(try_join(11, 12, 12, 6, id), Error::<Test>::IsPeer);
		assert_noop!(try_join(12, 12, 13, 6, id), Error::<Test>::BadSignature);
		assert_noop!(try_join(12, 12, 12, 8, id), Error::<Test>::NoSuchRole);
		assert_noop!(try_join(12, 12, 12, 6, 4), Error::<Test>::NoSuchSwarm);
		// What was signed for another account, or for another swarm, is of no use.
		let stolen = joining(id, 11, 11);
		let call = Swarming::join(signed(12), id, public(11), stolen, 6, text(""));
		assert_noop!(call, Error::<Test>::BadSignature);
		let elsewhere = joining(id + 1, 12, 12);
		let call = Swarming::join(signed(12), id, public(12), elsewhere, 6, text(""));
		assert_noop!(call, Error::<Test>::BadSignature);
		to(1_001);
		assert_noop!(try_join(12, 12, 12, 6, id), Error::<Test>::HasEnded);
	});
}

#[test]
fn a_key_is_whose_it_was_first_and_a_second_account_is_shown() {
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		let signature = joining(id, 12, 11);
		assert_ok!(Swarming::join(signed(12), id, public(11), signature, 6, text("")));
		let (key, first, second) = (public(11), 11, 12);
		assert_eq!(events().last(), Some(&Event::Duplicate { swarm: id, key, first, second }));
		assert!(Swarming::peer(id, &12).is_none());
		assert_eq!((held(12), get(id).peers), (0, 1));
	});
}

#[test]
fn a_swarm_has_room_for_so_many_peers() {
	run(|| {
		let id = open_with(Plan { max_peers: 1, ..plan(Payer::Peers) });
		join(id, 11);
		let call = Swarming::join(signed(12), id, public(12), joining(id, 12, 12), 6, text(""));
		assert_noop!(call, Error::<Test>::TooManyPeers);
		impoverish(13, 20);
		let id = open(Payer::Peers);
		let call = Swarming::join(signed(13), id, public(13), joining(id, 13, 13), 6, text(""));
		assert!(call.is_err(), "no money for the deposit");
	});
}

#[test]
fn a_peer_changes_what_it_does_and_in_a_private_swarm_serves_no_data() {
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		let update = |who, id, roles| Swarming::update(signed(who), id, roles, text("there"));
		assert_ok!(update(11, id, role::DATA));
		let view = Swarming::peer(id, &11).unwrap();
		assert_eq!((view.roles, view.location), (role::DATA, text("there")));
		assert_ok!(update(11, id, 0));
		assert_noop!(update(11, id, 8), Error::<Test>::NoSuchRole);
		assert_noop!(update(12, id, 1), Error::<Test>::NotPeer);
		assert_noop!(update(12, 9, 1), Error::<Test>::NoSuchSwarm);
		let id = open_with(Plan { private: true, ..plan(Payer::Peers) });
		join(id, 11);
		assert_noop!(update(11, id, role::DATA), Error::<Test>::IsPrivate);
		assert_ok!(update(11, id, role::MIX));
	});
}

#[test]
fn who_announces_a_model_first_is_its_maker() {
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		join(id, 12);
		let announce =
			|who, of: u32| Swarming::announce(signed(who), id, H256::from_low_u64_be(of.into()));
		assert_ok!(announce(11, 1));
		assert_noop!(announce(12, 1), Error::<Test>::IsAnnounced);
		assert_noop!(announce(11, 1), Error::<Test>::IsAnnounced);
		assert_noop!(announce(13, 2), Error::<Test>::NotPeer);
		let call = Swarming::announce(signed(11), 7, H256::zero());
		assert_noop!(call, Error::<Test>::NoSuchSwarm);
		// The last sixteen are remembered, and as long as a ticket for one can be claimed by.
		for of in 2..=16 {
			assert_ok!(announce(11, of));
		}
		assert_noop!(announce(11, 17), Error::<Test>::TooManyModels);
		to(32);
		claim(id, 12, 1);
		show(id);
		finish(id);
		assert_ok!(announce(11, 17));
		assert_eq!(peer(id, 11).models.len(), 16);
		assert_eq!(Swarming::peer(id, &11).unwrap().models[0].0, H256::from_low_u64_be(2));
		assert_ok!(announce(12, 1));
		check();
		to(1_001);
		assert_noop!(announce(11, 20), Error::<Test>::HasEnded);
	});
}

#[test]
fn a_purse_takes_money() {
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		assert_ok!(Swarming::fund(signed(11), id, 700));
		assert_ok!(Swarming::fund(signed(11), id, 300));
		assert_eq!((peer(id, 11).purse, held(11)), (1_000, PEER + 1_000));
		assert_noop!(Swarming::fund(signed(11), id, 0), Error::<Test>::NothingToPay);
		assert_noop!(Swarming::fund(signed(12), id, 5), Error::<Test>::NotPeer);
		assert!(Swarming::fund(signed(11), id, ENDOWMENT).is_err());
		to(1_001);
		assert_noop!(Swarming::fund(signed(11), id, 5), Error::<Test>::HasEnded);
	});
}

fn payment(to: u64, amount: u128, ticket: u8, expires: u32) -> Payment<u64> {
	Payment { to, amount, ticket: H256::repeat_byte(ticket), expires }
}

fn pay(who: u64, id: u32, payments: Vec<Payment<u64>>) -> frame_support::dispatch::DispatchResult {
	Swarming::pay(signed(who), id, payments.try_into().unwrap())
}

#[test]
fn peers_pay_many_tickets_in_one_call() {
	run(|| {
		let id = open(Payer::Peers);
		(11..14).for_each(|who| join(id, who));
		let payments = vec![payment(12, 100, 1, 20), payment(13, 30, 2, 20), payment(12, 5, 1, 20)];
		assert_ok!(pay(11, id, payments));
		assert_eq!(free(12), ENDOWMENT - PEER + 105);
		assert_eq!((peer(id, 12).earned, peer(id, 13).earned), (105, 30));
		assert_eq!((peer(id, 11).paid, free(11)), (135, ENDOWMENT - PEER - 135));
		// What was paid to somebody else is another payment.
		assert_ok!(pay(11, id, vec![payment(13, 7, 1, 20)]));
		let paid = Swarming::paid(id, &11, &13);
		assert_eq!(paid, [H256::repeat_byte(2), H256::repeat_byte(1)]);
		let settled: Vec<u128> = peer(id, 11).settled.iter().map(|settled| settled.paid).collect();
		assert_eq!(settled, [105, 30, 7]);
	});
}

#[test]
fn what_is_no_payment_is_refused() {
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		join(id, 12);
		assert_noop!(pay(11, id, vec![]), Error::<Test>::NothingToPay);
		assert_noop!(pay(11, id, vec![payment(12, 0, 1, 20)]), Error::<Test>::NothingToPay);
		assert_noop!(pay(11, id, vec![payment(11, 5, 1, 20)]), Error::<Test>::OwnTicket);
		assert_noop!(pay(11, id, vec![payment(13, 5, 1, 20)]), Error::<Test>::NotPeer);
		assert_noop!(pay(13, id, vec![payment(11, 5, 1, 20)]), Error::<Test>::NotPeer);
		assert_noop!(pay(11, 8, vec![payment(12, 5, 1, 20)]), Error::<Test>::NoSuchSwarm);
		assert_noop!(pay(11, id, vec![payment(12, 5, 1, 32)]), Error::<Test>::BadExpiry);
		assert_noop!(pay(11, id, vec![payment(12, 5, 1, 0)]), Error::<Test>::BadExpiry);
		assert!(pay(11, id, vec![payment(12, ENDOWMENT, 1, 20)]).is_err());
		// Some of it fails, so all of it does.
		let some = vec![payment(12, 5, 1, 20), payment(13, 5, 2, 20)];
		assert_noop!(pay(11, id, some), Error::<Test>::NotPeer);
	});
}

#[test]
fn tickets_are_forgotten_when_they_have_expired() {
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		join(id, 12);
		let many = (0..32).map(|ticket| payment(12, 5, ticket, 20)).collect();
		assert_ok!(pay(11, id, many));
		assert_noop!(pay(11, id, vec![payment(12, 5, 99, 20)]), Error::<Test>::TooManyTickets);
		assert_ok!(pay(11, id, vec![payment(12, 5, 3, 20)]));
		to(21);
		assert_noop!(pay(11, id, vec![payment(12, 5, 99, 40)]), Error::<Test>::TooManyTickets);
		// Two rounds later nobody can claim by them.
		for _ in 0..2 {
			claim(id, 12, 1);
			show(id);
			finish(id);
		}
		let expires = System::block_number() + 20;
		assert_ok!(pay(11, id, vec![payment(12, 5, 99, expires)]));
		assert_eq!(peer(id, 11).settled.len(), 1);
	});
}

#[test]
fn a_peer_leaves_when_its_tickets_have_expired() {
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		assert_ok!(Swarming::fund(signed(11), id, 500));
		assert_ok!(Swarming::announce(signed(11), id, H256::repeat_byte(1)));
		assert_ok!(Swarming::leave(signed(11), id));
		assert_eq!(events().last(), Some(&Event::Leaving { swarm: id, peer: 11, from: 36 }));
		let call = Swarming::claim(signed(11), id, H256::zero());
		assert_noop!(call, Error::<Test>::IsLeaving);
		to(36);
		assert_noop!(Swarming::leave(signed(11), id), Error::<Test>::TooSoon);
		to(37);
		assert_ok!(Swarming::leave(signed(11), id));
		let returned = PEER + 500;
		assert_eq!(events().last(), Some(&Event::Left { swarm: id, peer: 11, returned }));
		assert_eq!((held(11), free(11), get(id).peers), (0, ENDOWMENT, 0));
		assert_noop!(Swarming::leave(signed(11), id), Error::<Test>::NotPeer);
		assert_noop!(Swarming::leave(signed(11), 8), Error::<Test>::NoSuchSwarm);
		// The key and the model are free again.
		join(id, 11);
		assert_ok!(Swarming::announce(signed(11), id, H256::repeat_byte(1)));
		to(1_001);
		assert_ok!(Swarming::leave(signed(11), id));
		assert_eq!(held(11), 0);
	});
}

#[test]
fn a_peer_does_not_leave_while_a_round_runs_that_may_be_about_it() {
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		join(id, 12);
		assert_ok!(Swarming::leave(signed(11), id));
		to(36);
		claim(id, 12, 1);
		to(37);
		assert_noop!(Swarming::leave(signed(11), id), Error::<Test>::TooSoon);
		show(id);
		finish(id);
		// Who could not claim while that ran has a little time.
		assert_noop!(Swarming::leave(signed(11), id), Error::<Test>::TooSoon);
		pass(5);
		assert_noop!(Swarming::leave(signed(11), id), Error::<Test>::TooSoon);
		pass(1);
		assert_ok!(Swarming::leave(signed(11), id));
	});
	run(|| {
		let id = open(Payer::Peers);
		join(id, 11);
		join(id, 12);
		assert_ok!(Swarming::leave(signed(11), id));
		to(50);
		claim(id, 12, 1);
		show(id);
		finish(id);
		claim(id, 12, 1);
		// No ticket of the leaving peer can be claimed in this one.
		assert_ok!(Swarming::leave(signed(11), id));
	});
}
