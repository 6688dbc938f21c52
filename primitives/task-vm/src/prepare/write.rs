//! Writes a module again, with its meter.
//!
//! Two globals are added, `fuel` (i64) and `stack` (i32), which the host sets before a call and reads after it, and three
//! functions, by which memory grows and bytes are filled and copied. All are added behind what the module has, so no
//! index of it changes, and its instructions stay the bytes that they were.
//!
//! Fuel is taken for a *segment* of instructions at its beginning. It is compared with zero where a function begins and
//! in every turn of a loop: between two comparisons no more runs than one function's code once. A call takes slots of
//! `stack` before it and gives them back after it, unless its function calls nothing, and a function that calls compares
//! them with zero. Where one is below zero, the module executes `unreachable`, and the host sees in the globals why.

use super::{
	code::{self, Code},
	cost, exports,
	read::{ends_segment, with_entries, Function, Module},
	Kind, Refused,
};
use crate::limits::Limits;
use alloc::vec::Vec;
use wasmparser::Operator;

const TYPE: u8 = 1;
const FUNCTION: u8 = 3;
const TABLE: u8 = 4;
const MEMORY: u8 = 5;
const GLOBAL: u8 = 6;
const EXPORT: u8 = 7;
const ELEMENT: u8 = 9;
const CODE: u8 = 10;
const DATA: u8 = 11;

/// What `stack` is set to where the machine, not the module, is at fault.
pub(crate) const NO_MEMORY: i32 = i32::MIN;

/// Indices of what is added.
struct Added {
	fuel: u32,
	stack: u32,
	grow: u32,
	fill: u32,
	copy: u32,
	/// Type of `grow`.
	one: u32,
	/// Type of `fill` and `copy`.
	three: u32,
}

pub(super) fn write(module: &Module<'_>, limits: &Limits) -> Result<Vec<u8>, Refused> {
	let functions = module.declarations.number;
	let added = Added {
		fuel: module.globals.number,
		stack: module.globals.number.saturating_add(1),
		grow: functions,
		fill: functions.saturating_add(1),
		copy: functions.saturating_add(2),
		one: module.types.number,
		three: module.types.number.saturating_add(1),
	};
	let mut out = Vec::with_capacity(module.bytes.len().saturating_mul(3));
	out.extend_from_slice(b"\0asm\x01\0\0\0");

	let mut types = with_entries(&module.types, 2);
	types.extend_from_slice(&[code::FUNCTION_TYPE, 1, code::I32, 1, code::I32]);
	types.extend_from_slice(&[code::FUNCTION_TYPE, 3, code::I32, code::I32, code::I32, 0]);
	code::section(&mut out, TYPE, &types);

	let mut declarations = with_entries(&module.declarations, 3);
	for ty in [added.one, added.three, added.three] {
		code::unsigned(&mut declarations, ty.into());
	}
	code::section(&mut out, FUNCTION, &declarations);

	if module.tables.number > 0 {
		code::section(&mut out, TABLE, &with_entries(&module.tables, 0));
	}

	let mut memory = alloc::vec![1, 1];
	code::unsigned(&mut memory, module.facts.pages.into());
	code::unsigned(&mut memory, module.facts.most_pages.into());
	code::section(&mut out, MEMORY, &memory);

	let mut globals = Code(with_entries(&module.globals, 2));
	globals.raw(&[code::I64, code::MUTABLE]).i64_const(0).end();
	globals.raw(&[code::I32, code::MUTABLE]).i32_const(0).end();
	code::section(&mut out, GLOBAL, &globals.0);

	let entry = match module.kind {
		Kind::Step => exports::STEP,
		Kind::Map => exports::MAP,
	};
	let mut exported = alloc::vec![5];
	for (name, kind, index) in [
		(exports::MEMORY, 2, 0),
		(exports::INPUT, 0, module.input),
		(entry, 0, module.entry),
		(exports::FUEL, 3, added.fuel),
		(exports::STACK, 3, added.stack),
	] {
		code::name(&mut exported, name);
		exported.push(kind);
		code::unsigned(&mut exported, index.into());
	}
	code::section(&mut out, EXPORT, &exported);

	if module.elements.number > 0 {
		code::section(&mut out, ELEMENT, &with_entries(&module.elements, 0));
	}

	let mut bodies = Vec::with_capacity(module.bytes.len().saturating_mul(2));
	code::unsigned(&mut bodies, u64::from(functions).saturating_add(3));
	for function in &module.functions {
		body(&mut bodies, &added.function(module, function)?.0);
	}
	body(&mut bodies, &added.grow(module.facts.most_pages.min(limits.memory_pages)).0);
	body(&mut bodies, &added.bulk(|code| code.memory_fill()).0);
	body(&mut bodies, &added.bulk(|code| code.memory_copy()).0);
	code::section(&mut out, CODE, &bodies);

	if module.data.number > 0 {
		code::section(&mut out, DATA, &with_entries(&module.data, 0));
	}
	Ok(out)
}

