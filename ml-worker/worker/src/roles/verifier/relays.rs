//! Seats in relays: a piece that is too large for the chain is fetched, said to be here, opened where a
//! seed draws a chunk, and served to whoever asks for it.
//!
//! What is due follows from the chain and from what is on disk, so a kill changes nothing: what was fetched
//! is not fetched again, and what is on chain is not sent again. A state counts as here once a task found it
//! whole, under the root that was revealed, and [all rows](super::relayed_rows) under that of the
//! specification.

use super::{
	relay::Fetched, relayed_rows::chunk_of_rows, relayed_samples::chunk_of_samples, Key, Memory,
	Verifier, MARGIN,
};
use crate::roles::{
	blocks::LookError,
	checked,
	common::bundles::{fetch_bundle, has_manifest, has_state, servers},
	fetch,
	store::{result_folder, Claimed},
	tasks::{stopped, Outcome, TaskError, Tasks},
};
use serde_json::json;
use std::{
	collections::HashSet,
	path::{Path, PathBuf},
	sync::{atomic::AtomicBool, Arc},
	time::Instant,
};
use trainyard_client::{calls, AccountId32, AuditView, Head, JobView, RelayView};
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::{
	bundle::{self, manifest::checkpoint_file, openings},
	verify::state_leaf,
};
use trainyard_protocol::{
	audit::AuditPhase,
	job::{BlockNumber, JobState, WorkResult},
	pieces::Piece,
	relay::{tensor_chunk, ChunkOpening, RelayStage},
};

/// What a seat of a relay does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RelayDuty {
	/// Fetches the piece.
	Fetch,
	/// Says whether it is here.
	Say(bool),
	/// Opens the chunk of this number.
	Show(u64),
}

/// Returns what `me` owes to a relay at height `best`, with the piece `here` or not.
///
/// Who lacks it says so only when the time is nearly over, and goes on fetching: what comes late can be said
/// in the second vote.
pub(super) fn duties(
	relay: &RelayView,
	me: &AccountId32,
	best: BlockNumber,
	here: bool,
) -> Vec<RelayDuty> {
	let Some(seat) = relay.seats.iter().find(|seat| seat.who == *me && !seat.lost) else {
		return Vec::new();
	};
	if let Some(number) = seat.due {
		return vec![if here { RelayDuty::Show(number) } else { RelayDuty::Fetch }];
	}
	let ends = relay.until.is_some_and(|until| best.saturating_add(MARGIN) >= until);
	match relay.stage {
		RelayStage::Saying { .. } if seat.shown => Vec::new(),
		RelayStage::Saying { .. } if here => match seat.says {
			Some(true) => Vec::new(),
			_ => vec![RelayDuty::Say(true)],
		},
		RelayStage::Saying { .. } if ends && seat.says.is_none() => {
			vec![RelayDuty::Fetch, RelayDuty::Say(false)]
		}
		RelayStage::Drawing { .. } | RelayStage::Lacking { .. } => Vec::new(),
		// Who said that it has it has to show and to serve it, also after it lost its folder.
		_ if !here => vec![RelayDuty::Fetch],
		_ => Vec::new(),
	}
}

/// Returns whether results may stand in this phase of an audit, and with them relays.
fn stands(phase: &AuditPhase) -> bool {
	matches!(phase, AuditPhase::Standing { .. } | AuditPhase::Rescue { .. })
}

/// Returns the state that a relay is about, as the file that a bundle has of it; `None` for another piece.
fn state_file(job: &JobView, relay: &RelayView) -> Option<(u32, String)> {
	let Piece::State(index) = relay.piece else { return None };
	let step = checked(job).ok()?.checkpoint_step(index)?;
	Some((index, checkpoint_file(step)))
}

/// Returns the base URLs of all other seats of a relay, those first that showed that they have the piece.
pub(super) fn other_seats(relay: &RelayView, me: &AccountId32) -> Vec<String> {
	let mut seats: Vec<_> = relay.seats.iter().filter(|seat| seat.who != *me).collect();
	seats.sort_by_key(|seat| !seat.shown);
	let locations = seats.into_iter().filter_map(|seat| seat.location.as_ref());
	locations.filter_map(|location| fetch::server(&location.to_string_lossy())).collect()
}

