//! Chunk uploads only as an extrinsic's own call.
//!
//! A node that meets an index operation stores the last `size` bytes of the extrinsic under the
//! hash that the operation names, and does not look at them. That is only right when these bytes
//! *are* the chunk: when `upload_chunk` is the call of the extrinsic, not one among others inside
//! it. The call itself cannot see that; this extension can.
//!
//! It sees every transaction, and so keeps room for the chunks that running jobs wait for: all other
//! ordinary transactions together may take [`Config::OrdinaryLength`] of a block, so that nobody can
//! buy a block full of bytes and let a trainer miss its deadline. Such chunks are preferred by the
//! transaction pool. A chunk is hashed here, not in the call, so that no room is spent on bytes that
//! are not a part of what is awaited.
//!
//! Where no job waits for any chunk, others may take that room, so that files are stored at the rate that
//! blocks allow. What takes it does not count as ordinary: it keeps no other transaction out, and is no
//! reason for fees to rise.
//!
//! A chunk comes after other calls: a rescue is announced, a blob is registered, what stands in its
//! place is removed, and in the end the rescue is named. So that nobody censors these, they are
//! preferred as well, and may take [`CALLS_ROOM`] bytes of a block that is full of ordinary
//! transactions. They pay what other calls pay.
//!
//! Moves in disputes are not awaited chunks, but there are clocks that run until they are made. So they
//! have room of their own as well, [`MOVES_ROOM`](crate::MOVES_ROOM), and take of the ordinary room where
//! that is full. What is in their own room is no reason for fees to rise.

use crate::{
	types::{Marker, Shipment, UrgentCalls},
	Awaited, Call, Config, Error, Ordinary, Pallet, TopLevelUpload, WeightInfo, CALLS_ROOM,
};
use codec::{Decode, DecodeWithMemTracking, Encode};
use core::marker::PhantomData;
use frame_support::{
	dispatch::{DispatchClass, DispatchInfo, PostDispatchInfo},
	traits::{Get, IsSubType},
	weights::Weight,
	CloneNoBound, DebugNoBound, EqNoBound, PartialEqNoBound,
};
use frame_system::{ensure_signed, Config as SystemConfig};
use scale_info::TypeInfo;
use sp_runtime::{
	traits::{Dispatchable, Implication, TransactionExtension, ValidateResult},
	transaction_validity::{
		InvalidTransaction, TransactionPriority, TransactionSource, TransactionValidityError,
		ValidTransaction,
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
/// `InvalidTransaction::Custom` of bytes that are not the chunk that they are said to be.
pub const WRONG_PROOF: u8 = 106;

/// `InvalidTransaction::Custom` of a chunk that is to be taken over from a blob that has none at that
/// place, or does not surely keep it.
pub const NOT_KEPT: u8 = 107;

/// What awaited chunks and the calls that make way for them have in the transaction pool above the
/// priority by their tips.
pub const AWAITED_PRIORITY: TransactionPriority = TransactionPriority::MAX / 4;

/// Marks a top-level `upload_chunk` for the time of its extrinsic, so that the call can
/// refuse to run anywhere else; keeps uploads that are bound to fail out of the pool and of
/// blocks, chunks that are taken over too; and keeps room in blocks for awaited chunks.
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
		Error::WrongProof => InvalidTransaction::Custom(WRONG_PROOF),
		Error::NotKept | Error::OtherPlace => InvalidTransaction::Custom(NOT_KEPT),
		_ => InvalidTransaction::Call,
	}
	.into()
}

/// Returns whether `call` makes way for chunks for which running jobs wait, or is a move for which a
/// clock runs.
fn is_urgent<T: Config>(origin: &T::RuntimeOrigin, call: &<T as SystemConfig>::RuntimeCall) -> bool
where
	<T as SystemConfig>::RuntimeCall: IsSubType<Call<T>>,
{
	match call.is_sub_type() {
		Some(own) => Pallet::<T>::makes_way(own),
		None => {
			T::Urgent::may_be(call)
				&& ensure_signed(origin.clone()).is_ok_and(|who| T::Urgent::is_urgent(&who, call))
		}
	}
}

