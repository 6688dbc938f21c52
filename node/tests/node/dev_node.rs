//! Starts the real binary as a development chain and talks to it as a client would.

use crate::has_chain;
use serde_json::{json, Value};
use std::{
	fs::File,
	io::{Read, Write},
	net::{TcpListener, TcpStream},
	path::{Path, PathBuf},
	process::{Child, Command, Stdio},
	time::{Duration, Instant},
};

/// Nothing here asserts a time; this only bounds how long a broken node is waited for.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// A temporary directory, removed at the end.
pub struct TempDir(pub PathBuf);

impl TempDir {
	pub fn new(name: &str) -> Self {
		let path = std::env::temp_dir().join(format!("trainyard-{name}-{}", std::process::id()));
		std::fs::create_dir_all(&path).unwrap();
		Self(path)
	}
}

impl Drop for TempDir {
	fn drop(&mut self) {
		let _ = std::fs::remove_dir_all(&self.0);
	}
}

/// A running node; stopped when dropped.
pub struct Node {
	process: Child,
	rpc_port: u16,
	log: PathBuf,
}

impl Node {
	fn start(base: &Path, rpc_port: u16, log: &str) -> Self {
		Self::start_with(base, rpc_port, log, &["--no-prometheus"])
	}

	/// A node with these options beside the usual ones.
	pub fn start_with(base: &Path, rpc_port: u16, log: &str, options: &[&str]) -> Self {
		let log = base.join(log);
		let process = command(base, rpc_port)
			.args(options)
			.stdout(Stdio::null())
			.stderr(File::create(&log).unwrap())
			.spawn()
			.expect("the node's binary starts");
		Self { process, rpc_port, log }
	}

	pub fn log(&self) -> String {
		std::fs::read_to_string(&self.log).unwrap_or_default()
	}

	/// The result of a JSON-RPC call, or its error object.
	fn try_call(&self, method: &str, params: Value) -> std::io::Result<Result<Value, Value>> {
		let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
		let body = body.to_string();
		let mut stream = TcpStream::connect(("127.0.0.1", self.rpc_port))?;
		stream.set_read_timeout(Some(PATIENCE))?;
		write!(
			stream,
			"POST / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
			 Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
			self.rpc_port,
			body.len(),
		)?;
		let mut answer = String::new();
		stream.read_to_string(&mut answer)?;
		let json = answer
			.split_once("\r\n\r\n")
			.and_then(|(_, body)| serde_json::from_str::<Value>(body).ok())
			.unwrap_or_else(|| panic!("{method} answered: {answer}"));
		Ok(match json.get("error") {
			Some(error) => Err(error.clone()),
			None => Ok(json["result"].clone()),
		})
	}

	fn call(&self, method: &str, params: Value) -> Value {
		self.try_call(method, params)
			.unwrap_or_else(|error| panic!("{method}: {error}\n{}", self.log()))
			.unwrap_or_else(|error| panic!("{method}: {error}\n{}", self.log()))
	}

	/// Height of the newest finalized block; `None` while the node does not answer yet.
	fn finalized(&self) -> Option<u64> {
		let hash = self.try_call("chain_getFinalizedHead", json!([])).ok()?.ok()?;
		let header = self.try_call("chain_getHeader", json!([hash])).ok()?.ok()?;
		height(&header)
	}

	fn best(&self) -> u64 {
		height(&self.call("chain_getHeader", json!([]))).unwrap()
	}

	/// Waits until block `target` is finalized.
	pub fn wait_finalized(&mut self, target: u64) -> u64 {
		let start = Instant::now();
		loop {
			if let Some(status) = self.process.try_wait().unwrap() {
				panic!("the node ended by itself with {status}\n{}", self.log());
			}
			match self.finalized() {
				Some(height) if height >= target => return height,
				_ if start.elapsed() > PATIENCE => {
					panic!("block {target} was not finalized\n{}", self.log())
				}
				_ => std::thread::sleep(Duration::from_millis(200)),
			}
		}
	}

