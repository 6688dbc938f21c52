//! A chain on which something is tried: who takes part, on which side, and what each of them has.
//!
//! Whoever sets a scene gives money to parties, lets them register, and calls [`Scene::start`]; what
//! happens from then on is counted. After every block the money that there is must be right, and
//! [`Scene::check`] compares the state of all pallets.

use crate::report::Money;
use frame_support::traits::fungible::Mutate;
use sp_core::Pair;
use sp_runtime::DispatchError;
use std::{
	collections::{BTreeMap, BTreeSet, HashMap},
	rc::Rc,
};
use trainyard_protocol::{
	audit::{Findings, Paths},
	job::BlockNumber,
	seats::Resources,
	views::Hardware,
	JobId, H256,
};
use trainyard_runtime::*;
use trainyard_sandbox::{
	books::{self, Issuance},
	bundles::Bundle,
	Chain, Key,
};
use trainyard_traits::Defendant;

/// Room for everything that is tried here.
pub const ROOM: Resources = Resources { work: 100_000_000, memory_mib: 8_192, disk_mib: 100_000 };

/// Bond of a trainer, and the least of a verifier.
pub const BOND: Balance = 100 * TRY;

/// Calls that are put into a block of a scene that is being set.
const TOGETHER: usize = 32;

/// Which side somebody is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
	/// It does what the protocol asks of it.
	Honest,
	/// It belongs to the attacker.
	Attacker,
}

/// Somebody with an account.
#[derive(Clone)]
pub struct Party {
	/// What it is.
	pub role: &'static str,
	/// Its side.
	pub side: Side,
	/// Its key.
	pub key: Key,
	/// Its account.
	pub account: AccountId,
}

impl Party {
	/// What it calls to become a verifier: it registers, and sets its VRF key.
	pub fn verifies(&self, bond: Balance, capacity: Resources) -> RuntimeCall {
		use pallet_verification::Call::{register, set_vrf_key};
		let key = self.key.0.public();
		let calls: Vec<RuntimeCall> =
			vec![register { bond, capacity }.into(), set_vrf_key { key }.into()];
		pallet_utility::Call::batch_all { calls }.into()
	}
}

/// A chain and the parties on it.
pub struct Scene {
	/// The chain.
	pub chain: Chain,
	/// Everyone whose money is counted.
	pub parties: Vec<Party>,
	/// What trainers do, see [`crate::jobs`].
	pub(crate) works: Vec<crate::jobs::Work>,
	/// What verifiers committed to.
	pub(crate) findings: HashMap<(JobId, u32, AccountId), (Findings<AccountId>, Paths)>,
	/// What is true of jobs that are trained.
	pub(crate) truths: HashMap<JobId, Rc<Bundle>>,
	/// What a cheat would deliver of them.
	pub(crate) lies: HashMap<JobId, Rc<Bundle>>,
	/// What those who accuse say instead, by job.
	pub(crate) claims: HashMap<(JobId, AccountId), Rc<Bundle>>,
	/// Whom honest seats accused of what they replayed again.
	pub(crate) accused: BTreeSet<(AccountId, Defendant<AccountId>)>,
	/// Those who make no move before the court.
	pub silent: BTreeSet<AccountId>,
	/// The hash of the first block.
	pub(crate) genesis: H256,
	issuance: Issuance,
	began: Money,
	paid_before: Money,
	bought: Money,
	earned: Money,
}

impl Scene {
	/// A development chain.
	pub fn new() -> Self {
		Self::on(Chain::development())
	}

	/// The chain `chain`, which has no block yet.
	pub fn on(mut chain: Chain) -> Self {
		chain.run(1);
		let genesis = chain.state(|| System::block_hash(0));
		let issuance = Issuance::of(&mut chain);
		Self {
			chain,
			parties: Vec::new(),
			works: Vec::new(),
			findings: HashMap::new(),
			truths: HashMap::new(),
			lies: HashMap::new(),
			claims: HashMap::new(),
			accused: BTreeSet::new(),
			silent: BTreeSet::new(),
			genesis,
			issuance,
			began: BTreeMap::new(),
			paid_before: BTreeMap::new(),
			bought: BTreeMap::new(),
			earned: BTreeMap::new(),
		}
	}

	/// Gives `money` to somebody new.
	pub fn party(&mut self, role: &'static str, side: Side, money: Balance) -> Party {
		let key = Key::numbered(self.parties.len() as u32 + 1);
		let account = key.account();
		self.chain.state(|| Balances::mint_into(&account, money)).expect("it may be minted");
		let paid = std::mem::take(&mut self.issuance.paid);
		self.issuance = Issuance::of(&mut self.chain);
		self.issuance.paid = paid;
		let party = Party { role, side, key, account };
		self.parties.push(party.clone());
		party
	}

	/// An honest party with 100,000 TRY.
	pub fn honest(&mut self, role: &'static str) -> Party {
		self.party(role, Side::Honest, 100_000 * TRY)
	}

	/// A party of the attacker with 100,000 TRY.
	pub fn hostile(&mut self, role: &'static str) -> Party {
		self.party(role, Side::Attacker, 100_000 * TRY)
	}

	/// A trainer with the least bond.
	pub fn trainer(&mut self, side: Side) -> Party {
		let who = self.party("trainer", side, 100_000 * TRY);
		let hardware = Hardware::default();
		self.call(&who, pallet_hashrate::Call::register { bond: BOND, hardware })
			.expect("it may register");
		who
	}

	/// That many verifiers with this bond, all of which counts in draws already.
	pub fn verifiers(&mut self, side: Side, count: usize, bond: Balance) -> Vec<Party> {
		self.verifiers_with(side, count, bond, ROOM)
	}

