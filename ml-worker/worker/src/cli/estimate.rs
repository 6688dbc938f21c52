//! `trainyard estimate JOB.toml`.

mod kept;

use crate::{
	demands::{self, Demand},
	job_toml,
	roles::display,
	table::{grouped, table, Align},
};
use anyhow::Context;
use kept::Kept;
use primitive_types::H256;
use serde::Serialize;
use std::{path::PathBuf, process::ExitCode};
use trainyard_client::amount;
use trainyard_program::{
	needs::{Lacking, MachineClass, Needs},
	spec::CheckedSpec,
	units::MICRO_UT_PER_UT,
	work::{self, LayerWork, Parts},
};
use trainyard_protocol::{
	blob, duties,
	fees::{self, Rates, Sums},
	job::{Terms, MAX_AUDIT_ROUNDS, UNDECIDED_PERCENT},
	lottery::Prospect,
	pieces::Piece,
	relay,
};

#[derive(Debug, clap::Args)]
pub(super) struct Estimate {
	/// The job.
	#[arg(value_name = "JOB.toml")]
	job: PathBuf,
	/// Print JSON.
	#[arg(long)]
	json: bool,
}

/// What a job costs.
#[derive(Serialize)]
struct Figures {
	parameters: u64,
	segments: u32,
	/// Whether the run may end before all segments are trained: all figures are then the most.
	may_stop_early: bool,
	flop: u128,
	micro_ut: u64,
	/// The part of the work that is training steps: the power that all replicas share.
	training_micro_ut: u64,
	/// The rows root: what training reads, decoded.
	rows: H256,
	/// Content hash of the model with which a fine-tuning begins.
	initial_model: Option<H256>,
	/// State hash of the parameters of that model.
	initial_parameters: Option<H256>,
	/// Whether the work is credited to its trainers as power.
	mints_power: bool,
	/// Why its work earns no power, if it does not.
	no_power: Option<String>,
	layers: Vec<Layer>,
	/// The class of machines that train and verify it.
	machine: MachineClass,
	/// What it asks of them and of the chain, beside what it may.
	demands: Vec<Demand>,
	/// Which states its trainers keep, where that is not all.
	#[serde(skip_serializing_if = "Option::is_none")]
	kept: Option<Kept>,
	money: Option<Money>,
	/// Whether the fee of a verifier is the least that the chain takes when the job is posted. It is then counted as
	/// the highest that this can be.
	audit_fee_is_open: bool,
	/// Where no rescue carries a state, or the rows.
	#[serde(skip_serializing_if = "Option::is_none")]
	relays: Option<Relays>,
	/// Samples of its states, by which it is seen how far a run moves.
	samples: Option<Samples>,
}

#[derive(Serialize)]
struct Layer {
	name: String,
	parameters: u64,
	forward: u128,
	backward: u128,
	update: u128,
	evaluation: u128,
	total: u128,
}

impl From<LayerWork> for Layer {
	fn from(layer: LayerWork) -> Self {
		Self {
			total: layer.total(),
			name: layer.name,
			parameters: layer.parameters,
			forward: layer.forward,
			backward: layer.backward,
			update: layer.update,
			evaluation: layer.evaluation,
		}
	}
}

/// Amounts in the smallest unit of currency, as decimal strings. They are those of this project's
/// runtime.
#[derive(Serialize)]
struct Money {
	/// Price of the work, done once.
	#[serde(with = "trainyard_program::text::decimal")]
	price: u128,
	/// Pay of each replica.
	#[serde(with = "trainyard_program::text::decimal")]
	pay: u128,
	/// What a replica is paid whose audit decides nothing.
	#[serde(with = "trainyard_program::text::decimal")]
	undecided: u128,
	/// Where the job pays by lottery: what a replica is paid whose result is accepted.
	#[serde(skip_serializing_if = "Option::is_none")]
	lottery: Option<Prospect>,
	/// Pay of all replicas.
	#[serde(with = "trainyard_program::text::decimal")]
	training: u128,
	/// Protocol fee on the training steps, burned.
	#[serde(with = "trainyard_program::text::decimal")]
	fee: u128,
	/// Audit fees of all rounds that there may be; what is not needed is refunded.
	#[serde(with = "trainyard_program::text::decimal")]
	audit: u128,
	/// For what trainers may have to store for the audit; what is not needed is refunded.
	#[serde(with = "trainyard_program::text::decimal")]
	storage: u128,
	/// Held from the submitter until the job ends: pay, fee, audit and storage.
	#[serde(with = "trainyard_program::text::decimal")]
	escrow: u128,
	/// Held from the submitter until the record of the job is removed.
	#[serde(with = "trainyard_program::text::decimal")]
	record: u128,
	/// Held from each trainer until the job ends.
	#[serde(with = "trainyard_program::text::decimal")]
	deposit: u128,
}

