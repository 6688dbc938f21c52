//! The single steps of a job. Each can be repeated at any time: what is done already is
//! seen on chain or on disk.

use super::{look::digest, Hopeless, Trainer};
use crate::{
	amount,
	bundle::{self, archive, files},
	chain::{blobs, calls, JobView},
	daemon::{
		fetch::{FetchError, Wanted},
		plan::{self, Action},
		store::{Committed, JobRecord, Salt},
		tasks::Outcome,
	},
	data::{self, DataError},
	train::{self, Budget, RehearsalError, TrainOptions},
	verify,
};
use anyhow::Context;
use serde_json::json;
use std::{
	sync::{atomic::AtomicBool, Arc},
	time::{Duration, Instant},
};
use tracing::info;
use trainyard_primitives::{
	blob::Chunked,
	commitment,
	job::{JobState, Reveal},
	JobId, H256,
};

/// How long a job's training is tried before the deposit depends on it.
const REHEARSAL: Budget = Budget { steps: 200, time: Duration::from_secs(2) };

/// Whether it is useless to try the location again: neither the server nor this machine may
/// mend it.
fn lasts(error: &FetchError) -> bool {
	!error.may_pass() && !matches!(error, FetchError::Local { .. })
}

impl Trainer {
	/// Does one step.
	pub(super) async fn act(
		self: Arc<Self>,
		job: Arc<JobView>,
		action: Action,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		match action {
			Action::Fetch => self.fetch(&job).await,
			Action::Apply => self.apply(&job).await,
			Action::Rehearse => self.rehearse(&job, stop).await,
			Action::Train => self.train(&job, stop).await,
			Action::Commit => self.commit(&job).await,
			Action::Reveal => self.reveal(&job).await,
			Action::Store => self.store(&job).await,
			Action::Rescue(group) => self.rescue(&job, group).await,
			Action::Poke => {
				self.sender.run(&calls::poke(job.id)).await?;
				Ok(())
			}
			Action::Reclaim => anyhow::bail!("deposits are reclaimed blob by blob"),
		}
	}

	async fn fetch(&self, job: &JobView) -> Outcome {
		let dataset = job.spec.dataset.clone();
		let path = self.home.data(&dataset.content_hash);
		// Where the submitter's location is gone, other trainers of the job may serve it.
		let hash = hex::encode(dataset.content_hash);
		let mut urls = vec![dataset.location.to_string_lossy()];
		urls.extend(job.replicas.iter().filter_map(|r| r.reveal.as_ref()).map(|reveal| {
			let base = reveal.location.to_string_lossy();
			format!("{}/blob/{hash}", base.trim_end_matches('/'))
		}));
		// A slow server must not keep other jobs' data away for long.
		let patience = (job.state == JobState::Open)
			.then(|| self.block_time.saturating_mul(job.terms.apply_blocks));
		let begun = Instant::now();
		let mut problems = Vec::new();
		for url in &urls {
			let wanted = Wanted {
				url,
				path: &path,
				limit: dataset.bytes,
				content_hash: Some(dataset.content_hash),
			};
			let left = patience.map(|patience| patience.saturating_sub(begun.elapsed()));
			let fetching = self.fetcher.fetch(&wanted);
			let fetched = match left {
				Some(left) => tokio::time::timeout(left, fetching)
					.await
					.context("the data did not come within the time for applications")?,
				None => fetching.await,
			};
			match fetched {
				Ok(()) => {
					problems.clear();
					break;
				}
				Err(e) => problems.push(e),
			}
		}
		let lasting = !problems.is_empty() && problems.iter().all(lasts);
		if let Some(e) = problems.into_iter().next() {
			return Err(if lasting { self.give_up(job, e.to_string()) } else { e.into() });
		}
		let content_hash = dataset.content_hash;
		let location = path.clone();
		let loaded =
			tokio::task::spawn_blocking(move || data::load(&location, None, &dataset)).await?;
		if let Err(e) = loaded {
			let text = format!("the data do not fit the job's specification: {e}");
			return Err(match e {
				DataError::Io { .. } => e.into(),
				_ => self.give_up(job, text),
			});
		}
		self.data().insert(content_hash);
		let text = format!("data are here and as declared ({} bytes)", job.spec.dataset.bytes);
		self.report.job(job.id, "data", &text, json!({ "bytes": job.spec.dataset.bytes }));
		Ok(())
	}

