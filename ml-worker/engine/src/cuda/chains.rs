//! Computes chains of drilling, many of one size at a time.
//!
//! A chain ([`program`]) is a sequence: each product waits for the one before, and one of 256 rows
//! gives work to four blocks of threads. So a device computes many chains side by side, each under
//! its own seed, and hashes what they end with, so that only the hashes are copied back.

use super::{
	backend::{Arg, Backend},
	launches::{Launches, Product, CHAIN_LINK},
	Accelerator, Chains, DeviceError,
};
use crate::host;
use trainyard_program::H256;
use trainyard_protocol::{
	drill::{chain_state, program, reference, Template},
	stint::{LAP, LAP_SIZE},
};
use trainyard_strict::philox::{Stream, StreamName};

/// Bytes of a chunk of BLAKE3.
const CHUNK: u64 = 1 << 10;
/// Words of a chaining value, and of a hash.
const HASH_WORDS: usize = 8;
/// Blocks of threads for each multiprocessor that a batch of chains gives work to.
const WAVES: u32 = 8;
/// Rows and columns of the result of such a block: those of the largest tile.
const TILE: u32 = 128;
/// Most blocks of four random numbers that are drawn in one launch.
const MOST_DRAWN: u64 = 1 << 31;

/// Returns how many chains of this size a device of that many multiprocessors should compute at a
/// time, so that all of it works.
pub fn at_a_time(size: u32, multiprocessors: u32) -> u32 {
	let tiles = size.div_ceil(TILE).saturating_mul(size.div_ceil(TILE)).max(1);
	multiprocessors.saturating_mul(WAVES).div_ceil(tiles).max(1)
}

/// See [`Accelerator::chains`].
pub fn run<B: Backend>(
	backend: &B,
	chains: Chains<'_>,
	go_on: &mut dyn FnMut(u32) -> bool,
) -> Result<Option<Vec<H256>>, DeviceError> {
	let Chains { size, links, seeds } = chains;
	let each = u64::from(size) * u64::from(size);
	let count = u32::try_from(seeds.len()).unwrap_or(u32::MAX);
	if each.div_ceil(4).saturating_mul(count.into()) >= MOST_DRAWN {
		let what = format!("{count} chains of {size} rows at a time");
		return Err(DeviceError::Unsupported(what));
	}
	if seeds.is_empty() {
		return Ok(Some(Vec::new()));
	}
	let all = each as usize * seeds.len();
	let device = Launches(backend);
	let keys: Vec<u32> =
		seeds.iter().flat_map(|seed| Stream::new(&seed.0, StreamName::Noise).key()).collect();
	let keys = backend.upload_integers(&keys)?;
	let draw = |out: &B::Buffer, step: u32, deviation: f32| {
		let blocks = each.div_ceil(4) * u64::from(count);
		let sizes = [Arg::U32(each as u32), Arg::U32(count), Arg::Buffer(&keys), Arg::U32(step)];
		let arguments = [&[Arg::Buffer(out)][..], &sizes, &[Arg::F32(deviation)]].concat();
		device.each("chain_noise", blocks, &arguments)
	};

	let (mut x, mut next) = (backend.allocate(all)?, backend.allocate(all)?);
	let weight = backend.allocate(all)?;
	draw(&x, 0, 1.0)?;
	let deviation = program::deviation(size).to_f32();
	let product = Product { batch: count, m: size, n: size, k: size };
	for step in 1..=links {
		draw(&weight, step, deviation)?;
		device.whole_product(CHAIN_LINK, &x, &weight, &next, product)?;
		std::mem::swap(&mut x, &mut next);
		if !go_on(step) {
			return Ok(None);
		}
	}

	let chunks = each * 4 / CHUNK;
	if each * 4 % CHUNK == 0 && chunks.is_power_of_two() {
		return hashes(&device, &x, chunks, u64::from(count)).map(Some);
	}
	let values = backend.download(&x, all)?;
	Ok(Some(values.chunks(each as usize).map(host::hash_of).collect()))
}

/// Hashes `inputs` inputs of `chunks` chunks each, a power of two, none of which holds a NaN: those
/// are hashed as they lie there. (A chain's are values of tanh, and no product of finite numbers of
/// its sizes overflows.)
fn hashes<B: Backend>(
	device: &Launches<'_, B>,
	x: &B::Buffer,
	chunks: u64,
	inputs: u64,
) -> Result<Vec<H256>, DeviceError> {
	let backend = device.0;
	let mut left = chunks;
	let mut values = backend.allocate((left * inputs) as usize * HASH_WORDS)?;
	let sizes = [Arg::U64(left * inputs), Arg::U32(left as u32)];
	let arguments = [&[Arg::Buffer(x), Arg::Buffer(&values)][..], &sizes].concat();
	device.each("hash_chunks", left * inputs, &arguments)?;
	while left > 1 {
		left /= 2;
		let above = backend.allocate((left * inputs) as usize * HASH_WORDS)?;
		let sizes = [Arg::U64(left * inputs), Arg::U32((left == 1).into())];
		let arguments = [&[Arg::Buffer(&values), Arg::Buffer(&above)][..], &sizes].concat();
		device.each("hash_parents", left * inputs, &arguments)?;
		values = above;
	}
	let words = backend.download(&values, inputs as usize * HASH_WORDS)?;
	let hash = |words: &[f32]| {
		let mut bytes = [0; 4 * HASH_WORDS];
		for (place, word) in bytes.chunks_mut(4).zip(words) {
			place.copy_from_slice(&word.to_bits().to_le_bytes());
		}
		H256(bytes)
	};
	Ok(words.chunks(HASH_WORDS).map(hash).collect())
}

/// Compares a lap with the reference: a device that disagrees is refused.
pub fn check(device: &dyn Accelerator) -> Result<(), DeviceError> {
	let differs = |what: String| DeviceError::Differs(format!("a lap of drilling {what}"));
	let Template::Chain { size, links } = LAP else { return Ok(()) };
	// Fewer links than a lap has: the reference is slow.
	let links = links.min(2);
	let seeds = [H256([7; 32]), H256([8; 32])];
	let chains = Chains { size, links, seeds: &seeds };
	let found = device.chains(chains, &mut |_| true)?.unwrap_or_default();
	if found.len() != seeds.len() {
		return Err(differs("has no result".into()));
	}
	for (seed, found) in seeds.iter().zip(found) {
		let template = Template::Chain { size, links };
		let expected = reference::unit(&template, 0, seed, Default::default());
		let expected = expected.map_err(|e| differs(e.to_string()))?.state;
		if chain_state(LAP_SIZE, found) != expected {
			return Err(differs("has another result there".into()));
		}
	}
	Ok(())
}
