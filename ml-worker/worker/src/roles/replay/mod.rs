//! Replays in processes of their own, each under a limit of memory.
//!
//! Strangers choose what a verifier computes: a layer may be so wide that no machine can hold it, and
//! an allocation that fails ends a process. So the daemon starts its own program with the hidden
//! command `replay` for whatever decodes data or computes with them. If that process dies, its result
//! cannot be had, and the daemon goes on.
//!
//! - [`Replayers`] starts the processes, as many at once as its [`Queue`] has places.
//! - `request` is what is asked and answered, `child` is the process.

mod child;
mod queue;
mod request;

pub use child::main as serve;
pub use queue::{Queue, Turn};
pub use request::{Figures, JobOf, Paths, Reply, Scale, Work};

use crate::roles::{
	machine::{Class, Lease, Machine, Need},
	tasks::{stopped, TaskError},
};
use request::Request;
use std::{
	path::PathBuf,
	process::{ExitStatus, Stdio},
	sync::atomic::AtomicBool,
};
use tokio::{
	io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader},
	process::{Child, Command},
};
use tracing::{debug, warn};
use trainyard_engine::Compute;
use trainyard_proof::{
	data::{available_memory, MEMORY_VARIABLE},
	inputs::InputPaths,
};
use trainyard_protocol::job::BlockNumber;

/// The hidden command of the program that such a process runs.
pub const COMMAND: &str = "replay";
const MIB: u64 = 1024 * 1024;
/// Memory that is assumed if the system does not report it.
const UNKNOWN_MEMORY: u64 = 2048 * MIB;
/// One part in this many of the memory is for a process that only decodes.
const DECODING: u64 = 4;
/// One part in this many of a process's memory is for decoded rows; more of them stay in their file.
const ROWS: u64 = 4;
/// The longest reply that is read.
const MAX_REPLY: u64 = 64 << 20;
/// Bytes of what a process wrote to its standard error that are kept for a report.
const TAIL: usize = 512;

/// Returns this program. On Linux it is the one that runs, though its file was replaced meanwhile: a
/// newer one may understand other requests.
fn own_program() -> std::io::Result<PathBuf> {
	let running = PathBuf::from("/proc/self/exe");
	match cfg!(target_os = "linux") && running.exists() {
		true => Ok(running),
		false => std::env::current_exe(),
	}
}

/// Returns the bytes of memory that a role may use: what was asked for in MiB, or else three quarters
/// of what is available now.
pub fn memory(mib: Option<u64>) -> u64 {
	let available = || available_memory().unwrap_or(UNKNOWN_MEMORY) / 4 * 3;
	mib.map_or_else(available, |mib| mib.saturating_mul(MIB))
}

/// Says why such a process gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
	/// Nobody waits for the answer any more.
	#[error("stopped before its end")]
	Stopped,
	/// It died.
	#[error("{0}")]
	Died(String),
	/// This machine failed: a file cannot be read, or the process cannot be started.
	#[error("{0}")]
	Failed(String),
}

impl From<ReplayError> for TaskError {
	fn from(error: ReplayError) -> Self {
		match error {
			ReplayError::Stopped => Self::Stopped,
			other => Self::failed(other.to_string()),
		}
	}
}

/// Starts processes that replay.
#[derive(Clone, Debug)]
pub struct Replayers {
	/// The program, and what it is started with.
	program: PathBuf,
	arguments: Vec<String>,
	/// Where they compute.
	device: Compute,
	/// Bytes for each process that replays, and for one that only decodes.
	memory: u64,
	decoding_memory: u64,
	/// Turns of replays.
	queue: Queue,
	/// Turns of what only decodes: data of one job must not keep another one's replay waiting.
	decoding: Queue,
	/// The machine that they compute on, and for which role.
	machine: (Machine, &'static str),
}

impl Replayers {
	/// Makes the processes of a role, `places` at once, which share `memory` bytes.
	pub fn new(memory: u64, places: usize) -> std::io::Result<Self> {
		Ok(Self {
			program: own_program()?,
			arguments: vec![COMMAND.to_owned()],
			device: Compute::chosen(),
			memory: memory / places.max(1) as u64,
			decoding_memory: memory / DECODING,
			queue: Queue::new(places),
			decoding: Queue::new(1),
			machine: Default::default(),
		})
	}

	/// Lets the processes compute on `machine`, for this role.
	pub fn on(self, machine: Machine, role: &'static str) -> Self {
		Self { machine: (machine, role), ..self }
	}

