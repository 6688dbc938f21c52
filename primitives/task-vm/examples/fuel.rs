//! What a unit of fuel costs: time of one core for kinds of code, by each engine, and what it costs a referee to
//! prepare and compile modules that are made to take long. Whatever is executed must come to the same by every engine,
//! and in the referee, which is code for a machine of 32 bits.
//!
//! ```sh
//! tools/task-referee/run
//! ```
//!
//! builds the referee for the target of the runtime and calls this with it. Without it, the engines of workers alone are
//! measured.

#[path = "../src/tests/everything.rs"]
mod everything;

use codec::Encode;
use rustix::time::{clock_gettime, ClockId};
use std::{error::Error, fmt::Write as _, path::PathBuf};
use trainyard_task_vm::{native, prepare, Call, Limits, Machine, MAX_MODULE_BYTES};
use wasmtime::{Config, Engine, Instance, Memory, Module, OptLevel, Store};

type Anything<T> = Result<T, Box<dyn Error>>;

/// A module whose `step` repeats `body` about a million times, a hundred copies in a turn.
fn repeating(fields: &str, locals: &str, body: &str) -> String {
	let body = format!("{body}\n").repeat(100);
	format!(
		r#"(module (memory (export "memory") 2) {fields}
			(func (export "input") (param i32) (result i32) i32.const 0)
			(func (export "step") (param i32 i32) (result i64) (local $n i32) {locals}
				(local.set $n (i32.const 3000))
				(loop
					{body}
					(br_if 0 (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
				i64.const 0))"#
	)
}

/// Kinds of code, by name.
fn kinds() -> Vec<(String, String)> {
	let locals = "(local $a i32) (local $b i32) (local $x i64) (local $y i64) (local $f f64) (local $g f64) \
		(local $s f32) (local $t f32)";
	let of = |name: &str, body: &str| (name.to_owned(), repeating("", locals, body));
	let mut kinds = vec![
		of("i32.add", "(local.set $a (i32.add (local.get $a) (local.get $b)))"),
		of("i64.mul", "(local.set $x (i64.mul (local.get $x) (local.get $y)))"),
		of("i64.div_u", "(local.set $x (i64.div_u (local.get $x) (i64.const 7)))"),
		of("i32.rem_s", "(local.set $a (i32.rem_s (local.get $a) (i32.or (local.get $b) (i32.const 1))))"),
		of("i64.popcnt", "(local.set $x (i64.popcnt (local.get $x)))"),
		of("i64.rotl", "(local.set $x (i64.rotl (local.get $x) (local.get $y)))"),
		of("local.set", "(local.set $a (local.get $b)) (local.set $b (local.get $a))"),
		of("swaps", "local.get $a local.get $b local.set $a local.set $b"),
		of("drop", "local.get $a drop"),
		of("block", "(block) (block)"),
		of("block of 8", "(block (block (block (block (block (block (block (block (br_if 7 (local.get $a))))))))))"),
		of("if", "(if (local.get $a) (then (local.set $b (i32.const 1))))"),
		of("br_if", "(block (br_if 0 (local.get $a)))"),
		of("br_table", "(block (block (block (br_table 0 1 2 (local.get $a)))))"),
		of("select", "(local.set $a (select (local.get $a) (local.get $b) (local.get $n)))"),
		of("i32.load", "(local.set $a (i32.load (local.get $b)))"),
		of("i64.store", "(i64.store (local.get $b) (local.get $x))"),
		of("i64.load8_s", "(local.set $x (i64.load8_s offset=7 (local.get $b)))"),
		of("i64.store32", "(i64.store32 offset=7 (local.get $b) (local.get $x))"),
		of("loads, wide", "(local.set $b (i32.and (i32.load (local.get $b)) (i32.const 65532)))"),
		of("memory.size", "(local.set $a (memory.size))"),
		of("trunc_sat", "(local.set $x (i64.trunc_sat_f64_u (local.get $f)))"),
		of("trunc", "(local.set $x (i64.trunc_f64_s (local.get $f)))"),
		of("convert", "(local.set $f (f64.convert_i64_u (local.get $x)))"),
		of("f32.convert_i64_u", "(local.set $s (f32.convert_i64_u (local.get $x)))"),
		of("promote", "(local.set $s (f32.demote_f64 (f64.promote_f32 (local.get $s))))"),
		of("horner", "(local.set $f (f64.add (f64.mul (local.get $f) (local.get $g)) (f64.const 0.5)))"),
		of("f64.lt", "(local.set $a (f64.lt (local.get $f) (local.get $g)))"),
		of(
			"memory.fill 16",
			"(memory.fill (i32.const 0) (i32.const 1) (i32.const 16))",
		),
		of("memory.copy 4096", "(memory.copy (i32.const 1) (i32.const 8192) (i32.const 4096))"),
		of("memory.fill 4096", "(memory.fill (i32.const 1) (i32.const 1) (i32.const 4096))"),
	];
	for op in ["add", "div", "min", "max", "copysign"] {
		kinds.push(of(
			&format!("f64.{op}"),
			&format!("(local.set $f (f64.{op} (local.get $f) (local.get $g)))"),
		));
	}
	for op in ["sqrt", "ceil", "nearest", "floor", "trunc", "neg"] {
		let body = format!("(local.set $f (f64.{op} (local.get $g)))");
		kinds.push((
			format!("f64.{op}"),
			repeating("", locals, &body).replace(
				"(local.set $n (i32.const 3000))",
				"(local.set $n (i32.const 3000)) (local.set $g (f64.const 12345.678))",
			),
		));
		let body = format!("(local.set $s (f32.{op} (local.get $t)))");
		kinds.push((
			format!("f32.{op}"),
			repeating("", locals, &body).replace(
				"(local.set $n (i32.const 3000))",
				"(local.set $n (i32.const 3000)) (local.set $t (f32.const 12345.678))",
			),
		));
	}
	let globals = "(global $g (mut i64) (i64.const 1))";
	kinds.push((
		"globals".into(),
		repeating(globals, locals, "(global.set $g (i64.add (global.get $g) (local.get $x)))"),
	));
	kinds.push((
		"call, leaf".into(),
		repeating(
			"(func $f (param i32) (result i32) local.get 0)",
			locals,
			"(local.set $a (call $f (local.get $a)))",
		),
	));
	let deep = "(func $g) (func $f (param i32) (result i32) (call $g) local.get 0)";
	kinds.push(("call".into(), repeating(deep, locals, "(local.set $a (call $f (local.get $a)))")));
	let many = format!("(func $f (local {}))", "i64 ".repeat(500));
	kinds.push(("call, 500 locals".into(), repeating(&many, locals, "(call $f)")));
	let wide = format!("(func $f (param {0}) (result i32) local.get 0)", "i32 ".repeat(32));
	let call = format!("(local.set $a (call $f {}))", "(local.get $b) ".repeat(32));
	kinds.push(("call, 32 parameters".into(), repeating(&wide, locals, &call)));
	let results = "(func $f (result i32 i32 i32 i32 i32 i32 i32 i32) (local i32) local.get 0 local.get 0 local.get 0 local.get 0 local.get 0 local.get 0 local.get 0 local.get 0)";
	kinds.push((
		"call, 8 results".into(),
		repeating(results, locals, "call $f drop drop drop drop drop drop drop drop"),
	));
	let table =
		"(table 1 funcref) (elem (i32.const 0) $f) (func $f (param i32) (result i32) local.get 0)";
	kinds.push((
		"call_indirect".into(),
		repeating(
			table,
			locals,
			"(local.set $a (call_indirect (param i32) (result i32) (local.get $a) (i32.const 0)))",
		),
	));
	let values = "(block (result i32 i32 i32 i32 i32 i32 i32 i32) local.get $a local.get $b local.get $a local.get $b local.get $a local.get $b local.get $a local.get $b (br_if 0 (local.get $n))) drop drop drop drop drop drop drop drop";
	kinds.push(of("br_if, 8 values", values));
	kinds.push(of(
		"operands at a block",
		&format!(
			"{} (block (br_if 0 (local.get $a))) {}",
			"local.get $b ".repeat(50),
			"drop ".repeat(50)
		),
	));
	kinds.push(of("instance", "").clone());
	kinds
}

/// Modules of about the most bytes, made to take long to prepare or compile.
fn heavy() -> Vec<(&'static str, Vec<u8>)> {
	let most = MAX_MODULE_BYTES as usize - 500;
	let wrap = |fields: &str, code: &str| {
		wat::parse_str(format!(
			r#"(module (memory (export "memory") 1) {fields}
				(func (export "input") (param i32) (result i32) i32.const 0)
				(func (export "step") (param i32 i32) (result i64) (local $l i32) {code} i64.const 0))"#
		))
		.unwrap_or_default()
	};
	let repeat = |text: &str, bytes: usize| format!("{text} ").repeat(most / bytes);
	let mut table = String::from("(block (br_table");
	for _ in 0..most {
		let _ = write!(table, " 0");
	}
	table.push_str(" (local.get $l)))");
	let locals = format!("(func (local {}))", "i64 ".repeat(500));
	vec![
		("drops", wrap("", &repeat("local.get $l drop", 3))),
		("blocks", wrap("", &repeat("(block)", 3))),
		("loops", wrap("", &repeat("(loop)", 3))),
		("ifs", wrap("", &repeat("(if (local.get $l) (then))", 5))),
		("branches", wrap("", &repeat("(block (br_if 0 (local.get $l)))", 7))),
		("br_table", wrap("", &table)),
		("unreachable", wrap("", &repeat("unreachable", 1))),
		("dead adds", wrap("", &format!("unreachable {} drop", repeat("i32.add", 1)))),
		("nops", wrap("", &repeat("nop", 1))),
		("calls", wrap("(func $f (call $g)) (func $g)", &repeat("call $f", 2))),
		("growths", wrap("", &repeat("(drop (memory.grow (local.get $l)))", 5))),
		("constants", wrap("", &repeat("(drop (i64.const -9223372036854775808))", 12))),
		("functions", wrap(&"(func)".repeat(2_000), "")),
		("locals", wrap(&locals.repeat(2_000), "")),
		("memory accesses", wrap("", &repeat("(local.set $l (i32.load (local.get $l)))", 7))),
		(
			"blocks over operands",
			wrap(
				"",
				&format!(
					"{} {} {}",
					"local.get $l ".repeat(500),
					repeat("(block)", 3)
						.split_at(0)
						.1
						.get(..(most - 2_000) / 3 * 8)
						.unwrap_or_default(),
					"drop ".repeat(500)
				),
			),
		),
		(
			"sets over operands",
			wrap(
				"",
				&format!(
					"{} {} {}",
					"local.get $l ".repeat(500),
					format!("{} ", "(local.set $l (i32.const 1)) local.get $l drop")
						.repeat((most - 2_000) / 7),
					"drop ".repeat(500)
				),
			),
		),
	]
}

/// The referee as the runtime has it: compiled to WebAssembly, and executed by wasmtime as a node does.
struct Referee {
	store: Store<()>,
	instance: Instance,
}

impl Referee {
	fn new(engine: &Engine, module: &Module) -> Anything<Self> {
		let mut store = Store::new(engine, ());
		let instance = Instance::new(&mut store, module, &[])?;
		Ok(Self { store, instance })
	}

	/// Gives it bytes, by the function that says where they belong.
	fn give(&mut self, place: &str, bytes: &[u8]) -> Anything<()> {
		let place = self.instance.get_typed_func::<u32, u32>(&mut self.store, place)?;
		let at = place.call(&mut self.store, bytes.len() as u32)?;
		Ok(self.memory()?.write(&mut self.store, at as usize, bytes)?)
	}

	fn memory(&mut self) -> Anything<Memory> {
		Ok(self.instance.get_memory(&mut self.store, "memory").ok_or("no memory")?)
	}

	/// Has it do something, and returns the seconds.
	fn call(&mut self, name: &str) -> Anything<f64> {
		let called = self.instance.get_typed_func::<(), u32>(&mut self.store, name)?;
		let begun = Begun::now();
		let done = called.call(&mut self.store, ())?;
		let seconds = begun.seconds();
		(done == 1).then_some(seconds).ok_or_else(|| format!("the referee cannot {name}").into())
	}

	/// Returns what the last step came to, encoded.
	fn outcome(&mut self) -> Anything<Vec<u8>> {
		let called = self.instance.get_typed_func::<(), u64>(&mut self.store, "outcome")?;
		let packed = called.call(&mut self.store, ())?;
		let mut bytes = vec![0; packed as u32 as usize];
		self.memory()?.read(&self.store, (packed >> 32) as usize, &mut bytes)?;
		Ok(bytes)
	}
}

/// Time that this thread computed: other programs of the machine do not count.
struct Begun(f64);

impl Begun {
	fn now() -> Self {
		let time = clock_gettime(ClockId::ThreadCPUTime);
		Self(time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64)
	}

	fn seconds(&self) -> f64 {
		Self::now().0 - self.0
	}
}

/// Returns the least seconds of some runs.
fn least(mut run: impl FnMut()) -> f64 {
	let of = |_| {
		let begun = Begun::now();
		run();
		begun.seconds()
	};
	(0..3).map(of).fold(f64::INFINITY, f64::min)
}

/// Compares the referee with this machine on every float instruction.
fn floats(engine: &Engine, module: &Module) -> Anything<()> {
	let bytes = wat::parse_str(everything::everything())?;
	let machine = Machine::new(prepare(&bytes, &Limits::MAX)?)?;
	let mut referee = Referee::new(engine, module)?;
	referee.give("place", &bytes)?;
	referee.call("prepare")?;
	referee.call("compile")?;
	let edges = everything::edges();
	let mut bits = 1u64;
	for (index, a) in edges.iter().enumerate() {
		for b in &edges {
			// Beside the edges numbers without order (Knuth's generator).
			bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(index as u64 | 1);
			for pair in [[*a, *b], [bits, *b]] {
				let state = pair.map(u64::to_le_bytes).concat();
				referee.give("place_state", &state)?;
				referee.call("execute")?;
				if referee.outcome()? != machine.execute(Call::Step(&state))?.encode() {
					return Err(format!("the referee differs: {pair:x?}").into());
				}
			}
		}
	}
	println!("\nEvery float instruction on {} pairs: equal in the referee", 2 * edges.len().pow(2));
	Ok(())
}

fn main() -> Anything<()> {
	let referee = match std::env::args().nth(1).map(PathBuf::from) {
		Some(path) => {
			let mut config = Config::new();
			config.cranelift_opt_level(OptLevel::SpeedAndSize);
			let engine = Engine::new(&config)?;
			Some((engine.clone(), Module::from_file(&engine, path)?))
		}
		None => None,
	};
	let nanos = |seconds: f64, fuel: u64| 1e9 * seconds / fuel as f64;
	println!("Nanoseconds of a unit of fuel\n");
	println!("{:24} {:>10} {:>12} {:>8} {:>8}", "code", "fuel", "interpreter", "native", "referee");
	let mut rows = Vec::new();
	for (name, text) in kinds() {
		let bytes = wat::parse_str(&text)?;
		let limits = Limits::MAX;
		let prepared = prepare(&bytes, &limits).map_err(|error| format!("{name}: {error}"))?;
		let machine = Machine::new(prepared.clone())?;
		let outcome = machine.execute(Call::Step(&[]))?;
		// What runs out of fuel has used all.
		let fuel = outcome.as_ref().map_or(limits.fuel, |returned| returned.fuel);
		let interpreter = nanos(least(|| drop(machine.execute(Call::Step(&[])))), fuel);
		let compiled = native::Machine::new(prepared)?;
		if compiled.execute(Call::Step(&[]))? != outcome {
			return Err(format!("native code differs: {name}").into());
		}
		let compiled = nanos(least(|| drop(compiled.execute(Call::Step(&[])))), fuel);
		let in_referee = match &referee {
			Some((engine, module)) => {
				let mut referee = Referee::new(engine, module)?;
				referee.give("place", &bytes)?;
				referee.call("prepare")?;
				referee.call("compile")?;
				let mut failed = None;
				let seconds = least(|| failed = referee.call("execute").err());
				if let Some(error) = failed {
					return Err(error);
				}
				if referee.outcome()? != outcome.encode() {
					return Err(format!("the referee differs: {name}").into());
				}
				nanos(seconds, fuel)
			}
			None => f64::NAN,
		};
		println!("{name:24} {fuel:10} {interpreter:12.2} {compiled:8.2} {in_referee:8.2}");
		rows.push((name, interpreter, compiled, in_referee));
	}
	for (engine, of) in [
		("interpreter", (|row| row.1) as fn(&(String, f64, f64, f64)) -> f64),
		("native", |row| row.2),
		("referee", |row| row.3),
	] {
		let mean = rows.iter().map(of).sum::<f64>() / rows.len() as f64;
		let worst = rows.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
		if let Some(worst) = worst {
			println!("{engine}: mean {mean:.2} ns, worst {:.2} ns ({})", of(worst), worst.0);
		}
	}
	if let Some((engine, module)) = &referee {
		floats(engine, module)?;
	}
	println!("\nMilliseconds for modules of about {MAX_MODULE_BYTES} bytes\n");
	println!(
		"{:24} {:>7} {:>9} {:>8} {:>11} {:>8} {:>8} {:>8}",
		"module", "bytes", "prepared", "prepare", "interpreter", "native", "referee", "compile"
	);
	for (name, bytes) in heavy() {
		let begun = Begun::now();
		let prepared = match prepare(&bytes, &Limits::MAX) {
			Ok(prepared) => prepared,
			Err(error) => {
				println!("{name:24} {:7} {error}", bytes.len());
				continue;
			}
		};
		let here = 1e3 * begun.seconds();
		let length = prepared.bytes().len();
		let begun = Begun::now();
		Machine::new(prepared.clone())?;
		let compile = 1e3 * begun.seconds();
		let begun = Begun::now();
		let compiled = native::Machine::new(prepared)?;
		// wasmtime compiles functions on threads where it can; these modules have few functions.
		let native = 1e3 * begun.seconds() - compile;
		let native = if compiled.is_native() { native } else { f64::NAN };
		print!("{name:24} {:7} {length:9} {here:8.2} {compile:11.2} {native:8.2}", bytes.len());
		if let Some((engine, module)) = &referee {
			let mut referee = Referee::new(engine, module)?;
			referee.give("place", &bytes)?;
			let prepare = 1e3 * referee.call("prepare")?;
			let compile = 1e3 * referee.call("compile")?;
			print!(" {prepare:8.2} {compile:8.2}");
		}
		println!();
	}
	Ok(())
}
