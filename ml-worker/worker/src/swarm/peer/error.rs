//! Why a peer cannot go on.

use crate::{
	roles::store::StoreError,
	swarm::{
		board::BoardError, learner::LearnError, models::NoModel, outer::steps::StepError,
		privacy::PrivacyError,
	},
};
use trainyard_client::AccountId32;
use trainyard_proof::bundle::{files::FileError, tensors::TensorError};
use trainyard_protocol::H256;

/// Says why a peer cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
	/// The chain cannot be asked, or did not do something.
	#[error(transparent)]
	Board(#[from] BoardError),
	/// A file of the folder cannot be read or written.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// The same of a model or a slice.
	#[error(transparent)]
	File(#[from] FileError),
	/// The state in the folder cannot be understood.
	#[error("the state in the folder cannot be read: {0}. Move the folder away; the model is on chain or with others")]
	State(#[from] TensorError),
	/// A model in the folder is none.
	#[error("a model in the folder is none any more: {0}. Move the folder away; the model is on chain or with others")]
	Model(NoModel),
	/// Nothing can be trained or measured.
	#[error(transparent)]
	Learn(#[from] LearnError),
	/// Rows cannot be hidden.
	#[error(transparent)]
	Privacy(#[from] PrivacyError),
	/// There are no data, and nobody may serve any.
	#[error("swarm {0} is private: nobody serves data there, so give a file of yours with --data")]
	NoData(u32),
	/// Another account has the key of the folder.
	#[error(
		"another account joined with the key of this folder, and who was first keeps it. Use a folder of your own"
	)]
	KeyTaken,
	/// Others must be able to compute what it contributes.
	#[error(
		"virtual ranks and hidden rows are for swarms whose peers mix by pairs: in a swarm of outer steps others \
		 compute a contribution again"
	)]
	OuterAlone,
	/// An outer step cannot be computed.
	#[error(transparent)]
	Step(StepError),
	/// The swarm takes no outer steps.
	#[error("the peers of this swarm mix by pairs, and take no outer steps")]
	NoOuterSteps,
	/// The chain says that this peer kept something that is not in the folder.
	#[error(
		"the chain says that this peer kept {0:?} from its last contribution, and that is not in this folder. 		 Give the folder with which it contributed, or leave the swarm and join it again"
	)]
	KeptElsewhere(H256),
	/// The location does not fit on chain.
	#[error("the location {0} has more than 256 bytes: name fewer addresses with --iroh-address")]
	LongLocation(String),
	/// Something that somebody else has is needed and did not come. The turn ends, and a later one tries again.
	#[error("{who}: {why}")]
	DidNotCome {
		/// Whose it is.
		who: AccountId32,
		/// What is missing.
		why: &'static str,
	},
	/// A thread of this process ended early.
	#[error("a computation ended early: {0}")]
	Thread(#[from] tokio::task::JoinError),
}
