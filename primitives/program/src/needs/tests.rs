use super::*;
use crate::{
	spec::{DataFormat, FileRef, InitialModel, JobSpec, Model, Optimizer},
	H256,
};

fn needs(spec: &JobSpec) -> Needs {
	Needs::of(&spec.clone().check().unwrap())
}

/// Most bytes of a rescue.
const ROOM: u64 = 450 << 20;

/// Returns what a job needs too much of, where a rescue has room for 450 MiB.
fn refused(spec: &JobSpec) -> Vec<Resource> {
	refused_with(spec, 1 << 32)
}

/// The same where a blob may have that many bytes.
fn refused_with(spec: &JobSpec, blob: u64) -> Vec<Resource> {
	let room = Room { rescue: ROOM, blob };
	let beside = needs(spec).beside(MachineClass::Gib8, 3, 1, room);
	beside.into_iter().filter(Shortage::is_exceeded).map(|short| short.resource).collect()
}

fn set_hidden(spec: &mut JobSpec, widths: &[u32]) {
	let Model::Mlp { hidden, .. } = &mut spec.model else { unreachable!() };
	*hidden = widths.to_vec().try_into().unwrap();
}

fn set_rows(spec: &mut JobSpec, train: u32, validation: u32) {
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (train, validation);
	spec.dataset.validation_every = (train + validation) / validation;
}

#[test]
fn an_ordinary_job_fits() {
	assert_eq!(refused(&JobSpec::example()), []);
	let small = needs(&JobSpec::example());
	assert!(small.memory() < 192 << 20, "{small:?}");
	assert_eq!(small.rows, (1_438 + 359) * 65 * 4);
}

/// A model of GPT-2 small's size is what the class of large machines is for.
#[test]
fn a_large_model_fits_a_large_machine() {
	let spec = JobSpec::large_example();
	let beside = |class| {
		let room = Room { rescue: ROOM, blob: 1 << 32 };
		let beside = needs(&spec).beside(class, 3, 1, room).into_iter();
		beside.filter(Shortage::is_exceeded).map(|short| short.resource).collect::<Vec<_>>()
	};
	assert_eq!(beside(MachineClass::Gib8), [Resource::Memory, Resource::Download]);
	assert_eq!(beside(MachineClass::Gib32), []);
	let large = needs(&spec);
	assert!(large.model > 4 * 124_000_000 && large.checkpoint > 3 * large.model - (4 << 20));
	for pair in MachineClass::ALL.windows(2) {
		let [small, large] = [pair[0], pair[1]].map(MachineClass::limits);
		assert!(pair[0].rate() < pair[1].rate() && pair[0].most_disk() < pair[1].most_disk());
		assert!(small.memory < large.memory && small.bandwidth < large.bandwidth);
		assert!(small.rows <= large.rows && small.text <= large.text);
	}
	for class in MachineClass::ALL {
		assert_eq!(MachineClass::named(class.name()), Some(class));
	}
}

/// 17 GB for each activation of a specification that has next to no parameters: a trap for every
/// verifier.
#[test]
fn wide_layers_and_batches_are_too_much_memory() {
	let mut spec = JobSpec::example();
	spec.dataset.features = 1;
	set_rows(&mut spec, 80_000, 20_000);
	spec.training.batch_size = 65_536;
	set_hidden(&mut spec, &[65_536]);
	let wide = needs(&spec);
	let activation = 65_536u64 * 65_536 * 4;
	assert!(wide.step > 2 * activation && wide.step < 8 * activation, "{wide:?}");
	// 1,024 rows are evaluated at a time.
	assert!(wide.evaluation < activation / 8, "{wide:?}");
	assert_eq!(refused(&spec), [Resource::Memory]);
	spec.training.batch_size = 1_024;
	assert_eq!(refused(&spec), []);
}

/// A file of a few megabytes may unpack to any number of equal rows.
#[test]
fn rows_without_end_are_too_much_data() {
	let mut spec = JobSpec::example();
	set_rows(&mut spec, 80_000_000, 20_000_000);
	spec.dataset.bytes = 1 << 22;
	let many = needs(&spec);
	assert_eq!(many.rows, 100_000_000 * 65 * 4);
	assert!(many.text > many.rows);
	assert_eq!(refused(&spec), [Resource::Rows, Resource::Text, Resource::Content]);
}

