//! What a peer knows of the others: who answers, what they have, and who is not asked any more.
//!
//! Whether somebody can be reached is found out in the background, so that a turn of mixing draws among those
//! that answered lately. Who does not answer is asked after a pause that doubles. Who gave other bytes than it
//! announced, or announced what is no model, is dropped: that is no matter of the network.

use std::{
	collections::BTreeMap,
	time::{Duration, Instant},
};
use trainyard_client::{swarm::PeerView, AccountId32};
use trainyard_protocol::{federation::PartData, H256};
use trainyard_transport::Location;

/// How often a pause is doubled, at most.
const MOST_DOUBLINGS: u32 = 8;

/// What is known of one peer.
#[derive(Clone, Debug, Default)]
struct Known {
	location: Option<Location>,
	/// When it answered last.
	answered: Option<Instant>,
	/// How often in a row it did not.
	missed: u32,
	/// Before that it is not asked.
	aside: Option<Instant>,
	/// Whether it is being asked.
	asking: bool,
	/// Why it is not asked any more.
	fault: Option<String>,
	models: Vec<H256>,
	slices: Vec<PartData>,
}

impl Known {
	fn is_reached(&self) -> bool {
		self.answered.is_some() && self.missed == 0 && self.fault.is_none()
	}
}

/// What is known of all of them.
#[derive(Debug)]
pub struct Standing {
	known: BTreeMap<AccountId32, Known>,
	/// The first pause after which somebody is asked again that did not answer.
	pause: Duration,
	/// After so long it is looked whether somebody is still there.
	fresh: Duration,
}

impl Standing {
	/// Knows nobody. Who does not answer is asked again after `pause`, who did after `fresh`.
	pub fn new(pause: Duration, fresh: Duration) -> Self {
		Self { known: BTreeMap::new(), pause, fresh }
	}

	/// Takes note of who there is by now, and where: with a location that another one has come to the place of,
	/// somebody is asked at once. Returns the locations that others have come to the place of.
	pub fn are(
		&mut self,
		peers: &[PeerView],
		me: &AccountId32,
		usable: impl Fn(&PeerView) -> Option<Location>,
	) -> Vec<Location> {
		let mut moved = Vec::new();
		let is_there = |account: &AccountId32| peers.iter().any(|peer| peer.account == *account);
		// What somebody did stays known where it leaves and comes back.
		self.known.retain(|account, known| is_there(account) || known.fault.is_some());
		for peer in peers.iter().filter(|peer| peer.account != *me) {
			let known = self.known.entry(peer.account).or_default();
			let location = usable(peer);
			if known.location != location {
				moved.extend(known.location.take());
				(known.location, known.missed, known.aside) = (location, 0, None);
				// Whoever is being asked where it was is asked again where it is.
				(known.answered, known.asking) = (None, false);
			}
		}
		for (account, known) in &mut self.known {
			if !is_there(account) {
				known.location = None;
			}
		}
		moved
	}

	/// Returns who is to be asked now whether it is there, where, and how often it missed that; they count as
	/// being asked from then on.
	pub fn due(&mut self, now: Instant) -> Vec<(AccountId32, Location, u32)> {
		let mut due = Vec::new();
		for (account, known) in &mut self.known {
			let is_fresh = known.answered.is_some_and(|at| now.duration_since(at) < self.fresh);
			let waits = known.aside.is_some_and(|until| until > now);
			let asked = known.asking || known.fault.is_some() || waits;
			if asked || (is_fresh && known.missed == 0) {
				continue;
			}
			if let Some(location) = &known.location {
				known.asking = true;
				due.push((*account, location.clone(), known.missed));
			}
		}
		due
	}

	/// Returns whether somebody is here, as far as is known by now.
	pub fn is_at(&self, who: &AccountId32, location: &Location) -> bool {
		self.known.get(who).is_some_and(|known| known.location.as_ref() == Some(location))
	}

	/// Takes note that somebody answered, with what it has.
	pub fn answered(
		&mut self,
		who: &AccountId32,
		now: Instant,
		models: Vec<H256>,
		slices: Vec<PartData>,
	) {
		if let Some(known) = self.known.get_mut(who) {
			(known.models, known.slices) = (models, slices);
			(known.answered, known.missed, known.aside, known.asking) = (Some(now), 0, None, false);
		}
	}

	/// Takes note that somebody did not answer, or not as it should.
	pub fn missed(&mut self, who: &AccountId32, now: Instant) {
		if let Some(known) = self.known.get_mut(who) {
			let doubled = 1u32.checked_shl(known.missed.min(MOST_DOUBLINGS)).unwrap_or(u32::MAX);
			known.missed = known.missed.saturating_add(1);
			known.aside = now.checked_add(self.pause.saturating_mul(doubled));
			known.asking = false;
		}
	}

	/// Asks somebody nothing more.
	pub fn drop_for(&mut self, who: &AccountId32, why: &str) {
		let known = self.known.entry(*who).or_default();
		known.fault.get_or_insert_with(|| why.to_owned());
		known.asking = false;
	}

	/// Returns why somebody is not asked any more.
	pub fn fault(&self, who: &AccountId32) -> Option<&str> {
		self.known.get(who)?.fault.as_deref()
	}

