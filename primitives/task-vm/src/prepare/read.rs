//! Reads a module: validates it, refuses what has no bound, and counts what its code costs.

use super::{code, cost, exports, Facts, Kind, Refused, FRAME};
use crate::limits::{Limits, PAGE};
use alloc::vec::Vec;
use wasmparser::{
	BlockType, CompositeInnerType, ConstExpr, DataKind, ElementItems, ElementKind, ExternalKind,
	FrameKind, FuncToValidate, FuncType, FuncValidator, FuncValidatorAllocations, FunctionBody,
	Operator, Parser, Payload, SectionLimited, TableInit, ValType, ValidPayload, Validator,
	ValidatorResources, WasmFeatures,
};

/// Most types of functions.
const TYPES: u64 = 256;
/// Most parameters of a function or a block.
const PARAMETERS: u64 = 32;
/// Most results of a function or a block.
const RESULTS: u64 = 8;
/// Most functions.
const FUNCTIONS: u64 = 2_048;
/// Most globals.
const GLOBALS: u64 = 256;
/// Most entries of the table.
const TABLE: u64 = 4_096;
/// Most segments of data, and of functions in the table.
const SEGMENTS: u64 = 512;
/// Most locals of a function, with its parameters.
const LOCALS: u64 = 512;
/// Most operands on a function's stack at a time.
const OPERANDS: u64 = 512;
/// Most blocks in one another.
const NESTING: u64 = 256;

/// What compilers make that every engine executes alike.
const FEATURES: WasmFeatures = WasmFeatures::WASM1
	.union(WasmFeatures::SIGN_EXTENSION)
	.union(WasmFeatures::SATURATING_FLOAT_TO_INT)
	.union(WasmFeatures::MULTI_VALUE)
	.union(WasmFeatures::BULK_MEMORY)
	// Only for the form in which newer compilers write an indirect call. References themselves are refused below.
	.union(WasmFeatures::REFERENCE_TYPES);

/// A function of the module.
pub(super) struct Function<'a> {
	pub(super) body: FunctionBody<'a>,
	/// Fuel of its segments: runs of instructions that are executed together, in the order of the code.
	pub(super) segments: Vec<u64>,
	/// Whether it calls nothing.
	pub(super) leaf: bool,
	/// Slots that a call of it takes.
	pub(super) frame: u32,
}

/// The entries of a section, without their number.
#[derive(Default)]
pub(super) struct Entries<'a> {
	pub(super) number: u32,
	pub(super) bytes: &'a [u8],
}

/// A module that was read.
pub(super) struct Module<'a> {
	/// The module's bytes.
	pub(super) bytes: &'a [u8],
	pub(super) types: Entries<'a>,
	pub(super) declarations: Entries<'a>,
	pub(super) tables: Entries<'a>,
	pub(super) globals: Entries<'a>,
	pub(super) elements: Entries<'a>,
	pub(super) data: Entries<'a>,
	pub(super) functions: Vec<Function<'a>>,
	/// For each type, the slots that an indirect call of it may take.
	pub(super) indirect: Vec<u32>,
	/// Index of the function `input`.
	pub(super) input: u32,
	/// Index of the function `step` or `map`.
	pub(super) entry: u32,
	pub(super) kind: Kind,
	pub(super) instance_fuel: u64,
	pub(super) facts: Facts,
}

/// Returns whether an instruction ends a segment: after it, other code may follow than what stands behind it.
pub(super) fn ends_segment(operator: &Operator<'_>) -> bool {
	use Operator::*;
	matches!(
		operator,
		Loop { .. }
			| If { .. }
			| Else | End
			| Br { .. }
			| BrIf { .. }
			| BrTable { .. }
			| Return | Unreachable
	)
}

fn at_most(what: &'static str, number: impl Into<u64>, most: u64) -> Result<(), Refused> {
	let number = number.into();
	if number > most {
		return Err(Refused::Many { what, number, most });
	}
	Ok(())
}

