//! A chain with parties whose money is watched, and the steps of a job that attacks are made of.

use serde::Serialize;
use std::collections::BTreeMap;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::{AuditPhase, Findings, GroupVerdict, SegmentEvidence},
	blob::Chunked,
	commitment,
	job::{JobState, Reveal, Terms},
	views::{Hardware, JobView},
	JobId, Text, H256,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};
use trainyard_sandbox::{books, Chain, Key};

/// What everybody salts with: nobody here looks for it.
const SALT: [u8; 32] = [7; 32];

/// On which side somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
	/// One of the attacker's accounts.
	Attacker,
	/// Somebody who keeps the rules.
	Honest,
}

/// Somebody in the scene.
struct Party {
	side: Side,
	key: Key,
	/// What it had when it came.
	had: Balance,
	/// What it paid for transactions.
	fees: Balance,
}

/// How the money of one party, or of all of a side, changed.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sum {
	/// What is there more than at the beginning, fees counted, in units of 10^-12 TRY.
	pub gained: i128,
	/// What of that was paid for transactions.
	pub fees: i128,
}

impl Sum {
	/// What was lost beyond fees, or nothing.
	pub fn lost(&self) -> i128 {
		(-self.gained - self.fees).max(0)
	}
}

/// A chain with parties.
pub struct Scene {
	/// The chain.
	pub chain: Chain,
	parties: BTreeMap<String, Party>,
	genesis: H256,
}

impl Scene {
	/// A development chain without parties.
	pub fn new() -> Self {
		let mut chain = Chain::development();
		chain.run(1);
		let genesis = chain.state(|| System::block_hash(0));
		Self { chain, parties: BTreeMap::new(), genesis }
	}

	/// Lets somebody come with `TRY` of its own, given by one who takes no part.
	pub fn party(&mut self, side: Side, name: &str, amount: Balance) -> String {
		let key = Key::of(&format!("//{name}"));
		let dest = key.account().into();
		let pay = pallet_balances::Call::transfer_allow_death { dest, value: amount * TRY };
		self.chain.call(Key::of("//Ferdie"), pay).expect("//Ferdie has enough");
		let had = self.money(&key.account());
		self.parties.insert(name.into(), Party { side, key, had, fees: 0 });
		name.into()
	}

	/// All that an account has, free and on hold.
	fn money(&mut self, who: &AccountId) -> Balance {
		self.chain.state(|| {
			let data = System::account(who).data;
			data.free + data.reserved
		})
	}

	/// The account of a party.
	pub fn account(&self, name: &str) -> AccountId {
		self.parties[name].key.account()
	}

	/// The name of the party with this account.
	pub fn name(&self, account: &AccountId) -> Option<String> {
		let found = self.parties.iter().find(|(_, party)| party.key.account() == *account);
		found.map(|(name, _)| name.clone())
	}

	/// Makes a block for `call` alone.
	///
	/// # Errors
	///
	/// Returns the name of the error with which the chain refused it.
	pub fn call(&mut self, name: &str, call: impl Into<RuntimeCall>) -> Result<(), String> {
		let key = self.parties[name].key.clone();
		let account = key.account();
		let result = self.chain.call(key, call);
		let paid: Balance = self.chain.state(|| {
			System::events()
				.iter()
				.filter_map(|record| match &record.event {
					RuntimeEvent::TransactionPayment(
						pallet_transaction_payment::Event::TransactionFeePaid {
							who,
							actual_fee,
							tip,
						},
					) if *who == account => Some(actual_fee + tip),
					_ => None,
				})
				.sum()
		});
		if let Some(party) = self.parties.get_mut(name) {
			party.fees += paid;
		}
		result.map_err(|error| format!("{error:?}"))
	}

	/// The same for a call that the chain must take.
	pub fn must(&mut self, name: &str, call: impl Into<RuntimeCall>) {
		if let Err(error) = self.call(name, call) {
			panic!("{name} was refused: {error}");
		}
	}

	/// How the money of all parties of a side changed.
	pub fn sum(&mut self, side: Side) -> Sum {
		let names: Vec<_> = self.names(side);
		names.iter().map(|name| self.sum_of(name)).fold(Sum::default(), |sum, one| Sum {
			gained: sum.gained + one.gained,
			fees: sum.fees + one.fees,
		})
	}

	/// The parties of a side.
	pub fn names(&self, side: Side) -> Vec<String> {
		let of = self.parties.iter().filter(|(_, party)| party.side == side);
		of.map(|(name, _)| name.clone()).collect()
	}

	/// How the money of one party changed.
	pub fn sum_of(&mut self, name: &str) -> Sum {
		let account = self.account(name);
		let has = self.money(&account);
		let party = &self.parties[name];
		Sum { gained: has as i128 - party.had as i128, fees: party.fees as i128 }
	}

	/// Checks that the books balance.
	pub fn check(&mut self) {
		if let Err(problem) = books::check(&mut self.chain) {
			panic!("the books do not balance: {problem}");
		}
	}

	/// Registers a party as a trainer.
	pub fn trains(&mut self, name: &str, bond: Balance) {
		let hardware = Hardware::default();
		self.must(name, pallet_hashrate::Call::register { bond: bond * TRY, hardware });
	}

