//! What a party opens of a computation that it has in memory.

use super::{
	lowered::Words, Chunks, Lowered, Origin, Source, Stretch, StretchOpening, TensorOpening,
	Tensors,
};
use crate::case::Refused;
use alloc::{
	borrow::Cow,
	collections::{BTreeMap, BTreeSet},
	vec::Vec,
};
use core::cell::RefCell;
use trainyard_program::parts::{self, Accumulator, CHUNK_ELEMENTS};
use trainyard_protocol::{court, merkle, H256};

/// What a party knows of a computation.
pub trait Holder {
	/// Returns the bytes of what a tensor is opened from, as they are hashed; `None` where it does not
	/// have them.
	fn bytes(&self, origin: Origin) -> Option<Cow<'_, [u8]>>;

	/// Returns a word of them. Who has not all of them in memory reads it alone.
	fn word(&self, origin: Origin, index: u64) -> Option<u32> {
		let bytes = self.bytes(origin)?;
		let (words, _) = bytes.as_chunks::<4>();
		let word = words.get(usize::try_from(index).ok()?)?;
		Some(u32::from_le_bytes(*word))
	}

	/// Opens chunks of them, whose numbers ascend.
	fn open(&self, origin: Origin, numbers: &[u64]) -> Option<Chunks> {
		Chunks::open(&self.bytes(origin)?, numbers.iter().copied()).ok()
	}

	/// Returns the contents of the tensors of the state before the computation, in the order of
	/// [`StateTensors`](super::StateTensors).
	fn state(&self) -> &[H256];

	/// Returns the contents of all results, in order.
	fn results(&self) -> &[H256];

	/// Returns the four contents under the rows root.
	fn rows(&self) -> [H256; 4];
}

impl<H: Holder> Holder for &H {
	fn bytes(&self, origin: Origin) -> Option<Cow<'_, [u8]>> {
		(**self).bytes(origin)
	}

	fn word(&self, origin: Origin, index: u64) -> Option<u32> {
		(**self).word(origin, index)
	}

	fn open(&self, origin: Origin, numbers: &[u64]) -> Option<Chunks> {
		(**self).open(origin, numbers)
	}

	fn state(&self) -> &[H256] {
		(**self).state()
	}

	fn results(&self) -> &[H256] {
		(**self).results()
	}

	fn rows(&self) -> [H256; 4] {
		(**self).rows()
	}
}

/// The words of a holder.
struct Plain<'a, H>(&'a H);

impl<H: Holder> Words for Plain<'_, H> {
	fn word(&self, origin: Origin, index: u64) -> Option<u32> {
		self.0.word(origin, index)
	}
}

/// The same, with a note of the chunks that were read.
struct Noted<'a, H> {
	holder: &'a H,
	read: RefCell<BTreeSet<(Origin, u64)>>,
}

impl<'a, H: Holder> Noted<'a, H> {
	fn new(holder: &'a H) -> Self {
		Self { holder, read: RefCell::default() }
	}

	/// Forgets which chunks were read.
	fn forget(&self) {
		// Nobody else holds it: no function of this type calls another while it does.
		if let Ok(mut read) = self.read.try_borrow_mut() {
			read.clear();
		}
	}
}

impl<H: Holder> Words for Noted<'_, H> {
	fn word(&self, origin: Origin, index: u64) -> Option<u32> {
		self.read.try_borrow_mut().ok()?.insert((origin, index / CHUNK_ELEMENTS));
		self.holder.word(origin, index)
	}
}

/// Returns what the chain of an element holds after its first `taken` terms. Fails where there is no
/// such chain, or the holder lacks what it reads.
pub fn accumulator(
	lowered: &Lowered<'_>,
	holder: &impl Holder,
	result: u32,
	element: u64,
	taken: u64,
) -> Result<Accumulator, Refused> {
	after(lowered, &Plain(holder), result, element, taken)
}

/// Returns what it holds after each of these numbers of terms, which ascend; otherwise as
/// [`accumulator`]. Each term is taken once.
pub fn accumulators(
	lowered: &Lowered<'_>,
	holder: &impl Holder,
	result: u32,
	element: u64,
	taken: impl IntoIterator<Item = u64>,
) -> Result<Vec<(u64, Accumulator)>, Refused> {
	let words = Plain(holder);
	let inputs = lowered.inputs(&words);
	let part = lowered.part_with(result, element)?;
	let mut held = parts::start(part, element, &inputs)?;
	let (mut all, mut from) = (Vec::new(), 0);
	for to in taken {
		parts::advance(part, element, &mut held, from..to, &inputs)?;
		all.push((to, held));
		from = to;
	}
	Ok(all)
}

