// Bytes of files, one after another: as they are, inflated, or out of a file compressed by gzip. Nothing
// here holds a whole file.

import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createInflateRaw } from 'node:zlib';
import { UserError } from '../errors.js';

/** What to do about a file that does not hold what it says. */
export const DAMAGED = 'the file was cut or damaged; fetch or write it again';
const EMPTY = Buffer.alloc(0);

/** The error that says what is wrong with the file at `path`, or with the part of this name in it. */
export const wrong = (path, part, what) => new UserError(`${path}: ${part ? `${part}: ` : ''}${what}`);

/** The error of a file that the system does not let us read; every other error stays as it is. */
const unreadable = (path, error) =>
	error.syscall ? new UserError(`cannot read the data file ${path}: ${error.message}`) : error;

/** The length of the file at `path`. */
export async function sizeOf(path) {
	try {
		return (await stat(path)).size;
	} catch (error) {
		throw unreadable(path, error);
	}
}

/** What `use` makes of the open file at `path`. `use` is given `read(at, count)`: these bytes, fewer at the end. */
export async function withFile(path, use) {
	let file;
	try {
		file = await open(path);
		return await use(async (at, count) => {
			const bytes = Buffer.alloc(count);
			let filled = 0;
			while (filled < count) {
				const { bytesRead } = await file.read(bytes, filled, count - filled, at + filled);
				if (bytesRead === 0) break;
				filled += bytesRead;
			}
			return bytes.subarray(0, filled);
		});
	} catch (error) {
		throw unreadable(path, error);
	} finally {
		await file?.close();
	}
}

/** The bytes of a file from `start` to before `end`. */
export async function* stored(path, start, end) {
	if (start >= end) return;
	try {
		yield* createReadStream(path, { start, end: end - 1 });
	} catch (error) {
		throw unreadable(path, error);
	}
}

/**
 * The bytes that the DEFLATE stream at `start` of a file, which ends before `end`, becomes. `ended` is told
 * how many bytes of the file the stream has.
 */
export async function* inflated(path, part, start, end, ended = () => {}) {
	if (start >= end) throw wrong(path, part, `it ends too early: ${DAMAGED}`);
	const file = createReadStream(path, { start, end: end - 1 });
	const inflate = createInflateRaw();
	file.on('error', (error) => inflate.destroy(error));
	file.pipe(inflate);
	try {
		yield* inflate;
		ended(inflate.bytesWritten);
	} catch (error) {
		if (!error.code?.startsWith('Z_')) throw unreadable(path, error);
		const what = error.code === 'Z_BUF_ERROR' ? 'it ends too early' : `its compression is wrong (${error.message})`;
		throw wrong(path, part, `${what}: ${DAMAGED}`);
	} finally {
		file.destroy();
		inflate.destroy();
	}
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
	let crc = byte;
	for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
	return crc;
});

/** The CRC-32 of bytes with the CRC `before` followed by `bytes`. */
export function crc32(bytes, before = 0) {
	let crc = ~before;
	for (let i = 0; i < bytes.length; i++) crc = CRC_TABLE[(crc ^ bytes[i]) & 0xff] ^ (crc >>> 8);
	return ~crc >>> 0;
}

// ---- gzip (RFC 1952)

const [HEADER_CRC, EXTRA, NAME, COMMENT, RESERVED] = [2, 4, 8, 16, 0xe0];
/** Longest name and comment in a header, which those who train read. */
const MAX_FIELD = 65_535;
/** Longest header, in bytes. */
const MAX_HEADER = 10 + 2 + 65_535 + 2 * (MAX_FIELD + 1) + 2;

/**
 * How long the gzip header is with which `bytes` begin; null where they do not hold all of it. `damaged`
 * makes an error. The library's gzip reader is not used, because it takes zeros and other leftovers behind
 * the last stream, which trainers refuse.
 */
