//! Random sequences of calls: accounts that mostly do what an honest one would do next, and
//! otherwise what nobody should.
//!
//! A call that is refused is as good as one that is taken: what counts is that the books are right
//! after it.

mod audits;
mod disputes;

use crate::world::{Actor, World, SALT};
use rand::Rng;
use serde::Serialize;
use sp_core::{sr25519, Pair};
use std::{collections::BTreeMap, fmt, rc::Rc};
use trainyard_program::{
	needs::MachineClass,
	spec::{EarlyStop, JobSpec},
};
use trainyard_protocol::{
	blob::Chunked,
	commitment, drill,
	drill::{Mismatch, ProjectState, Template, UnitPhase, UnitResult},
	job::{JobState, Reveal, Terms},
	seats::Resources,
	views::{Hardware, JobView},
	JobId, Text, H256,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};
use trainyard_sandbox::{
	books::{self, Issuance},
	bundles::{applies, Bundle},
};

/// Calls after which the whole state is checked.
const CHECK_EVERY: u64 = 200;

/// What happened.
#[derive(Debug, Default, Serialize)]
pub struct Report {
	seed: u64,
	calls: u64,
	taken: u64,
	blocks: u32,
	checks: u64,
	/// Calls that were taken, by name.
	by_call: BTreeMap<String, u64>,
	/// How jobs and their replicas ended, and results of audits and units.
	events: BTreeMap<String, u64>,
}

impl Report {
	/// The report as a line of JSON.
	pub fn json(&self) -> String {
		serde_json::to_string(self).expect("it has no keys but strings")
	}
}

impl fmt::Display for Report {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		let Self { seed, calls, taken, blocks, checks, .. } = self;
		writeln!(
			f,
			"seed {seed}: {calls} calls, {taken} of them taken, in {blocks} blocks; the books \
			 balanced in each, the state of all pallets in {checks} checks"
		)?;
		let list = |f: &mut fmt::Formatter<'_>, what: &BTreeMap<String, u64>| {
			what.iter().try_for_each(|(name, count)| writeln!(f, "  {count:>8}  {name}"))
		};
		writeln!(f, "calls taken:")?;
		list(f, &self.by_call)?;
		writeln!(f, "what came of them:")?;
		list(f, &self.events)?;
		// Nothing ends the line twice.
		Ok(())
	}
}

/// Makes `calls` random calls.
///
/// # Errors
///
/// Returns the first rule that did not hold, and at which call.
pub fn run(seed: u64, calls: u64) -> Result<Report, String> {
	let mut world = World::new(seed);
	let mut issuance = Issuance::of(&mut world.chain);
	let mut report = Report { seed, ..Report::default() };
	let mut checked = 0;
	while report.calls < calls {
		let at =
			|problem: String, report: &Report| format!("after {} calls: {problem}", report.calls);
		world.chain.begin();
		for _ in 0..world.rng.random_range(0..8) {
			let Some((who, call)) = world.next_call() else { continue };
			let name = name_of(&call);
			report.calls += 1;
			// A full block, or an account without money for the fee, refuses it altogether.
			if let Ok(Ok(())) = world.chain.apply(who.key, call) {
				report.taken += 1;
				*report.by_call.entry(name).or_default() += 1;
			}
		}
		world.chain.end();
		report.blocks += 1;
		issuance.follow(&mut world.chain).map_err(|problem| at(problem, &report))?;
		note(&mut world, &mut report);
		if report.calls >= checked + CHECK_EVERY {
			checked = report.calls;
			report.checks += 1;
			books::check(&mut world.chain).map_err(|problem| at(problem, &report))?;
		}
		// Sometimes nobody does anything for a while, and rarely for days.
		if world.chance(4) {
			for _ in 0..world.rng.random_range(1..15) {
				world.chain.run(1);
				report.blocks += 1;
				issuance.follow(&mut world.chain).map_err(|problem| at(problem, &report))?;
				note(&mut world, &mut report);
			}
		}
		if world.rng.random_ratio(1, 800) {
			let days = world.rng.random_range(1..20);
			world.chain.leap(days * 14_400);
		}
	}
	books::check(&mut world.chain)?;
	report.checks += 1;
	Ok(report)
}

/// `Pallet.call`.
fn name_of(call: &RuntimeCall) -> String {
	use frame_support::traits::GetCallMetadata;
	let metadata = call.get_call_metadata();
	format!("{}.{}", metadata.pallet_name, metadata.function_name)
}

