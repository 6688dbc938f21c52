//! The session of LEARNAE's study, played again, and what the study leaves to the future.

use crate::{
	report::{accounts, accuracy, of_fault, of_group, percent, spread, successes, table, Account},
	session::{play, Fault, Group, Played, Terms},
};
use anyhow::Result;
use clap::value_parser;

/// What each peer sent in the study, on average, in ETH: the reward factor is chosen for it.
const SENT: f64 = 0.003;

/// The size of the sessions.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Size {
	/// Peers of a session.
	#[arg(long, default_value_t = 20, value_parser = value_parser!(u32).range(4..=1_000))]
	peers: u32,
	/// Slices of the data of each peer; the last one says how good its model is.
	#[arg(long, default_value_t = 10, value_parser = value_parser!(u32).range(2..=1_000))]
	slices: u32,
	/// Rows of a slice.
	#[arg(long, default_value_t = 1_000, value_parser = value_parser!(u32).range(100..=100_000))]
	rows: u32,
	/// How often a peer trains on each of its slices.
	#[arg(long, default_value_t = 3, value_parser = value_parser!(u32).range(1..=1_000))]
	passes: u32,
	/// After so many failures in a row a peer that only averages ends.
	#[arg(long, default_value_t = 4, value_parser = value_parser!(u32).range(1..=1_000))]
	patience: u32,
	/// Learning rate x 10^9.
	#[arg(long, default_value_t = 3_000_000, value_parser = value_parser!(u64).range(1..=1_000_000_000))]
	learning_rate_nano: u64,
	/// Seed of all that is drawn.
	#[arg(long, default_value_t = 1)]
	seed: u64,
}

/// What was played, as text and for programs, and what should hold and does not.
#[derive(Clone, Debug, Default)]
pub struct Found {
	/// Tables in Markdown.
	pub text: String,
	/// The same for programs.
	pub json: serde_json::Map<String, serde_json::Value>,
	/// What should hold and does not.
	pub wrong: Vec<String>,
}

impl Found {
	fn check(&mut self, holds: bool, what: impl Into<String>) {
		if !holds {
			self.wrong.push(what.into());
		}
	}
}

impl Size {
	/// A session of these peers in which all is as the study has it.
	fn terms(self, peers: Vec<(Group, Fault)>) -> Terms {
		Terms {
			seed: self.seed,
			peers,
			slices: self.slices,
			rows: self.rows,
			learning_rate_nano: self.learning_rate_nano,
			passes: self.passes,
			patience: self.patience,
			first: 0,
			averaging: true,
			claims: false,
		}
	}

	fn all(self, group: Group) -> Vec<(Group, Fault)> {
		vec![(group, Fault::None); self.peers as usize]
	}
}

/// Plays all sessions.
pub fn run(size: Size) -> Result<Found> {
	let mut found = Found::default();
	let terms = size.terms(size.all(Group::Provider));
	let played = play(&terms)?;
	let alone = play(&Terms { averaging: false, ..terms.clone() })?;
	let factor = private(&mut found, &terms, &played, &alone);
	shared(&mut found, size, factor)?;
	faults(&mut found, size, factor, played.last)?;
	Ok(found)
}

