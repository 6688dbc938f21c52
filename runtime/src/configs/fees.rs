//! What transactions pay by the fullness of blocks.
//!
//! A block is full by weight or by length, whichever is nearer to its limit, and one multiplier
//! prices both. The SDK's own looks at weight only, and leaves the fee for bytes as it is: so blocks
//! could be filled with bytes for 0.4 TRY each, for ever.
//!
//! Chunks for which a running job waits pay neither more nor less by the fullness of blocks, and do
//! not count in it: no other transaction may use their room (see [`pallet_model_storage::extension`]).

use super::{
	money::{
		AdjustmentVariable, LengthFee, MaximumMultiplier, MinimumMultiplier, TargetBlockFullness,
	},
	system::OrdinaryLength,
};
use crate::{Balance, ModelStorage, Runtime, RuntimeCall, RuntimeOrigin, TransactionPayment};
use codec::{Decode, DecodeWithMemTracking, Encode};
use frame_support::{
	dispatch::{DispatchInfo, PostDispatchInfo},
	traits::IsSubType,
	weights::{Weight, WeightToFee},
};
use pallet_transaction_payment::{
	ChargeTransactionPayment, Multiplier, MultiplierUpdate, TargetedFeeAdjustment,
};
use scale_info::TypeInfo;
use sp_runtime::{
	traits::{CheckedDiv, Convert, Implication, One, TransactionExtension, ValidateResult},
	transaction_validity::{TransactionSource, TransactionValidityError},
	DispatchResult, FixedPointNumber, Perquintill, SaturatedConversion, Saturating,
};

/// The SDK's rule, by weight.
type ByWeight = TargetedFeeAdjustment<
	Runtime,
	TargetBlockFullness,
	AdjustmentVariable,
	MinimumMultiplier,
	MaximumMultiplier,
>;

/// The multiplier of fees after a block, by its weight or its ordinary bytes, whichever are nearer
/// to their limit.
pub struct ByFullness;

impl Convert<Multiplier, Multiplier> for ByFullness {
	fn convert(previous: Multiplier) -> Multiplier {
		let bytes = pallet_model_storage::Ordinary::<Runtime>::get();
		let most = OrdinaryLength::get().max(1);
		let full = Perquintill::from_rational(u64::from(bytes.min(most)), u64::from(most));
		ByWeight::convert(previous).max(after(previous, full))
	}
}

/// Returns the multiplier after a block that was this `full`: the SDK's rule, `m (1 + d + d^2 / 2)`
/// with `d` the adjustment variable times what the fullness is above the target.
pub fn after(previous: Multiplier, full: Perquintill) -> Multiplier {
	let target = TargetBlockFullness::get();
	let (above, below) = (full.saturating_sub(target), target.saturating_sub(full));
	let part = |share: Perquintill| {
		let parts = u128::from(share.deconstruct());
		AdjustmentVariable::get().saturating_mul(Multiplier::saturating_from_rational(
			parts,
			u128::from(Perquintill::one().deconstruct()),
		))
	};
	let square = |d: Multiplier| {
		let half = Multiplier::saturating_from_rational(1, 2);
		d.saturating_mul(d).saturating_mul(half)
	};
	let previous = previous.max(MinimumMultiplier::get());
	let (up, down) = (part(above), part(below));
	let factor = Multiplier::one()
		.saturating_add(up)
		.saturating_add(square(up))
		.saturating_sub(down)
		.saturating_add(square(down));
	previous.saturating_mul(factor).clamp(MinimumMultiplier::get(), MaximumMultiplier::get())
}

impl MultiplierUpdate for ByFullness {
	fn min() -> Multiplier {
		ByWeight::min()
	}
	fn max() -> Multiplier {
		ByWeight::max()
	}
	fn target() -> Perquintill {
		ByWeight::target()
	}
	fn variability() -> Multiplier {
		ByWeight::variability()
	}
}

/// The fee for bytes: [`LengthFee`] each, times the multiplier.
pub struct LengthPrice;

impl WeightToFee for LengthPrice {
	type Balance = Balance;

