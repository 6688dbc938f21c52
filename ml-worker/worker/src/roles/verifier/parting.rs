//! Brings the state in which results begin to differ.

use super::{
	examine::PAUSE,
	relay,
	rescued::{stored, was_read},
	round::Round,
	sources::{fetch_state, has_state, servers, share, states_url},
	Verifier,
};
use crate::roles::tasks::stopped;
use std::{path::Path, time::Instant};
use tracing::debug;
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::{bundle, verify::Contest};
use trainyard_protocol::pieces::Piece;

/// Returns the piece that this checkpoint file is.
pub(super) fn state_in(spec: &CheckedSpec, file: &str) -> Option<Piece> {
	let step = bundle::manifest::step_of(file)?;
	let index = (0..=spec.segments()).find(|at| spec.checkpoint_step(*at) == Some(step))?;
	Some(Piece::State(index))
}

impl Verifier {
	/// Brings a checkpoint that all rivals agree on into the folder of one of them, from whichever
	/// has it. Tries again until `give_up` if that may help.
	pub(super) async fn fetch_common(
		&self,
		round: &Round<'_>,
		contest: &Contest,
		file: &str,
		give_up: Instant,
	) {
		let limit = bundle::max_checkpoint_bytes(&round.spec);
		let mut places = Vec::new();
		for (index, dir) in contest.rivals() {
			if has_state(dir, file, limit).await {
				return;
			}
			self.read_rescues(round, index, dir, give_up).await;
			if has_state(dir, file, limit).await {
				return;
			}
			let Some(group) = round.audit.groups.get(index) else { continue };
			let relays = relay::others(round.audit, self.sender.account());
			let servers = servers(round.job, &group.result).into_iter().chain(relays);
			places
				.extend(servers.map(|server| (states_url(&server, &group.result), dir.to_owned())));
		}
		let mut may_pass = !places.is_empty();
		while std::mem::take(&mut may_pass) && Instant::now() < give_up {
			for (asked, (base, dir)) in places.iter().enumerate() {
				let fetching = fetch_state(&self.fetcher, base, file, dir, limit);
				let share = share(give_up, places.len() - asked);
				let fetched = tokio::select! {
					fetched = tokio::time::timeout(share, fetching) => fetched,
					() = stopped(&round.stop) => return,
				};
				match fetched {
					Ok(Ok(())) if has_state(dir, file, limit).await => return,
					Ok(Ok(())) => debug!("{base}/{file} is not the state that was committed"),
					Ok(Err(e)) => {
						may_pass |= e.may_pass();
						debug!("{e}");
					}
					Err(_) => {
						may_pass = true;
						debug!("{base} is too slow");
					}
				}
			}
			if may_pass {
				tokio::time::sleep(PAUSE).await;
			}
		}
	}

	/// Reads what is on chain of a result and was not read: it may have been stored for this
	/// comparison alone.
	async fn read_rescues(&self, round: &Round<'_>, index: usize, dir: &Path, give_up: Instant) {
		let Some(group) = round.audit.groups.get(index) else { return };
		for stored in stored(group, &round.spec) {
			let revealed = group.result.bundle_root;
			if was_read(&self.home, &round.spec, dir, revealed, &stored).await {
				continue;
			}
			// The room of blobs was given back when the result was fetched.
			self.fetches_again(round.audit, &round.spec, group, dir);
			let reading = self.fetch_rescue(round, (index, group), &stored, dir);
			let read = tokio::select! {
				read = tokio::time::timeout(share(give_up, 1), reading) => read,
				() = stopped(&round.stop) => return,
			};
			match read {
				Ok(Ok(())) => {}
				Ok(Err(e)) => debug!("result {index}: {e}"),
				Err(_) => debug!("result {index}: {stored} is too slow"),
			}
			if let Err(e) = self.has_fetched(&round.spec, dir) {
				debug!("result {index}: {e}");
			}
		}
	}

	/// Withdraws what was asked for to part results, if it is here.
	pub(super) async fn withdraw_common(&self, round: &Round<'_>, contest: &Contest, file: &str) {
		let Some(piece) = state_in(&round.spec, file) else { return };
		let limit = bundle::max_checkpoint_bytes(&round.spec);
		let mut here = false;
		for (_, dir) in contest.rivals() {
			here |= has_state(dir, file, limit).await;
		}
		if here {
			for (index, _) in contest.rivals() {
				self.withdraw(round, index, Some(&[piece])).await;
			}
		}
	}
}