impl<T> TransactionExtension<<T as SystemConfig>::RuntimeCall> for DirectUpload<T>
where
	T: Config + Send + Sync,
	<T as SystemConfig>::RuntimeCall:
		Dispatchable<Info = DispatchInfo, PostInfo = PostDispatchInfo> + IsSubType<Call<T>>,
{
	const IDENTIFIER: &'static str = "DirectUpload";
	type Implicit = ();
	/// What the extrinsic brings.
	type Val = Shipment;
	/// Whether the marker was set.
	type Pre = bool;

	fn weight(&self, call: &<T as SystemConfig>::RuntimeCall) -> Weight {
		match call.is_sub_type() {
			Some(Call::upload_chunk { bytes, .. }) => {
				T::WeightInfo::direct_upload(bytes.len() as u32)
					.saturating_add(Pallet::<T>::spare_room_weight())
			}
			// It is checked here as in the call.
			Some(Call::reuse_chunk { .. }) => {
				T::WeightInfo::ordinary().saturating_add(Pallet::<T>::check_reuse_weight())
			}
			// Whether a job waits for the blob, and whether it is there.
			Some(Call::register { .. } | Call::remove { .. }) => {
				T::WeightInfo::ordinary().saturating_add(T::DbWeight::get().reads(2))
			}
			None if T::Urgent::may_be(call) => {
				T::WeightInfo::ordinary().saturating_add(T::DbWeight::get().reads(1))
			}
			_ => T::WeightInfo::ordinary(),
		}
	}

	fn validate(
		&self,
		origin: T::RuntimeOrigin,
		call: &<T as SystemConfig>::RuntimeCall,
		info: &DispatchInfo,
		len: usize,
		_self_implicit: Self::Implicit,
		_inherited_implication: &impl Implication,
		_source: TransactionSource,
	) -> ValidateResult<Self::Val, <T as SystemConfig>::RuntimeCall> {
		let mut validity = ValidTransaction::default();
		let shipment = match call.is_sub_type() {
			Some(Call::upload_chunk { root, index, proof, bytes }) => {
				let (hash, value) =
					Pallet::<T>::hash_chunk(root, *index, proof, bytes).map_err(refusal)?;
				if Awaited::<T>::contains_key(root) {
					validity.priority = AWAITED_PRIORITY;
					Shipment::Awaited(hash, value)
				} else {
					Shipment::Chunk(hash, value)
				}
			}
			Some(Call::reuse_chunk { root, index, from, proof }) => {
				Pallet::<T>::check_reuse(root, *index, from, proof).map_err(refusal)?;
				Shipment::Ordinary
			}
			own if is_urgent::<T>(&origin, call) => {
				validity.priority = AWAITED_PRIORITY;
				match own.is_none() && T::Urgent::is_move(call) {
					true => Shipment::Move,
					false => Shipment::Urgent,
				}
			}
			_ => Shipment::Ordinary,
		};
		let reserved = matches!(shipment, Shipment::Awaited(..));
		let normal = info.class == DispatchClass::Normal;
		if normal && !reserved && len as u32 > T::OrdinaryLength::get() {
			// It fits no block, and must not wait for one.
			return Err(InvalidTransaction::ExhaustsResources.into());
		}
		Ok((validity, shipment, origin))
	}

	fn prepare(
		self,
		shipment: Self::Val,
		_origin: &T::RuntimeOrigin,
		_call: &<T as SystemConfig>::RuntimeCall,
		info: &DispatchInfo,
		len: usize,
	) -> Result<Self::Pre, TransactionValidityError> {
		let normal = info.class == DispatchClass::Normal;
		let reserved = matches!(shipment, Shipment::Awaited(..))
			|| normal && shipment == Shipment::Move && Pallet::<T>::take_move_room(len as u32);
		if normal && !reserved {
			let taken = Ordinary::<T>::get().saturating_add(len as u32);
			let more = if shipment == Shipment::Urgent { CALLS_ROOM } else { 0 };
			if taken <= T::OrdinaryLength::get().saturating_add(more) {
				Ordinary::<T>::put(taken);
			} else if !matches!(shipment, Shipment::Chunk(..)) || !Pallet::<T>::has_spare_room() {
				// It fits the next block, or the one after that.
				return Err(InvalidTransaction::ExhaustsResources.into());
			}
		}
		let (Shipment::Chunk(hash, value) | Shipment::Awaited(hash, value)) = shipment else {
			return Ok(false);
		};
		let extrinsic =
			frame_system::Pallet::<T>::extrinsic_index().ok_or(InvalidTransaction::Call)?;
		TopLevelUpload::<T>::put(Marker { extrinsic, hash, value });
		Ok(true)
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
