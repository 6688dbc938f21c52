//! Stints of drilling: computes laps all the time, reports them, and opens what is drawn.

mod lapping;
mod plan;

pub use plan::Step;

use super::{Driller, Key, Memory};
use crate::roles::{
	blocks::LookError,
	store::LapTree,
	tasks::{Outcome, TaskError, Tasks},
	units::{self, ut},
};
use lapping::{How, LapError, Lapping};
use plan::{plan, Situation};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use trainyard_client::{amount, calls, ChainError, Head, ReportView, TxError};
use trainyard_proof::drill::Laps;
use trainyard_protocol::{
	job::BlockNumber,
	stint::{self, ReportId, ReportPhase, Samples, Siblings, StintView, CERTAIN},
	MicroUt, H256,
};

/// Blocks for which laps are kept that are of no use any more.
const KEPT: BlockNumber = 64;

/// What a daemon remembers of its stints between two blocks.
#[derive(Default)]
pub struct Stints {
	/// The threads that compute laps.
	lapping: Option<Lapping>,
	/// The report that was not settled at the last block, and what it claims.
	pending: Option<(ReportId, u32)>,
	/// Whether it was said that verifiers check it.
	checked: Option<ReportId>,
	/// Drilling work that was ever credited, at the last block.
	total: Option<u128>,
	/// Reports that were credited since the start, and their work.
	credited: u32,
	work: u64,
	/// Stints that this process gave up.
	retired: bool,
	/// The last trouble that was reported.
	trouble: Option<String>,
	/// Seeds of the stints whose laps are kept, with the height at which each was last of use.
	recent: BTreeMap<H256, BlockNumber>,
}

impl Stints {
	/// Returns how many reports were credited since the start.
	pub fn credited(&self) -> u32 {
		self.credited
	}

	/// Returns whether nothing of them is open.
	pub fn is_over(&self) -> bool {
		self.retired && self.pending.is_none()
	}

	/// Takes note that the stint was given up.
	pub fn note_retired(&mut self) {
		self.retired = true;
		self.lapping = None;
	}

	/// Notes which seeds are of use at height `best`. Returns those whose laps can go: this process saw
	/// them in use, and then for as long as no fork is in no use any more. (A node that is behind shows
	/// older stints, so a single look says nothing.)
	fn remember(&mut self, seeds: impl Iterator<Item = H256>, best: BlockNumber) -> Vec<H256> {
		for seed in seeds {
			self.recent.insert(seed, best);
		}
		let old = self.recent.extract_if(.., |_, last| best.saturating_sub(*last) > KEPT);
		old.map(|(seed, _)| seed).collect()
	}

	/// Describes what was done since the start.
	pub fn summary(&self) -> String {
		format!("{} stint(s) credited ({} ut)", self.credited, ut(self.work))
	}
}

/// Returns an error of a transaction that is not to be tried again, and again paid for, where the account
/// cannot drill.
fn unfit(error: TxError) -> TaskError {
	if error.failed_with("Stints::NotATrainer") {
		let why = "the account is no trainer in good standing: add to its bond (`hashrate.bondExtra`), or \
		           register it, and start this again";
		return TaskError::Hopeless(why.to_owned());
	}
	error.into()
}

/// Returns the laps of a stint that may be claimed by one whose drilling power is what the work `stock`
/// would add now.
fn most_laps(stint: &StintView, stock: MicroUt) -> u32 {
	let blocks = stint.from.saturating_sub(stint.begun);
	let most = stint::most_work(blocks, stock) / (stint::work(1) + 1);
	u32::try_from(most).unwrap_or(u32::MAX)
}

