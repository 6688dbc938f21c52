//! Each way in which a proof of finality can be wrong.

use super::*;
use crate::{error::Fault, final_block};
use sp_core::crypto::Ss58Codec;

fn last() -> Header {
	header(40, H256([9; 32]), vec![])
}

fn of(finality: Vec<Link>) -> Evidence {
	let genesis = Genesis {
		header: Bytes(genesis_header().encode()),
		authorities: genesis_state().prove(&[authorities_key()]).unwrap(),
	};
	Evidence { genesis, finality, storage: vec![] }
}

fn follow(finality: Vec<Link>) -> Result<crate::Final, Refusal> {
	final_block(&of(finality), &genesis())
}

/// Follows one block that the first set is to make final with this justification.
fn by_first(justification: Bytes) -> Result<crate::Final, Refusal> {
	follow(vec![Link { header: Bytes(last().encode()), justification }])
}

/// Returns what is wrong with such a justification.
fn fault(justification: Bytes) -> Fault {
	match by_first(justification) {
		Err(Refusal::NotFinal { number: 40, set: 0, fault }) => fault,
		other => panic!("{other:?}"),
	}
}

fn name(n: u8) -> String {
	id(n).to_ss58check()
}

#[test]
fn a_block_follows_from_the_authorities_of_genesis() {
	let all = handovers().into_iter().chain([link(&last(), 2, &[8])]).collect();
	let found = follow(all).unwrap();
	assert_eq!((found.number, found.hash, found.set), (40, last().hash(), 2));
	assert_eq!((found.state_root, found.authorities), (H256([9; 32]), 2));
	// Without any change, and with a block that announces one.
	assert_eq!(follow(vec![link(&last(), 0, &[1, 2, 3])]).unwrap().set, 0);
	assert_eq!(follow(handovers()).unwrap().number, 25);
}

#[test]
fn it_is_another_chain() {
	let found = genesis();
	let wanted = H256([1; 32]);
	let evidence = of(vec![link(&last(), 0, &[1, 2])]);
	assert_eq!(final_block(&evidence, &wanted), Err(Refusal::OtherGenesis { found, wanted }));
	// A later block is no genesis, whatever somebody names.
	let header = header(3, genesis_state().root(), vec![]);
	let genesis = Genesis { header: Bytes(header.encode()), ..evidence.genesis.clone() };
	let later = Evidence { genesis, ..evidence };
	assert!(matches!(final_block(&later, &header.hash()), Err(Refusal::Form(_))));
}

#[test]
fn the_first_authorities_are_those_of_genesis() {
	let good = of(vec![link(&last(), 0, &[1, 2])]);
	let with = |authorities: Vec<Bytes>| {
		let changed = Genesis { authorities, ..good.genesis.clone() };
		final_block(&Evidence { genesis: changed, ..good.clone() }, &genesis())
	};
	let other = GenesisState::of([(authorities_key().bytes, set(&[(9, 1)]).encode())]);
	let proof = other.prove(&[authorities_key()]).unwrap();
	assert!(matches!(with(proof), Err(Refusal::NotProven { .. })));
	assert!(matches!(with(vec![]), Err(Refusal::NotProven { .. })));
	let nodes = good.genesis.authorities.clone();
	for at in 0..nodes.len() {
		let mut less = nodes.clone();
		less.remove(at);
		assert!(matches!(with(less), Err(Refusal::NotProven { .. })), "without node {at}");
	}
	let more = nodes.iter().cloned().chain([Bytes(vec![0])]).collect();
	assert_eq!(with(more), Err(Refusal::Surplus { what: "the first authorities", nodes: 1 }));
	let twice = nodes.iter().chain(&nodes[..1]).cloned().collect();
	assert!(matches!(with(twice), Err(Refusal::Surplus { nodes: 1, .. })));
}