	/// Remembers what is wrong with a job for as long as this process lives.
	fn give_up(&self, job: &JobView, reason: String) -> anyhow::Error {
		self.bad().insert(digest(&job.spec), reason.clone());
		Hopeless(reason).into()
	}

	async fn rehearse(self: &Arc<Self>, job: &JobView, stop: Arc<AtomicBool>) -> Outcome {
		let (this, spec) = (self.clone(), job.spec.clone());
		let rehearsed = tokio::task::spawn_blocking(move || {
			let path = this.home.data(&spec.dataset.content_hash);
			train::rehearse(&spec, &path, REHEARSAL, &stop)
		})
		.await?;
		match rehearsed {
			Ok(steps) => {
				self.rehearsed().insert(digest(&job.spec));
				let text = format!("training holds for {steps} steps of a rehearsal");
				self.report.job(job.id, "rehearsed", &text, json!({ "steps": steps }));
				Ok(())
			}
			Err(e @ RehearsalError::Diverged { .. }) => Err(self.give_up(job, e.to_string())),
			Err(e) => Err(e.into()),
		}
	}

	async fn apply(&self, job: &JobView) -> Outcome {
		self.sender.run(&calls::apply(job.id)).await?;
		let price = plan::price(job);
		let text = format!(
			"applied: {} for a deposit of {}",
			amount::format(price),
			amount::format(job.deposit)
		);
		let fields = json!({ "price": price.to_string(), "deposit": job.deposit.to_string() });
		self.report.job(job.id, "applied", &text, fields);
		Ok(())
	}

	async fn train(self: &Arc<Self>, job: &JobView, stop: Arc<AtomicBool>) -> Outcome {
		let seed = job.seed.context("the job has no seed yet")?;
		let (id, spec) = (job.id, job.spec.clone());
		let this = self.clone();
		let begun = Instant::now();
		let trained = tokio::task::spawn_blocking(move || {
			let out = this.home.bundle_folder(id, &seed);
			let path = this.home.data(&spec.dataset.content_hash);
			let mut begun_at = None;
			let mut last = Instant::now();
			let mut progress = |p: &train::Progress| {
				if begun_at.is_none() {
					begun_at = Some(p.begun_at);
					let fields = json!({ "from_step": p.begun_at, "steps": p.steps });
					let text = match p.begun_at {
						0 => format!("training, {} steps", p.steps),
						from => format!("training goes on from step {from} of {}", p.steps),
					};
					this.report.job(id, "training", &text, fields);
				}
				if last.elapsed() > Duration::from_secs(10) {
					last = Instant::now();
					info!("job {id}: step {} of {}", p.step, p.steps);
				}
			};
			let options = TrainOptions {
				out: &out,
				resume: true,
				cheat: this.cheat,
				progress: &mut progress,
				stop: &stop,
			};
			let bundle = train::run(&spec, seed, &path, options)?;
			let result = bundle.result()?;
			let accuracy = bundle.manifest().checkpoints.last().map(|c| c.validation.accuracy());
			anyhow::Ok((result, accuracy, begun_at.unwrap_or(0)))
		})
		.await?;
		let (result, accuracy, begun_at) = trained?;
		let seconds = begun.elapsed().as_secs_f64();
		self.update(id, &seed, |record| {
			record.result = Some(result);
			record.seconds += seconds;
		})?;
		let text = format!(
			"trained in {seconds:.1} s, validation accuracy {:.2} %, bundle root {:?}",
			accuracy.unwrap_or(0.0) * 100.0,
			result.bundle_root
		);
		let fields = json!({
			"seconds": seconds, "from_step": begun_at, "accuracy": accuracy,
			"bundle_root": result.bundle_root, "model_root": result.model_root,
			"folder": self.home.bundle_folder(id, &seed),
		});
		self.report.job(id, "trained", &text, fields);
		Ok(())
	}

	/// The record of a job under the seed that it has now.
	fn record(&self, job: JobId, seed: H256) -> anyhow::Result<JobRecord> {
		self.records().get(&(job, seed)).cloned().context("the job has no record under this seed")
	}