/// Counts what the latest block brought about.
fn note(world: &mut World, report: &mut Report) {
	let events = world.chain.state(|| {
		System::events()
			.into_iter()
			.filter_map(|record| match record.event {
				RuntimeEvent::TaskMarket(pallet_task_market::Event::ReplicaEnded {
					fate, ..
				}) => Some(format!("replica {fate:?}")),
				RuntimeEvent::TaskMarket(pallet_task_market::Event::JobEnded {
					ending, ..
				}) => Some(format!("job {ending:?}")),
				RuntimeEvent::Verification(pallet_verification::Event::Decided {
					decision,
					..
				}) => Some(format!("result {decision:?}")),
				RuntimeEvent::Court(pallet_court::Event::Ended { ending, .. }) => {
					Some(format!("dispute {ending:?}"))
				}
				RuntimeEvent::Court(pallet_court::Event::Lapsed { .. }) => {
					Some("challenge not shown".into())
				}
				RuntimeEvent::Verification(pallet_verification::Event::EvidenceConvicted {
					..
				}) => Some("evidence convicted".into()),
				RuntimeEvent::Drilling(event) => {
					let text = format!("{event:?}");
					let name = text.split([' ', '{', '(']).next().unwrap_or_default();
					Some(format!("drilling {name}"))
				}
				_ => None,
			})
			.collect::<Vec<_>>()
	});
	for event in events {
		*report.events.entry(event).or_default() += 1;
	}
}

impl World {
	/// Draws what somebody does next.
	fn next_call(&mut self) -> Option<(Actor, RuntimeCall)> {
		match self.rng.random_range(0..100) {
			0..45 => self.move_of_a_job(),
			45..50 => self.new_job(),
			50..70 => self.move_of_a_unit(),
			70..74 => self.about_projects(),
			74..80 => self.about_verifiers(),
			80..84 => self.about_trainers(),
			84..88 => self.about_blobs(),
			88..92 => self.about_disputes(),
			92..97 => self.meddling(),
			_ => self.payment(),
		}
	}

	fn payment(&mut self) -> Option<(Actor, RuntimeCall)> {
		let (from, to) = (self.anyone(), self.anyone());
		let value = self.amount();
		let dest = to.account.into();
		Some((from, pallet_balances::Call::transfer_allow_death { dest, value }.into()))
	}

	/// An amount from nothing to more than anyone has.
	fn amount(&mut self) -> Balance {
		let digits = self.rng.random_range(0..20);
		self.rng.random_range(0..10) * 10u128.pow(digits)
	}

	fn about_trainers(&mut self) -> Option<(Actor, RuntimeCall)> {
		use pallet_hashrate::Call::*;
		let who = self.anyone();
		let bond = self.rng.random_range(80..400) * TRY;
		let call: RuntimeCall = match self.rng.random_range(0..20) {
			0..12 => register { bond, hardware: Hardware::default() }.into(),
			12..14 => bond_extra { amount: self.amount() }.into(),
			14..15 => set_candidate { candidate: self.chance(50) }.into(),
			15..16 => update_hardware { hardware: Hardware::default() }.into(),
			// //Alice makes the blocks.
			16..17 if who.account != self.actors[0].account => deregister {}.into(),
			_ => withdraw {}.into(),
		};
		Some((who, call))
	}

	fn about_verifiers(&mut self) -> Option<(Actor, RuntimeCall)> {
		use pallet_verification::Call::*;
		let who = self.anyone();
		let bond = self.rng.random_range(80..400) * TRY;
		let call: RuntimeCall = match self.rng.random_range(0..20) {
			0..8 => register { bond, capacity: self.capacity() }.into(),
			8..12 => set_vrf_key { key: self.vrf_key(&who) }.into(),
			12..13 => bond_extra { amount: self.amount() }.into(),
			13..14 => set_capacity { capacity: self.capacity() }.into(),
			14..17 => resume {}.into(),
			17..18 => deregister {}.into(),
			_ => withdraw {}.into(),
		};
		Some((who, call))
	}

	/// Usually its own, or else no key at all.
	fn vrf_key(&mut self, who: &Actor) -> sr25519::Public {
		match self.chance(90) {
			true => who.key.0.public(),
			false => sr25519::Public::from_raw([self.rng.random_range(0..=255); 32]),
		}
	}

	/// Usually room for everything here.
	fn capacity(&mut self) -> Resources {
		match self.chance(80) {
			true => Resources { work: 100_000_000, memory_mib: 8_192, disk_mib: 100_000 },
			false => Resources {
				work: self.rng.random_range(0..4_000_000),
				memory_mib: self.rng.random_range(0..2_000),
				disk_mib: self.rng.random_range(0..2_000),
			},
		}
	}

