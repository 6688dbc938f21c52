//! Proposals, and their refutation.

use super::*;
use crate::{Openings, PieceBytes, PieceSiblings, ProposedPieces};
use trainyard_protocol::{
	content::{self, CHUNK_BYTES},
	federation::{self, Pieces, MAX_PROPOSALS},
};

/// A federation that waits for the aggregate of models 1 and 2.
fn waiting() -> (u32, Vec<u8>) {
	let id = open();
	answer(id, &[1, 2]);
	(id, aggregate(id))
}

/// The file with another byte at `at`.
fn changed(file: &[u8], at: usize) -> Vec<u8> {
	let mut other = file.to_vec();
	other[at] ^= 1;
	other
}

/// What refutes a piece of this file: its chunks, and what leads from them to the root.
fn piece(file: &[u8], number: usize) -> (PieceBytes, PieceSiblings) {
	let piece = federation::pieces(&layout())[number];
	let chunks = piece.chunks();
	let end = ((chunks.end * CHUNK_BYTES) as usize).min(file.len());
	let bytes = file[(chunks.start * CHUNK_BYTES) as usize..end].to_vec();
	let siblings = content::open_many(file, chunks).unwrap();
	(PieceBytes::truncate_from(bytes), PieceSiblings::truncate_from(siblings))
}

#[test]
fn every_false_chunk_is_refuted_and_no_true_one() {
	run(|| {
		let (id, file) = waiting();
		let chunks = content::chunks(file.len() as u64);
		propose(11, id, &file);
		for chunk in 0..chunks {
			let shown = openings(id, &file, chunk);
			let refuted = Fed::refute(signed(12), id, 0, chunk, shown);
			assert_noop!(refuted, Error::<Test>::NotRefuted);
		}
		for chunk in [0, 1, chunks / 2, chunks - 1] {
			// In the header, between values, in the last one.
			let at = (chunk * CHUNK_BYTES) as usize + 3;
			let other = changed(&file, at);
			let before = (free(12), Balances::total_issuance());
			let number = propose(13, id, &other);
			let deposit = get(id).proposals[1].deposit;
			let shown = openings(id, &other, chunk);
			// Its other chunks are true.
			let elsewhere = (chunk + 1) % chunks;
			let wrong =
				Fed::refute(signed(12), id, number, elsewhere, openings(id, &other, elsewhere));
			assert_noop!(wrong, Error::<Test>::NotRefuted);
			assert_ok!(Fed::refute(signed(12), id, number, chunk, shown));
			let (proposer, refuter) = (13, 12);
			let half = deposit / 2;
			let said = Event::Refuted {
				federation: id,
				proposal: number,
				proposer,
				refuter,
				reward: half,
				burned: deposit - half,
			};
			assert_eq!(events().last(), Some(&said));
			assert_eq!(free(12), before.0 + half);
			assert_eq!(Balances::total_issuance(), before.1 - (deposit - half));
			assert_eq!(held(13), 0);
			assert!(!ProposedPieces::<Test>::contains_key(id, number));
			let again = Fed::refute(signed(12), id, number, chunk, openings(id, &other, chunk));
			assert_noop!(again, Error::<Test>::NoSuchProposal);
		}
		pass(WINDOW + 1);
		assert_eq!(get(id).round, 1, "the true one stood all the time");
	});
}

#[test]
fn every_false_piece_is_refuted_and_no_true_one() {
	run(|| {
		let (id, file) = waiting();
		propose(11, id, &file);
		for number in 0..6 {
			let (bytes, siblings) = piece(&file, number);
			let refuted = Fed::refute_piece(
				signed(12),
				id,
				0,
				number as u32,
				bytes.clone(),
				siblings.clone(),
			);
			assert_noop!(refuted, Error::<Test>::NotRefuted);

			let mut said = pieces(&file).into_inner();
			said[number] = H256::repeat_byte(9);
			let content = content::hash(&file);
			let said = Pieces::truncate_from(said);
			assert_ok!(Fed::propose(signed(13), id, content, said));
			let proposal = get(id).proposals[1].number;
			let other = (number + 1) % 6;
			let (others, beside) = piece(&file, other);
			let refute = |at: usize, bytes, siblings| {
				Fed::refute_piece(signed(12), id, proposal, at as u32, bytes, siblings)
			};
			assert_noop!(refute(other, others, beside), Error::<Test>::NotRefuted);
			// Of the file it says the truth.
			let shown = openings(id, &file, 2);
			let refuted = Fed::refute(signed(12), id, proposal, 2, shown);
			assert_noop!(refuted, Error::<Test>::NotRefuted);
			assert_noop!(refute(99, bytes.clone(), siblings.clone()), Error::<Test>::NoSuchPiece);
			let mut wrong = bytes.clone();
			wrong[0] ^= 1;
			let bad = || Error::<Test>::BadOpening;
			assert_noop!(refute(number, wrong, siblings.clone()), bad());
			assert_noop!(refute(number, PieceBytes::new(), siblings.clone()), bad());
			assert_noop!(refute(number, bytes.clone(), PieceSiblings::new()), bad());
			assert_ok!(refute(number, bytes, siblings));
			assert_eq!(get(id).proposals.len(), 1);
		}
	});
}

