//! Registers an account as a trainer, which trainers and drillers must be, and says what machine it
//! has.

use crate::roles::report::Reporter;
use serde_json::json;
use trainyard_client::{amount, calls, AccountId32, Chain, ChainError, Transactor, TxError};
use trainyard_proof::bundle::manifest::MadeBy;
use trainyard_protocol::{job::Balance, views::Hardware, Text};

/// Says why an account is not a trainer.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
	/// It is none, and no bond was given.
	#[error("{account} is not registered as a trainer: give --bond AMOUNT to register it, or run `trainyard register`")]
	NotRegistered {
		/// The account.
		account: AccountId32,
	},
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// The registration failed.
	#[error(transparent)]
	Tx(#[from] TxError),
}

/// Registers the account unless it is a trainer.
pub async fn register(
	chain: &Chain,
	sender: &Transactor,
	bond: Option<Balance>,
	report: &Reporter,
) -> Result<(), RegistrationError> {
	let account = *sender.account();
	if chain.trainer(&account).await?.is_some() {
		return Ok(());
	}
	let bond = bond.ok_or(RegistrationError::NotRegistered { account })?;
	// A trainer and a driller of one account may both find it unregistered.
	let registered = async || Ok(chain.trainer(&account).await?.is_some());
	sender.achieve(&calls::register_trainer(bond, &hardware()), registered).await?;
	let text = format!("registered as a trainer with a bond of {}", amount::format(bond));
	report.general("registered", &text, json!({ "bond": bond.to_string() }));
	Ok(())
}

/// Returns this machine as the chain records it.
pub fn hardware() -> Hardware {
	let here = MadeBy::here();
	let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
	let kib = memory
		.lines()
		.find_map(|line| line.strip_prefix("MemTotal:"))
		.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
	let cpu: String = here.cpu.chars().take(64).collect();
	Hardware {
		cpu: Text::new(&cpu).unwrap_or_default(),
		cores: here.cores,
		memory_mib: kib.map_or(0, |k| u32::try_from(k / 1024).unwrap_or(u32::MAX)),
		gpu: Text::default(),
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn this_machine_has_cores() {
		let hardware = hardware();
		assert!(hardware.cores > 0);
		#[cfg(target_os = "linux")]
		assert!(hardware.memory_mib > 0);
	}
}
