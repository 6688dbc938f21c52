//! What a swarm costs on chain: the real runtime takes so many peers in, lets each announce a model and pay
//! twelve tickets, as peers of the study do, and counts blocks, bytes, fees and what stays in the state.

use crate::scene::{Party, Scene, Side};
use codec::Encode;
use frame_support::traits::fungible::Mutate;
use serde::Serialize;
use sp_core::{ed25519, Pair};
use trainyard_program::spec::{FileRef, InitialModel, JobSpec, ON_CHAIN};
use trainyard_protocol::{
	blob::Chunked,
	federation::{self, PartData},
	job::Terms,
	model_file::Layout,
	swarm::{self, Averaging, Curve, Pace, Payer, Payment, Plan, Reward, Stages},
	Text, H256,
};
use trainyard_runtime::*;
use trainyard_sandbox::{signed, Chain, Key};

/// Payments of a peer: what one of the study sent, rounded up.
const PAYMENTS: u32 = 12;
/// Labels of a slice.
const LABELS: u32 = 1_000;

/// What one kind of call came to.
#[derive(Debug, Serialize)]
pub struct Calls {
	/// Which.
	name: &'static str,
	/// How many.
	count: u32,
	/// Bytes of one transaction.
	bytes: usize,
	/// Fee of one, in millionths of a TRY.
	fee: u128,
	/// Blocks in which all were taken.
	blocks: u32,
}

/// What a swarm of so many peers came to.
#[derive(Debug, Serialize)]
pub struct Costs {
	/// How many.
	pub peers: u32,
	/// Its calls.
	pub calls: Vec<Calls>,
	/// Entries and bytes of the pallet in the state.
	pub entries: usize,
	/// See [`Costs::entries`].
	pub bytes: usize,
}

fn on_chain(bytes: &[u8]) -> FileRef {
	let location = Text::new(ON_CHAIN).expect("it is short");
	FileRef { content_hash: Chunked::new(bytes).root, bytes: bytes.len() as u64, location }
}

fn trained() -> JobSpec {
	let mut spec = JobSpec::example();
	spec.training.steps = spec.training.checkpoint_interval;
	let data = &mut spec.dataset;
	(data.train_rows, data.validation_rows, data.validation_every) = (LABELS, LABELS, 2);
	spec
}

/// A development chain on which somebody opened a swarm.
fn opened() -> Chain {
	let mut scene = Scene::new();
	scene.verifiers(Side::Honest, 3, 500 * TRY);
	let opener: Party = scene.honest("opener");
	let layout = Layout::of(&trained().check().expect("it is valid"));
	let mut file = layout.header.clone();
	file.resize(layout.size as usize, 0);
	let model = crate::jobs::Model::new(&file);
	for call in std::iter::once(&model.register).chain(&model.uploads) {
		scene.call(&opener, call.clone()).expect("it is stored");
	}
	let pieces = federation::piece_values(&layout, &file).expect("it is whole");
	let parameters = federation::parameters(&layout, &pieces).expect("they are all");
	let initial = InitialModel { file: on_chain(&file), parameters };
	let slice = PartData {
		file: on_chain(b"rows"),
		labels: None,
		train_rows: LABELS,
		validation_rows: LABELS,
		rows: H256::repeat_byte(1),
	};
	let plan = Plan {
		reward: Reward {
			curve: Curve::Linear { factor: 100 * TRY },
			pace: Pace { first: 1_000, last: 1_000 },
			floor: 0,
			stake: 20 * TRY,
		},
		payer: Payer::Peers,
		averaging: Averaging::Pairs,
		most_per_peer: 0,
		claim_fee: TRY,
		slice_deposit: 20 * TRY,
		open_slices: false,
		private: true,
		max_peers: u32::MAX,
		stages: Stages { collect: 5, show: 20, count: 20, challenge: 20 },
		ticket_blocks: 100_000,
		end: 1_000_000,
		appeal: Terms {
			price_per_ut: 100 * TRY,
			replicas: 1,
			verifiers: 3,
			audit_segments: 1,
			audit_fee: TRY / 5,
			apply_blocks: 12,
			training_blocks: 100,
			machine: Default::default(),
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		},
		max_fee_per_ut: TRY,
	};
	let open = pallet_swarm::Call::open {
		template: Box::new(JobSpec { initial_model: Some(initial), ..trained() }),
		slices: vec![slice].try_into().expect("one"),
		plan,
		budget: 0,
	};
	scene.call(&opener, open).expect("it is opened");
	scene.chain
}