	/// Registers a party as a verifier.
	pub fn verifies(&mut self, name: &str, bond: Balance) {
		self.must(name, pallet_verification::Call::register { bond: bond * TRY });
	}

	/// A job as the chain returns it.
	pub fn job(&mut self, job: JobId) -> JobView<AccountId> {
		self.chain.state(|| Runtime::job(job)).expect("it is on record")
	}

	/// Posts a job; returns its number.
	pub fn posts(&mut self, name: &str, spec: JobSpec, terms: Terms) -> JobId {
		let job = self.chain.state(pallet_task_market::NextJob::<Runtime>::get);
		self.must(name, pallet_task_market::Call::submit_job { spec, terms });
		job
	}

	/// Applies for a job.
	pub fn applies(&mut self, name: &str, job: JobId) {
		let view = self.job(job);
		let digest = commitment::job(&view.spec, &view.terms);
		self.must(name, pallet_task_market::Call::apply { job, digest });
	}

	/// Makes blocks until a job is as wanted, at most `blocks`; returns whether it is.
	pub fn waits(
		&mut self,
		job: JobId,
		blocks: u32,
		wanted: impl Fn(&JobView<AccountId>) -> bool,
	) -> bool {
		for _ in 0..blocks {
			if wanted(&self.job(job)) {
				return true;
			}
			self.chain.run(1);
		}
		wanted(&self.job(job))
	}

	/// Takes a job that was applied for to its audit: its trainers, each with the same result,
	/// commit, reveal, and store the model.
	pub fn delivers(&mut self, job: JobId) {
		assert!(self.waits(job, 200, |view| view.state == JobState::Training));
		let view = self.job(job);
		let model = vec![job as u8; 3_000];
		let file = Chunked::new(&model);
		let reveal = Reveal {
			bundle_root: H256::repeat_byte(1),
			model_root: file.root,
			segments: view.spec.segments(),
			location: Text::new("https://example.org").expect("it is short"),
		};
		let trainers: Vec<_> =
			view.replicas.iter().filter_map(|replica| self.name(&replica.trainer)).collect();
		for name in &trainers {
			let who = self.account(name);
			let commitment =
				commitment::result(&self.genesis, job, &who, &reveal.result(), &SALT);
			self.must(name, pallet_submissions::Call::commit { job, commitment });
		}
		assert!(self.waits(job, 200, |view| view.state == JobState::Revealing));
		for name in &trainers {
			let reveal = reveal.clone();
			self.must(name, pallet_submissions::Call::reveal { job, reveal, salt: SALT });
		}
		let (size, merkle_root) = (model.len() as u64, file.merkle_root);
		self.must(&trainers[0], pallet_model_storage::Call::register { size, merkle_root });
		let chunk = pallet_model_storage::Call::upload_chunk {
			root: file.root,
			index: 0,
			proof: file.proof(0).expect("it has one chunk").try_into().expect("it is short"),
			bytes: model.try_into().expect("it is small"),
		};
		self.must(&trainers[0], chunk);
		assert!(self.waits(job, 200, |view| view.state == JobState::Auditing));
	}

	/// Lets the present committee commit and reveal. `verdict` says what a member finds; `None`
	/// keeps silent.
	pub fn judges(
		&mut self,
		job: JobId,
		verdict: impl Fn(&str, &[u32]) -> Option<GroupVerdict>,
	) {
		let phase = |view: &JobView<AccountId>| view.audit.as_ref().map(|audit| audit.phase);
		assert!(self.waits(job, 400, |view| {
			matches!(phase(view), Some(AuditPhase::Committing { .. }))
		}));
		let audit = self.job(job).audit.expect("it runs");
		let mut said = Vec::new();
		for member in &audit.committee {
			let Some(name) = self.name(&member.verifier) else { continue };
			let all: Option<Vec<_>> =
				audit.groups.iter().map(|group| verdict(&name, &group.drawn)).collect();
			let Some(all) = all else { continue };
			let findings = Findings::try_from(all).expect("there are few results");
			let who = member.verifier.clone();
			let round = audit.round;
			let commitment =
				commitment::verdict(&self.genesis, job, round, &who, &findings, &SALT);
			self.must(&name, pallet_verification::Call::commit { job, commitment });
			said.push((name, findings));
		}
		self.waits(job, 400, |view| !matches!(phase(view), Some(AuditPhase::Committing { .. })));
		for (name, findings) in said {
			self.must(&name, pallet_verification::Call::reveal { job, findings, salt: SALT });
		}
		self.waits(job, 400, |view| !matches!(phase(view), Some(AuditPhase::Revealing { .. })));
	}
}

/// What an honest verifier finds of an honest result.
pub fn accept(drawn: &[u32]) -> GroupVerdict {
	let evidence: Vec<_> = drawn
		.iter()
		.map(|segment| SegmentEvidence {
			segment: *segment,
			trace_root: H256::repeat_byte(1),
			end_state: H256::repeat_byte(2),
		})
		.collect();
	GroupVerdict::Accept(evidence.try_into().expect("as many as were drawn"))
}

/// Terms of a small job.
pub fn terms() -> Terms {
	Terms {
		price_per_ut: 10 * TRY,
		replicas: 1,
		verifiers: 3,
		audit_segments: 2,
		audit_fee: TRY,
		apply_blocks: 3,
		training_blocks: 30,
	}
}
