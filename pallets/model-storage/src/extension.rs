//! Chunk uploads only as an extrinsic's own call.
//!
//! A node that meets an index operation stores the last `size` bytes of the extrinsic under the
//! hash that the operation names, and does not look at them. That is only right when these bytes
//! *are* the chunk: when `upload_chunk` is the call of the extrinsic, not one among others inside
//! it. The call itself cannot see that; this extension can.

use crate::{Call, Config, Error, Pallet, TopLevelUpload, WeightInfo};
use codec::{Decode, DecodeWithMemTracking, Encode};
use core::marker::PhantomData;
use frame_support::{
	dispatch::{DispatchInfo, PostDispatchInfo},
	traits::IsSubType,
	weights::Weight,
	CloneNoBound, DebugNoBound, EqNoBound, PartialEqNoBound,
};
use frame_system::Config as SystemConfig;
use scale_info::TypeInfo;
use sp_runtime::{
	traits::{Dispatchable, Implication, TransactionExtension, ValidateResult},
	transaction_validity::{
		InvalidTransaction, TransactionSource, TransactionValidityError, ValidTransaction,
	},
	DispatchResult,
};

/// `InvalidTransaction::Custom` of an upload to a blob that nobody registered (yet).
pub const UNKNOWN_BLOB: u8 = 101;
/// `InvalidTransaction::Custom` of a chunk that is stored already.
pub const CHUNK_STORED: u8 = 102;
/// `InvalidTransaction::Custom` of an index past the blob's last chunk.
pub const NO_SUCH_CHUNK: u8 = 103;
/// `InvalidTransaction::Custom` of a chunk that is longer or shorter than it must be.
pub const WRONG_LENGTH: u8 = 104;
/// `InvalidTransaction::Custom` of an upload to a blob that is being removed.
pub const BEING_REMOVED: u8 = 105;

/// Marks a top-level `upload_chunk` for the time of its extrinsic, so that the call can
/// refuse to run anywhere else; and keeps uploads that are bound to fail out of the pool
/// and of blocks.
#[derive(
	Encode,
	Decode,
	DecodeWithMemTracking,
	CloneNoBound,
	EqNoBound,
	PartialEqNoBound,
	DebugNoBound,
	TypeInfo,
)]
#[scale_info(skip_type_params(T))]
pub struct DirectUpload<T>(PhantomData<T>);

impl<T> DirectUpload<T> {
	/// Returns the extension; it carries no data.
	pub fn new() -> Self {
		Self(PhantomData)
	}
}

impl<T> Default for DirectUpload<T> {
	fn default() -> Self {
		Self::new()
	}
}

/// Returns the transaction pool's error for what is wrong with a chunk.
fn refusal<T: Config>(error: Error<T>) -> TransactionValidityError {
	match error {
		Error::UnknownBlob => InvalidTransaction::Custom(UNKNOWN_BLOB),
		Error::ChunkStored | Error::AlreadyComplete => InvalidTransaction::Custom(CHUNK_STORED),
		Error::NoSuchChunk => InvalidTransaction::Custom(NO_SUCH_CHUNK),
		Error::WrongLength => InvalidTransaction::Custom(WRONG_LENGTH),
		Error::BeingRemoved => InvalidTransaction::Custom(BEING_REMOVED),
		_ => InvalidTransaction::Call,
	}
	.into()
}

impl<T> TransactionExtension<<T as SystemConfig>::RuntimeCall> for DirectUpload<T>
where
	T: Config + Send + Sync,
	<T as SystemConfig>::RuntimeCall:
		Dispatchable<Info = DispatchInfo, PostInfo = PostDispatchInfo> + IsSubType<Call<T>>,
{
	const IDENTIFIER: &'static str = "DirectUpload";
	type Implicit = ();
	/// Whether the call is a chunk upload.
	type Val = bool;
	/// Whether the marker was set.
	type Pre = bool;

	fn weight(&self, call: &<T as SystemConfig>::RuntimeCall) -> Weight {
		match call.is_sub_type() {
			Some(Call::upload_chunk { .. }) => T::WeightInfo::direct_upload(),
			_ => Weight::zero(),
		}
	}

	fn validate(
		&self,
		origin: T::RuntimeOrigin,
		call: &<T as SystemConfig>::RuntimeCall,
		_info: &DispatchInfo,
		_len: usize,
		_self_implicit: Self::Implicit,
		_inherited_implication: &impl Implication,
		_source: TransactionSource,
	) -> ValidateResult<Self::Val, <T as SystemConfig>::RuntimeCall> {
		let is_upload = match call.is_sub_type() {
			Some(Call::upload_chunk { root, index, bytes, .. }) => {
				Pallet::<T>::check_chunk(root, *index, bytes.len()).map_err(refusal)?;
				true
			}
			_ => false,
		};
		Ok((ValidTransaction::default(), is_upload, origin))
	}

	fn prepare(
		self,
		is_upload: Self::Val,
		_origin: &T::RuntimeOrigin,
		_call: &<T as SystemConfig>::RuntimeCall,
		_info: &DispatchInfo,
		_len: usize,
	) -> Result<Self::Pre, TransactionValidityError> {
		if is_upload {
			let extrinsic =
				frame_system::Pallet::<T>::extrinsic_index().ok_or(InvalidTransaction::Call)?;
			TopLevelUpload::<T>::put(extrinsic);
		}
		Ok(is_upload)
	}

	fn post_dispatch_details(
		marked: Self::Pre,
		_info: &DispatchInfo,
		_post_info: &PostDispatchInfo,
		_len: usize,
		_result: &DispatchResult,
	) -> Result<Weight, TransactionValidityError> {
		// A call that failed took the marker, but that was rolled back.
		if marked {
			TopLevelUpload::<T>::kill();
		}
		Ok(Weight::zero())
	}
}
