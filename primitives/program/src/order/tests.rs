use super::*;
use crate::spec::Training;
use std::collections::{BTreeMap, BTreeSet};

/// The most rows that a specification can name, and the most of which `a b` has nearly `a` more.
const MANY: [u32; 2] = [u32::MAX, 65_535 * 65_536 + 1];

fn seed(byte: u8) -> H256 {
	H256::repeat_byte(byte)
}

fn whole(byte: u8, epoch: u32, rows: u32) -> Vec<u32> {
	Order::new(&seed(byte), epoch, rows).tabulate().rows(0..rows)
}

/// Positions over all of `0..rows`, both ends among them.
fn sample(rows: u32, count: u32) -> impl Iterator<Item = u32> {
	let of = move |i: u32| u64::from(i) * u64::from(rows - 1) / u64::from(count - 1);
	(0..count).map(move |i| of(i) as u32)
}

#[test]
fn every_row_once() {
	for rows in (0..=300).chain([1_438, 4_096, 9_973]) {
		let mut order = whole(9, 4, rows);
		order.sort_unstable();
		assert_eq!(order, (0..rows).collect::<Vec<_>>());
	}
}

#[test]
fn tables_change_nothing() {
	for rows in (0..40).chain([1_438, 100_000]) {
		let order = Order::new(&seed(3), 7, rows);
		let tabulated = order.tabulate();
		assert_eq!(tabulated.epoch(), 7);
		let positions = (0..=rows).step_by(1.max(rows as usize / 200));
		for position in positions.chain([rows, rows.saturating_add(1), u32::MAX]) {
			assert_eq!(order.at(position), tabulated.at(position));
			assert_eq!(order.at(position).is_some(), position < rows);
		}
		assert_eq!(tabulated.rows(0..u32::MAX).len(), rows as usize);
		let held: usize = tabulated.values.iter().map(Vec::len).sum();
		assert_eq!(table_bytes(rows), 4 * held as u64);
	}
}

/// Undoes what [`Order::at`] does.
fn position_of(order: &Order, row: u32) -> u32 {
	let [a, b] = order.extents.map(u64::from);
	let (mut x, mut y) = (u64::from(row) / b, u64::from(row) % b);
	loop {
		for round in (0..ROUNDS).rev() {
			let value = |v: u64| u64::from(order.value(round, v as u32));
			match round % 2 {
				0 => x = (x + a - value(y)) % a,
				_ => y = (y + b - value(x)) % b,
			}
		}
		let position = x * b + y;
		if position < u64::from(order.rows) {
			return position as u32;
		}
	}
}

#[test]
fn large_orders_can_be_undone() {
	for rows in [1_000_000, MANY[0], MANY[1]] {
		let order = Order::new(&seed(5), u32::MAX, rows);
		for position in sample(rows, 2_000) {
			let row = order.at(position).unwrap();
			assert!(row < rows);
			assert_eq!(position_of(&order, row), position);
		}
	}
	// The 2^32 values are walked from the last position, too.
	let order = Order::new(&seed(5), 0, u32::MAX);
	assert_eq!(order.at(u32::MAX), None);
	assert_eq!(order.extents, [65_536; 2]);
}

#[test]
fn extents_hold_all_rows_and_little_more() {
	let rows = (1..70_000).chain(MANY).chain(sample(u32::MAX, 1_000).skip(1));
	for rows in rows {
		let [a, b] = extents(rows).map(u64::from);
		let rows = u64::from(rows);
		assert!(a % 2 == 0 && a * a >= rows && (a - 2) * (a - 2) < rows);
		assert!(a <= 65_536 && b <= a && a * b >= rows && a * b - rows < a);
	}
	assert_eq!([0, 1, 2, 3, 5].map(extents), [[0, 0], [2, 1], [2, 1], [2, 2], [4, 2]]);
}

#[test]
fn epochs_and_seeds_differ() {
	assert_ne!(whole(1, 0, 100), whole(1, 1, 100));
	assert_ne!(whole(1, 0, 100), whole(2, 0, 100));
	assert_eq!(whole(1, 5, 100), whole(1, 5, 100));
}

/// Orders of 3 and 4 rows come from eight values of each of two bits: all of the 2^16 tables.
#[test]
fn tables_give_all_orders_nearly_as_often() {
	// The expected number of an order, and the most and fewest that there are.
	for (rows, fewest, most) in [(3, 10_880, 10_944), (4, 2_688, 2_752)] {
		let order = Order::new(&seed(0), 0, rows);
		let mut hits = BTreeMap::new();
		for tables in 0u32..1 << 16 {
			let value = |round: u32, v: u32| (tables >> (2 * round + v)) & 1;
			let rows: Vec<u32> = (0..rows).map(|p| order.walk(p, value).unwrap().0).collect();
			*hits.entry(rows).or_insert(0u32) += 1;
		}
		let (least, largest) = (hits.values().min().unwrap(), hits.values().max().unwrap());
		println!("{rows} rows: each of {} orders from {least} to {largest} tables", hits.len());
		assert_eq!((*least, *largest), (fewest, most));
		assert_eq!(hits.len() as u32, (1..=rows).product::<u32>());
	}
}

