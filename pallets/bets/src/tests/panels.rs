//! What a panel decides.

use super::*;

fn judged(side: Side) -> Offered<AccountId> {
	Offered { panel: Some(panel()), ..offered(Some(side), 1, 1) }
}

fn judge(who: AccountId, offer: u64, judgement: Option<Side>) -> sp_runtime::DispatchResult {
	Betting::judge(signed(who), offer, judgement)
}

#[test]
fn a_panel_decides_words() {
	for (judgement, anna) in [(Some(Side::Right), 500), (Some(Side::Wrong), -500), (None, 0)] {
		run(|| {
			let id = make(ANNA, words(), judged(Side::Right));
			let bet = take(BERT, id, Side::Wrong, 500);
			assert_noop!(judge(BERT, id, judgement), Error::<Test>::NotOnPanel);
			assert_noop!(judge(JUDGES[0], 9, judgement), Error::<Test>::NoSuchOffer);
			pass(LATE);
			assert_ok!(judge(JUDGES[0], id, judgement));
			assert_eq!(
				events().last(),
				Some(&Event::Judged { offer: id, who: JUDGES[0], judgement })
			);
			assert_noop!(Betting::settle(signed(ANNA), bet), Error::<Test>::NotDecided);
			assert_ok!(judge(JUDGES[2], id, judgement));
			assert_eq!(events().last(), Some(&Event::PanelDecided { offer: id, judgement }));
			assert_noop!(judge(JUDGES[1], id, None), Error::<Test>::AlreadyJudged);
			assert_ok!(Betting::settle(signed(ANNA), bet));
			assert_eq!((gain(ANNA), gain(BERT)), (anna, -anna));
		});
	}
}

/// A member changes its mind, and what a member says twice counts once.
#[test]
fn votes_are_of_members() {
	run(|| {
		let id = make(ANNA, words(), judged(Side::Right));
		for _ in 0..3 {
			assert_ok!(judge(JUDGES[0], id, Some(Side::Right)));
		}
		assert_eq!(offer(id).verdict, None);
		assert_ok!(judge(JUDGES[0], id, Some(Side::Wrong)));
		assert_ok!(judge(JUDGES[1], id, Some(Side::Wrong)));
		assert_eq!(offer(id).verdict, Some(Some(Side::Wrong)));
	});
}

/// A panel that says nothing keeps nobody's money.
#[test]
fn a_panel_that_vanishes_decides_nothing() {
	run(|| {
		let id = make(ANNA, words(), judged(Side::Right));
		let bet = take(BERT, id, Side::Wrong, 500);
		assert_ok!(judge(JUDGES[0], id, Some(Side::Right)));
		to(151);
		assert_eq!(Bets::<Test>::iter().count(), 1, "the last block of the panel");
		pass(1);
		assert_eq!(endings(), [BetEnding::Decided(Outcome::Unknown)]);
		assert_noop!(judge(JUDGES[1], id, None), Error::<Test>::NoSuchOffer);
		assert_eq!((gain(ANNA), gain(BERT), held(ANNA)), (0, 0, 0));
		assert!(Bets::<Test>::get(bet).is_none());
	});
}

/// Of a result the panel has the second word, and no say where the job decides.
#[test]
fn a_panel_judges_what_the_job_does_not_decide() {
	run(|| {
		let id = make(ANNA, result(), judged(Side::Right));
		let bet = take(BERT, id, Side::Wrong, 500);
		let no_panel = make(ANNA, result(), offered(Some(Side::Right), 1, 1));
		assert_noop!(judge(JUDGES[0], no_panel, None), Error::<Test>::NotOnPanel);
		assert_noop!(judge(JUDGES[0], id, None), Error::<Test>::NotPanelsTurn);
		over(Outcome::Right);
		assert_noop!(judge(JUDGES[0], id, None), Error::<Test>::NotPanelsTurn);
		over(Outcome::Unknown);
		pass(POLL);
		assert_eq!(Bets::<Test>::iter().count(), 1, "it waits for the panel");
		pass(40);
		for who in [JUDGES[0], JUDGES[1]] {
			assert_ok!(judge(who, id, Some(Side::Wrong)));
		}
		assert_ok!(Betting::settle(signed(ANNA), bet));
		assert_eq!((gain(ANNA), gain(BERT)), (-500, 500));
	});
	run(|| {
		let id = make(ANNA, result(), judged(Side::Right));
		take(BERT, id, Side::Wrong, 500);
		over(Outcome::Unknown);
		// Seen when the bet is looked at first, and then 50 blocks.
		pass(POLL + 50);
		assert_eq!(Bets::<Test>::iter().count(), 1);
		assert_ok!(judge(JUDGES[0], id, Some(Side::Wrong)));
		pass(1);
		assert_eq!(endings(), [BetEnding::Decided(Outcome::Unknown)]);
		assert_eq!((gain(ANNA), gain(BERT)), (0, 0));
	});
}
