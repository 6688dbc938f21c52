//! What must hold in any state.

use crate::{
	Accusations, AuditRecords, Config, HoldReason, Pallet, Pool, Rechecks, Verdicts, MAX_FEES,
	MAX_PARTIES, MAX_STRANGERS,
};
use alloc::collections::{BTreeMap, BTreeSet};
use frame_support::{
	ensure,
	traits::{fungible::InspectHold, Get},
};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{
	audit::{AuditPhase, Decision},
	job::{Balance, MAX_AUDIT_ROUNDS},
	pieces::{seat_share, Piece, LATE_PIECES},
	seats::Resources,
	vrf,
};

/// What the seats of a verifier in running audits come to.
type Seats = (Balance, Resources);

impl<T: Config> Pallet<T> {
	/// - A bond is what is held of its verifier, and covers what its seats lock. These are the seats
	///   of running audits, what they accuse others with, and those of recomputations. No more verifiers
	///   have a place than there are places, and no more counts of a bond than is there.
	/// - Whoever has a place has a key, by which it can sign.
	/// - A committee has no party, no member twice, no member without a bond while it works, and no
	///   more members than wanted; it has a seed. Nobody is convicted that revealed nothing.
	/// - Forced leaves are kept of just those trainers that opened them. When the time for that is over the
	///   others are out, and only then anybody has found one.
	/// - Fees were earned by verifiers, by each at most once a round, and by no party. None waits at the end.
	/// - What seats lost by accusations is noted while they can be convicted themselves.
	/// - An audit that is done has a decision for each group, and no audit more rounds than allowed; it
	///   draws soon, or waits no longer than it may. A result is rejected if and only if all its trainers
	///   were convicted first, and no more than one result is accepted.
	/// - There is a window while results stand, or are stored meanwhile, and at no other time.
	/// - What was asked for, see `check_claims` and `check_lists`.
	/// - There are findings of exactly the members who revealed.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		for (job, who, kept) in crate::Kept::<T>::iter() {
			let running = AuditRecords::<T>::get(job).filter(|a| a.phase != AuditPhase::Done);
			let audit = running.ok_or("a rescue is kept for an audit that does not run")?;
			let rescues = matches!(audit.phase, AuditPhase::Rescue { .. });
			ensure!(rescues || kept.iter().all(|kept| kept.stored), "announced at no time");
			ensure!(
				audit.groups.iter().any(|group| group.trainers.contains(&who)),
				"a stranger stored a result"
			);
			let is_in_list = |kept: &crate::KeptBlob| {
				let mut open = audit.groups.iter().filter(|group| group.decision.is_none());
				open.all(|group| !group.trainers.contains(&who) || group.has_asked(&kept.piece))
			};
			ensure!(kept.iter().all(is_in_list), "a blob is kept for what is in no list");
		}
		for (job, who, _) in crate::ShownLeaves::<T>::iter() {
			let running = AuditRecords::<T>::get(job).filter(|a| a.phase != AuditPhase::Done);
			let audit = running.ok_or("leaves are kept for an audit that does not run")?;
			ensure!(
				audit.groups.iter().any(|group| group.trainers.contains(&who)),
				"a stranger brought leaves"
			);
		}
		for (job, who, leaves) in crate::NamedStates::<T>::iter() {
			let running = AuditRecords::<T>::get(job).filter(|a| a.phase != AuditPhase::Done);
			let audit = running.ok_or("a leaf is named for an audit that does not run")?;
			let result = audit.groups.iter().find_map(|group| {
				let at = group.trainers.iter().position(|trainer| *trainer == who)?;
				group.result_of(at)
			});
			let fits =
				result.is_some_and(|result| leaves.iter().all(|named| named.leaf.fits(&result)));
			ensure!(fits, "a leaf that is not of its trainer's bundle");
		}
		let mut seats = BTreeMap::<T::AccountId, Seats>::new();
		let mut revealed = 0usize;
		for (job, audit) in AuditRecords::<T>::iter() {
			ensure!(audit.round < MAX_AUDIT_ROUNDS, "a round too many");
			ensure!(audit.parties.len() <= MAX_PARTIES as usize, "too many parties");
			ensure!(audit.committee.len() <= audit.verifiers as usize, "committee too large");
			ensure!(
				audit.committee.is_empty() || audit.committee.len() % 2 == 1,
				"a committee that can be split"
			);
			let works = audit.works();
			ensure!(!works || !audit.committee.is_empty(), "nobody works on an audit");
			ensure!(
				audit.committee.is_empty() == audit.seed.is_none(),
				"a committee without a seed"
			);
			let stands = match audit.phase {
				AuditPhase::Standing { .. } => true,
				AuditPhase::Rescue { .. } => !works,
				_ => false,
			};
			ensure!(audit.window.is_some() == stands, "a window at another time");
			ensure!(stands || audit.recheck == Rechecks::None, "evidence is replayed at no time");
			for (at, member) in audit.committee.iter().enumerate() {
				let who = &member.verifier;
				ensure!(!audit.parties.contains(who), "a party sits on the committee");
				ensure!(
					!audit.barred.contains(who) || member.convicted,
					"who was convicted is drawn again"
				);
				ensure!(
					member.revealed || member.postponed.is_empty(),
					"accusations wait that nobody spoke of"
				);
				ensure!(
					audit.committee.iter().take(at).all(|other| other.verifier != *who),
					"a verifier sits on the committee twice"
				);
				ensure!(
					Verdicts::<T>::contains_key(job, who) == member.revealed,
					"findings do not go with the members who revealed"
				);
				ensure!(member.commitment.is_some() || !member.revealed, "a reveal of nothing");
				revealed = revealed.saturating_add(usize::from(member.revealed));
				ensure!(member.revealed || !member.convicted, "a conviction for nothing");
				ensure!(member.locked <= audit.stake, "a seat locks more than its stake");
				ensure!(
					audit.phase != AuditPhase::Done || member.locked == 0,
					"a seat is locked after its audit"
				);
				let (locked, load) = seats.entry(who.clone()).or_default();
				*locked = locked.saturating_add(member.locked);
				if works {
					*load = load.and(&audit.needs);
				}
			}
			ensure!(
				audit.phase != AuditPhase::Done || audit.waiting.is_empty(),
				"a fee waits after the end"
			);
			ensure!(
				audit.phase != AuditPhase::Done || audit.owing.is_empty(),
				"a seat owes for a rejection after the end"
			);
			ensure!(
				audit.groups.iter().all(|of| of.decision.is_some() == of.decided_at.is_some()),
				"a decision without its height"
			);
			let earned: alloc::vec::Vec<_> =
				audit.served.iter().chain(audit.waiting.iter().map(|of| &of.seat)).collect();
			ensure!(earned.len() <= MAX_FEES as usize, "too many fees");
			for who in &earned {
				ensure!(!audit.parties.contains(who), "a party earned a fee");
				ensure!(!audit.barred.contains(who), "a convict earned a fee");
				let fees = earned.iter().filter(|other| *other == who).count();
				ensure!(fees <= (audit.round as usize).saturating_add(1), "more fees than rounds");
			}
			ensure!(
				audit.found.iter().all(|who| audit.parties.iter().all(|party| party != who)),
				"a party found forced errors"
			);
			ensure!(audit.opened || audit.found.is_empty(), "forced errors were found before");
			for group in &audit.groups {
				ensure!(group.bundles.len() == group.trainers.len(), "a bundle for each trainer");
				for (trainer, bundle) in group.trainers.iter().zip(&group.bundles) {
					let is_kept = crate::Forced::<T>::contains_key(job, trainer);
					ensure!(is_kept == bundle.opened, "forced leaves of who did not open them");
					ensure!(
						!audit.opened || bundle.opened || group.convicted.contains(trainer),
						"who did not open is not out"
					);
				}
				ensure!(
					group.convicted.iter().all(|who| group.trainers.contains(who)),
					"a stranger is convicted of a result"
				);
				ensure!(group.out_at.len() == group.convicted.len(), "nobody knows since when");
				let all = group.convicted.len() == group.trainers.len();
				ensure!(
					match group.decision {
						Some(Decision::Rejected) => all,
						// It was lost before.
						Some(Decision::Unavailable) => true,
						_ => !all,
					},
					"a result is not rejected because its trainers were convicted"
				);
			}
			let is_true = |group: &&crate::Group<T::AccountId>| {
				group.decision.is_some_and(|decision| decision.is_true())
			};
			let accepted = audit.groups.iter().filter(is_true).count();
			ensure!(accepted <= 1, "two results are accepted");
			let done = audit.phase == AuditPhase::Done;
			ensure!(!done || audit.is_decided(), "done without decisions");
			ensure!(done || accepted == 0, "accepted before the end");
			if let AuditPhase::Drawing { after } = audit.phase {
				let latest = Self::now().saturating_add(T::MaxWaitBlocks::get());
				ensure!(after <= latest, "an audit waits too long");
			}
		}
		ensure!(Verdicts::<T>::iter_keys().count() == revealed, "findings of nobody");
		for (job, who, lost) in crate::Forfeited::<T>::iter() {
			let audit = AuditRecords::<T>::get(job).ok_or("a forfeit of no audit")?;
			let mut seats = audit.committee.iter();
			let speaks = seats.any(|member| member.verifier == who && member.revealed);
			ensure!(speaks && !lost.is_empty(), "a forfeit of who cannot be convicted");
			ensure!(audit.phase != AuditPhase::Done, "a forfeit is kept after the end");
		}
		for (_, who, accusing) in Accusations::<T>::iter() {
			ensure!(accusing.open > 0 && accusing.stake > 0, "an accusation for nothing");
			let (locked, _) = seats.entry(who).or_default();
			*locked = locked.saturating_add(accusing.stake.saturating_mul(accusing.open.into()));
		}
		Self::check_claims()?;
		Self::check_lists()?;
		Self::check_relays(&mut seats)?;
		Self::check_pool(seats)
	}

	/// Checks relays: each is of a result that stands and on the agenda, what is held for them is what was
	/// prepaid, and their seats lock what they can lose.
	fn check_relays(seats: &mut BTreeMap<T::AccountId, Seats>) -> Result<(), TryRuntimeError> {
		let mut held = BTreeMap::<T::AccountId, Balance>::new();
		let mut hold = |who: &T::AccountId, amount: Balance| {
			let sum = held.entry(who.clone()).or_default();
			*sum = sum.saturating_add(amount);
		};
		for (id, relay) in crate::Relays::<T>::iter() {
			let audit = AuditRecords::<T>::get(relay.job).ok_or("a relay without an audit")?;
			ensure!(audit.window.is_some(), "a relay at another time");
			let open = crate::OpenRelays::<T>::get(relay.job);
			ensure!(open.contains(&id), "a relay that its job does not know");
			ensure!(crate::RelayDue::<T>::contains_key(id), "a relay that nobody looks at");
			ensure!(id < crate::NextRelay::<T>::get(), "a relay from the future");
			hold(&relay.by, relay.prepaid);
			if let Some(appeal) = &relay.appeal {
				hold(&appeal.by, appeal.prepaid);
			}
			ensure!(relay.appeal.is_some() || relay.before.is_empty(), "a committee too many");
			for seat in relay.before.iter().chain(relay.seats.iter()) {
				if let Some((payer, _)) = &seat.asked {
					hold(payer, relay.ask);
					ensure!(seat.has(), "a seat is asked for what it does not have");
				}
				ensure!(!seat.shown || seat.says == Some(true), "a chunk of who has nothing");
				ensure!(!audit.parties.contains(&seat.who), "a party sits in a relay");
				ensure!(seat.who != relay.by, "an asker sits in its relay");
				let (locked, load) = seats.entry(seat.who.clone()).or_default();
				if !seat.lost {
					*locked = locked.saturating_add(relay.stake);
				}
				*load = load.and(&relay.needs);
			}
		}
		for (job, open) in crate::OpenRelays::<T>::iter() {
			let audit =
				AuditRecords::<T>::get(job).ok_or("relays of an audit that is not there")?;
			ensure!(audit.relays as usize == open.len(), "an audit does not know its relays");
			ensure!(
				open.iter().all(|id| crate::Relays::<T>::contains_key(id)),
				"a relay that is not there"
			);
		}
		for (job, audit) in AuditRecords::<T>::iter() {
			let open = crate::OpenRelays::<T>::get(job);
			ensure!(audit.relays as usize == open.len(), "an audit counts other relays");
		}
		let reason = HoldReason::Relay.into();
		for (who, amount) in held {
			let on_hold = T::Currency::balance_on_hold(&reason, &who);
			ensure!(on_hold == amount, "what is held for relays is not what was prepaid");
		}
		Ok(())
	}

	/// Checks what was asked for: while a committee works only its members have claims, exactly what open
	/// ones name is asked for, and what was prepaid is what is held.
	fn check_claims() -> Result<(), TryRuntimeError> {
		let mut held = BTreeMap::<T::AccountId, Balance>::new();
		for (job, who, claims) in crate::Claims::<T>::iter() {
			let audit =
				AuditRecords::<T>::get(job).ok_or("claims in an audit that is not there")?;
			ensure!(audit.works() || audit.window.is_some(), "claims at no time");
			let sits = audit.committee.iter().find(|member| member.verifier == who);
			ensure!(!audit.works() || sits.is_some(), "a claim of somebody without a seat");
			let is_open = claims.iter().any(|claim| claim.open);
			ensure!(is_open || audit.window.is_none(), "a claim is kept for nothing");
			for claim in claims {
				let kept = claim.prepaid.saturating_add(claim.pledge);
				ensure!(claim.open || kept == 0, "something is held for a claim that ended");
				let late = audit.window.is_some();
				ensure!(late || claim.pledge == 0, "a pledge to a committee that works");
				let group = audit.groups.get(claim.group as usize).ok_or("a claim on no result")?;
				let asked = |piece: &Piece| group.open_pieces().any(|other| other == *piece);
				ensure!(!claim.open || claim.pieces.iter().all(asked), "a claim that nobody sees");
				let works = audit.works();
				ensure!(
					!claim.open || !works || sits.is_some_and(|member| member.commitment.is_none()),
					"who committed lacks something"
				);
				let sum = held.entry(who.clone()).or_default();
				*sum = sum.saturating_add(kept);
			}
		}
		let reason = HoldReason::Claim.into();
		for (who, prepaid) in held {
			let on_hold = T::Currency::balance_on_hold(&reason, &who);
			ensure!(on_hold == prepaid, "what is held for claims is not what was prepaid");
		}
		for (job, audit) in AuditRecords::<T>::iter() {
			ensure!(audit.windows <= crate::MAX_WINDOWS, "too many windows");
			let strangers = crate::Claims::<T>::iter_key_prefix(job)
				.filter(|who| audit.committee.iter().all(|member| member.verifier != *who));
			ensure!(strangers.count() <= MAX_STRANGERS as usize, "too many strangers");
			ensure!(
				audit.committee.iter().all(|member| member.began <= crate::MAX_BEGUN),
				"a seat that asks again and again"
			);
			let committing =
				matches!(audit.phase, AuditPhase::Committing { .. } | AuditPhase::Standing { .. });
			ensure!(audit.relay.is_none() || committing, "seats wait for each other at no time");
			let open: alloc::vec::Vec<_> = crate::Claims::<T>::iter_prefix(job)
				.flat_map(|(_, claims)| claims)
				.filter(|claim| claim.open)
				.collect();
			ensure!(
				!committing || audit.relay.is_none() == open.is_empty(),
				"a claim without time"
			);
			for (at, group) in (0u32..).zip(&audit.groups) {
				let named = |piece| {
					open.iter().any(|claim| claim.group == at && claim.pieces.contains(&piece))
				};
				ensure!(group.open_pieces().all(named), "a piece is asked for by nobody");
				let others = |asked: &crate::Asked| {
					u32::from(asked.answered) >> group.trainers.len().min(31) != 0
				};
				ensure!(!group.asked.iter().any(others), "a stranger answered");
			}
		}
		Ok(())
	}

	/// Checks the lists of what was asked for: no piece is in one twice, each seat named no more than its share,
	/// and others no more at a time than there is room for, of which as many are kept when they are stored. Before
	/// results stand nobody asked late.
	fn check_lists() -> Result<(), TryRuntimeError> {
		for (job, audit) in AuditRecords::<T>::iter() {
			let share = seat_share(audit.committee.len() as u32);
			for (at, group) in (0u32..).zip(&audit.groups) {
				let pieces: BTreeSet<Piece> = group.asked.iter().map(|asked| asked.piece).collect();
				ensure!(pieces.len() == group.asked.len(), "a piece is in a list twice");
				let late = |stored: bool| {
					let late = group.asked.iter().filter(|a| a.late && a.stored == stored);
					late.filter(|asked| group.counts(&audit.sizes, &asked.piece)).count() as u32
				};
				let (open, stored) = (late(false), late(true));
				ensure!(
					open <= LATE_PIECES && stored <= LATE_PIECES,
					"more than there is room for"
				);
				ensure!(stored <= group.late, "more is stored late than ever was");
				let stands = audit.window.is_some() || audit.phase == AuditPhase::Done;
				ensure!(stands || group.asked.iter().all(|a| !a.late), "somebody was late early");
				for member in audit.committee.iter().filter(|_| audit.works()) {
					let named = Self::named(job, &audit, &member.verifier, at);
					ensure!(named.len() as u32 <= share, "a seat took of another one's share");
				}
			}
		}
		Ok(())
	}

	/// Checks the pool against the `seats` of running audits.
	fn check_pool(mut seats: BTreeMap<T::AccountId, Seats>) -> Result<(), TryRuntimeError> {
		let pool = Pool::<T>::get();
		ensure!(Self::places(&pool) <= T::MaxPool::get() as usize, "too many have a place");
		for (who, entry) in pool {
			let held = T::Currency::balance_on_hold(&HoldReason::VerifierBond.into(), &who);
			ensure!(held == entry.bond, "a bond is not what is held");
			ensure!(entry.locked <= entry.bond, "seats lock more than the bond");
			ensure!(entry.counted <= entry.bond, "more counts than the bond");
			ensure!(!entry.has_place() || entry.has_key(), "a place without a key");
			let key = entry.vrf.latest();
			ensure!(key.is_none_or(|key| vrf::is_key(&key.0)), "a key that is none");
			ensure!(entry.vrf.changed() <= Some(Self::now()), "a key from the future");
			let latest = entry.weights.latest().unwrap_or(0);
			let counts = if entry.is_active() { entry.counted } else { 0 };
			ensure!(latest == counts, "what counts in draws is not what it should be");
			ensure!(entry.weights.changed() <= Some(Self::now()), "a bond from the future");
			let (locked, load) = seats.remove(&who).unwrap_or_default();
			if entry.checks == 0 {
				ensure!(entry.locked == locked, "locked seats are not those of running audits");
				ensure!(entry.load == load, "a load is not that of running audits");
			} else {
				ensure!(entry.locked >= locked, "seats of audits lock nothing");
			}
		}
		ensure!(seats.is_empty(), "a member of a committee without a bond");
		for who in crate::Locations::<T>::iter_keys() {
			ensure!(Pool::<T>::get().contains_key(&who), "the location of no verifier");
		}
		Ok(())
	}
}
