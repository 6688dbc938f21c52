//! Facts made up for tests.

use super::facts::{Facts, Unbonding};
use trainyard_client::{
	books::{Health, Hold},
	fake, Account, AccountId32, JobView, ReplicaView, TrainerView,
};
use trainyard_protocol::{
	job::{Balance, Fate, JobState},
	seats::Resources,
	views::{Hardware, Standing, VerifierView},
	JobId, H256,
};

/// One TRY.
pub const TRY: Balance = 1_000_000_000_000;
/// The account.
pub const ME: AccountId32 = AccountId32([1; 32]);

/// A hold.
pub fn hold(reason: &str, amount: Balance) -> Hold {
	Hold { reason: reason.into(), amount }
}

/// The account as a trainer.
pub fn trainer() -> TrainerView {
	TrainerView {
		account: ME,
		bond: 100 * TRY,
		hardware: Hardware::default(),
		candidate: false,
		training_total: 0,
		training_effective: 3_000_000,
		drilling_total: 0,
		drilling_effective: 1_500_000,
		ecp: 0,
		weight: None,
		next_weight: None,
	}
}

/// The account as a verifier.
pub fn verifier(standing: Standing) -> VerifierView {
	VerifierView {
		standing,
		bond: 100 * TRY,
		locked: 0,
		counted: 90 * TRY,
		capacity: Resources::default(),
		load: Resources::default(),
		absences: 4,
		location: None,
		vrf_key: Some(H256::repeat_byte(3)),
	}
}

/// A job that the account trains.
pub fn trained(id: JobId, state: JobState) -> JobView {
	let mine = ReplicaView { trainer: ME, commitment: None, reveal: None, fate: Fate::Working };
	JobView { id, deposit: 40 * TRY, replicas: vec![mine], ..fake::job(state) }
}

/// A job of others.
pub fn job(id: JobId, state: JobState) -> JobView {
	JobView { id, deposit: 30 * TRY, ..fake::job(state) }
}

/// Facts about an account that is a trainer and an active verifier, with nothing to do.
pub fn facts() -> Facts {
	Facts {
		me: ME,
		best: 1_000,
		health: Some(Health { peers: 3, is_syncing: false }),
		account: Account { nonce: 0, free: 5 * TRY, reserved: 0, frozen: 0 },
		holds: Vec::new(),
		trainer: Some(trainer()),
		free_at: None,
		verifier: Some(verifier(Standing::Active)),
		unbonding: Unbonding { trainer: Some(14_400), verifier: Some(7_200) },
		jobs: Vec::new(),
		late: Default::default(),
		stint: None,
		report: None,
		checks: 0,
		blobs: Vec::new(),
	}
}
