//! Claims on what replicas are paid: what a client asks of the chain about them, and the calls.

use crate::{AccountId32, Call, Chain, ChainError};
use trainyard_protocol::{claims, JobId};

/// A claim.
pub type ClaimView = claims::ClaimView<AccountId32>;
/// What a holder asks for it.
pub type Asked = claims::Asked<AccountId32>;
/// What a buyer saw.
pub type Seen = claims::Seen<AccountId32>;

/// Numbers in the answer to one request.
const NUMBERS_AT_ONCE: u32 = 256;

impl Chain {
	/// Returns the claims on what the replicas of a job are paid; none of one that is not audited.
	pub async fn claims(&self, job: JobId) -> Result<Vec<ClaimView>, ChainError> {
		self.api("claims", job, None).await
	}

	/// Returns the numbers of all jobs of which a claim was sold or offered, in order.
	pub async fn claimed_jobs(&self) -> Result<Vec<JobId>, ChainError> {
		let (mut all, mut last) = (Vec::new(), None::<JobId>);
		loop {
			let more: Vec<JobId> = self.api("claimed_jobs", (last, NUMBERS_AT_ONCE), None).await?;
			let done = more.len() < NUMBERS_AT_ONCE as usize;
			// A node that repeats itself would keep this here for ever.
			let goes_on = more.last().copied() > last;
			last = more.last().copied().or(last);
			all.extend(more);
			if done || !goes_on {
				return Ok(all);
			}
		}
	}
}

/// `TaskMarket.offer_claim`: offer the own claim on what the replica of `trainer` is paid, or take the offer back.
pub fn offer(job: JobId, trainer: &AccountId32, asked: Option<&Asked>) -> Call {
	Call::new("TaskMarket", "offer_claim", (job, trainer, asked))
}

/// `TaskMarket.buy_claim`: buy that claim as it was seen on offer, for `most` at most.
pub fn buy(job: JobId, trainer: &AccountId32, seen: &Seen, most: u128) -> Call {
	Call::new("TaskMarket", "buy_claim", (job, trainer, seen, most))
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::FakeNode;
	use codec::{Decode, Encode};
	use trainyard_protocol::H256;

	#[tokio::test]
	async fn all_numbers_are_asked_for_part_by_part() {
		let node = FakeNode::new(|method, arguments, _| match method {
			"TrainyardApi_claimed_jobs" => {
				let (after, count) = <(Option<u32>, u32)>::decode(&mut &arguments[..]).unwrap();
				let from = after.map_or(0, |after| after + 1);
				Ok((from..600).take(count as usize).collect::<Vec<u32>>().encode())
			}
			"TrainyardApi_claims" => Ok(Vec::<ClaimView>::new().encode()),
			_ => Err("no such method"),
		});
		let chain = node.chain().await;
		assert_eq!(chain.claimed_jobs().await.unwrap(), (0..600).collect::<Vec<u32>>());
		assert!(chain.claims(4).await.unwrap().is_empty());
	}

	#[test]
	fn arguments_have_the_layout_of_the_calls() {
		let who = AccountId32([7; 32]);
		let head = [&[9, 0, 0, 0][..], &[7; 32]].concat();
		assert_eq!(offer(9, &who, None).arguments(), [&head[..], &[0]].concat());
		let asked = Asked { price: 5, until: 20, only: Some(AccountId32([8; 32])) };
		let price = [&[5][..], &[0; 15]].concat();
		let layout = [&head[..], &[1], &price, &[20, 0, 0, 0], &[1], &[8; 32]].concat();
		assert_eq!(offer(9, &who, Some(&asked)).arguments(), layout);
		let seen = Seen { holder: who.clone(), root: H256([3; 32]), since: 6 };
		let layout = [&head[..], &[7; 32], &[3; 32], &[6, 0, 0, 0], &price].concat();
		assert_eq!(buy(9, &who, &seen, 5).arguments(), layout);
	}
}
