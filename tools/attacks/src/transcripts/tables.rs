//! The tables, the diagram and the transcript of `docs/disputes.md`.

use super::{
	matters::{self, Matter, ROLES},
	transcript::{ms, Transcript},
	words,
};
use trainyard_runtime::{Balance, TRY};

/// The dispute that the page shows in full, as cheat.
pub const SHOWN: &str = "long-chain";

/// Columns behind which a row says nothing but weights and fees: they change where weights are measured.
const STEADY: usize = 6;

/// A part of the page, which stands between two comments with its name.
pub struct Part {
	/// Its name.
	pub name: &'static str,
	/// What it says.
	pub text: String,
}

/// What both disputes of a matter say: once where it is the same.
fn both<T>(played: &[&Transcript], of: impl Fn(&Transcript) -> T) -> String
where
	T: ToString,
{
	let mut said: Vec<String> = played.iter().map(|one| of(one).to_string()).collect();
	said.dedup();
	said.join(" / ")
}

fn fee(units: Balance) -> String {
	format!("{:.3}", units as f64 / TRY as f64)
}

/// A row of a table: the dispute as cheat, and behind a slash as false accuser where that is another.
fn row(matter: &Matter, all: &[Transcript]) -> String {
	let of_it = ROLES.map(|role| {
		let mut named = all.iter().filter(|one| one.name == matter.name);
		named.find(|one| one.role == role).expect("both were played")
	});
	let cells = [
		matter.what.to_owned(),
		both(&of_it, |one| one.target.clone()),
		both(&of_it, |one| match (one.operator, one.kind) {
			(Some(operator), _) if !matter.is_operator() => format!("Stretch of {operator}"),
			(_, kind) => kind.to_owned(),
		}),
		both(&of_it, |one| one.moves.len()),
		both(&of_it, Transcript::bytes),
		both(&of_it, |one| format!("{:.1}", ms(one.weight()))),
		both(&of_it, |one| fee(one.fees("challenger"))),
		both(&of_it, |one| fee(one.fees("defender"))),
	];
	format!("{} {} |", key(matter), cells.join(" | "))
}

/// The head of a table.
fn head(name: &str, second: &str) -> String {
	format!(
		"| {name} | {second} | accused is | piece | transactions | bytes | weight, ms | challenger's fees, TRY | \
		 defender's fees, TRY |\n|---|---|---|---|---|---|---|---|---|"
	)
}

/// How the row of a matter begins.
fn key(matter: &Matter) -> String {
	format!("| `{}` |", matter.name)
}

/// A table of all matters that are about operators, or of the others: rows of those that were played, and of
/// the rest what the page says.
fn table(page: &str, played: &[Matter], all: &[Transcript], of_operators: bool) -> String {
	let (name, head) = match of_operators {
		true => ("operators", head("operator", "job")),
		false => ("others", head("dispute", "what is false, or denied")),
	};
	let said = find(page, name).unwrap_or_default();
	let matters = matters::all().into_iter().filter(|matter| matter.is_operator() == of_operators);
	let rows =
		matters.filter_map(|matter| match played.iter().any(|one| one.name == matter.name) {
			true => Some(row(&matter, all)),
			false => said.lines().find(|line| line.starts_with(&key(&matter))).map(str::to_owned),
		});
	std::iter::once(head).chain(rows).collect::<Vec<_>>().join("\n")
}

/// The moves of a dispute between its two sides.
fn diagram(of: &Transcript) -> String {
	let mut lines = vec![
		"```mermaid".to_owned(),
		"sequenceDiagram".into(),
		"    participant C as challenger".into(),
		"    participant R as runtime".into(),
		"    participant D as defender".into(),
	];
	for made in &of.moves {
		let by = if made.by == "defender" { "D" } else { "C" };
		// A semicolon ends a statement there.
		let says = made.says.replace(';', ",");
		lines.push(format!("    {by}->>R: {}: {says}", made.call));
	}
	if let Some([piece, found]) = &of.piece {
		lines.push(format!("    Note over R: {piece}<br/>{found}"));
	}
	let (won, back) = if of.convicted { ("C", "convicted") } else { ("D", "acquitted") };
	lines.push(format!("    R->>{won}: the defendant is {back}"));
	lines.push("```".into());
	lines.join("\n")
}

