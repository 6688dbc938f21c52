//! Options of `trainyard work`, and those of its roles that follow from them.

use super::{
	budget::{self, Shares, TooSmall},
	part::Part,
};
use crate::{
	args::{KeyArgs, NodeArgs},
	roles::{fetch::LocationArgs, metrics::MetricsArgs},
};
use clap::{Args, Command};
use std::{collections::BTreeSet, net::SocketAddr, num::NonZeroUsize, path::PathBuf};
use trainyard_client::amount;
use trainyard_protocol::job::Balance;

/// Options that the roles share, so none has its own.
const SHARED: [&str; 16] = [
	"--node",
	"--suri",
	"--suri-file",
	"--key-file",
	"--password-file",
	"--dir",
	"--json",
	"--prometheus-port",
	"--prometheus-external",
	"--forget-other-chains",
	"--max-memory-mib",
	"--max-disk-mib",
	"--threads",
	"--listen",
	"--public-url",
	"--bond",
];

/// Options of `trainyard work`.
#[derive(Clone, Debug, clap::Args)]
pub struct WorkArgs {
	#[command(flatten)]
	pub(super) node: NodeArgs,
	#[command(flatten)]
	pub(super) key: KeyArgs,
	/// Folder of all roles, with a folder for each in it [default: $XDG_DATA_HOME/trainyard/work-ACCOUNT
	/// or ~/.local/share/trainyard/...]
	#[arg(long, value_name = "DIR")]
	pub(super) dir: Option<PathBuf>,
	/// Roles to play
	#[arg(long, value_name = "ROLES", value_enum, value_delimiter = ',', default_values_t = Part::USUAL)]
	pub(super) roles: Vec<Part>,
	/// Threads to compute with, for all roles [default: all cores]
	#[arg(long, value_name = "N")]
	pub(super) threads: Option<NonZeroUsize>,
	/// Computations at once, each with all threads. With many cores and small jobs more than one uses
	/// them better
	#[arg(long, value_name = "N", default_value = "1")]
	pub(super) at_once: NonZeroUsize,
	/// Memory for all roles together (in MiB). A verifier has half of it, at least what the chain asks of
	/// one; the others share the rest [default: three quarters of what is available at the start]
	#[arg(long, value_name = "MIB")]
	pub(super) max_memory_mib: Option<u64>,
	/// Disk for everything in the folder (in MiB), divided in the same way [default: half of what is free
	/// at the start, and what is in the folder]
	#[arg(long, value_name = "MIB")]
	pub(super) max_disk_mib: Option<u64>,
	/// Register as a trainer, and as a verifier, with this bond each (in TRY) if the account is none yet
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	pub(super) bond: Option<Balance>,
	/// The bond of the verifier, where it is another
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	pub(super) verifier_bond: Option<Balance>,
	/// Address at which the trainer serves bundles and data; port 0 takes a free one, and the same again
	/// after a restart
	#[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
	pub(super) listen: SocketAddr,
	/// URL under which verifiers reach that address
	#[arg(long, value_name = "URL")]
	pub(super) public_url: Option<String>,
	/// Address at which the verifier serves other verifiers
	#[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
	pub(super) verifier_listen: SocketAddr,
	/// URL under which other verifiers reach that address
	#[arg(long, value_name = "URL")]
	pub(super) verifier_public_url: Option<String>,
	#[command(flatten)]
	pub(super) locations: LocationArgs,
	/// Take no job that pays less for one ut (in TRY)
	#[arg(long, value_name = "TRY", default_value = "0", value_parser = amount::parse)]
	pub(super) min_price: Balance,
	/// Compute units of projects beside laps: of all, or of these kinds and numbers ("chain,trial,7"), see
	/// `trainyard driller --help`
	#[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "all")]
	pub(super) projects: Option<String>,
	/// Send warnings to this URL, as JSON by POST: a deadline is near, a clock of a dispute runs out, the
	/// verifier is paused
	#[arg(long, value_name = "URL")]
	pub(super) warn_webhook: Option<String>,
	/// Further options of the trainer, as `trainyard trainer --help` lists them, in one text
	#[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
	pub(super) trainer_options: Option<String>,
	/// The same of the driller
	#[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
	pub(super) driller_options: Option<String>,
	/// The same of the verifier
	#[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
	pub(super) verifier_options: Option<String>,
	/// The same of the whistleblower
	#[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
	pub(super) whistleblower_options: Option<String>,
	/// The same of who computes tasks, as `trainyard task work --help` lists them
	#[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
	pub(super) tasks_options: Option<String>,
	/// Minutes between two reports of what was earned, what is locked, and why nothing came; 0 for none
	/// but the last
	#[arg(long, value_name = "N", default_value_t = 60)]
	pub(super) status_minutes: u32,
	/// Remove what the folder keeps of other chains, the salts of their running jobs included
	#[arg(long)]
	pub(super) forget_other_chains: bool,
	#[command(flatten)]
	pub(super) metrics: MetricsArgs,
	/// One JSON object per event
	#[arg(long)]
	pub(super) json: bool,
}

