//! What an author shows of the chunks that its block asks for.

use super::store::{ChunkStore, Indexed};
use crate::client::FullClient;
use log::{debug, warn};
use sp_api::ProvideRuntimeApi;
use sp_inherents::{Error, InherentData, InherentDataProvider, InherentIdentifier};
use trainyard_protocol::retention::{self, Answers, Question, Shown};
use trainyard_runtime::{api::TrainyardApi, Hash, RETENTION_INHERENT};

/// What this node shows in its next block.
pub struct KeptChunks(pub Answers);

/// Returns what this node has of what the block after `parent` asks for. It never fails: a block without
/// an answer is valid, and made without its author's reward.
pub fn answer(client: &FullClient, store: &ChunkStore<FullClient>, parent: Hash) -> KeptChunks {
	let questions = match client.runtime_api().storage_questions(parent) {
		Ok(questions) => questions,
		Err(error) => {
			debug!("cannot ask which chunks the next block asks for: {error}");
			return KeptChunks(Answers::default());
		}
	};
	let drawn = questions.drawn.as_ref().and_then(|asked| show(store, asked));
	if let (Some(asked), None) = (&questions.drawn, &drawn) {
		warn!(
			"this block has no reward: it asks for chunk {} of {:?}, which this node lacks; \
			 the RPC trainyard_storage says what it lacks and what to do",
			asked.index, asked.root
		);
	}
	let doubted = questions.doubted.and_then(|asked| show(store, &asked));
	KeptChunks(Answers { drawn, doubted })
}

/// Returns what the store has for a question.
pub fn show<D: Indexed>(store: &ChunkStore<D>, asked: &Question) -> Option<Shown> {
	let chunk = store.get(&asked.hash)?;
	retention::show(asked, &chunk)
		.inspect_err(|error| {
			warn!("chunk {} of {:?} does not fit its record: {error}", asked.index, asked.root);
		})
		.ok()
}

#[async_trait::async_trait]
impl InherentDataProvider for KeptChunks {
	async fn provide_inherent_data(&self, data: &mut InherentData) -> Result<(), Error> {
		data.put_data(RETENTION_INHERENT, &self.0)
	}

	/// There is nothing to check in what others show but what the runtime checks.
	async fn try_handle_error(
		&self,
		_: &InherentIdentifier,
		_: &[u8],
	) -> Option<Result<(), Error>> {
		None
	}
}
