//! What a dispute would cost each side.

use anyhow::Context;
use serde::Serialize;
use trainyard_client::amount;
use trainyard_court::{
	game::{
		sizes::{self, Sizes},
		Target,
	},
	Case,
};
use trainyard_program::{needs::Needs, spec::CheckedSpec, work::Parts};
use trainyard_protocol::{
	blob,
	fees::{self, Rates, Sums},
	job::{Balance, Terms},
	H256,
};

/// Fee for a byte of a transaction, in units of the currency, while blocks are not full: `LengthFee` of
/// the runtime.
const BYTE_FEE: Balance = 100_000;
/// Most that the weight of a move costs that is no judgement, in units of the currency: of 1.9 ms of a block,
/// as `tools/attacks/run transcripts` has it (`docs/disputes.md`). 0.02 TRY.
const MOVE_FEE: Balance = 20_000_000_000;
/// Most that the weight of a judgement costs: of 31 ms, for the largest piece that there may be. 0.31 TRY.
const JUDGEMENT_FEE: Balance = 310_000_000_000;

/// What a dispute costs at most.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Costs {
	/// Steps of a segment, results of a step, chunks of the largest, stretches of the longest chain.
	pub steps: u64,
	pub results: u64,
	pub chunks: u64,
	pub stretches: u64,
	/// Held from the challenger; lost where it is wrong.
	#[serde(with = "trainyard_program::text::decimal")]
	pub challenge_deposit: Balance,
	/// What the trainer has at stake.
	#[serde(with = "trainyard_program::text::decimal")]
	pub trainer_deposit: Balance,
	/// Seconds that a defence computes at most on a machine of the job's class; a challenger the same.
	pub seconds: f64,
	/// By what the dispute is about.
	pub disputes: Vec<Cost>,
}

/// What a dispute about one thing costs.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Cost {
	/// What it is about.
	pub about: &'static str,
	/// How often the challenger denies something at most.
	pub rounds: u32,
	/// What the defender sends, the openings of the piece with it.
	pub defender: Sending,
	/// What the challenger sends, commitment and challenge with it.
	pub challenger: Sending,
}

/// What a side sends at most.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Sending {
	pub transactions: u32,
	pub bytes: u64,
	/// Fees at most, in units of the currency, while blocks are not full. A judgement is counted for both
	/// sides: whoever is right brings the openings.
	#[serde(with = "trainyard_program::text::decimal")]
	pub fees: Balance,
}

impl Costs {
	/// Returns what disputes about results of a job with these terms cost, where computing a `ut` counts as
	/// `compute_per_ut` in its quote. Fails where a step of it has no court.
	pub(super) fn of(
		spec: &CheckedSpec,
		terms: &Terms,
		compute_per_ut: Balance,
	) -> anyhow::Result<Self> {
		let no_court = "a step of this job is too large for a dispute: the chain refuses it";
		let case = Case { spec: spec.clone(), seed: H256::zero() };
		let Sizes { steps, results, chunks, stretches } =
			Sizes::of_steps(&case).context(no_court)?;
		let overflow = "the job's work or money passes 128 bits";
		let parts = Parts::of(spec);
		let rates = &Rates::runtime_for(spec);
		let replays = terms.replayed_by_all(spec.segments());
		let lacking = Needs::of(spec).lacking(replays, blob::room().rescue, terms.keep_every);
		let sums = Sums::of(spec, terms, &parts, &lacking, rates).context(overflow)?;
		let deposit = fees::challenge_deposit(spec, &parts, compute_per_ut).context(overflow)?;
		let flop = parts.defence_flop(spec)?;
		let mut about = vec![
			("the initial state", Target::Start),
			("a segment", Target::Segment(0)),
			("the model file", Target::Model),
			("a state stored on chain", Target::Rescue { blob: H256::zero(), state: 0 }),
			("a seat's evidence", Target::Evidence(0)),
		];
		if spec.training.early_stop.is_some() {
			about.push(("the number of segments", Target::Stop));
		}
		let disputes = about
			.into_iter()
			.map(|(about, target)| {
				let rounds = sizes::rounds(&case, &target).context(no_court)?;
				Ok(Cost::of(about, rounds))
			})
			.collect::<anyhow::Result<_>>()?;
		Ok(Self {
			steps,
			results,
			chunks,
			stretches,
			challenge_deposit: deposit,
			trainer_deposit: sums.deposit,
			seconds: flop as f64 / terms.machine.rate() as f64,
			disputes,
		})
	}

