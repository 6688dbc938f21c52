// The part of ZIP archives (APPNOTE 6.3.10) that NumPy writes: entries that are stored or deflated, found
// by the directory at the end. As in the reader of those who train, there is one place where the directory
// can be, at the very end, and no name may be in it twice: all who read an archive must agree on what it
// says. A library for ZIP accepts as much as it can, so none is used.

import { DAMAGED, crc32, inflated, sizeOf, stored, withFile, wrong } from './source.js';

/** Longest directory that is read, in bytes. */
const MAX_DIRECTORY = 1 << 20;
/** Bytes of the record at the end, of an entry of the directory, and before an entry's data, without what varies. */
const [END, LISTED, LOCAL] = [22, 46, 30];
const [AT_END, IN_DIRECTORY, BEFORE_DATA] = [0x06054b50, 0x02014b50, 0x04034b50];

/** A little-endian number of 64 bits, of which those may lack that are zero. */
const large = (bytes) => bytes.reduceRight((number, byte) => number * 256 + byte, 0);

/** The field for large numbers (0x0001) of an entry's extra fields; empty where there is none. */
function largeFields(extra) {
	for (let at = 0; extra.length - at >= 4;) {
		const [kind, length] = [extra.readUInt16LE(at), extra.readUInt16LE(at + 2)];
		at += 4;
		if (kind === 1) return extra.subarray(at, at + length);
		at += length;
	}
	return Buffer.alloc(0);
}

/** The entries of a directory by their names, one Latin-1 letter a byte. */
function entriesOf(path, directory, count) {
	const entries = new Map();
	let at = 0;
	for (let entry = 0; entry < count; entry++) {
		const listed = directory.subarray(at, at + LISTED);
		const whole = listed.length === LISTED && listed.readUInt32LE(0) === IN_DIRECTORY;
		const [nameLength, extra, comment] = whole ? [28, 30, 32].map((field) => listed.readUInt16LE(field)) : [0, 0, 0];
		const end = at + LISTED + nameLength + extra + comment;
		if (!whole || end > directory.length) throw wrong(path, null, 'its directory is damaged: an entry does not end');
		at += LISTED;
		const name = directory.subarray(at, at + nameLength);
		// Numbers that do not fit in 32 bits are in a field of their own, in this order.
		let more = largeFields(directory.subarray(at + nameLength, at + nameLength + extra));
		const value = (field) => {
			const small = listed.readUInt32LE(field);
			if (small !== 0xffff_ffff) return small;
			const bytes = more.subarray(0, 8);
			more = more.subarray(8);
			return large(bytes);
		};
		const [length, compressed, header] = [value(24), value(20), value(42)];
		if (entries.has(name.toString('latin1'))) throw wrong(path, null, `two entries are called ${name}`);
		entries.set(name.toString('latin1'), {
			...{ flags: listed.readUInt16LE(8), method: listed.readUInt16LE(10), crc: listed.readUInt32LE(16) },
			...{ compressed, length, header },
		});
		at = end;
	}
	if (at !== directory.length) throw wrong(path, null, 'its directory is damaged: it is longer than its entries');
	return entries;
}

/** Reads the directory of the archive at `path`. */
export async function openArchive(path) {
	const size = await sizeOf(path);
	if (size < END) throw wrong(path, null, 'it is no archive: it is too short');
	const end = size - END;
	return withFile(path, async (read) => {
		const record = await read(end, END);
		if (record.length < END || record.readUInt32LE(0) !== AT_END) {
			throw wrong(
				path,
				null,
				'it is no archive (npz), was cut, or has a comment at its end; numpy.savez writes one that can be read',
			);
		}
		const [entries, ofAllDisks] = [record.readUInt16LE(8), record.readUInt16LE(10)];
		const [length, begin] = [record.readUInt32LE(12), record.readUInt32LE(16)];
		const oneDisk = record.readUInt32LE(4) === 0 && entries === ofAllDisks;
		if (!oneDisk || begin + length !== end || length > MAX_DIRECTORY) {
			throw wrong(
				path,
				null,
				`its directory is damaged, or has more than ${MAX_DIRECTORY} bytes; numpy.savez writes one that can be read`,
			);
		}
		const directory = await read(begin, length);
		if (directory.length < length) throw wrong(path, null, `it ends too early: ${DAMAGED}`);
		return { path, end: begin, entries: entriesOf(path, directory, entries) };
	});
}

/** Passes `bytes` on, and fails if their number or checksum is not what the directory says. */
async function* checked(bytes, { length, crc }, damaged) {
	let [left, sum] = [length, 0];
	for await (const piece of bytes) {
		left -= piece.length;
		if (left < 0) throw damaged("the entry is longer than the archive's directory says");
		sum = crc32(piece, sum);
		yield piece;
	}
	if (left > 0) throw damaged("the entry is shorter than the archive's directory says");
	if (sum !== crc) throw damaged("the entry's checksum is wrong");
}

/** The bytes of an entry of an archive, and how many they are. */
export async function entryOf({ path, end, entries }, name) {
	const entry = entries.get(name);
	const fault = (what) => wrong(path, entry && name, what);
	if (!entry) throw fault(`it has no entry ${name}`);
	if (entry.flags & 1) throw fault('it is encrypted; write it without a password');
	const misplaced = () => fault('it does not lie where the directory says: the archive is damaged');
	const begin = await withFile(path, async (read) => {
		if (entry.header >= end) throw misplaced();
		const local = await read(entry.header, LOCAL);
		if (local.length < LOCAL || local.readUInt32LE(0) !== BEFORE_DATA) throw misplaced();
		const [nameLength, extra] = [local.readUInt16LE(26), local.readUInt16LE(28)];
		const found = await read(entry.header + LOCAL, nameLength);
		const begin = entry.header + LOCAL + nameLength + extra;
		if (found.toString('latin1') !== name || begin + entry.compressed > end) throw misplaced();
		return begin;
	});
	const upTo = begin + entry.compressed;
	const damaged = (what) => fault(`${what}: ${DAMAGED}`);
	if (entry.method !== 0 && entry.method !== 8) {
		throw fault(
			`it is compressed by method ${entry.method}; only stored and deflated entries can be read, which ` +
				'numpy.savez and numpy.savez_compressed write',
		);
	}
	const bytes = entry.method === 0 ? stored(path, begin, upTo) : inflated(path, name, begin, upTo);
	return { bytes: checked(bytes, entry, damaged), length: entry.length };
}
