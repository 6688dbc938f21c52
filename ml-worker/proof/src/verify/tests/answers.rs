//! What a trainer answers to who lacks pieces.

use super::*;
use crate::{
	data,
	verify::answers::{answers, sizes_of, Prepared},
};
use trainyard_protocol::{
	blob::{self, Chunked},
	pieces::{parts, tensor_blob, Answer, Piece, Span},
	state::ExpectedTensor,
};

/// What is answered leads to the revealed root and to the rows root, and the blobs are those that the
/// chain wants to see.
#[test]
fn answers_are_those_that_the_chain_takes() {
	let t = trained(None);
	let result = t.result;
	let sizes = sizes_of(&t.spec);
	let tensors = ExpectedTensor::all(&t.spec);
	let tensor = |index| Piece::Tensor { checkpoint: 2, index };
	let few = Piece::Rows { from: 1, to: 2 };
	let pieces = [
		Piece::Leaves,
		few,
		sizes.all_rows(),
		Piece::State(0),
		Piece::State(2),
		tensor(0),
		tensor(3),
	];
	assert!(sizes.exist(&pieces[2..], &result, tensors.len()));
	let found = answers(&t.out, &t.spec, &pieces, || Ok(t.inputs.clone())).unwrap();
	let answered: Vec<Piece> = found.iter().map(|found| found.answer.piece()).collect();
	assert_eq!((answered, parts(&result)), (pieces.to_vec(), 1));
	for Prepared { answer, blobs } in &found {
		let roots: Vec<H256> = blobs.iter().map(|(bytes, _)| Chunked::new(bytes).root).collect();
		match answer {
			Answer::Leaves(part) => assert!(part.fits(&result) && blobs.is_empty()),
			Answer::Rows { from, to, contents } => {
				assert_eq!(sizes.rows(*contents).root(), t.spec.dataset.rows);
				let spans = sizes.spans(*from, *to);
				let root = |span: &Span| blob::root_of(span.size, &contents[span.content]);
				assert_eq!(roots, spans.iter().map(root).collect::<Vec<_>>());
				assert!(blobs.iter().map(|(_, chunks)| chunks).eq(spans.iter().map(|s| &s.chunks)));
			}
			Answer::State { leaf, blob } => {
				assert!(leaf.fits(&result));
				assert_eq!(roots, [*blob]);
				let state = bundle::hash_of_state(&blobs[0].0);
				assert_eq!(state, Some(leaf.checkpoint.state));
			}
			Answer::Tensor { leaf, index, content, path } => {
				assert!(leaf.fits(&result));
				let expected = &tensors[*index as usize];
				let root = tensor_blob(&leaf.checkpoint.state, expected, content, path);
				assert_eq!(roots, [root.unwrap()]);
			}
		}
	}
	// What the result has not is not answered.
	let beyond = [Piece::State(result.segments + 1), Piece::Tensor { checkpoint: 0, index: 999 }];
	assert_eq!(answers(&t.out, &t.spec, &beyond, || panic!("no rows")).unwrap(), []);
	assert_eq!(
		data::rows_of(&t.inputs.data, &t.spec.dataset, &Default::default()).unwrap().root(),
		t.spec.dataset.rows
	);
}
