//! `trainyard model put`: stores a file on chain.

use super::{duration, encode, expiry, mib, parse_root, Bytes};
use crate::{
	args::{KeyArgs, NodeArgs},
	cli::chain::{print_json, sender},
	encoding::{self, Encoding},
};
use anyhow::{bail, Context};
use serde_json::json;
use std::{
	fs::File,
	io::{IsTerminal, Write},
	path::{Path, PathBuf},
	process::ExitCode,
	sync::Arc,
	time::{Duration, SystemTime, UNIX_EPOCH},
};
use trainyard_client::{
	amount,
	blobs::{self, Cost, Progress, Report, Settings, Source},
	keys::KeySource,
	BlobView, Chain, Transactor,
};
use trainyard_protocol::{blob, job::Balance, H256};
use trainyard_seal::PublicKey;

/// Options of `trainyard model put`.
#[derive(Debug, clap::Args)]
pub struct Put {
	/// The file
	#[arg(value_name = "FILE")]
	file: PathBuf,
	/// Encode it first, into a file beside it that stays, and store that
	#[arg(long, value_name = "ENCODING")]
	encode: Option<Encoding>,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Files with the secret URIs of further accounts, which send chunks beside the first and pay
	/// their fees; like --suri-file
	#[arg(long, value_name = "SURI-FILE", num_args = 1..)]
	senders: Vec<PathBuf>,
	/// Store it sealed: whoever has the secret key of this one reads it, and nobody else. `trainyard
	/// seal keygen` makes keys
	#[arg(long, value_name = "PUBLIC_KEY")]
	seal_for: Option<String>,
	/// Keep it for so many blocks from the last chunk on, a day to a year [default: a month]
	#[arg(long, value_name = "BLOCKS")]
	period: Option<u32>,
	/// Root of the file on chain that this one descends from: chunks that did not change are taken over from it
	/// without their bytes, and the chain remembers it as the parent where this run registers the file
	#[arg(long, value_name = "ROOT", value_parser = parse_root)]
	parent: Option<H256>,
	/// Only say what it would cost
	#[arg(long)]
	dry_run: bool,
	/// Store it without asking
	#[arg(long, short)]
	yes: bool,
	/// Be content when the best block has all chunks, and do not wait until a final one has
	#[arg(long)]
	no_wait_final: bool,
	/// Chunks on their way at once (in MiB)
	#[arg(long, value_name = "MIB", default_value_t = 12, value_parser = clap::value_parser!(u64).range(1..=1024))]
	window: u64,
	/// Give up when nothing moved for so long (in minutes)
	#[arg(long, value_name = "MINUTES", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
	patience: u64,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

impl Put {
	pub(super) async fn run(mut self) -> anyhow::Result<ExitCode> {
		if let Some(encoding) = self.encode {
			self.file = encoded(encoding, &self.file).await?;
		}
		// Read here: where it is a secret key, the command line would print it with its error.
		let seal_for = self.seal_for.as_deref().map(str::parse::<PublicKey>);
		let seal_for = seal_for.transpose().context("--seal-for")?;
		let source = match &seal_for {
			Some(key) => Source::open_sealed(&self.file, key).await,
			None => Source::open(&self.file).await,
		};
		let mut source =
			source.with_context(|| format!("cannot store {} on chain", self.file.display()))?;
		let size = source.outline().size();
		if size > blob::MAX_BLOB {
			bail!(
				"{} has {}{}, and a file on chain has at most {}",
				self.file.display(),
				mib(size),
				if self.seal_for.is_some() { " when it is sealed" } else { "" },
				mib(blob::MAX_BLOB)
			);
		}
		let owner = Arc::new(sender(&self.node, &self.key).await?);
		let chain = owner.chain().clone();
		let mut senders = vec![owner.clone()];
		for file in &self.senders {
			let from = KeySource { suri_file: Some(file.clone()), ..KeySource::default() };
			let one = Transactor::new(chain.clone(), from.keypair()?);
			if senders.iter().any(|other| other.account() == one.account()) {
				bail!("{} is the key of an account that is named already", file.display());
			}
			senders.push(Arc::new(one));
		}
		if let Some(parent) = self.parent {
			take_over(&chain, &mut source, parent).await?;
		}
		let outline = source.outline();
		let view = chain.blob(outline.root()).await?.filter(|view| !view.removing);
		let cost = blobs::cost(&owner, &source, view.as_ref(), self.period, self.parent).await?;
		if !self.json {
			if let Some(key) = &seal_for {
				eprintln!(
					"sealed   {} for {key}: without its secret key nobody reads them",
					mib(source.plain_len())
				);
			}
			eprint!("{}", about(&chain, &source, view.as_ref(), &cost, self.period).await?);
		}
		let whole = view.as_ref().is_some_and(|view| view.missing.is_empty());
		if self.dry_run {
			if self.json {
				return print_json(&self.plan(&source, view.as_ref(), &cost));
			}
			return Ok(ExitCode::SUCCESS);
		}
		self.check_money(&owner, &senders, &cost).await?;
		if !whole && !self.yes && !asked()? {
			eprintln!("nothing was stored");
			return Ok(ExitCode::SUCCESS);
		}
		let before = balances(&chain, &senders).await?;
		let (report, seconds) = self.store(&senders, &source).await?;
		let after = balances(&chain, &senders).await?;
		let paid = before.saturating_sub(after);
		let view = chain.blob(outline.root()).await?;
		let known = chain.versions(outline.root(), 1).await?;
		let parent = known.first().and_then(|version| version.parent);
		if self.parent.is_some() && parent != self.parent {
			eprintln!("{}", crate::terminal::line(&other_parent(view.as_ref(), parent)));
		}
		self.tell(&source, &report, view.as_ref(), parent, paid, seconds)
	}

