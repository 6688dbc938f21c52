//! Enters the pool from which committees are drawn, sets the key of this account's own draws, watches
//! whether the account is in the pool, and comes back from a pause.

use super::{Key, Verifier, VerifierError};
use crate::roles::{
	metrics::Loss,
	report::Reporter,
	run::RoleError,
	tasks::{TaskError, Tasks},
};
use serde_json::json;
use std::sync::Arc;
use trainyard_client::{amount, calls, AccountId32, Call, ChainError, Transactor};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	seats::Resources,
	views::{Standing, VerifierView},
	Text, H256,
};

/// Blocks between two looks at the pool.
const EVERY: BlockNumber = 10;
/// Blocks before a second pause is ended; twice as many before the third, and so on. Whoever is
/// absent again and again would pay for it again and again.
const REST: BlockNumber = 100;
/// What somebody who left can do.
const ADVICE: &str =
	"audits that it sits on are still served, new ones will not come. It comes back \
                      at once if the verifier is started with --bond AMOUNT; else the bond can be \
                      taken by verification.withdraw after the unbonding period";

/// Returns these bytes in whole MiB.
pub(super) fn mib(bytes: u64) -> u32 {
	u32::try_from(bytes >> 20).unwrap_or(u32::MAX)
}

/// What a verifier says of itself on chain.
#[derive(Clone, Debug)]
pub(super) struct Offer {
	/// What it has room for.
	pub capacity: Resources,
	/// Where it serves other seats.
	pub location: Option<Text>,
	/// The key by which it draws.
	pub vrf_key: H256,
}

/// What the last look at the pool showed.
#[derive(Clone, Debug)]
pub(super) struct Membership {
	view: Option<VerifierView>,
	looked: Option<BlockNumber>,
	/// Pauses that were ended, and the height before which no other one is.
	resumed: u32,
	rests: BlockNumber,
}

impl Membership {
	/// Notes what was found at the start.
	pub(super) fn new(view: Option<VerifierView>) -> Self {
		Self { view, looked: None, resumed: 0, rests: 0 }
	}

	/// Returns whether it is time to look again at height `best`.
	fn is_due(&self, best: BlockNumber) -> bool {
		self.looked.is_none_or(|looked| best.abs_diff(looked) >= EVERY)
	}

	/// Notes what was found at height `best`. Returns whether it is news, and what was lost of the
	/// bond.
	fn note(&mut self, view: Option<VerifierView>, best: BlockNumber) -> (bool, Balance) {
		self.looked = Some(best);
		let before = std::mem::replace(&mut self.view, view);
		let (before, view) = (before.as_ref(), self.view.as_ref());
		// An account that left gets its bond back one day, whatever it is.
		let here = |view: &&VerifierView| !matches!(view.standing, Standing::Left { .. });
		let bond = |view: Option<&VerifierView>| view.filter(here).map(|view| view.bond);
		let lost = bond(before).zip(bond(view)).map_or(0, |(was, is)| was.saturating_sub(is));
		let standing = |view: Option<&VerifierView>| view.map(|view| view.standing);
		(standing(before) != standing(view), lost)
	}

	/// Returns whether a pause should be ended at height `best`, and notes that it is.
	fn resumes(&mut self, best: BlockNumber) -> bool {
		let paused = self.view.as_ref().is_some_and(|view| view.standing == Standing::Paused);
		let due = paused && best >= self.rests;
		if due {
			self.rests = best.saturating_add(REST.saturating_mul(1 << self.resumed.min(8)));
			self.resumed = self.resumed.saturating_add(1);
		}
		due
	}
}

/// Returns whether the room on chain is no longer about that of this machine: what is free of memory
/// and disk is never the same twice.
fn differs(declared: &Resources, here: &Resources) -> bool {
	let far = |a: u64, b: u64| a.abs_diff(b) > a.max(b) / 10;
	declared.work != here.work
		|| far(declared.memory_mib.into(), here.memory_mib.into())
		|| far(declared.disk_mib.into(), here.disk_mib.into())
}

/// Says what is wrong with the VRF key on chain of an account that wants to draw by `key`, if
/// anything is.
fn key_problem(view: Option<&VerifierView>, key: &H256) -> Option<&'static str> {
	let view = view.filter(|view| !matches!(view.standing, Standing::Left { .. }))?;
	match view.vrf_key {
		None => Some("no VRF key is set on chain, so this account is not drawn. Setting it"),
		Some(found) if found != *key => Some(
			"the VRF key on chain is not that of this account's secret, so this verifier could show \
			 no draw of its own and would count as absent. Setting its own",
		),
		Some(_) => None,
	}
}

