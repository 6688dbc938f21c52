//! `trainyard certificate JOB`: collects what the chain has of a finished job, with the proofs of it.

use super::{super::certificate::describe, connect, print_json};
use crate::args::NodeArgs;
use anyhow::{bail, Context};
use codec::{Decode, Encode};
use primitive_types::H256;
use serde::Deserialize;
use serde_json::{json, Value};
use std::{
	io::Write,
	path::{Path, PathBuf},
	process::ExitCode,
	time::{Duration, Instant},
};
use subxt::rpcs::client::rpc_params;
use tracing::info;
use trainyard_certificate::{
	self as certificate,
	finality::{announces, authorities_key},
	keys::Key,
	records,
	trie::{GenesisState, Proof},
	Bytes, Evidence, Genesis, Header, Link, Refusal,
};
use trainyard_client::Chain;
use trainyard_proof::bundle::files;
use trainyard_protocol::{
	job::{BlockNumber, JobState},
	JobId,
};

/// For how long it is waited for the end of a job to be final.
const PATIENCE: Duration = Duration::from_secs(600);
/// Between two looks at that.
const PAUSE: Duration = Duration::from_secs(2);
/// For how long a node may build its specification, for which it executes the runtime, and how long the next
/// final block may take. The connection allows no more.
const LONG: Duration = Duration::from_secs(60);
/// After so many authority sets a line says how far it is.
const SETS_A_LINE: usize = 100;
/// Longest chain specification that is read, in bytes.
const MAX_SPECIFICATION: u64 = 256 << 20;

/// Options of `trainyard certificate`.
#[derive(Debug, clap::Args)]
pub struct Certificate {
	/// Number of a job that has ended
	#[arg(value_name = "JOB")]
	job: JobId,
	/// Where the certificate is written; job-JOB.certificate.json without it. No file is replaced
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	/// The raw chain specification (JSON), for the first authorities: only where the node has neither the
	/// state of genesis any more nor its own specification
	#[arg(long, value_name = "FILE")]
	chain: Option<PathBuf>,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// An answer of `state_getReadProof`.
#[derive(Deserialize)]
struct ReadProof {
	proof: Vec<Bytes>,
}

/// Asks a node for parts of a certificate.
struct Collector<'a> {
	chain: &'a Chain,
	/// The last block of each authority set so far, and at last another one.
	links: Vec<Link>,
	/// Whether the last of them announces another set.
	hands_over: bool,
	/// The first block that none of them covers.
	next: BlockNumber,
}

