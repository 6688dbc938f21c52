//! Attacks by a crowd that asks for what it does not need, so that nobody else can ask.

use crate::{
	jobs::{accepts, bends, trained, trained_terms},
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
};
use pallet_verification::{AuditRecords, Claims};
use std::collections::BTreeSet;
use trainyard_protocol::{audit::AuditPhase, job::Fate, pieces::Piece, JobId};
use trainyard_runtime::{AccountId, Balance, Runtime, RuntimeCall, TRY};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "crowded-out",
		source: "a third reading",
		tries: "asks for one piece by sixteen accounts of one key, so that no stranger can ask for states",
		rule: "who pledges more for a place among those who ask displaces who pledged least",
		left: None,
		run: || crowding(0),
	},
	Attack {
		name: "richer-crowd",
		source: "a third reading",
		tries: "the same, and pledges more in each place than who watches, until it has no more",
		rule: "sixteen places are pledged for against one, and a quarter of a pledge is its price",
		left: None,
		run: || crowding(40 * TRY),
	},
];

/// Accounts of a crowd: as many as strangers have places.
const PLACES: u16 = 16;

/// Accounts of one key that ask for the same.
struct Crowd {
	key: Party,
	job: JobId,
	places: Vec<AccountId>,
	/// What each pledged.
	pledge: Balance,
	/// Transactions.
	sent: u32,
}

/// The call by which somebody asks for a piece.
fn ask(job: JobId, piece: Piece, pledge: Balance) -> RuntimeCall {
	let pieces = vec![piece].try_into().expect("it is one");
	pallet_verification::Call::request { job, group: 0, pieces, pledge }.into()
}

/// What somebody pledged with its open claim, if it has one.
fn pledged(scene: &mut Scene, job: JobId, who: &AccountId) -> Option<Balance> {
	let claims = scene.chain.state(|| Claims::<Runtime>::get(job, who));
	claims.iter().find(|claim| claim.open).map(|claim| claim.pledge)
}

impl Crowd {
	/// An account of the crowd makes a call.
	fn by(index: u16, call: RuntimeCall) -> RuntimeCall {
		pallet_utility::Call::as_derivative { index, call: Box::new(call) }.into()
	}

	/// Asks again for all places at once, in the last block of the time that others have to give something,
	/// and whenever the watcher has a place of which it can push it out.
	fn crowds(&mut self, scene: &mut Scene, watcher: &AccountId) {
		let job = self.job;
		let now = scene.height();
		let relay = scene.chain.state(|| AuditRecords::<Runtime>::get(job)).and_then(|a| a.relay);
		let theirs = pledged(scene, job, watcher);
		let pledge = theirs.map_or(self.pledge, |theirs| theirs + 1);
		// Half a TRY is for the bytes, and for the account to exist.
		let most = pledge + self.pledge / 4 + TRY / 2;
		let is_rich = self.places.iter().all(|place| scene.worth(place) >= most);
		let is_due = relay.is_none_or(|relay| now >= relay);
		let acts = match theirs {
			Some(_) => is_rich,
			None => is_due,
		};
		if !acts {
			return;
		}
		let (withdraw, mut calls) =
			(pallet_verification::Call::withdraw_request { job, group: 0 }, Vec::new());
		for (at, place) in (0u16..).zip(self.places.clone()) {
			if pledged(scene, job, &place).is_some() {
				calls.push(Self::by(at, withdraw.clone().into()));
			}
		}
		calls.extend((0..PLACES).map(|at| Self::by(at, ask(job, Piece::Leaves, pledge))));
		let batch = pallet_utility::Call::batch_all { calls };
		if let Some(Ok(())) = scene.send(&self.key, batch) {
			self.pledge = pledge;
			self.sent += 1;
		}
	}
}