	fn terms(&mut self) -> Terms {
		Terms {
			price_per_ut: self.rng.random_range(0..200) * TRY,
			replicas: self.rng.random_range(1..4),
			verifiers: self.one(&[3, 3, 3, 5, 7, 4]).unwrap_or(3),
			audit_segments: self.rng.random_range(1..4),
			audit_fee: self.rng.random_range(0..6) * TRY / 10,
			apply_blocks: self.rng.random_range(2..8),
			training_blocks: self.rng.random_range(2..20),
			machine: MachineClass::default(),
			undecided_percent: self.rng.random_range(0..=101),
			keep_every: 1,
			lottery: None,
		}
	}

	fn spec(&mut self) -> JobSpec {
		let mut spec = JobSpec::noisy_example();
		if self.chance(20) {
			spec.training.early_stop = Some(EarlyStop { patience: 2, min_delta_nano: 0 });
		}
		if self.chance(10) {
			spec.training.steps = self.rng.random_range(0..200_000);
		}
		spec
	}

	fn new_job(&mut self) -> Option<(Actor, RuntimeCall)> {
		use pallet_task_market::Call::*;
		let (who, trainer) = (self.anyone(), self.anyone().account);
		let (spec, terms, max_fee_per_ut) = (self.spec(), self.terms(), u128::MAX);
		let call: RuntimeCall = match self.rng.random_range(0..10) {
			0..7 => submit_job { spec, terms, max_fee_per_ut }.into(),
			7..8 => {
				let terms = Terms { replicas: 1, ..terms };
				order { trainer, spec, terms, max_fee_per_ut }.into()
			}
			8..9 => post_listing {
				price_per_ut: self.rng.random_range(0..100) * TRY,
				max_work: u64::MAX,
				note: Text::new("cheap").expect("it is short"),
			}
			.into(),
			_ => remove_listing {}.into(),
		};
		Some((who, call))
	}

	/// A job that is on record, ended ones included.
	fn some_job(&mut self) -> Option<JobView<AccountId>> {
		let ids: Vec<JobId> = self.chain.state(|| {
			pallet_task_market::Jobs::<Runtime>::iter()
				.filter(|(_, job)| !matches!(job.state, JobState::Ended(_)))
				.map(|(id, _)| id)
				.collect()
		});
		let id = self.one(&ids)?;
		self.chain.state(|| Runtime::job(id))
	}

	/// What one of those who are concerned does next in a job.
	fn move_of_a_job(&mut self) -> Option<(Actor, RuntimeCall)> {
		let view = self.some_job()?;
		match view.state {
			JobState::Open => self.applies(&view),
			JobState::Training => self.commits(&view),
			JobState::Revealing => self.reveals(&view),
			JobState::Auditing => self.audits(&view),
			JobState::Seeding | JobState::Ended(_) => {
				Some((self.anyone(), pallet_task_market::Call::poke { job: view.id }.into()))
			}
		}
	}

	fn applies(&mut self, view: &JobView<AccountId>) -> Option<(Actor, RuntimeCall)> {
		let job = view.id;
		let mut digest = commitment::job(&view.spec, &view.terms);
		if self.chance(3) {
			digest = H256(self.rng.random());
		}
		let who = match &view.invited {
			Some(invited) if !self.chance(10) => self.owner(invited)?,
			_ => self.anyone(),
		};
		let mut apply = applies(&who.account, job, digest);
		if self.chance(3) {
			// It is bound to a secret that it has not.
			let forced = H256(self.rng.random());
			apply = pallet_task_market::Call::apply { job, digest, forced }.into();
		}
		Some((who, apply))
	}

