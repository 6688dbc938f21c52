//! Passes bytes from one endpoint to another, and says by which ways and how fast: what
//! `tools/network/nat` runs behind NAT.
//!
//! ```sh
//! pass serve MIB [--relay URL] [--ca FILE] [--listen ADDRESS]     # prints where it is
//! pass fetch LOCATION MIB [--ca FILE] [--relays-only]             # prints JSON
//! pass relay CERTIFICATE KEY                                      # at the usual ports
//! ```

use std::{
	collections::HashMap,
	error::Error,
	fs::File,
	io::{self, Write},
	net::SocketAddr,
	path::PathBuf,
	sync::Arc,
	time::{Duration, Instant},
};
use trainyard_transport::{
	download,
	relay::{self, Tls},
	Index, Layout, Limits, Location, Node, Options, Pace, PartHash, SecretKey, Shelf, Source,
	Wanted,
};

type Failed = Box<dyn Error + Send + Sync>;

/// One file, in parts of 16 MiB.
struct One(PathBuf);

const PATH: &str = "/file";
const PART: u64 = 16 << 20;

impl Shelf for One {
	fn find(&self, path: &str) -> Option<PathBuf> {
		(path == PATH).then(|| self.0.clone())
	}

	fn layout(&self, _: &str, _: &File, bytes: u64) -> io::Result<Layout> {
		let parts = (0..bytes.div_ceil(PART)).map(|n| (bytes - n * PART).min(PART)).collect();
		Ok(Layout { head: 0, parts })
	}
}

/// The bytes that both sides know: nothing that compresses.
fn content(mib: u64) -> Vec<u8> {
	let mut bytes = vec![0; usize::try_from(mib << 20).unwrap_or(0)];
	blake3::Hasher::new().update(b"pass").finalize_xof().fill(&mut bytes);
	bytes
}

/// What follows an option on the command line, by its name; options without a value have an empty one.
fn options(arguments: &[String]) -> HashMap<String, String> {
	let named = arguments.iter().enumerate().filter(|(_, word)| word.starts_with("--"));
	named
		.map(|(at, name)| (name.clone(), arguments.get(at + 1).cloned().unwrap_or_default()))
		.collect()
}

async fn node(given: &HashMap<String, String>) -> Result<Node, Failed> {
	let mut options = Options::new(SecretKey::generate());
	options.relay = given.get("--relay").map(|url| url.parse()).transpose()?;
	options.listen = given.get("--listen").map(|address| address.parse()).transpose()?;
	options.authorities = given.get("--ca").map(PathBuf::from);
	options.relay_only = given.contains_key("--relays-only");
	Ok(Node::bind(options).await?)
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
	let arguments: Vec<String> = std::env::args().skip(1).collect();
	let given = options(&arguments);
	let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
	let folder = std::env::temp_dir().join(format!("pass-{}", std::process::id()));
	std::fs::create_dir_all(&folder)?;
	match words[..] {
		["serve", mib, ..] => {
			let path = folder.join("file");
			std::fs::write(&path, content(mib.parse()?))?;
			let node = node(&given).await?;
			let _serving = node.serve(Arc::new(One(path)), Limits::default());
			node.waits_at_relay().await;
			println!("{}", node.location(vec![]));
			io::stdout().flush()?;
			std::future::pending::<()>().await;
		}
		["fetch", location, mib, ..] => {
			let location: Location = location.parse()?;
			let bytes = content(mib.parse()?);
			let hashed =
				|part: &[u8]| PartHash { bytes: part.len() as u64, hash: blake3::hash(part) };
			let parts = bytes.chunks(PART as usize).map(hashed).collect();
			let expected = Index { head: Vec::new(), parts };
			let accept = |index: &Index| *index == expected;
			let node = node(&given).await?;
			let begun = Instant::now();
			drop(node.open(&location).await?);
			let connected = begun.elapsed();
			let first = node.ways_to(location.id).await;
			// Until a direct way is found, if there is one.
			tokio::time::sleep(Duration::from_secs(5)).await;
			let ways = node.ways_to(location.id).await;
			let sources = [Source { location: location.clone(), path: PATH.into() }];
			let part = folder.join("copy");
			let limit = bytes.len() as u64;
			let wanted = Wanted {
				part: &part,
				sources: &sources,
				limit,
				accept: &accept,
				pace: Pace::default(),
			};
			let begun = Instant::now();
			download(&node, &wanted).await?;
			let seconds = begun.elapsed().as_secs_f64();
			println!(
				"{{\"connected_seconds\":{:.3},\"first_way\":{first:?},\"ways\":{ways:?},\"after\":{:?},\
				 \"seconds\":{seconds:.3},\"megabytes_per_second\":{:.2}}}",
				connected.as_secs_f64(),
				node.ways_to(location.id).await,
				limit as f64 / seconds / 1e6,
			);
			std::fs::remove_dir_all(&folder)?;
		}
		["relay", certificate, key] => {
			let at = |port| SocketAddr::from(([0, 0, 0, 0], port));
			let (certificate, key) = (certificate.into(), key.into());
			let tls = Tls { listen: at(443), quic: at(relay::QUIC_PORT), certificate, key };
			let options = relay::Options { listen: at(80), tls: Some(tls), rate: None, only: None };
			let mut running = relay::start(options).await?;
			println!("relays");
			io::stdout().flush()?;
			return Err(running.ended().await.into());
		}
		_ => return Err("pass serve MIB … or pass fetch LOCATION MIB …".into()),
	}
	Ok(())
}
