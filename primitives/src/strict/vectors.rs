//! Checks the vectors of docs/strict-arithmetic.md, so that page and code cannot part.

use super::{dot, exec, exp, fma, from_nano, inverse_normal, log, max, sqrt, sum};
use crate::{
	bundle::{state_hash, Dtype, TensorDigest},
	init, lower,
	ops::{OpKind, Program, Role},
	order,
	philox::{philox4x32_10, symmetric, Stream, StreamName},
	spec::{JobSpec, Model, Optimizer},
	H256,
};
use sp_crypto_hashing::blake2_256;

const PAGE: &str = include_str!("../../../docs/strict-arithmetic.md");

fn hex32(text: &str) -> u32 {
	u32::from_str_radix(text, 16).unwrap()
}

fn decimal(text: &str) -> u64 {
	text.parse().unwrap()
}

fn seed(text: &str) -> H256 {
	H256::repeat_byte(u8::from_str_radix(text, 16).unwrap())
}

fn stream(name: &str, seed_byte: &str) -> Stream {
	let name = [StreamName::Init, StreamName::Shuffle].into_iter().find(|n| n.as_str() == name);
	Stream::new(&seed(seed_byte), name.unwrap())
}

fn x(i: u64) -> f32 {
	(((37 * i + 11) % 101) as f32 - 50.0) / 64.0
}

fn y(i: u64) -> f32 {
	(((53 * i + 29) % 97) as f32 - 48.0) / 3.0
}

fn numbers(args: &[&str]) -> Vec<f32> {
	args.iter().map(|a| f32::from_bits(hex32(a))).collect()
}

fn write(values: &[f32]) -> String {
	values.iter().map(|v| format!("{:08X}", v.to_bits())).collect::<Vec<_>>().join(" ")
}

fn words(values: &[u32]) -> String {
	values.iter().map(|v| format!("{v:08X}")).collect::<Vec<_>>().join(" ")
}

/// The softmax operator by itself.
fn log_softmax(row: &[f32]) -> Vec<f32> {
	let cols = row.len() as u32;
	let mut spec = JobSpec::example();
	spec.dataset.classes = cols;
	let full = lower::evaluation_of(&spec, 1);
	let (at, op) = full
		.ops
		.iter()
		.enumerate()
		.find_map(|(at, op)| match op.kind {
			OpKind::LogSoftmax { .. } => Some((at, op.clone())),
			_ => None,
		})
		.unwrap();
	// The list from there on, its logits given as a state.
	let mut program = Program { tensors: full.tensors.clone(), ops: vec![full.ops[at].clone()] };
	let OpKind::LogSoftmax { logits, .. } = op.kind else { unreachable!() };
	for tensor in &mut program.tensors {
		tensor.role = Role::Local;
	}
	program.tensors[logits as usize].role = Role::State;
	let name = program.tensors[logits as usize].name.clone();
	let state = exec::State::from([(name, row.to_vec())]);
	exec::run(&program, &[], &[], &state).unwrap().get(op.out).to_vec()
}

fn train(optimizer: &str, steps: u32) -> String {
	let mut spec = JobSpec::example();
	spec.dataset.features = 5;
	spec.dataset.classes = 3;
	spec.dataset.train_rows = 10;
	spec.dataset.validation_rows = 2;
	spec.model = Model::Mlp {
		hidden: vec![6].try_into().unwrap(),
		activation: crate::spec::Activation::Relu,
	};
	spec.training.steps = 50;
	spec.training.batch_size = 4;
	spec.training.checkpoint_interval = 50;
	spec.training.learning_rate_nano = 20_000_000;
	spec.training.weight_decay_nano = 10_000_000;
	spec.training.optimizer = match optimizer {
		"sgd" => Optimizer::Sgd { momentum_nano: 900_000_000 },
		"adamw" => {
			Optimizer::AdamW { beta1_nano: 900_000_000, beta2_nano: 999_000_000, epsilon_nano: 10 }
		}
		other => panic!("{other}"),
	};
	spec.validate().unwrap();
	let (seed, program) = (H256::repeat_byte(7), lower::training_step(&spec));
	let tensors = lower::state(&spec);
	let mut state: exec::State =
		tensors.iter().map(|t| (t.name.clone(), init::initial(&seed, t))).collect();
	let mut loss = None;
	for step in 0..steps {
		let place = order::place(&spec, step);
		let order = order::epoch(&seed, place.epoch, 10);
		let rows = &order[place.positions.start as usize..place.positions.end as usize];
		let features: Vec<f32> =
			rows.iter().flat_map(|r| (0..5).map(move |j| x(u64::from(5 * r + j)))).collect();
		let labels: Vec<u32> = rows.iter().map(|r| r % 3).collect();
		let values = exec::run(&program, &features, &labels, &state).unwrap();
		loss = Some(values.role(&program, Role::Loss)[0]);
		values.advance(&program, &mut state);
	}
	let digests = tensors.iter().map(|t| {
		let bytes: Vec<u8> = state[&t.name].iter().flat_map(|v| v.to_le_bytes()).collect();
		TensorDigest {
			name: t.name.clone(),
			dtype: Dtype::F32,
			shape: t.shape.clone(),
			content: blake2_256(&bytes).into(),
		}
	});
	let hash = hex::encode(state_hash(digests.collect()));
	match loss {
		Some(loss) => format!("{hash} {}", write(&[loss])),
		None => hash,
	}
}

