//! A deterministic task that is small enough to be computed here, and what replicas say of it.

use trainyard_task::{Claim, Ends, StateId, Trace};

/// `step` adds 3 to the four bytes that it is handed.
pub const COUNTER: &[u8] = &[
	0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // the head
	0x01, 0x0c, 0x02, 0x60, 0x01, 0x7f, 0x01, 0x7f, 0x60, 0x02, 0x7f, 0x7f, 0x01,
	0x7e, // types
	0x03, 0x03, 0x02, 0x00, 0x01, // two functions
	0x05, 0x03, 0x01, 0x00, 0x01, // a page of memory
	0x07, 0x19, 0x03, 0x06, b'm', b'e', b'm', b'o', b'r', b'y', 0x02, 0x00, // exports
	0x05, b'i', b'n', b'p', b'u', b't', 0x00, 0x00, 0x04, b's', b't', b'e', b'p', 0x00, 0x01, 0x0a,
	0x21, 0x02, 0x05, 0x00, 0x41, 0x80, 0x08, 0x0b, // input: 1024
	0x19, 0x00, 0x20, 0x00, 0x20, 0x00, 0x28, 0x02, 0x00, 0x41, 0x03, 0x6a, 0x36, 0x02, 0x00, 0x20,
	0x00, 0xad, 0x42, 0x20, 0x86, 0x20, 0x01, 0xad, 0x84, 0x0b,
];
/// The input of tasks: the counter begins with 10.
pub const INPUT: &[u8] = &[10, 0, 0, 0];

/// What somebody says, and the bytes of its output.
pub type Said = (Claim, Ends, Vec<u8>);

/// A run of the counter.
pub struct Run {
	/// Its states, the first of which is the input.
	pub states: Vec<[u8; 4]>,
	/// The trace of them.
	pub trace: Trace,
}

impl Run {
	/// Counts so many steps, with a lie at one of them or without.
	pub fn of(steps: u32, lie: Option<u32>) -> Self {
		let mut states = vec![[10, 0, 0, 0]];
		let mut now = 10u32;
		for number in 1..=steps {
			now += if Some(number) == lie { 4 } else { 3 };
			states.push(now.to_le_bytes());
		}
		let leaves = states.iter().map(|state| StateId::of(Ok(state)).leaf()).collect();
		let trace = Trace::of(leaves).expect("there is a step");
		Self { states, trace }
	}

	/// What a replica with this run says.
	pub fn said(&self) -> Said {
		let output = self.states.last().expect("there is the input");
		let (claim, ends) = self.trace.claim(StateId::of(Ok(output)));
		(claim, ends, output.to_vec())
	}
}