/// Returns the base URLs of those who may have a state: the trainers, and all other seats.
pub(super) fn sources(
	job: &JobView,
	relay: &RelayView,
	result: &WorkResult,
	me: &AccountId32,
) -> Vec<String> {
	servers(job, result).into_iter().chain(other_seats(relay, me)).collect()
}

/// Opens the chunk `number` of a state, of this index and in this file, of the bundle in `dir`.
pub(super) fn chunk_of(
	dir: &Path,
	spec: &CheckedSpec,
	(index, file): (u32, &str),
	number: u64,
) -> Result<ChunkOpening, TaskError> {
	let leaf = state_leaf(dir, index).map_err(|e| TaskError::of(&e))?;
	let leaf = leaf.ok_or_else(|| TaskError::failed("the bundle lacks the state"))?;
	let no_chunk = || TaskError::failed("the state has no such chunk");
	let place = tensor_chunk(spec, number).ok_or_else(no_chunk)?;
	let opening = openings::relay_chunk(spec, &dir.join(file), leaf, &place);
	opening.map_err(|e| TaskError::of(&e))?.ok_or_else(no_chunk)
}

/// Opens the chunk `number` of the piece of a relay, which is in `dir`.
fn opened(
	dir: &Path,
	job: &JobView,
	relay: &RelayView,
	number: u64,
	stop: &AtomicBool,
) -> Result<ChunkOpening, TaskError> {
	match (relay.piece, relay.places) {
		(Piece::Rows { .. }, _) => return chunk_of_rows(dir, job, number, stop),
		(Piece::Samples, Some(places)) => {
			let groups = job.audit.as_ref().map(|audit| &audit.groups[..]).unwrap_or_default();
			let group = groups.get(relay.group as usize);
			let last = group.map_or(0, |group| group.result.segments);
			let of = (job.terms.keep_every, last);
			return chunk_of_samples(dir, &checked(job)?, of, &places, number);
		}
		_ => {}
	}
	let (index, file) = state_file(job, relay)
		.ok_or_else(|| TaskError::failed("this piece is not opened by chunks"))?;
	chunk_of(dir, &checked(job)?, (index, &file), number)
}

impl Verifier {
	/// Returns the folder in which a relay's piece is kept, like the round of an audit. States and samples of one
	/// result lie in one, as it is served by one root.
	fn relay_folder(&self, job: &JobView, audit: &AuditView, relay: &RelayView) -> PathBuf {
		match relay.piece {
			Piece::Rows { .. } => self.home.audit_folder(job.id, audit.round, &("relay", relay.id)),
			_ => self.home.audit_folder(job.id, audit.round, &("relay of", relay.group)),
		}
	}

	/// Looks at the relays of all results that stand: starts what this verifier owes as a seat, and notes
	/// what it keeps and serves for them.
	pub(super) async fn look_at_relays(
		self: &Arc<Self>,
		memory: &mut Memory,
		tasks: &mut Tasks<Key>,
		jobs: &[JobView],
		(fetched, folders): (&mut Fetched, &mut HashSet<PathBuf>),
		head: Head,
	) -> Result<(), LookError> {
		let mut running = HashSet::new();
		for job in jobs.iter().filter(|job| job.state == JobState::Auditing) {
			let Some(audit) = job.audit.as_ref().filter(|audit| stands(&audit.phase)) else {
				continue;
			};
			for relay in self.chain.relays_of(job.id, head.hash).await? {
				let me = self.sender.account();
				if relay.seats.iter().all(|seat| seat.who != *me) {
					continue;
				}
				running.insert(relay.id);
				let folder = self.relay_folder(job, audit, &relay);
				let Some(group) = audit.groups.get(relay.group as usize) else { continue };
				let dir = result_folder(&folder, relay.group as usize);
				match relay.piece {
					Piece::Rows { .. } => fetched.add_files(&job.spec, &dir),
					_ => fetched.add_bundle(&group.result, dir),
				}
				folders.insert(folder.clone());
				let here = memory.relayed.contains(&relay.id);
				for duty in duties(&relay, me, head.number, here) {
					let key = Key::Relay(relay.id, duty);
					let (me, job, relay, folder) =
						(self.clone(), job.clone(), relay.clone(), folder.clone());
					tasks.start_with(key, |stop| me.relay(job, relay, duty, folder, head, stop));
				}
			}
		}
		memory.relayed.retain(|id| running.contains(id));
		// What nobody waits for any more need not arrive.
		tasks.stop_unless(|key| match key {
			Key::Relay(id, RelayDuty::Fetch) => running.contains(id),
			_ => true,
		});
		Ok(())
	}

