//! The built-in networks, and files that are not there.

use crate::has_chain;
use trainyard_node::chain_spec::load;

#[test]
fn a_missing_file_is_named() {
	let error = load("no/such/file.json").err().unwrap();
	assert!(error.contains("no/such/file.json") && error.contains("--chain"), "{error}");
}

#[test]
fn built_in_networks_build_their_genesis() {
	if !has_chain() {
		return;
	}
	use sp_runtime::BuildStorage;
	for (id, name) in
		[("dev", "trainyard_dev"), ("local", "trainyard_local"), ("", "trainyard_local")]
	{
		let spec = load(id).unwrap();
		assert_eq!(spec.id(), name);
		assert!(spec.build_storage().unwrap().top.contains_key(&b":code"[..]));
	}
}