	/// Returns the fee for a length, which the SDK gives as a weight.
	fn weight_to_fee(length: &Weight) -> Balance {
		let plain = LengthFee::get().saturating_mul(Balance::from(length.ref_time()));
		TransactionPayment::next_fee_multiplier().saturating_mul_int(plain)
	}
}

/// Charges fees as the SDK's extension does, and awaited chunks as if the multiplier were 1. On the
/// wire it is the SDK's, a compact tip.
#[derive(Encode, Decode, DecodeWithMemTracking, Clone, PartialEq, Eq, Debug, TypeInfo)]
pub struct ChargeFees(ChargeTransactionPayment<Runtime>);

impl ChargeFees {
	/// Returns the extension with this tip.
	pub fn from(tip: Balance) -> Self {
		Self(ChargeTransactionPayment::from(tip))
	}
}

/// Returns whether `call` brings an awaited chunk. That its bytes are the right ones is checked by
/// the extension of model-storage, before any fee is taken.
fn is_flat(call: &RuntimeCall) -> bool {
	let upload: Option<&pallet_model_storage::Call<Runtime>> = call.is_sub_type();
	upload.is_some_and(ModelStorage::brings_awaited)
}

/// Returns weight and length that cost, with the multiplier, what these cost without.
fn flattened(info: &DispatchInfo, len: usize) -> (DispatchInfo, usize) {
	let multiplier = TransactionPayment::next_fee_multiplier().max(Multiplier::one());
	let share = Multiplier::one().checked_div(&multiplier).unwrap_or_else(Multiplier::one);
	let part = |n: u64| share.saturating_mul_int(n);
	let reduced =
		|weight: Weight| Weight::from_parts(part(weight.ref_time()), part(weight.proof_size()));
	let flat = DispatchInfo {
		call_weight: reduced(info.call_weight),
		extension_weight: reduced(info.extension_weight),
		class: info.class,
		pays_fee: info.pays_fee,
	};
	(flat, part(len.saturated_into()).saturated_into())
}

impl TransactionExtension<RuntimeCall> for ChargeFees {
	const IDENTIFIER: &'static str =
		<ChargeTransactionPayment<Runtime> as TransactionExtension<RuntimeCall>>::IDENTIFIER;
	type Implicit = ();
	/// Whether the price is flat, and what the SDK's extension found.
	type Val =
		(bool, <ChargeTransactionPayment<Runtime> as TransactionExtension<RuntimeCall>>::Val);
	/// The same after the fee was taken.
	type Pre =
		(bool, <ChargeTransactionPayment<Runtime> as TransactionExtension<RuntimeCall>>::Pre);

	fn weight(&self, call: &RuntimeCall) -> Weight {
		self.0.weight(call)
	}

	fn validate(
		&self,
		origin: RuntimeOrigin,
		call: &RuntimeCall,
		info: &DispatchInfo,
		len: usize,
		implicit: Self::Implicit,
		inherited: &impl Implication,
		source: TransactionSource,
	) -> ValidateResult<Self::Val, RuntimeCall> {
		let flat = is_flat(call);
		let (validity, val, origin) = if flat {
			let (info, len) = flattened(info, len);
			self.0.validate(origin, call, &info, len, implicit, inherited, source)?
		} else {
			self.0.validate(origin, call, info, len, implicit, inherited, source)?
		};
		Ok((validity, (flat, val), origin))
	}

	fn prepare(
		self,
		(flat, val): Self::Val,
		origin: &RuntimeOrigin,
		call: &RuntimeCall,
		info: &DispatchInfo,
		len: usize,
	) -> Result<Self::Pre, TransactionValidityError> {
		Ok((flat, self.0.prepare(val, origin, call, info, len)?))
	}

	fn post_dispatch_details(
		(flat, pre): Self::Pre,
		info: &DispatchInfo,
		post_info: &PostDispatchInfo,
		len: usize,
		result: &DispatchResult,
	) -> Result<Weight, TransactionValidityError> {
		type Inner = ChargeTransactionPayment<Runtime>;
		if flat {
			let (info, len) = flattened(info, len);
			Inner::post_dispatch_details(pre, &info, post_info, len, result)
		} else {
			Inner::post_dispatch_details(pre, info, post_info, len, result)
		}
	}
}