/// Returns what to send so that an account that stands as `view` can be drawn; `None` where it left
/// and nobody says that it should come back.
fn entry(view: Option<&VerifierView>, bond: Option<Balance>, offer: &Offer) -> Option<Vec<Call>> {
	let Offer { capacity, location, vrf_key } = offer;
	let declared = view.and_then(|view| view.location.as_ref());
	let locate = || calls::set_verifier_location(location.as_ref());
	let locate = (declared != location.as_ref()).then(locate);
	let own = view.is_some_and(|view| view.vrf_key == Some(*vrf_key));
	let key = (!own).then(|| calls::set_vrf_key(vrf_key));
	let Some(view) = view else {
		let register = bond.map(|bond| calls::register_verifier(bond, capacity))?;
		return Some([register].into_iter().chain(key).chain(locate).collect());
	};
	let declare = differs(&view.capacity, capacity).then(|| calls::set_capacity(capacity));
	let more = bond.unwrap_or(0).saturating_sub(view.bond);
	let mut sent = match view.standing {
		Standing::Active => vec![],
		Standing::Waiting { .. } if more == 0 => vec![],
		Standing::Waiting { .. } => vec![calls::raise_verifier_bond(more)],
		Standing::Left { .. } if bond.is_none() => return None,
		Standing::Paused | Standing::Left { .. } if more == 0 => vec![calls::resume_verifier()],
		Standing::Paused | Standing::Left { .. } => {
			let register = calls::register_verifier(view.bond.saturating_add(more), capacity);
			return Some([register].into_iter().chain(key).chain(locate).collect());
		}
	};
	sent.extend(key.into_iter().chain(declare).chain(locate));
	Some(sent)
}

/// Returns whether an account that stands so is drawn.
fn drawn(view: Option<&VerifierView>) -> bool {
	view.is_some_and(|view| view.standing == Standing::Active)
}

/// Registers the account, or brings it back. One that left, and is not to come back, goes on only for
/// the seats that it still has.
pub(super) async fn enter(
	sender: &Transactor,
	bond: Option<Balance>,
	offer: &Offer,
	report: &Reporter,
) -> Result<Membership, RoleError<VerifierError>> {
	let (chain, account) = (sender.chain(), *sender.account());
	let view = chain.verifier(&account).await?;
	let Some(sent) = entry(view.as_ref(), bond, offer) else {
		let seats = view.as_ref().is_some_and(|view| view.locked > 0);
		if !seats {
			return Err(VerifierError::NotRegistered { account }.into());
		}
		let text = format!("not in the verifier pool, but on a committee: {ADVICE}");
		report.general("not_in_pool", &text, json!({}));
		return Ok(Membership::new(view));
	};
	if let Some(text) = key_problem(view.as_ref(), &offer.vrf_key) {
		report.general("vrf_key", text, json!({ "account": account, "key": offer.vrf_key }));
	}
	for call in &sent {
		// A trainer or a driller of the same account may take the nonce meanwhile.
		let done = async || {
			let now = entry(chain.verifier(&account).await?.as_ref(), bond, offer);
			Ok(now.is_some_and(|left| left.iter().all(|other| other.title() != call.title())))
		};
		match sender.achieve(call, done).await {
			Ok(()) => {}
			// What was declared before stands.
			Err(e) if drawn(view.as_ref()) => {
				let text = format!("{} failed: {e}", call.title());
				report.general("problem", &text, json!({ "action": call.title() }));
			}
			Err(e) => return Err(VerifierError::Tx(e).into()),
		}
	}
	let was_drawn = drawn(view.as_ref());
	let now = if sent.is_empty() { view } else { chain.verifier(&account).await? };
	if now.is_some() && !drawn(now.as_ref()) {
		report.general("waiting", &text_of(now.as_ref()), json!({}));
	} else if !was_drawn {
		let bond = now.as_ref().map_or(bond.unwrap_or(0), |now| now.bond);
		let text = format!("registered as a verifier with a bond of {}", amount::format(bond));
		report.general("registered", &text, json!({ "bond": bond.to_string() }));
	}
	Ok(Membership::new(now))
}

