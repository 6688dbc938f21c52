//! Certificates of jobs on this machine: what they say, and whether they are right.

use crate::{
	table::{table, Align},
	terminal,
};
use anyhow::Context;
use primitive_types::H256;
use serde_json::json;
use std::path::Path;
use trainyard_certificate::{
	statement::{AuditPart, DisputesPart, Verdict},
	Refusal, Statement, MAX_BYTES,
};
use trainyard_proof::{bundle::files, hash, verify::Full};

/// Reads and checks the certificate in a file: the outer error is of the file, the inner one says why the
/// certificate is refused.
pub(super) fn check(path: &Path, genesis: &H256) -> anyhow::Result<Result<Statement, Refusal>> {
	let bytes = files::read(path, MAX_BYTES)?;
	let text = String::from_utf8(bytes);
	let text = text.with_context(|| format!("{} is no text", path.display()))?;
	Ok(trainyard_certificate::check(&text, genesis, None))
}

/// Returns whether a file is a model that a certificate is of, and the root of its blob.
pub(super) fn is_model(statement: &Statement, file: &Path) -> anyhow::Result<(bool, H256)> {
	let root = hash::blob_root(file).with_context(|| format!("cannot read {}", file.display()))?;
	let is_certified = statement.models().any(|model| model == root);
	Ok((is_certified, root))
}

/// Returns whether a bundle is one that a certificate is of.
pub(super) fn is_bundle(statement: &Statement, full: &Full) -> bool {
	statement.has_bundle(&full.result) && *full.spec == statement.predicate.specification
}

/// Returns the name of a value in JSON.
fn name(value: impl serde::Serialize) -> String {
	json!(value).as_str().unwrap_or_default().to_owned()
}

fn checks(audit: &AuditPart) -> Vec<[String; 2]> {
	let verdict = |verdict: &Verdict| match verdict {
		Verdict::Replayed { segments } => format!("replayed {} segments, equal", segments.len()),
		Verdict::Rejected { trainer, .. } => format!("rejected that of {trainer}"),
		Verdict::Unavailable => "could not have it".to_owned(),
	};
	let seats = audit.seats.iter().map(|seat| {
		let mut said: Vec<String> = seat.verdicts.iter().map(verdict).collect();
		if said.is_empty() {
			said.push("revealed nothing".into());
		}
		if seat.convicted {
			said.push("its evidence was convicted".into());
		}
		if seat.lost_accusation {
			said.push("it lost an accusation".into());
		}
		["checked by".to_owned(), format!("{}: {}", seat.verifier, said.join("; "))]
	});
	let rounds = match audit.rounds {
		0 | 1 => None,
		rounds => Some([
			"audit".to_owned(),
			format!("{rounds} rounds; the seats of the last one are on record"),
		]),
	};
	rounds.into_iter().chain(seats).collect()
}

fn disputes(disputes: &DisputesPart) -> Vec<[String; 2]> {
	let convicted = disputes.convictions.iter().map(|one| {
		let dispute = one.dispute.map_or("without a dispute".into(), |id| format!("dispute {id}"));
		["convicted".to_owned(), format!("{}, as a {} ({dispute})", one.account, one.role)]
	});
	let open = match disputes.challengeable_until {
		Some(until) => format!(
			"it can be challenged until block {until}; {} disputes run, {} are announced",
			disputes.open, disputes.announced
		),
		None => "it cannot be challenged any more".into(),
	};
	convicted.chain([["disputes".to_owned(), open]]).collect()
}

/// Writes what a certificate says for people.
pub(super) fn describe(statement: &Statement) -> String {
	let predicate = &statement.predicate;
	let (chain, job) = (&predicate.chain, &predicate.job);
	let mut rows = vec![
		["chain".to_owned(), format!("{:?}", chain.genesis)],
		[
			"read at".to_owned(),
			format!(
				"block {}, {:?}, final by authority set {} of {} authorities",
				chain.block, chain.block_hash, chain.authority_set, chain.authorities
			),
		],
		[
			"job".to_owned(),
			format!("{}, posted by {} at block {}", job.id, job.submitter, job.posted),
		],
		["ended".to_owned(), format!("{} at block {}", name(job.ending), job.ended)],
	];
	let digests = |digest: &trainyard_certificate::statement::Digests| {
		let all = digest.iter().map(|(algorithm, hash)| format!("{algorithm} {hash}"));
		all.collect::<Vec<_>>().join(", ")
	};
	let data = predicate.data.iter();
	rows.extend(data.map(|file| [file.name.clone(), digests(&file.digest)]));
	let subject = statement.subject.iter();
	rows.extend(
		subject
			.map(|one| ["certified".to_owned(), format!("{}: {}", one.name, digests(&one.digest))]),
	);
	let replicas = predicate.replicas.iter();
	rows.extend(
		replicas
			.map(|one| ["trained by".to_owned(), format!("{}: {}", one.trainer, name(one.fate))]),
	);
	match &predicate.audit {
		Some(audit) => rows.extend(checks(audit)),
		None => rows.push(["checked by".to_owned(), "nobody: there was no audit".into()]),
	}
	rows.extend(disputes(&predicate.disputes));
	let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
	let header = [("what", Align::Left), ("", Align::Left)];
	terminal::lines(&table(&header, &rows))
}
