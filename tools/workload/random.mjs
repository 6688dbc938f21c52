// Random numbers that are the same for the same words, so that a workload can be played again.

import { createHash } from 'node:crypto';

/** Numbers from 0 to below 1 by the generator sfc32 (Doty-Humphrey's), seeded by the words. */
export function generator(...words) {
	const seed = createHash('sha256').update(words.join('\0')).digest();
	let [a, b, c, count] = [0, 4, 8, 12].map((at) => seed.readUInt32LE(at) | 0);
	return () => {
		const sum = (((a + b) | 0) + count) | 0;
		count = (count + 1) | 0;
		a = b ^ (b >>> 9);
		b = (c + (c << 3)) | 0;
		c = (c << 21) | (c >>> 11);
		c = (c + sum) | 0;
		return (sum >>> 0) / 4_294_967_296;
	};
}

/** So many bytes that depend on the words alone. */
export function bytesOf(length, ...words) {
	const stream = createHash('shake256', { outputLength: Math.max(1, length) });
	return new Uint8Array(stream.update(words.join('\0')).digest()).subarray(0, length);
}
