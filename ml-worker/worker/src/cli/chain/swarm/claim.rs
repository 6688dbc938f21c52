//! `trainyard swarm claim`.

use super::One;
use crate::{
	roles::{fetch::LocationArgs, report::Reporter, store::load},
	swarm::{
		board::Board,
		chain::OnChain,
		claim::{Claims, Progress, Record},
		contact::{Contact, Expected, Patience},
		journal::Journal,
		learner,
		models::Models,
		position::Position,
		service::location_of,
		ticket::Signed,
		wire::model_path,
	},
};
use anyhow::{bail, Context};
use serde_json::json;
use std::{path::PathBuf, process::ExitCode, time::Duration};
use tracing::warn;
use trainyard_protocol::{model_file::Layout, swarm::Payer, H256};
use trainyard_transport::{Node, Options as Endpoint, SecretKey, Source};

/// Pause between two looks at the chain.
const PAUSE: Duration = Duration::from_secs(6);

/// Options of `trainyard swarm claim`.
#[derive(Debug, clap::Args)]
pub struct ClaimArgs {
	#[command(flatten)]
	one: One,
	/// Folder of the peer whose model it is; it may run meanwhile
	#[arg(long, value_name = "DIR")]
	dir: PathBuf,
	/// Digest of a ticket that the peer was given, where peers pay: `swarm debts` lists them
	#[arg(long, value_name = "TICKET", value_parser = super::super::model::parse_root)]
	ticket: Option<H256>,
	/// Finish claims that were begun, and begin none
	#[arg(long, conflicts_with = "ticket")]
	resume: bool,
	#[command(flatten)]
	locations: LocationArgs,
	/// One JSON object per event
	#[arg(long)]
	json: bool,
}

impl ClaimArgs {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let board = self.one.board().await?;
		Position::check(&self.dir, board.genesis(), self.one.id)?;
		let report = Reporter::new("swarm", self.json, None);
		let claims = Claims::open(&board, &self.dir.join("claims"))?;
		let mut open = claims.unfinished()?;
		if open.is_empty() && !self.resume {
			open.push(self.begin(&board, &claims).await?);
		}
		for mut record in open {
			let text = format!("the claim {:?} is on disk", record.commitment);
			report.general(
				"claim",
				&text,
				json!({ "claim": record.commitment, "model": record.root }),
			);
			follow(&claims, &mut record, &report).await?;
			claims.forget(&record)?;
		}
		Ok(ExitCode::SUCCESS)
	}

	/// Writes down what is claimed: the present model, or the mean of a payer's model and the one that it asked for.
	async fn begin(&self, board: &OnChain, claims: &Claims<'_, OnChain>) -> anyhow::Result<Record> {
		let view = board.swarm().await?;
		let layout = Layout::of(&learner::plain(&view.template)?);
		let models = Models::at(&self.dir.join("models"), layout);
		let Some(digest) = self.ticket else {
			if view.plan.payer == Payer::Peers {
				bail!("peers pay in swarm {}: name a ticket with --ticket", view.id);
			}
			let position: Option<Position> = load(&self.dir.join("peer.json"))?;
			let own = position.and_then(|position| position.own);
			let own = own.context("the peer of this folder has no model yet")?;
			return Ok(claims.prepare(models.layout(), &models.bytes(&own.root)?, None)?);
		};
		let journal = Journal::read(&self.dir.join("tickets"), board.genesis())?;
		let given = journal.get(&digest).context("the folder has no ticket with this digest")?;
		let signed = given.signed.clone();
		let own = self.payers_model(board, &signed, &models).await?;
		let remote = models.bytes(&signed.ticket.remote)?;
		let mean = models.mean(&own, &remote)?;
		Ok(claims.prepare(models.layout(), &mean, Some((signed, [&own, &remote])))?)
	}

	/// Brings the model that a ticket names as the payer's, from the payer.
	async fn payers_model(
		&self,
		board: &OnChain,
		signed: &Signed,
		models: &Models,
	) -> anyhow::Result<Vec<u8>> {
		let ticket = &signed.ticket;
		if models.has(&ticket.own) {
			return Ok(models.bytes(&ticket.own)?);
		}
		let peers = board.peers().await?;
		let payer = peers.iter().find(|peer| peer.account == ticket.payer);
		let payer = payer.with_context(|| format!("{} has left the swarm", ticket.payer))?;
		let only = self.locations.locations(board.sender().chain()).await?.only();
		let location = location_of(payer).map(|location| match only {
			Some(only) => location.among(only),
			None => location,
		});
		let location = location.filter(|location| location.leads_there());
		let location =
			location.with_context(|| format!("{} says nowhere to reach it", payer.account))?;
		let node = Node::bind(Endpoint::new(SecretKey::generate())).await?;
		let contact = Contact::new(node, Patience::default(), None);
		let path = model_path(ticket.swarm, &ticket.own, &signed.digest(&board.genesis()));
		let part = self.dir.join("claims").join(format!("{}.part", hex::encode(ticket.own)));
		let expected = Expected::Model { root: ticket.own, bytes: models.layout().size };
		contact.bring(expected, &[Source { location, path }], &part, 0).await.with_context(
			|| format!("{} does not give the model with which it promised to pay", ticket.payer),
		)?;
		let bytes = std::fs::read(&part)?;
		std::fs::remove_file(&part)?;
		Ok(bytes)
	}
}

/// Follows a claim until its round is over.
async fn follow(
	claims: &Claims<'_, OnChain>,
	record: &mut Record,
	report: &Reporter,
) -> anyhow::Result<()> {
	let mut last = None;
	loop {
		let progress = match claims.step(record).await {
			Ok(progress) => progress,
			Err(crate::swarm::claim::ClaimError::Board(e)) if !e.is_final() => {
				warn!("{e}; trying again");
				tokio::time::sleep(PAUSE).await;
				continue;
			}
			Err(e) => return Err(e.into()),
		};
		if last != Some(progress) {
			let (event, text) = match progress {
				Progress::NoRoom => ("waits", "waits for the next round".into()),
				Progress::Committed => ("committed", "committed; waits for the slice".into()),
				Progress::Said(new, base) => (
					"said",
					format!(
						"said: {} of {} labels, where the base gets {}",
						new.correct, new.labels, base.correct
					),
				),
				Progress::Over => ("over", "the round is over".to_owned()),
			};
			report.general(event, &text, json!({ "claim": record.commitment }));
			last = Some(progress);
		}
		if progress == Progress::Over {
			return Ok(());
		}
		tokio::time::sleep(PAUSE).await;
	}
}