	async fn check_money(
		&self,
		owner: &Transactor,
		senders: &[Arc<Transactor>],
		cost: &Cost,
	) -> anyhow::Result<()> {
		let free = owner.chain().account(owner.account()).await?.free;
		let held = cost.deposit.saturating_add(cost.rent);
		let needed = held.saturating_add(match senders.len() {
			1 => cost.fees,
			// Others may pay the fees.
			_ => 0,
		});
		if free < needed {
			bail!(
				"{} has {} free, and {} are needed: put money on it first",
				owner.account(),
				amount::format(free),
				amount::format(needed)
			);
		}
		Ok(())
	}

	async fn store(
		&self,
		senders: &[Arc<Transactor>],
		source: &Source,
	) -> anyhow::Result<(Report, f64)> {
		let outline = source.outline();
		let settings = Settings {
			window: self.window << 20,
			begin: begin(outline.chunks()),
			period: self.period,
			parent: self.parent,
			until_final: !self.no_wait_final,
			patience: Duration::from_secs(self.patience * 60),
			..Settings::default()
		};
		let mut display = Bytes::new(outline.size(), "stored", self.json);
		let mut last = None;
		let result = blobs::upload(senders, source, settings, |progress| {
			// The same words again and again say nothing.
			let is_new = last.as_ref() != Some(&progress);
			last = Some(progress.clone());
			match progress {
				Progress::Stored { height, chunks, bytes, under_way } => display.update(
					bytes,
					&format!(
						"; block {height}, {chunks} of {} chunks, {under_way} on their way",
						outline.chunks()
					),
				),
				_ if !is_new => {}
				Progress::Registering => display.say("registering the file"),
				Progress::Removing => {
					display.say("what stands in its place is being removed: going on with that");
				}
				Progress::Waiting => {
					display.say("waiting for transactions of this account that are on their way");
				}
				Progress::Finalizing => {
					display.say("all chunks are stored; waiting until their block is final");
				}
				Progress::Reorganised { chunks } => display.say(&format!(
					"{chunks} chunks were in blocks that are not on the chain any more: sending them again"
				)),
				Progress::Poor { sender, reason } => {
					let account = senders.get(sender).map(|one| one.account().to_string());
					let account = account.unwrap_or_default();
					display.say(&format!("{account} sends no more: {reason}"));
				}
				Progress::Trouble(reason) => display.say(&format!("trying again: {reason}")),
			}
		})
		.await;
		display.finish();
		let report = result.with_context(|| {
			format!(
				"{} is not on chain as a whole; what is stored stays, and the same command goes on",
				self.file.display()
			)
		})?;
		Ok((report, display.seconds()))
	}

