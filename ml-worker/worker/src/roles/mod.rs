//! The long-running roles, and what they share.
//!
//! A daemon keeps no queue and listens to no events: at each best block it looks at the
//! jobs on chain and at its own files, decides by a pure function what is missing, and does
//! that. So it can be killed, restarted and disconnected at any moment, and a transaction
//! that was lost is simply missing at the next block.
//!
//! - [`plan`] and [`trainer`]: apply, train, commit, reveal, store, rescue.
//! - [`verifier`]: fetch, replay, commit, reveal.
//! - [`driller`]: enlist, compute units, commit, reveal; [`units`] sees a unit through, for
//!   drillers and for verifiers that recompute.
//! - [`common`]: becoming a trainer, and the files of a job, for the roles that need them.
//! - [`submit`]: post a job and follow it.
//! - [`http`] serves bundles and data; [`fetch`] downloads them.
//! - [`store`] keeps what must survive; [`tasks`] runs what takes long; [`report`] and [`words`]
//!   report it to people and programs, and [`metrics`] to Prometheus.

pub mod common;
pub mod display;
pub mod driller;
pub mod fetch;
pub mod http;
pub mod metrics;
pub mod plan;
pub mod report;
pub mod store;
pub mod submit;
pub mod tasks;
pub mod trainer;
pub mod units;
pub mod verifier;

use std::time::Duration;
use tracing::warn;
use trainyard_client::{Chain, ChainError, Head, JobView};
use trainyard_program::spec::{CheckedSpec, SpecError};
use trainyard_protocol::H256;

/// The specification of a job on chain. The chain took it, so that it is valid there; here it is
/// checked by the rules of this program, before anything is computed from it.
fn checked(job: &JobView) -> Result<CheckedSpec, SpecError> {
	job.spec.clone().check()
}

/// Waits for the next best block for as long as it takes: a node that is away is asked again and
/// again. Fails only if asking again cannot help.
pub async fn next_block(chain: &Chain, seen: Option<H256>) -> Result<Head, ChainError> {
	let mut pause = Duration::from_millis(250);
	let mut away = false;
	loop {
		match chain.next_head(seen).await {
			Ok(head) => return Ok(head),
			Err(e) if e.is_final() => return Err(e),
			Err(e) => {
				if !away {
					warn!("waiting for the node: {e}");
					away = true;
				}
				tokio::time::sleep(pause).await;
				pause = (pause * 2).min(Duration::from_secs(3));
			}
		}
	}
}

/// Handles a look at the chain that failed for a reason of the chain or of this machine. It returns
/// without an error, so that the caller looks again at the next block, unless the chain is not ours
/// any more. `told` is the last complaint, so that a complaint is reported once.
pub(crate) async fn survive(
	chain: &Chain,
	error: &(dyn std::error::Error + Send + Sync),
	of_chain: Option<&ChainError>,
	told: &mut String,
) -> Result<(), ChainError> {
	if of_chain.is_some_and(ChainError::is_connection) {
		// The caller waits for the next block anyway.
		return Ok(());
	}
	let text = error.to_string();
	if *told != text {
		warn!("{text}; looking again at the next block");
		*told = text;
	}
	if of_chain.is_some() {
		// An upgrade of the runtime may have changed the protocol. Only a version that the node
		// reports shows that: a node that also refuses this request may answer again later.
		if let Err(e) = chain.check_protocol().await {
			if e.is_final() {
				return Err(e);
			}
		}
	}
	Ok(())
}

/// Resolves when this process is asked to stop (SIGINT or SIGTERM).
pub async fn stop_signal() {
	let interrupt = tokio::signal::ctrl_c();
	#[cfg(unix)]
	{
		use tokio::signal::unix::{signal, SignalKind};
		match signal(SignalKind::terminate()) {
			Ok(mut terminate) => {
				tokio::select! {
					_ = interrupt => {},
					_ = terminate.recv() => {},
				}
			}
			Err(_) => {
				let _ = interrupt.await;
			}
		}
	}
	#[cfg(not(unix))]
	{
		let _ = interrupt.await;
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use codec::Encode;
	use trainyard_client::fake::FakeNode;

	#[tokio::test]
	async fn a_refusal_ends_no_daemon_and_another_protocol_does() {
		let mut told = String::new();
		for reason in ["State already discarded", "Exported method job is not found"] {
			let chain = FakeNode::new(move |_, _, _| Err(reason)).chain().await;
			let error = chain.job(1).await.unwrap_err();
			survive(&chain, &error, Some(&error), &mut told).await.unwrap();
			assert!(told.contains(reason), "{told}");
		}
		let upgraded = FakeNode::new(|method, _, _| match method {
			"TrainyardApi_protocol_version" => Ok(99u32.encode()),
			_ => Ok(vec![7]),
		});
		let chain = upgraded.chain().await;
		let error = chain.job(1).await.unwrap_err();
		assert!(!error.is_final(), "{error}");
		let end = survive(&chain, &error, Some(&error), &mut told).await.unwrap_err();
		assert!(matches!(end, ChainError::OtherProtocol { found: 99, .. }), "{end}");
	}
}
