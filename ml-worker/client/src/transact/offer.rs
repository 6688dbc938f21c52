//! Transactions that are put into the pool without a wait for what becomes of them, with nonces that
//! the caller chooses: many are under way at once, and the chain's state says what they did.

use super::{anchor, reason_for_people, Anchor, Transactor, TxError, MORTALITY, SUBMIT_TIMEOUT};
use crate::{
	client::{root_cause, user_error, AtBlock, Config, Connection},
	Call, ChainError,
};
use std::sync::Arc;
use subxt::{
	config::SubstrateExtrinsicParamsBuilder, error::ExtrinsicError, rpcs::Error as RpcError,
	transactions::SubmittableTransaction,
};
use trainyard_protocol::{job::Balance, H256};

/// What transactions that are signed at one block have in common. One is good for some blocks.
pub struct Form {
	connection: Arc<Connection>,
	anchor: Anchor,
	at: AtBlock,
}

/// Says why a transaction is not in the pool.
#[derive(Debug)]
pub enum Refusal {
	/// Another transaction of the account waits in the pool with this nonce.
	NonceTaken,
	/// A transaction of the account with this nonce is in a block.
	NonceUsed,
	/// The pool is full.
	PoolFull,
	/// The account cannot pay the fee; the node's words.
	Poor(String),
	/// The runtime refused it with this `InvalidTransaction::Custom`.
	Custom(u8),
	/// Another reason, or it is not known what became of it.
	Other(TxError),
}

impl Refusal {
	/// Reads the pool's refusal. Codes of `sc-rpc-api`: 1010 invalid, 1012 banned for a while, 1013
	/// already imported, 1014 priority too low, 1016 dropped at once.
	fn of(call: &Call, code: i32, reason: String) -> Self {
		let custom = || reason.rsplit_once("Custom error: ")?.1.trim().parse().ok();
		match code {
			1013 | 1014 => Self::NonceTaken,
			1016 => Self::PoolFull,
			1010 if reason.contains("outdated") || reason.contains("Stale") => Self::NonceUsed,
			1010 if reason.contains("Inability to pay") => Self::Poor(reason_for_people(&reason)),
			_ => match custom() {
				Some(custom) => Self::Custom(custom),
				None => Self::Other(TxError::Invalid { call: call.title(), reason }),
			},
		}
	}
}

impl Transactor {
	/// Returns what is needed to sign at the present best block.
	///
	/// # Errors
	///
	/// Fails where the node cannot be asked.
	pub async fn form(&self) -> Result<Form, ChainError> {
		let connection = self.chain.connection().await?;
		let asked = tokio::time::timeout(SUBMIT_TIMEOUT, async {
			let anchor = anchor(&connection).await.map_err(|e| root_cause(&e))?;
			let at = connection.client.at_block(anchor.best).await.map_err(|e| root_cause(&e))?;
			Ok((anchor, at))
		});
		match asked.await.unwrap_or_else(|_| Err("no answer".into())) {
			Ok((anchor, at)) => Ok(Form { connection, anchor, at }),
			Err(reason) => {
				self.chain.forget(&connection).await;
				Err(self.chain.lost("chain_getHeader", reason))
			}
		}
	}

	/// Puts `call` into the pool with this nonce. Whether it gets into a block shows in the state: in
	/// what it does, and in [`used_nonce`](Self::used_nonce).
	///
	/// # Errors
	///
	/// Says why it is not in the pool, as far as that is known.
	pub async fn offer(&self, form: &Form, call: &Call, nonce: u64) -> Result<(), Refusal> {
		let other =
			|reason: String| Refusal::Other(TxError::Invalid { call: call.title(), reason });
		let signed = self.signed(form, call, nonce).map_err(|e| other(e.to_string()))?;
		let sending = form.connection.legacy.author_submit_extrinsic(signed.encoded());
		let reason = match tokio::time::timeout(SUBMIT_TIMEOUT, sending).await {
			Ok(Ok(_)) => return Ok(()),
			Ok(Err(RpcError::User(e))) => return Err(Refusal::of(call, e.code, user_error(&e))),
			Ok(Err(e)) => root_cause(&e),
			Err(_) => format!("the node did not answer in {} s", SUBMIT_TIMEOUT.as_secs()),
		};
		self.chain.forget(&form.connection).await;
		Err(Refusal::Other(TxError::Unknown { call: call.title(), reason }))
	}

	/// Returns what `call` would cost in fees now, without a tip.
	///
	/// # Errors
	///
	/// Fails where the node cannot be asked, or does not know the call.
	pub async fn fee(&self, form: &Form, call: &Call) -> Result<Balance, TxError> {
		let failed = |e: ExtrinsicError| TxError::Invalid {
			call: call.title(),
			reason: format!("its fee is not known: {}", root_cause(&e)),
		};
		let signed = self.signed(form, call, 0).map_err(failed)?;
		signed.partial_fee_estimate().await.map_err(failed)
	}

	fn signed(
		&self,
		form: &Form,
		call: &Call,
		nonce: u64,
	) -> Result<
		SubmittableTransaction<Config, subxt::client::OnlineClientAtBlockImpl<Config>>,
		ExtrinsicError,
	> {
		let params = SubstrateExtrinsicParamsBuilder::<Config>::new()
			.nonce(nonce)
			.mortal_from_unchecked(MORTALITY, form.anchor.number, form.anchor.hash)
			.build();
		form.at.tx().create_signable_offline(call, params)?.sign(&self.key)
	}

	/// Returns how many transactions of the account are in blocks up to `at`: the least nonce that is
	/// not used there.
	///
	/// # Errors
	///
	/// Fails where the node cannot be asked.
	pub async fn used_nonce(&self, at: H256) -> Result<u64, ChainError> {
		let nonce: u32 =
			self.chain.call("AccountNonceApi_account_nonce", self.account.0, Some(at)).await?;
		Ok(nonce.into())
	}

	/// Returns the least nonce that is neither used nor waits in the node's pool.
	///
	/// # Errors
	///
	/// Fails where the node cannot be asked.
	pub async fn next_nonce(&self) -> Result<u64, ChainError> {
		let account = self.account;
		self.chain
			.ask("system_accountNextIndex", |c| async move {
				c.legacy.system_account_next_index(&account).await
			})
			.await
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::calls;

	#[test]
	fn refusals_are_told_apart() {
		let call = calls::remove_blob(&H256::zero());
		let of = |code, reason: &str| Refusal::of(&call, code, reason.into());
		assert!(matches!(of(1014, "Priority is too low: (1 vs 1)"), Refusal::NonceTaken));
		assert!(matches!(of(1013, "Transaction is already imported"), Refusal::NonceTaken));
		assert!(matches!(of(1016, "Immediately Dropped"), Refusal::PoolFull));
		let invalid = |reason: &str| of(1010, &format!("Invalid Transaction: {reason}"));
		assert!(matches!(invalid("Transaction is outdated"), Refusal::NonceUsed));
		assert!(matches!(invalid("Custom error: 102"), Refusal::Custom(102)));
		let Refusal::Poor(words) = invalid("Inability to pay some fees") else { panic!() };
		assert!(words.contains("enough free balance"));
		let Refusal::Other(error) = of(1012, "Transaction is temporarily banned") else { panic!() };
		assert!(error.to_string().contains("ModelStorage.remove was not accepted"), "{error}");
	}
}
