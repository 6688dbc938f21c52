//! What an author says of finality in its blocks; the runtime's pallet-finality makes one height of
//! what all of them say.

use sp_inherents::{Error, InherentData, InherentDataProvider, InherentIdentifier};
use trainyard_runtime::{BlockNumber, FINALITY_INHERENT};

/// The height of the latest block that this node knows to be final.
pub struct FinalHeight(pub BlockNumber);

#[async_trait::async_trait]
impl InherentDataProvider for FinalHeight {
	async fn provide_inherent_data(&self, data: &mut InherentData) -> Result<(), Error> {
		data.put_data(FINALITY_INHERENT, &self.0)
	}

	/// There is nothing to check in what others say.
	async fn try_handle_error(
		&self,
		_: &InherentIdentifier,
		_: &[u8],
	) -> Option<Result<(), Error>> {
		None
	}
}
