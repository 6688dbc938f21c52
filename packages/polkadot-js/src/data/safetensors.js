// safetensors files with the tensors `x` and `y`: the length of a header as a little-endian u64, the header
// in JSON, the tensors, little endian.

import { isUtf8 } from 'node:buffer';
import { NumberArray, pair } from './array.js';
import { KINDS_IN_WORDS } from './number.js';
import { DAMAGED, Source, sizeOf, stored, withFile, wrong } from './source.js';

/** Longest header that is read, in bytes. */
const MAX_HEADER = 1 << 20;

/** Types of elements that the format has, and how many bits one has. */
const BITS = {
	...{ BOOL: 8, F4: 4, F6_E2M3: 6, F6_E3M2: 6, U8: 8, I8: 8 },
	...{ F8_E5M2: 8, F8_E4M3: 8, F8_E8M0: 8, F8_E4M3FNUZ: 8, F8_E5M2FNUZ: 8 },
	...{ I16: 16, U16: 16, F16: 16, BF16: 16, I32: 32, U32: 32, F32: 32, C64: 64, F64: 64, I64: 64, U64: 64 },
};

/** Those that data may have. */
const KIND_OF = {
	...{ U8: 'u1', I8: 'i1', U16: 'u2', I16: 'i2', U32: 'u4', I32: 'i4', U64: 'u8', I64: 'i8' },
	...{ F32: 'f4', F64: 'f8' },
};

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/**
 * The value of a JSON text that says everything once and has whole numbers only. What JSON.parse lets
 * through besides, names that stand twice among them, other programs read in other ways or refuse.
 */
export function strictJson(text) {
	const value = JSON.parse(text);
	const open = [];
	let before;
	for (const [token] of text.matchAll(TOKEN)) {
		if (token === '{' || token === '[') open.push(token === '{' ? new Set() : null);
		else if (token === '}' || token === ']') open.pop();
		else if (token === ':') {
			const [names, name] = [open.at(-1), JSON.parse(before)];
			if (names.has(name)) throw new Error(`${before} stands twice in it`);
			names.add(name);
		} else if (token.startsWith('"')) {
			if (/\p{Surrogate}/u.test(JSON.parse(token))) throw new Error(`${token} is no text of whole characters`);
		} else if (/^[-\d]/.test(token) && !(/^\d+$/.test(token) && Number.isSafeInteger(Number(token)))) {
			throw new Error(`${token} is not a whole number from 0 of at most 53 bits`);
		}
		before = token;
	}
	return value;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const areCounts = (value) => Array.isArray(value) && value.every(Number.isInteger);

/** The tensors that a header names, [name, { dtype, shape, data_offsets }], one behind the other. */
function tensorsOf(text) {
	const header = strictJson(text);
	if (!isObject(header)) throw new Error('it is no object of tensors');
	const { __metadata__: notes = null, ...named } = header;
	if (notes !== null && !(isObject(notes) && Object.values(notes).every((note) => typeof note === 'string'))) {
		throw new Error('__metadata__ is no object of texts');
	}
	for (const [name, info] of Object.entries(named)) {
		if (!isObject(info) || !areCounts(info.shape) || !areCounts(info.data_offsets) || info.data_offsets.length !== 2) {
			throw new Error(`the tensor "${name}" lacks dtype, shape or data_offsets`);
		}
		if (!Object.hasOwn(BITS, info.dtype)) throw new Error(`the tensor "${name}" has the unknown type ${info.dtype}`);
	}
	const tensors = Object.entries(named).sort(
		([, { data_offsets: a }], [, { data_offsets: b }]) => a[0] - b[0] || a[1] - b[1],
	);
	let at = 0;
	for (const [name, { dtype, shape, data_offsets: offsets }] of tensors) {
		let bits = BITS[dtype];
		for (const extent of shape) {
			bits *= extent;
			if (!Number.isSafeInteger(bits)) throw new Error(`the tensor "${name}" is too large`);
		}
		if (offsets[0] !== at || offsets[1] < at)
			throw new Error(`the tensor "${name}" does not begin where the one before ends`);
		if ((offsets[1] - at) * 8 !== bits) throw new Error(`the tensor "${name}" is not as long as its shape says`);
		at = offsets[1];
	}
	return { tensors, length: at };
}

/** Rows of the tensors `x`, `[rows, ..]`, and `y`, `[rows]`, of the file at `path`. */
export async function openSafetensors(path) {
	const size = await sizeOf(path);
	const { begin, header } = await withFile(path, async (read) => {
		const first = await read(0, 8);
		if (first.length < 8) throw wrong(path, null, `it ends too early: ${DAMAGED}`);
		const length = first.readBigUInt64LE();
		if (length > MAX_HEADER || length > size - 8) {
			throw wrong(
				path,
				null,
				`it says that its header has ${length} bytes; a safetensors file of data has at most ${MAX_HEADER}, ` +
					'and no more than the file',
			);
		}
		return { begin: 8 + Number(length), header: await read(8, Number(length)) };
	});
	let found;
	try {
		if (!isUtf8(header)) throw new Error('it is not UTF-8');
		found = tensorsOf(header.toString());
	} catch (error) {
		throw wrong(path, null, `its header is not one of a safetensors file: ${error.message}`);
	}
	if (found.length !== size - begin) {
		throw wrong(path, null, `its header says ${found.length} bytes of tensors, but ${size - begin} follow: ${DAMAGED}`);
	}
	const tensors = new Map(found.tensors);
	const tensor = (name) => {
		const info = tensors.get(name);
		if (!info) {
			const first = [...tensors.keys()].slice(0, 8).join(', ');
			throw wrong(
				path,
				null,
				`it has no tensor "${name}"; the inputs are called x and the labels y. Its first tensors: ${first}`,
			);
		}
		const { dtype, shape, data_offsets: offsets } = info;
		if (!Object.hasOwn(KIND_OF, dtype)) {
			throw wrong(path, name, `its numbers are ${dtype}; ${KINDS_IN_WORDS} can be read`);
		}
		const [from, to] = offsets.map((offset) => begin + offset);
		const source = new Source(stored(path, from, to));
		return new NumberArray({ path, part: name, kind: KIND_OF[dtype], little: true, shape, length: to - from, source });
	};
	// Nothing of a tensor is opened before its first row is read, so that no file is left open here.
	return pair(tensor('x'), tensor('y'));
}