impl Driller {
	/// Looks at the stint once: computes its laps, and starts what is due. Project units go before
	/// laps, since they have deadlines.
	pub(super) async fn look_at_stint(
		self: &Arc<Self>,
		memory: &mut Memory,
		tasks: &mut Tasks<Key>,
		head: Head,
	) -> Result<(), LookError> {
		let me = *self.me();
		let stint = self.chain.stint(&me, head.hash).await?;
		let pending = self.chain.stint_report(&me, head.hash).await?;
		self.report_settled_stint(&mut memory.stints, pending.as_ref()).await?;
		let busy = tasks.running().any(|key| matches!(key, Key::Unit(_, _, units::Step::Compute)));
		if self.most_stints.is_some_and(|most| memory.stints.credited() >= most) {
			memory.leaving.get_or_insert(head.number);
		}
		let leaving = memory.leaving.is_some();
		if leaving && stint.is_none() {
			memory.stints.note_retired();
		}
		let stint_of = stint.as_ref().filter(|_| !leaving);
		self.lap(&mut memory.stints, stint_of, pending.as_ref(), busy);
		let laps = memory.stints.lapping.as_ref().map_or(0, Lapping::count);
		let seeds = stint.iter().map(|s| s.seed).chain(pending.iter().map(|p| p.seed));
		let forgotten = memory.stints.remember(seeds, head.number);
		if !forgotten.is_empty() {
			let kept: Vec<H256> = memory.stints.recent.keys().copied().collect();
			self.home.remove_laps(&forgotten, &kept)?;
		}
		let situation = Situation {
			best: head.number,
			stint: stint.as_ref(),
			pending: pending.as_ref(),
			laps,
			leaving,
		};
		let Some(step) = plan(&situation) else { return Ok(()) };
		let driller = self.clone();
		tasks.start(Key::Stint(step), async move {
			driller.do_stint(step, stint, pending, laps, head).await
		});
		Ok(())
	}

	/// Lets the threads compute the laps of this stint, as many as can be claimed, or nothing.
	fn lap(
		&self,
		stints: &mut Stints,
		stint: Option<&StintView>,
		pending: Option<&ReportView>,
		busy: bool,
	) {
		let wanted = stint.map(|stint| stint.seed);
		if stints.lapping.as_ref().map(Lapping::seed) != wanted {
			stints.lapping = None;
			if let Some(stint) = stint {
				match self.start_lapping(stint.seed) {
					Ok(lapping) => {
						let text = format!(
							"stint {}: computing laps of {} ut, to be reported from block {} on",
							stint.number,
							ut(stint::work(1)),
							stint.from
						);
						let fields = json!({ "stint": stint.number, "from": stint.from });
						self.report.general("stint", &text, fields);
						stints.lapping = Some(lapping);
					}
					Err(e) => self.report_trouble(stints, e.to_string()),
				}
			}
		}
		let Some(lapping) = &stints.lapping else { return };
		lapping.pause(busy);
		if let Some(stint) = stint {
			// The report before may be credited until then.
			let credit = pending.map_or(0, |report| stint::work(report.laps));
			lapping.enough(most_laps(stint, stint.stock.saturating_add(credit)));
		}
		if let Some(trouble) = lapping.trouble() {
			// Begun again at the next block.
			stints.lapping = None;
			self.report_trouble(stints, trouble);
		}
	}

	fn start_lapping(&self, seed: H256) -> Result<Lapping, LapError> {
		let (threads, pace, machine) = (self.threads, self.pace, self.machine.clone());
		let how = How { threads, pace, made_up: self.units.cheat, machine };
		Lapping::start(seed, &self.home.laps(&seed), how)
	}

	fn report_trouble(&self, stints: &mut Stints, trouble: String) {
		if stints.trouble.as_ref() != Some(&trouble) {
			let text = format!("laps are not computed: {trouble}");
			self.report.general("problem", &text, json!({ "reason": trouble }));
			stints.trouble = Some(trouble);
		}
	}

	/// Does what is due of a stint, on the chain of `head`.
	async fn do_stint(
		&self,
		step: Step,
		stint: Option<StintView>,
		pending: Option<ReportView>,
		laps: u32,
		head: Head,
	) -> Outcome {
		match (step, stint, pending) {
			(Step::Begin, _, _) => {
				self.sender.run(&calls::stint_begin()).await.map_err(unfit)?;
			}
			(Step::Retire, _, _) => {
				match self.sender.run(&calls::stint_retire()).await {
					Err(e) if e.failed_with("Stints::NoStint") => {}
					result => drop(result?),
				}
				self.report.general("retired", "gave the stint up; its deposit is free", json!({}));
			}
			(Step::Report(_), Some(stint), _) => self.report_stint(&stint, laps, head).await?,
			(Step::Open(id), _, Some(report)) => self.open_samples(id, &report, head).await?,
			_ => {}
		}
		Ok(())
	}