	fn tell(
		&self,
		source: &Source,
		report: &Report,
		view: Option<&BlobView>,
		parent: Option<H256>,
		paid: Balance,
		seconds: f64,
	) -> anyhow::Result<ExitCode> {
		let outline = source.outline();
		let Report { root, before, sent, reused, again, heights: (first, last) } = *report;
		let stored = outline.chunks().saturating_sub(before);
		if self.json {
			return print_json(&json!({
				"root": root,
				"size": outline.size(),
				"plain_size": source.plain_len(),
				"sealed_for": self.seal_for,
				"chunks": outline.chunks(),
				"chunk_bytes": blob::chunk_len(outline.size()),
				"before": before,
				"sent": sent,
				"reused": reused,
				"sent_again": again,
				"first_block": first,
				"last_block": last,
				"seconds": seconds,
				"paid": paid.to_string(),
				"expires": view.map(|view| view.expires),
				"owner": view.map(|view| view.owner),
				"parent": parent,
			}));
		}
		println!("{root:?}");
		if stored > 0 {
			eprintln!(
				"stored {stored} chunks in {seconds:.0} s, blocks {first} to {last}; {} paid and held",
				amount::format(paid)
			);
		} else {
			eprintln!("it was on chain as a whole already");
		}
		if reused > 0 {
			eprintln!("{reused} of {sent} transactions took over a chunk without its bytes");
		}
		if again > 0 {
			eprintln!("{again} of {sent} transactions were sent again");
		}
		Ok(ExitCode::SUCCESS)
	}

