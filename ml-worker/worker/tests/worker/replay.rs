//! The process in which a verifier replays, with the real program and its allocator.

use crate::common::{command, succeeds};
use codec::Encode;
use serde_json::{json, Value};
use std::{
	io::Write,
	process::{Output, Stdio},
};
use trainyard_protocol::{drill::Template, H256};

/// Lets the process compute a calibration within that many bytes of memory.
fn computed(memory: u64) -> Output {
	let template = hex::encode(Template::Calibration { passes: 12 }.encode());
	let unit = json!({ "template": template, "index": 0, "seed": H256::zero(), "paths": null });
	asked(&json!({ "device": "cpu", "memory": memory, "work": { "Unit": unit } }))
}

fn asked(request: &Value) -> Output {
	let mut child = command(&["replay"])
		.env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
		// It must die of its limit under this as well.
		.env("RUST_BACKTRACE", "1")
		.stdin(Stdio::piped())
		.stdout(Stdio::piped())
		.stderr(Stdio::piped())
		.spawn()
		.unwrap();
	// It ends when this does.
	let mut stdin = child.stdin.take().unwrap();
	writeln!(stdin, "{request}").unwrap();
	let output = child.wait_with_output().unwrap();
	drop(stdin);
	output
}

#[test]
fn a_process_answers_within_its_memory_and_dies_beyond_it() {
	let output = computed(256 << 20);
	let printed = String::from_utf8(output.stdout).unwrap();
	assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
	let reply = printed.lines().find_map(|line| line.strip_prefix("trainyard-reply ")).unwrap();
	let reply: Value = serde_json::from_str(reply).unwrap();
	assert!(reply["Computed"][0]["state"].is_string(), "{reply}");
	#[cfg(target_os = "linux")]
	{
		let output = computed(2 << 20);
		assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
		assert!(!String::from_utf8_lossy(&output.stdout).contains("Computed"));
	}
}

#[test]
fn whoever_starts_it_by_hand_hears_what_it_is_for() {
	let output = command(&["replay"]).stdin(Stdio::null()).output().unwrap();
	assert!(!output.status.success());
	let said = String::from_utf8_lossy(&output.stderr).into_owned();
	assert!(said.contains("for a role of trainyard, which starts it by itself"), "{said}");
	assert!(!succeeds(&["--help"]).contains("replay  "));
}
