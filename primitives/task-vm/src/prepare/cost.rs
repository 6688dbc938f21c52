//! What instructions cost, in fuel.
//!
//! A unit takes no more than about 6 ns where the runtime, itself WebAssembly, interprets a step, whatever the
//! instruction (`tools/task-referee/run`). It is some 0.5 ns in a worker's interpreter, and 0.2 ns as native code.
//! Changing a number changes the outcome of steps: it is a change of the protocol.

use wasmparser::Operator;

/// Fuel to enter a function, beside [`LOCAL`] for each of its parameters and locals.
pub(super) const ENTER: u64 = 20;
/// Fuel for a segment of instructions, which the meter itself takes.
pub(super) const SEGMENT: u64 = 6;
/// Fuel for a turn of a loop: as a segment's, with the comparison.
pub(super) const TURN: u64 = 10;
/// Fuel for a parameter or local of a function that is entered.
pub(super) const LOCAL: u64 = 1;
/// Fuel for each page of the memory after it grew, all of which may be copied, and for each page of a new memory.
pub(super) const GROWN_PAGE: u64 = 8_192;
/// Fuel to grow a memory, to fill or to copy bytes, however many they are.
pub(super) const BULK: u64 = 32;
/// Bytes that are filled or copied for one unit of fuel, as a power of two.
pub(super) const BULK_SHIFT: i64 = 2;
/// Fuel for the instance of a module, beside its parts.
pub(super) const INSTANCE: u64 = 2_000;
/// Fuel for each function, global, segment and entry of a table of a module in an instance.
pub(super) const PART: u64 = 4;
/// Bytes of data, states and results that are copied for one unit of fuel.
pub(crate) const COPIED_BYTES: u64 = 4;

/// Returns the fuel of an instruction. `moved` is the number of values that it may move beside: those of a branch or
/// a call.
pub(super) fn of(operator: &Operator<'_>, moved: u64) -> u64 {
	use Operator::*;
	match operator {
		// They only stand for places in the code.
		Block { .. } | End | Else => 0,
		Br { .. } | BrIf { .. } | If { .. } | Return => 2 + moved,
		BrTable { .. } => 4 + moved,
		Call { .. } => 10 + moved,
		CallIndirect { .. } => 14 + moved,
		Select | TypedSelect { .. } => 2,
		LocalSet { .. } | LocalTee { .. } => 2,
		GlobalGet { .. } | GlobalSet { .. } => 3,
		MemorySize { .. } => 2,
		I32Load { .. }
		| I64Load { .. }
		| F32Load { .. }
		| F64Load { .. }
		| I32Load8S { .. }
		| I32Load8U { .. }
		| I32Load16S { .. }
		| I32Load16U { .. }
		| I64Load8S { .. }
		| I64Load8U { .. }
		| I64Load16S { .. }
		| I64Load16U { .. }
		| I64Load32S { .. }
		| I64Load32U { .. }
		| I32Store { .. }
		| I64Store { .. }
		| F32Store { .. }
		| F64Store { .. }
		| I32Store8 { .. }
		| I32Store16 { .. }
		| I64Store8 { .. }
		| I64Store16 { .. }
		| I64Store32 { .. } => 2,
		I32DivS | I32DivU | I32RemS | I32RemU | I64DivS | I64DivU | I64RemS | I64RemU => 3,
		F32Add | F32Sub | F32Mul | F64Add | F64Sub | F64Mul => 2,
		F32Div | F64Div | F32Min | F32Max | F64Min | F64Max => 3,
		F32Neg | F32Abs | F32Copysign | F64Neg | F64Abs | F64Copysign => 3,
		F32ConvertI32S | F32ConvertI32U | F32ConvertI64S | F32ConvertI64U | F64ConvertI32S
		| F64ConvertI32U | F64ConvertI64S | F64ConvertI64U => 3,
		F32DemoteF64 | F64PromoteF32 => 2,
		// The interpreter computes these in software where the runtime executes it.
		F32Ceil | F32Floor | F32Trunc | F32Nearest | F64Ceil | F64Floor | F64Trunc | F64Nearest => {
			6
		}
		F32Sqrt | F64Sqrt => 16,
		I32TruncF32S | I32TruncF32U | I32TruncF64S | I32TruncF64U | I64TruncF32S | I64TruncF32U
		| I64TruncF64S | I64TruncF64U => 3,
		I32TruncSatF32S | I32TruncSatF32U | I32TruncSatF64S | I32TruncSatF64U | I64TruncSatF32S
		| I64TruncSatF32U | I64TruncSatF64S | I64TruncSatF64U => 3,
		// A call of what charges it, with some thirty instructions, also where it fails.
		MemoryGrow { .. } => 64,
		_ => 1,
	}
}
