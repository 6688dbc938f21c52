use super::*;

/// What was said once is not asked for again, and leads to the same.
#[test]
fn posts_serve_every_dispute() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let mut store = Store::default();
	let mut look = |_: Game<'_, Store>, _: &Stage| {};
	let changes = [
		Change::Bent { step: 3 },
		Change::Bent { step: 3 },
		Change::Loss { step: 3 },
		Change::Loss { step: 2 },
		Change::Slice { checkpoint: 2, slice: 0 },
		Change::Mean { checkpoint: 2 },
	];
	let mut said = vec![];
	for change in changes {
		let accuser = Run::new(&job, change);
		let table = Table::new(&job, &honest, &accuser);
		let played = table.play(table.accusation().unwrap(), &mut store, &mut look);
		assert_eq!(played.judged(), Outcome::Acquitted);
		said.push(played.said);
	}
	// Ends and a step; then nothing; another step; a slice; nothing.
	assert_eq!(said, [2, 0, 0, 1, 1, 0]);
}

/// What a cheat posted in one dispute convicts it in another, of a challenger who computed honestly.
#[test]
fn what_was_said_once_binds() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let cheat = Run::new(&job, Change::Bent { step: 3 });
	let mut store = Store::default();
	let mut look = |_: Game<'_, Store>, _: &Stage| {};
	// A friend denies what is true, and loses.
	let friend = Run::new(&job, Change::Loss { step: 2 });
	let played = Table::new(&job, &cheat, &friend).play(Target::Segment(1), &mut store, &mut look);
	assert_eq!(played.judged(), Outcome::Acquitted);
	let played = Table::new(&job, &cheat, &honest).play(Target::Segment(1), &mut store, &mut look);
	assert_eq!(played.judged(), Outcome::Convicted);
	// Ends were opened before.
	assert_eq!(played.said, 1);
}

/// Two disputes at one place: where the defender says something in one, the other goes on by it.
#[test]
fn a_dispute_goes_on_by_what_is_said_in_another() {
	let job = jobs::small();
	let honest = Run::new(&job, Change::Nothing);
	let accuser = Run::new(&job, Change::Bent { step: 3 });
	let (case, result) = (&job.world.case, &honest.result());
	let table = Table::new(&job, &honest, &accuser);
	let target = Target::Segment(1);
	let mut store = Store::default();
	let begun = {
		let game = Game { case, result, said: &store };
		let (claimed, _) = table.claims(&target);
		game.begin(target, &claimed, &table.leaves(&target), None).unwrap()
	};
	let Next::Stage(stage) = begun.next else { panic!("{begun:?}") };
	assert_eq!((stage.turn, stage.place()), (Turn::Defender, Some(Place::Ends { target })));
	let player = Player { case, record: &honest };
	let place = stage.place().unwrap();
	let game = Game { case, result, said: &store };
	let opening = player.open(game, &stage).unwrap();
	let moved = game.open(&stage, &place, &opening).unwrap();
	store.keep(moved.said);
	let game = Game { case, result, said: &store };
	// It was said; and the other dispute, which stands where it stood, goes on by it.
	assert_eq!(game.open(&stage, &place, &opening), Err(Refused::AlreadySaid));
	let other = game.advance(&stage).unwrap();
	assert_eq!(Next::Stage(other), moved.next);
	assert_eq!(other.turn, Turn::Challenger);
}