impl Money {
	fn of(spec: &CheckedSpec, terms: &Terms, parts: &Parts) -> Option<Self> {
		let replays = terms.replayed_by_all(spec.segments());
		let lacking = Needs::of(spec).lacking(replays, blob::room().rescue, terms.keep_every);
		let sums = Sums::of(spec, terms, parts, &lacking, &Rates::runtime_for(spec))?;
		let verdicts = u128::from(terms.verifiers) * u128::from(MAX_AUDIT_ROUNDS);
		let pay = fees::pay_of_each(sums.price, terms.replicas);
		Some(Self {
			price: sums.price,
			pay,
			undecided: fees::undecided_pay(pay, terms, 1),
			lottery: terms.prospect(pay, spec.segments()),
			training: fees::pay_of_all(sums.price, terms.replicas)?,
			fee: sums.fee,
			audit: terms.audit_fee.checked_mul(verdicts)?,
			storage: sums.storage,
			escrow: sums.escrow,
			record: sums.record,
			deposit: sums.deposit,
		})
	}
}

/// Terms as a JOB.toml without any has them, as far as they say what is asked of machines.
fn plain_terms(spec: &CheckedSpec) -> Terms {
	Terms {
		price_per_ut: 0,
		replicas: 1,
		verifiers: 3,
		audit_segments: duties::least_draws(spec.segments(), 3),
		audit_fee: 0,
		apply_blocks: 0,
		training_blocks: 0,
		machine: MachineClass::default(),
		undecided_percent: UNDECIDED_PERCENT,
		keep_every: 1,
		lottery: None,
	}
}

fn figures(spec: &CheckedSpec, terms: Option<&Terms>) -> anyhow::Result<Figures> {
	let asked = terms.cloned().unwrap_or_else(|| plain_terms(spec));
	let (demands, parts) = demands::of(spec, &asked);
	let micro_ut = parts.micro_ut_of(spec, spec.segments())?;
	let money = match terms {
		Some(terms) => Some(
			Money::of(spec, terms, &parts)
				.context("terms.price_per_ut: the price of this job is too large to count")?,
		),
		None => None,
	};
	let price = money.as_ref().map_or(0, |money| money.price);
	let fees = relay::Fees::of(fees::RELAY_FEE, price);
	Ok(Figures {
		parameters: spec.parameters(),
		segments: spec.segments(),
		may_stop_early: spec.training.early_stop.is_some(),
		flop: parts.flop_of(spec, spec.segments())?,
		micro_ut,
		training_micro_ut: parts.training_micro_ut_of(spec, spec.segments())?,
		rows: spec.dataset.rows,
		initial_model: spec.initial_model.as_ref().map(|model| model.file.content_hash),
		initial_parameters: spec.initial_model.as_ref().map(|model| model.parameters),
		mints_power: spec.mints_power(),
		no_power: spec.no_power().map(|reason| reason.to_string()),
		layers: work::flop_by_layer(spec)?.into_iter().map(Layer::from).collect(),
		machine: asked.machine,
		demands,
		kept: Kept::of(spec, &asked, &parts),
		relays: Relays::of(spec, fees),
		samples: Samples::of(spec, asked.keep_every, fees),
		money,
		audit_fee_is_open: false,
	})
}

/// What it means that the states of a job, or its rows, are larger than what the chain carries.
#[derive(Serialize)]
struct Relays {
	/// Bytes of a state, at most; 0 where the chain carries it.
	state: u64,
	/// Bytes of the decoded rows; 0 where the chain carries them.
	rows: u64,
	/// Bytes of the largest rescue.
	room: u64,
	/// What the escrow has for relays of each replica's result.
	#[serde(with = "trainyard_program::text::decimal")]
	escrowed: u128,
	/// What who asks for one of them prepays at least, the first time.
	#[serde(with = "trainyard_program::text::decimal")]
	prepaid: u128,
}

