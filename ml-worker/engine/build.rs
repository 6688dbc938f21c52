//! With the feature `cuda`: compiles the GPU's kernels with nvcc.

use std::{
	env,
	path::{Path, PathBuf},
	process::Command,
};

/// The folder of the kernels.
const KERNELS: &str = "src/cuda/kernels";
/// Names the nvcc to use. It is needed where nvcc is neither in PATH nor in the toolkit that
/// `CUDA_HOME` or `CUDA_PATH` names.
const NVCC_VARIABLE: &str = "NVCC";
/// Compute capabilities to compile for, separated by commas. For newer GPUs the driver translates
/// the first one's intermediate code.
const ARCHITECTURES_VARIABLE: &str = "TRAINYARD_CUDA_ARCHS";
/// Ampere, and Hopper.
const ARCHITECTURES: &str = "80,90";

fn main() {
	println!("cargo:rerun-if-changed=build.rs");
	println!("cargo:rerun-if-changed={KERNELS}");
	if env::var_os("CARGO_FEATURE_CUDA").is_none() {
		return;
	}
	for variable in [NVCC_VARIABLE, "CUDA_HOME", "CUDA_PATH", "PATH", ARCHITECTURES_VARIABLE] {
		println!("cargo:rerun-if-env-changed={variable}");
	}
	if let Err(what) = compile() {
		println!("cargo::error={}", what.replace('\n', " "));
		std::process::exit(1);
	}
}

/// Compiles all kernels into one binary.
fn compile() -> Result<(), String> {
	let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets no OUT_DIR")?);
	let nvcc = nvcc();
	let mut command = Command::new(&nvcc);
	command.arg("-std=c++17").arg("-O3").arg("-fatbin");
	// Every operation is computed as IEEE 754 says, and as it is written.
	command.args(["--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"]);
	let architectures =
		env::var(ARCHITECTURES_VARIABLE).unwrap_or_else(|_| ARCHITECTURES.to_owned());
	for (index, capability) in architectures.split(',').map(str::trim).enumerate() {
		if index == 0 {
			command.arg("-gencode");
			command.arg(format!("arch=compute_{capability},code=compute_{capability}"));
		}
		command.arg("-gencode").arg(format!("arch=compute_{capability},code=sm_{capability}"));
	}
	command.arg(Path::new(KERNELS).join("trainyard.cu"));
	command.arg("-o").arg(out.join("kernels.fatbin"));
	let output = command.output().map_err(|e| {
		format!(
			"the feature `cuda` needs nvcc, and {} cannot be started ({e}). Install a CUDA toolkit \
			 (12.0 or newer) and put its bin folder into PATH, or set CUDA_HOME to its folder; \
			 scripts/check-cuda shows a way without root. Without the feature everything works on \
			 the processor",
			nvcc.display()
		)
	})?;
	if !output.status.success() {
		let said = String::from_utf8_lossy(&output.stderr).into_owned();
		return Err(format!("{} cannot compile the kernels: {said}", nvcc.display()));
	}
	Ok(())
}

/// Returns the compiler: the one that is named, else that of the toolkit that is named, else the
/// one in PATH.
fn nvcc() -> PathBuf {
	if let Some(nvcc) = env::var_os(NVCC_VARIABLE) {
		return nvcc.into();
	}
	let of_toolkit = |variable| {
		let nvcc = Path::new(&env::var_os(variable)?).join("bin").join("nvcc");
		nvcc.exists().then_some(nvcc)
	};
	["CUDA_HOME", "CUDA_PATH"].into_iter().find_map(of_toolkit).unwrap_or_else(|| "nvcc".into())
}