	async fn commit(&self, job: &JobView) -> Outcome {
		let seed = job.seed.context("the job has no seed yet")?;
		// The salt is on disk before anything is sent.
		let record = self.update(job.id, &seed, |record| {
			if let Some(result) = record.result {
				if record.committed.as_ref().is_none_or(|c| c.result != result) {
					record.committed = Some(Committed { result, salt: Salt::random() });
				}
			}
		})?;
		let Committed { result, salt } = record.committed.context("there is no result yet")?;
		let commitment = commitment::result(
			&self.chain.genesis(),
			job.id,
			self.me(),
			&result.bundle_root,
			&result.model_root,
			&salt.0,
		);
		self.sender.run(&calls::commit_result(job.id, &commitment)).await?;
		self.report.job(job.id, "committed", "committed", json!({ "commitment": commitment }));
		Ok(())
	}

	async fn reveal(&self, job: &JobView) -> Outcome {
		let seed = job.seed.context("the job has no seed yet")?;
		let record = self.record(job.id, seed)?;
		let Committed { result, salt } = record.committed.context("nothing was committed")?;
		let reveal = Reveal {
			bundle_root: result.bundle_root,
			model_root: result.model_root,
			location: self.location.clone(),
		};
		self.sender.run(&calls::reveal_result(job.id, &reveal, &salt.0)).await?;
		let text = format!("revealed, served at {}", self.location);
		self.report.job(job.id, "revealed", &text, json!({ "location": self.location }));
		Ok(())
	}

	async fn store(&self, job: &JobView) -> Outcome {
		let seed = job.seed.context("the job has no seed yet")?;
		let record = self.record(job.id, seed)?;
		let expected = record.committed.context("nothing was committed")?.result.model_root;
		let path = self.home.bundle_folder(job.id, &seed).join(bundle::MODEL_FILE);
		let bytes = files::read(&path, u64::MAX - 1)?;
		let root = Chunked::new(&bytes).root;
		anyhow::ensure!(root == expected, "{} is not the model that was committed", path.display());
		self.note_blob(root, job.id)?;
		blobs::store(&self.sender, &bytes).await.context("storing the model")?;
		let text = format!("model stored on chain ({} bytes)", bytes.len());
		self.report.job(job.id, "stored", &text, json!({ "root": root, "bytes": bytes.len() }));
		Ok(())
	}

	async fn rescue(&self, job: &JobView, group: u32) -> Outcome {
		let seed = job.seed.context("the job has no seed yet")?;
		let audit = job.audit.as_ref().context("the job is not audited")?;
		let folder = self.home.bundle_folder(job.id, &seed);
		let wanted = verify::rescue_files(&job.spec, &audit.drawn);
		let text = "verifiers could not fetch the bundle: storing the drawn states on chain";
		self.report.job(job.id, "rescue", text, json!({ "group": group }));
		let archive =
			tokio::task::spawn_blocking(move || archive::pack(&folder, &wanted)).await??;
		let root = Chunked::new(&archive).root;
		self.note_blob(root, job.id)?;
		blobs::store(&self.sender, &archive).await.context("storing the rescue")?;
		self.sender.run(&calls::rescue(job.id, group, &root)).await?;
		let text = format!("rescued: {} bytes on chain", archive.len());
		let fields = json!({ "group": group, "root": root, "bytes": archive.len() });
		self.report.job(job.id, "rescued", &text, fields);
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn only_what_the_submitter_did_wrong_is_held_against_the_job() {
		let url = || "http://there".to_owned();
		let status = |code: u16| FetchError::Status {
			url: url(),
			status: reqwest::StatusCode::from_u16(code).unwrap(),
		};
		let (expected, found) = (H256::zero(), H256::repeat_byte(1));
		let lasting = [
			FetchError::WrongHash { url: url(), expected, found },
			FetchError::TooLarge { url: url(), limit: 1 },
			FetchError::BadUrl { url: url() },
			status(404),
		];
		assert!(lasting.iter().all(lasts));
		let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
		let passing = [
			FetchError::NoAnswer { url: url(), reason: "refused".into() },
			FetchError::Local { path: "data".into(), source: full },
			status(503),
		];
		assert!(!passing.iter().any(lasts));
	}
}