fn body(out: &mut Vec<u8>, code: &[u8]) {
	code::unsigned(out, code.len() as u64);
	out.extend_from_slice(code);
}

impl Added {
	/// Writes a function with its meter.
	fn function(&self, module: &Module<'_>, function: &Function<'_>) -> Result<Code, Refused> {
		let mut out = Code::default();
		let mut operators = function.body.get_operators_reader()?;
		let bytes = |range: core::ops::Range<usize>| module.bytes.get(range).unwrap_or_default();
		out.raw(bytes(function.body.range().start..operators.original_position()));
		let mut segments = function.segments.iter();
		self.charge(&mut out, segments.next(), true);
		if !function.leaf {
			out.global_get(self.stack).i32_const(0).i32_lt_s().if_().unreachable().end();
		}
		while !operators.eof() {
			let begin = operators.original_position();
			let operator = operators.read()?;
			let raw = bytes(begin..operators.original_position());
			match &operator {
				Operator::Call { function_index } => {
					let called = module.functions.get(*function_index as usize);
					let frame = called.filter(|called| !called.leaf).map(|called| called.frame);
					self.call(&mut out, frame, raw);
				}
				Operator::CallIndirect { type_index, .. } => {
					let frame = module.indirect.get(*type_index as usize).copied();
					self.call(&mut out, frame, raw);
				}
				Operator::MemoryGrow { .. } => {
					out.call(self.grow);
				}
				Operator::MemoryFill { .. } => {
					out.call(self.fill);
				}
				Operator::MemoryCopy { .. } => {
					out.call(self.copy);
				}
				_ => {
					out.raw(raw);
				}
			}
			if ends_segment(&operator) && !operators.eof() {
				self.charge(&mut out, segments.next(), matches!(operator, Operator::Loop { .. }));
			}
		}
		Ok(out)
	}

	/// Takes the fuel of a segment.
	fn charge(&self, out: &mut Code, fuel: Option<&u64>, compare: bool) {
		let fuel = fuel.copied().unwrap_or_default().min(i64::MAX as u64) as i64;
		if fuel > 0 {
			out.global_get(self.fuel).i64_const(fuel).i64_sub().global_set(self.fuel);
		}
		if compare {
			self.compare(out);
		}
	}

	fn compare(&self, out: &mut Code) {
		out.global_get(self.fuel).i64_const(0).i64_lt_s().if_().unreachable().end();
	}

	/// A call that takes `frame` slots while it runs.
	fn call(&self, out: &mut Code, frame: Option<u32>, raw: &[u8]) {
		let frame = frame.unwrap_or_default().min(i32::MAX as u32) as i32;
		if frame == 0 {
			out.raw(raw);
			return;
		}
		out.global_get(self.stack).i32_const(frame).i32_sub().global_set(self.stack);
		out.raw(raw);
		out.global_get(self.stack).i32_const(frame).i32_add().global_set(self.stack);
	}

	/// `memory.grow` to no more than `most` pages.
	fn grow(&self, most: u32) -> Code {
		let mut out = Code::default();
		// One local, of 64 bits: the pages that it would have.
		out.raw(&[1, 1, code::I64]);
		out.memory_size().i64_extend_i32_u().local_get(0).i64_extend_i32_u().i64_add().local_tee(1);
		out.i64_const(most.into()).i64_gt_u().if_().i32_const(-1).return_().end();
		out.global_get(self.fuel).local_get(1).i64_const(cost::GROWN_PAGE as i64).i64_mul();
		out.i64_const(cost::BULK as i64).i64_add().i64_sub().global_set(self.fuel);
		self.compare(&mut out);
		out.local_get(0).memory_grow().local_tee(0).i32_const(-1).i32_eq().if_();
		out.i32_const(NO_MEMORY).global_set(self.stack).unreachable().end();
		out.local_get(0).end();
		out
	}

	/// `memory.fill` or `memory.copy`, whose third parameter is the number of bytes.
	fn bulk(&self, instruction: impl Fn(&mut Code) -> &mut Code) -> Code {
		let mut out = Code::default();
		out.raw(&[0]);
		out.global_get(self.fuel).local_get(2).i64_extend_i32_u();
		out.i64_const(cost::BULK_SHIFT).i64_shr_u().i64_const(cost::BULK as i64).i64_add();
		out.i64_sub().global_set(self.fuel);
		self.compare(&mut out);
		out.local_get(0).local_get(1).local_get(2);
		instruction(&mut out).end();
		out
	}
}