fn numeric(ty: ValType, offset: usize) -> Result<(), Refused> {
	match ty {
		ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64 => Ok(()),
		ValType::V128 => Err(Refused::Forbidden { what: "vectors (SIMD)", offset }),
		ValType::Ref(_) => Err(Refused::Forbidden { what: "references", offset }),
	}
}

/// Returns the value of an offset of a segment, which is a single constant.
fn offset_of(expression: &ConstExpr<'_>) -> Result<u32, Refused> {
	let mut reader = expression.get_operators_reader();
	let offset = reader.original_position();
	match reader.read()? {
		Operator::I32Const { value } => Ok(value as u32),
		_ => Err(Refused::Forbidden { what: "an offset that is no constant", offset }),
	}
}

/// What was read so far.
#[derive(Default)]
struct Reading<'a> {
	module: &'a [u8],
	signatures: Vec<FuncType>,
	types: Entries<'a>,
	declarations: Entries<'a>,
	tables: Entries<'a>,
	globals: Entries<'a>,
	elements: Entries<'a>,
	data: Entries<'a>,
	/// Type of each function.
	kinds: Vec<u32>,
	functions: Vec<Function<'a>>,
	instructions: u64,
	table: u64,
	pages: Option<(u32, u32)>,
	element_items: u64,
	data_bytes: u64,
	memory_exported: bool,
	input: Option<u32>,
	step: Option<u32>,
	map: Option<u32>,
	allocations: FuncValidatorAllocations,
}