impl Relays {
	/// Returns what relays of a job's states and rows cost; `None` where the chain carries both.
	fn of(spec: &CheckedSpec, fees: relay::Fees) -> Option<Self> {
		let room = blob::room().rescue;
		let lacking = Needs::of(spec).lacking(0, room, 1);
		let (state, rows) = (lacking.relayed, lacking.relayed_rows);
		let escrowed = fees::relays_of(&Lacking { samples: 0, ..lacking }, fees)?;
		let least = [state, rows].into_iter().filter(|bytes| *bytes > 0).min()?;
		let prepaid = fees.of_seats(&Piece::State(0), least, relay::SEATS)?;
		Some(Self { state, rows, room, escrowed, prepaid })
	}
}

/// What it means that nobody opens the states of a result.
#[derive(Serialize)]
struct Samples {
	/// Bytes of the samples of all states.
	bytes: u64,
	/// What the escrow has for relays of each replica's samples.
	#[serde(with = "trainyard_program::text::decimal")]
	escrowed: u128,
	/// What who asks for them prepays at least.
	#[serde(with = "trainyard_program::text::decimal")]
	prepaid: u128,
}

impl Samples {
	/// Returns what relays of the samples of a job's states cost, of which trainers keep one in `every`; `None` where nothing is picked by them.
	fn of(spec: &CheckedSpec, every: u32, fees: relay::Fees) -> Option<Self> {
		let bytes = Needs::of(spec).all_samples(every);
		let escrowed = fees.escrowed(&Piece::Samples, bytes)?;
		let prepaid = fees.of_seats(&Piece::Samples, bytes, relay::SEATS)?;
		(bytes > 0).then_some(Self { bytes, escrowed, prepaid })
	}
}

impl std::fmt::Display for Samples {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		writeln!(
			f,
			"by {} MiB of samples of its states it is seen how far a result moves: where nobody opens \
			 them, {} verifiers say whether they are to be had. Who asks them prepays {} or more, and the \
			 escrow has {} for that of each replica",
			self.bytes.div_ceil(1 << 20),
			relay::SEATS,
			amount::format(self.prepaid),
			amount::format(self.escrowed),
		)
	}
}

impl std::fmt::Display for Relays {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		let mib = |bytes: u64| bytes.div_ceil(1 << 20);
		let state = format!("a state has up to {} MiB", mib(self.state));
		let rows = format!("the decoded rows have {} MiB", mib(self.rows));
		let large = match (self.state > 0, self.rows > 0) {
			(true, true) => format!("{state}, and {rows}, each"),
			(true, false) => format!("{state},"),
			(false, _) => format!("{rows},"),
		};
		writeln!(
			f,
			"{large} more than the {} MiB that the chain carries: where nobody serves that, {} \
			 verifiers say whether it is to be had. Who asks them prepays {} or more, and the escrow \
			 has {} for that of each replica",
			mib(self.room),
			relay::SEATS,
			amount::format(self.prepaid),
			amount::format(self.escrowed),
		)
	}
}

impl Estimate {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let job = job_toml::load(&self.job)?;
		let figures = figures(&job.spec, job.terms.as_ref())?;
		let figures = Figures { audit_fee_is_open: job.audit_fee_is_open, ..figures };
		match self.json {
			true => println!("{}", serde_json::to_string_pretty(&figures)?),
			false => print!("{}", text(&figures, job.terms.as_ref())),
		}
		Ok(ExitCode::SUCCESS)
	}
}