function headerLength(bytes, damaged) {
	if (bytes.length < 10) return null;
	const flags = bytes[3];
	if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8 || flags & RESERVED) {
		throw damaged('a part of it does not begin as gzip does');
	}
	let at = 10;
	if (flags & EXTRA) {
		if (bytes.length < at + 2) return null;
		at += 2 + bytes.readUInt16LE(at);
	}
	for (const field of [NAME, COMMENT]) {
		if (!(flags & field)) continue;
		const end = bytes.indexOf(0, at);
		if ((end < 0 ? bytes.length : end) - at > MAX_FIELD) throw damaged('a name in it is too long');
		if (end < 0) return null;
		at = end + 1;
	}
	if (flags & HEADER_CRC) {
		if (bytes.length < at + 2) return null;
		if (bytes.readUInt16LE(at) !== (crc32(bytes.subarray(0, at)) & 0xffff)) {
			throw damaged('the checksum of its header is wrong');
		}
		at += 2;
	}
	return at <= bytes.length ? at : null;
}

/** The bytes of a file of `size` bytes that is compressed by gzip, in one stream or in several. */
async function* gunzipped(path, size) {
	const damaged = (what) => wrong(path, null, `${what}: ${DAMAGED}`);
	let at = 0;
	do {
		at += await withFile(path, async (read) => {
			for (const most of [512, MAX_HEADER]) {
				const length = headerLength(await read(at, most), damaged);
				if (length !== null) return length;
			}
			throw damaged('it ends too early');
		});
		let [crc, length] = [0, 0];
		let used = 0;
		const ended = (count) => {
			used = count;
		};
		for await (const chunk of inflated(path, null, at, size, ended)) {
			crc = crc32(chunk, crc);
			length += chunk.length;
			yield chunk;
		}
		at += used;
		const trailer = await withFile(path, (read) => read(at, 8));
		if (trailer.length < 8) throw damaged('it ends too early');
		if (trailer.readUInt32LE(0) !== crc || trailer.readUInt32LE(4) !== length % 2 ** 32) {
			throw damaged('the checksum of its compressed bytes is wrong');
		}
		at += 8;
	} while (at < size);
}

/**
 * The bytes of the file at `path`, decompressed if it is compressed by gzip, as its first two bytes show;
 * and how many they are, null where that is known at the end only.
 */
export async function maybeGunzipped(path) {
	const size = await sizeOf(path);
	const magic = await withFile(path, (read) => read(0, 2));
	const packed = magic.length === 2 && magic.readUInt16BE() === 0x1f8b;
	return packed ? { bytes: gunzipped(path, size), length: null } : { bytes: stored(path, 0, size), length: size };
}

// ---- Reading

/** Takes bytes off what comes in pieces of any length. */
export class Source {
	#pieces;
	#rest = EMPTY;

	/** `bytes` gives the pieces: an asynchronous generator. */
	constructor(bytes) {
		this.#pieces = bytes;
	}

	/** The next piece, or null after the last. */
	async #next() {
		const { value, done } = await this.#pieces.next();
		return done ? null : value;
	}

	/** The next `count` bytes; fewer only where no more come. */
	async read(count) {
		const parts = [];
		let missing = count;
		while (missing > 0) {
			if (this.#rest.length === 0) this.#rest = await this.#next();
			if (this.#rest === null) {
				this.#rest = EMPTY;
				break;
			}
			const part = this.#rest.subarray(0, missing);
			this.#rest = this.#rest.subarray(part.length);
			missing -= part.length;
			parts.push(part);
		}
		return parts.length === 1 ? parts[0] : Buffer.concat(parts);
	}

	/** The bytes up to the next LF, and it; at most `most`, and fewer where no more come. */
	async line(most) {
		let searched = 0;
		for (;;) {
			const end = this.#rest.indexOf(10, searched) + 1;
			if (end > 0 || this.#rest.length >= most) {
				const line = this.#rest.subarray(0, end > 0 ? Math.min(end, most) : most);
				this.#rest = this.#rest.subarray(line.length);
				return line;
			}
			searched = this.#rest.length;
			const piece = await this.#next();
			if (piece === null) {
				const line = this.#rest;
				this.#rest = EMPTY;
				return line;
			}
			this.#rest = searched === 0 ? piece : Buffer.concat([this.#rest, piece]);
		}
	}

	/** Lets go of the file. */
	async close() {
		await this.#pieces.return();
	}
}
