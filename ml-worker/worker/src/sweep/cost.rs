//! What a set costs, and what is offered for it.

use super::file::Sweep;
use crate::{demands, roles::submit};
use trainyard_client::{amount, Chain, ChainError};
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_protocol::{
	fees,
	job::{Balance, Terms},
	sets::{self, Plan},
	MicroUt,
};

/// Says why a set cannot be posted.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// The chain would refuse a member.
	#[error("the chain would refuse member {member}: {why}")]
	Refused {
		/// Its number.
		member: usize,
		/// Why.
		why: String,
	},
	/// The node does not say what a record costs.
	#[error("the node's chain has no sets of jobs: it is older than this program")]
	NoSets,
}

/// What a set costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
	/// What is offered, with the fee of verifiers that all members need.
	pub terms: Terms,
	/// How it goes on, with the most protocol fee.
	pub plan: Plan,
	/// What each member trains, in `ut`.
	pub work: Vec<MicroUt>,
	/// What is held for the jobs of a generation until they end.
	pub escrow: Balance,
	/// What is held for their records.
	pub records: Balance,
	/// What is held for the record of the set.
	pub record: Balance,
}

impl Cost {
	/// Returns what is held when the set is opened.
	pub fn held(&self) -> Balance {
		self.escrow.saturating_add(self.records).saturating_add(self.record)
	}

	/// Returns this in words.
	pub fn text(&self) -> String {
		let work: u128 = self.work.iter().map(|work| u128::from(*work)).sum();
		let mut text = format!(
			"{} jobs, {} ut of work of one replica each in all\n\
			 held for the jobs until they end     {}\n\
			 held for their records               {}\n\
			 held for the record of the set       {}\n",
			self.work.len(),
			amount::format_scaled(work, 6),
			amount::format(self.escrow),
			amount::format(self.records),
			amount::format(self.record),
		);
		let more = self.plan.generations.saturating_sub(1);
		if more > 0 {
			text += &format!(
				"{more} further generations, each held for when it begins, about as much for its jobs: {} at \
				 the same time, {} one after the other. A member for which there is no money is left out\n",
				amount::format(self.escrow),
				amount::format(self.escrow.saturating_mul(more.into())),
			);
		}
		text
	}
}

/// Returns what the sweep costs by these terms. Where they leave the fee of verifiers `open` it is what the chain
/// takes for all members, and, where more generations come, twice that, since it follows the market.
pub async fn of(
	chain: &Chain,
	sweep: &Sweep,
	terms: &Terms,
	open: bool,
	max_fee: Option<Balance>,
) -> Result<Cost, CostError> {
	let mut terms = terms.clone();
	if open {
		terms.audit_fee = audit_fee(chain, sweep, &terms).await?;
	}
	let (mut work, mut escrow, mut records, mut fee) = (Vec::new(), 0, 0, 0);
	let mut last: Option<(&CheckedSpec, _)> = None;
	for (member, spec) in sweep.members.iter().enumerate() {
		let refused = |why: String| CostError::Refused { member, why };
		if let Some(why) = demands::refusal(spec, &terms) {
			return Err(refused(why));
		}
		// Members of one specification cost the same.
		let known = last.as_ref().filter(|(same, _)| *same == spec).map(|(_, quote)| *quote);
		let quote = match known {
			Some(quote) => quote,
			None => chain
				.quote(spec, &terms)
				.await?
				.ok_or_else(|| refused("`trainyard submit` with its values says why".to_owned()))?,
		};
		last = Some((spec, quote));
		work.push(quote.work);
		escrow = quote.escrow.saturating_add(escrow);
		records = quote.record.saturating_add(records);
		fee = quote.fee_per_ut.max(fee);
	}
	let plan =
		Plan { max_fee_per_ut: max_fee.unwrap_or(fee.saturating_mul(2)), ..sweep.plan.clone() };
	let record = record(chain, &plan, sweep).await?;
	Ok(Cost { terms, plan, work, escrow, records, record })
}

/// Returns the deposit for the record of the set.
async fn record(chain: &Chain, plan: &Plan, sweep: &Sweep) -> Result<Balance, CostError> {
	let base = chain.constant("Sets", "RecordBase").await?.ok_or(CostError::NoSets)?;
	let byte = chain.constant("Sets", "RecordByte").await?.ok_or(CostError::NoSets)?;
	let specs: Vec<JobSpec> = sweep.members.iter().map(|spec| spec.clone().into_spec()).collect();
	let bytes = Balance::from(sets::record_bytes(plan, &specs));
	Ok(byte.saturating_mul(bytes).saturating_add(base))
}

/// Returns the fee of verifiers that the chain takes for every member.
async fn audit_fee(chain: &Chain, sweep: &Sweep, terms: &Terms) -> Result<Balance, CostError> {
	let (mut offered, mut most) = (0, Balance::MAX);
	let mut before: Option<&CheckedSpec> = None;
	for spec in &sweep.members {
		if before == Some(spec) {
			continue;
		}
		before = Some(spec);
		let fee = submit::with_audit_fee(chain, spec, terms).await?.audit_fee;
		offered = fee.max(offered);
		let highest = fees::audit_fee(spec, terms).unwrap_or(fee);
		most = highest.max(fee).min(most);
	}
	Ok(match sweep.plan.generations {
		1 => offered,
		_ => offered.saturating_mul(2).min(most.max(offered)),
	})
}
