//! Which projects a driller's owner wants to compute units of.

use std::str::FromStr;
use trainyard_client::ProjectView;
use trainyard_protocol::drill::{Mismatch, ProjectId, Template};

/// A kind of template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
	Chain,
	Trial,
	Calibration,
}

impl Kind {
	fn of(template: &Template) -> Self {
		match template {
			Template::Chain { .. } => Self::Chain,
			Template::Trial(_) => Self::Trial,
			Template::Calibration { .. } => Self::Calibration,
		}
	}
}

/// The projects that a driller computes units of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
	all: bool,
	kinds: Vec<Kind>,
	numbers: Vec<ProjectId>,
	all_lose: bool,
}

impl FromStr for Wanted {
	type Err = String;

	/// Reads `all`, or kinds and numbers of projects, with commas between them.
	fn from_str(text: &str) -> Result<Self, String> {
		let mut wanted = Self::default();
		for word in text.split(',').map(str::trim) {
			match word {
				"all" => wanted.all = true,
				"chain" => wanted.kinds.push(Kind::Chain),
				"trial" => wanted.kinds.push(Kind::Trial),
				"calibration" => wanted.kinds.push(Kind::Calibration),
				number => match number.parse() {
					Ok(number) => wanted.numbers.push(number),
					Err(_) => {
						return Err(format!(
							"\"{number}\" is no project: give \"all\", kinds (chain, trial, calibration) \
							 and numbers of projects, with commas between them"
						))
					}
				},
			}
		}
		Ok(wanted)
	}
}

impl Wanted {
	/// Takes projects where all may lose as well.
	pub fn with_all_lose(self, all_lose: bool) -> Self {
		Self { all_lose, ..self }
	}

	/// Returns whether it computes units of this project.
	pub fn takes(&self, project: &ProjectView) -> bool {
		// What may take power from honest drillers is wanted by name only.
		let fair = self.all_lose || project.rule == Mismatch::Majority;
		let named = self.numbers.contains(&project.id);
		named || fair && (self.all || self.kinds.contains(&Kind::of(&project.template)))
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::fake;

	#[test]
	fn projects_are_wanted_by_kind_and_number() {
		let project = |id, template, rule| ProjectView { id, rule, ..fake::project(template) };
		let chain = Template::Chain { size: 64, links: 900 };
		let calibration = Template::Calibration { passes: 20 };
		let fair = project(1, chain.clone(), Mismatch::Majority);
		let other = project(2, calibration, Mismatch::Majority);
		let hard = project(3, chain, Mismatch::AllLose);
		for (text, expected) in [
			("all", [true, true, false]),
			("chain", [true, false, false]),
			("calibration", [false, true, false]),
			("trial", [false, false, false]),
			("calibration, 1", [true, true, false]),
			("3", [false, false, true]),
			("all,3", [true, true, true]),
		] {
			let wanted: Wanted = text.parse().unwrap();
			let taken = [&fair, &other, &hard].map(|project| wanted.takes(project));
			assert_eq!(taken, expected, "{text}");
			let taken = wanted.with_all_lose(true).takes(&hard);
			assert_eq!(taken, text != "calibration" && text != "trial" && text != "calibration, 1");
		}
		for wrong in ["", "chains", "1;2", "-1", "all,,"] {
			let error = wrong.parse::<Wanted>().unwrap_err();
			assert!(error.contains("is no project"), "{wrong}: {error}");
		}
	}
}