/// Rows that fit may come as eight times as many bytes of text, which a gzip of a few megabytes
/// unpacks to: reading them takes longer than a verifier has.
#[test]
fn text_without_end_is_too_much_data() {
	let mut spec = JobSpec::example();
	set_rows(&mut spec, 12_000_000, 3_000_000);
	spec.dataset.bytes = 35 << 20;
	let many = needs(&spec);
	assert!(many.rows < 4 << 30 && many.text > 29 << 30, "{many:?}");
	assert_eq!(refused(&spec), [Resource::Text]);
	// An array is no longer than its file.
	spec.dataset.format = DataFormat::Npy;
	assert_eq!(needs(&spec).text, 35 << 20);
	assert_eq!(refused(&spec), []);
	spec.dataset.format = DataFormat::CsvLabelLast;
	// 10.5 million rows of 28 features and a label are no more than a machine takes.
	spec.dataset.features = 28;
	set_rows(&mut spec, 10_290_000, 210_000);
	assert_eq!(refused(&spec), []);
}

/// Whoever has the disk of its class can be drawn for every job of it.
#[test]
fn decoded_rows_take_disk() {
	let mut spec = JobSpec::example();
	let few = needs(&spec);
	set_rows(&mut spec, 4_000_000, 1_000_000);
	let many = needs(&spec);
	assert_eq!(refused(&spec), []);
	assert_eq!(many.disk(3, 1) - few.disk(3, 1), many.rows - few.rows);
	let most = few.download(3, 8) + few.rows;
	assert!((most..=most + (1 << 20)).contains(&few.disk(3, 8)));
	for class in MachineClass::ALL {
		let limits = class.limits();
		let largest = Needs { rows: limits.rows, ..many };
		assert!(largest.disk(3, 8) <= class.most_disk());
		assert!(class.most_disk() > limits.download + limits.rows);
	}
}

#[test]
fn states_that_no_period_carries_are_no_rescue() {
	let mut spec = JobSpec::example();
	// 2.7 million parameters, 12 bytes each, in 17 states: seven of the drawn segments, and those of
	// a search.
	set_hidden(&mut spec, &[4_096, 600]);
	let large = needs(&spec);
	assert!(large.checkpoint > 30 << 20 && large.memory() < 1 << 30, "{large:?}");
	let besides = large.rows + 81 * (u64::from(spec.segments()) + 2);
	// Together they are more than a rescue, which each of them is not: they are stored one after the other.
	assert_eq!(refused(&spec), []);
	let Lacking { stored, relayed, relayed_rows, .. } = large.lacking(3, ROOM, 1);
	assert_eq!((stored, relayed, relayed_rows), (17 * large.checkpoint + besides, 0, 0));
	assert!(stored > ROOM);
	assert_eq!(large.lacking(3, large.checkpoint, 1).relayed, 0);
	let samples = large.samples * (u64::from(spec.segments()) + 1);
	let relayed = Lacking { stored: besides, relayed: large.checkpoint, relayed_rows: 0, samples };
	assert_eq!(large.lacking(3, large.checkpoint - 1, 1), relayed);
	// A single file can be too much.
	spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
	spec.dataset.bytes = 1 << 30;
	assert_eq!(refused(&spec), [Resource::Rescue]);
}

/// Of the largest class of today: 700 MiB a state, of which four are fetched.
#[test]
fn one_state_can_be_more_than_a_rescue() {
	let mut spec = JobSpec::example();
	set_hidden(&mut spec, &[7_800, 7_800]);
	spec.training.checkpoint_interval = spec.training.steps / 2;
	let large = needs(&spec);
	assert!(large.checkpoint > ROOM && large.memory() < 4 << 30, "{large:?}");
	assert_eq!(refused(&spec), [Resource::Download]);
	spec.training.checkpoint_interval = spec.training.steps;
	assert_eq!(refused(&spec), []);
	assert_eq!(needs(&spec).lacking(1, ROOM, 1).relayed, large.checkpoint);
}

