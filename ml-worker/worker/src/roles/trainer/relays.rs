//! Relays about results of this trainer: committees that say whether samples of its states are to be had, or a
//! state, or the data, where no block carries it.
//!
//! Its bundle and the data are served all the time, to seats of relays as to anybody. Where a committee says
//! twice that it could not have the piece, the deposit is lost in an hour: then this trainer, which has it and
//! serves it, asks for a larger committee.

use super::{thinned, Reported, Trainer};
use crate::roles::{
	common::large,
	job::Job,
	plan::{replica_of, Action},
	tasks::{Outcome, TaskError},
};
use serde_json::json;
use std::{
	path::Path,
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc,
	},
};
use trainyard_client::{calls, AccountId32, ChainError, Head, JobView, RelayView};
use trainyard_proof::{
	bundle::{
		files, manifest::checkpoint_file, openings::Opening, samples::Samples, thinning::Thinning,
		Bundle,
	},
	verify::movement::Plan,
};
use trainyard_protocol::{
	audit::AuditPhase,
	job::{Fate, JobState},
	pieces::Piece,
	relay::{RelayId, RelayStage, APPEAL_SEATS},
	JobId, H256,
};

/// Returns what the owner is told of a relay.
fn in_words(relay: &RelayView) -> String {
	let what = large::in_words(&relay.piece);
	format!(
		"a committee is asked for {what}: it must be able to fetch that here, or the deposit is lost"
	)
}

/// Returns whether a relay is about the result of `me`.
fn is_own(job: &JobView, relay: &RelayView, me: &AccountId32) -> bool {
	let mine = replica_of(job, me).filter(|mine| mine.fate == Fate::Working);
	let own = mine.and_then(|mine| mine.reveal.as_ref()).map(|reveal| reveal.result());
	let groups = job.audit.as_ref().map(|audit| &audit.groups[..]).unwrap_or_default();
	let group = groups.get(relay.group as usize).filter(|group| group.decision.is_none());
	group.zip(own).is_some_and(|(group, own)| group.result.common() == own.common())
}

/// Returns whether an answer is to be doubted: the piece of this relay is said to be lacking, and nobody doubted
/// that yet.
fn is_doubted(relay: &RelayView) -> bool {
	matches!(relay.stage, RelayStage::Lacking { .. }) && !relay.appealed
}

/// The file that says at which places samples of all states of a bundle are kept.
const SAMPLED: &str = "sampled";

/// Returns whether samples of all states of the bundle in `folder` are kept at these places.
fn is_sampled(folder: &Path, places: &H256) -> bool {
	std::fs::read(folder.join(SAMPLED)).is_ok_and(|kept| kept == places.as_bytes())
}

/// Keeps samples of all states of the bundle in `folder`, which is of one of the own jobs, at these places: of those
/// that `keep` keeps. Returns of how many.
fn sample_all(
	folder: &Path,
	keep: Thinning,
	places: &H256,
	stop: &AtomicBool,
) -> Result<usize, TaskError> {
	let bundle = Bundle::open(folder).map_err(|e| TaskError::of(&e))?;
	let plan = Plan::of_samples(&bundle.manifest().spec, places);
	let listed = &bundle.manifest().checkpoints;
	let last = bundle.manifest().segments();
	let kept = || (0u32..).zip(listed).filter(|(at, _)| keep.keeps(*at, last));
	for (at, checkpoint) in kept() {
		if stop.load(Ordering::Relaxed) {
			return Err(TaskError::Stopped);
		}
		let file = bundle.path(&checkpoint_file(checkpoint.step));
		let requests = plan.requests(at, checkpoint.step, checkpoint.state_hash);
		let path = Samples::beside(&file);
		let kept = Samples::load(&path).map_err(|e| TaskError::of(&e))?;
		// What a kill left.
		let has = |kept: &Samples| requests.iter().all(|of| kept.opening(&of.parts).is_some());
		if kept.as_ref().is_some_and(has) {
			continue;
		}
		let mut samples = Samples::default();
		for request in requests {
			let opening = Opening::of_file(&file, &request.parts).map_err(|e| TaskError::of(&e))?;
			samples.add(&request.parts, opening);
		}
		samples.save(&path).map_err(|e| TaskError::of(&e))?;
	}
	let done = files::write(&folder.join(SAMPLED), places.as_bytes());
	done.map_err(|e| TaskError::of(&e))?;
	Ok(kept().count())
}

