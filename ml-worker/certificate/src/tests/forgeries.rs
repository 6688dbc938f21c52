//! Whatever is changed in a file is found.

use super::{job::Example, *};
use crate::{check, file::parse, write};
use serde_json::{json, Value};

fn good() -> Value {
	let text = write(&evidence(Example::new().entries()), &genesis(), JOB).unwrap();
	serde_json::from_str(&text).unwrap()
}

fn refused(file: &Value) -> Refusal {
	check(&file.to_string(), &genesis(), None).expect_err("it must be refused")
}

/// Calls `visit` with the path of every value of a JSON tree, containers before what they hold.
fn paths(at: &str, value: &Value, visit: &mut impl FnMut(&str, &Value)) {
	visit(at, value);
	match value {
		Value::Object(fields) => {
			for (name, value) in fields {
				paths(&format!("{at}/{name}"), value, visit);
			}
		}
		Value::Array(entries) => {
			for (i, value) in entries.iter().enumerate() {
				paths(&format!("{at}/{i}"), value, visit);
			}
		}
		_ => {}
	}
}

/// Returns another value of the same kind.
fn other(value: &Value) -> Value {
	match value {
		Value::Null => json!(0),
		Value::Bool(is) => json!(!is),
		Value::Number(n) => json!(n.as_f64().unwrap() + 1.0),
		Value::String(text) => {
			let mut text = text.clone();
			let last = text.pop();
			text.push(if last == Some('1') { '2' } else { '1' });
			json!(text)
		}
		Value::Array(entries) => json!([entries.clone(), vec![json!(1)]].concat()),
		Value::Object(fields) => {
			let mut fields = fields.clone();
			fields.insert("more".into(), json!(null));
			Value::Object(fields)
		}
	}
}

fn all_paths() -> Vec<String> {
	let mut all = Vec::new();
	paths("", &good(), &mut |at, _| all.push(at.to_owned()));
	all.remove(0);
	all
}

#[test]
fn a_good_file_is_taken_and_says_the_same() {
	let said = check(&good().to_string(), &genesis(), Some(JOB)).unwrap();
	assert_eq!(said, Example::new().prove().unwrap());
	// However it is laid out.
	let pretty = serde_json::to_string_pretty(&good()).unwrap();
	assert_eq!(check(&pretty, &genesis(), None).unwrap(), said);
}

/// Each field, be it readable or evidence: changed, removed, and where it is a list or an object with one
/// more.
#[test]
fn every_field_is_checked() {
	let good = good();
	let all = all_paths();
	assert!(all.len() > 150, "{}", all.len());
	for at in &all {
		let mut file = good.clone();
		let value = file.pointer_mut(at).unwrap();
		*value = other(value);
		let refusal = refused(&file);
		let readable = !at.starts_with("/predicate/evidence");
		// What is readable is named, where it does not say which file this is.
		let is_form = ["/_type", "/predicateType", "/predicate/job/id"].contains(&at.as_str());
		if readable && !is_form {
			let Refusal::Differs { at: named, .. } = &refusal else { panic!("{at}: {refusal}") };
			let path: String = named.replace(['[', '.'], "/").replace(']', "");
			let at = at.trim_start_matches('/');
			assert!(path == at || path.starts_with(&format!("{at}/")), "{at}: {refusal}");
		}
	}
	for at in &all {
		let (parent, name) = at.rsplit_once('/').unwrap();
		let mut file = good.clone();
		match file.pointer_mut(parent).unwrap() {
			Value::Object(fields) => drop(fields.remove(name)),
			Value::Array(entries) => drop(entries.remove(name.parse().unwrap())),
			_ => unreachable!(),
		}
		refused(&file);
	}
}

/// Chooses a part of the evidence.
type Choose = Box<dyn Fn(&mut Evidence) -> &mut Bytes>;

