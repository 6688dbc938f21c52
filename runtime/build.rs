//! Builds the runtime's wasm beside the native build; `SKIP_WASM_BUILD=1` leaves it out.

fn main() {
	// The wasm is built in a workspace of its own, which knows nothing of the profile in
	// Cargo.toml: .cargo/config.toml asks for overflow checks in our crates there.
	#[cfg(feature = "std")]
	substrate_wasm_builder::WasmBuilder::build_using_defaults();
}