impl<'a> Reading<'a> {
	fn entries<T>(&self, section: &SectionLimited<'a, T>) -> Entries<'a> {
		let range = section.original_position()..section.range().end;
		Entries { number: section.count(), bytes: self.module.get(range).unwrap_or_default() }
	}

	fn signature(&self, ty: u32) -> Option<&FuncType> {
		self.signatures.get(ty as usize)
	}

	/// Looks at a section before the validator does, so that nothing it validates is without bound.
	fn look(&mut self, payload: &Payload<'a>, limits: &Limits) -> Result<(), Refused> {
		match payload {
			Payload::TypeSection(section) => {
				at_most("types", section.count(), TYPES)?;
				self.types = self.entries(section);
				for group in section.clone() {
					let group = group?;
					// A group of several types is a part of another proposal.
					let ty = match group.types().map(|ty| &ty.composite_type.inner).next() {
						Some(CompositeInnerType::Func(ty)) if !group.is_explicit_rec_group() => ty,
						_ => {
							let offset = section.original_position();
							return Err(Refused::Forbidden {
								what: "types of garbage collection",
								offset,
							});
						}
					};
					at_most("parameters of a function", ty.params().len() as u64, PARAMETERS)?;
					at_most("results of a function", ty.results().len() as u64, RESULTS)?;
					for ty in ty.params().iter().chain(ty.results()) {
						numeric(*ty, section.original_position())?;
					}
					self.signatures.push(ty.clone());
				}
			}
			Payload::ImportSection(section) => {
				if let Some(import) = section.clone().into_iter().next() {
					let import = import?;
					return Err(Refused::Import {
						module: import.module.into(),
						name: import.name.into(),
					});
				}
			}
			Payload::FunctionSection(section) => {
				at_most("functions", section.count(), FUNCTIONS)?;
				self.declarations = self.entries(section);
				for ty in section.clone() {
					self.kinds.push(ty?);
				}
			}
			Payload::TableSection(section) => {
				at_most("tables", section.count(), 1)?;
				self.tables = self.entries(section);
				for table in section.clone() {
					let table = table?;
					let offset = section.original_position();
					if table.ty.element_type != wasmparser::RefType::FUNCREF
						|| !matches!(table.init, TableInit::RefNull)
					{
						return Err(Refused::Forbidden {
							what: "a table of other than functions",
							offset,
						});
					}
					at_most("entries of the table", table.ty.initial, TABLE)?;
					self.table = table.ty.initial;
				}
			}
			Payload::MemorySection(section) => {
				at_most("memories", section.count(), 1)?;
				for memory in section.clone() {
					let memory = memory?;
					let most = limits.memory_pages;
					let pages = u32::try_from(memory.initial).unwrap_or(u32::MAX);
					if pages > most {
						return Err(Refused::Pages { pages: memory.initial, most });
					}
					let maximum =
						memory.maximum.map_or(most, |max| u32::try_from(max).unwrap_or(most));
					self.pages = Some((pages, maximum.min(most)));
				}
			}
			Payload::GlobalSection(section) => {
				at_most("globals", section.count(), GLOBALS)?;
				self.globals = self.entries(section);
				for global in section.clone() {
					numeric(global?.ty.content_type, section.original_position())?;
				}
			}
			Payload::ExportSection(section) => {
				// Names are compared by the validator, so that their number needs no bound of its own.
				for export in section.clone() {
					let export = export?;
					let function = match export.kind {
						ExternalKind::Func => Some(export.index),
						ExternalKind::Memory => {
							self.memory_exported |= export.name == exports::MEMORY;
							None
						}
						_ => None,
					};
					match export.name {
						exports::INPUT => self.input = function,
						exports::STEP => self.step = function,
						exports::MAP => self.map = function,
						_ => {}
					}
				}
			}
			Payload::StartSection { .. } => return Err(Refused::Start),
			Payload::ElementSection(section) => {
				at_most("segments of functions", section.count(), SEGMENTS)?;
				self.elements = self.entries(section);
				for (index, element) in section.clone().into_iter().enumerate() {
					let element = element?;
					let offset = element.range.start;
					let (ElementKind::Active { offset_expr, .. }, ElementItems::Functions(items)) =
						(&element.kind, &element.items)
					else {
						return Err(Refused::Forbidden {
							what: "a passive segment of functions",
							offset,
						});
					};
					let items = u64::from(items.count());
					if u64::from(offset_of(offset_expr)?).saturating_add(items) > self.table {
						return Err(Refused::Segment { index: index as u32 });
					}
					self.element_items = self.element_items.saturating_add(items);
				}
			}
			Payload::DataSection(section) => {
				at_most("segments of data", section.count(), SEGMENTS)?;
				self.data = self.entries(section);
				let bytes = self.pages.map_or(0, |(pages, _)| u64::from(pages) * u64::from(PAGE));
				for (index, data) in section.clone().into_iter().enumerate() {
					let data = data?;
					let offset = data.range.start;
					let DataKind::Active { offset_expr, .. } = &data.kind else {
						return Err(Refused::Forbidden {
							what: "a passive segment of data",
							offset,
						});
					};
					let length = data.data.len() as u64;
					if u64::from(offset_of(offset_expr)?).saturating_add(length) > bytes {
						return Err(Refused::Segment { index: index as u32 });
					}
					self.data_bytes = self.data_bytes.saturating_add(length);
				}
			}
			_ => {}
		}
		Ok(())
	}

	/// Validates a function, and counts its segments.
	fn function(
		&mut self,
		function: FuncToValidate<ValidatorResources>,
		body: FunctionBody<'a>,
	) -> Result<(), Refused> {
		let signature = self.signature(function.ty).ok_or(Refused::Limits)?;
		let mut locals = signature.params().len() as u64;
		for group in body.get_locals_reader()? {
			let (number, ty) = group?;
			locals = locals.saturating_add(number.into());
			at_most("locals of a function", locals, LOCALS)?;
			numeric(ty, body.range().start)?;
		}
		let mut validator = function.into_validator(core::mem::take(&mut self.allocations));
		let mut reader = body.get_binary_reader();
		validator.read_locals(&mut reader)?;
		let mut operators = body.get_operators_reader()?;
		let (mut segments, mut leaf, mut height, mut turn) = (Vec::new(), true, 0, false);
		let mut segment = cost::ENTER.saturating_add(locals.saturating_mul(cost::LOCAL));
		while !operators.eof() {
			let offset = operators.original_position();
			let operator = operators.read()?;
			permitted(&operator, offset)?;
			let moved = self.moved(&validator, &operator);
			segment = segment.saturating_add(cost::of(&operator, moved));
			validator.op(offset, &operator)?;
			leaf &= !matches!(operator, Operator::Call { .. } | Operator::CallIndirect { .. });
			height = height.max(validator.operand_stack_height());
			at_most("operands of a function at a time", height, OPERANDS)?;
			at_most("blocks in one another", validator.control_stack_height(), NESTING)?;
			self.instructions = self.instructions.saturating_add(1);
			if ends_segment(&operator) {
				let first = segments.is_empty();
				let own = if first || segment == 0 || turn { 0 } else { cost::SEGMENT };
				segments.push(segment.saturating_add(own));
				turn = matches!(operator, Operator::Loop { .. });
				segment = if turn { cost::TURN } else { 0 };
			}
		}
		validator.finish(operators.original_position())?;
		self.allocations = validator.into_allocations();
		let frame = FRAME.saturating_add(locals as u32).saturating_add(height);
		self.functions.push(Function { body, segments, leaf, frame });
		Ok(())
	}

	/// Returns how many values an instruction may move beside what it computes.
	fn moved(&self, validator: &FuncValidator<ValidatorResources>, operator: &Operator<'_>) -> u64 {
		let of_block = |ty: BlockType, parameters: bool| match ty {
			BlockType::Empty => 0,
			BlockType::Type(_) => u64::from(!parameters),
			BlockType::FuncType(ty) => self
				.signature(ty)
				.map_or(0, |ty| if parameters { ty.params() } else { ty.results() }.len() as u64),
		};
		let of_label = |depth: u32| {
			validator
				.get_control_frame(depth as usize)
				.map_or(0, |frame| of_block(frame.block_type, frame.kind == FrameKind::Loop))
		};
		let of_call = |ty: u32| {
			self.signature(ty).map_or(0, |ty| {
				(ty.params().len() as u64).saturating_add(ty.results().len() as u64)
			})
		};
		match operator {
			Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => {
				of_label(*relative_depth)
			}
			Operator::BrTable { targets } => of_label(targets.default()),
			Operator::Return => of_label(validator.control_stack_height().saturating_sub(1)),
			Operator::If { blockty } => of_block(*blockty, true),
			Operator::Call { function_index } => {
				self.kinds.get(*function_index as usize).map_or(0, |ty| of_call(*ty))
			}
			Operator::CallIndirect { type_index, .. } => of_call(*type_index),
			_ => 0,
		}
	}

	/// Returns, for each type, the largest frame of a function of this type.
	fn indirect(&self) -> Vec<u32> {
		// Several types may be the same one, written again.
		let first = |ty: &FuncType| self.signatures.iter().position(|other| other == ty);
		let firsts: Vec<usize> = self.signatures.iter().filter_map(first).collect();
		let mut frames = alloc::vec![0u32; firsts.len()];
		for (ty, function) in self.kinds.iter().zip(&self.functions) {
			if let Some(frame) = firsts.get(*ty as usize).and_then(|first| frames.get_mut(*first)) {
				*frame = function.frame.max(*frame);
			}
		}
		firsts.iter().map(|first| frames.get(*first).copied().unwrap_or_default()).collect()
	}

	/// Returns the index of an exported function if it has this type.
	fn exported(
		&self,
		index: Option<u32>,
		params: &[ValType],
		result: ValType,
		expected: &'static str,
	) -> Result<u32, Refused> {
		let refused = Refused::Export { expected };
		let index = index.ok_or_else(|| refused.clone())?;
		let ty = self.kinds.get(index as usize).and_then(|ty| self.signature(*ty));
		match ty {
			Some(ty) if ty.params() == params && ty.results() == [result] => Ok(index),
			_ => Err(refused),
		}
	}

	fn finish(self) -> Result<Module<'a>, Refused> {
		let (pages, most_pages) = self.pages.ok_or(Refused::NoMemory)?;
		if !self.memory_exported {
			return Err(Refused::Export { expected: "its memory as `memory`" });
		}
		let input =
			self.exported(self.input, &[ValType::I32], ValType::I32, "`input(i32) -> i32`")?;
		let (kind, entry) = match (self.step, self.map) {
			(Some(step), None) => {
				let params = [ValType::I32, ValType::I32];
				let expected = "`step(i32, i32) -> i64`";
				(Kind::Step, self.exported(Some(step), &params, ValType::I64, expected)?)
			}
			(None, Some(map)) => {
				let params = [ValType::I32, ValType::I32, ValType::I64];
				let expected = "`map(i32, i32, i64) -> i64`";
				(Kind::Map, self.exported(Some(map), &params, ValType::I64, expected)?)
			}
			_ => return Err(Refused::Kind),
		};
		let parts = (self.kinds.len() as u64)
			.saturating_add(self.globals.number.into())
			.saturating_add(self.elements.number.into())
			.saturating_add(self.data.number.into())
			.saturating_add(self.table)
			.saturating_add(self.element_items);
		let instance_fuel = cost::INSTANCE
			.saturating_add(u64::from(pages).saturating_mul(cost::GROWN_PAGE))
			.saturating_add(parts.saturating_mul(cost::PART))
			.saturating_add(self.data_bytes / cost::COPIED_BYTES);
		Ok(Module {
			bytes: self.module,
			indirect: self.indirect(),
			facts: Facts {
				functions: self.kinds.len() as u32,
				instructions: self.instructions,
				data_bytes: self.data_bytes,
				pages,
				most_pages,
			},
			types: self.types,
			declarations: self.declarations,
			tables: self.tables,
			globals: self.globals,
			elements: self.elements,
			data: self.data,
			functions: self.functions,
			input,
			entry,
			kind,
			instance_fuel,
		})
	}
}

