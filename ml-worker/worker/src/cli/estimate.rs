//! `trainyard estimate JOB.toml`.

use crate::job_toml;
use crate::table::{grouped, table, Align};
use anyhow::Context;
use primitive_types::H256;
use serde::Serialize;
use std::{path::PathBuf, process::ExitCode};
use trainyard_client::amount;
use trainyard_program::{
	spec::CheckedSpec,
	units::{self, MICRO_UT_PER_UT},
	work::{self, LayerWork, Parts},
};
use trainyard_protocol::job::{Terms, MAX_AUDIT_ROUNDS};

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
	/// Content hash of the model with which a fine-tuning begins.
	initial_model: Option<H256>,
	/// Whether the work is credited to its trainers as power.
	mints_power: bool,
	/// Why its work earns no power, if it does not.
	no_power: Option<String>,
	layers: Vec<Layer>,
	money: Option<Money>,
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

/// Amounts in the smallest unit of currency, as decimal strings.
#[derive(Serialize)]
struct Money {
	/// Pay of one replica.
	#[serde(with = "trainyard_program::text::decimal")]
	price: u128,
	/// Pay of all replicas.
	#[serde(with = "trainyard_program::text::decimal")]
	training: u128,
	/// Audit fees of all rounds that there may be; what is not needed is refunded.
	#[serde(with = "trainyard_program::text::decimal")]
	audit: u128,
	/// The sum of both. The chain adds its protocol fee on the work.
	#[serde(with = "trainyard_program::text::decimal")]
	escrow_without_protocol_fee: u128,
}

impl Money {
	fn of(terms: &Terms, work: u64) -> Option<Self> {
		let price = units::price(work, terms.price_per_ut)?;
		let training = price.checked_mul(u128::from(terms.replicas))?;
		let verdicts = u128::from(terms.verifiers) * u128::from(MAX_AUDIT_ROUNDS);
		let audit = terms.audit_fee.checked_mul(verdicts)?;
		let escrow_without_protocol_fee = training.checked_add(audit)?;
		Some(Self { price, training, audit, escrow_without_protocol_fee })
	}
}

fn figures(spec: &CheckedSpec, terms: Option<&Terms>) -> anyhow::Result<Figures> {
	let parts = Parts::of(spec);
	let micro_ut = parts.micro_ut_of(spec, spec.segments())?;
	let money = match terms {
		Some(terms) => Some(
			Money::of(terms, micro_ut)
				.context("terms.price_per_ut: the price of this job is too large to count")?,
		),
		None => None,
	};
	Ok(Figures {
		parameters: spec.parameters(),
		segments: spec.segments(),
		may_stop_early: spec.training.early_stop.is_some(),
		flop: parts.flop_of(spec, spec.segments())?,
		micro_ut,
		initial_model: spec.initial_model.as_ref().map(|file| file.content_hash),
		mints_power: spec.mints_power(),
		no_power: spec.no_power().map(|reason| reason.to_string()),
		layers: work::flop_by_layer(spec)?.into_iter().map(Layer::from).collect(),
		money,
	})
}

impl Estimate {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let job = job_toml::load(&self.job)?;
		let figures = figures(&job.spec, job.terms.as_ref())?;
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
		"\n{} segments; {} micro-ut ({} ut) for each replica\n",
		grouped(figures.segments),
		grouped(figures.micro_ut),
		amount::format_scaled(u128::from(figures.micro_ut), MICRO_UT_PER_UT.ilog10()),
	));
	let mut most = "";
	if figures.may_stop_early {
		most = " at most";
		out.push_str(
			"the job may stop early: this is the most, and only what is trained is paid\n",
		);
	}
	if let Some(model) = figures.initial_model {
		out.push_str(&format!("fine-tuning of the model {model:?}\n"));
	}
	if let Some(reason) = &figures.no_power {
		out.push_str(&format!("its trainers earn the price, and no power: {reason}\n"));
	}
	match (&figures.money, terms) {
		(Some(money), Some(terms)) => out.push_str(&format!(
			"price    {}{most} for each replica, at {} for a ut\n\
			 training {}{most} for {} replica(s)\n\
			 audit    {} at most: {} verifiers, {MAX_AUDIT_ROUNDS} rounds; what is not needed is refunded\n\
			 escrow   {}, and the chain's protocol fee on the work\n",
			amount::format(money.price),
			amount::format(terms.price_per_ut),
			amount::format(money.training),
			terms.replicas,
			amount::format(money.audit),
			terms.verifiers,
			amount::format(money.escrow_without_protocol_fee),
		)),
		_ => out.push_str("no [terms] in the job, so no price\n"),
	}
	out
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::{EarlyStop, JobSpec};

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
		};
		let most = figures(&spec.check().unwrap(), Some(&terms)).unwrap();
		assert_eq!((most.flop, most.micro_ut), (plain.flop, plain.micro_ut));
		let text = text(&most, Some(&terms));
		assert!(text.contains("this is the most") && text.contains("at most for each"), "{text}");
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
		};
		let money = Money::of(&terms, 7).unwrap();
		assert_eq!((money.price, money.training, money.audit), (7, 14, 45));
		assert_eq!(money.escrow_without_protocol_fee, 59);
		assert!(Money::of(&Terms { price_per_ut: u128::MAX, ..terms }, 7).is_none());
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
		assert!(figures.mints_power && !text.contains("power"), "{text}");
	}

	#[test]
	fn a_fine_tuning_is_said_to_be_one() {
		let plain = JobSpec::example();
		let spec = JobSpec { initial_model: Some(plain.dataset.file()), ..plain.clone() };
		let [spec, plain] = [spec, plain].map(|spec| spec.check().unwrap());
		let (found, of_plain) = (figures(&spec, None).unwrap(), figures(&plain, None).unwrap());
		assert_eq!((found.flop, found.micro_ut), (of_plain.flop, of_plain.micro_ut));
		assert!(!found.mints_power);
		let text = text(&found, None);
		let model = format!("fine-tuning of the model {:?}\n", plain.dataset.content_hash);
		assert!(text.contains(&model) && text.contains("no power"), "{text}");
	}
}
