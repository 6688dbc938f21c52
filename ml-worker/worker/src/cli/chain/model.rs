//! `trainyard model`: files on chain.

#[cfg(feature = "object-stores")]
mod archive;
mod encode;
mod from;
mod get;
mod put;
mod show;

use anyhow::Context;
use clap::Subcommand;
use encode::{Decode, Encode};
use get::Get;
use indicatif::{ProgressBar, ProgressStyle};
use put::Put;
use show::{List, Log, Remove, Renew};
use std::{
	io::IsTerminal,
	process::ExitCode,
	str::FromStr,
	time::{Duration, Instant},
};
use trainyard_client::Chain;
use trainyard_protocol::H256;

/// Time between two plain lines of progress.
const PAUSE: Duration = Duration::from_secs(5);

/// What to do with files on chain.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
	/// Stores a file on chain, and goes on where an earlier run ended. Exit code 0: all of it is in a
	/// final block, 2: it is not, and the same command goes on
	Put(Put),
	/// Brings a file from the chain, from several nodes at once, or from an archive; every chunk is checked as it comes
	Get(Get),
	/// Puts a file into an object store, s3://BUCKET/KEY at any server of S3's kind or gs://BUCKET/KEY, so that it stays
	/// when the chain does not keep it any more; `get --from` brings it back
	#[cfg(feature = "object-stores")]
	Archive(archive::Archive),
	/// Lists files on chain: of one account, or all
	Ls(List),
	/// Lists a file and those that it descends from, back to the first that is on chain
	Log(Log),
	/// Pays for more time of a file; one of somebody else whose time is over it takes over
	Renew(Renew),
	/// Removes a file; its deposit returns, and the rent of the time that is left
	Rm(Remove),
	/// Writes a file in another form: compressed, or with tensors of 16 or 8 bits. It needs no node
	Encode(Encode),
	/// Writes what an encoded file was made of, and checks it. It needs no node
	Decode(Decode),
}

impl ModelCommand {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		match self {
			Self::Put(args) => args.run().await,
			Self::Get(args) => args.run().await,
			#[cfg(feature = "object-stores")]
			Self::Archive(args) => args.run().await,
			Self::Ls(args) => args.run().await,
			Self::Log(args) => args.run().await,
			Self::Renew(args) => args.run().await,
			Self::Rm(args) => args.run().await,
			Self::Encode(args) => args.run().await,
			Self::Decode(args) => args.run().await,
		}
	}
}

/// Returns for how many blocks a file is kept where nobody says anything else.
async fn usual_period(chain: &Chain) -> anyhow::Result<u32> {
	let blocks = chain.constant("ModelStorage", "Retention").await?.unwrap_or_default();
	Ok(u32::try_from(blocks).unwrap_or(u32::MAX))
}

/// Reads a root: 64 hex digits, with or without 0x.
pub(super) fn parse_root(text: &str) -> Result<H256, String> {
	H256::from_str(text.trim_start_matches("0x")).map_err(|_| {
		"a root has 64 hex digits, like 0x5f…; `trainyard hash FILE` prints that of a file, and \
		 `trainyard model ls --all` lists those on chain"
			.into()
	})
}

/// Writes bytes as people read them: `12.3 MiB`.
fn mib(bytes: u64) -> String {
	match bytes {
		0..=9_999 => format!("{bytes} bytes"),
		10_000..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1_024.0),
		_ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
	}
}

/// Writes how long so many blocks take: `3 h 05 min`, `12 d 4 h`.
fn duration(blocks: u32, block: Duration) -> String {
	let seconds = (block * blocks).as_secs();
	let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
	match (days, hours) {
		(0, 0) if minutes == 0 => format!("{seconds} s"),
		(0, 0) => format!("{minutes} min"),
		(0, _) => format!("{hours} h {minutes:02} min"),
		_ => format!("{days} d {hours} h"),
	}
}

/// Says when something expires: `block 1234, in 12 d 4 h`.
fn expiry(expires: u32, now: u32, block: Duration) -> String {
	match expires.checked_sub(now) {
		Some(left) => format!("block {expires}, in {}", duration(left, block)),
		None => format!("block {expires}, {} ago", duration(now - expires, block)),
	}
}

