//! Opening, asking about and forgetting audits.

use crate::{mock::*, AuditRecords, Error, Event, Verdicts};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::duties::Drawing;
use trainyard_protocol::{
	audit::{AuditPhase, Decision},
	job::WorkResult,
};
use trainyard_traits::{AuditRequest, AuditStatus, Audits};

#[test]
fn an_audit_opens_at_the_present_block() {
	run(|| {
		System::set_block_number(7);
		assert_ok!(Verification::open(JOB, request(2, 3)));
		System::assert_last_event(Event::AuditOpened { job: JOB, groups: 2 }.into());
		let view = view();
		assert_eq!((view.round, view.phase), (0, AuditPhase::Drawing { after: 7 }));
		assert_eq!(view.groups.len(), 2);
		assert!(view.groups.iter().all(|g| g.decision.is_none() && g.rescued.is_empty()));
		assert!(view.committee.is_empty() && view.seed.is_none());
		assert_eq!(Verification::advance(JOB), AuditStatus::Pending(7 + SEED_BLOCKS + 1));
	});
}

#[test]
fn a_job_has_one_audit() {
	run(|| {
		assert_ok!(Verification::open(JOB, request(1, 3)));
		assert_noop!(Verification::open(JOB, request(1, 3)), Error::<Test>::AlreadyOpen);
	});
}

#[test]
fn requests_are_bounded() {
	run(|| {
		let good = || request(2, 3);
		let empty = WorkResult { segments: 0, ..good().groups[1].0 };
		let bad: Vec<AuditRequest<AccountId>> = vec![
			AuditRequest { groups: vec![], ..good() },
			AuditRequest { groups: vec![good().groups[0].clone(); 9], ..good() },
			AuditRequest { groups: vec![group_of(&[2; 9])], ..good() },
			AuditRequest { parties: vec![1; 10], ..good() },
			AuditRequest { verifiers: 0, ..good() },
			AuditRequest { verifiers: 17, ..good() },
			AuditRequest { challenge: 0, ..good() },
			AuditRequest { groups: vec![(good().groups[0].0, vec![])], ..good() },
			AuditRequest {
				groups: vec![good().groups[0].clone(), (empty, group_of(&[3]).1)],
				..good()
			},
		];
		for request in bad {
			assert_noop!(Verification::open(JOB, request), Error::<Test>::BadRequest);
		}
		assert_ok!(Verification::open(JOB, good()));
	});
}

/// All seats together draw 45 of 1,000 segments, and one no more than 16.
#[test]
fn each_seat_draws_enough() {
	run(|| {
		let of = |segments, audit_segments, verifiers| {
			let mut request = AuditRequest {
				drawing: Drawing { draws: audit_segments, lottery: None },
				..request(2, verifiers)
			};
			request.groups[1].0.segments = segments;
			request
		};
		let bad = Error::<Test>::BadAuditSegments;
		assert_noop!(Verification::open(JOB, of(10, 0, 3)), bad);
		let bad = Error::<Test>::BadAuditSegments;
		assert_noop!(Verification::open(JOB, of(10, 17, 3)), bad);
		let bad = Error::<Test>::BadAuditSegments;
		assert_noop!(Verification::open(JOB, of(1_000, 14, 3)), bad);
		let bad = Error::<Test>::BadAuditSegments;
		assert_noop!(Verification::open(JOB, of(1_000, 2, 15)), bad);
		for (job, request) in
			[of(1_000, 15, 3), of(1_000, 3, 15), of(10, 1, 3)].into_iter().enumerate()
		{
			assert_ok!(Verification::open(job as u32, request));
		}
	});
}

#[test]
fn an_unknown_audit_is_done_without_decisions() {
	run(|| {
		let nothing = AuditStatus::Done(Default::default());
		assert_eq!(Verification::advance(JOB), nothing);
		assert_eq!(Verification::audit_view(JOB), None);
	});
}

#[test]
fn a_decided_audit_stays_until_it_is_forgotten() {
	run(|| {
		bonded(3);
		open(1, 3);
		let committee = unanimous(Say::Yes);
		let done = finish();
		assert_eq!(done, (vec![Decision::Accepted], committee));
		// Asked again, it says the same.
		let found = AuditRecords::<Test>::get(JOB).unwrap().found.into_inner();
		let again = AuditStatus::Done(trainyard_traits::Outcome {
			decisions: done.0,
			served: done.1,
			found: Some(found),
			..Default::default()
		});
		assert_eq!(Verification::advance(JOB), again);
		let seen = view();
		assert_eq!(seen.phase, AuditPhase::Done);
		assert!(seen.committee.iter().all(|member| member.findings.is_some()));

		Verification::remove(JOB);
		assert_eq!(Verification::audit_view(JOB), None);
		assert_eq!(AuditRecords::<Test>::iter().count(), 0);
		assert_eq!(Verdicts::<Test>::iter().count(), 0);
	});
}
