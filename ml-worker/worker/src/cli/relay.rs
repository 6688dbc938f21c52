//! `trainyard relay`: where endpoints of iroh wait that have no open port.

use crate::roles::run::stop_signal;
use anyhow::ensure;
use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf, process::ExitCode};
use tracing::info;
use trainyard_transport::{
	relay::{self, parse_id, Options, Tls},
	EndpointId,
};

/// Options of `trainyard relay`.
#[derive(Debug, clap::Args)]
pub(super) struct RelayCommand {
	/// Address without TLS (TCP). With a certificate it says there only that it lives
	#[arg(long, value_name = "ADDRESS", default_value = "[::]:3340")]
	listen: SocketAddr,
	/// Certificate and those above it, as PEM: then it listens with TLS, and tells endpoints what their
	/// address looks like from outside, which they need to find a direct way to each other
	#[arg(long, value_name = "FILE", requires = "key")]
	certificate: Option<PathBuf>,
	/// The certificate's key, as PEM
	#[arg(long, value_name = "FILE", requires = "certificate")]
	key: Option<PathBuf>,
	/// Address with TLS (TCP)
	#[arg(long, value_name = "ADDRESS", default_value = "[::]:443")]
	tls_listen: SocketAddr,
	/// Address at which endpoints are told theirs (UDP). They look for it at port 7842 alone
	#[arg(long, value_name = "ADDRESS", default_value_t = SocketAddr::from(([0; 8], relay::QUIC_PORT)))]
	quic_listen: SocketAddr,
	/// Most KiB a second that are taken from one endpoint; 0 for no limit
	#[arg(long, value_name = "KIB", default_value_t = 16_384)]
	max_rate_kib: u32,
	/// Let this endpoint in alone, by its id; may be given several times
	#[arg(long, value_name = "ID", value_parser = parse_id)]
	only: Vec<EndpointId>,
}

impl RelayCommand {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
		runtime.block_on(self.serve())
	}

	async fn serve(self) -> anyhow::Result<ExitCode> {
		let rate = self.max_rate_kib.checked_mul(1024);
		ensure!(rate.is_some(), "--max-rate-kib: at most {}", u32::MAX / 1024);
		let tls = self.certificate.zip(self.key).map(|(certificate, key)| Tls {
			listen: self.tls_listen,
			quic: self.quic_listen,
			certificate,
			key,
		});
		let only = (!self.only.is_empty()).then(|| self.only.into_iter().collect());
		let rate = rate.and_then(NonZeroU32::new);
		let mut running = relay::start(Options { listen: self.listen, tls, rate, only }).await?;
		for (scheme, address) in [("http", running.http()), ("https", running.https())] {
			if let Some(address) = address {
				info!("the relay listens at {scheme}://{address}");
			}
		}
		tokio::select! {
			() = stop_signal() => Ok(ExitCode::SUCCESS),
			e = running.ended() => Err(e.into()),
		}
	}
}