	/// Waits until the chain itself knows that block `target` is final: authors say so in their blocks.
	fn wait_known(&self, target: u32) {
		let start = Instant::now();
		loop {
			// SCALE of a u32.
			let said = self.call("state_call", json!(["TrainyardApi_final_height", "0x"]));
			let said = said.as_str().and_then(|hex| u32::from_str_radix(&hex[2..], 16).ok());
			let known = said.expect("a u32").swap_bytes();
			assert!(u64::from(known) <= self.best());
			if known >= target {
				return;
			}
			assert!(start.elapsed() < PATIENCE, "the chain knows {known}\n{}", self.log());
			std::thread::sleep(Duration::from_millis(200));
		}
	}

	/// Asks the node to stop, and waits until it did.
	fn stop(mut self) {
		let pid = self.process.id().to_string();
		assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
		let start = Instant::now();
		while self.process.try_wait().unwrap().is_none() {
			assert!(start.elapsed() < PATIENCE, "the node did not stop\n{}", self.log());
			std::thread::sleep(Duration::from_millis(50));
		}
	}

	/// Ends the node without warning, as a power cut would.
	fn kill(mut self) {
		self.process.kill().unwrap();
		self.process.wait().unwrap();
	}
}

impl Drop for Node {
	fn drop(&mut self) {
		let _ = self.process.kill();
		let _ = self.process.wait();
	}
}

fn height(header: &Value) -> Option<u64> {
	u64::from_str_radix(header["number"].as_str()?.trim_start_matches("0x"), 16).ok()
}

fn binary() -> Command {
	Command::new(env!("CARGO_BIN_EXE_trainyard-node"))
}

