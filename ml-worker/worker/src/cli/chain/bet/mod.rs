//! `trainyard bet`: bets on results.

mod statement;

use super::{connect, model::parse_root, print_json, sender};
use crate::{
	args::{parse_odds, KeyArgs, NodeArgs},
	table::{table, Align},
	terminal,
};
use anyhow::{bail, Context};

use clap::{Subcommand, ValueEnum};
use serde_json::json;
use statement::{about, statement, Named};
use std::process::ExitCode;
use trainyard_client::{
	amount,
	bets::{self as calls, Bet, Offer, Offered},
	keys::parse_account,
	AccountId32,
};
use trainyard_protocol::{
	bets::{
		holding, BetId, Holding, Odds, OddsView, OfferId, Panel, Quoted, Side, Statement, TaskId,
		WHOLE,
	},
	job::{Balance, BlockNumber},
	JobId, H256,
};

/// What to do with bets.
#[derive(Debug, Subcommand)]
pub enum BetCommand {
	/// Offers a stake on a result at odds. Without a side it asks: whoever takes it names its own
	Offer(MakeOffer),
	/// Takes a part of an offer
	Take(Take),
	/// Takes back what nobody took of an offer, after its notice
	Withdraw(OfOffer),
	/// Says how a bet may end now; it ends when both sides say the same
	Agree(Agree),
	/// Says what a member of an offer's panel thinks, where the job does not decide
	Judge(Judge),
	/// Ends a bet that is decided; the chain does so by itself within an hour
	Settle(OfBet),
	/// Shows what is bet on a result, an offer or a bet; and whether checking a result is worth it
	Show(Show),
}

/// A side, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Word {
	/// The result is right.
	Right,
	/// The result is wrong.
	Wrong,
}

impl From<Word> for Side {
	fn from(word: Word) -> Self {
		match word {
			Word::Right => Side::Right,
			Word::Wrong => Side::Wrong,
		}
	}
}

/// What a member of a panel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Says {
	/// The statement is right.
	Right,
	/// The statement is wrong.
	Wrong,
	/// It cannot be decided: all stakes return.
	Unknown,
}

/// On what somebody bets.
#[derive(Debug, clap::Args)]
#[group(id = "statement", required = true, multiple = true)]
struct On {
	/// A result of this job
	#[arg(long, value_name = "JOB", conflicts_with_all = ["words", "task"])]
	job: Option<JobId>,
	/// A claim of this task
	#[arg(long, value_name = "TASK", conflicts_with = "words")]
	task: Option<TaskId>,
	/// Root of its bundle, or of the claim; without it that of this account's own result, or of the only one
	#[arg(long, value_name = "ROOT", value_parser = parse_root, conflicts_with = "words")]
	root: Option<H256>,
	/// The week of late proof belongs to it
	#[arg(long, requires = "job")]
	late: bool,
	/// Words with this blake2b-256 hash, which a panel judges
	#[arg(long, value_name = "HASH", value_parser = parse_root)]
	words: Option<H256>,
}