	/// Reports the first `laps` laps of a stint, or as many as may be claimed.
	async fn report_stint(&self, stint: &StintView, laps: u32, head: Head) -> Outcome {
		let laps = laps.min(most_laps(stint, stint.stock));
		let path = self.home.laps(&stint.seed);
		let read = move || LapTree::read(&path, laps).map(|tree| tree.root());
		let root = tokio::task::spawn_blocking(read).await??;
		// On another branch the stint has another seed perhaps.
		let call = calls::stint_report(stint.number, &root, laps).on(head);
		match self.sender.run(&call).await {
			// It was sent before: this process was killed before it heard of it.
			Err(e) if e.failed_with("Stints::OtherStint") => return Ok(()),
			result => drop(result.map_err(unfit)?),
		}
		let work = stint::work(laps);
		let chance = stint::chance(work, stint.stock) as f64 / CERTAIN as f64;
		let text = format!(
			"stint {}: reported {laps} laps, {} ut; a check is {:.1} % likely and was paid with {}",
			stint.number,
			ut(work),
			100.0 * chance,
			amount::format((stint.check_price as f64 * chance) as u128)
		);
		let fields = json!({ "stint": stint.number, "laps": laps, "work": work, "chance": chance });
		self.report.general("stint_reported", &text, fields);
		Ok(())
	}

	/// Opens what was drawn of a report, after it was computed again: whoever opens a lap that is wrong
	/// loses its bond, and who stays silent less.
	async fn open_samples(&self, id: ReportId, report: &ReportView, head: Head) -> Outcome {
		let path = self.home.laps(&report.seed);
		let (laps, samples, seed) = (report.laps, report.samples.clone(), report.seed);
		let made_up = self.units.cheat;
		let opened = tokio::task::spawn_blocking(move || {
			let (results, siblings) = LapTree::read(&path, laps)?.open(&samples)?;
			let computer = Laps::chosen()?;
			for (index, result) in samples.iter().zip(&results) {
				if !made_up && computer.compute(&seed, *index)? != *result {
					return Err(TaskError::Hopeless(format!(
						"lap {index} is not what this machine computes now, so it is not opened: its \
						 disk or its processor makes errors"
					)));
				}
			}
			Ok((Samples::truncate_from(results), Siblings::truncate_from(siblings)))
		});
		let (results, siblings) = opened.await??;
		let call = calls::stint_open(id, &results, &siblings).on(head);
		match self.sender.run(&call).await {
			Err(e) if e.failed_with("Stints::AlreadyRevealed") => return Ok(()),
			result => drop(result?),
		}
		let text = format!("report {id}: opened {} of {laps} laps", results.len());
		self.report.general("stint_opened", &text, json!({ "report": id }));
		Ok(())
	}

	/// Says what became of the report that was pending, once it is not any more.
	async fn report_settled_stint(
		&self,
		stints: &mut Stints,
		pending: Option<&ReportView>,
	) -> Result<(), ChainError> {
		let now = pending.map(|report| (report.id, report.laps));
		if let Some(report) = pending.filter(|report| report.phase != ReportPhase::Drawing) {
			if stints.checked.replace(report.id) != Some(report.id) {
				let text = format!(
					"report {}: verifiers compute laps {:?} again",
					report.id, report.samples
				);
				let fields = json!({ "report": report.id, "samples": report.samples });
				self.report.general("stint_checked", &text, fields);
			}
		}
		if now == stints.pending && stints.total.is_some() {
			return Ok(());
		}
		let trainer = self.chain.trainer(self.me()).await?;
		let total = trainer.as_ref().map_or(0, |trainer| trainer.drilling_total);
		let before = stints.total.replace(total).unwrap_or(total);
		let Some((id, laps)) = std::mem::replace(&mut stints.pending, now) else { return Ok(()) };
		if now.map(|(id, _)| id) == Some(id) {
			return Ok(());
		}
		let work = stint::work(laps);
		let power = trainer.map_or(0, |trainer| trainer.drilling_effective);
		let day = amount::format_scaled(power, 6);
		let credited = total >= before.saturating_add(work.into());
		let metrics = self.report.metrics();
		let speed = stints.lapping.as_ref().map_or((0, 0.0), Lapping::speed);
		if speed.0 > 0 {
			let flop = u128::from(speed.0) * stint::LAP.flop().unwrap_or_default();
			metrics.ran(flop, Duration::from_secs_f64(speed.1));
		}
		let (event, outcome) = if credited {
			stints.credited += 1;
			stints.work = stints.work.saturating_add(work);
			metrics.ended("agreed");
			metrics.credited(work);
			("stint_credited", format!("{} ut credited", ut(work)))
		} else {
			metrics.ended("not_agreed");
			("stint_not_credited", "not credited".to_owned())
		};
		let text =
			format!("report {id}: {outcome}; drilling power {day} ut a day. {}", stints.summary());
		let work = if credited { work } else { 0 };
		let fields = json!({ "report": id, "work": work, "drilling_power": power.to_string() });
		self.report.general(event, &text, fields);
		Ok(())
	}
}