/// Tells of the session of the study. Returns the reward factor in ETH for a row of gain.
fn private(found: &mut Found, terms: &Terms, played: &Played, alone: &Played) -> f64 {
	let accounts = accounts(terms.peers.len(), &played.payments);
	let paid = spread(accounts.iter().map(|it| f64::from(it.paid)));
	let factor = SENT / paid[1].max(f64::MIN_POSITIVE);
	let sent = spread(accounts.iter().map(|it| f64::from(it.sent)));
	let all = 0..terms.peers.len();
	let after = accuracy(played, all.clone());
	let began = f64::from(played.began) / f64::from(played.rows);
	let several = |[least, mean, most]: [f64; 3]| {
		format!("{} to {}, mean {}", percent(least), percent(most), percent(mean))
	};
	let range = |[least, mean, most]: [f64; 3], places: usize| {
		format!("{least:.places$} to {most:.places$}, mean {mean:.places$}", places = places)
	};
	let rows = [
		["payments that a peer sent", "3 to 16, mean 9.4", &range(sent, 1)],
		[
			"ETH that a peer sent",
			"0.0005 to 0.0068, mean 0.003",
			&range(paid.map(|rows| rows * factor), 4),
		],
		["accuracy before", "", &percent(began)],
		["accuracy after, by rows that nobody saw", "", &several(after)],
		["the same where nobody averages", "", &several(accuracy(alone, all.clone()))],
		["averagings", "", &played.mixed.len().to_string()],
		["turns of training", "", &played.trained.to_string()],
	];
	let rows: Vec<Vec<String>> =
		rows.iter().map(|row| row.iter().map(|cell| cell.to_string()).collect()).collect();
	found.text += "## The session of the study\n\n";
	found.text += &table(&["", "the study", "here"], &rows);
	let parts = successes(&played.mixed);
	let cell = |part: &Option<f64>| part.map_or(String::new(), percent);
	let head: Vec<String> = (1..=parts.len()).map(|part| format!("{part}")).collect();
	let mut heads = vec!["tenth of the session"];
	heads.extend(head.iter().map(String::as_str));
	let mut row = vec!["better than before".to_owned()];
	row.extend(parts.iter().map(cell));
	found.text += "\n";
	found.text += &table(&heads, &[row]);
	let [first, last] = [parts[0].unwrap_or(0.0), parts[parts.len() - 1].unwrap_or(0.0)];
	found.check(
		first > last,
		format!("success is higher at first ({first:.2}) than at the end ({last:.2})"),
	);
	found.check(after[0] > began, "every peer's model is better than the first one");
	found.json.insert("factor".into(), factor.into());
	found.json.insert("sent".into(), serde_json::json!(sent));
	found.json.insert("paid".into(), serde_json::json!(paid.map(|rows| rows * factor)));
	found.json.insert("successes".into(), serde_json::json!(parts));
	found.json.insert("accuracy".into(), serde_json::json!(after));
	factor
}

/// Sessions without privacy: who has no data trains on what others share.
fn shared(found: &mut Found, size: Size, factor: f64) -> Result<()> {
	let mut rows = Vec::new();
	for quarter in 1..4 {
		let seekers = size.peers * quarter / 4;
		let mut peers = vec![(Group::Provider, Fault::None); (size.peers - seekers) as usize];
		peers.extend(vec![(Group::Seeker, Fault::None); seekers as usize]);
		let terms = size.terms(peers);
		let played = play(&terms)?;
		let group = |peer: usize| terms.peers[peer].0;
		let flow = |from: Group, to: Group| {
			let some =
				played.payments.iter().filter(|it| group(it.from) == from && group(it.to) == to);
			some.map(|it| f64::from(it.gain)).sum::<f64>() * factor
		};
		use Group::{Provider, Seeker};
		let accounts = accounts(terms.peers.len(), &played.payments);
		let net = |group: Group| {
			let peers = of_group(&terms, group);
			let each = peers
				.iter()
				.map(|peer| f64::from(accounts[*peer].earned) - f64::from(accounts[*peer].paid));
			spread(each)[1] * factor
		};
		let right =
			|group: Group| percent(accuracy(&played, of_group(&terms, group).into_iter())[1]);
		rows.push(vec![
			(size.peers - seekers).to_string(),
			seekers.to_string(),
			format!("{:.4}", flow(Provider, Provider)),
			format!("{:.4}", flow(Provider, Seeker)),
			format!("{:.4}", flow(Seeker, Provider)),
			format!("{:.4}", flow(Seeker, Seeker)),
			format!("{:+.4}", net(Provider)),
			format!("{:+.4}", net(Seeker)),
			right(Provider),
			right(Seeker),
		]);
		let sum = accounts.iter().map(|it| i64::from(it.earned) - i64::from(it.paid)).sum::<i64>();
		found.check(sum == 0, "what is paid is earned");
	}
	found.text += "\n## Data providers and profit seekers\n\n";
	found.text += &table(
		&[
			"providers",
			"seekers",
			"providers to providers",
			"providers to seekers",
			"seekers to providers",
			"seekers to seekers",
			"a provider's balance",
			"a seeker's balance",
			"providers' accuracy",
			"seekers' accuracy",
		],
		&rows,
	);
	found.json.insert("shared".into(), serde_json::json!(rows));
	Ok(())
}