/// Bytes all over the evidence, in each part of it.
#[test]
fn no_byte_of_the_evidence_can_be_changed() {
	let good = evidence(Example::new().entries());
	let file = good.clone();
	let mut all: Vec<Choose> = vec![Box::new(|e| &mut e.genesis.header)];
	for at in 0..file.genesis.authorities.len() {
		all.push(Box::new(move |e| &mut e.genesis.authorities[at]));
	}
	for at in 0..file.storage.len() {
		all.push(Box::new(move |e| &mut e.storage[at]));
	}
	for at in 0..file.finality.len() {
		all.push(Box::new(move |e| &mut e.finality[at].header));
		all.push(Box::new(move |e| &mut e.finality[at].justification));
	}
	for choose in all {
		let length = choose(&mut good.clone()).0.len();
		for at in (0..length).step_by(7) {
			let mut bad = good.clone();
			choose(&mut bad).0[at] ^= 1 << (at % 8);
			assert!(crate::prove(&bad, &genesis(), JOB).is_err(), "byte {at} of {length}");
		}
		let mut longer = good.clone();
		choose(&mut longer).0.push(0);
		assert!(crate::prove(&longer, &genesis(), JOB).is_err());
	}
}

#[test]
fn it_is_of_the_chain_and_the_job_that_are_named() {
	let text = good().to_string();
	let wanted = H256([1; 32]);
	let found = genesis();
	assert_eq!(check(&text, &wanted, None), Err(Refusal::OtherGenesis { found, wanted }));
	assert_eq!(check(&text, &genesis(), Some(8)), Err(Refusal::OtherJob { found: JOB, wanted: 8 }));
	// The job's number alone does not make it another job's: of that nothing is proven.
	let mut file = good();
	file["predicate"]["job"]["id"] = json!(8);
	assert!(matches!(refused(&file), Refusal::NotProven { .. } | Refusal::NoJob { .. }));
	file["predicate"]["job"]["id"] = json!(-8);
	assert!(matches!(refused(&file), Refusal::Form(_)));
	// Nor does another chain's name.
	let mut file = good();
	file["predicate"]["chain"]["genesis"] = json!(wanted);
	assert!(
		matches!(refused(&file), Refusal::Differs { at, .. } if at == "predicate.chain.genesis")
	);
}

#[test]
fn records_of_two_states_do_not_mix() {
	let (one, mut two) = (Example::new(), Example::new());
	two.job.replicas[1].fate = trainyard_protocol::job::Fate::Accepted;
	let (one, two) = (evidence(one.entries()), evidence(two.entries()));
	let mixed = Evidence { storage: two.storage.clone(), ..one.clone() };
	assert!(matches!(crate::prove(&mixed, &genesis(), JOB), Err(Refusal::NotProven { .. })));
	let mut both = one.clone();
	both.storage.extend(two.storage.into_iter().filter(|node| !one.storage.contains(node)));
	assert!(matches!(crate::prove(&both, &genesis(), JOB), Err(Refusal::Surplus { .. })));
}

#[test]
fn what_is_no_certificate_is_refused() {
	for bad in ["", "{", "[]", "null", "{}", "{\"_type\": 1}"] {
		assert!(matches!(check(bad, &genesis(), None), Err(Refusal::Form(_))), "{bad}");
	}
	// A reader that takes the first of two fields sees something else than one that takes the last.
	let text =
		good().to_string().replacen("\"submitter\":", "\"submitter\":\"x\",\"submitter\":", 1);
	let Err(Refusal::Form(why)) = check(&text, &genesis(), None) else { panic!("it was taken") };
	assert!(why.contains("submitter") && why.contains("twice"), "{why}");
	assert_eq!(parse("[1.5, {\"a\": null}]").unwrap(), json!([1.5, { "a": null }]));
}

/// A certificate that `tools/end-to-end/certificate.test.mjs` wrote (`$TRAINYARD_LOGS/certificate/job.certificate.json`)
/// on a development chain. What is in [`crate::records::RUNTIME_VERSIONS`] is to be read for ever, also when later
/// runtimes have the same layouts. Where a layout changes before there is a public network, this file is made again.
#[test]
fn certificates_of_older_runtimes_are_read() {
	let text = include_str!("dev.certificate.json");
	let genesis = "6cd7cd06df6024521ee30dba237b93134564fdcb3c2fe4cd532d7d6011326e16";
	let said = check(text, &genesis.parse().unwrap(), Some(0)).unwrap();
	let chain = &said.predicate.chain;
	assert_eq!((chain.block, chain.authority_set, chain.runtime_version), (105, 1, 26));
	assert_eq!(said.subject.len(), 2);
	assert_eq!(said.predicate.audit.unwrap().seats.len(), 3);
}