impl Collector<'_> {
	async fn header(&self, hash: &H256) -> anyhow::Result<Header> {
		let found: Option<Header> = self.chain.rpc("chain_getHeader", rpc_params![hash]).await?;
		let header = found.with_context(|| format!("the node does not have block {hash:?}"))?;
		if header.hash() != *hash {
			bail!("the node gave another header than that of block {hash:?}");
		}
		Ok(header)
	}

	async fn proof(
		&self,
		keys: &[Key],
		at: &H256,
	) -> Result<Vec<Bytes>, trainyard_client::ChainError> {
		let keys: Vec<Bytes> = keys.iter().map(|key| Bytes(key.bytes.clone())).collect();
		let read: ReadProof = self.chain.rpc("state_getReadProof", rpc_params![keys, at]).await?;
		Ok(read.proof)
	}

	/// Proves the first authorities: from the state of genesis where the node has it, or from the chain
	/// specification, which holds that state.
	async fn genesis(&self, specification: Option<&Path>) -> anyhow::Result<Genesis> {
		let header = self.header(&self.chain.genesis()).await?;
		let keys = [authorities_key()];
		let state = match specification {
			Some(path) => Some(state_of_file(path)?),
			None => match self.proof(&keys, &self.chain.genesis()).await {
				Ok(authorities) => {
					return Ok(Genesis { header: Bytes(header.encode()), authorities })
				}
				Err(error) if error.is_connection() => return Err(error.into()),
				Err(error) => {
					info!("the node has no state of genesis any more ({error}): it is built from the chain specification");
					let method = "sync_state_genSyncSpec";
					let specification = self.chain.slow_rpc(LONG, method, rpc_params![true]).await;
					let specification: Value = specification.context(
						"the node has neither the state of genesis nor its chain specification. Name the \
						 raw specification with --chain FILE",
					)?;
					Some(GenesisState::of_specification(&specification)?)
				}
			},
		};
		let state = state.context("there is no state of genesis")?;
		if state.root() != header.state_root {
			bail!(
				"the chain specification is of another chain: its genesis has the state {:?}, and that of \
				 this chain is {:?}",
				state.root(),
				header.state_root
			);
		}
		Ok(Genesis { header: Bytes(header.encode()), authorities: state.prove(&keys)? })
	}

	async fn final_height(&self) -> anyhow::Result<BlockNumber> {
		let hash: H256 = self.chain.rpc("chain_getFinalizedHead", rpc_params![]).await?;
		Ok(self.header(&hash).await?.number)
	}

	/// Waits for what the present authority set makes final next. Returns the block's hash and its
	/// justification.
	async fn present(&self) -> anyhow::Result<(H256, Bytes)> {
		let (subscribe, unsubscribe) =
			("grandpa_subscribeJustifications", "grandpa_unsubscribeJustifications");
		let justification: Bytes = self.chain.first_of(LONG, subscribe, unsubscribe).await?;
		// It begins with the round and the hash of its block.
		let (_, hash) = <(u64, H256)>::decode(&mut &justification.0[..])?;
		Ok((hash, justification))
	}

	/// Goes on with the chain of authority sets as far as there is something final.
	async fn follow(&mut self) -> anyhow::Result<()> {
		if !self.hands_over {
			self.links.pop();
		}
		while self.next <= self.final_height().await? {
			let method = "grandpa_proveFinality";
			let set = self.links.len();
			let lacks = || {
				format!(
					"the node cannot prove what authority set {set} made final. Ask a node that imported all \
					 blocks from genesis on: one that began with --sync warp lacks what is older"
				)
			};
			let proof = self.chain.rpc::<Option<Bytes>>(method, rpc_params![self.next]).await;
			let (hash, justification) = match proof {
				Ok(proof) => {
					let proof = proof.with_context(lacks)?;
					let (hash, justification, _) = <(H256, Vec<u8>, Vec<Header>)>::decode(
						&mut &proof.0[..],
					)
					.with_context(|| format!("cannot read the node's answer to {method}"))?;
					(hash, Bytes(justification))
				}
				Err(error) if error.is_connection() => return Err(error.into()),
				// So answers a node that knows of no set that ended. Where there was one, what it tells of the
				// present one is none of the first set.
				Err(error) => self.present().await.map_err(|_| error).with_context(lacks)?,
			};
			let header = self.header(&hash).await?;
			if header.number < self.next {
				break;
			}
			self.hands_over = announces(&header);
			self.links.push(Link { header: Bytes(header.encode()), justification });
			if !self.hands_over {
				return Ok(());
			}
			self.next = header.number + 1;
			if self.links.len().is_multiple_of(SETS_A_LINE) {
				info!("{} authority sets, up to block {}", self.links.len(), header.number);
			}
		}
		Ok(())
	}

	/// Takes the chain of authority sets as far as it goes, and proves what is on record of a job in its last
	/// block. Fails where that says nothing that can be certified.
	async fn complete(&mut self, job: JobId, evidence: &mut Evidence) -> anyhow::Result<()> {
		self.follow().await?;
		evidence.finality = self.links.clone();
		let genesis = self.chain.genesis();
		let block = certificate::final_block(evidence, &genesis)
			.context("what the node says does not lead from genesis to a final block")?;
		let gone = || {
			format!(
				"the node does not have the state of block {} any more. Finality may stand still; a node \
				 with --state-pruning archive has it",
				block.number
			)
		};
		let what = "the records of the job";
		let first = self.proof(&records::first_keys(job), &block.hash).await.with_context(gone)?;
		let read = Proof::new(what, block.state_root, &first);
		let keys = records::all_keys(&|key: &Key| read.get(key), job, block.number)?;
		let all = self.proof(&keys, &block.hash).await.with_context(gone)?;
		// Without what is not needed to read them.
		let proof = Proof::new(what, block.state_root, &all);
		records::Records::read(&|key: &Key| proof.get(key), job, block.number)?;
		evidence.storage = proof.needed();
		certificate::prove(evidence, &genesis, job)?;
		Ok(())
	}
}