	/// Returns what [`about`] says, for programs.
	fn plan(&self, source: &Source, view: Option<&BlobView>, cost: &Cost) -> serde_json::Value {
		let outline = source.outline();
		json!({
			"root": outline.root(),
			"size": outline.size(),
			"plain_size": source.plain_len(),
			"sealed_for": self.seal_for,
			"chunks": outline.chunks(),
			"chunk_bytes": blob::chunk_len(outline.size()),
			"missing": view.map_or(outline.chunks() as usize, |view| view.missing.len()),
			"same_as_parent": source.same().len(),
			"deposit": cost.deposit.to_string(),
			"rent": cost.rent.to_string(),
			"fees": cost.fees.to_string(),
		})
	}
}

/// Encodes the file into one beside it, and returns where that is. One that an earlier run left is taken, if it
/// is of the same file.
async fn encoded(encoding: Encoding, file: &Path) -> anyhow::Result<PathBuf> {
	let out = encoding.name_of(file);
	if !out.exists() {
		encode::encoded(encoding, file, &out).await?;
		eprintln!("{} is {} as {encoding}", out.display(), mib(std::fs::metadata(&out)?.len()));
		return Ok(out);
	}
	let root = blob::root_of_reader(File::open(file)?)
		.with_context(|| format!("cannot read {}", file.display()))?;
	let header =
		encoding::header(&out).with_context(|| format!("cannot read what {} is", out.display()))?;
	match header.filter(|header| (header.encoding, header.root) == (encoding, root)) {
		Some(_) => Ok(out),
		None => bail!(
			"{} is there already and is not {} as {encoding}: remove it",
			out.display(),
			file.display()
		),
	}
}

/// Says that the chain remembers another parent than the one that was named.
fn other_parent(view: Option<&BlobView>, parent: Option<H256>) -> String {
	let owner = view.map_or_else(|| "somebody".into(), |view| view.owner.to_string());
	let what = parent.map_or_else(|| "none".into(), |parent| format!("{parent:?}"));
	format!(
		"warning: the chain remembers another parent: {what}. The file was registered by {owner} before this \
		 run, and only a registration names a parent"
	)
}

/// Has the chunks taken over that did not change since the parent.
async fn take_over(chain: &Arc<Chain>, source: &mut Source, parent: H256) -> anyhow::Result<()> {
	if parent == source.outline().root() {
		bail!("{parent:?} is the root of this very file: it did not change");
	}
	match chain.blob(parent).await? {
		Some(view) if view.missing.is_empty() && !view.removing => {}
		_ => bail!(
			"the parent {parent:?} is not on chain as a whole: store it first, or store this file \
			 without --parent"
		),
	}
	source.take_over(chain, parent).await.context("cannot learn what the parent has")
}

/// Returns the chunk that is sent first: a different one for each run, so that several of them hardly
/// ever send the same chunk.
fn begin(chunks: u32) -> u32 {
	let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
	let mixed = now.subsec_nanos() ^ std::process::id().wrapping_mul(0x9e37_79b9);
	mixed.checked_rem(chunks).unwrap_or_default()
}

/// Returns what is free and held of all senders together.
async fn balances(chain: &Chain, senders: &[Arc<Transactor>]) -> anyhow::Result<Balance> {
	let mut sum: Balance = 0;
	for sender in senders {
		sum = sum.saturating_add(chain.account(sender.account()).await?.free);
	}
	Ok(sum)
}

/// Says what would be stored, and what that costs.
async fn about(
	chain: &Chain,
	source: &Source,
	view: Option<&BlobView>,
	cost: &Cost,
	period: Option<u32>,
) -> anyhow::Result<String> {
	let outline = source.outline();
	let (size, chunks) = (outline.size(), outline.chunks());
	let length = mib(u64::from(blob::chunk_len(size)));
	let mut text = format!(
		"root     {:?}\nsize     {} in {chunks} chunks of {length}\n",
		outline.root(),
		mib(size)
	);
	let missing = view.map_or(chunks as usize, |view| view.missing.len());
	if let Some(view) = view {
		let (now, block) = super::clock(chain).await?;
		text += &format!(
			"on chain {} of {chunks} chunks, registered by {}; it expires at {}\n",
			chunks as usize - missing,
			view.owner,
			expiry(view.expires, now, block)
		);
	}
	let same = source.same().len();
	if same > 0 {
		text += &format!("parent   has {same} of them; their bytes are not sent\n");
	}
	if missing > 0 {
		let retention = match period {
			Some(period) => period,
			None => super::usual_period(chain).await?,
		};
		let block = chain.block_time().await?;
		text += &format!(
			"deposit  {}, which returns when the file is removed\nrent     {}, burned as the time \
			 passes; the rest returns\nfees     {}, where fees stay as they are\nkept     {retention} \
			 blocks ({}) from the last chunk on\n",
			amount::format(cost.deposit),
			amount::format(cost.rent),
			amount::format(cost.fees),
			duration(retention, block)
		);
	}
	Ok(text)
}

/// Asks whether to go on. Fails where nobody is there to ask.
fn asked() -> anyhow::Result<bool> {
	if !std::io::stdin().is_terminal() {
		bail!("nobody is there to be asked whether to pay this: give --yes, or --dry-run");
	}
	eprint!("store it? [y/N] ");
	std::io::stderr().flush()?;
	let mut line = String::new();
	std::io::stdin().read_line(&mut line)?;
	Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn another_parent_is_told() {
		let text = other_parent(None, Some(H256::repeat_byte(0xab)));
		assert!(text.contains("0xabab") && text.contains("somebody"), "{text}");
		assert!(other_parent(None, None).contains("another parent: none"));
	}

	#[tokio::test]
	async fn what_an_earlier_run_encoded_is_taken_if_it_is_of_this_file() {
		let folder = tempfile::tempdir().unwrap();
		let file = folder.path().join("model");
		std::fs::write(&file, [3; 50_000]).unwrap();
		let out = encoded(Encoding::Zstd, &file).await.unwrap();
		assert_eq!(out, folder.path().join("model.zst"));
		let bytes = std::fs::read(&out).unwrap();
		assert_eq!(encoded(Encoding::Zstd, &file).await.unwrap(), out);
		assert_eq!(std::fs::read(&out).unwrap(), bytes);
		std::fs::write(&file, [4; 50_000]).unwrap();
		let error = encoded(Encoding::Zstd, &file).await.unwrap_err().to_string();
		assert!(error.contains("is not") && error.contains("remove it"), "{error}");
	}
}