	async fn relay(
		self: Arc<Self>,
		job: JobView,
		relay: RelayView,
		duty: RelayDuty,
		folder: PathBuf,
		head: Head,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let dir = result_folder(&folder, relay.group as usize);
		match duty {
			RelayDuty::Fetch => {
				tokio::select! {
					fetched = self.fetch_relayed(&job, &relay, &dir, head) => fetched,
					() = stopped(&stop) => Err(TaskError::Stopped),
				}
			}
			RelayDuty::Say(has) => {
				self.sender.run(&calls::say(relay.id, has).on(head)).await?;
				let text = match has {
					true => "a piece that is relayed is here",
					false => "a piece that is relayed cannot be had",
				};
				let fields = json!({ "relay": relay.id, "piece": relay.piece, "has": has });
				self.report.job(job.id, "relay_said", text, fields);
				Ok(())
			}
			RelayDuty::Show(number) => {
				let (id, of, piece) = (relay.id, job.id, relay.piece);
				let opening = move || opened(&dir, &job, &relay, number, &stop);
				let opening = tokio::task::spawn_blocking(opening).await??;
				self.sender.run(&calls::show_chunk(id, &opening).on(head)).await?;
				let text = format!("chunk {number} of a piece that is relayed is opened");
				let fields = json!({ "relay": id, "piece": piece, "chunk": number });
				self.report.job(of, "relay_shown", &text, fields);
				Ok(())
			}
		}
	}

	/// Brings the piece of a relay into `dir`, from whoever has it.
	pub(super) async fn fetch_relayed(
		&self,
		job: &JobView,
		relay: &RelayView,
		dir: &Path,
		head: Head,
	) -> Outcome {
		match relay.piece {
			Piece::Rows { .. } => return self.fetch_relayed_rows(job, relay, dir, head).await,
			Piece::Samples => return self.fetch_relayed_samples(job, relay, dir, head).await,
			_ => {}
		}
		let (spec, me) = (checked(job)?, self.sender.account());
		let audit = job.audit.as_ref();
		let group = audit.and_then(|audit| audit.groups.get(relay.group as usize));
		let result = group.ok_or_else(|| TaskError::failed("there is no such result"))?.result;
		let (_, file) = state_file(job, relay)
			.ok_or_else(|| TaskError::failed("this piece is not fetched for others"))?;
		let limit = bundle::max_checkpoint_bytes(&spec);
		if has_manifest(dir, result.bundle_root).await && has_state(dir, &file, limit).await {
			return Ok(());
		}
		let _room = self.claim_for_relay(dir, limit)?;
		let give_up = self.end_of_stage(relay, head);
		let needed = [file];
		let mut why = String::from("nobody serves it");
		let from = sources(job, relay, &result, me);
		for (at, server) in from.iter().enumerate() {
			let share = super::sources::share(give_up, from.len() - at);
			let fetching = fetch_bundle(&self.fetcher, server, &result, &needed, dir, limit);
			match tokio::time::timeout(share, fetching).await {
				Ok(Ok(())) => {
					let text = format!("a piece that is relayed was fetched from {server}");
					let fields = json!({ "relay": relay.id, "piece": relay.piece });
					self.report.job(job.id, "relay_fetched", &text, fields);
					return Ok(());
				}
				Ok(Err(e)) => why = e.to_string(),
				Err(_) => why = format!("{server} is too slow"),
			}
		}
		Err(TaskError::failed(format!("a piece that is relayed cannot be had yet: {why}")))
	}

	/// Takes room for `bytes` bytes of a piece in `dir`.
	pub(super) fn claim_for_relay(&self, dir: &Path, bytes: u64) -> Result<Claimed, TaskError> {
		let claimed = self.space.claim(&self.home, dir, bytes, &[], self.units.reading())?;
		claimed.map_err(|missing| {
			TaskError::failed(format!(
				"{missing} bytes are missing for a relay within --max-disk-mib and on the disk"
			))
		})
	}