	/// Waits until `what` may be computed here, which must be done by `deadline`.
	pub async fn lease(&self, what: &str, deadline: BlockNumber) -> Lease {
		let class = match deadline {
			BlockNumber::MAX => Class::Watch,
			_ => Class::Duty,
		};
		let (machine, role) = &self.machine;
		machine.lease(role, what, Need::by(class, deadline), false).await
	}

	/// Lets processes do `work`, which must be done by `deadline`, when it is its turn. Once `stop` is
	/// set, or this is dropped, the process is killed.
	pub async fn run(
		&self,
		work: Work,
		deadline: BlockNumber,
		stop: &AtomicBool,
	) -> Result<Reply, ReplayError> {
		let (queue, memory) = match work {
			Work::Decode { .. } => (&self.decoding, self.decoding_memory),
			_ => (&self.queue, self.memory),
		};
		let answered = async {
			let _lease = match work {
				Work::Decode { .. } => Lease::default(),
				_ => self.lease(work.name(), deadline).await,
			};
			let _turn = queue.turn(deadline).await;
			match self.ask(work.clone(), memory, self.device).await {
				// The processor comes to the same bits, and a verdict that is missing costs money.
				Err(ReplayError::Failed(why)) if self.device != Compute::Cpu => {
					warn!("{why}. The processor replays in place of {}", self.device);
					self.ask(work, memory, Compute::Cpu).await
				}
				asked => asked,
			}
		};
		tokio::select! {
			reply = answered => reply,
			() = stopped(stop) => Err(ReplayError::Stopped),
		}
	}

	/// Returns these processes on the processor, in the same queue; `None` where they are there already.
	pub fn on_processor(&self) -> Option<Self> {
		let elsewhere = self.device != Compute::Cpu;
		elsewhere.then(|| Self { device: Compute::Cpu, ..self.clone() })
	}

	/// Decodes the data of a job, from the first of these places that has them. Returns where they
	/// were, or why they are no data of the job.
	pub async fn decode(
		&self,
		spec: Scale<trainyard_program::spec::JobSpec>,
		places: &[InputPaths],
		deadline: BlockNumber,
		stop: &AtomicBool,
	) -> Result<Result<InputPaths, String>, ReplayError> {
		let places = places.iter().cloned().map(Into::into).collect();
		match self.run(Work::Decode { spec, places }, deadline, stop).await? {
			Reply::Decoded(paths) => Ok(Ok(paths.into())),
			Reply::NoData(why) => Ok(Err(why)),
			other => Err(unexpected(&other)),
		}
	}

	async fn ask(&self, work: Work, memory: u64, device: Compute) -> Result<Reply, ReplayError> {
		let request = Request { device: device.to_string(), memory, work };
		let failed = |what: &str, e: &dyn std::fmt::Display| {
			ReplayError::Failed(format!("a process for replays {what}: {e}"))
		};
		let mut line = serde_json::to_vec(&request).map_err(|e| failed("cannot be asked", &e))?;
		line.push(b'\n');
		let mut child = self.start(memory).map_err(|e| failed("cannot be started", &e))?;
		let (Some(mut stdin), Some(stdout), Some(stderr)) =
			(child.stdin.take(), child.stdout.take(), child.stderr.take())
		else {
			return Err(failed("cannot be asked", &"it has no pipes"));
		};
		// Whatever is wrong with the request, the process says it; and a dead one has its status.
		if let Err(e) = stdin.write_all(&line).await {
			debug!("a process for replays takes no request: {e}");
		}
		let (reply, said, status) = tokio::join!(reply(stdout), tail(stderr), child.wait());
		// Until now: the process ends when its standard input does.
		drop(stdin);
		let status = status.map_err(|e| failed("cannot be waited for", &e))?;
		match reply {
			Some(Reply::Failed(why)) if status.success() => Err(ReplayError::Failed(why)),
			Some(reply) if status.success() => Ok(reply),
			_ => Err(ReplayError::Died(died(status, &said, memory))),
		}
	}