/// Says where an account stands.
fn text_of(view: Option<&VerifierView>) -> String {
	match view.map(|view| view.standing) {
		Some(Standing::Active) => "in the verifier pool again".to_owned(),
		Some(Standing::Paused) => "paused: too many seats without a verdict. Nothing is lost but \
		                           the price of each, and the verifier comes back by itself"
			.to_owned(),
		Some(Standing::Waiting { .. }) if view.is_some_and(|view| view.vrf_key.is_none()) => {
			"without a place: no VRF key is set. The verifier sets it by itself".to_owned()
		}
		Some(Standing::Waiting { .. }) => {
			"without a place: the pool is full, and others have larger bonds. The bond is free; \
			 a larger one (--bond) may bring a place at the end of a day"
				.to_owned()
		}
		Some(Standing::Left { .. }) | None => {
			format!("no longer in the verifier pool: deregistered. Running {ADVICE}")
		}
	}
}

/// Returns the event of a change.
fn event_of(view: Option<&VerifierView>) -> &'static str {
	match view.map(|view| view.standing) {
		Some(Standing::Active) => "in_pool",
		Some(Standing::Paused) => "paused",
		Some(Standing::Waiting { .. }) => "waiting",
		Some(Standing::Left { .. }) | None => "left_pool",
	}
}