	fn commits(&mut self, view: &JobView<AccountId>) -> Option<(Actor, RuntimeCall)> {
		let job = view.id;
		let replicas: Vec<_> =
			view.replicas.iter().map(|replica| replica.trainer.clone()).collect();
		let trainer = self.one(&replicas)?;
		let who = self.owner(&trainer)?;
		// Honest results are equal.
		let kind = if self.chance(80) { 1 } else { self.rng.random_range(2..4) };
		let mut bytes = vec![kind; 2_000 + job as usize % 1_000];
		bytes[0] = job as u8;
		let whole = view.spec.segments();
		let diverged = self.chance(10);
		let segments =
			if diverged || self.chance(5) { self.rng.random_range(0..whole + 2) } else { whole };
		let spec = view.spec.clone().check().ok()?;
		let mut bundle = Bundle::made_up(&spec, kind, segments, diverged);
		if !self.chance(5) {
			bundle = bundle.forced(&view.seed?, &trainer);
		}
		let (bundle_root, true_root) = (bundle.root(), bundle.true_root());
		self.bundles.insert(bundle_root, Rc::new(bundle));
		let reveal = Reveal {
			bundle_root,
			true_root,
			model_root: self.file(bytes),
			segments,
			diverged,
			location: Text::new("http://127.0.0.1:8600").expect("it is short"),
		};
		let commitment = commitment::result(&self.genesis, job, &trainer, &reveal.result(), &SALT);
		self.results.insert((job, trainer), reveal);
		Some((who, pallet_submissions::Call::commit { job, commitment }.into()))
	}

	fn reveals(&mut self, view: &JobView<AccountId>) -> Option<(Actor, RuntimeCall)> {
		let job = view.id;
		let replicas: Vec<_> =
			view.replicas.iter().map(|replica| replica.trainer.clone()).collect();
		let trainer = self.one(&replicas)?;
		let who = self.owner(&trainer)?;
		let reveal = self.results.get(&(job, trainer))?.clone();
		if self.chance(40) {
			let mut reveal = reveal;
			if self.chance(5) {
				reveal.bundle_root = H256(self.rng.random());
			}
			return Some((
				who,
				pallet_submissions::Call::reveal { job, reveal, salt: SALT }.into(),
			));
		}
		self.stores(who, reveal.model_root)
	}

	/// The next call that stores a file.
	fn stores(&mut self, who: Actor, root: H256) -> Option<(Actor, RuntimeCall)> {
		use pallet_model_storage::Call::*;
		let bytes = self.files.get(&root)?.clone();
		let file = Chunked::new(&bytes);
		let known = self.chain.state(|| Runtime::blob(root));
		let call = match known {
			None => {
				// Mostly the usual period, and one that nobody can pay for.
				let period = match self.rng.random_range(0..4) {
					0 => Some(self.rng.random_range(0..6_000_000)),
					_ => None,
				};
				register { size: bytes.len() as u64, content: file.content, period }
			}
			Some(blob) => {
				let index = *blob.missing.first().unwrap_or(&0);
				let chunk = file.chunks.get(index as usize)?.to_vec();
				upload_chunk {
					root,
					index,
					proof: file.proof(index as usize)?.try_into().ok()?,
					bytes: chunk.try_into().ok()?,
				}
			}
		};
		Some((who, call.into()))
	}

	fn about_projects(&mut self) -> Option<(Actor, RuntimeCall)> {
		use pallet_drilling::Call::*;
		let who = self.anyone();
		let known = self.chain.state(|| Runtime::drilling_projects(None, 1_000));
		let ids: Vec<_> = known.iter().map(|project| project.id).collect();
		let in_review: Vec<_> = known
			.iter()
			.filter(|project| project.state == ProjectState::Review)
			.map(|project| project.id)
			.collect();
		let some = if self.chance(80) { self.one(&in_review) } else { None };
		let project = some.or_else(|| self.one(&ids)).unwrap_or_default();
		let call: RuntimeCall = match self.rng.random_range(0..20) {
			0..1 => propose {
				title: Text::new("how fast are we?").expect("it is short"),
				template: Template::Calibration { passes: self.rng.random_range(0..200) },
				data: Default::default(),
				rule: self.one(&[Mismatch::Majority, Mismatch::AllLose])?,
				replicas: self.rng.random_range(1..5),
				units: self.rng.random_range(0..60),
				commit_blocks: self.rng.random_range(0..25),
			}
			.into(),
			1..11 => vote { project, aye: self.chance(85) }.into(),
			11..15 => enlist { projects: vec![project].try_into().ok()? }.into(),
			15..16 => choose { projects: vec![project].try_into().ok()? }.into(),
			16..17 => recall { project }.into(),
			17..18 => retire {}.into(),
			18..19 => withdraw_project { project }.into(),
			_ => clear { project }.into(),
		};
		Some((who, call))
	}

