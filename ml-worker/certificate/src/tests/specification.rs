//! The state of genesis from a chain specification.

use super::*;
use serde_json::json;

#[test]
fn the_state_of_a_raw_specification_has_its_root() {
	let text = |bytes: &[u8]| format!("0x{}", hex::encode(bytes));
	let mut top = serde_json::Map::new();
	for n in 0..40 {
		top.insert(text(&[n; 20]), json!(text(&[n; 100])));
	}
	top.insert(text(&authorities_key().bytes), json!(text(&first().encode())));
	let raw = json!({ "genesis": { "raw": { "top": top, "childrenDefault": {} } } });
	let state = GenesisState::of_specification(&raw).unwrap();
	assert_eq!(state.root(), genesis_state().root());
	let proof = state.prove(&[authorities_key()]).unwrap();
	assert!(proof.len() < 10, "values of others are not in it");
	assert_eq!(proof, genesis_state().prove(&[authorities_key()]).unwrap());
}

#[test]
fn what_is_no_raw_specification_is_refused() {
	for (bad, says) in [
		(json!({}), "genesis.raw"),
		(json!({ "genesis": { "runtimeGenesis": {} } }), "--raw"),
		(json!({ "genesis": { "raw": {} } }), "top"),
		(json!({ "genesis": { "raw": { "top": { "0x01": 1 } } } }), "hex"),
		(json!({ "genesis": { "raw": { "top": { "01": "0x01" } } } }), "hex"),
		(json!({ "genesis": { "raw": { "top": {}, "childrenDefault": { "0x1": {} } } } }), "child"),
	] {
		let Err(Refusal::Specification(text)) = GenesisState::of_specification(&bad) else {
			panic!("{bad}")
		};
		assert!(text.contains(says), "{text}");
	}
}
