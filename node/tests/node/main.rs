//! Tests of the node, in one binary and outside the library: a test harness of the library
//! would compile the whole service a second time.

mod chain_spec;
mod chunks;
mod claims;
mod cli;
mod dev_node;
mod metrics;
mod ports;

/// The variable that lets the tests of a build without the runtime's wasm pass.
const WITHOUT_WASM: &str = "TRAINYARD_TEST_WITHOUT_WASM";

/// Whether this build has a chain to run. Without one a test that needs it fails, unless the
/// variable says that this is intended: otherwise it would pass and have tested nothing.
fn has_chain() -> bool {
	if trainyard_runtime::WASM_BINARY.is_some() {
		return true;
	}
	let meant = std::env::var_os(WITHOUT_WASM).is_some_and(|value| value == "1");
	assert!(
		meant,
		"built with SKIP_WASM_BUILD, so there is no chain to test. Unset it and build again, or \
		 set {WITHOUT_WASM}=1 to leave this test out"
	);
	eprintln!("left out: built with SKIP_WASM_BUILD, and {WITHOUT_WASM}=1");
	false
}
