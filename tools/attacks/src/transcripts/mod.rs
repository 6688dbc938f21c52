//! Transcripts of disputes: of every operator of jobs and of everything else that can be false, each with a
//! cheat and with a false accuser, through the calls of the real runtime.

mod matters;
mod operators;
mod play;
mod tables;
mod targets;
mod transcript;
mod words;

use matters::{Matter, Role, ROLES};
use std::{
	collections::BTreeMap,
	fs,
	panic::{catch_unwind, AssertUnwindSafe},
	path::PathBuf,
	sync::{
		atomic::{AtomicUsize, Ordering},
		Mutex,
	},
	thread,
};
use transcript::Transcript;

/// What is done with transcripts.
#[derive(Clone, Default)]
pub struct Options {
	/// Only those of these names; all where there is none.
	pub only: Vec<String>,
	/// They are printed all together, for programs.
	pub json: bool,
	/// In their place the parts of the page are printed that are made of them.
	pub table: bool,
	/// Each is written into a file of this folder.
	pub write: Option<PathBuf>,
	/// What this page says about them is replaced.
	pub page: Option<PathBuf>,
	/// This page is compared with what was played, but for weights and fees.
	pub check: Option<PathBuf>,
}

/// Plays disputes, and prints and writes what was asked for.
///
/// # Errors
///
/// Returns what is not as it should be.
pub fn run(options: &Options) -> Result<(), String> {
	let Options { only, json, table, write, page, check: compared } = options;
	let names: Vec<_> = matters::all().iter().map(|matter| matter.name).collect();
	if let Some(other) = only.iter().find(|name| !names.contains(&name.as_str())) {
		return Err(format!("there is no dispute {other}; there are {}", names.join(", ")));
	}
	let is_wanted = |matter: &Matter| only.is_empty() || only.iter().any(|n| n == matter.name);
	let matters: Vec<Matter> = matters::all().into_iter().filter(is_wanted).collect();
	let played = play(&matters)?;
	if let Some(folder) = write {
		let wrote = |problem: std::io::Error| format!("{}: {problem}", folder.display());
		fs::create_dir_all(folder).map_err(wrote)?;
		for transcript in &played {
			let role = transcript.role.name().replace(' ', "-");
			let file = folder.join(format!("{}-{role}.txt", transcript.name));
			fs::write(file, transcript.to_string()).map_err(wrote)?;
		}
	}
	if *json {
		println!("{}", serde_json::to_string(&played).expect("it has no keys but strings"));
	} else if !*table {
		played.iter().for_each(|transcript| println!("{transcript}"));
	}
	if *table {
		for part in tables::parts("", &matters, &played) {
			println!("{}\n", part.text);
		}
	}
	if let Some(page) = page {
		let wrote = |problem: std::io::Error| format!("{}: {problem}", page.display());
		let text = fs::read_to_string(page).map_err(wrote)?;
		let parts = tables::parts(&text, &matters, &played);
		fs::write(page, tables::filled(&text, &parts)?).map_err(wrote)?;
	}
	eprintln!("{}", tables::sums(&played));
	check(&matters, &played)?;
	if let Some(page) = compared {
		let text = fs::read_to_string(page).map_err(|e| format!("{}: {e}", page.display()))?;
		tables::compare(&text, &matters, &played)?;
	}
	Ok(())
}

/// Plays these disputes in both roles, several at a time. Returns their transcripts in order.
///
/// # Errors
///
/// Returns which could not be played to the end; what went wrong is printed.
fn play(matters: &[Matter]) -> Result<Vec<Transcript>, String> {
	let all: Vec<(&Matter, Role)> =
		matters.iter().flat_map(|matter| ROLES.map(|role| (matter, role))).collect();
	let (next, played) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
	let threads = thread::available_parallelism().map_or(1, usize::from).min(all.len());
	thread::scope(|scope| {
		for _ in 0..threads {
			scope.spawn(|| loop {
				let at = next.fetch_add(1, Ordering::Relaxed);
				let Some((matter, role)) = all.get(at) else { return };
				let transcript = catch_unwind(AssertUnwindSafe(|| play::play(matter, *role)));
				let transcript =
					transcript.map_err(|_| format!("{} {} ends badly", matter.name, role.name()));
				played.lock().expect("nobody panics with it").insert(at, transcript);
			});
		}
	});
	let played = played.into_inner().expect("nobody panics with it");
	played.into_values().collect()
}

/// Checks each transcript by its matter.
fn check(matters: &[Matter], played: &[Transcript]) -> Result<(), String> {
	for transcript in played {
		let matter = matters.iter().find(|matter| matter.name == transcript.name);
		transcript.check(matter.ok_or("a transcript of nothing")?)?;
	}
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;
	use std::collections::BTreeSet;

	const PAGE: &str = include_str!("../../../../docs/disputes.md");

	/// Without optimisation a chain takes half a minute for what it does in one else, most of it for
	/// signatures: there, only some are played.
	const EVERY: usize = if cfg!(debug_assertions) { 12 } else { 1 };

	/// Every operator and everything else that can be false, as cheat and as false accuser: whoever is right
	/// wins, by a piece of what was disputed, the money is all there, and the page says so.
	#[test]
	fn who_is_right_wins_every_dispute() {
		let matters: Vec<Matter> = matters::all().into_iter().step_by(EVERY).collect();
		let played = play(&matters).unwrap();
		assert_eq!(played.len(), 2 * matters.len());
		check(&matters, &played).unwrap();
		// `trainyard-attacks transcripts --page docs/disputes.md` writes what it should say.
		tables::compare(PAGE, &matters, &played).unwrap();
	}

	/// A dispute ends in a piece of the kind that its matter names, so there is one of each kind.
	#[test]
	fn every_kind_of_piece_is_disputed() {
		let matters = matters::all();
		let left: BTreeSet<&str> = matters.iter().flat_map(|matter| matter.pieces).collect();
		let mut kinds: BTreeSet<&str> = words::KINDS.iter().copied().collect();
		// Where a side has nothing to say.
		kinds.insert("clock");
		assert_eq!(left, kinds);
	}

	#[test]
	fn the_page_has_every_dispute_once() {
		for matter in matters::all() {
			let row = format!("\n| `{}` |", matter.name);
			assert_eq!(PAGE.matches(&row).count(), 1, "{}", matter.name);
		}
	}
}