impl Verifier {
	/// Looks at the pool now and then: reports when the account stands somewhere else, sets its VRF key
	/// where another one or none is there, and ends a pause.
	pub(super) async fn watch_pool(
		self: &Arc<Self>,
		membership: &mut Membership,
		tasks: &mut Tasks<Key>,
		best: BlockNumber,
	) -> Result<(), ChainError> {
		if !membership.is_due(best) {
			return Ok(());
		}
		let account: &AccountId32 = self.sender.account();
		let view = self.chain.verifier(account).await?;
		let (news, lost) = membership.note(view.clone(), best);
		if lost > 0 {
			self.report.metrics().lost(Loss::Bond, lost);
		}
		if news {
			let (event, text) = (event_of(view.as_ref()), text_of(view.as_ref()));
			let fields = json!({ "account": account, "height": best });
			if event == "in_pool" {
				self.report.general(event, &text, fields);
			} else {
				self.webhook.warn(event, &text, fields);
			}
		}
		let key = self.sender.vrf_key().public();
		let problem = key_problem(view.as_ref(), &key);
		if let Some(text) = problem.filter(|_| tasks.is_ready(&Key::Draws)) {
			let fields = json!({ "account": account, "height": best, "key": key });
			self.webhook.warn("vrf_key", text, fields);
			let me = self.clone();
			tasks.start(Key::Draws, async move {
				me.sender.run(&calls::set_vrf_key(&key)).await.map_err(TaskError::from)?;
				Ok(())
			});
		}
		if tasks.is_ready(&Key::Resume) && membership.resumes(best) {
			let me = self.clone();
			tasks.start(Key::Resume, async move {
				me.sender.run(&calls::resume_verifier()).await.map_err(TaskError::from)?;
				Ok(())
			});
		}
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	const KEY: H256 = H256([7; 32]);
	const HERE: Resources = Resources { work: 2_000_000, memory_mib: 8_192, disk_mib: 10_000 };

	fn view(standing: Standing, bond: Balance) -> VerifierView {
		VerifierView {
			standing,
			bond,
			locked: 0,
			counted: bond,
			capacity: HERE,
			load: Resources::default(),
			absences: 0,
			location: None,
			vrf_key: Some(KEY),
		}
	}

	fn active(bond: Balance) -> Option<VerifierView> {
		Some(view(Standing::Active, bond))
	}

	#[test]
	fn only_changes_are_news() {
		let left = Some(view(Standing::Left { since: 10 }, 100));
		let mut membership = Membership::new(active(100));
		assert!(membership.is_due(7), "never looked");
		assert_eq!(membership.note(active(100), 7), (false, 0));
		assert!(!membership.is_due(8) && !membership.is_due(16) && membership.is_due(17));
		assert_eq!(membership.note(left.clone(), 17), (true, 0), "it left");
		assert_eq!(membership.note(left, 27), (false, 0));
		assert_eq!(membership.note(None, 37), (true, 0), "it took its bond");
		assert_eq!(membership.note(active(100), 47), (true, 0), "it came back");
		assert!(membership.is_due(3), "a chain that was started from scratch");
	}

	#[test]
	fn what_is_missing_of_the_bond_was_lost() {
		let mut membership = Membership::new(active(100));
		assert_eq!(membership.note(active(90), 7), (false, 10));
		assert_eq!(membership.note(active(90), 17), (false, 0), "reported once");
		assert_eq!(membership.note(active(200), 27), (false, 0), "more was bonded");
		let paused = Some(view(Standing::Paused, 180));
		assert_eq!(membership.note(paused, 37), (true, 20));
	}

	#[test]
	fn a_pause_is_ended_at_once_and_later_ones_after_longer_rests() {
		let mut membership = Membership::new(Some(view(Standing::Paused, 100)));
		assert!(membership.resumes(50) && !membership.resumes(51));
		assert!(!membership.resumes(149) && membership.resumes(150));
		assert!(!membership.resumes(349) && membership.resumes(350));
		membership.note(active(100), 360);
		assert!(!membership.resumes(10_000), "it is not paused");
	}

	#[test]
	fn whoever_wants_to_be_drawn_sends_what_is_missing() {
		let of = |standing| view(standing, 100);
		let (waits, left) = (Standing::Waiting { since: 1 }, Standing::Left { since: 1 });
		let titles = |view: &Option<VerifierView>, bond, capacity: &Resources, location| {
			let offer = Offer { capacity: *capacity, location, vrf_key: KEY };
			let sent = entry(view.as_ref(), bond, &offer)?;
			Some(sent.iter().map(|call| call.title()).collect::<Vec<_>>())
		};
		let smaller = Resources { work: 1, ..HERE };
		let almost = Resources { disk_mib: 9_500, ..HERE };
		for (view, bond, capacity, expected) in [
			(None, None, HERE, None),
			(None, Some(100), HERE, Some(vec!["register", "set_vrf_key"])),
			(active(100), None, HERE, Some(vec![])),
			(active(100), Some(900), almost, Some(vec![])),
			(active(100), None, smaller, Some(vec!["set_capacity"])),
			(Some(of(Standing::Paused)), None, HERE, Some(vec!["resume"])),
			(Some(of(Standing::Paused)), Some(120), HERE, Some(vec!["register"])),
			(Some(of(waits)), Some(100), HERE, Some(vec![])),
			(Some(of(waits)), Some(101), smaller, Some(vec!["bond_extra", "set_capacity"])),
			(Some(of(left)), None, HERE, None),
			(Some(of(left)), Some(50), HERE, Some(vec!["resume"])),
			(Some(of(left)), Some(101), HERE, Some(vec!["register"])),
		] {
			let expected: Option<Vec<String>> = expected
				.map(|names| names.iter().map(|name| format!("Verification.{name}")).collect());
			assert_eq!(titles(&view, bond, &capacity, None), expected, "{view:?} {bond:?}");
		}
		// Where it serves is said last, and once.
		let here = Text::new("http://203.0.113.5:8610");
		let served = Some(VerifierView { location: here.clone(), ..of(Standing::Active) });
		for (view, location, expected) in [
			(None, here.clone(), vec!["register", "set_vrf_key", "set_location"]),
			(active(100), here.clone(), vec!["set_location"]),
			(Some(of(Standing::Paused)), here.clone(), vec!["resume", "set_location"]),
			(served.clone(), here, vec![]),
			(served, None, vec!["set_location"]),
		] {
			let sent = titles(&view, Some(100), &HERE, location);
			let expected: Vec<_> =
				expected.iter().map(|name| format!("Verification.{name}")).collect();
			assert_eq!(sent, Some(expected), "{view:?}");
		}
		// The key is set where there is none, and where there is another one.
		for (standing, sent) in [
			(Standing::Active, vec!["set_vrf_key"]),
			(waits, vec!["set_vrf_key"]),
			(Standing::Paused, vec!["resume", "set_vrf_key"]),
			(left, vec!["resume", "set_vrf_key"]),
		] {
			let sent: Vec<_> = sent.iter().map(|name| format!("Verification.{name}")).collect();
			for vrf_key in [None, Some(H256([8; 32]))] {
				let view = Some(VerifierView { vrf_key, ..of(standing) });
				assert_eq!(titles(&view, Some(100), &HERE, None), Some(sent.clone()), "{view:?}");
			}
		}
	}

	#[test]
	fn a_key_that_is_missing_or_another_is_a_problem_for_who_is_here() {
		let of = |standing, vrf_key| Some(VerifierView { vrf_key, ..view(standing, 100) });
		let left = Standing::Left { since: 1 };
		for standing in [Standing::Active, Standing::Paused, Standing::Waiting { since: 1 }] {
			let problem = |vrf_key| key_problem(of(standing, vrf_key).as_ref(), &KEY);
			assert!(problem(None).is_some_and(|text| text.contains("not drawn")));
			let other = problem(Some(H256([8; 32])));
			assert!(other.is_some_and(|text| text.contains("absent")));
			assert_eq!(problem(Some(KEY)), None);
		}
		assert_eq!(key_problem(of(left, None).as_ref(), &KEY), None);
		assert_eq!(key_problem(None, &KEY), None);
	}
}
