//! Measures what this machine and its owner allow: memory and disk, and the prices of the chain.

use crate::roles::{
	plan::Prices,
	replay,
	store::{Home, Quota},
};
use codec::{Compact, Decode, Encode};
use subxt::rpcs::client::rpc_params;
use trainyard_client::{Chain, ChainError};
use trainyard_protocol::{blob, job::Balance};

/// Execution time that a small transaction pays for, in picoseconds: 1 ms.
const CALL_PICOSECONDS: u64 = 1_000_000_000;
/// Execution time that hashing and storing a byte of a chunk pays for, at most: by the weights of
/// `direct_upload` and `upload_chunk`.
const HASH_PICOSECONDS: u64 = 8_500;
/// Bytes of a small transaction, at most.
const CALL_BYTES: u32 = 512;

/// Limits in bytes, given or measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
	/// Memory for all jobs together.
	pub memory: u64,
	/// Disk for everything in the daemon's folder.
	pub disk: Quota,
}

impl Room {
	/// Returns what was asked for in MiB, or else three quarters of the memory that is available
	/// now, and the [`Quota`] of the disk.
	pub fn new(memory_mib: Option<u64>, disk_mib: Option<u64>, home: &Home) -> Self {
		Self { memory: replay::memory(memory_mib), disk: Quota::new(disk_mib, home) }
	}
}

/// Returns the most that this chain takes of a rescue in the time for it, in bytes.
pub(super) async fn max_rescue(chain: &Chain) -> Result<u64, ChainError> {
	let most = chain.constant("Verification", "MaxRescue").await?;
	Ok(most.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(blob::room().rescue))
}

/// Returns what storing and sending costs on this chain.
pub(super) async fn prices(chain: &Chain) -> Result<Prices, ChainError> {
	let deposit = |name| async move { chain.constant("ModelStorage", name).await };
	let chunk = fee(chain, "length", u32::to_le_bytes(blob::MAX_CHUNK).to_vec()).await?;
	// A weight: time, and size of a proof.
	let weight = |picoseconds: u64| (Compact(picoseconds), Compact(0u64)).encode();
	let hashing = HASH_PICOSECONDS.saturating_mul(blob::MAX_CHUNK.into());
	let hashing = fee(chain, "weight", weight(hashing)).await?;
	// A model is kept for a month, and what that costs is as gone as a fee.
	let month = chain.constant("ModelStorage", "Retention").await?.unwrap_or_default();
	let rent = deposit("RentPerKib").await?.unwrap_or_default().saturating_mul(month);
	let fee_byte =
		chunk.saturating_add(hashing) / u128::from(blob::MAX_CHUNK) + 1 + rent / 1_024 + 1;
	let fee_call = fee(chain, "weight", weight(CALL_PICOSECONDS))
		.await?
		.saturating_add(fee(chain, "length", CALL_BYTES.to_le_bytes().to_vec()).await?);
	Ok(Prices {
		blob_base: deposit("DepositBase").await?.unwrap_or_default(),
		blob_byte: deposit("DepositPerByte").await?.unwrap_or_default(),
		fee_byte,
		fee_call,
	})
}

/// Returns the fee of the runtime for a `length` in bytes or a `weight`; `arguments` are SCALE.
async fn fee(chain: &Chain, of: &str, arguments: Vec<u8>) -> Result<Balance, ChainError> {
	let method = format!("TransactionPaymentApi_query_{of}_to_fee");
	let arguments = format!("0x{}", hex::encode(arguments));
	let found: String = chain.rpc("state_call", rpc_params![method.clone(), arguments]).await?;
	let unreadable = |reason: String| ChainError::Unreadable { method: method.clone(), reason };
	let bytes =
		hex::decode(found.trim_start_matches("0x")).map_err(|e| unreadable(e.to_string()))?;
	Balance::decode(&mut &bytes[..]).map_err(|e| unreadable(e.to_string()))
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::H256;

	const MIB: u64 = 1024 * 1024;

	#[test]
	fn limits_that_are_given_count_and_others_are_measured() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		let given = Room::new(Some(3), Some(5), &home);
		assert_eq!(given, Room { memory: 3 * MIB, disk: Quota::of(5 * MIB) });
		let measured = Room::new(None, None, &home);
		assert!(measured.memory > 0 && measured.disk.left(&home).unwrap() > 0, "{measured:?}");
	}
}