fn command(base: &Path, rpc_port: u16) -> Command {
	let mut command = binary();
	command
		.arg("--dev")
		.arg("--base-path")
		.arg(base.join("chain"))
		.args(["--rpc-port", &rpc_port.to_string()])
		.args(["--port", "0", "--no-telemetry", "--no-mdns"])
		.stdin(Stdio::null());
	command
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
	TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_development_chain_runs_restarts_and_answers() {
	if !has_chain() {
		return;
	}
	let dir = TempDir::new("dev-node");
	let port = free_port();
	let mut node = Node::start(&dir.0, port, "first.log");
	node.wait_finalized(3);
	let genesis = node.call("chain_getBlockHash", json!([0]));

	// This is what every client asks first.
	assert_eq!(node.call("system_chain", json!([])), "Trainyard Development");
	assert_eq!(node.call("system_properties", json!([]))["tokenSymbol"], "TRY");
	assert_eq!(node.call("state_getRuntimeVersion", json!([]))["specName"], "trainyard");

	// The methods that this node adds.
	let methods = node.call("rpc_methods", json!([]));
	let methods: Vec<_> = methods["methods"].as_array().unwrap().iter().collect();
	for method in [
		"trainyard_job",
		"trainyard_dispute",
		"trainyard_disputes",
		"trainyard_blob",
		"trainyard_modelChunk",
		"babe_epochAuthorship",
		"grandpa_roundState",
		"payment_queryInfo",
		"system_accountNextIndex",
		"sync_state_genSyncSpec",
	] {
		assert!(methods.iter().any(|m| *m == method), "{method} is missing");
	}
	let root = format!("0x{}", "11".repeat(32));
	assert_eq!(node.call("trainyard_job", json!([0])), Value::Null);
	assert_eq!(node.call("trainyard_blob", json!([root])), Value::Null);
	assert_eq!(node.call("trainyard_modelChunk", json!([root, 0])), Value::Null);
	assert_eq!(node.call("trainyard_dispute", json!([0])), Value::Null);
	assert_eq!(node.call("trainyard_disputes", json!([0])), json!([]));
	let refused = node.try_call("trainyard_job", json!(["seven"])).unwrap();
	assert!(refused.is_err(), "a job number must be a number");
	// SCALE of a u32: the runtime API is there and speaks the protocol of this build.
	let version = node.call("state_call", json!(["TrainyardApi_protocol_version", "0x"]));
	let expected = trainyard_protocol::PROTOCOL_VERSION.swap_bytes();
	assert_eq!(version, format!("0x{expected:08x}"));
	// //Alice authors: she may claim every slot of the epoch, primary or secondary.
	let round = node.call("grandpa_roundState", json!([]));
	assert!(round["best"]["totalWeight"].as_u64().unwrap() >= 1, "{round}");

	// A second node on the same port says which port, and how to choose another.
	let other = TempDir::new("dev-node-second");
	let output = command(&other.0, port).arg("--no-prometheus").output().unwrap();
	let error = String::from_utf8_lossy(&output.stderr);
	assert!(!output.status.success());
	assert!(error.contains(&format!("JSON-RPC port {port} is already in use")), "{error}");
	assert!(error.contains("--rpc-port"), "{error}");

	node.wait_known(3);

	// Stopped and started again on the same directory, the chain goes on.
	let before = node.wait_finalized(4);
	node.stop();
	let info = on_the_chain(&dir.0, &["chain-info"]);
	let info: Value = serde_json::from_slice(&info).unwrap();
	assert_eq!(info["genesis_hash"], genesis);
	assert!(info["finalized_number"].as_u64().unwrap() >= before, "{info}");
	let mut node = Node::start(&dir.0, port, "second.log");
	node.wait_finalized(before + 1);
	assert_eq!(node.call("chain_getBlockHash", json!([0])), genesis);

	// Killed, too.
	let before = node.wait_finalized(before + 2);
	node.kill();
	let mut node = Node::start(&dir.0, port, "third.log");
	let after = node.wait_finalized(before + 1);
	assert!(after > before);
	assert_eq!(node.call("chain_getBlockHash", json!([0])), genesis);
	assert!(node.best() >= after);

	// The newest blocks can be taken back, and the whole chain removed.
	node.stop();
	on_the_chain(&dir.0, &["revert", "1"]);
	on_the_chain(&dir.0, &["purge-chain", "-y"]);
	let info: Value = serde_json::from_slice(&on_the_chain(&dir.0, &["chain-info"])).unwrap();
	assert_eq!(info["best_number"], 0);
}

/// What a command on the development chain under `base` prints.
fn on_the_chain(base: &Path, args: &[&str]) -> Vec<u8> {
	let output = binary()
		.args(args)
		.arg("--dev")
		.arg("--base-path")
		.arg(base.join("chain"))
		.stdin(Stdio::null())
		.output()
		.unwrap();
	assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
	output.stdout
}

#[test]
fn specifications_are_exported() {
	if !has_chain() {
		return;
	}
	let spec = binary().args(["export-chain-spec", "--chain", "dev"]).output().unwrap();
	assert!(spec.status.success(), "{}", String::from_utf8_lossy(&spec.stderr));
	let spec: Value = serde_json::from_slice(&spec.stdout).unwrap();
	assert_eq!(spec["id"], "trainyard_dev");
	assert_eq!(spec["properties"]["tokenDecimals"], 12);

	let raw = binary().args(["build-spec", "--chain", "local", "--raw"]).output().unwrap();
	assert!(raw.status.success(), "{}", String::from_utf8_lossy(&raw.stderr));
	let raw: Value = serde_json::from_slice(&raw.stdout).unwrap();
	assert!(raw["genesis"]["raw"]["top"]["0x3a636f6465"].is_string(), "the code is in it");
}

#[test]
fn mistakes_on_the_command_line_are_named() {
	let output = binary().args(["--chain", "no-such-chain"]).output().unwrap();
	let error = String::from_utf8_lossy(&output.stderr);
	assert!(!output.status.success());
	assert!(error.contains("no-such-chain"), "{error}");

	let output = binary().arg("--rpc-prot").output().unwrap();
	let error = String::from_utf8_lossy(&output.stderr);
	assert_eq!(output.status.code(), Some(2));
	assert!(error.contains("--rpc-prot"), "{error}");
}