/// Options of `trainyard bet offer`.
#[derive(Debug, clap::Args)]
pub struct MakeOffer {
	#[command(flatten)]
	on: On,
	/// Your side; without it the taker names its own, and you are on the other
	#[arg(long, value_enum)]
	side: Option<Word>,
	/// Your stake to the taker's, like 100:1
	#[arg(long, value_name = "YOURS:THEIRS", value_parser = parse_odds)]
	odds: Odds,
	/// The most that you stake (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	stake: Balance,
	/// Blocks for which it can be taken
	#[arg(long, value_name = "BLOCKS", default_value_t = 2_400)]
	blocks: BlockNumber,
	/// Blocks for which it can still be taken after you withdrew it: without a notice nobody relies on it
	#[arg(long, value_name = "BLOCKS", default_value_t = 0)]
	notice: BlockNumber,
	/// This account alone may take it
	#[arg(long, value_name = "ACCOUNT", value_parser = parse_account)]
	only: Option<AccountId32>,
	/// Members of a panel, for what the job does not decide
	#[arg(long, value_name = "ACCOUNT", num_args = 1..=9, value_parser = parse_account)]
	panel: Vec<AccountId32>,
	/// How many of them must say the same; without it more than half
	#[arg(long, value_name = "N", requires = "panel")]
	threshold: Option<u32>,
	/// Blocks for the panel
	#[arg(long, value_name = "BLOCKS", default_value_t = 100_800, requires = "panel")]
	panel_blocks: BlockNumber,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of `trainyard bet take`.
#[derive(Debug, clap::Args)]
pub struct Take {
	/// Number of the offer
	#[arg(value_name = "OFFER")]
	offer: OfferId,
	/// Your side
	#[arg(long, value_enum)]
	side: Word,
	/// Your stake (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	stake: Balance,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of commands about an offer.
#[derive(Debug, clap::Args)]
pub struct OfOffer {
	/// Number of the offer
	#[arg(value_name = "OFFER")]
	offer: OfferId,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of commands about a bet.
#[derive(Debug, clap::Args)]
pub struct OfBet {
	/// Number of the bet
	#[arg(value_name = "BET")]
	bet: BetId,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of `trainyard bet agree`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("word").required(true).args(["to_maker", "take_back"])))]
pub struct Agree {
	/// Number of the bet
	#[arg(value_name = "BET")]
	bet: BetId,
	/// What the maker has of both stakes (in TRY); the taker has the rest
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	to_maker: Option<Balance>,
	/// Takes your word back
	#[arg(long)]
	take_back: bool,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of `trainyard bet judge`.
#[derive(Debug, clap::Args)]
pub struct Judge {
	/// Number of the offer
	#[arg(value_name = "OFFER")]
	offer: OfferId,
	/// What you think
	#[arg(long, value_enum)]
	says: Says,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

/// Options of `trainyard bet show`.
#[derive(Debug, clap::Args)]
pub struct Show {
	/// What is bet on this job's results
	#[arg(long, value_name = "JOB", required_unless_present_any = ["task", "words", "offer", "bet"])]
	job: Option<JobId>,
	/// What is bet on this task's claims
	#[arg(long, value_name = "TASK", conflicts_with = "job")]
	task: Option<TaskId>,
	/// Root of a bundle, or of a claim; without it that of the only result
	#[arg(long, value_name = "ROOT", value_parser = parse_root)]
	root: Option<H256>,
	/// With the week of late proof
	#[arg(long, requires = "job")]
	late: bool,
	/// What is bet on words with this hash
	#[arg(long, value_name = "HASH", value_parser = parse_root, conflicts_with_all = ["job", "task", "root"])]
	words: Option<H256>,
	/// An offer
	#[arg(long, value_name = "OFFER", conflicts_with_all = ["job", "task", "words"])]
	offer: Option<OfferId>,
	/// A bet
	#[arg(long, value_name = "BET", conflicts_with_all = ["job", "task", "words", "offer"])]
	bet: Option<BetId>,
	/// Count offers that have stood for so many blocks
	#[arg(long, value_name = "BLOCKS", default_value_t = 0)]
	age: BlockNumber,
	/// Count offers with so many blocks of notice
	#[arg(long, value_name = "BLOCKS", default_value_t = 0)]
	notice: BlockNumber,
	/// What you lose if the result is wrong (in TRY); with --cost
	#[arg(long, value_name = "TRY", value_parser = amount::parse, requires = "cost")]
	loss: Option<Balance>,
	/// What checking costs you (in TRY); with --loss
	#[arg(long, value_name = "TRY", value_parser = amount::parse, requires = "loss")]
	cost: Option<Balance>,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Writes millionths as percent.
fn percent(millionths: u32) -> String {
	format!("{:.2} %", f64::from(millionths) * 100.0 / f64::from(WHOLE))
}

fn side(side: Side) -> &'static str {
	match side {
		Side::Right => "right",
		Side::Wrong => "wrong",
	}
}

impl BetCommand {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		match self {
			Self::Offer(args) => args.run().await,
			Self::Take(args) => args.run().await,
			Self::Show(args) => args.run().await,
			Self::Withdraw(args) => {
				let sender = sender(&args.node, &args.key).await?;
				sender.run(&calls::withdraw(args.offer)).await?;
				match sender.chain().bet_offer(args.offer).await?.and_then(|offer| offer.closing) {
					Some(at) => println!("offer {} can be taken until block {at}", args.offer),
					None => println!("offer {} is withdrawn", args.offer),
				}
				Ok(ExitCode::SUCCESS)
			}
			Self::Agree(args) => {
				let sender = sender(&args.node, &args.key).await?;
				sender.run(&calls::agree(args.bet, args.to_maker)).await?;
				match sender.chain().bet(args.bet).await? {
					Some(_) => println!("bet {} ends when the other side says the same", args.bet),
					None => println!("bet {} has ended", args.bet),
				}
				Ok(ExitCode::SUCCESS)
			}
			Self::Judge(args) => {
				let judgement = match args.says {
					Says::Right => Some(Side::Right),
					Says::Wrong => Some(Side::Wrong),
					Says::Unknown => None,
				};
				let sender = sender(&args.node, &args.key).await?;
				sender.run(&calls::judge(args.offer, judgement)).await?;
				println!("said of offer {}", args.offer);
				Ok(ExitCode::SUCCESS)
			}
			Self::Settle(args) => {
				let sender = sender(&args.node, &args.key).await?;
				sender.run(&calls::settle(args.bet)).await?;
				println!("bet {} has ended", args.bet);
				Ok(ExitCode::SUCCESS)
			}
		}
	}
}

impl MakeOffer {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		let chain = sender.chain();
		let own = Some(sender.account());
		let On { job, task, root, late, words } = self.on;
		let statement = statement(chain, Named { job, task, root, late, words }, own).await?;
		let count = u32::try_from(self.panel.len()).unwrap_or(u32::MAX);
		let panel = (count > 0).then(|| Panel {
			members: self.panel.clone().try_into().unwrap_or_default(),
			threshold: self.threshold.unwrap_or(count / 2 + 1),
			blocks: self.panel_blocks,
		});
		let until = chain.head().await?.number.saturating_add(self.blocks);
		let offered = Offered {
			side: self.side.map(Side::from),
			odds: self.odds,
			stake: self.stake,
			until,
			notice: self.notice,
			only: self.only,
			panel,
		};
		sender.run(&calls::offer(&statement, &offered)).await?;
		for id in chain.bet_offers(&statement).await?.into_iter().rev() {
			if chain.bet_offer(id).await?.is_some_and(|offer| Some(&offer.maker) == own) {
				println!("offer {id} stands until block {until}: {}", about(&statement));
				return Ok(ExitCode::SUCCESS);
			}
		}
		bail!("the offer was made, and is gone already");
	}
}

impl Take {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		let chain = sender.chain();
		sender.run(&calls::take(self.offer, self.side.into(), self.stake)).await?;
		for id in chain.bets_of(self.offer).await?.into_iter().rev() {
			let Some(bet) = chain.bet(id).await? else { continue };
			if bet.taker == *sender.account() {
				println!(
					"bet {id}: {} to win {}",
					amount::format(bet.takers),
					amount::format(bet.makers)
				);
				return Ok(ExitCode::SUCCESS);
			}
		}
		bail!("offer {} was taken, and the bet has ended already", self.offer);
	}
}