impl Trainer {
	/// Looks at the relays of results of this trainer. Reports each once, and returns what it does about them.
	pub(super) async fn look_at_relays(
		&self,
		jobs: &[Job],
		reported: &mut Reported,
		head: Head,
	) -> Result<Vec<(JobId, Action)>, ChainError> {
		let mut due = Vec::new();
		for job in jobs.iter().filter(|job| job.state == JobState::Auditing) {
			let phase = job.audit.as_ref().map(|audit| audit.phase);
			let stands =
				matches!(phase, Some(AuditPhase::Standing { .. } | AuditPhase::Rescue { .. }));
			// What is smaller is claimed, and stored.
			let room = self.limits.max_rescue;
			let relayed = job.needs().is_ok_and(|needs| needs.may_be_relayed(room));
			if !stands || !relayed || replica_of(job, self.me()).is_none() {
				continue;
			}
			let relays = self.chain.relays_of(job.id, head.hash).await?;
			self.note_relay_seats(job, &relays);
			for relay in relays.iter().filter(|relay| is_own(job, relay, self.me())) {
				if reported.relays.insert((job.id, relay.id)) {
					let fields = json!({ "relay": relay.id, "piece": relay.piece });
					self.report.job(job.id, "relay", &in_words(relay), fields);
				}
				if is_doubted(relay) {
					due.push((job.id, Action::Doubt(relay.id)));
				}
				let folder = job.seed.map(|seed| self.home.bundle_folder(job.id, &seed));
				if let Some((places, folder)) = relay.places.zip(folder) {
					if relay.piece == Piece::Samples && !is_sampled(&folder, &places) {
						due.push((job.id, Action::Sample(relay.id)));
					}
				}
			}
		}
		Ok(due)
	}

	/// Keeps samples of all states at the places of a relay beside the checkpoints: each seat of it asks for them, and
	/// the server would hash whole states for each answer.
	pub(super) async fn sample(
		&self,
		job: &Job,
		relay: RelayId,
		head: Head,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let relays = self.chain.relays_of(job.id, head.hash).await?;
		let relay = relays.into_iter().find(|it| it.id == relay);
		let (Some(places), Some(seed)) = (relay.and_then(|relay| relay.places), job.seed) else {
			return Ok(());
		};
		let folder = self.home.bundle_folder(job.id, &seed);
		let keep = thinned::kept(&job.terms);
		let states = tokio::task::spawn_blocking(move || sample_all(&folder, keep, &places, &stop));
		let states = states.await??;
		let text = format!("samples of {states} states are kept for the seats of a relay");
		self.report.job(job.id, "sampled", &text, json!({ "states": states }));
		Ok(())
	}

	/// Doubts the answer of a relay.
	pub(super) async fn doubt(&self, job: &Job, relay: RelayId, head: Head) -> Outcome {
		self.sender.run(&calls::appeal(relay).on(head)).await?;
		let text = format!(
			"a committee says that a piece of the result is not to be had, which is served here: {APPEAL_SEATS} \
			 others are asked"
		);
		self.report.job(job.id, "relay_doubted", &text, json!({ "relay": relay }));
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, ReplicaView};
	use trainyard_program::spec::{Activation, Model};
	use trainyard_proof::testing;
	use trainyard_protocol::{
		audit::Decision,
		job::{Reveal, WorkResult},
		Text,
	};

	fn relay(stage: RelayStage, appealed: bool) -> RelayView {
		RelayView {
			id: 3,
			job: 7,
			group: 1,
			piece: Piece::State(2),
			chunks: 9,
			places: None,
			by: AccountId32([9; 32]),
			fee: 5,
			stage,
			until: Some(90),
			appealed,
			seats: vec![],
		}
	}

	#[test]
	fn only_that_a_state_is_lacking_is_doubted_and_only_once() {
		let until = 90;
		for (stage, appealed, doubted) in [
			(RelayStage::Saying { until }, false, false),
			(RelayStage::Serving { until }, false, false),
			(RelayStage::Held { until }, false, false),
			(RelayStage::Lacking { until }, false, true),
			(RelayStage::Lacking { until }, true, false),
		] {
			assert_eq!(is_doubted(&relay(stage, appealed)), doubted, "{stage:?}");
		}
	}