	/// What a driller, or a verifier that recomputes, does next.
	fn move_of_a_unit(&mut self) -> Option<(Actor, RuntimeCall)> {
		use pallet_drilling::Call::*;
		let who = self.anyone();
		let account = who.account.clone();
		let unit = self.chain.state(|| Runtime::drilling_assignment(account.clone()));
		let check = self.chain.state(|| Runtime::drilling_check(account.clone()));
		let (view, own) = match (unit, check.into_iter().next()) {
			(Some(unit), Some(check)) => {
				if self.chance(50) {
					(unit, true)
				} else {
					(check, false)
				}
			}
			(Some(unit), None) => (unit, true),
			(None, Some(check)) => (check, false),
			(None, None) => return None,
		};
		let assignment = view.id;
		let key = (assignment, account.clone());
		let call: RuntimeCall = match view.phase {
			UnitPhase::Commit => {
				let byte = if self.chance(90) { 1 } else { self.rng.random_range(2..4) };
				let result = UnitResult { state: H256::repeat_byte(byte), score: None };
				let commitment =
					drill::commitment(&self.genesis, assignment, &account, &result, &SALT);
				self.units.insert(key, result);
				if own {
					commit { assignment, commitment }.into()
				} else {
					check_call(assignment, commitment)
				}
			}
			UnitPhase::Reveal => {
				let result = *self.units.get(&key)?;
				if own {
					reveal { assignment, result, salt: SALT }.into()
				} else {
					check_reveal { assignment, result, salt: SALT }.into()
				}
			}
			UnitPhase::Judgement => return None,
		};
		Some((who, call))
	}

	fn about_blobs(&mut self) -> Option<(Actor, RuntimeCall)> {
		use pallet_model_storage::Call::*;
		let who = self.anyone();
		let roots: Vec<_> =
			self.chain.state(|| pallet_model_storage::Blobs::<Runtime>::iter_keys().collect());
		let root = self.one(&roots);
		match (self.rng.random_range(0..6), root) {
			(0, _) | (_, None) => {
				let (bytes, length) = (self.rng.random(), self.rng.random_range(1..5_000));
				let root = self.file(vec![bytes; length]);
				self.stores(who, root)
			}
			(1..3, Some(root)) => self.stores(who, root),
			(3..4, Some(root)) => {
				let blocks = self.rng.random_range(0..6_000_000);
				let call = match self.rng.random() {
					true => renew { root, blocks },
					false => adopt { root, period: Some(blocks).filter(|blocks| *blocks % 2 == 0) },
				};
				Some((who, call.into()))
			}
			(_, Some(root)) => {
				// Its owner, mostly.
				let owner = self.chain.state(|| Runtime::blob(root)).map(|blob| blob.owner);
				let owner = owner.and_then(|owner| self.owner(&owner)).unwrap_or(who);
				Some((owner, remove { root }.into()))
			}
		}
	}

	/// Calls at the wrong time, of the wrong account, about anything.
	fn meddling(&mut self) -> Option<(Actor, RuntimeCall)> {
		let who = self.anyone();
		let last = self.chain.state(pallet_task_market::NextJob::<Runtime>::get);
		let job = self.rng.random_range(0..last + 1);
		let pay = self.chance(80).then(|| self.rng.random_range(0..300) * TRY / 100);
		let hash = H256(self.rng.random());
		let view = self.chain.state(|| Runtime::job(job));
		// The submitter or a trainer, mostly.
		let party = view.as_ref().and_then(|view| {
			let all: Vec<_> = core::iter::once(view.submitter.clone())
				.chain(view.replicas.iter().map(|replica| replica.trainer.clone()))
				.collect();
			let one = self.one(&all)?;
			self.owner(&one)
		});
		let party = if self.chance(80) { party.unwrap_or(who.clone()) } else { who.clone() };
		let (who, call): (Actor, RuntimeCall) = match self.rng.random_range(0..12) {
			0..2 => (party, pallet_task_market::Call::cancel { job }.into()),
			2..6 => (party, pallet_task_market::Call::agree { job, pay }.into()),
			6..8 => (who, pallet_task_market::Call::poke { job }.into()),
			8..9 => (who, pallet_task_market::Call::forget { job }.into()),
			9..10 => (who, pallet_submissions::Call::commit { job, commitment: hash }.into()),
			10..11 => (who, pallet_verification::Call::commit { job, commitment: hash }.into()),
			_ => {
				let answers = Default::default();
				let rescue = pallet_verification::Call::rescue { job, group: 0, answers };
				(party, rescue.into())
			}
		};
		Some((who, call))
	}
}

/// The call that commits to a recomputation.
fn check_call(assignment: u64, commitment: H256) -> RuntimeCall {
	pallet_drilling::Call::check { assignment, commitment }.into()
}