fn text(figures: &Figures, terms: Option<&Terms>) -> String {
	let header = [
		("layer", Align::Left),
		("parameters", Align::Right),
		("forward", Align::Right),
		("backward", Align::Right),
		("update", Align::Right),
		("evaluation", Align::Right),
		("FLOP", Align::Right),
	];
	let mut rows: Vec<Vec<String>> = figures
		.layers
		.iter()
		.map(|layer| {
			let mut row = vec![layer.name.clone(), grouped(layer.parameters)];
			let counts =
				[layer.forward, layer.backward, layer.update, layer.evaluation, layer.total];
			row.extend(counts.map(grouped));
			row
		})
		.collect();
	let sum = |get: fn(&Layer) -> u128| grouped(figures.layers.iter().map(get).sum::<u128>());
	rows.push(vec![
		"all".into(),
		grouped(figures.parameters),
		sum(|l| l.forward),
		sum(|l| l.backward),
		sum(|l| l.update),
		sum(|l| l.evaluation),
		grouped(figures.flop),
	]);
	let mut out = table(&header, &rows);
	out.push_str(&format!(
		"\n{} segments; {} micro-ut ({} ut) for each replica, {} micro-ut of them training steps\n",
		grouped(figures.segments),
		grouped(figures.micro_ut),
		amount::format_scaled(u128::from(figures.micro_ut), MICRO_UT_PER_UT.ilog10()),
		grouped(figures.training_micro_ut),
	));
	let mut most = "";
	if figures.may_stop_early {
		most = " at most";
		out.push_str(
			"the job may stop early: this is the most, and only what is trained is paid\n",
		);
	}
	out.push_str(&format!("rows root {:?}\n", figures.rows));
	if let Some(model) = figures.initial_model {
		out.push_str(&format!("fine-tuning of the model {model:?}\n"));
	}
	if let Some(parameters) = figures.initial_parameters {
		out.push_str(&format!("initial parameters {parameters:?}\n"));
	}
	if let Some(reason) = &figures.no_power {
		out.push_str(&format!("its trainers earn the price, and no power: {reason}\n"));
	}
	out.push_str(&demanded(figures));
	if let Some(kept) = &figures.kept {
		out.push_str(&kept.to_string());
	}
	if let Some(samples) = &figures.samples {
		out.push_str(&samples.to_string());
	}
	if let Some(relays) = &figures.relays {
		out.push_str(&relays.to_string());
	}
	match (&figures.money, terms) {
		(Some(money), Some(terms)) => out.push_str(&format!(
			"price    {}{most}, at {} for a ut\n\
			 pay      {}{most} for each of {} replica(s), {} together\n\
			 or       {}{most}, {} %, where the audit decides nothing\n\
			 fee      {}{most}, burned: for power, as on a chain where nobody has trained (`trainyard market`)\n\
			 audit    {} at most: {} verifiers, {MAX_AUDIT_ROUNDS} rounds; what is not needed is refunded\n\
			 storage  {} at most: what trainers may have to store for the audit, and relays of what no block carries; what is not needed is refunded\n\
			 escrow   {}, held until the job ends\n\
			 record   {}, held until the job is forgotten\n\
			 deposit  {}, held from each trainer until the job ends\n",
			amount::format(money.price),
			amount::format(terms.price_per_ut),
			amount::format(money.pay),
			terms.replicas,
			amount::format(money.training),
			amount::format(money.undecided),
			terms.undecided_percent,
			amount::format(money.fee),
			amount::format(money.audit),
			terms.verifiers,
			amount::format(money.storage),
			amount::format(money.escrow),
			amount::format(money.record),
			amount::format(money.deposit),
		)),
		_ => out.push_str("no [terms] in the job, so no price\n"),
	}
	let lottery = figures.money.as_ref().and_then(|money| money.lottery);
	if let (Some(prospect), Some(one_in)) = (lottery, terms.and_then(|terms| terms.lottery)) {
		out.push_str(&display::prospect(&prospect, one_in));
		out.push('\n');
	}
	if figures.audit_fee_is_open {
		out.push_str(&format!(
			"a verifier has the least fee that the chain takes when the job is posted, which follows the market; \
			 counted is the highest that it can be, at {} for a ut\n",
			amount::format(fees::COMPUTE_PRICE)
		));
	}
	out
}

