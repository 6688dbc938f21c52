//! A process that computes for a crew.

use super::wire::{self, Channel, Kind, Secret, Task, WireError, TASK};
use codec::{Decode, DecodeAll};
use std::{
	net::{TcpStream, ToSocketAddrs},
	time::{Duration, Instant},
};
use trainyard_engine::{
	ranks::{Node, Rows},
	EngineError, Ranks, State,
};
use trainyard_program::H256;

/// Pause between two attempts to reach the crew.
const PAUSE: Duration = Duration::from_millis(200);
/// Most bytes of a message before there is a job.
const FIRST: u64 = wire::JOB;

/// What a worker has of the present training.
struct Training {
	ranks: Ranks,
	seed: H256,
	parameters: Option<State>,
}

impl Training {
	fn of(content: &[u8]) -> Result<Self, String> {
		let job = wire::Job::decode_all(&mut &*content)
			.map_err(|e| format!("the specification cannot be read: {e}"))?;
		let spec = job.spec.check().map_err(|e| e.to_string())?;
		let ranks = Ranks::new(&spec, job.ranks).map_err(|e| e.to_string())?;
		Ok(Self { ranks, seed: job.seed, parameters: None })
	}

	/// Returns the most bytes of a message that can belong to it.
	fn longest(&self) -> u64 {
		let ranks = &self.ranks;
		let (inputs, labels) = ranks.row_lens(ranks.count() as usize);
		let most = (ranks.parameters_len() as u64).max(inputs as u64 + labels as u64);
		most.saturating_mul(4).saturating_add(wire::SHORT).max(FIRST)
	}

	fn take(&mut self, content: &[u8]) -> Result<(), EngineError> {
		self.parameters = Some(self.ranks.parameters_from(&wire::numbers(content))?);
		Ok(())
	}

	fn compute(&self, content: &[u8]) -> Result<Vec<f32>, String> {
		let (task, rows) = content.split_at_checked(TASK).ok_or("there is no task")?;
		let Task { step, level, index } =
			Task::decode(&mut &*task).map_err(|e| format!("the task cannot be read: {e}"))?;
		let node = Node { level, index };
		let (inputs, _) = self.ranks.row_lens(node.ranks(self.ranks.count()).len());
		let (x, y) = rows.split_at_checked(inputs * 4).ok_or("there are fewer inputs")?;
		let rows = Rows { features: wire::numbers(x), labels: wire::labels(y) };
		let parameters = self.parameters.as_ref().ok_or("there are no parameters yet")?;
		let sum = self.ranks.sum(parameters, &self.seed, step, node, &rows);
		sum.map_err(|e| e.to_string())
	}
}

/// Computes what the crew on this connection asks for, until it closes it.
pub fn serve(stream: TcpStream, secret: &Secret) -> Result<(), WireError> {
	let mut channel = Channel::connect(stream, secret)?;
	let mut training: Option<Training> = None;
	loop {
		let limit = training.as_ref().map_or(FIRST, Training::longest);
		let Some((kind, content)) = channel.receive(limit)? else { return Ok(()) };
		let done = match (kind, &mut training) {
			(Kind::Job, _) => Training::of(&content).map(|begun| {
				training = Some(begun);
				None
			}),
			(Kind::Parameters, Some(training)) => {
				training.take(&content).map(|()| None).map_err(|e| e.to_string())
			}
			(Kind::Node, Some(training)) => training.compute(&content).map(Some),
			(Kind::Parameters | Kind::Node, None) => Err("there is no job yet".to_owned()),
			_ => return Err(WireError::Unknown("a crew says nothing like that")),
		};
		match done {
			Ok(None) => {}
			Ok(Some(sum)) => channel.send(Kind::Sum, &[wire::number_bytes(&sum)])?,
			Err(why) => {
				let shown: String = why.chars().take(1_000).collect();
				channel.send(Kind::No, &[shown.as_bytes()])?;
				return Err(WireError::Refused(why));
			}
		}
	}
}

/// Connects to the crew at this address, for so long at most, because it may begin later.
pub fn connect(address: &str, patience: Duration) -> Result<TcpStream, WireError> {
	let begun = Instant::now();
	loop {
		let connected = address.to_socket_addrs().and_then(|mut all| {
			let none = || std::io::Error::other(format!("{address} is no address"));
			all.next().ok_or_else(none).and_then(TcpStream::connect)
		});
		match connected {
			Ok(stream) => return Ok(stream),
			Err(e) if begun.elapsed() >= patience => return Err(e.into()),
			Err(_) => std::thread::sleep(PAUSE),
		}
	}
}