	/// Says it in words.
	pub(super) fn text(&self) -> String {
		let Self { steps, results, chunks, stretches, .. } = self;
		let mut text = format!(
			"steps of a segment: {steps}, results of a step: {results}, KiB of the largest: {chunks}, \
			 stretches of the longest chain: {stretches}\n\
			 a challenge deposits {}; the trainer has {} at stake\n\
			 either side computes {:.1} s at most at the rate of the job's machines\n",
			amount::format(self.challenge_deposit),
			amount::format(self.trainer_deposit),
			self.seconds,
		);
		for Cost { about, rounds, defender, challenger } in &self.disputes {
			let side = |sent: &Sending| {
				format!(
					"{} transactions, {} KiB, {} of fees at most",
					sent.transactions,
					sent.bytes.div_ceil(1_024),
					amount::format(sent.fees)
				)
			};
			text += &format!(
				"about {about}, denials at most: {rounds}\n  defender: {}\n  challenger: {}\n",
				side(defender),
				side(challenger)
			);
		}
		text
	}
}

impl Cost {
	fn of(about: &'static str, rounds: u32) -> Self {
		let challenger = sizes::challenger_bytes(rounds);
		let defender = sizes::bytes(rounds).saturating_sub(challenger);
		let sending = |transactions: u32, bytes: u64| {
			let moves = Balance::from(transactions).saturating_mul(MOVE_FEE);
			let length = Balance::from(bytes).saturating_mul(BYTE_FEE);
			let fees = moves.saturating_add(length).saturating_add(JUDGEMENT_FEE);
			Sending { transactions, bytes, fees }
		};
		Self {
			about,
			rounds,
			defender: sending(rounds.saturating_add(1), defender),
			challenger: sending(rounds.saturating_add(2), challenger),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::JobSpec;

	fn costs() -> Costs {
		let job = trainyard_client::fake::job(trainyard_protocol::job::JobState::Open);
		Costs::of(&JobSpec::example().check().unwrap(), &job.terms, fees::COMPUTE_PRICE).unwrap()
	}

	/// The figures of the example are those of decision 0029.
	#[test]
	fn the_example_costs_what_the_record_says() {
		let costs = costs();
		let Costs { steps, results, chunks, stretches, .. } = costs;
		assert_eq!((steps, results, chunks, stretches), (50, 44, 16, 1));
		// The whole job has a price of 0.004 TRY there, and a defence computes a part of it.
		let work = costs.challenge_deposit - fees::CHALLENGE_BASE;
		assert!(work > 0 && work < 4_000_000_000, "{work}");
		assert!(costs.seconds > 0.05 && costs.seconds < 0.09, "{}", costs.seconds);
		let segment = costs.disputes.iter().find(|cost| cost.about == "a segment").unwrap();
		// Four about a step; an evaluation has five.
		assert_eq!(segment.rounds, 5);
		let (defender, challenger) = (&segment.defender, &segment.challenger);
		assert_eq!(defender.transactions + challenger.transactions, sizes::transactions(5));
		assert_eq!(defender.bytes + challenger.bytes, sizes::bytes(5));
		assert!(challenger.bytes < defender.bytes);
		// Transcripts of jobs of this size cost 0.07 to 0.18 TRY, and no side's fees are above half a TRY.
		for side in [defender, challenger] {
			assert!((180_000_000_000..500_000_000_000).contains(&side.fees), "{}", side.fees);
			assert!(side.fees <= fees::CHALLENGE_BASE / 2, "3 TRY pay for the moves");
		}
		let seat = costs.disputes.iter().find(|cost| cost.about == "a seat's evidence").unwrap();
		assert_eq!(seat.rounds, segment.rounds);
		assert!(costs.disputes.iter().all(|cost| cost.about != "the number of segments"));
	}

	/// What a challenge costs goes by the quote of the job.
	#[test]
	fn a_cheaper_market_asks_for_a_smaller_deposit() {
		let job = trainyard_client::fake::job(trainyard_protocol::job::JobState::Open);
		let spec = JobSpec::example().check().unwrap();
		let deposit = |compute| {
			let costs = Costs::of(&spec, &job.terms, compute).unwrap();
			costs.challenge_deposit - fees::CHALLENGE_BASE
		};
		let (most, low) = (deposit(fees::COMPUTE_PRICE), deposit(fees::COMPUTE_PRICE / 200));
		assert!(low > 0 && low.abs_diff(most / 200) <= 1, "{low} {most}");
	}

	#[test]
	fn it_is_said_in_words_and_in_json() {
		let costs = costs();
		let text = costs.text();
		assert!(text.contains("about a segment, denials at most: 5"), "{text}");
		assert!(text.contains("defender: 6 transactions, 245 KiB"), "{text}");
		let json = serde_json::to_value(&costs).unwrap();
		assert_eq!(json["disputes"].as_array().unwrap().len(), 5);
		assert!(json["challenge_deposit"].is_string());
	}

	#[test]
	fn a_training_that_may_stop_has_one_target_more() {
		let mut spec = JobSpec::example();
		let stop = trainyard_program::spec::EarlyStop { patience: 3, min_delta_nano: 0 };
		spec.training.early_stop = Some(stop);
		let job = trainyard_client::fake::job(trainyard_protocol::job::JobState::Open);
		let costs = Costs::of(&spec.check().unwrap(), &job.terms, fees::COMPUTE_PRICE).unwrap();
		assert!(costs.disputes.iter().any(|cost| cost.about == "the number of segments"));
	}
}
