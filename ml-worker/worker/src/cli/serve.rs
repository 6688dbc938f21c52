//! `trainyard serve FILE…`: data of one's own jobs from this machine.

use crate::roles::{
	common::serving::{serve_by, IrohArgs, ServingError},
	fetch::Over,
	http::Shelf,
	run::stop_signal,
	store::{default_folder, Home},
};
use anyhow::{bail, Context};
use primitive_types::H256;
use serde_json::json;
use std::{collections::HashMap, net::SocketAddr, path::PathBuf, process::ExitCode};
use trainyard_proof::hash;
use trainyard_protocol::Text;

/// Options of `trainyard serve`.
#[derive(Debug, clap::Args)]
pub(super) struct ServeCommand {
	/// The files. Anybody can fetch them from now on until this program ends
	#[arg(value_name = "FILE", required = true)]
	files: Vec<PathBuf>,
	/// Address of the HTTP server, if there is one: without --iroh, or with --public-url
	#[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8640")]
	listen: SocketAddr,
	/// URL under which others reach that address
	#[arg(long, value_name = "URL")]
	public_url: Option<String>,
	#[command(flatten)]
	iroh: IrohArgs,
	/// Trust the certificates in this file (PEM), too, for the relay
	#[arg(long, value_name = "FILE")]
	iroh_relay_ca: Option<PathBuf>,
	/// Folder for the key by which others reach this machine over iroh: with the same key, the locations stay
	#[arg(long, value_name = "DIR")]
	dir: Option<PathBuf>,
	/// Print the files as a JSON list, in one line
	#[arg(long)]
	json: bool,
}

impl ServeCommand {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
		let result = runtime.block_on(self.serve());
		runtime.shutdown_background();
		result
	}

	async fn serve(self) -> anyhow::Result<ExitCode> {
		let dir = match self.dir {
			Some(dir) => dir,
			None => default_folder("serve", &"files")?,
		};
		let home = Home::open(&dir, &H256::zero())?;
		let mut found = Vec::new();
		for path in self.files {
			let path =
				path.canonicalize().with_context(|| format!("cannot read {}", path.display()))?;
			let (content_hash, bytes) =
				hash::file(&path).with_context(|| format!("cannot read {}", path.display()))?;
			found.push((path, content_hash, bytes));
		}
		let shelf = Shelf::default();
		let blobs = found.iter().map(|(path, hash, _)| (*hash, path.clone()));
		shelf.set(HashMap::new(), blobs.collect());
		let over = Over { authorities: self.iroh_relay_ca, relay_only: false };
		let at = (self.listen, self.public_url.as_deref());
		let served = serve_by::<ServingError>(at, (&self.iroh, over), &home, shelf).await?;
		let base = served.location.to_string_lossy();
		let mut lines = Vec::new();
		for (path, content_hash, bytes) in &found {
			let location = format!("{base}/blob/{}", hex::encode(content_hash));
			if Text::new(&location).is_none() {
				bail!("`{location}` is longer than a location may be: name fewer addresses, or shorter hosts");
			}
			lines.push(json!({
				"path": path,
				"content_hash": content_hash,
				"bytes": bytes,
				"location": location,
			}));
			if !self.json {
				println!("{}", path.display());
				println!("  content hash  {content_hash:?}");
				println!("  bytes         {bytes}");
				println!("  location      {location}");
			}
		}
		if self.json {
			println!("{}", serde_json::to_string(&lines)?);
		}
		eprintln!("serving until this is stopped (ctrl-c)");
		stop_signal().await;
		drop(served);
		Ok(ExitCode::SUCCESS)
	}
}
