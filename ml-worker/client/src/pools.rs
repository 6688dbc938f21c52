//! Pools of claims: what a client asks of the chain about them, and the calls.

use crate::{AccountId32, Call, Chain, ChainError};
use trainyard_protocol::{
	job::Balance,
	pools::{self, PoolId, Rules},
	JobId,
};

/// A pool.
pub type Pool = pools::Pool<AccountId32>;

/// Numbers in the answer to one request.
const NUMBERS_AT_ONCE: u32 = 256;

impl Chain {
	/// Returns the pool with this number, while it has a member.
	pub async fn pool(&self, id: PoolId) -> Result<Option<Pool>, ChainError> {
		self.api("pool", id, None).await
	}

	/// Returns the shares of an account in a pool.
	pub async fn pool_shares(&self, id: PoolId, who: &AccountId32) -> Result<Balance, ChainError> {
		self.api("pool_shares", (id, who), None).await
	}

	/// Returns the numbers of all pools, in order.
	pub async fn pools(&self) -> Result<Vec<PoolId>, ChainError> {
		let (mut all, mut last) = (Vec::new(), None::<PoolId>);
		loop {
			let more: Vec<PoolId> = self.api("pools", (last, NUMBERS_AT_ONCE), None).await?;
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

/// `Pools.create`: make a pool and put a stake into it.
pub fn create(rules: &Rules, stake: Balance) -> Call {
	Call::new("Pools", "create", (rules, stake))
}

/// `Pools.join`: put a stake into a pool, for so many shares at least.
pub fn join(pool: PoolId, stake: Balance, least: Balance) -> Call {
	Call::new("Pools", "join", (pool, stake, least))
}

/// `Pools.leave`: take the own part out of a pool.
pub fn leave(pool: PoolId) -> Call {
	Call::new("Pools", "leave", pool)
}

/// `Pools.enrol`: enrol the own claim on what one is paid for a job.
pub fn enrol(pool: PoolId, job: JobId) -> Call {
	Call::new("Pools", "enrol", (pool, job))
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::FakeNode;
	use codec::{Decode, Encode};

	#[tokio::test]
	async fn all_numbers_are_asked_for_part_by_part() {
		let node = FakeNode::new(|method, arguments, _| match method {
			"TrainyardApi_pools" => {
				let (after, count) = <(Option<u32>, u32)>::decode(&mut &arguments[..]).unwrap();
				let from = after.map_or(0, |after| after + 1);
				Ok((from..600).take(count as usize).collect::<Vec<u32>>().encode())
			}
			"TrainyardApi_pool" => Ok(None::<Pool>.encode()),
			"TrainyardApi_pool_shares" => Ok(5_u128.encode()),
			_ => Err("no such method"),
		});
		let chain = node.chain().await;
		assert_eq!(chain.pools().await.unwrap(), (0..600).collect::<Vec<u32>>());
		assert!(chain.pool(4).await.unwrap().is_none());
		assert_eq!(chain.pool_shares(4, &AccountId32([1; 32])).await.unwrap(), 5);
	}

	#[test]
	fn arguments_have_the_layout_of_the_calls() {
		let amount = [&[9][..], &[0; 15]].concat();
		let rules = Rules { fee: 5, standing: 2, period: 3 };
		let layout = [&[5, 2, 0, 0, 0, 3, 0, 0, 0][..], &amount].concat();
		assert_eq!(create(&rules, 9).arguments(), layout);
		assert_eq!(join(7, 9, 9).arguments(), [&[7, 0, 0, 0][..], &amount, &amount].concat());
		assert_eq!(leave(7).arguments(), [7, 0, 0, 0]);
		assert_eq!(enrol(7, 8).arguments(), [7, 0, 0, 0, 8, 0, 0, 0]);
	}
}