	/// Returns how often in a row somebody did not answer.
	pub fn misses(&self, who: &AccountId32) -> u32 {
		self.known.get(who).map_or(0, |known| known.missed)
	}

	/// Returns whether nobody is left of whom it is not known whether it answers.
	pub fn all_were_asked(&self) -> bool {
		let mut all = self.known.values().filter(|known| known.location.is_some());
		all.all(|known| known.answered.is_some() || known.missed > 0 || known.fault.is_some())
	}

	/// Returns where somebody is that answered lately.
	pub fn reached(&self, who: &AccountId32) -> Option<&Location> {
		self.known.get(who).filter(|known| known.is_reached())?.location.as_ref()
	}

	/// Returns who says that it has this model, and where it is.
	pub fn holders(&self, root: &H256) -> Vec<(AccountId32, Location)> {
		let reached = self.known.iter().filter(|(_, known)| known.is_reached());
		let having = reached.filter(|(_, known)| known.models.contains(root));
		having.filter_map(|(who, known)| Some((*who, known.location.clone()?))).collect()
	}

	/// Returns the slices that are served, by whom, and where.
	pub fn slices(&self) -> Vec<(AccountId32, Location, PartData)> {
		let reached = self.known.iter().filter(|(_, known)| known.is_reached());
		reached
			.flat_map(|(who, known)| {
				let at = known.location.clone();
				let served = known.slices.iter().cloned();
				served.filter_map(move |slice| Some((*who, at.clone()?, slice)))
			})
			.collect()
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::swarm::testing::{account, peer_view};
	use trainyard_transport::SecretKey;

	fn who(n: u8) -> PeerView {
		peer_view(account(n), &SecretKey::from_bytes(&[n; 32]))
	}

	fn place(peer: &PeerView) -> Option<Location> {
		let key = trainyard_transport::EndpointId::from_bytes(&peer.key.0).ok()?;
		let port = 1_000 + u16::from(peer.account.0[0]) + peer.roles as u16 * 256;
		Some(Location { addresses: vec![([127, 0, 0, 1], port).into()], ..Location::new(key) })
	}

	fn names(due: Vec<(AccountId32, Location, u32)>) -> Vec<u8> {
		due.into_iter().map(|(account, ..)| account.0[0]).collect()
	}

	const SECOND: Duration = Duration::from_secs(1);

	#[test]
	fn who_does_not_answer_is_asked_ever_less_and_holds_up_nobody() {
		let mut standing = Standing::new(SECOND, 100 * SECOND);
		let now = Instant::now();
		standing.are(&[who(1), who(2), who(3)], &account(3), place);
		assert_eq!(names(standing.due(now)), [1, 2]);
		assert!(names(standing.due(now)).is_empty(), "they are being asked");
		standing.answered(&account(1), now, vec![H256::zero()], vec![]);
		assert!(standing.reached(&account(1)).is_some() && standing.reached(&account(2)).is_none());
		assert_eq!(standing.holders(&H256::zero())[0].0, account(1));
		let mut asked = Vec::new();
		standing.missed(&account(2), now);
		for second in 0..40 {
			let at = now + second * SECOND;
			for _ in standing.due(at) {
				asked.push(second);
				standing.missed(&account(2), at);
			}
		}
		assert_eq!(asked, [1, 3, 7, 15, 31]);
		assert_eq!((standing.misses(&account(2)), standing.misses(&account(1))), (6, 0));
		assert!(standing.all_were_asked());
		assert_eq!(names(standing.due(now + 100 * SECOND)), [1, 2], "is the other still there?");
	}

	#[test]
	fn with_another_location_it_is_asked_at_once() {
		let mut standing = Standing::new(SECOND, SECOND);
		let now = Instant::now();
		let mut peer = who(1);
		standing.are(&[peer.clone()], &account(3), place);
		standing.due(now);
		standing.missed(&account(1), now);
		standing.are(&[peer.clone()], &account(3), place);
		assert!(standing.due(now).is_empty());
		let before = place(&peer).unwrap();
		peer.roles = 1;
		assert_eq!(standing.are(&[peer.clone()], &account(3), place), [before.clone()]);
		assert_eq!(names(standing.due(now)), [1]);
		assert!(standing.is_at(&account(1), &place(&peer).unwrap()));
		assert!(!standing.is_at(&account(1), &before), "what comes of the question there is old");
		// Also while it is being asked where it was.
		peer.roles = 2;
		standing.are(&[peer], &account(3), place);
		assert_eq!(names(standing.due(now)), [1]);
	}

	#[test]
	fn who_was_dropped_stays_dropped() {
		let mut standing = Standing::new(SECOND, SECOND);
		let now = Instant::now();
		standing.are(&[who(1)], &account(3), place);
		standing.answered(&account(1), now, vec![H256::zero()], vec![]);
		standing.drop_for(&account(1), "it lies");
		standing.are(&[], &account(3), place);
		standing.are(&[who(1)], &account(3), place);
		assert!(standing.due(now + 10 * SECOND).is_empty());
		assert_eq!(standing.fault(&account(1)), Some("it lies"));
		assert!(
			standing.reached(&account(1)).is_none() && standing.holders(&H256::zero()).is_empty()
		);
	}
}