	fn start(&self, memory: u64) -> std::io::Result<Child> {
		let mut command = Command::new(&self.program);
		command
			.args(&self.arguments)
			.stdin(Stdio::piped())
			.stdout(Stdio::piped())
			.stderr(Stdio::piped())
			// What is reserved ahead counts as used.
			.env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
			// The end of what it writes says how it died, and not where.
			.env("RUST_BACKTRACE", "0")
			.kill_on_drop(true);
		#[cfg(unix)]
		command.arg0("trainyard");
		if std::env::var_os(MEMORY_VARIABLE).is_none() {
			command.env(MEMORY_VARIABLE, (memory / ROWS / MIB).to_string());
		}
		if let Some(threads) = self.machine.0.threads() {
			command.env("RAYON_NUM_THREADS", threads.to_string());
		}
		command.spawn()
	}
}

/// Returns the error of a reply to something that was not asked.
pub fn unexpected(reply: &Reply) -> ReplayError {
	ReplayError::Failed(format!("a process for replays answered something else: {reply:?}"))
}

/// Returns the reply, if there is one.
async fn reply(stdout: impl AsyncRead + Unpin) -> Option<Reply> {
	let mut lines = BufReader::new(stdout.take(MAX_REPLY)).lines();
	let mut found = None;
	while let Ok(Some(line)) = lines.next_line().await {
		match line.strip_prefix(child::MARK).map(serde_json::from_str) {
			Some(Ok(reply)) => found = Some(reply),
			Some(Err(e)) => debug!("a reply cannot be read: {e}"),
			None => {}
		}
	}
	found
}

/// Logs what a process writes, and returns the end of it.
async fn tail(stderr: impl AsyncRead + Unpin) -> String {
	let (mut reader, mut kept) = (BufReader::new(stderr), Vec::new());
	let mut piece = vec![0; 4096];
	while let Ok(n @ 1..) = reader.read(&mut piece).await {
		let text = String::from_utf8_lossy(&piece[..n]);
		debug!("replay: {}", text.trim_end());
		kept.extend_from_slice(&piece[..n]);
		let over = kept.len().saturating_sub(TAIL);
		kept.drain(..over);
	}
	String::from_utf8_lossy(&kept).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Describes how a process died.
fn died(status: ExitStatus, said: &str, memory: u64) -> String {
	let said = match said {
		"" => String::new(),
		said => format!(" ({said})"),
	};
	format!(
		"the process that replayed it died: {status}{said}. It may take {} MiB of memory, see \
		 --max-memory-mib",
		memory / MIB
	)
}

#[cfg(test)]
pub(crate) mod tests {
	use super::{request::TestWork, *};
	use std::{sync::Arc, time::Duration};

	impl Replayers {
		/// Processes of this test program, with that much memory.
		pub(crate) fn for_tests(memory: u64) -> Self {
			Self::through("the_process", memory)
		}

		/// Processes that die when they should audit.
		pub(crate) fn dying() -> Self {
			Self::through("the_process_that_dies", 1 << 30)
		}

		fn through(test: &str, memory: u64) -> Self {
			let test = &format!("roles::replay::tests::{test}");
			let arguments =
				[test, "--exact", "--ignored", "--nocapture", "--test-threads=1"].map(String::from);
			Self { arguments: arguments.to_vec(), ..Self::new(memory, 1).unwrap() }
		}
	}

	#[test]
	#[ignore = "it is a process that another test starts"]
	fn the_process_that_dies() {
		let _ = child::main_with(|work| match work {
			Work::Audit { .. } => panic!("this is too much for me"),
			other => child::answer(other),
		});
	}

	/// The process itself: this test program is started again with the name of this test.
	#[test]
	#[ignore = "it is the process that other tests start"]
	fn the_process() {
		let _ = serve();
	}

	pub(super) fn do_as_asked(work: TestWork) -> Result<Reply, String> {
		match work {
			TestWork::Take(bytes) => {
				let taken = vec![1u8; bytes];
				let sum: u64 = taken.iter().step_by(4096).map(|byte| u64::from(*byte)).sum();
				Err(format!("took {sum} pages"))
			}
			TestWork::Panic(text) => panic!("{text}"),
			TestWork::Wait(path) => {
				std::fs::write(path, std::process::id().to_string()).unwrap();
				loop {
					std::thread::park();
				}
			}
		}
	}

	async fn asked(memory: u64, work: TestWork) -> Result<Reply, ReplayError> {
		let never = AtomicBool::new(false);
		Replayers::for_tests(memory).run(Work::Test(work), 9, &never).await
	}

	/// The specification of an attack: a layer of 17 GB. The daemon must not fall with the process.
	#[cfg(target_os = "linux")]
	#[tokio::test]
	async fn a_process_that_wants_too_much_memory_dies_alone() {
		let within = asked(512 * MIB, TestWork::Take(100 << 20)).await.unwrap_err();
		assert!(
			matches!(&within, ReplayError::Failed(why) if why == "took 25600 pages"),
			"{within}"
		);
		let ReplayError::Died(how) = asked(512 * MIB, TestWork::Take(1 << 30)).await.unwrap_err()
		else {
			panic!("it was within its memory")
		};
		assert!(how.contains("memory allocation of 1073741824 bytes failed"), "{how}");
		assert!(how.contains("512 MiB") && how.contains("--max-memory-mib"), "{how}");
	}

	#[tokio::test]
	async fn a_panic_is_named_and_ends_nothing_else() {
		let ReplayError::Died(how) =
			asked(1 << 30, TestWork::Panic("oh dear".into())).await.unwrap_err()
		else {
			panic!("it did not panic")
		};
		assert!(how.contains("oh dear"), "{how}");
		let nowhere = Replayers { program: "/nowhere".into(), ..Replayers::for_tests(1 << 30) };
		let never = AtomicBool::new(false);
		let ended = nowhere.run(Work::Test(TestWork::Take(1)), 9, &never).await.unwrap_err();
		assert!(ended.to_string().contains("cannot be started"), "{ended}");
	}

	/// A GPU that is lost or disagrees must not make a verifier miss its verdicts.
	#[tokio::test]
	async fn what_a_gpu_fails_at_the_processor_does() {
		let folder = tempfile::tempdir().unwrap();
		let spec = trainyard_proof::testing::job(&trainyard_proof::testing::table(folder.path()));
		let places = [InputPaths::data(folder.path().join("table.csv"))];
		let never = AtomicBool::new(false);
		// There is no such GPU anywhere.
		let device = Compute::Cuda(999);
		let replayers = Replayers { device, ..Replayers::for_tests(1 << 30) };
		let decoded = replayers.decode(Scale(spec.spec().clone()), &places, 9, &never).await;
		assert_eq!(decoded.unwrap().unwrap(), places[0]);
	}

	/// Returns the number of the process that waits, once it does.
	async fn number(path: &std::path::Path) -> String {
		loop {
			match std::fs::read_to_string(path) {
				Ok(text) if !text.is_empty() => return text,
				_ => tokio::time::sleep(Duration::from_millis(5)).await,
			}
		}
	}

	/// Waits until no process has this number, not even one that is dead and not waited for.
	#[cfg(target_os = "linux")]
	async fn until_gone(number: &str) {
		while std::path::Path::new("/proc").join(number).exists() {
			tokio::time::sleep(Duration::from_millis(5)).await;
		}
	}

	#[cfg(target_os = "linux")]
	#[tokio::test]
	async fn whoever_stops_waiting_kills_it_and_leaves_no_zombie() {
		let folder = tempfile::tempdir().unwrap();
		let replayers = Replayers::for_tests(1 << 30);
		for stops in [true, false] {
			let path = folder.path().join(stops.to_string());
			let stop = Arc::new(AtomicBool::new(false));
			let task = tokio::spawn({
				let (replayers, stop, path) = (replayers.clone(), stop.clone(), path.clone());
				async move { replayers.run(Work::Test(TestWork::Wait(path)), 9, &stop).await }
			});
			let number = number(&path).await;
			match stops {
				true => {
					stop.store(true, std::sync::atomic::Ordering::Relaxed);
					assert!(matches!(task.await.unwrap(), Err(ReplayError::Stopped)));
				}
				false => task.abort(),
			}
			until_gone(&number).await;
		}
		// Its place is free again.
		let never = AtomicBool::new(false);
		let again = replayers.run(Work::Test(TestWork::Take(1)), 9, &never).await;
		assert!(matches!(again, Err(ReplayError::Failed(_))));
	}

	/// A daemon that is killed cannot kill anything; its standard input ends.
	#[cfg(target_os = "linux")]
	#[tokio::test]
	async fn a_process_without_its_daemon_ends() {
		let folder = tempfile::tempdir().unwrap();
		let path = folder.path().join("number");
		let mut child = Replayers::for_tests(1 << 30).start(1 << 30).unwrap();
		let work = Work::Test(TestWork::Wait(path.clone()));
		let request = Request { device: "cpu".into(), memory: 1 << 30, work };
		let mut stdin = child.stdin.take().unwrap();
		stdin
			.write_all(format!("{}\n", serde_json::to_string(&request).unwrap()).as_bytes())
			.await
			.unwrap();
		number(&path).await;
		drop(stdin);
		assert_eq!(child.wait().await.unwrap().code(), Some(3));
	}

	#[test]
	fn what_is_on_a_gpu_has_a_processor_to_ask() {
		let on = |device| Replayers { device, ..Replayers::for_tests(1 << 30) };
		assert_eq!(on(Compute::Cuda(0)).on_processor().map(|it| it.device), Some(Compute::Cpu));
		assert!(on(Compute::Cpu).on_processor().is_none());
	}

	#[test]
	fn memory_that_is_given_counts_and_otherwise_it_is_measured() {
		assert_eq!(memory(Some(3)), 3 * MIB);
		assert!(memory(None) > 0);
	}
}