/// Sessions in which something is wrong with a part of the peers.
fn faults(found: &mut Found, size: Size, factor: f64, whole: u64) -> Result<()> {
	let kinds = [
		("nothing", Fault::None, 0, false),
		("nothing, and all train a pass first", Fault::None, size.slices - 1, false),
		("killed in the middle", Fault::Killed(whole / 2), 0, false),
		("cut off, and back", Fault::CutOff(whole / 4, 3 * whole / 4), 0, false),
		("lying", Fault::Lying, 0, false),
		("lying, and all train a pass first", Fault::Lying, size.slices - 1, false),
		("freeloading", Fault::Freeloading, 0, false),
		("freeloading, and claims that nobody can evade", Fault::Freeloading, 0, true),
	];
	let mut rows = Vec::new();
	for (name, fault, first, claims) in kinds {
		for part in if fault == Fault::None { &[0][..] } else { &[10, 30] } {
			let part = *part;
			let count = (size.peers * part).div_ceil(100) as usize;
			let mut peers = size.all(Group::Provider);
			peers.iter_mut().rev().take(count).for_each(|peer| peer.1 = fault);
			let terms = Terms { first, claims, ..size.terms(peers) };
			let played = play(&terms)?;
			let accounts = accounts(terms.peers.len(), &played.payments);
			let (honest, other) = (of_fault(&terms, true), of_fault(&terms, false));
			let mean = |peers: &[usize], of: fn(&Account) -> u32| {
				spread(peers.iter().map(|peer| f64::from(of(&accounts[*peer]))))[1] * factor
			};
			let right = accuracy(&played, honest.iter().copied());
			let unpaid = mean(&honest, |it| it.unpaid);
			rows.push(vec![
				name.to_owned(),
				format!("{part} %"),
				format!(
					"{} to {}, mean {}",
					percent(right[0]),
					percent(right[2]),
					percent(right[1])
				),
				format!("{:.4}", mean(&honest, |it| it.paid)),
				format!("{:.4}", mean(&honest, |it| it.earned)),
				format!("{unpaid:.4}"),
				if count == 0 {
					String::new()
				} else {
					format!("{:.4}", mean(&other, |it| it.paid))
				},
				if count == 0 {
					String::new()
				} else {
					format!("{:.4}", mean(&other, |it| it.earned))
				},
			]);
			let sum = |of: fn(&Account) -> u32| accounts.iter().map(of).sum::<u32>();
			found.check(sum(|it| it.paid) == sum(|it| it.earned), "what is paid is earned");
			if fault == Fault::Lying {
				let [garbage, others] =
					[mean(&other, |it| it.earned), mean(&honest, |it| it.earned)];
				found.check(
					first == 0 || garbage < 0.1 * others,
					"garbage earns next to nothing of who has trained",
				);
			}
		}
	}
	found.text += "\n## Peers with which something is wrong\n\n";
	found.text += &table(
		&[
			"they are",
			"of all",
			"accuracy of the others",
			"another one paid",
			"and earned",
			"and was owed and not paid",
			"one of them paid",
			"and earned",
		],
		&rows,
	);
	found.json.insert("faults".into(), serde_json::json!(rows));
	Ok(())
}
