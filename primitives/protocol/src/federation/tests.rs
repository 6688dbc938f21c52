use super::*;
use proptest::prelude::*;
use trainyard_program::spec::JobSpec;

fn layout() -> Layout {
	Layout::of(&JobSpec::example().check().unwrap())
}

/// A layout whose tensors have these numbers of elements.
fn layout_of(elements: &[u32]) -> Layout {
	let named =
		|(at, count): (usize, &u32)| (alloc::format!("layers.{at:03}.weight"), vec![*count]);
	Layout::new(elements.iter().enumerate().map(named))
}

/// A model file of this layout with numbers that follow from `seed`.
fn file(layout: &Layout, seed: u32) -> Vec<u8> {
	let mut bytes = layout.header.clone();
	let mut state = seed;
	while (bytes.len() as u64) < layout.size {
		state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
		let value = (state >> 8) as f32 / 8_388_608.0 - 1.0;
		bytes.extend_from_slice(&value.to_le_bytes());
	}
	bytes
}

fn whole(layout: &Layout, weights: &[f32], files: &[Vec<u8>]) -> Vec<u8> {
	let parts: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
	aggregate(layout, weights, 0, &parts).unwrap()
}

/// The vectors of docs/federation.md, which NumPy and JavaScript compute as well.
#[test]
fn the_mean_has_its_bits() {
	let page = include_str!("../../../../docs/federation.md");
	let row = |line: &str| -> Vec<String> {
		line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
	};
	let lines = page.lines().filter(|line| line.starts_with("| `mean` |"));
	let mut seen = 0;
	for line in lines {
		let cells = row(line);
		let rows: Vec<u32> = cells[2].split(' ').map(|n| n.parse().unwrap()).collect();
		let bits = |text: &str| u32::from_str_radix(text, 16).unwrap();
		let values: Vec<f32> = cells[3].split(' ').map(|n| f32::from_bits(bits(n))).collect();
		let found = mean(weights(&rows).into_iter().zip(values)).to_bits();
		assert_eq!(alloc::format!("{found:08x}"), cells[4], "{line}");
		seen += 1;
	}
	assert!(seen >= 8, "{seen} vectors");
}

#[test]
fn a_single_part_is_its_own_aggregate() {
	let layout = layout();
	let mut model = file(&layout, 3);
	let at = model.len() - 4;
	model[at..].copy_from_slice(&(-0.0f32).to_le_bytes());
	assert_eq!(whole(&layout, &weights(&[17]), &[model.clone()]), model);
}

#[test]
fn the_aggregate_is_the_weighted_mean_and_its_header_is_the_layouts() {
	let layout = layout();
	let mut files: Vec<Vec<u8>> = (1..4).map(|seed| file(&layout, seed)).collect();
	let shares = weights(&[100, 50, 50]);
	assert_eq!(shares, [0.5, 0.25, 0.25]);
	let made = whole(&layout, &shares, &files);
	assert_eq!(made.len() as u64, layout.size);
	assert_eq!(made[..layout.header.len()], layout.header[..]);
	let word = |bytes: &[u8], at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
	for at in (layout.header.len()..made.len()).step_by(4) {
		let [a, b, c] = [0, 1, 2].map(|part: usize| f64::from(word(&files[part], at)));
		let exact = 0.5 * a + 0.25 * b + 0.25 * c;
		assert!((f64::from(word(&made, at)) - exact).abs() < 1e-7, "{at}");
	}
	// What a part says in its header is nothing to the aggregate.
	files[1][9] ^= 1;
	assert_eq!(whole(&layout, &shares, &files), made);
	// A NaN has one form.
	let at = layout.header.len();
	files[0][at..at + 4].copy_from_slice(&0xffc0_1234u32.to_le_bytes());
	assert_eq!(whole(&layout, &shares, &files)[at..at + 4], 0x7fc0_0000u32.to_le_bytes());
}

#[test]
fn bytes_that_do_not_lie_beside_one_another_have_no_aggregate() {
	let layout = layout();
	let model = file(&layout, 1);
	let shares = weights(&[1, 1]);
	let of = |begin, parts: &[&[u8]]| aggregate(&layout, &shares, begin, parts);
	assert!(of(0, &[&model[..8], &model[..8]]).is_some());
	assert_eq!(of(0, &[]), None);
	assert_eq!(of(0, &[&model[..8]]), None);
	assert_eq!(of(0, &[&model[..8], &model[..12]]), None);
	assert_eq!(of(2, &[&model[..8], &model[..8]]), None);
	assert_eq!(of(0, &[&model[..7], &model[..7]]), None);
	assert_eq!(of(layout.size - 4, &[&model[..8], &model[..8]]), None);
	assert_eq!(of(u64::MAX - 3, &[&model[..8], &model[..8]]), None);
}

