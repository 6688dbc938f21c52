//! Says why a task ended without having done its work, by what follows from it.
//!
//! The `From` conversions below are the only place that decides which error of a library is of
//! which kind. Who meets an error that is of another kind in its place says so with `map_err`.

use crate::roles::{
	common::{files::FilesError, stored::StoredError},
	disputes::{moves::MoveError, StepError},
	store::StoreError,
};
use trainyard_client::{blobs::BlobError, ChainError, TxError};
use trainyard_program::spec::SpecError;
use trainyard_proof::{
	bundle::{files::FileError, BundleError},
	drill::UnitError,
	inputs::InputError,
	train::{RehearsalError, TrainError},
	verify::VerifyError,
};

/// Says why a task ended without having done its work. Each kind has one consequence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
	/// It may have been done all the same, or the node is away. The chain shows which at the next
	/// look, so that nothing is reported. It may be started again after a pause.
	#[error("{0}")]
	Transient(String),
	/// To try again cannot help: it is reported, and this process never starts it again.
	#[error("{0}")]
	Hopeless(String),
	/// It was asked to stop, and did. It may be started again after a pause.
	#[error("stopped before its end")]
	Stopped,
	/// It failed for any other reason: it is reported once, and may be started again after a pause.
	#[error("{0}")]
	Failed(String),
}

impl TaskError {
	/// Makes a failure of a sentence.
	pub fn failed(why: impl Into<String>) -> Self {
		Self::Failed(why.into())
	}

	/// Makes a failure of an error and its causes.
	pub fn of(error: &dyn std::error::Error) -> Self {
		Self::Failed(with_causes(error))
	}

	/// Returns the same error with `what` in front of its reason.
	pub fn about(self, what: &str) -> Self {
		let longer = |why: String| format!("{what}: {why}");
		match self {
			Self::Transient(why) => Self::Transient(longer(why)),
			Self::Hopeless(why) => Self::Hopeless(longer(why)),
			Self::Stopped => Self::Stopped,
			Self::Failed(why) => Self::Failed(longer(why)),
		}
	}
}

/// Returns an error's text, followed by those of its causes.
pub fn with_causes(error: &dyn std::error::Error) -> String {
	let mut text = error.to_string();
	let mut at = error.source();
	while let Some(cause) = at {
		text.push_str(": ");
		text.push_str(&cause.to_string());
		at = cause.source();
	}
	text
}

/// Errors that are failures, whatever they say.
macro_rules! failures {
	($($error:ty),+ $(,)?) => {
		$(impl From<$error> for TaskError {
			fn from(error: $error) -> Self {
				Self::of(&error)
			}
		})+
	};
}

failures!(
	BlobError,
	BundleError,
	ChainError,
	FileError,
	SpecError,
	StoreError,
	StoredError,
	tokio::task::JoinError,
);

impl From<TxError> for TaskError {
	fn from(error: TxError) -> Self {
		if error.is_uncertain() {
			Self::Transient(with_causes(&error))
		} else {
			Self::of(&error)
		}
	}
}

impl From<StepError> for TaskError {
	fn from(error: StepError) -> Self {
		match error {
			StepError::Chain(error) if error.is_connection() => Self::Transient(error.to_string()),
			StepError::Sending { error, .. } if error.is_uncertain() => error.into(),
			// It would be computed again and again, and come to the same.
			StepError::Move(MoveError::Agrees) => Self::Hopeless(error.to_string()),
			other => Self::of(&other),
		}
	}
}

impl From<InputError> for TaskError {
	fn from(error: InputError) -> Self {
		match error {
			stopped if stopped.is_stopped() => Self::Stopped,
			other => Self::of(&other),
		}
	}
}

impl From<FilesError> for TaskError {
	fn from(error: FilesError) -> Self {
		match error {
			FilesError::Local(error) => error.into(),
			other => Self::of(&other),
		}
	}
}

impl From<TrainError> for TaskError {
	fn from(error: TrainError) -> Self {
		match error {
			TrainError::Stopped { .. } => Self::Stopped,
			TrainError::Input(error) => error.into(),
			other => Self::of(&other),
		}
	}
}

impl From<RehearsalError> for TaskError {
	fn from(error: RehearsalError) -> Self {
		match error {
			RehearsalError::Stopped => Self::Stopped,
			other => Self::of(&other),
		}
	}
}

impl From<UnitError> for TaskError {
	fn from(error: UnitError) -> Self {
		match error {
			UnitError::Stopped => Self::Stopped,
			other => Self::of(&other),
		}
	}
}

impl From<VerifyError> for TaskError {
	fn from(error: VerifyError) -> Self {
		match error {
			VerifyError::Stopped => Self::Stopped,
			other => Self::of(&other),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_proof::data::DataError;

	#[test]
	fn what_follows_is_decided_by_the_kind() {
		let unknown =
			|| TxError::Unknown { call: "Hashrate.register".into(), reason: "gone".into() };
		let text = unknown().to_string();
		assert_eq!(TaskError::from(unknown()), TaskError::Transient(text));
		let away = || ChainError::Lost {
			url: "ws://node".into(),
			method: "chain_getHeader".into(),
			reason: "closed".into(),
		};
		assert!(matches!(TaskError::from(TxError::Chain(away())), TaskError::Transient(_)));
		// A task that only asks is simply tried again, and its owner sees why it waits.
		assert!(matches!(TaskError::from(away()), TaskError::Failed(_)));
		let refused = TxError::Invalid { call: "Hashrate.register".into(), reason: "no".into() };
		assert!(matches!(TaskError::from(refused), TaskError::Failed(_)));
		assert_eq!(TaskError::from(UnitError::Stopped), TaskError::Stopped);
		assert_eq!(TaskError::from(VerifyError::Stopped), TaskError::Stopped);
		assert_eq!(TaskError::from(RehearsalError::Stopped), TaskError::Stopped);
		let reading = || InputError::Data(DataError::Stopped);
		assert_eq!(TaskError::from(TrainError::Input(reading())), TaskError::Stopped);
		assert_eq!(TaskError::from(FilesError::Local(reading())), TaskError::Stopped);
		assert_eq!(TaskError::from(UnitError::NoData), TaskError::of(&UnitError::NoData));
	}

	#[test]
	fn causes_and_what_it_was_about_are_named() {
		#[derive(Debug, thiserror::Error)]
		#[error("the rescue")]
		struct Outer(#[source] std::io::Error);
		let error = Outer(std::io::Error::other("full"));
		assert_eq!(with_causes(&error), "the rescue: full");
		let about = TaskError::of(&error).about("data");
		assert_eq!(about, TaskError::failed("data: the rescue: full"));
		assert_eq!(TaskError::Stopped.about("data"), TaskError::Stopped);
	}
}