/// Lets everyone of `who` make a call, as many in a block as it takes.
fn all(
	chain: &mut Chain,
	name: &'static str,
	who: &[Key],
	call: impl Fn(usize, &Key) -> RuntimeCall,
) -> Calls {
	let free = |chain: &mut Chain, key: &Key| {
		let account = key.account();
		chain.state(|| {
			let held = frame_system::Account::<Runtime>::get(&account).data;
			held.free + held.reserved
		})
	};
	let last = who.len() - 1;
	let bytes = chain.state(|| signed(who[last].clone(), call(last, &who[last]))).encode().len();
	let before = free(chain, &who[last]);
	let (mut at, mut blocks) = (0, 0);
	while at < who.len() {
		chain.begin();
		blocks += 1;
		while let Some(key) = who.get(at) {
			match chain.apply(key.clone(), call(at, key)) {
				Ok(result) => result.expect("the call is right"),
				Err(_) => break,
			}
			at += 1;
		}
		chain.end();
		assert!(blocks <= who.len() as u32 + 10, "{name}: a block has no room for one");
	}
	// What a peer pays others is not its fee; nobody is paid by two kinds of calls at once.
	let fee = before.saturating_sub(free(chain, &who[last])) / MICROUNIT;
	Calls { name, count: who.len() as u32, bytes, fee, blocks }
}

/// Plays a swarm of so many peers.
pub fn cost(peers: u32) -> Costs {
	let mut chain = opened();
	let keys: Vec<Key> = (0..peers).map(|number| Key::numbered(1_000_000 + number)).collect();
	chain.state(|| {
		for key in &keys {
			Balances::mint_into(&key.account(), 100 * TRY).expect("it may be minted");
		}
	});
	let genesis = chain.state(|| System::block_hash(0));
	let location = Text::new(&format!("iroh://{}", "0".repeat(64))).expect("it is short");
	let joins = all(&mut chain, "join", &keys, |at, key| {
		let mut seed = [1; 32];
		seed[..4].copy_from_slice(&(at as u32).to_le_bytes());
		let pair = ed25519::Pair::from_seed(&seed);
		let digest = swarm::joining(&genesis, 0, &key.account());
		let (own, signature) = (H256(pair.public().0), pair.sign(&digest.0));
		let location = location.clone();
		pallet_swarm::Call::join { swarm: 0, key: own, signature, roles: 6, location }.into()
	});
	let announces = all(&mut chain, "announce", &keys, |at, _| {
		let root = H256::from_low_u64_be(at as u64 + 1);
		pallet_swarm::Call::announce { swarm: 0, root }.into()
	});
	let mut pays = all(&mut chain, "pay", &keys, |at, _| {
		let payment = |number: u32| Payment {
			to: keys[(at + 1 + number as usize % (keys.len() - 1)) % keys.len()].account(),
			amount: TRY / 1_000,
			ticket: H256::from_low_u64_be((at as u64) << 8 | u64::from(number)),
			expires: 10_000,
		};
		let payments: Vec<_> = (0..PAYMENTS).map(payment).collect();
		pallet_swarm::Call::pay { swarm: 0, payments: payments.try_into().expect("few") }.into()
	});
	// The last one was paid by others before it paid: its own twelve are no fee.
	pays.fee = chain.state(|| {
		let call = pallet_swarm::Call::<Runtime>::pay {
			swarm: 0,
			payments: vec![
				Payment {
					to: keys[0].account(),
					amount: TRY / 1_000,
					ticket: H256::zero(),
					expires: 10_000,
				};
				PAYMENTS as usize
			]
			.try_into()
			.expect("few"),
		};
		let transaction = signed(keys[0].clone(), call.into());
		let length = transaction.encode().len() as u32;
		TransactionPayment::query_info(transaction, length).partial_fee / MICROUNIT
	});
	trainyard_sandbox::books::check(&mut chain).expect("the books are right");
	let (entries, bytes) = chain.state(state);
	Costs { peers, calls: vec![joins, announces, pays], entries, bytes }
}

/// Returns entries and bytes of the pallet in the state, with their keys.
fn state() -> (usize, usize) {
	let prefix = sp_io::hashing::twox_128(b"Swarm");
	let (mut entries, mut bytes) = (0, 0);
	let mut key = prefix.to_vec();
	while let Some(next) = sp_io::storage::next_key(&key) {
		if !next.starts_with(&prefix) {
			break;
		}
		let value = frame_support::storage::unhashed::get_raw(&next).unwrap_or_default();
		entries += 1;
		bytes += next.len() + value.len();
		key = next;
	}
	(entries, bytes)
}

/// Prints the table of docs/swarm.md.
pub fn table(all: &[Costs]) {
	println!("| peers | call | calls | bytes of one | fee of one, TRY | blocks | entries of the state | bytes of the state | of a peer |");
	println!("|---|---|---|---|---|---|---|---|---|");
	for costs in all {
		for (row, calls) in costs.calls.iter().enumerate() {
			let Calls { name, count, bytes, fee, blocks } = calls;
			let fee = *fee as f64 / 1e6;
			let (peers, state) = match row {
				0 => {
					let (entries, bytes) = (costs.entries, costs.bytes);
					let each = bytes / costs.peers as usize;
					(costs.peers.to_string(), format!("{entries} | {bytes} | {each}"))
				}
				_ => (String::new(), " |  | ".into()),
			};
			println!("| {peers} | `{name}` | {count} | {bytes} | {fee:.4} | {blocks} | {state} |");
		}
	}
}