fn after(
	lowered: &Lowered<'_>,
	words: &impl Words,
	result: u32,
	element: u64,
	taken: u64,
) -> Result<Accumulator, Refused> {
	let inputs = lowered.inputs(words);
	let part = lowered.part_with(result, element)?;
	let mut held = parts::start(part, element, &inputs)?;
	parts::advance(part, element, &mut held, 0..taken, &inputs)?;
	Ok(held)
}

/// Returns an element of a result, computed from what the holder has.
pub fn element(
	lowered: &Lowered<'_>,
	holder: &impl Holder,
	result: u32,
	element: u64,
) -> Result<f32, Refused> {
	let words = Plain(holder);
	let inputs = lowered.inputs(&words);
	parts::element(lowered.part_with(result, element)?, element, lowered.moment(), &inputs)
}

/// Opens what a stretch reads. The digests in the stretch do not matter. Fails where there is no such
/// stretch, or the holder lacks what it reads.
pub fn open_stretch(
	lowered: &Lowered<'_>,
	holder: &impl Holder,
	piece: &Stretch,
) -> Result<StretchOpening, Refused> {
	let range = piece.range(lowered)?;
	let Stretch { result, element, from, to } = *piece;
	let part = lowered.part_with(result, element)?;
	let noted = Noted::new(holder);
	let mut held = after(lowered, &noted, result, element, range.start)?;
	let before = from.map(|_| held);
	let inputs = lowered.inputs(&noted);
	if from.is_some() {
		// What the terms before the stretch read is not opened.
		noted.forget();
	}
	parts::advance(part, element, &mut held, range, &inputs)?;
	if let super::To::Element { .. } = to {
		parts::finish(part, element, &held, lowered.moment(), &inputs)?;
	}
	let tensors = open(lowered, holder, result, noted.read.into_inner())?;
	Ok(StretchOpening { before, tensors })
}

/// Opens one element of a result to somebody who knows the prefix root over all results. Fails where
/// the holder lacks it.
pub fn open_result(
	lowered: &Lowered<'_>,
	holder: &impl Holder,
	result: u32,
	element: u64,
) -> Result<Tensors, Refused> {
	let chunk = (Origin::Result(result), element / CHUNK_ELEMENTS);
	open(lowered, holder, lowered.results(), BTreeSet::from([chunk]))
}

/// Opens chunks of what the holder has, to somebody who knows the prefix root over the first `agreed`
/// results.
fn open(
	lowered: &Lowered<'_>,
	holder: &impl Holder,
	agreed: u32,
	chunks: BTreeSet<(Origin, u64)>,
) -> Result<Tensors, Refused> {
	let mut numbers = BTreeMap::<Origin, Vec<u64>>::new();
	for (origin, number) in chunks {
		numbers.entry(origin).or_default().push(number);
	}
	let is_row = |origin: &Origin| matches!(origin, Origin::Features | Origin::Labels);
	let rows = numbers.keys().any(is_row).then(|| holder.rows());
	let leaves = leaves(holder, agreed)?;
	let mut tensors = Vec::with_capacity(numbers.len());
	for (origin, numbers) in numbers {
		let source = source(lowered, holder, &leaves, origin).ok_or(Refused::WrongOpening)?;
		let chunks = holder.open(origin, &numbers).ok_or(Refused::WrongOpening)?;
		tensors.push(TensorOpening { source, chunks });
	}
	Ok(Tensors { rows, tensors })
}

/// Returns the leaves of the first results.
fn leaves(holder: &impl Holder, agreed: u32) -> Result<Vec<H256>, Refused> {
	let agreed = usize::try_from(agreed).map_err(|_| Refused::NoSuchPiece)?;
	let contents = holder.results().get(..agreed).ok_or(Refused::NoSuchPiece)?;
	Ok((0..).zip(contents).map(|(index, content)| court::result_leaf(index, content)).collect())
}

/// Says what a tensor is, with its path.
fn source(
	lowered: &Lowered<'_>,
	holder: &impl Holder,
	leaves: &[H256],
	origin: Origin,
) -> Option<Source> {
	Some(match origin {
		Origin::State(tensor) => {
			let content = *holder.state().get(usize::try_from(tensor).ok()?)?;
			let path = lowered.state().path(holder.state(), tensor)?;
			Source::State { tensor, content, path }
		}
		Origin::Result(result) => {
			let at = usize::try_from(result).ok()?;
			let content = *holder.results().get(at)?;
			Source::Result { result, content, path: merkle::proof(leaves, at)? }
		}
		Origin::Features => Source::Features,
		Origin::Labels => Source::Labels,
		Origin::Initial(_) => return None,
	})
}