/// Says what is wrong with the options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
	/// No role was named.
	#[error(
		"--roles names no role: trainer, driller, verifier, whistleblower and tasks are there"
	)]
	NoRole,
	/// The verifier's own option without the verifier, or the like.
	#[error("--{role}-options is given, and --roles has no {role}")]
	NotPlayed {
		/// The role.
		role: &'static str,
	},
	/// An option of a role that all share.
	#[error(
		"--{role}-options has {option}, which all roles share: give it to `trainyard work` itself"
	)]
	Shared {
		/// The role.
		role: &'static str,
		/// The option.
		option: String,
	},
	/// The role does not take its options.
	#[error("--{role}-options: {reason}")]
	Refused {
		/// The role.
		role: &'static str,
		/// What it says.
		reason: String,
	},
	/// A budget is too small.
	#[error(transparent)]
	TooSmall(#[from] TooSmall),
}

/// What each role may have, in MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
	/// Of memory.
	pub memory: Shares,
	/// Of disk.
	pub disk: Shares,
}

impl WorkArgs {
	/// Returns the threads to compute with.
	pub fn threads(&self) -> Option<NonZeroUsize> {
		self.threads
	}

	/// Returns the roles to play.
	pub fn roles(&self) -> Result<BTreeSet<Part>, OptionError> {
		let roles: BTreeSet<Part> = self.roles.iter().copied().collect();
		if roles.is_empty() {
			return Err(OptionError::NoRole);
		}
		let idle = Part::ROLES.into_iter().find(|role| {
			!roles.contains(role) && self.further(*role).is_some_and(|text| !text.is_empty())
		});
		match idle {
			Some(role) => Err(OptionError::NotPlayed { role: role.name() }),
			None => Ok(roles),
		}
	}

	fn further(&self, role: Part) -> Option<&str> {
		match role {
			Part::Trainer => self.trainer_options.as_deref(),
			Part::Driller => self.driller_options.as_deref(),
			Part::Verifier => self.verifier_options.as_deref(),
			Part::Whistleblower => self.whistleblower_options.as_deref(),
			Part::Tasks => self.tasks_options.as_deref(),
			Part::Node | Part::Disputes | Part::Account => None,
		}
	}

	/// Divides what is there, in MiB, where nothing was given.
	pub fn budget(&self, memory: u64, disk: u64) -> Result<Budget, OptionError> {
		let roles = self.roles()?;
		Ok(Budget {
			memory: budget::memory(&roles, self.max_memory_mib, memory)?,
			disk: budget::disk(&roles, self.max_disk_mib, disk)?,
		})
	}

	/// Returns the options of a role as its own command line has them.
	fn line(&self, role: Part, budget: &Budget) -> Vec<String> {
		if role == Part::Tasks {
			// The verifier audits what it is drawn for.
			let has_verifier = self.roles.contains(&Part::Verifier);
			return has_verifier.then(|| "--no-audit".to_owned()).into_iter().collect();
		}
		let mut line = Vec::new();
		let mut give = |name: &str, value: Option<String>| {
			if let Some(value) = value {
				line.extend([format!("--{name}"), value]);
			}
		};
		let balance = |amount: Balance| amount::format_scaled(amount, 12);
		let disk = |mib: u64| Some(mib.to_string());
		let memory = disk;
		if role == Part::Verifier {
			give("bond", self.verifier_bond.or(self.bond).map(balance));
			give("max-memory-mib", memory(budget.memory.verifier));
			give("max-disk-mib", disk(budget.disk.verifier));
			give("listen", Some(self.verifier_listen.to_string()));
			give("public-url", self.verifier_public_url.clone());
			give("max-replays", Some(self.at_once.to_string()));
		} else {
			give("max-disk-mib", disk(budget.disk.others));
		}
		match role {
			Part::Trainer => {
				give("bond", self.bond.map(balance));
				give("max-memory-mib", memory(budget.memory.others));
				give("listen", Some(self.listen.to_string()));
				give("public-url", self.public_url.clone());
				give("min-price", Some(balance(self.min_price)));
			}
			Part::Driller => give("bond", self.bond.map(balance)),
			Part::Whistleblower => give("max-memory-mib", memory(budget.memory.others)),
			_ => {}
		}
		if role != Part::Driller {
			give("warn-webhook", self.warn_webhook.clone());
		} else {
			give("projects", self.projects.clone());
		}
		// A driller reads data from the chain only.
		if role != Part::Driller && self.locations.allows_private() {
			line.push("--allow-private-locations".to_owned());
		}
		line
	}

	/// Returns the options of a role.
	pub fn of<A: Args>(&self, role: Part, budget: &Budget) -> Result<A, OptionError> {
		let name = role.name();
		let further = self.further(role).unwrap_or_default().split_whitespace();
		let further: Vec<String> = further.map(str::to_owned).collect();
		let shared = further.iter().find(|word| {
			let option = word.split('=').next().unwrap_or_default();
			SHARED.contains(&option)
		});
		if let Some(option) = shared {
			return Err(OptionError::Shared { role: name, option: option.clone() });
		}
		// What is said twice counts as it is said last.
		let command =
			A::augment_args(Command::new(name).no_binary_name(true)).args_override_self(true);
		let line = self.line(role, budget).into_iter().chain(further);
		let refused = |e: clap::Error| {
			let text = e.render().to_string();
			let reason = text.lines().next().unwrap_or_default();
			OptionError::Refused { role: name, reason: reason.trim_start_matches("error: ").into() }
		};
		let mut matches = command.try_get_matches_from(line).map_err(refused)?;
		A::from_arg_matches_mut(&mut matches).map_err(refused)
	}
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
