// Text: one token for each byte. Tokens number the bytes that occur, in ascending order. A row is so many
// tokens as there are features, and its labels are the tokens one place further; a last row that is not
// whole is dropped.

import { MAX_WIDTH } from './number.js';
import { Source, sizeOf, stored, wrong } from './source.js';

/** About how many tokens are read at once. */
const BLOCK = 1 << 16;

/** Rows of `context` tokens of the text at `path`. It is read twice: for the bytes that occur, and for the rows. */
export async function openText(path, { context }) {
	if (!(Number.isInteger(context) && context >= 1 && context <= MAX_WIDTH)) {
		throw wrong(path, null, `text has 1 to ${MAX_WIDTH} features, the context: how many tokens a row has`);
	}
	const size = await sizeOf(path);
	const occurs = new Uint8Array(256);
	for await (const piece of stored(path, 0, size)) for (const byte of piece) occurs[byte] = 1;
	const numbers = new Uint32Array(256);
	let vocabulary = 0;
	occurs.forEach((there, byte) => {
		if (there) numbers[byte] = vocabulary++;
	});
	const source = new Source(stored(path, 0, size));
	return {
		features: context,
		labelsPerRow: context,
		leastClasses: vocabulary,
		async *blocks() {
			const token = (byte) => {
				if (!occurs[byte]) throw wrong(path, null, 'it changed while it was read');
				return numbers[byte];
			};
			const first = await source.read(1);
			let before = first.length > 0 ? token(first[0]) : 0;
			for (;;) {
				const bytes = await source.read(context * Math.max(1, Math.floor(BLOCK / context)));
				const count = bytes.length - (bytes.length % context);
				if (count === 0) return;
				const [inputs, labels] = [new Float32Array(count), new Uint32Array(count)];
				for (let i = 0; i < count; i++) labels[i] = token(bytes[i]);
				inputs[0] = before;
				inputs.set(labels.subarray(0, count - 1), 1);
				before = labels[count - 1];
				yield { inputs, labels };
			}
		},
		close: () => source.close(),
	};
}