/// Rows that no rescue carries when they are decoded are relayed, whatever the states are.
#[test]
fn all_rows_can_be_more_than_a_rescue() {
	let mut spec = JobSpec::example();
	set_rows(&mut spec, 4_000_000, 1_000_000);
	spec.dataset.bytes = 400 << 20;
	let large = needs(&spec);
	assert!(large.rows > ROOM && large.checkpoint < ROOM, "{large:?}");
	assert_eq!(refused(&spec), []);
	let states = 17 * large.checkpoint + 81 * (u64::from(spec.segments()) + 2);
	let Lacking { stored, relayed, relayed_rows, .. } = large.lacking(3, ROOM, 1);
	assert_eq!((stored, relayed, relayed_rows), (states + ROOM, 0, large.rows));
	assert_eq!(large.lacking(3, large.rows, 1).relayed_rows, 0);
}

/// Whoever is asked for a row stores chunks of the blob of its content, which must be one that there can be.
#[test]
fn contents_that_no_blob_holds_are_refused() {
	let mut spec = JobSpec::example();
	assert_eq!(spec.dataset.features, 64);
	let inputs = |spec: &JobSpec| u64::from(spec.dataset.train_rows) * 64 * 4;
	assert_eq!(needs(&spec).content, inputs(&spec));
	set_rows(&mut spec, 4_000_000, 1_000_000);
	assert_eq!(needs(&spec).content, 1_024_000_000);
	assert_eq!(refused_with(&spec, 1_024_000_000), []);
	assert_eq!(refused_with(&spec, 1_023_999_999), [Resource::Content]);
	let short = Shortage { resource: Resource::Content, needed: 5 << 30, limit: 1 << 30 };
	assert!(short.to_string().contains("5120 MiB"));
}

#[test]
fn results_that_differ_are_fetched_each() {
	let large = needs(&JobSpec::example());
	let one = large.download(3, 1);
	let states = large.checkpoint * read_states(30, 3);
	assert_eq!(one, states + large.manifest() + large.files);
	let eight = large.download(3, 8);
	assert!(eight > 8 * (one - large.files) && eight < 16 * one, "{eight}");
}

#[test]
fn every_file_is_counted() {
	let plain = JobSpec::example();
	let file = FileRef { bytes: 1 << 30, ..plain.dataset.file() };
	let model = InitialModel { file: file.clone(), parameters: H256::repeat_byte(3) };
	let tuned = JobSpec { initial_model: Some(model), ..plain.clone() };
	let (few, more) = (needs(&plain), needs(&tuned));
	assert_eq!(more.files - few.files, file.bytes);
	// Who cannot fetch the model asks for the first state.
	let stored = |needs: &Needs, drawn| needs.lacking(drawn, ROOM, 1).stored;
	assert_eq!(stored(&more, 3) - stored(&few, 3), few.checkpoint);
	assert_eq!(stored(&more, 16), stored(&few, 16), "all states are asked for");
	assert_eq!(more.memory() - few.memory(), file.bytes);
	assert_eq!(more.checkpoint, few.checkpoint);
	let mut labelled = plain.clone();
	labelled.dataset.format = DataFormat::Idx;
	labelled.dataset.labels = Some(file);
	assert_eq!(needs(&labelled).files, more.files);
}

/// Counted with the work, it is the work that is counted without it.
#[test]
fn the_parts_are_those_of_the_work() {
	let mut spec = JobSpec::example();
	for validation_rows in [359, 1_024, 1_025, 40_000] {
		set_rows(&mut spec, validation_rows * 4, validation_rows);
		let spec = spec.clone().check().unwrap();
		assert_eq!(Needs::and_parts(&spec).1, Parts::of(&spec));
	}
}

#[test]
fn classes_have_names_and_bytes() {
	use codec::Encode;
	for (index, class) in (0u8..).zip(MachineClass::ALL) {
		assert_eq!(class.encode(), [index], "the layout is frozen");
		assert_eq!(MachineClass::named(class.name()), Some(class));
		let json = serde_json::to_string(&class).unwrap();
		assert_eq!(json, format!("\"{}\"", class.name()));
	}
	assert_eq!(MachineClass::named("gib9"), None);
}

#[test]
fn a_shortage_names_number_limit_and_remedy() {
	let short = Shortage { resource: Resource::Memory, needed: (70 << 30) + 1, limit: 4 << 30 };
	let text = short.to_string();
	for part in ["71681 MiB", "4096 MiB", "training.batch_size"] {
		assert!(text.contains(part), "{part}: {text}");
	}
	assert!(!Shortage { needed: 4 << 30, ..short }.is_exceeded());
}