#[test]
fn what_is_proposed_is_on_chain_and_has_all_pieces() {
	run(|| {
		let id = open();
		let file = model(7);
		let (said, hash) = (pieces(&file), content::hash(&file));
		let propose = |said: &Pieces| Fed::propose(signed(11), id, hash, said.clone());
		assert_noop!(propose(&said), Error::<Test>::NotAggregating);
		let nowhere = Fed::propose(signed(11), id + 1, hash, said.clone());
		assert_noop!(nowhere, Error::<Test>::NoSuchFederation);
		answer(id, &[1, 2]);
		assert_noop!(propose(&said), Error::<Test>::BlobMissing);
		let root = store(&file);
		Stored::mutate(|all| all.get_mut(&root).unwrap().is_complete = false);
		assert_noop!(propose(&said), Error::<Test>::BlobMissing);
		store(&file);
		let few = Pieces::truncate_from(said[1..].to_vec());
		assert_noop!(propose(&few), Error::<Test>::BadPieces);
		assert_ok!(propose(&said));
		assert_noop!(propose(&said), Error::<Test>::AlreadyProposed);
		let poor = Fed::propose(signed(99), id, content::hash(&model(8)), pieces(&model(8)));
		assert_noop!(poor, Error::<Test>::BlobMissing);
		store(&model(8));
		let poor = Fed::propose(signed(99), id, content::hash(&model(8)), pieces(&model(8)));
		assert!(poor.is_err());
		for seed in 8..7 + MAX_PROPOSALS {
			super::super::mock::propose(11, id, &model(seed));
		}
		let file = model(90);
		store(&file);
		let more = Fed::propose(signed(11), id, content::hash(&file), pieces(&file));
		assert_noop!(more, Error::<Test>::TooManyProposals);
	});
}

#[test]
fn openings_are_of_the_aggregate_and_of_each_result_in_order() {
	run(|| {
		let (id, file) = waiting();
		let other = changed(&file, 5_000);
		propose(11, id, &other);
		let chunk = 5_000 / CHUNK_BYTES;
		let shown = openings(id, &other, chunk);
		let refute = |shown: Openings| Fed::refute(signed(12), id, 0, chunk, shown);
		assert_noop!(refute(Openings::new()), Error::<Test>::WrongOpenings);
		let few = Openings::truncate_from(shown[..2].to_vec());
		assert_noop!(refute(few), Error::<Test>::WrongOpenings);
		let swapped = [0, 2, 1].map(|at| shown[at].clone()).to_vec();
		assert_noop!(refute(Openings::truncate_from(swapped)), Error::<Test>::BadOpening);
		let mut wrong = shown.clone();
		wrong[0].bytes[0] ^= 1;
		assert_noop!(refute(wrong), Error::<Test>::BadOpening);
		let elsewhere = Fed::refute(signed(12), id, 0, chunk + 1, shown.clone());
		assert_noop!(elsewhere, Error::<Test>::BadOpening);
		let nowhere = Fed::refute(signed(12), id + 1, 0, chunk, shown.clone());
		assert_noop!(nowhere, Error::<Test>::NoSuchFederation);
		let none = Fed::refute(signed(12), id, 1, chunk, shown.clone());
		assert_noop!(none, Error::<Test>::NoSuchProposal);
		assert_ok!(refute(shown));
	});
}

#[test]
fn whoever_waits_for_another_proposal_has_as_long_again() {
	run(|| {
		let (id, file) = waiting();
		pass(AGGREGATE - 5);
		let other = changed(&file, 600);
		propose(11, id, &other);
		pass(3);
		assert_ok!(Fed::refute(signed(12), id, 0, 0, openings(id, &other, 0)));
		pass(AGGREGATE - 1);
		assert_eq!(get(id).stage, Stage::Aggregating);
		propose(11, id, &file);
		pass(WINDOW + 1);
		assert_eq!(get(id).round, 1);
	});
}
