//! Chains of drilling on the devices that can be tried here.

use super::devices;
use crate::{cuda::chains, ChainBatches, DeviceError, EngineError, Isa, ProgramRunner, Target};
use trainyard_program::{reference::StepContext, H256};
use trainyard_protocol::drill::program;

fn seeds(count: u8) -> Vec<H256> {
	(0..count).map(|i| H256([i.wrapping_mul(37).wrapping_add(1); 32])).collect()
}

/// What the processor computes, by the operator lists of the protocol.
fn expected(size: u32, links: u32, seed: &H256) -> H256 {
	let isa = Isa::from_environment().unwrap();
	let runner = |list| ProgramRunner::new(list, isa).unwrap();
	let (begin, link) = (runner(program::begin(size)), runner(program::link(size)));
	let mut state = begin.zeros().unwrap();
	begin.advance(&mut state, StepContext { seed: *seed, step: 0 }).unwrap();
	for step in 1..=links {
		link.advance(&mut state, StepContext { seed: *seed, step }).unwrap();
	}
	state.content(program::STATE).unwrap()
}

/// Every size of tile, whole blocks of terms and two of them, numbers of elements that four does not
/// divide, and hashes that are made there (16, 32, 64, 256) and here.
#[test]
fn chains_have_the_bits_of_the_processor() {
	for (name, target) in devices() {
		for (size, links, count) in
			[(16, 5, 3), (17, 2, 4), (32, 2, 2), (64, 3, 9), (130, 2, 2), (256, 2, 1), (520, 1, 1)]
		{
			let batches = ChainBatches::new(&target, size, links).unwrap();
			let seeds = seeds(count);
			let mut calls = Vec::new();
			let mut go_on = |link| {
				calls.push(link);
				true
			};
			let found = batches.compute(&seeds, &mut go_on).unwrap().unwrap();
			assert_eq!(calls, (1..=links).collect::<Vec<u32>>());
			assert_eq!(found.len(), seeds.len());
			for (seed, found) in seeds.iter().zip(found) {
				assert_eq!(found, expected(size, links, seed), "{name}: {size} {links}");
			}
		}
	}
}

#[test]
fn chains_end_where_nobody_waits_for_them() {
	for (_, target) in devices() {
		let batches = ChainBatches::new(&target, 16, 5).unwrap();
		assert_eq!(batches.compute(&seeds(2), &mut |link| link < 2).unwrap(), None);
		assert_eq!(batches.compute(&[], &mut |_| true).unwrap(), Some(Vec::new()));
		let Target::Cuda(device) = &target else { panic!("a device") };
		chains::check(&**device).unwrap();
		// What cannot be indexed is refused before anything is allocated.
		let many = vec![H256::zero(); 1 << 9];
		let batches = ChainBatches::new(&target, 4_096, 1).unwrap();
		let refused = batches.compute(&many, &mut |_| true).unwrap_err();
		let unsupported = |e| matches!(e, EngineError::Device(DeviceError::Unsupported(_)));
		assert!(unsupported(refused));
	}
	assert!(ChainBatches::new(&Target::Cpu(Isa::Scalar), 16, 5).is_none());
}

#[test]
fn a_batch_gives_work_to_all_of_a_device() {
	assert_eq!(chains::at_a_time(256, 132), 264);
	assert_eq!(chains::at_a_time(256, 1), 2);
	assert_eq!(chains::at_a_time(16, 8), 64);
	assert_eq!(chains::at_a_time(4_096, 132), 2);
	assert_eq!(chains::at_a_time(4_096, 1), 1);
}