	/// What seats of a relay ask for is answered by what is kept, which is what the checkpoints open to.
	#[test]
	fn samples_are_kept_for_the_seats_of_a_relay() {
		let dir = tempfile::tempdir().unwrap();
		let table = testing::table(dir.path());
		let spec = testing::changed(&testing::job(&table), |spec| {
			let hidden = vec![128, 128].try_into().unwrap();
			spec.model = Model::Mlp { hidden, activation: Activation::Relu };
		});
		let out = dir.path().join("bundle");
		let bundle = testing::train(&spec, &table, &out, false, None).unwrap();
		let (places, stop) = (H256::repeat_byte(5), AtomicBool::new(false));
		assert!(!is_sampled(&out, &places));
		assert_eq!(
			sample_all(&out, Thinning::NONE, &places, &AtomicBool::new(true)),
			Err(TaskError::Stopped)
		);
		assert!(!is_sampled(&out, &places), "not before all are there");
		assert_eq!(sample_all(&out, Thinning::NONE, &places, &stop), Ok(7));
		let few = Thinning::every(4.try_into().unwrap());
		assert_eq!(
			sample_all(&out, few, &places, &stop),
			Ok(3),
			"the first, the fifth and the last"
		);
		assert!(is_sampled(&out, &places) && !is_sampled(&out, &H256::zero()));
		let plan = Plan::of_samples(&spec, &places);
		for (at, checkpoint) in (0u32..).zip(&bundle.manifest().checkpoints) {
			let file = bundle.path(&checkpoint_file(checkpoint.step));
			let samples = Samples::load(&Samples::beside(&file)).unwrap().unwrap();
			for request in plan.requests(at, checkpoint.step, checkpoint.state_hash) {
				let kept = samples.opening(&request.parts).unwrap();
				assert_eq!(kept, Opening::of_file(&file, &request.parts).unwrap());
				assert!(request.elements(&kept).is_ok());
			}
		}
	}

	#[test]
	fn the_owner_reads_which_piece_it_is() {
		let of_state = relay(RelayStage::Drawing { after: 1 }, false);
		let of_rows = RelayView { piece: Piece::Rows { from: 0, to: 9 }, ..of_state.clone() };
		assert!(in_words(&of_state).starts_with("a committee is asked for a state: "));
		assert!(in_words(&of_rows).starts_with("a committee is asked for the rows of the data: "));
	}

	#[test]
	fn relays_of_results_of_others_are_theirs() {
		let me = AccountId32([1; 32]);
		let result = |n: u8| WorkResult {
			bundle_root: H256::repeat_byte(n),
			true_root: H256::repeat_byte(n),
			model_root: H256::zero(),
			segments: 3,
			diverged: false,
		};
		let replica = |n: u8, fate| {
			let WorkResult { bundle_root, true_root, model_root, segments, diverged } = result(n);
			let location = Text::new("http://127.0.0.1:1").unwrap();
			let reveal =
				Reveal { bundle_root, true_root, model_root, segments, diverged, location };
			ReplicaView { trainer: me, commitment: None, reveal: Some(reveal), fate }
		};
		let standing = AuditPhase::Standing { until: 90 };
		let job = |replica, decision| {
			let group = trainyard_client::GroupView { decision, ..fake::group(result(2)) };
			let audit = fake::audit(standing, vec![fake::group(result(1)), group]);
			let (replicas, audit) = (vec![replica], Some(audit));
			JobView { replicas, audit, ..fake::job(JobState::Auditing) }
		};
		let about = relay(RelayStage::Lacking { until: 90 }, false);
		assert!(is_own(&job(replica(2, Fate::Working), None), &about, &me));
		assert!(!is_own(&job(replica(1, Fate::Working), None), &about, &me));
		assert!(!is_own(&job(replica(2, Fate::Rejected), None), &about, &me));
		let rejected = Some(Decision::Rejected);
		assert!(!is_own(&job(replica(2, Fate::Working), rejected), &about, &me));
		assert!(!is_own(&job(replica(2, Fate::Working), None), &about, &AccountId32([2; 32])));
	}
}
