//! What a look at a job costs, with its specification and without. Prints; asserts no times:
//! `cargo test --release --workspace --locked looks:: -- --ignored --nocapture`.

use crate::{mock::*, Job, Jobs, Specs};
use codec::MaxEncodedLen;
use frame_support::BoundedVec;
use std::time::{Duration, Instant};
use trainyard_program::{
	spec::{Input, JobSpec, Layer, Model, MAX_LAYERS},
	text::MAX_TEXT,
};
use trainyard_protocol::Text;

/// A long specification: the longest location, and as many layers as there may be.
fn long() -> JobSpec {
	let mut spec = JobSpec::noisy_example();
	let mut location = b"http://".to_vec();
	location.resize(MAX_TEXT as usize, b'x');
	spec.dataset.location = Text(BoundedVec::truncate_from(location));
	let layer = Layer::Linear { outputs: spec.dataset.classes };
	let layers = BoundedVec::truncate_from(vec![layer; MAX_LAYERS as usize]);
	spec.model = Model::Layers { input: Input::Numbers, layers };
	spec
}

/// Least time of a hundred turns of a thousand.
fn least(mut once: impl FnMut()) -> Duration {
	let turn = |_| {
		let from = Instant::now();
		(0..1_000).for_each(|_| once());
		from.elapsed()
	};
	(0..100).map(turn).min().unwrap_or_default() / 1_000
}

#[test]
#[ignore = "prints times"]
fn a_look_with_and_without_the_specification() {
	new_test_ext().execute_with(|| {
		let id = post_spec(SUBMITTER, long(), terms(1));
		let job = Jobs::<Test>::get(id).unwrap();
		let look = least(|| Jobs::<Test>::insert(id, Jobs::<Test>::get(id).unwrap()));
		let spec = least(|| Specs::<Test>::insert(id, Specs::<Test>::get(id).unwrap()));
		println!(
			"a record of a job: {} bytes at most here, {} on a chain of 32-byte accounts; its \
			 specification: {} at most, {} here",
			Job::<AccountId>::max_encoded_len(),
			Job::<[u8; 32]>::max_encoded_len(),
			JobSpec::max_encoded_len(),
			codec::Encode::encoded_size(&Specs::<Test>::get(id).unwrap()),
		);
		println!(
			"read and written natively, in memory: record {look:?} ({} bytes), specification \
			 {spec:?}; with it {:.2} times the record alone",
			codec::Encode::encoded_size(&job),
			(look + spec).as_secs_f64() / look.as_secs_f64(),
		);
	});
}
