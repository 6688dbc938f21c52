// What consensus writes into headers: who made a block in which slot, and the authorities that
// are announced for the next epoch. The encodings are those of sp-consensus-babe's digests; of chains
// with Aura, which ours is measured beside, the slot is read.

import {
	blake2AsHex,
	compactFromU8a,
	compactToU8a,
	hexToU8a,
	u8aConcat,
	u8aToHex,
} from '../../packages/polkadot-js/src/polkadot.js';

const PRE_RUNTIME = 6;
const CONSENSUS = 4;
const BABE = '0x42414245';
const AURA = '0x61757261';

const u32 = (bytes, at) => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
const u64 = (bytes, at) => new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at, true);

/** The payloads of an engine's items of one kind. */
function items(header, kind, engine = BABE) {
	return header.digest.logs
		.map((log) => hexToU8a(log))
		.filter((log) => log[0] === kind && u8aToHex(log.subarray(1, 5)) === engine)
		.map((log) => {
			const [offset] = compactFromU8a(log.subarray(5));
			return log.subarray(5 + offset);
		});
}

/**
 * Index of the author among the epoch's authorities, slot, and whether the slot was won. With Aura the
 * author is null: whose turn it was follows from the number of authorities, which no header says.
 */
export function claimOf(header) {
	const [claim] = items(header, PRE_RUNTIME);
	if (!claim) {
		const [turn] = items(header, PRE_RUNTIME, AURA);
		return turn ? { author: null, slot: Number(u64(turn, 0)), primary: false } : null;
	}
	return { author: u32(claim, 1), slot: Number(u64(claim, 5)), primary: claim[0] === 1 };
}

/** The authorities that this header announces for the next epoch, or null. */
export function announcedBy(header) {
	const announcement = items(header, CONSENSUS).find((item) => item[0] === 1);
	if (!announcement) return null;
	const [offset, length] = compactFromU8a(announcement.subarray(1));
	return Array.from({ length: length.toNumber() }, (_, index) => {
		const at = 1 + offset + index * 40;
		return { babe: u8aToHex(announcement.subarray(at, at + 32)), weight: u64(announcement, at + 32) };
	});
}

/** Hash of a header as a node's JSON-RPC returns it: Blake2b-256 of its SCALE encoding. */
export function hashOf(header) {
	const logs = header.digest.logs.map((log) => hexToU8a(log));
	return blake2AsHex(
		u8aConcat(
			hexToU8a(header.parentHash),
			compactToU8a(Number(header.number)),
			hexToU8a(header.stateRoot),
			hexToU8a(header.extrinsicsRoot),
			compactToU8a(logs.length),
			...logs,
		),
		256,
	);
}