/// Returns the parts of the page by transcripts of these matters: its tables, and the dispute that it shows
/// where that was played.
pub fn parts(page: &str, played: &[Matter], all: &[Transcript]) -> Vec<Part> {
	let mut parts = vec![
		Part { name: "operators", text: table(page, played, all, true) },
		Part { name: "others", text: table(page, played, all, false) },
	];
	if let Some(shown) = all.iter().find(|one| one.name == SHOWN && one.role == ROLES[0]) {
		let text = format!("```text\n{}\n```", shown.story().trim_end());
		parts.push(Part { name: "diagram", text: diagram(shown) });
		parts.push(Part { name: "transcript", text });
	}
	parts
}

/// The comments around a part.
fn marks(name: &str) -> [String; 2] {
	[format!("<!-- transcripts: {name} -->"), format!("<!-- /transcripts: {name} -->")]
}

/// Returns what a page says as this part.
///
/// # Errors
///
/// Returns the name of a part that it lacks.
pub fn find<'a>(page: &'a str, name: &str) -> Result<&'a str, String> {
	let [begin, end] = marks(name);
	let behind = page.split_once(&begin).map(|(_, behind)| behind);
	let part = behind.and_then(|behind| behind.split_once(&end)).map(|(part, _)| part.trim());
	part.ok_or_else(|| format!("the page has no part {name}"))
}

/// Returns a page with these parts in the place of its own.
///
/// # Errors
///
/// Returns the name of a part that it lacks.
pub fn filled(page: &str, parts: &[Part]) -> Result<String, String> {
	let mut page = page.to_owned();
	for Part { name, text } in parts {
		find(&page, name)?;
		let [begin, end] = marks(name);
		let (before, behind) = page.split_once(&begin).unwrap_or_default();
		let (_, after) = behind.split_once(&end).unwrap_or_default();
		page = format!("{before}{begin}\n\n{text}\n\n{end}{after}");
	}
	Ok(page)
}

/// Returns what of a text does not change where weights are measured: the first [`STEADY`] cells of a row of
/// a table, and what has no decimal point.
fn steady(text: &str) -> Vec<String> {
	let line = |line: &str| match line.trim_start_matches('|').split(" | ").collect::<Vec<_>>() {
		cells if cells.len() > STEADY => cells[..STEADY].join(" | "),
		_ => {
			let is_steady = |word: &&str| word.parse::<f64>().is_err() || !word.contains('.');
			line.split_whitespace().filter(is_steady).collect::<Vec<_>>().join(" ")
		}
	};
	text.lines().map(line).collect()
}

/// Compares what a page says about what was played, but for weights and fees.
///
/// # Errors
///
/// Returns the first lines that are not the same, or what the page lacks.
pub fn compare(page: &str, played: &[Matter], all: &[Transcript]) -> Result<(), String> {
	for Part { name, text } in parts(page, played, all) {
		same(find(page, name)?, &text)?;
	}
	Ok(())
}

fn same(said: &str, played: &str) -> Result<(), String> {
	let (said, played) = (steady(said), steady(played));
	let mut lines = said.iter().zip(&played);
	match lines.find(|(one, other)| one != other) {
		Some((one, other)) => Err(format!("the page says\n{one}\nand it is\n{other}")),
		None if said.len() != played.len() => {
			Err(format!("the page has {} lines of {}", said.len(), played.len()))
		}
		None => Ok(()),
	}
}

/// Sums over all transcripts, in words.
pub fn sums(all: &[Transcript]) -> String {
	let transactions = all.iter().map(|one| one.moves.len());
	let bytes = all.iter().map(Transcript::bytes);
	let seconds = |of: fn(&super::transcript::Move) -> f64| {
		all.iter().flat_map(|one| &one.moves).map(of).sum::<f64>()
	};
	let is_judged = |one: &&super::transcript::Move| one.call == "judge";
	let judged = all.iter().flat_map(|one| &one.moves).filter(is_judged);
	let decisions: Vec<f64> = judged.map(|one| one.applied).collect();
	let most = decisions.iter().copied().fold(0.0, f64::max);
	format!(
		"{}: {} to {} transactions, {} to {} bytes; seconds of all: runs of both sides {:.2}, moves {:.2}, the \
		 runtime {:.2}; {} decisions {:.3}, the longest {:.4}",
		words::count(all.len(), "dispute", "disputes"),
		transactions.clone().min().unwrap_or_default(),
		transactions.max().unwrap_or_default(),
		bytes.clone().min().unwrap_or_default(),
		bytes.max().unwrap_or_default(),
		all.iter().map(|one| one.trained).sum::<f64>(),
		seconds(|one| one.computed),
		seconds(|one| one.applied),
		decisions.len(),
		decisions.iter().sum::<f64>(),
		most,
	)
}
