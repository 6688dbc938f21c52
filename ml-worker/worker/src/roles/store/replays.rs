//! Keeps what replays of segments computed, in the folder of a round: one file each,
//! `<round>/replays/<segment>-<hash of the state in which it begins>.json`.

use super::{load, save, short, StoreError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use tracing::warn;
use trainyard_proof::{bundle::files, verify::replay::Replays};
use trainyard_protocol::{audit::SegmentEvidence, H256};

/// The replays of a round, which is about one job under one seed.
pub struct SavedReplays {
	folder: PathBuf,
	/// The device that replays.
	device: String,
}

/// A replay as it is on disk.
#[derive(Serialize, Deserialize)]
struct Record {
	/// Hash of the state in which the segment begins; the name has a part of it only.
	begin: H256,
	/// The device that replayed, as `--device` names it. What one found is no other one's evidence:
	/// a GPU that computed wrong must not be believed after its owner went over to the processor.
	#[serde(default)]
	device: String,
	replayed: SegmentEvidence,
}

impl SavedReplays {
	/// Returns those of the round in `folder` that `device` made.
	pub fn of(folder: &Path, device: &str) -> Self {
		Self { folder: folder.join("replays"), device: device.to_owned() }
	}

	fn file(&self, segment: u32, begin: &H256) -> PathBuf {
		self.folder.join(format!("{segment}-{}.json", short(begin)))
	}

	fn write(&self, record: &Record) -> Result<(), StoreError> {
		files::create_private_folder(&self.folder)?;
		save(&self.file(record.replayed.segment, &record.begin), record)
	}
}

impl Replays for SavedReplays {
	fn load(&self, segment: u32, begin: &H256) -> Option<SegmentEvidence> {
		let found: Result<Option<Record>, _> = load(&self.file(segment, begin));
		let record = found.unwrap_or_else(|e| {
			warn!("segment {segment} is replayed again: {e}");
			None
		})?;
		let same = record.begin == *begin
			&& record.replayed.segment == segment
			&& record.device == self.device;
		same.then_some(record.replayed)
	}

	fn save(&self, begin: &H256, replayed: &SegmentEvidence) {
		// A verdict does not need it.
		let device = self.device.clone();
		if let Err(e) = self.write(&Record { begin: *begin, device, replayed: *replayed }) {
			warn!("after a restart segment {} is replayed again: {e}", replayed.segment);
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::{
		audit::{Ended, SegmentEvidence},
		bundle::Evaluation,
	};

	#[test]
	fn a_replay_is_there_after_a_restart_for_its_own_beginning_only() {
		let dir = tempfile::tempdir().unwrap();
		let hash = H256::repeat_byte;
		let evaluation = Evaluation::new(f32::INFINITY, 3, 9);
		let ended = Ended::Checkpoint { step: 50, state: hash(2), evaluation };
		let whole = SegmentEvidence {
			segment: 4,
			trace_root: hash(1),
			ended,
			differs: None,
			idle_since: None,
		};
		let broken = SegmentEvidence { ended: Ended::Diverged { step: 44 }, ..whole };
		let replays = || SavedReplays::of(dir.path(), "cpu");
		assert_eq!(replays().load(4, &hash(7)), None);
		replays().save(&hash(7), &whole);
		replays().save(&hash(8), &broken);
		assert_eq!(replays().load(4, &hash(7)), Some(whole));
		assert_eq!(replays().load(4, &hash(8)), Some(broken));
		let gpu = SavedReplays::of(dir.path(), "cuda");
		assert_eq!(gpu.load(4, &hash(7)), None, "another device replays by itself");
		gpu.save(&hash(7), &broken);
		assert_eq!(replays().load(4, &hash(7)), None, "what the GPU found is no evidence here");
		replays().save(&hash(7), &whole);
		// The same first bytes are not the same hash.
		let mut alike = hash(7);
		alike.0[31] = 0;
		assert_eq!((replays().load(4, &alike), replays().load(5, &hash(7))), (None, None));
		std::fs::write(replays().file(4, &hash(7)), "{").unwrap();
		assert_eq!(replays().load(4, &hash(7)), None, "what is damaged is replayed again");
	}
}