impl<'a> Module<'a> {
	/// Reads a module.
	pub(super) fn read(module: &'a [u8], limits: &Limits) -> Result<Self, Refused> {
		let mut parser = Parser::new(0);
		parser.set_features(FEATURES);
		let mut validator = Validator::new_with_features(FEATURES);
		let mut reading = Reading { module, ..Default::default() };
		for payload in parser.parse_all(module) {
			let payload = payload?;
			reading.look(&payload, limits)?;
			match validator.payload(&payload)? {
				ValidPayload::Func(function, body) => reading.function(function, body)?,
				ValidPayload::Ok | ValidPayload::End(_) => {}
				ValidPayload::Parser(_) => {
					return Err(Refused::Forbidden { what: "components", offset: 0 });
				}
			}
		}
		reading.finish()
	}
}

/// Refuses instructions that the features allow and tasks do not.
fn permitted(operator: &Operator<'_>, offset: usize) -> Result<(), Refused> {
	use Operator::*;
	let what = match operator {
		MemoryInit { .. } | DataDrop { .. } => "passive segments of data",
		TableInit { .. } | TableCopy { .. } | ElemDrop { .. } => "passive segments of functions",
		TableGet { .. }
		| TableSet { .. }
		| TableGrow { .. }
		| TableSize { .. }
		| TableFill { .. } => "instructions that change its table",
		RefNull { .. } | RefIsNull | RefFunc { .. } => "references",
		TypedSelect { ty } => return numeric(*ty, offset),
		Block { blockty } | Loop { blockty } | If { blockty } => match blockty {
			BlockType::Type(ty) => return numeric(*ty, offset),
			_ => return Ok(()),
		},
		_ => return Ok(()),
	};
	Err(Refused::Forbidden { what, offset })
}

/// What [`code`] writes for a number of entries and their bytes.
pub(super) fn with_entries(entries: &Entries<'_>, more: u32) -> Vec<u8> {
	let mut out = Vec::with_capacity(entries.bytes.len().saturating_add(8));
	code::unsigned(&mut out, u64::from(entries.number).saturating_add(more.into()));
	out.extend_from_slice(entries.bytes);
	out
}
