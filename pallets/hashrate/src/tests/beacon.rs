//! Seeds from VRF outputs.

use super::*;
use crate::{
	beacon::{MAX_SEED_BLOCKS, RING, SEED_LIFE},
	Outputs, SeedTiming, Seeding,
};
use codec::Encode;
use sp_io::hashing::blake2_256;
use trainyard_protocol::H256;
use trainyard_traits::{Beacon, Seed};

fn seed(after: u32) -> Seed {
	Hashrate::seed(b"draw", b"job 7", after)
}

/// The output of the block that was just run.
fn output() -> H256 {
	H256(Babe::author_vrf_randomness().unwrap())
}

fn expected(domain: &[u8], subject: &[u8], outputs: &[H256]) -> Seed {
	let bytes = (domain.to_vec(), subject.to_vec(), outputs.to_vec()).encode();
	Seed::Ready(H256(blake2_256(&bytes)))
}

#[test]
fn an_output_is_in_the_ring_one_block_later() {
	Genesis::default().run(|| {
		let first = output();
		assert!(Outputs::<Test>::get(1).is_none(), "block 1 is the present one");
		run_block(1);
		assert_eq!(Outputs::<Test>::get(1), Some((1, first)));
		assert!(Outputs::<Test>::get(2).is_none());
	});
}

#[test]
fn a_seed_needs_two_blocks_and_one_more_to_read_them() {
	Genesis::default().run(|| {
		// A commitment in block 1: the outputs of blocks 2 and 3, readable in block 4.
		assert_eq!(seed(1), Seed::NotBefore(4));
		run_block(1);
		let second = output();
		assert_eq!(seed(1), Seed::NotBefore(4));
		run_block(2);
		let third = output();
		assert_eq!(seed(1), Seed::NotBefore(4));
		run_block(1);
		let ready = expected(b"draw", b"job 7", &[second, third]);
		assert_eq!(seed(1), ready);
		// It stays what it is.
		run_to(20, 1);
		assert_eq!(seed(1), ready);
		// A commitment to come waits.
		assert_eq!(seed(20), Seed::NotBefore(23));
		assert_eq!(seed(500), Seed::NotBefore(503));
		assert_eq!(seed(u32::MAX), Seed::NotBefore(u32::MAX));
	});
}

#[test]
fn seeds_differ_by_domain_subject_and_block() {
	Genesis::default().run(|| {
		run_to(10, 1);
		let seeds = [
			Hashrate::seed(b"a", b"b", 2),
			Hashrate::seed(b"a", b"c", 2),
			Hashrate::seed(b"b", b"b", 2),
			// Not the same bytes joined.
			Hashrate::seed(b"ab", b"", 2),
			Hashrate::seed(b"", b"ab", 2),
			Hashrate::seed(b"a", b"b", 3),
		];
		for (i, a) in seeds.iter().enumerate() {
			assert!(matches!(a, Seed::Ready(_)));
			assert!(seeds[..i].iter().all(|b| a != b));
		}
	});
}

#[test]
fn a_seed_that_everybody_has_known_for_long_is_lost() {
	Genesis::default().run(|| {
		run_block(1);
		let second = output();
		run_block(1);
		let third = output();
		run_to(4 + SEED_LIFE, 1);
		assert_eq!(seed(1), expected(b"draw", b"job 7", &[second, third]));
		run_block(1);
		assert_eq!(seed(1), Seed::Lost);
		assert!(matches!(seed(2), Seed::Ready(_)));
		assert_eq!(Hashrate::horizon(), MAX_SEED_BLOCKS + 1 + SEED_LIFE);
	});
}

#[test]
fn the_ring_has_room_for_its_outputs_and_no_more() {
	Genesis::default().run(|| {
		run_to(3 + RING, 1);
		assert_eq!(Outputs::<Test>::iter().count(), RING as usize);
		assert_eq!(seed(1), Seed::Lost);
	});
}

/// A trainer that is an author knows its own coming outputs. It must not move a draw to where its
/// blocks are by revealing one block earlier or later.
#[test]
fn all_that_is_settled_within_a_step_has_one_draw_height() {
	Genesis::default().run(|| {
		assert_eq!([0, 1, 20].map(Hashrate::draw_height), [0, 1, 20], "a step of one block");
		Seeding::<Test>::put(SeedTiming { blocks: 2, step: 16 });
		for settled in 17..=32 {
			assert_eq!(Hashrate::draw_height(settled), 32);
		}
		assert_eq!(Hashrate::draw_height(33), 48);
		assert_eq!(Hashrate::draw_height(0), 0);
		assert_eq!(Hashrate::draw_height(u32::MAX), u32::MAX);
	});
}

#[test]
fn a_seed_is_made_of_as_many_blocks_as_genesis_says() {
	Genesis::default().run(|| {
		assert_eq!(SeedTiming::default(), SeedTiming { blocks: 16, step: 16 });
		Seeding::<Test>::put(SeedTiming { blocks: 5, step: 1 });
		let mut outputs = Vec::new();
		for _ in 0..5 {
			assert_eq!(seed(1), Seed::NotBefore(7));
			run_block(1);
			outputs.push(output());
		}
		run_block(1);
		assert_eq!(seed(1), expected(b"draw", b"job 7", &outputs));
	});
}

#[test]
fn a_block_without_output_counts_by_its_hash() {
	Genesis::default().run(|| {
		run_block(1);
		let second = output();
		run_plain_block(1);
		// Babe still shows the second block's.
		assert_eq!(output(), second);
		run_plain_block(1);
		let third = H256(blake2_256(System::parent_hash().as_ref()));
		assert_eq!(Outputs::<Test>::get(3), Some((3, third)));
		assert_eq!(seed(1), expected(b"draw", b"job 7", &[second, third]));
		run_block(1);
		let fourth = H256(blake2_256(System::parent_hash().as_ref()));
		assert_ne!(third, fourth);
		assert_eq!(Outputs::<Test>::get(4), Some((4, fourth)));
		assert_eq!(seed(2), expected(b"draw", b"job 7", &[third, fourth]));
	});
}

#[test]
fn the_first_blocks_have_seeds() {
	Genesis::default().run(|| {
		let first = output();
		run_block(1);
		let second = output();
		assert_eq!(seed(0), Seed::NotBefore(3));
		run_block(1);
		assert_eq!(seed(0), expected(b"draw", b"job 7", &[first, second]));
	});
}