#[test]
fn weight_counts_and_not_heads() {
	let by = |voters: &[u8]| link(&last(), 0, voters).justification;
	// Seven parts of ten, by two of four.
	assert!(by_first(by(&[1, 3])).is_ok());
	let little = |weight| Fault::TooLittleWeight { weight, total: 10, needed: 7 };
	assert_eq!(fault(by(&[1])), little(6));
	assert_eq!(fault(by(&[2, 3, 4])), little(4), "three of four heads");
	assert_eq!(fault(by(&[])), little(0));
}

#[test]
fn a_vote_counts_once() {
	let twice = [1, 1, 1].map(|n| vote(n, 0, &last())).to_vec();
	assert_eq!(fault(justification(&last(), twice, vec![])), Fault::Doubled(name(1)));
	// Two votes for different blocks are one weight: 6 of 10.
	let above = Header { parent_hash: last().hash(), ..header(41, H256::zero(), vec![]) };
	let both = vec![vote(1, 0, &last()), vote(1, 0, &above)];
	let found = fault(justification(&last(), both.clone(), vec![above.clone()]));
	assert_eq!(found, Fault::TooLittleWeight { weight: 6, total: 10, needed: 7 });
	// With others it is enough, as by GRANDPA's own rule.
	let more = [both, vec![vote(2, 0, &last())]].concat();
	assert!(by_first(justification(&last(), more.clone(), vec![above.clone()])).is_ok());
	let next = Header { parent_hash: above.hash(), ..header(42, H256::zero(), vec![]) };
	let three = [more, vec![vote(1, 0, &next)]].concat();
	let found = fault(justification(&last(), three, vec![above, next]));
	assert_eq!(found, Fault::Doubled(name(1)));
}

#[test]
fn votes_of_others_do_not_count() {
	let stranger = [1, 2, 9].map(|n| vote(n, 0, &last())).to_vec();
	assert_eq!(fault(justification(&last(), stranger, vec![])), Fault::Stranger(name(9)));
	// A vote in another set, in another round, for another block, or of another key.
	for wrong in [
		SignedPrecommit { signature: vote(2, 1, &last()).signature, ..vote(2, 0, &last()) },
		SignedPrecommit { signature: vote(3, 0, &last()).signature, ..vote(2, 0, &last()) },
		SignedPrecommit {
			signature: vote(2, 0, &genesis_header()).signature,
			..vote(2, 0, &last())
		},
	] {
		let votes = vec![vote(1, 0, &last()), wrong];
		assert_eq!(fault(justification(&last(), votes, vec![])), Fault::Signature(name(2)));
	}
	let mut later = GrandpaJustification::<Header> {
		round: 6,
		commit: Commit {
			target_hash: last().hash(),
			target_number: 40,
			precommits: [1, 2].map(|n| vote(n, 0, &last())).to_vec(),
		},
		votes_ancestries: vec![],
	};
	assert_eq!(fault(Bytes(later.encode())), Fault::Signature(name(1)));
	later.round = 5;
	assert!(by_first(Bytes(later.encode())).is_ok());
}

#[test]
fn votes_for_later_blocks_need_the_way_there() {
	let above = Header { parent_hash: last().hash(), ..header(41, H256::zero(), vec![]) };
	let next = Header { parent_hash: above.hash(), ..header(42, H256::zero(), vec![]) };
	let votes = vec![vote(1, 0, &last()), vote(2, 0, &next), vote(3, 0, &above)];
	let with = |way: &[&Header]| {
		justification(&last(), votes.clone(), way.iter().copied().cloned().collect())
	};
	assert!(by_first(with(&[&above, &next])).is_ok());
	assert_eq!(fault(with(&[&above])), Fault::Ancestry(name(2)));
	assert_eq!(fault(with(&[&next])), Fault::Ancestry(name(2)));
	assert_eq!(fault(with(&[&above, &next, &genesis_header()])), Fault::Surplus(1));
	assert_eq!(fault(with(&[&above, &next, &next])), Fault::Surplus(1));
	// All of the weight is for a later block: then that one is final, and the commit is of it.
	let later = [1, 2].map(|n| vote(n, 0, &above)).to_vec();
	assert_eq!(fault(justification(&last(), later, vec![above.clone()])), Fault::NoCommit);
}