/// Returns the height of the best block and the time that blocks take.
async fn clock(chain: &Chain) -> anyhow::Result<(u32, Duration)> {
	let head = chain.head().await?;
	let block = chain.block_time().await.context("how long do blocks take?")?;
	Ok((head.number, block))
}

/// Progress in bytes: a bar on a terminal, plain lines otherwise, on standard error.
struct Bytes {
	bar: Option<ProgressBar>,
	size: u64,
	verb: &'static str,
	begun: Instant,
	/// Bytes that were there when it began.
	first: Option<u64>,
	said: Option<Instant>,
	quiet: bool,
}

impl Bytes {
	/// Makes a display for `size` bytes that are `verb`: stored or here.
	fn new(size: u64, verb: &'static str, quiet: bool) -> Self {
		let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
			let bar = ProgressBar::new(size);
			if let Ok(style) =
				ProgressStyle::with_template("{wide_bar} {binary_bytes}/{binary_total_bytes} {msg}")
			{
				bar.set_style(style);
			}
			bar
		});
		Self { bar, size, verb, begun: Instant::now(), first: None, said: None, quiet }
	}

	/// Shows that so many bytes are there, with a word to it.
	fn update(&mut self, bytes: u64, more: &str) {
		let first = *self.first.get_or_insert(bytes);
		let (text, rate) = (more.to_owned(), self.rate(bytes - first.min(bytes)));
		if let Some(bar) = &self.bar {
			bar.set_position(bytes);
			bar.set_message(format!("{rate}{text}"));
			return;
		}
		let ends = bytes == self.size || self.said.is_none();
		if !self.quiet && (ends || self.said.is_none_or(|said| said.elapsed() >= PAUSE)) {
			self.said = Some(Instant::now());
			eprintln!("{} of {} {}, {rate}{text}", mib(bytes), mib(self.size), self.verb);
		}
	}

	/// Says something in a line of its own.
	fn say(&self, line: &str) {
		let line = crate::terminal::line(line);
		match &self.bar {
			Some(bar) => bar.println(line),
			None if self.quiet => {}
			None => eprintln!("{line}"),
		}
	}

	fn rate(&self, done: u64) -> String {
		let seconds = self.begun.elapsed().as_secs_f64();
		let rate = if seconds > 0.0 { done as f64 / 1_048_576.0 / seconds } else { 0.0 };
		let left = self.size.saturating_sub(self.first.unwrap_or_default().saturating_add(done));
		match done {
			0 => "0 MiB/s".into(),
			_ => {
				let eta = Duration::from_secs_f64(left as f64 / 1_048_576.0 / rate.max(1e-9));
				format!("{rate:.2} MiB/s, {} left", duration(1, eta))
			}
		}
	}

	/// Returns seconds so far.
	fn seconds(&self) -> f64 {
		self.begun.elapsed().as_secs_f64()
	}

	/// Leaves the terminal clean.
	fn finish(&self) {
		if let Some(bar) = &self.bar {
			bar.finish_and_clear();
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn sizes_and_times_as_people_read_them() {
		assert_eq!([5, 20_480, 3 << 20].map(mib), ["5 bytes", "20.0 KiB", "3.0 MiB"]);
		let block = Duration::from_secs(6);
		let times = [0, 9, 50, 1_900, 432_000].map(|blocks| duration(blocks, block));
		assert_eq!(times, ["0 s", "54 s", "5 min", "3 h 10 min", "30 d 0 h"]);
		assert_eq!(expiry(110, 100, block), "block 110, in 1 min");
		assert_eq!(expiry(90, 100, block), "block 90, 1 min ago");
	}

	#[test]
	fn a_root_is_read_with_and_without_its_prefix() {
		let digits = "5f".repeat(32);
		assert_eq!(parse_root(&digits), parse_root(&format!("0x{digits}")));
		for wrong in ["", "5f", "0xno", &digits[1..]] {
			assert!(parse_root(wrong).unwrap_err().contains("64 hex digits"), "{wrong}");
		}
	}
}