#[test]
fn small_orders_are_equally_likely() {
	for (rows, orders, epochs) in [(2, 2, 2_000), (3, 6, 6_000), (4, 24, 24_000)] {
		let mut hits = BTreeMap::new();
		for e in 0..epochs {
			*hits.entry(whole(1, e, rows)).or_insert(0u32) += 1;
		}
		// 1,000 expected of each, less or more by 1 % (the test above), standard deviation at most
		// 31: six of them.
		assert_eq!(hits.len(), orders);
		assert!(hits.values().all(|h| (804..=1_196).contains(h)), "{hits:?}");
	}
}

/// Every pair of neighbouring positions has every pair of rows as often.
#[test]
fn pairs_are_equally_likely() {
	const EPOCHS: u32 = 9_000;
	for rows in 8u32..=12 {
		let mut hits = BTreeMap::new();
		for e in 0..EPOCHS {
			let order = whole(2, e, rows);
			for (position, pair) in order.windows(2).enumerate() {
				*hits.entry((position, pair[0], pair[1])).or_insert(0u32) += 1;
			}
		}
		let cells = (rows * (rows - 1)) as usize;
		assert_eq!(hits.len(), cells * (rows as usize - 1));
		// From 161 to 68 expected, the standard deviation is the root: six of them.
		let expected = f64::from(EPOCHS) / cells as f64;
		let largest = hits.values().map(|h| (f64::from(*h) - expected).abs()).fold(0.0, f64::max);
		let deviations = largest / expected.sqrt();
		println!("{rows} rows: pairs are at most {deviations:.1} standard deviations off");
		assert!(deviations < 6.0);
	}
}

/// Rows that stand beside each other in the file do not stay together, and an order does not look
/// like the file or like the order before it.
#[test]
fn neighbours_do_not_stay_neighbours() {
	const ROWS: u32 = 1_438;
	const EPOCHS: u32 = 300;
	let n = f64::from(ROWS);
	let mut neighbours = 0u32;
	let mut sums = [0.0; 4];
	let mut before: Vec<u32> = (0..ROWS).collect();
	for e in 0..EPOCHS {
		let order = whole(7, e, ROWS);
		let apart = order.windows(2).map(|pair| pair[0].abs_diff(pair[1]));
		neighbours += apart.clone().filter(|d| *d == 1).count() as u32;
		let middle = (n - 1.0) / 2.0;
		let covariance = |u: &mut dyn Iterator<Item = (u32, u32)>| {
			let sum: f64 = u.map(|(a, b)| (f64::from(a) - middle) * (f64::from(b) - middle)).sum();
			// Divided by the sum of squares of 0..n around their middle.
			sum / (n * (n * n - 1.0) / 12.0)
		};
		sums[0] += covariance(&mut (0..ROWS).zip(order.iter().copied()));
		sums[1] += covariance(&mut before.iter().copied().zip(order.iter().copied()));
		sums[2] += covariance(&mut order.iter().copied().zip(order.iter().copied().skip(1)));
		sums[3] += apart.map(f64::from).sum::<f64>() / (n - 1.0);
		before = order;
	}
	let means = sums.map(|sum| sum / f64::from(EPOCHS));
	println!(
		"{neighbours} of about 600 pairs are neighbours in the file; correlation of position and \
		 row {:.4}, with the epoch before {:.4}, of rows that follow each other {:.4}; they are {:.1} \
		 apart",
		means[0], means[1], means[2], means[3]
	);
	// n - 1 pairs, each with probability 2 / n: 599.6 expected, standard deviation 24.5. Of a
	// correlation it is 1 / sqrt(n - 1) = 0.0264, of the mean of 300 of them 0.0015; of rows that
	// follow each other 1 / n less than 0. All six of them.
	assert!((453..=746).contains(&neighbours));
	assert!(means[..3].iter().all(|mean| mean.abs() < 0.0098));
	// (n + 1) / 3 = 479.7 expected. A distance has a standard deviation of n / sqrt(18) = 339; of
	// 431,100, nearly independent, the mean has one of 0.52: six of them.
	assert!((means[3] - (n + 1.0) / 3.0).abs() < 3.1);
}