/// Returns what a job asks of machines and of the chain, a line each, and why it would be refused.
fn demanded(figures: &Figures) -> String {
	let class = figures.machine.name();
	let title = format!("asked of machines ({class})");
	let header = [(title.as_str(), Align::Left), ("", Align::Right), ("at most", Align::Right)];
	let rows = figures.demands.iter().map(|demand| {
		let (needed, limit) = (demand.shown(demand.needed), demand.shown(demand.limit));
		vec![demand.name().to_owned(), needed, limit]
	});
	let mut out = format!("\n{}\n", table(&header, &rows.collect::<Vec<_>>()));
	for reason in figures.demands.iter().filter_map(|demand| demand.refused.as_ref()) {
		out.push_str(&format!("the chain would refuse this job: {reason}\n"));
	}
	out
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::{EarlyStop, InitialModel, JobSpec, Model};

	#[test]
	fn a_job_that_may_stop_early_shows_the_most() {
		let mut spec = JobSpec::example();
		let plain = figures(&spec.clone().check().unwrap(), None).unwrap();
		assert!(!text(&plain, None).contains("the most"));
		spec.training.early_stop = Some(EarlyStop { patience: 1, min_delta_nano: 0 });
		let terms = Terms {
			price_per_ut: 1_000_000,
			replicas: 1,
			verifiers: 3,
			audit_segments: 1,
			audit_fee: 5,
			apply_blocks: 1,
			training_blocks: 1,
			machine: Default::default(),
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		};
		let most = figures(&spec.check().unwrap(), Some(&terms)).unwrap();
		assert_eq!((most.flop, most.micro_ut), (plain.flop, plain.micro_ut));
		let text = text(&most, Some(&terms));
		assert!(text.contains("this is the most") && text.contains(" at most, at "), "{text}");
		assert!(!text.contains("follows the market"), "{text}");
		let open = Figures { audit_fee_is_open: true, ..most };
		let text = super::text(&open, Some(&terms));
		assert!(text.contains("the highest that it can be, at 1 TRY for a ut"), "{text}");
	}

	#[test]
	fn the_escrow_covers_price_and_audits() {
		let terms = Terms {
			price_per_ut: 1_000_000,
			replicas: 2,
			verifiers: 3,
			audit_segments: 1,
			audit_fee: 5,
			apply_blocks: 1,
			training_blocks: 1,
			machine: Default::default(),
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		};
		let spec = JobSpec::example().check().unwrap();
		let (parts, work) = (Parts::of(&spec), work::micro_ut(&spec).unwrap());
		let money = Money::of(&spec, &terms, &parts).unwrap();
		let all = u128::from(work) * 115 / 100;
		assert_eq!((money.price, money.training, money.audit), (u128::from(work), all, 45));
		assert_eq!((money.pay, money.undecided), (all / 2, all / 2 / 5));
		// Of each of three seats a draw, two by duty, and where results part.
		let rescue = u128::from(Needs::of(&spec).lacking(12, blob::room().rescue, 1).stored);
		// And for samples what relays of them may cost.
		let relays = 123 * fees::RELAY_FEE / 10;
		assert_eq!(money.storage, 2 * (rescue * fees::STORAGE_BYTE / 2 + relays));
		assert_eq!(money.escrow, all + money.fee + 45 + money.storage);
		assert!(Money::of(&spec, &Terms { price_per_ut: u128::MAX, ..terms }, &parts).is_none());
	}

	/// Every number stands beside its limit, and what is too much is said with what to do.
	#[test]
	fn what_a_job_asks_stands_beside_its_limits() {
		let mut spec = JobSpec::example();
		let found = figures(&spec.clone().check().unwrap(), None).unwrap();
		let shown = text(&found, None);
		for part in
			["(gib8)", "memory", "4096.0 MiB", "450.0 MiB", "233.333333 ut", "rate x weight"]
		{
			assert!(shown.contains(part), "{part}:\n{shown}");
		}
		assert!(!shown.contains("refuse"), "{shown}");
		spec.dataset.bytes = 1 << 30;
		let shown = text(&figures(&spec.check().unwrap(), None).unwrap(), None);
		assert!(shown.contains("would refuse this job: where verifiers cannot"), "{shown}");
	}

	/// The escrow of a job whose rows no rescue carries is for relays of them.
	#[test]
	fn rows_that_the_chain_does_not_carry_are_said() {
		let mut spec = JobSpec::example();
		// They are 5,000,000 of 65 numbers.
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (4_000_000, 1_000_000);
		let rows = figures(&spec.clone().check().unwrap(), None).unwrap();
		let relays = rows.relays.as_ref().unwrap();
		assert_eq!((relays.state, relays.rows), (0, 5_000_000 * 65 * 4));
		assert_eq!(relays.prepaid, 31 * fees::RELAY_FEE);
		assert_eq!(relays.escrowed, 123 * fees::RELAY_FEE);
		let shown = text(&rows, None);
		assert!(shown.contains("the decoded rows have 1240 MiB, more than the 450 MiB"), "{shown}");
		let Model::Mlp { hidden, .. } = &mut spec.model else { unreachable!() };
		*hidden = vec![7_800, 7_800].try_into().unwrap();
		let both = figures(&spec.check().unwrap(), None).unwrap();
		let relays = both.relays.as_ref().unwrap();
		assert!(relays.state > 0 && relays.rows > 0);
		assert_eq!(relays.escrowed, 246 * fees::RELAY_FEE);
		let shown = text(&both, None);
		assert!(shown.contains(" MiB, and the decoded rows have 1240 MiB, each more"), "{shown}");
	}

	/// The escrow of a job whose states no rescue carries is for relays of them.
	#[test]
	fn states_that_the_chain_does_not_carry_are_said() {
		let mut spec = JobSpec::example();
		let few = figures(&spec.clone().check().unwrap(), None).unwrap();
		assert!(few.relays.is_none());
		let samples = few.samples.as_ref().unwrap();
		assert_eq!(samples.prepaid, 31 * fees::RELAY_FEE / 10);
		assert_eq!(samples.escrowed, 123 * fees::RELAY_FEE / 10);
		assert!(text(&few, None).contains("MiB of samples of its states"));
		let Model::Mlp { hidden, .. } = &mut spec.model else { unreachable!() };
		*hidden = vec![7_800, 7_800].try_into().unwrap();
		spec.training.checkpoint_interval = spec.training.steps;
		let figures = figures(&spec.check().unwrap(), None).unwrap();
		let relays = figures.relays.as_ref().unwrap();
		assert_eq!(relays.prepaid, 31 * fees::RELAY_FEE);
		assert_eq!(relays.escrowed, 123 * fees::RELAY_FEE);
		assert!(figures.samples.is_none(), "it has one segment");
		let shown = text(&figures, None);
		for part in ["450 MiB that the chain carries", "31 verifiers", "15.5 TRY", "61.5 TRY"] {
			assert!(shown.contains(part), "{part}:\n{shown}");
		}
		assert!(!shown.contains("refuse"), "{shown}");
	}

	#[test]
	fn every_layer_is_listed() {
		let figures = figures(&JobSpec::example().check().unwrap(), None).unwrap();
		let text = text(&figures, None);
		for part in ["layers.0", "layers.2", "loss", "6,570", "no [terms]"] {
			assert!(text.contains(part), "{part}:\n{text}");
		}
		assert!(!figures.mints_power, "its inputs repeat");
		assert!(text.contains("no power: its inputs repeat"), "{text}");
		let figures = super::figures(&JobSpec::noisy_example().check().unwrap(), None).unwrap();
		let text = super::text(&figures, None);
		assert!(figures.mints_power && !text.contains("no power"), "{text}");
	}

	#[test]
	fn a_fine_tuning_is_said_to_be_one() {
		let plain = JobSpec::example();
		let model = InitialModel { file: plain.dataset.file(), parameters: H256::repeat_byte(3) };
		let spec = JobSpec { initial_model: Some(model), ..plain.clone() };
		let [spec, plain] = [spec, plain].map(|spec| spec.check().unwrap());
		let (found, of_plain) = (figures(&spec, None).unwrap(), figures(&plain, None).unwrap());
		assert_eq!((found.flop, found.micro_ut), (of_plain.flop, of_plain.micro_ut));
		assert!(!found.mints_power);
		let text = text(&found, None);
		let model = format!("fine-tuning of the model {:?}\n", plain.dataset.content_hash);
		assert!(text.contains(&model) && text.contains("no power"), "{text}");
		for (name, byte) in [("rows root", "02"), ("initial parameters", "03")] {
			assert!(text.contains(&format!("{name} 0x{}\n", byte.repeat(32))), "{text}");
		}
	}
}