fn state_of_file(path: &Path) -> anyhow::Result<GenesisState> {
	let bytes = files::read(path, MAX_SPECIFICATION)?;
	let specification: Value =
		serde_json::from_slice(&bytes).with_context(|| format!("{} is no JSON", path.display()))?;
	GenesisState::of_specification(&specification).with_context(|| path.display().to_string())
}

/// Returns whether this passes when more is final.
fn is_not_final_yet(error: &anyhow::Error) -> bool {
	let refusal = error.downcast_ref::<Refusal>();
	matches!(
		refusal,
		Some(Refusal::NotEnded { .. } | Refusal::NoJob { .. } | Refusal::NoFinalBlock)
	)
}

/// Writes a file that was not there, whole or not at all.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
	let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
	let folder = folder.unwrap_or(Path::new("."));
	let mut builder = tempfile::Builder::new();
	// Temporary files are private, and a certificate is for others.
	#[cfg(unix)]
	builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
	let written = builder.tempfile_in(folder).and_then(|mut file| {
		file.write_all(text.as_bytes())?;
		file.as_file().sync_all()?;
		Ok(file)
	});
	let file = written.with_context(|| format!("cannot write to {}", folder.display()))?;
	let kept = file.persist_noclobber(path);
	kept.with_context(|| format!("cannot write {}: is it there already?", path.display()))?;
	Ok(())
}

impl Certificate {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let id = self.job;
		let out = self.out.unwrap_or_else(|| format!("job-{id}.certificate.json").into());
		if out.exists() {
			bail!("{} is there already. Name another file with --out", out.display());
		}
		let chain = connect(&self.node).await?;
		let Some(job) = chain.job(id).await? else {
			bail!(
				"job {id} is not on record: it was never posted, or its records were removed, which happens a month after its end. A certificate must be made before: the chain does not have what it \
				 needs any more"
			)
		};
		if !matches!(job.state, JobState::Ended(_)) {
			bail!(
				"job {id} has not ended: it is {}",
				json!(job.state).as_str().unwrap_or_default()
			);
		}
		let genesis = chain.genesis();
		let mut collector = Collector { chain: &chain, links: vec![], hands_over: false, next: 1 };
		let mut evidence = Evidence {
			genesis: collector.genesis(self.chain.as_deref()).await?,
			finality: vec![],
			storage: vec![],
		};
		let begun = Instant::now();
		let mut waits = false;
		loop {
			match collector.complete(id, &mut evidence).await {
				Ok(()) => break,
				Err(error) if is_not_final_yet(&error) && begun.elapsed() < PATIENCE => {
					if !std::mem::replace(&mut waits, true) {
						info!("waiting until the end of job {id} is final");
					}
					tokio::time::sleep(PAUSE).await;
				}
				Err(error) => return Err(error),
			}
		}
		let text = certificate::write(&evidence, &genesis, id)?;
		// As whoever is given the file does.
		let statement = certificate::check(&text, &genesis, Some(id))?;
		write_new(&out, &text)?;
		if self.json {
			return print_json(&json!({
				"file": out,
				"bytes": text.len(),
				"genesis": genesis,
				"certificate": statement,
			}));
		}
		print!("{}", describe(&statement));
		println!(
			"\n{}: {} bytes. Whoever knows the chain by its genesis hash checks it:\n  trainyard verify \
			 --certificate {} --genesis {genesis:?}",
			out.display(),
			text.len(),
			out.display()
		);
		Ok(ExitCode::SUCCESS)
	}
}