/// The probability that a random permutation of `ab` values takes more than `w` passes for one of
/// the `rows` positions, for `w` from 0.
fn more_passes(rows: u32) -> impl Iterator<Item = f64> {
	let [a, b] = extents(rows).map(f64::from);
	let (values, beyond) = (a * b, a * b - f64::from(rows));
	// No more than `beyond` values are no rows.
	let share = move |w: u32| (beyond - f64::from(w)).max(0.0) / (values - f64::from(w)).max(1.0);
	(0..).scan(1.0, move |product, w| {
		let this = *product;
		*product *= share(w);
		Some(this)
	})
}

/// Positions that took more than `w` passes, and how many random permutations would have.
fn passes(orders: impl Iterator<Item = (Order, Vec<u32>)>) -> Vec<(u32, f64)> {
	let mut found = vec![(0, 0.0); 40];
	for (order, positions) in orders {
		let [a, b] = order.extents.map(u64::from);
		let most = a * b - u64::from(order.rows) + 1;
		let tabulated = (positions.len() > 100).then(|| order.tabulate());
		for position in &positions {
			let (_, passes) = match &tabulated {
				Some(t) => order.walk(*position, |r, v| t.values[r as usize][v as usize]),
				None => order.walk(*position, |r, v| order.value(r, v)),
			}
			.unwrap();
			assert!(u64::from(passes) <= most);
			for (count, _) in &mut found[..passes as usize] {
				*count += 1;
			}
		}
		for ((_, expected), share) in found.iter_mut().zip(more_passes(order.rows)) {
			*expected += share * positions.len() as f64;
		}
	}
	found
}

/// The worst case of the walk, measured: `cargo test -p trainyard-program order -- --nocapture`.
#[test]
fn passes_are_as_many_as_of_a_random_permutation() {
	let all = |sizes: Vec<u32>, seeds: u8| {
		let seeds =
			(0..seeds).flat_map(move |byte| sizes.clone().into_iter().map(move |n| (byte, n)));
		seeds.map(|(byte, n)| (Order::new(&seed(byte), n, n), (0..n).collect()))
	};
	let large = MANY.map(|n| (Order::new(&seed(1), 1, n), sample(n, 50_000).collect()));
	// With the largest shares of values that are no rows.
	let worst: Vec<u32> = (4..=60).step_by(2).map(|a| a * (a - 3) + 1).collect();
	let counts = [
		("1 to 600 rows, 2 seeds", passes(all((1..=600).collect(), 2))),
		("a (a - 3) + 1 rows, 8 seeds", passes(all(worst, 8))),
		("1,438 rows, 100 seeds", passes(all(vec![1_438], 100))),
		("the most rows, 50,000 positions of each", passes(large.into_iter())),
	];
	for (of, found) in counts {
		println!("{of}: {} positions", found[0].0);
		for (w, (count, expected)) in found.iter().enumerate().skip(1) {
			if *count > 0 {
				println!("  more than {w} passes: {count}, of random permutations {expected:.1}");
			}
			// Six standard deviations, and six of a count that is hardly ever more than 0.
			let most = 6.0 * expected.sqrt() + 6.0;
			assert!((f64::from(*count) - expected).abs() <= most, "{of}: {w}");
		}
	}
}

/// Draws of a walk are those of eight rounds for each pass, and of one row they are few.
#[test]
fn a_row_takes_eight_draws_a_pass() {
	let order = Order::new(&seed(1), 3, 1_438);
	for position in 0..1_438 {
		let drawn = core::cell::RefCell::new(Vec::new());
		let (row, passes) = order
			.walk(position, |round, v| {
				drawn.borrow_mut().push((round, v));
				order.value(round, v)
			})
			.unwrap();
		let drawn = drawn.into_inner();
		assert_eq!(drawn.len() as u32, 8 * passes);
		assert_eq!(order.at(position), Some(row));
		// Nothing is drawn twice: the walk does not come to one value again.
		let firsts = drawn.chunks(8).collect::<BTreeSet<_>>();
		assert_eq!(firsts.len() as u32, passes);
	}
}

#[test]
fn short_batches_are_dropped() {
	let spec = JobSpec::example();
	assert_eq!(batches_per_epoch(&spec), 44);
	assert_eq!(place(&spec, 0), Place { epoch: 0, positions: 0..32 });
	assert_eq!(place(&spec, 43), Place { epoch: 0, positions: 1_376..1_408 });
	assert_eq!(place(&spec, 44), Place { epoch: 1, positions: 0..32 });
	let all = JobSpec { training: Training { batch_size: 1_438, ..spec.training.clone() }, ..spec };
	assert_eq!(place(&all, 3), Place { epoch: 3, positions: 0..1_438 });
}