fn compute(name: &str, args: &[&str]) -> String {
	let one = |f: fn(f32) -> f32| write(&[f(numbers(args)[0])]);
	match name {
		"philox" => {
			let w: Vec<u32> = args.iter().map(|a| hex32(a)).collect();
			words(&philox4x32_10([w[0], w[1], w[2], w[3]], [w[4], w[5]]))
		}
		"key" => words(&stream(args[0], args[1]).key()),
		"below" => {
			let (step, bound) = (decimal(args[2]) as u32, decimal(args[4]) as u32);
			stream(args[0], args[1]).below(step, decimal(args[3]), bound).to_string()
		}
		"symmetric" => write(&[symmetric(hex32(args[0]))]),
		"nano" => write(&[from_nano(decimal(args[0]))]),
		"fma" => {
			let n = numbers(args);
			write(&[fma(n[0], n[1], n[2])])
		}
		"exp" => one(exp),
		"log" => one(log),
		"sqrt" => one(sqrt),
		"inverse_normal" => one(inverse_normal),
		"dot" => {
			let n = decimal(args[0]);
			write(&[dot((0..n).map(x), (0..n).map(y))])
		}
		"sum" => {
			let terms: Vec<f32> = (0..decimal(args[0])).map(y).collect();
			write(&[sum(terms.into_iter())])
		}
		"max" => write(&[max(numbers(args).into_iter())]),
		"log_softmax" => write(&log_softmax(&numbers(args))),
		"scale" => write(&[init::scale(decimal(args[0]) as u32)]),
		"weights" => {
			let tensor = lower::StateTensor {
				name: String::new(),
				shape: vec![4],
				initial: lower::Initial::Weights {
					layer: decimal(args[1]) as u32,
					fan_in: decimal(args[2]) as u32,
				},
			};
			write(&init::initial(&seed(args[0]), &tensor))
		}
		"epoch" => {
			let (epoch, rows) = (decimal(args[1]) as u32, decimal(args[2]) as u32);
			let order = order::epoch(&seed(args[0]), epoch, rows);
			order.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
		}
		"train" => train(args[0], decimal(args[1]) as u32),
		other => panic!("the page has a vector of unknown kind {other}"),
	}
}

#[test]
fn the_page_tells_the_truth() {
	let block = PAGE.split("```vectors\n").nth(1).unwrap().split("```").next().unwrap();
	let (mut wrong, mut kinds) = (Vec::new(), std::collections::BTreeSet::new());
	for line in block.lines().filter(|line| !line.trim().is_empty()) {
		let (question, answer) = line.split_once('=').unwrap();
		let mut parts = question.split_whitespace();
		let name = parts.next().unwrap();
		let found = compute(name, &parts.collect::<Vec<_>>());
		kinds.insert(name);
		if found != answer.trim() {
			wrong.push(format!("{}= {found}", question));
		}
	}
	assert!(wrong.is_empty(), "these lines should be:\n{}", wrong.join("\n"));
	assert_eq!(kinds.len(), 18, "{kinds:?}");
}
