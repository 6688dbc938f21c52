//! What a recorder keeps on disk: after a kill, damaged, and where there is little room.

use super::*;
use trainyard_court::game::ranges::boundaries32;

/// One segment of 70 steps.
fn seventy() -> (Job, Run, OnDisk) {
	let job = jobs::steps();
	let run = Run::new(&job, Change::Nothing);
	let disk = OnDisk::new(&job, &run);
	(job, run, disk)
}

/// Compares what is posted about the steps `from` to `to`, and what is opened of its first.
fn compare_steps(run: &Run, recorder: &Recorder, from: u32, to: u32) {
	recorder.milestones(0, from, to).unwrap();
	for steps in boundaries32(from, to, 1).into_iter().chain([from, to]) {
		let at = StateAt::Steps { segment: 0, steps };
		assert_eq!(run.state(at), recorder.state(at), "{steps}");
		assert_eq!(run.steps(0, steps), recorder.steps(0, steps), "{steps}");
	}
}

fn all() -> u64 {
	1 << 30
}

#[test]
fn a_segment_is_trained_once_where_there_is_room() {
	let (_, run, disk) = seventy();
	let recorder = disk.recorder(kept_in(disk.folder.path(), all()));
	compare_steps(&run, &recorder, 0, 70);
	assert_eq!(recorder.work().steps, 70);
	let steps = |recorder: &Recorder, from, to| {
		let before = recorder.work().steps;
		compare_steps(&run, recorder, from, to);
		recorder.work().steps - before
	};
	// From the state before, which is on disk.
	assert_eq!(steps(&recorder, 34, 36), 1, "35 is new, and 36 known");
	assert_eq!(steps(&recorder, 34, 36), 0);
	// A recorder that is begun again has no state in memory.
	let again = disk.recorder(kept_in(disk.folder.path(), all()));
	assert_eq!(steps(&again, 0, 70), 0);
	assert_eq!(steps(&again, 34, 36), 0);
	assert_eq!(steps(&again, 68, 70), 1, "69 is new, and 70 known");
	assert_eq!(again.work().refused, 0);
	// Without a folder it trains again.
	let plain = disk.recorder(Options::default());
	assert_eq!(steps(&plain, 0, 70), 70);
	assert_eq!(steps(&plain, 34, 36), 35);
}

/// Wherever a recorder was killed, another one goes on with what is whole.
#[test]
fn what_a_kill_left_is_used() {
	let (_, run, disk) = seventy();
	let folder = disk.folder.path();
	let first = disk.recorder(kept_in(folder, all()));
	compare_steps(&run, &first, 0, 35);
	assert_eq!(first.work().steps, 35);
	let court = folder.join("court");
	let left = files_in(&court);
	let marks = left.keys().find(|path| path.ends_with("marks")).unwrap().clone();
	// Half-written files are removed, and what is half a state is not used.
	std::fs::write(marks.with_file_name(".tmp-1-marks"), b"half").unwrap();
	let last = marks.with_file_name("state-00000034.safetensors");
	std::fs::write(&last, &left[&last][..100]).unwrap();
	let second = disk.recorder(kept_in(folder, all()));
	assert!(!files_in(&court).keys().any(|path| path.to_string_lossy().contains(".tmp-")));
	compare_steps(&run, &second, 0, 70);
	assert_eq!(second.work().refused, 1);
	assert_eq!(second.work().steps, 70 - 33, "from the state before the half one");

	// Any of the files may be missing, or the others: what comes of it is the same.
	let whole = files_in(&court);
	for gone in whole.keys().take(8).chain([&marks]) {
		for is_rest in [false, true] {
			std::fs::remove_dir_all(&court).unwrap();
			std::fs::create_dir_all(gone.parent().unwrap()).unwrap();
			for (path, bytes) in whole.iter().filter(|(path, _)| (*path == gone) == is_rest) {
				std::fs::write(path, bytes).unwrap();
			}
			compare_steps(&run, &disk.recorder(kept_in(folder, all())), 0, 70);
		}
	}
}

