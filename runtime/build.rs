//! Builds the runtime's wasm beside the native build; `SKIP_WASM_BUILD=1` leaves it out.

fn main() {
	#[cfg(feature = "std")]
	substrate_wasm_builder::WasmBuilder::init_with_defaults()
		// The workspace's profile asks for them in our crates, but the wasm is built in a
		// workspace of its own, with a profile of its own.
		.append_to_rust_flags("-C overflow-checks=on")
		.build();
}
