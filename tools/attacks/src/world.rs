//! A chain, the accounts that act on it, and what they keep to themselves until they reveal it.

use rand::{rngs::StdRng, seq::IndexedRandom, Rng, SeedableRng};
use std::{collections::HashMap, rc::Rc};
use trainyard_protocol::{
	audit::{Findings, Paths},
	blob::Chunked,
	drill::UnitResult,
	job::Reveal,
	JobId, H256,
};
use trainyard_runtime::{
	configs::periods::{parameters::periods, RuntimeParameters},
	*,
};
use trainyard_sandbox::{bundles::Bundle, Chain, Key};
use trainyard_traits::Accusation;

/// Accounts that act. The first six have a million TRY from genesis; the others are given some.
const ACTORS: [&str; 16] = [
	"//Alice",
	"//Bob",
	"//Charlie",
	"//Dave",
	"//Eve",
	"//Ferdie",
	"//Gina",
	"//Hugo",
	"//Iris",
	"//Jan",
	"//Karla",
	"//Leo",
	"//Mia",
	"//Nils",
	"//Olga",
	"//Pablo",
];

/// What everybody salts with: nobody here looks for it.
pub const SALT: [u8; 32] = [7; 32];

/// One account.
#[derive(Clone)]
pub struct Actor {
	/// Its key.
	pub key: Key,
	/// Its account.
	pub account: AccountId,
}

/// Everything.
pub struct World {
	/// The chain.
	pub chain: Chain,
	/// Draws what happens.
	pub rng: StdRng,
	/// Who acts.
	pub actors: Vec<Actor>,
	/// The hash of the first block.
	pub genesis: H256,
	/// What trainers committed to.
	pub results: HashMap<(JobId, AccountId), Reveal>,
	/// What they deliver, by its root.
	pub bundles: HashMap<H256, Rc<Bundle>>,
	/// What verifiers committed to, by round.
	pub findings: HashMap<(JobId, u32, AccountId), (Findings<AccountId>, Paths)>,
	/// What challengers are bound to, by job.
	pub accusations: HashMap<(JobId, AccountId), Accusation<AccountId>>,
	/// What drillers and verifiers of units committed to.
	pub units: HashMap<(u64, AccountId), UnitResult>,
	/// Files whose roots were named, by root.
	pub files: HashMap<H256, Vec<u8>>,
}

impl World {
	/// A development chain with short periods, and sixteen accounts with money.
	pub fn new(seed: u64) -> Self {
		let mut chain = Chain::development();
		chain.run(1);
		let actors: Vec<Actor> = ACTORS
			.iter()
			.map(|uri| Key::of(uri))
			.map(|key| Actor { account: key.account(), key })
			.collect();
		let genesis = chain.state(|| {
			use periods::*;
			for parameter in [
				Parameters::Reveal(Reveal, Some(15)),
				Parameters::VerdictCommit(VerdictCommit, Some(25)),
				Parameters::VerdictReveal(VerdictReveal, Some(20)),
				Parameters::Rescue(Rescue, Some(8)),
				Parameters::Review(Review, Some(25)),
			] {
				let set = RuntimeParameters::Periods(parameter);
				trainyard_runtime::Parameters::set_parameter(RuntimeOrigin::root(), set)
					.expect("root may set periods");
			}
			System::block_hash(0)
		});
		for actor in &actors[6..] {
			let dest = actor.account.clone().into();
			let pay = pallet_balances::Call::transfer_keep_alive { dest, value: 40_000 * TRY };
			chain.call(sp_keyring::Sr25519Keyring::Bob, pay).expect("//Bob has it");
		}
		Self {
			chain,
			rng: StdRng::seed_from_u64(seed),
			actors,
			genesis,
			results: HashMap::new(),
			bundles: HashMap::new(),
			findings: HashMap::new(),
			accusations: HashMap::new(),
			units: HashMap::new(),
			files: HashMap::new(),
		}
	}

	/// Draws one of these.
	pub fn one<T: Clone>(&mut self, of: &[T]) -> Option<T> {
		of.choose(&mut self.rng).cloned()
	}

	/// Draws an account.
	pub fn anyone(&mut self) -> Actor {
		let at = self.rng.random_range(0..self.actors.len());
		self.actors[at].clone()
	}

	/// Returns whether something of that chance happens, in hundredths.
	pub fn chance(&mut self, hundredths: u32) -> bool {
		self.rng.random_ratio(hundredths, 100)
	}

	/// Returns who has this account, if it is one of ours.
	pub fn owner(&self, account: &AccountId) -> Option<Actor> {
		self.actors.iter().find(|actor| actor.account == *account).cloned()
	}

	/// Remembers a file, and returns it in chunks.
	pub fn file(&mut self, bytes: Vec<u8>) -> H256 {
		let root = Chunked::new(&bytes).root;
		self.files.insert(root, bytes);
		root
	}
}