	/// The same with this room.
	pub fn verifiers_with(
		&mut self,
		side: Side,
		count: usize,
		bond: Balance,
		capacity: Resources,
	) -> Vec<Party> {
		let all: Vec<Party> =
			(0..count).map(|_| self.party("verifier", side, bond + 1_000 * TRY)).collect();
		self.all(&all, |party| party.verifies(bond, capacity));
		self.chain.state(|| {
			let now = System::block_number();
			pallet_verification::Pool::<Runtime>::mutate(|pool| {
				for (_, entry) in pool.iter_mut().filter(|(_, entry)| entry.is_active()) {
					entry.counted = entry.bond;
					entry.weights.force(now, entry.bond, pallet_verification::SETTLING);
				}
			});
			pallet_verification::Inflow::<Runtime>::kill();
		});
		all
	}

	/// Everyone of these makes a call, several in a block.
	pub fn all(&mut self, who: &[Party], call: impl Fn(&Party) -> RuntimeCall) {
		for some in who.chunks(TOGETHER) {
			let mut left: Vec<&Party> = some.iter().collect();
			while !left.is_empty() {
				self.begin();
				// A block that changes the session has no room.
				left.retain(|party| match self.send(party, call(party)) {
					Some(result) => {
						result.expect("the scene is set");
						false
					}
					None => true,
				});
				self.end();
			}
		}
	}

	/// From here on it is counted.
	pub fn start(&mut self) {
		self.began.clear();
		for party in self.parties.clone() {
			let worth = self.worth(&party.account);
			self.began.insert(party.account, worth);
		}
		self.paid_before = self.issuance.paid.clone();
		self.bought.clear();
		self.earned.clear();
	}

	/// Begins a block.
	pub fn begin(&mut self) {
		self.chain.begin();
	}

	/// Sends a call of `who` in the open block. Returns what it returned; `None` where the block
	/// does not take it.
	pub fn send(
		&mut self,
		who: &Party,
		call: impl Into<RuntimeCall>,
	) -> Option<Result<(), DispatchError>> {
		self.chain.apply(who.key.clone(), call).ok()
	}

	/// Ends the open block. The money that there is must be right.
	pub fn end(&mut self) {
		self.chain.end();
		if let Err(problem) = self.issuance.follow(&mut self.chain) {
			panic!("the books do not balance: {problem}");
		}
	}

	/// Lets blocks pass in which nobody does anything.
	pub fn run(&mut self, blocks: BlockNumber) {
		for _ in 0..blocks {
			self.begin();
			self.end();
		}
	}

	/// Makes blocks until one takes this call of `who`; returns what it returned.
	pub fn call(&mut self, who: &Party, call: impl Into<RuntimeCall>) -> Result<(), DispatchError> {
		let call = call.into();
		for _ in 0..3 {
			self.begin();
			let result = self.send(who, call.clone());
			self.end();
			if let Some(result) = result {
				return result;
			}
		}
		panic!("no block takes the call: {call:?}");
	}

	/// Lets time pass until the first block of the next day.
	pub fn next_day(&mut self) {
		const DAY: BlockNumber = configs::market::DAYS;
		let now = self.height();
		self.chain.leap(DAY - 1 - now % DAY);
		self.run(1);
		assert!(self.height().is_multiple_of(DAY));
	}

	/// The height of the latest block.
	pub fn height(&mut self) -> BlockNumber {
		self.chain.state(System::block_number)
	}

	/// What an account has, on hold or free.
	pub fn worth(&mut self, who: &AccountId) -> Balance {
		self.chain.state(|| {
			let data = frame_system::Account::<Runtime>::get(who).data;
			data.free + data.reserved
		})
	}

	/// What is on hold of an account.
	pub fn held(&mut self, who: &AccountId) -> Balance {
		self.chain.state(|| frame_system::Account::<Runtime>::get(who).data.reserved)
	}

	/// What an account had at the start.
	pub fn began(&self, who: &AccountId) -> Balance {
		self.began.get(who).copied().unwrap_or(0)
	}

	/// What an account paid for its transactions since the start.
	pub fn fees_of(&self, who: &AccountId) -> Balance {
		let of = |money: &Money| money.get(who).copied().unwrap_or(0);
		of(&self.issuance.paid) - of(&self.paid_before)
	}

	/// Notes that an honest party got what it paid this for: that is no loss.
	pub fn buys(&mut self, who: &Party, price: Balance) {
		*self.bought.entry(who.account.clone()).or_default() += price;
	}

	/// Notes that an honest party did what it was promised this for: what it does not get of that is a loss.
	pub fn earns(&mut self, who: &Party, pay: Balance) {
		*self.earned.entry(who.account.clone()).or_default() += pay;
	}

	/// What an honest party was promised for what it did.
	pub fn earned(&self, who: &AccountId) -> Balance {
		self.earned.get(who).copied().unwrap_or(0)
	}

	/// What an honest party paid for what it got.
	pub fn bought(&self, who: &AccountId) -> Balance {
		self.bought.get(who).copied().unwrap_or(0)
	}

	/// Checks the state of all pallets, and what is on hold.
	pub fn check(&mut self) {
		if let Err(problem) = books::check(&mut self.chain) {
			panic!("the state is wrong: {problem}");
		}
	}
}

/// The name of the error that a call returned, or `taken`.
pub fn answer(result: Result<(), DispatchError>) -> String {
	match result {
		Ok(()) => "taken".into(),
		Err(DispatchError::Module(error)) => error.message.unwrap_or("refused").into(),
		Err(error) => format!("{error:?}"),
	}
}