#[test]
fn damaged_files_are_noticed() {
	let (_, run, disk) = seventy();
	let folder = disk.folder.path();
	compare_steps(&run, &disk.recorder(kept_in(folder, all())), 0, 70);
	let whole = files_in(&folder.join("court"));
	let marks = whole.keys().find(|path| path.ends_with("marks")).unwrap();
	let state = marks.with_file_name("state-00000034.safetensors");
	for (path, from, to) in [(marks, 0, 70), (&state, 34, 36)] {
		let bytes = &whole[path];
		for at in [0, 7, 40, bytes.len() / 2, bytes.len() - 1] {
			let mut bent = bytes.clone();
			bent[at] ^= 4;
			std::fs::write(path, &bent).unwrap();
			let recorder = disk.recorder(kept_in(folder, all()));
			compare_steps(&run, &recorder, from, to);
			assert!(recorder.work().refused > 0, "{} at {at}", path.display());
			assert_ne!(std::fs::read(path).unwrap(), bent, "it was written again");
			std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
			std::fs::create_dir(path.parent().unwrap()).unwrap();
			for (path, bytes) in &whole {
				std::fs::write(path, bytes).unwrap();
			}
		}
	}
	// A whole state of another step is none of this one.
	std::fs::copy(marks.with_file_name("state-00000030.safetensors"), &state).unwrap();
	let recorder = disk.recorder(kept_in(folder, all()));
	compare_steps(&run, &recorder, 34, 36);
	assert_eq!(recorder.work().refused, 1);
}

#[test]
fn the_limit_of_the_disk_is_kept() {
	// States that are larger than what is known of them.
	let mut spec = jobs::steps().spec().spec().clone();
	spec.dataset.features = 100;
	let hidden = vec![80].try_into().unwrap();
	spec.model = trainyard_program::spec::Model::Mlp {
		hidden,
		activation: trainyard_program::spec::Activation::Relu,
	};
	let job = Job::new(spec);
	let run = Run::new(&job, Change::Nothing);
	let disk = OnDisk::new(&job, &run);
	let folder = disk.folder.path();
	let court = folder.join("court");
	let state = state_file(&disk.case).size;
	assert!(state > 64 << 10);
	let mut trained = vec![];
	for states in [0, 1, 2, 5, 64] {
		let _ = std::fs::remove_dir_all(&court);
		let marks = 64 << 10;
		let limit = if states == 0 { 100 } else { marks + states * state };
		let recorder = disk.recorder(kept_in(folder, limit));
		let held = || files_in(&court).values().map(|bytes| bytes.len() as u64).sum::<u64>();
		let kept = || files_in(&court).len();
		for (from, to) in [(0, 70), (34, 36), (64, 66), (2, 4), (0, 70)] {
			compare_steps(&run, &recorder, from, to);
			assert!(held() <= limit, "{} of {limit} bytes for {states} states", held());
			if states > 0 && from > 0 {
				let agreed = format!("state-{from:08}.safetensors");
				let has = files_in(&court).keys().any(|path| path.ends_with(&agreed));
				assert!(has, "the last agreed state, of {states}");
			}
		}
		assert!(kept() as u64 <= states + 1, "{} files for {states} states", kept());
		assert_eq!(kept() > 0, states > 0);
		trained.push(recorder.work().steps);
	}
	// The more room, the less is trained again.
	assert!(trained.is_sorted_by(|a, b| a >= b), "{trained:?}");
	assert!(trained[0] > trained[4] + 30, "{trained:?}");
}

/// States of other segments make way.
#[test]
fn other_segments_make_way() {
	let job = jobs::small();
	let run = Run::new(&job, Change::Nothing);
	let disk = OnDisk::new(&job, &run);
	let folder = disk.folder.path();
	let limit = (64 << 10) + state_file(&disk.case).size;
	let recorder = disk.recorder(kept_in(folder, limit));
	for segment in 0..3 {
		let (from, to) = recorder.steps_of(segment).unwrap();
		recorder.milestones(segment, from, to).unwrap();
		let states = || {
			let all = files_in(&folder.join("court"));
			let names = all.into_keys().filter(|path| !path.ends_with("marks"));
			names.map(|path| path.file_name().unwrap().to_owned()).collect::<Vec<_>>()
		};
		assert!(states().len() as u64 * state_file(&disk.case).size <= limit);
		assert!(states().contains(&format!("state-{:08}.safetensors", from + 1).into()));
	}
	assert_eq!(recorder.work().steps, 6);
}

/// What a dispute has come to is kept: one state, wherever that is.
#[test]
fn the_state_that_a_dispute_reads_is_kept() {
	let (_, run, disk) = seventy();
	let folder = disk.folder.path();
	for (from, to) in [(33, 34), (69, 70), (70, 70)] {
		let recorder = disk.recorder(kept_in(folder, all()));
		recorder.milestones(0, from, to).unwrap();
		let again = disk.recorder(kept_in(folder, all()));
		let at = StateAt::Steps { segment: 0, steps: from };
		assert_eq!(again.contents(at), run.contents(at));
		assert_eq!(again.work().steps, 0, "{from}");
	}
}