#[test]
fn pieces_cover_all_tensors_and_lead_to_the_state_hash() {
	// One element, a chunk, a piece, one element more, and several pieces.
	let layout = layout_of(&[1, 256, 65_536, 65_537, 200_000, 10]);
	let model = file(&layout, 5);
	let all = pieces(&layout);
	let counts: Vec<usize> =
		(0..6).map(|at| all.iter().filter(|piece| piece.tensor == at).count()).collect();
	assert_eq!(counts, [1, 1, 1, 2, 4, 1]);
	let mut at = layout.header.len() as u64;
	for piece in &all {
		assert_eq!(piece.begin, at);
		assert!((1..=PIECE_BYTES).contains(&piece.bytes));
		at += piece.bytes;
	}
	assert_eq!(at, layout.size);
	let values = piece_values(&layout, &model).unwrap();
	let digests = layout.tensors.iter().map(|place| {
		let bytes = &model[place.begin as usize..(place.begin + place.bytes) as usize];
		TensorDigest::of_f32(place.name.clone(), place.shape.clone(), content::hash(bytes))
	});
	assert_eq!(parameters(&layout, &values), Ok(state_hash(digests.collect())));
	// Each piece follows from the chunks of the file that hold it.
	for (piece, value) in all.iter().zip(&values) {
		let chunks = piece.chunks();
		let end = (chunks.end * CHUNK_BYTES).min(layout.size) as usize;
		let bytes = &model[(chunks.start * CHUNK_BYTES) as usize..end];
		assert_eq!(piece.value_in(bytes), Ok(*value));
		assert_eq!(piece.value_in(&bytes[..3]), Err(OpeningError::ChunkLength));
	}
	let few = OpeningError::ValueCount;
	assert_eq!(parameters(&layout, &values[1..]), Err(few));
	assert_eq!(parameters(&layout, &[&values[..], &values[..1]].concat()), Err(few));
	assert_eq!(piece_values(&layout, &model[..500]), Err(OpeningError::ChunkLength));
}

#[test]
fn the_largest_model_has_no_more_pieces_than_there_may_be() {
	use trainyard_program::spec::MAX_PARAMETERS;
	let whole = MAX_PARAMETERS * 4 / PIECE_BYTES;
	assert!(whole + 4_000 <= u64::from(MAX_PIECES));
}

#[test]
fn a_part_changes_the_data_of_the_template_and_nothing_else() {
	let template = JobSpec::example();
	let proposed = Proposed { content: H256::repeat_byte(7), parameters: H256::repeat_byte(8) };
	let initial = initial_on_chain(1_000, &proposed);
	assert_eq!(initial.file.content_hash, blob::root_of(1_000, &H256::repeat_byte(7)));
	assert!(initial.file.is_on_chain());
	let file = FileRef { content_hash: H256::repeat_byte(3), bytes: 9, ..template.dataset.file() };
	let rows = H256::repeat_byte(4);
	let part = PartData { file, labels: None, train_rows: 80, validation_rows: 20, rows };
	let found = spec_of_part(&template, &part, &initial);
	assert_eq!((found.dataset.train_rows, found.dataset.validation_rows), (80, 20));
	assert_eq!((found.dataset.content_hash, found.dataset.rows), (H256::repeat_byte(3), rows));
	assert!(found.clone().check().is_ok());
	let back = JobSpec { dataset: template.dataset.clone(), initial_model: None, ..found };
	assert_eq!(back, template);
}

#[test]
fn an_opening_shows_one_chunk_of_one_blob() {
	let layout = layout();
	let model = file(&layout, 9);
	let root = blob::Chunked::new(&model).root;
	let opening = ModelOpening::new(&model, 2).unwrap();
	assert_eq!(opening.verify(&root, layout.size, 2), Ok(()));
	assert!(opening.verify(&root, layout.size, 1).is_err());
	assert_eq!(opening.verify(&H256::zero(), layout.size, 2), Err(OpeningError::Root));
	assert_eq!(opening.verify(&root, layout.size + 1, 2), Err(OpeningError::Root));
	assert_eq!(ModelOpening::new(&model, 9_999).unwrap_err(), OpeningError::NoSuchChunk);
}

proptest! {
	/// Any part of an aggregate is what the whole has there, and another order of the parts is
	/// another mean.
	#[test]
	fn a_chunk_is_a_part_of_the_whole(
		elements in proptest::collection::vec(1u32..700, 1..5),
		rows in proptest::collection::vec(1u32..10_000, 1..6),
		chunk in 0u64..8,
	) {
		let layout = layout_of(&elements);
		let files: Vec<_> = (0..rows.len() as u32).map(|seed| file(&layout, seed)).collect();
		let shares = weights(&rows);
		let made = whole(&layout, &shares, &files);
		let begin = chunk * CHUNK_BYTES;
		prop_assume!(begin < layout.size);
		let end = (begin + CHUNK_BYTES).min(layout.size);
		let range = begin as usize..end as usize;
		let parts: Vec<&[u8]> = files.iter().map(|file| &file[range.clone()]).collect();
		prop_assert_eq!(&aggregate(&layout, &shares, begin, &parts).unwrap(), &made[range]);
	}
}