/// Says what an offer is.
fn shown_offer(id: OfferId, offer: &Offer) -> String {
	let Offered { side: on, odds, stake, until, notice, only, panel } = &offer.offered;
	let mut text = format!("offer {id} of {}: {}\n", offer.maker, about(&offer.statement));
	match on {
		Some(on) => text.push_str(&format!("  on {}", side(*on))),
		None => text.push_str("  on the side that the taker does not name"),
	}
	let left = [offer.left, *stake].map(amount::format);
	text.push_str(&format!(", {}:{}, {} left of {}\n", odds.maker, odds.taker, left[0], left[1]));
	let stands = match (offer.closed, offer.closing) {
		(true, _) => "it cannot be taken any more".to_owned(),
		(false, Some(at)) => format!("it is withdrawn, and can be taken before block {at}"),
		(false, None) => {
			format!("it can be taken until block {until}, with {notice} blocks of notice")
		}
	};
	text.push_str(&format!("  {stands}; {} bets run\n", offer.bets));
	if let Some(only) = only {
		text.push_str(&format!("  for {only} alone\n"));
	}
	if let Some(panel) = panel {
		let of = panel.members.len();
		text.push_str(&format!("  a panel of {of}, {} of which decide\n", panel.threshold));
	}
	text
}

/// Says what a bet is.
fn shown_bet(id: BetId, bet: &Bet) -> String {
	let line = |who: &AccountId32, on: Side, stake, says: Option<Balance>| {
		let says = says.map_or(String::new(), |amount| {
			format!(", and would end it with {} for the maker", amount::format(amount))
		});
		format!("  {who}: {} on {}{says}\n", amount::format(stake), side(on))
	};
	let maker = line(&bet.maker, bet.side.other(), bet.makers, bet.maker_says);
	let taker = line(&bet.taker, bet.side, bet.takers, bet.taker_says);
	format!("bet {id} of offer {}, since block {}\n{maker}{taker}", bet.offer, bet.since)
}

