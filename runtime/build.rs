//! Builds the runtime's wasm beside the native build; `SKIP_WASM_BUILD=1` leaves it out.

fn main() {
	#[cfg(feature = "std")]
	substrate_wasm_builder::WasmBuilder::build_using_defaults();
}