/// A false result whose committee is bought, and whose states are served to it alone. The crowd sees what
/// the watcher does before it acts, in every block.
fn crowding(each: Balance) -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let key = scene.hostile("crowd");
	let watcher = scene.honest("watcher");
	scene.verifiers(Side::Attacker, 3, 2 * BOND);
	let place = |at| pallet_utility::derivative_account_id(key.account.clone(), at);
	let places: Vec<AccountId> = (0..PLACES).map(place).collect();
	let fund = places.iter().map(|place| {
		let (dest, value) = (place.clone().into(), TRY + each);
		pallet_balances::Call::transfer_allow_death { dest, value }.into()
	});
	let calls: Vec<RuntimeCall> = fund.collect();
	scene.call(&key, pallet_utility::Call::batch_all { calls }).expect("it has money");
	// What they have is the attacker's.
	let accounts = places.iter().map(|place| Party { account: place.clone(), ..key.clone() });
	scene.parties.extend(accounts);
	scene.start();
	let spec = trained().spec().spec().clone();
	let job = scene.post(&submitter, &spec, &trained_terms()).expect("it is valid");
	scene.trains(&trainer, job, bends);
	scene.stands(job, &accepts);
	let mut crowd = Crowd { key, job, places, pledge: 0, sent: 0 };
	let least = scene.challenge_deposit(job) / 16;
	let (mut tried, mut answers, mut pledge) = (0u32, BTreeSet::new(), 0);
	scene.begin();
	crowd.crowds(&mut scene, &watcher.account);
	scene.end();
	loop {
		let audit = scene.job(job).audit.filter(|audit| audit.phase != AuditPhase::Done);
		let Some(audit) = audit else { break };
		scene.begin();
		if let AuditPhase::Standing { .. } = audit.phase {
			if pledged(&mut scene, job, &watcher.account).is_none() {
				// It was refused or pushed out: it pledges twice as much.
				let result = scene.send(&watcher, ask(job, Piece::State(1), pledge));
				answers.extend(result.map(answer));
				pledge = (2 * pledge).max(least);
				tried += 1;
			}
			crowd.crowds(&mut scene, &watcher.account);
		}
		scene.end();
	}
	let money = scene.settle(&[job], &accepts)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Unavailable, "a false result");
	let fees = scene.fees_of(&crowd.key.account);
	let prices: Balance = crowd.places.iter().map(|of| TRY + each - scene.worth(of)).sum();
	let facts = vec![
		("times that a stranger asked for a state", tried.to_string()),
		("the answers", answers.into_iter().collect::<Vec<_>>().join(", ")),
		("what each of the crowd pledged at most", amount(crowd.pledge)),
		("transactions of the crowd, and their fees", format!("{}, {}", crowd.sent, amount(fees))),
		("prices of its places", amount(prices)),
		("what the cheat lost of its deposit", amount(money.slashed)),
	];
	Outcome { scene, facts }
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::jobs::honestly;

	/// The shortest sequence by which `random` found that the books of the sandbox left out what is pledged:
	/// a stranger pledges for its place while a result stands. The money was right.
	#[test]
	fn what_is_pledged_is_on_hold_and_in_the_books() {
		let mut scene = Scene::new();
		let submitter = scene.honest("submitter");
		let trainer = scene.trainer(Side::Honest);
		let stranger = scene.honest("stranger");
		scene.verifiers(Side::Honest, 3, 2 * BOND);
		let spec = trained().spec().spec().clone();
		let job = scene.post(&submitter, &spec, &trained_terms()).expect("it is valid");
		scene.trains(&trainer, job, honestly);
		scene.stands(job, &accepts);
		scene.call(&stranger, ask(job, Piece::Leaves, TRY)).expect("there is a place");
		let claims = |who: &AccountId| pallet_verification::Claims::<Runtime>::get(job, who);
		let claim = scene.chain.state(|| claims(&stranger.account)).remove(0);
		assert!(claim.prepaid > 0 && claim.pledge == TRY);
		assert_eq!(scene.held(&stranger.account), claim.prepaid + TRY);
		scene.check();
		// A quarter is the price of the place.
		let before = scene.worth(&stranger.account) + scene.fees_of(&stranger.account);
		let withdraw = pallet_verification::Call::withdraw_request { job, group: 0 };
		scene.call(&stranger, withdraw).expect("it asked");
		let after = scene.worth(&stranger.account) + scene.fees_of(&stranger.account);
		assert_eq!((scene.held(&stranger.account), before - after), (0, TRY / 4));
		scene.check();
	}
}
