//! How fast a state comes from this machine to itself: by HTTP, and over iroh from one source and from
//! several. Nothing but the processor limits it, so it says what the checks and the encryption cost.

use crate::{
	roles::{
		fetch::{Content, Fetcher, Locations, Wanted},
		http::{Endpoint, Server, Shelf},
	},
	table::{table, Align},
};
use anyhow::{ensure, Context};
use std::{
	collections::HashMap,
	net::SocketAddr,
	path::Path,
	process::ExitCode,
	time::{Duration, Instant},
};
use trainyard_engine::{Tensor32, TensorMap};
use trainyard_proof::bundle::{hash_of_state, manifest::checkpoint_file, tensors};
use trainyard_protocol::H256;
use trainyard_transport::{Node, Options, SecretKey};

/// Bytes of a tensor of the states that are sent.
const TENSOR: u64 = 4 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Transport {
	/// Lengths of the states (in MiB)
	#[arg(long, value_name = "MIB", value_delimiter = ',', default_values_t = [1, 16, 64, 256])]
	mib: Vec<u64>,
	/// How often each is fetched; the first time, for which the other side hashes it, is shown by itself
	#[arg(long, value_name = "N", default_value_t = 5)]
	rounds: usize,
	/// Sources beside one
	#[arg(long, value_name = "N", default_value_t = 3)]
	sources: usize,
}

impl Transport {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		ensure!(self.rounds >= 2, "--rounds: the first is shown by itself; give at least 2");
		ensure!((2..=8).contains(&self.sources), "--sources: 2 to 8");
		ensure!(self.mib.iter().all(|mib| (1..=4096).contains(mib)), "--mib: 1 to 4096");
		let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
		runtime.block_on(self.measure())?;
		Ok(ExitCode::SUCCESS)
	}

	async fn measure(&self) -> anyhow::Result<()> {
		let mut rows = Vec::new();
		for mib in &self.mib {
			let place = tempfile::tempdir().context("no place for the states")?;
			let name = checkpoint_file(1);
			let from = place.path().join("bundle").join(&name);
			std::fs::create_dir_all(from.parent().context("no folder")?)?;
			let bytes = a_state(*mib);
			let content = Content::State {
				hash: hash_of_state(&bytes).context("no state")?,
				limit: bytes.len() as u64,
			};
			std::fs::write(&from, &bytes)?;
			drop(bytes);
			let shelf = Shelf::default();
			let root = H256::repeat_byte(1);
			shelf.set(HashMap::from([(root, place.path().join("bundle"))]), HashMap::new());
			let here = SocketAddr::from(([127, 0, 0, 1], 0));
			let server = Server::start(here, shelf.clone()).await?;
			let mut endpoints = Vec::new();
			let mut bases = Vec::new();
			for _ in 0..self.sources {
				let options = Options { listen: Some(here), ..Options::new(SecretKey::generate()) };
				let endpoint = Endpoint::start(Node::bind(options).await?, shelf.clone());
				bases.push(endpoint.location(endpoint.sockets()).to_string());
				endpoints.push(endpoint);
			}
			let url = |base: &str| format!("{base}/bundle/{}/{name}", hex::encode(root));
			let http = url(&format!("http://{}", server.address()));
			let iroh: Vec<String> = bases.iter().map(|base| url(base)).collect();
			let to = place.path().join("copy");
			let several = format!("iroh, {} sources", iroh.len());
			let ways: [(&str, &[String]); 3] = [
				("HTTP", std::slice::from_ref(&http)),
				("iroh, 1 source", iroh.get(..1).unwrap_or_default()),
				(&several, &iroh),
			];
			for (how, urls) in ways {
				rows.push(self.fetches(how, urls, content, &to, *mib).await?);
			}
		}
		let head = [
			("state", Align::Right),
			("how", Align::Left),
			("first", Align::Right),
			("median", Align::Right),
			("rate", Align::Right),
		];
		print!("{}", table(&head, &rows));
		Ok(())
	}

	/// Fetches a state several times, and returns a row of the table.
	async fn fetches(
		&self,
		how: &str,
		urls: &[String],
		content: Content,
		to: &Path,
		mib: u64,
	) -> anyhow::Result<Vec<String>> {
		let fetcher = Fetcher::new(1, Duration::ZERO, Locations::Any)?;
		let (url, others) = urls.split_first().context("nobody is asked")?;
		let mut times = Vec::new();
		for _ in 0..self.rounds {
			let begun = Instant::now();
			fetcher.fetch_from(&Wanted { url, path: to, content }, others).await?;
			times.push(begun.elapsed().as_secs_f64());
			std::fs::remove_file(to)?;
		}
		let first = times.remove(0);
		times.sort_by(f64::total_cmp);
		let median = times.get(times.len() / 2).copied().unwrap_or(first);
		let rate = (mib << 20) as f64 / median / 1e6;
		Ok(vec![
			format!("{mib} MiB"),
			how.to_owned(),
			format!("{first:.3} s"),
			format!("{median:.3} s"),
			format!("{rate:.0} MB/s"),
		])
	}
}

/// Returns the bytes of a state of so many MiB, in tensors of 4 MiB.
fn a_state(mib: u64) -> Vec<u8> {
	let count = (mib << 20).div_ceil(TENSOR);
	let tensor = |n: u64| {
		let floats = (mib << 20).saturating_sub(n * TENSOR).min(TENSOR) / 4;
		let data = (0..floats).map(|i| (n * 7 + i) as f32 * 0.5).collect();
		let name = format!("layers.{n:04}.weight");
		(name, Tensor32 { shape: vec![u32::try_from(floats).unwrap_or(u32::MAX)], data })
	};
	let state: TensorMap = (0..count).map(tensor).collect();
	tensors::encode(&state)
}