	/// Returns when the present stage of a relay ends.
	pub(super) fn end_of_stage(&self, relay: &RelayView, head: Head) -> Instant {
		let blocks = relay.until.unwrap_or(head.number).saturating_sub(head.number).max(1);
		Instant::now() + self.block_time.saturating_mul(blocks)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::RelaySeatView;
	use trainyard_protocol::{Text, H256};

	fn me() -> AccountId32 {
		AccountId32([1; 32])
	}

	fn seat(says: Option<bool>, shown: bool) -> RelaySeatView {
		RelaySeatView { who: me(), says, shown, lost: false, due: None, location: None }
	}

	fn relay(stage: RelayStage, until: Option<BlockNumber>, seat: RelaySeatView) -> RelayView {
		RelayView {
			id: 7,
			job: 3,
			group: 0,
			piece: Piece::State(2),
			chunks: 1_000,
			places: None,
			by: AccountId32([9; 32]),
			fee: 5,
			stage,
			until,
			appealed: false,
			seats: vec![seat],
		}
	}

	#[test]
	fn what_a_seat_owes_follows_from_the_chain_and_the_disk() {
		use RelayDuty::*;
		let (saying, held) = (RelayStage::Saying { until: 600 }, RelayStage::Held { until: 600 });
		let showing = RelayStage::Showing { seed: H256::zero(), until: 600 };
		let serving = RelayStage::Serving { until: 600 };
		let lacking = RelayStage::Lacking { until: 600 };
		let until = Some(600);
		for (name, stage, seat, best, here, owed) in [
			("nothing is here", saying, seat(None, false), 10, false, vec![Fetch]),
			("it came", saying, seat(None, false), 10, true, vec![Say(true)]),
			("said", saying, seat(Some(true), false), 10, true, vec![]),
			("nearly over", saying, seat(None, false), 597, false, vec![Fetch, Say(false)]),
			("said no", saying, seat(Some(false), false), 597, false, vec![Fetch]),
			(
				"came for the second vote",
				saying,
				seat(Some(false), false),
				9,
				true,
				vec![Say(true)],
			),
			("shown before", saying, seat(Some(true), true), 597, true, vec![]),
			("shown, and lost since", showing, seat(Some(true), true), 9, false, vec![Fetch]),
			("served now", serving, seat(Some(false), false), 9, false, vec![Fetch]),
			("serves", held, seat(Some(true), true), 9, true, vec![]),
			("over", lacking, seat(Some(false), false), 9, false, vec![]),
		] {
			let relay = relay(stage, until, seat);
			assert_eq!(duties(&relay, &me(), best, here), owed, "{name}");
			assert_eq!(duties(&relay, &AccountId32([2; 32]), best, here), [], "{name}");
		}
		let due = RelaySeatView { due: Some(44), ..seat(Some(true), true) };
		assert_eq!(duties(&relay(held, until, due.clone()), &me(), 9, true), [Show(44)]);
		assert_eq!(duties(&relay(held, until, due.clone()), &me(), 9, false), [Fetch]);
		let lost = RelaySeatView { lost: true, ..due };
		assert_eq!(duties(&relay(held, until, lost), &me(), 9, true), []);
	}

	#[test]
	fn who_showed_it_is_asked_before_other_seats() {
		let at = |n: u8, shown| RelaySeatView {
			who: AccountId32([n; 32]),
			location: Text::new(&format!("http://203.0.113.{n}")),
			..seat(Some(true), shown)
		};
		let mut view = relay(RelayStage::Held { until: 9 }, Some(9), at(2, false));
		view.seats.extend([at(3, true), at(1, true)]);
		let job = trainyard_client::fake::job(JobState::Auditing);
		let (bundle_root, model_root) = Default::default();
		let result = WorkResult {
			bundle_root,
			true_root: bundle_root,
			model_root,
			segments: 3,
			diverged: false,
		};
		let from = sources(&job, &view, &result, &me());
		assert_eq!(from, ["http://203.0.113.3", "http://203.0.113.2"]);
	}
}