#[test]
fn a_justification_is_of_its_block() {
	let of_other = link(&genesis_header(), 0, &[1, 2]).justification;
	let hash = genesis();
	assert_eq!(fault(of_other), Fault::OtherBlock { number: 0, hash });
	let good = link(&last(), 0, &[1, 2]).justification;
	let cut = Bytes(good.0[..good.0.len() - 1].to_vec());
	assert!(matches!(fault(cut), Fault::Undecodable(_)));
	let longer = Bytes([good.0, vec![0]].concat());
	assert!(matches!(fault(longer), Fault::Undecodable(_)));
}

#[test]
fn no_set_is_left_out() {
	let of_last = || link(&last(), 2, &[8]);
	let [one, two] = [0, 1].map(|at| handovers()[at].clone());
	let chain = |links: &[&Link]| follow(links.iter().copied().cloned().collect());
	assert!(chain(&[&one, &two, &of_last()]).is_ok());
	assert_eq!(chain(&[]), Err(Refusal::NoFinalBlock));
	let stranger = |set| {
		move |refusal: Refusal| {
			let Refusal::NotFinal { set: found, fault: Fault::Stranger(_), .. } = refusal else {
				panic!("{refusal:?}")
			};
			assert_eq!(found, set);
		}
	};
	chain(&[&one, &of_last()]).map_err(stranger(1)).unwrap_err();
	chain(&[&two, &of_last()]).map_err(stranger(0)).unwrap_err();
	chain(&[&of_last()]).map_err(stranger(0)).unwrap_err();
	chain(&[&two, &one, &of_last()]).map_err(stranger(0)).unwrap_err();
	let plain = link(&header(11, H256::zero(), vec![]), 0, &[1, 2]);
	assert_eq!(chain(&[&plain, &two]), Err(Refusal::NoChange { number: 11 }));
	let early = header(10, H256::zero(), vec![]);
	let early = link(&early, 1, &[5, 6, 7]);
	assert_eq!(chain(&[&one, &early]), Err(Refusal::NotRising { from: 10, to: 10 }));
}

#[test]
fn only_changes_that_the_set_itself_makes_final_count() {
	let goes_on = |logs: Vec<DigestItem>| {
		let one = header(10, H256::zero(), logs);
		follow(vec![link(&one, 0, &[1, 2]), link(&last(), 1, &[5])])
	};
	let new = || set(&[(5, 1)]);
	assert!(goes_on(vec![scheduled(new(), 0)]).is_ok());
	// The earliest counts.
	assert!(goes_on(vec![scheduled(new(), 0), scheduled(set(&[(6, 1)]), 0)]).is_ok());
	let log = |log: ConsensusLog<u32>| DigestItem::Consensus(GRANDPA_ENGINE_ID, log.encode());
	let forced = || {
		log(ConsensusLog::ForcedChange(3, ScheduledChange { next_authorities: new(), delay: 0 }))
	};
	for logs in [vec![forced()], vec![scheduled(new(), 0), forced()]] {
		assert_eq!(goes_on(logs), Err(Refusal::Forced { number: 10 }));
	}
	let delayed = goes_on(vec![scheduled(new(), 4)]);
	assert_eq!(delayed, Err(Refusal::Delayed { number: 10, delay: 4 }));
	// What other engines say is nothing to GRANDPA, and what is unreadable is refused.
	let babe = DigestItem::Consensus(*b"BABE", vec![255]);
	assert_eq!(goes_on(vec![babe]), Err(Refusal::NoChange { number: 10 }));
	let garbage = DigestItem::Consensus(GRANDPA_ENGINE_ID, vec![255]);
	assert!(matches!(goes_on(vec![garbage]), Err(Refusal::Form(_))));
	assert_eq!(goes_on(vec![scheduled(vec![], 0)]), Err(Refusal::BadSet { set: 1 }));
	let heavy = set(&[(5, u64::MAX), (6, 1)]);
	assert_eq!(goes_on(vec![scheduled(heavy, 0)]), Err(Refusal::BadSet { set: 1 }));
}
