//! The kernels on the processor.

use crate::cuda::{
	backend::{Arg, Backend, KERNELS},
	DeviceError,
};
use libloading::Library;
use std::{
	cell::UnsafeCell,
	ffi::{c_char, c_int, c_uint, c_void, CString},
	path::Path,
	process::Command,
	sync::OnceLock,
};

/// Elements before and after every buffer, which no kernel may touch.
const GUARD: usize = 64;
/// The value of these elements, and of new memory: a NaN that no arithmetic produces.
const UNTOUCHED: u32 = 0x7FA5_5A5A;

/// `trainyard_simulate` of `host/simulator.cpp`.
type Simulate = unsafe extern "C" fn(*const c_char, c_uint, c_uint, *mut *mut c_void) -> c_int;

/// The kernels, compiled for the host.
pub struct Simulator {
	multiprocessors: u32,
}

/// Memory with guards around it.
pub struct Memory {
	words: UnsafeCell<Vec<u32>>,
	len: usize,
}

// Safety: a program is executed by one thread, one launch after the other.
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

impl Memory {
	fn new(words: impl ExactSizeIterator<Item = u32>) -> Self {
		let len = words.len();
		let guard = || std::iter::repeat_n(UNTOUCHED, GUARD);
		let words = guard().chain(words).chain(guard()).collect();
		Self { words: UnsafeCell::new(words), len }
	}

	fn words(&self) -> &[u32] {
		// Safety: no launch is running.
		unsafe { &*self.words.get() }
	}

	fn elements(&self) -> &[u32] {
		&self.words()[GUARD..][..self.len]
	}

	/// Fails if a kernel wrote outside of the buffer, which is a bug of the kernel.
	fn check(&self, kernel: &str) {
		let words = self.words();
		let guards = words[..GUARD].iter().chain(&words[GUARD + self.len..]);
		assert!(guards.into_iter().all(|word| *word == UNTOUCHED), "{kernel} writes outside");
	}
}

/// The library, compiled once in a process.
fn library() -> Result<&'static Library, String> {
	static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
	LIBRARY.get_or_init(compile).as_ref().map_err(String::clone)
}

fn compile() -> Result<Library, String> {
	let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
	let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cuda/kernels/host/simulator.cpp");
	let object = folder.path().join("simulator.so");
	let compiler = ["c++", "g++", "clang++"]
		.into_iter()
		.find(|name| Command::new(name).arg("--version").output().is_ok())
		.ok_or("there is no c++, g++ or clang++")?;
	let output = Command::new(compiler)
		.args(["-std=c++17", "-O2", "-ffp-contract=off", "-fPIC", "-shared"])
		.args(["-Wno-unknown-pragmas", "-pthread"])
		.arg(source)
		.arg("-o")
		.arg(&object)
		.output()
		.map_err(|e| e.to_string())?;
	// A compiler that is there must compile them: this is no reason to skip.
	assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
	// Safety: the library runs no code when it is loaded.
	unsafe { Library::new(&object) }.map_err(|e| e.to_string())
}

impl Simulator {
	/// Creates a device with that many multiprocessors.
	pub fn new(multiprocessors: u32) -> Result<Self, String> {
		library().map(|_| Self { multiprocessors })
	}
}

impl Backend for Simulator {
	type Buffer = Memory;

	fn name(&self) -> String {
		format!("simulation of {} multiprocessors", self.multiprocessors)
	}

	fn multiprocessors(&self) -> u32 {
		self.multiprocessors
	}

	fn allocate(&self, len: usize) -> Result<Memory, DeviceError> {
		Ok(Memory::new(std::iter::repeat_n(UNTOUCHED, len)))
	}

	fn upload(&self, values: &[f32]) -> Result<Memory, DeviceError> {
		Ok(Memory::new(values.iter().map(|x| x.to_bits())))
	}

	fn upload_integers(&self, values: &[u32]) -> Result<Memory, DeviceError> {
		Ok(Memory::new(values.iter().copied()))
	}

	fn download(&self, buffer: &Memory, len: usize) -> Result<Vec<f32>, DeviceError> {
		let words = &buffer.elements()[..len];
		assert!(!words.contains(&UNTOUCHED), "an element was never written");
		Ok(words.iter().map(|bits| f32::from_bits(*bits)).collect())
	}

	fn launch(
		&self,
		kernel: &'static str,
		blocks: u32,
		threads: u32,
		arguments: &[Arg<'_, Memory>],
	) -> Result<(), DeviceError> {
		assert!(KERNELS.contains(&kernel), "{kernel} is not listed");
		// Pointers to the arguments; those to buffers are arguments themselves.
		let mut addresses: Vec<*mut u32> = Vec::with_capacity(arguments.len());
		for argument in arguments {
			if let Arg::Buffer(memory) = argument {
				// Safety: within the vector.
				addresses.push(unsafe { (*memory.words.get()).as_mut_ptr().add(GUARD) });
			}
		}
		let mut address = addresses.iter();
		let mut pointers: Vec<*mut c_void> = arguments
			.iter()
			.map(|argument| match argument {
				Arg::Buffer(_) => address.next().map_or(std::ptr::null(), |a| a as *const _ as _),
				Arg::U32(x) => x as *const u32 as *const c_void,
				Arg::U64(x) => x as *const u64 as _,
				Arg::F32(x) => x as *const f32 as _,
				Arg::Window(window) => window as *const _ as _,
			})
			.map(<*const c_void>::cast_mut)
			.collect();
		let name = CString::new(kernel).unwrap();
		let result = {
			let library = library().unwrap();
			// Safety: the function has this type, and takes arguments as the GPU does.
			unsafe {
				let simulate = library.get::<Simulate>(b"trainyard_simulate").unwrap();
				simulate(name.as_ptr(), blocks, threads, pointers.as_mut_ptr())
			}
		};
		match result {
			0 => {}
			1 => panic!("the simulation does not know {kernel}"),
			_ => panic!("{kernel}: a barrier that only some of the threads reach"),
		}
		for argument in arguments {
			if let Arg::Buffer(memory) = argument {
				memory.check(kernel);
			}
		}
		Ok(())
	}
}

/// Every kernel of the sources is listed, and every listed kernel is in the sources.
#[test]
fn the_list_of_kernels_is_whole() {
	let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cuda/kernels");
	let mut found = Vec::new();
	for file in std::fs::read_dir(folder).unwrap() {
		let path = file.unwrap().path();
		if path.extension().is_none_or(|extension| extension != "cu") {
			continue;
		}
		for line in std::fs::read_to_string(path).unwrap().lines() {
			let name = |rest: &str| rest.split(['(', ',']).next().unwrap().to_owned();
			if let Some(rest) = line.strip_prefix("KERNEL ") {
				found.push(name(rest));
			} else if let Some(rest) = line.strip_prefix("PRODUCT_KERNELS(") {
				found.extend([128, 32, 64].map(|side| format!("{}_{side}", name(rest))));
			} else if let Some(rest) = line.strip_prefix("WHOLE_KERNEL(") {
				found.push(name(rest));
			}
		}
	}
	found.sort();
	assert_eq!(found, KERNELS);
}
