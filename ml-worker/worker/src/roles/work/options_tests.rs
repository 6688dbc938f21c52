//! Lines of options in, options of the roles out.

use super::*;
use crate::roles::{
	driller::DrillerArgs, trainer::TrainerArgs, verifier::VerifierArgs,
	whistleblower::WhistleblowerArgs,
};
use crate::task::market::role::TaskWorkArgs;
use clap::Parser;
use trainyard_protocol::seats::LEAST_ROOM;

#[derive(Parser)]
struct Line {
	#[command(flatten)]
	args: WorkArgs,
}

fn parse(line: &str) -> Result<WorkArgs, clap::Error> {
	let words = std::iter::once("work").chain(line.split_whitespace());
	Line::try_parse_from(words).map(|line| line.args)
}

/// Options with a text that has spaces.
fn with(line: &str, option: &str, text: &str) -> WorkArgs {
	let words = std::iter::once("work").chain(line.split_whitespace());
	let words = words.map(str::to_owned).chain([format!("{option}={text}")]);
	Line::try_parse_from(words).map(|line| line.args).unwrap()
}

fn budget() -> Budget {
	let shares = Shares { verifier: 5_000, others: 3_000 };
	Budget { memory: shares, disk: Shares { verifier: 9_000, others: 7_000 } }
}

/// Whatever a role is given is one of its options.
#[test]
fn every_role_takes_what_it_is_given() {
	let line = "--suri //Bob --bond 100.5 --listen 0.0.0.0:8600 --public-url http://me:8600 \
	            --verifier-listen 0.0.0.0:8601 --verifier-public-url http://me:8601 --projects \
	            --allow-private-locations --warn-webhook http://me/hook --min-price 2 --at-once 2";
	for args in [parse("").unwrap(), parse(line).unwrap()] {
		args.of::<TrainerArgs>(Part::Trainer, &budget()).unwrap();
		args.of::<DrillerArgs>(Part::Driller, &budget()).unwrap();
		args.of::<VerifierArgs>(Part::Verifier, &budget()).unwrap();
		args.of::<WhistleblowerArgs>(Part::Whistleblower, &budget()).unwrap();
	}
	let args = parse(line).unwrap();
	let of = |role| args.line(role, &budget()).join(" ");
	assert_eq!(
		of(Part::Trainer),
		"--max-disk-mib 7000 --bond 100.5 --max-memory-mib 3000 --listen 0.0.0.0:8600 --public-url \
		 http://me:8600 --min-price 2 --warn-webhook http://me/hook --allow-private-locations"
	);
	assert_eq!(
		of(Part::Verifier),
		"--bond 100.5 --max-memory-mib 5000 --max-disk-mib 9000 --listen 0.0.0.0:8601 --public-url \
		 http://me:8601 --max-replays 2 --warn-webhook http://me/hook --allow-private-locations"
	);
	assert_eq!(of(Part::Driller), "--max-disk-mib 7000 --bond 100.5 --projects all");
	let other = WorkArgs { verifier_bond: Some(7_000_000_000_000), ..args };
	assert!(other.line(Part::Verifier, &budget()).join(" ").starts_with("--bond 7 "));
}

#[test]
fn roles_are_named_and_unknown_ones_are_refused() {
	let roles = |line: &str| parse(line).map(|args| args.roles().unwrap());
	assert_eq!(roles("").unwrap(), Part::USUAL.into());
	let all = "--roles trainer,driller,verifier,whistleblower,tasks";
	assert_eq!(roles(all).unwrap(), Part::ROLES.into());
	let two = [Part::Trainer, Part::Driller].into();
	assert_eq!(roles("--roles driller,trainer,driller").unwrap(), two);
	let error = roles("--roles trainer,miner").unwrap_err().to_string();
	assert!(error.contains("miner") && error.contains("whistleblower"), "{error}");
	assert!(roles("--roles node").is_err(), "that is no role of a worker");
	assert!(parse("--threads 0").is_err() && parse("--at-once 0").is_err());
	let args = WorkArgs { roles: Vec::new(), ..parse("").unwrap() };
	assert_eq!(args.roles(), Err(OptionError::NoRole));
}

#[test]
fn further_options_go_to_their_role() {
	let args = with("", "--trainer-options", "--max-ut 2 --max-parallel 3 --min-price 9");
	args.of::<TrainerArgs>(Part::Trainer, &budget()).unwrap();
	let refused = |args: WorkArgs| args.of::<TrainerArgs>(Part::Trainer, &budget()).unwrap_err();
	for option in ["--dir d", "--bond 5", "--max-disk-mib=7", "--json"] {
		let error = refused(with("", "--trainer-options", option));
		assert!(matches!(error, OptionError::Shared { role: "trainer", .. }), "{error}");
	}
	let error = refused(with("", "--trainer-options", "--fast"));
	assert!(error.to_string().contains("--fast"), "{error}");
	let idle = with("--roles trainer", "--driller-options", "--max-laps-per-second 2");
	assert_eq!(idle.roles(), Err(OptionError::NotPlayed { role: "driller" }));
}

/// A verifier audits tasks itself.
#[test]
fn tasks_are_audited_once() {
	let line = |roles: &str| parse(roles).unwrap().line(Part::Tasks, &budget());
	assert_eq!(line("--roles tasks,verifier"), ["--no-audit"]);
	assert!(line("--roles tasks").is_empty());
	let args = with("--roles tasks,verifier", "--tasks-options", "--min-price 3 --at-once 1");
	args.of::<TaskWorkArgs>(Part::Tasks, &budget()).unwrap();
	let idle = with("", "--tasks-options", "--min-price 3");
	assert_eq!(idle.roles(), Err(OptionError::NotPlayed { role: "tasks" }));
}

#[test]
fn a_budget_that_is_too_small_is_refused_before_anything_begins() {
	let small = parse("--max-memory-mib 100").unwrap().budget(9_999, 9_999_999).unwrap_err();
	assert!(small.to_string().contains("--max-memory-mib 100"), "{small}");
	let small = parse("--max-disk-mib 100 --roles driller").unwrap();
	assert!(small.budget(9_999, 9_999_999).is_err());
	let enough = format!("--max-memory-mib {}", LEAST_ROOM.memory_mib + 256);
	assert!(parse(&enough).unwrap().budget(0, u64::from(u32::MAX)).is_ok());
}