/// Says what is bet on a statement.
fn shown_odds(statement: &Statement, odds: &OddsView) -> String {
	let mut text = format!("{}\n\n", about(statement));
	let row = |on: Side, runs, offered, best: Option<&Quoted>| {
		let right = best.map_or("-".into(), |best| percent(best.right));
		let of = best.map_or("-".into(), |best| {
			let own = if best.own { ", by who delivered it" } else { "" };
			format!(
				"{} since block {}, {} blocks of notice{own}",
				best.offer, best.since, best.notice
			)
		});
		vec![side(on).to_owned(), amount::format(runs), amount::format(offered), right, of]
	};
	let header = [
		("on", Align::Left),
		("in bets", Align::Right),
		("offered", Align::Right),
		("right with", Align::Right),
		("best offer", Align::Left),
	];
	let rows = [
		row(Side::Right, odds.right, odds.offered_right, odds.bid.as_ref()),
		row(Side::Wrong, odds.wrong, odds.offered_wrong, odds.ask.as_ref()),
	];
	text.push_str(&table(&header, &rows));
	if odds.more {
		text.push_str("\nthere are more offers than were looked at\n");
	}
	text
}

/// Says what a holder does, by the best offer on *right* of who delivered the result or anybody.
fn advice(odds: &OddsView, loss: Balance, cost: Balance) -> (Holding, String) {
	let right = odds.bid.as_ref().map_or(0, |bid| bid.right);
	let found = holding(loss, cost, right);
	let by = match &odds.bid {
		Some(bid) => format!("by offer {}, at {}", bid.offer, percent(bid.right)),
		None => "nobody offers anything on it".into(),
	};
	let text = match found {
		Holding::Check => {
			format!("check it ({by}): what you would lose on average is more than checking costs")
		}
		Holding::Discount(less) => {
			format!("do not check it ({by}): take it for {} less", amount::format(less))
		}
	};
	(found, text)
}

impl Show {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		if let Some(id) = self.offer {
			let offer = chain.bet_offer(id).await?;
			let offer =
				offer.with_context(|| format!("there is no offer {id}, or it was removed"))?;
			if self.json {
				return print_json(
					&json!({ "id": id, "offer": offer, "bets": chain.bets_of(id).await? }),
				);
			}
			print!("{}", terminal::lines(&shown_offer(id, &offer)));
			return Ok(ExitCode::SUCCESS);
		}
		if let Some(id) = self.bet {
			let bet = chain.bet(id).await?;
			let bet = bet.with_context(|| format!("there is no bet {id}, or it has ended"))?;
			if self.json {
				return print_json(&json!({ "id": id, "bet": bet }));
			}
			print!("{}", terminal::lines(&shown_bet(id, &bet)));
			return Ok(ExitCode::SUCCESS);
		}
		let Self { job, task, root, late, words, .. } = self;
		let named = Named { job, task, root, late, words };
		let statement = statement(&chain, named, None).await?;
		let odds = chain.odds(&statement, self.age, self.notice).await?;
		let advice = self.loss.zip(self.cost).map(|(loss, cost)| advice(&odds, loss, cost));
		if self.json {
			let offers = chain.bet_offers(&statement).await?;
			let holding = advice.map(|(holding, _)| holding);
			return print_json(&json!({
				"statement": statement, "odds": odds, "offers": offers, "holding": holding,
			}));
		}
		print!("{}", terminal::lines(&shown_odds(&statement, &odds)));
		if let Some((_, text)) = advice {
			println!("\n{text}");
		}
		Ok(ExitCode::SUCCESS)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn odds() -> OddsView {
		let quoted =
			|offer, right, own| Quoted { offer, right, left: 5, since: 9, notice: 600, own };
		OddsView {
			right: 1_000_000_000_000,
			bid: Some(quoted(3, 990_099, true)),
			ask: Some(quoted(4, 500_000, false)),
			..Default::default()
		}
	}

	#[test]
	fn both_sides_of_the_book_are_shown() {
		let statement = Statement::Result { job: 7, root: H256::repeat_byte(1), late: true };
		let shown = shown_odds(&statement, &odds());
		let lines: Vec<&str> = shown.lines().collect();
		assert!(lines[0].contains("job 7, with the week"), "{shown}");
		assert!(
			lines[3].contains("99.01 %") && lines[3].contains("by who delivered it"),
			"{shown}"
		);
		assert!(lines[3].contains("1 TRY"), "{shown}");
		assert!(lines[4].contains("50.00 %") && !lines[4].contains("delivered"), "{shown}");
		assert!(shown_odds(&statement, &OddsView::default()).contains('-'));
	}

	/// Without an offer on it nobody says that it is right: a holder counts with its whole loss.
	#[test]
	fn advice_follows_the_best_offer() {
		let (found, text) = advice(&odds(), 1_000_000, 5_000);
		assert!(found == Holding::Check && text.contains("offer 3"), "{text}");
		let (found, text) = advice(&odds(), 1_000_000, 10_000);
		assert_eq!(found, Holding::Discount(9_901));
		assert!(text.contains("99.01 %"), "{text}");
		let (found, text) = advice(&OddsView::default(), 10, 9);
		assert!(found == Holding::Check && text.contains("nobody"), "{text}");
	}
}
