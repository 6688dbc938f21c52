// Hashes, Merkle trees, blobs and commitments: the same definitions as the Rust crate
// `trainyard-protocol` (merkle.rs, content.rs, rows.rs, blob.rs, trace.rs, bundle.rs, commitment.rs). Hashes go in and come out as
// Uint8Array of 32 bytes.

import { bnToU8a, stringToU8a, u8aConcat, u8aEq } from '@polkadot/util';
import { blake2AsU8a } from '@polkadot/util-crypto';
import { CHUNK, chainingValue, contentHash, merged } from './blake3.js';

/** Longest inclusion proof that is accepted: 2^32 leaves. */
export const MAX_PROOF = 32;
/** Smallest chunk of a blob, in bytes. */
export const MIN_CHUNK = 4 * 1024;
/** Largest chunk of a blob, in bytes. */
export const MAX_CHUNK = 1024 * 1024;

export { contentHash };

/** BLAKE2b with 256 bits of output. */
export const blake2 = (bytes) => blake2AsU8a(bytes, 256);

/** Little-endian integer of `bits` bits. */
const le = (n, bits) => bnToU8a(BigInt(n), { bitLength: bits, isLe: true });

// ---- Contents of rows

/**
 * The rows root, which a specification names: `contents` are the content hashes of inputs and labels
 * of the training rows, and of the same of the validation rows.
 */
export const rowsRoot = ({ trainRows, validationRows, features, labelsPerRow, contents }) =>
	blake2(
		u8aConcat(
			stringToU8a('trainyard/rows/v1'),
			le(trainRows, 32),
			le(validationRows, 32),
			le(features, 32),
			le(labelsPerRow, 32),
			...contents,
		),
	);

// ---- Merkle trees after RFC 6962: 0x00 before a leaf, 0x01 before a node, odd promoted

/** Hash of a leaf with content `data`. */
export const leaf = (data) => blake2(u8aConcat([0], data));

/** Hash of the node over two hashes. */
export const node = (left, right) => blake2(u8aConcat([1], left, right));

const levelUp = (level, merge) => {
	const up = [];
	for (let i = 0; i < level.length; i += 2) {
		up.push(i + 1 < level.length ? merge(level[i], level[i + 1]) : level[i]);
	}
	return up;
};

/** Path of node `index` of a level, from the node upwards; null when there is none. */
function pathOf(nodes, index, merge) {
	if (!(index in nodes)) return null;
	const path = [];
	let [level, at] = [nodes, index];
	while (level.length > 1) {
		const sibling = level[at % 2 ? at - 1 : at + 1];
		if (sibling) path.push(sibling);
		level = levelUp(level, merge);
		at = Math.floor(at / 2);
	}
	return path;
}

/**
 * Where `path` leads from node `index` of a level of `count` nodes; null where entries are missing or
 * left over. `merge` is told whether what it makes is the root.
 */
function climb(hash, index, count, path, merge) {
	let [at, last, used] = [index, count - 1, 0];
	while (last > 0) {
		if (at % 2 === 1 || at < last) {
			if (used === path.length) return null;
			const sibling = path[used++];
			hash = at % 2 === 1 ? merge(sibling, hash, last === 1) : merge(hash, sibling, last === 1);
		}
		at = Math.floor(at / 2);
		last = Math.floor(last / 2);
	}
	return used === path.length ? hash : null;
}

/** Root over leaf hashes; of no leaves, the hash of the empty string. */
export function merkleRoot(leaves) {
	let level = leaves;
	while (level.length > 1) level = levelUp(level, node);
	return level.length === 1 ? level[0] : blake2(new Uint8Array());
}

/** Inclusion proof of leaf `index`, from the leaf upwards; null when there is none. */
export const merkleProof = (leaves, index) => pathOf(leaves, index, node);

/**
 * Whether `proof` shows that `leafHash` stands at `index` in the tree of `count` leaves with
 * this `root`. A proof with entries missing or left over is refused.
 */
export function merkleVerify(root, leafHash, index, count, proof) {
	if (index >= count || proof.length > MAX_PROOF) return false;
	const found = climb(leafHash, index, count, proof, node);
	return found !== null && u8aEq(found, root);
}

// ---- Blobs: files kept on chain in chunks under one root

/** Chunk length for a blob of `size` bytes: the power of two that makes about 64 chunks. */
export function chunkLength(size) {
	const wanted = Math.ceil(size / 64);
	let length = MIN_CHUNK;
	while (length < wanted && length < MAX_CHUNK) length *= 2;
	return length;
}

/** Number of chunks of a blob of `size` bytes; an empty blob has none. */
export const chunkCount = (size) => Math.ceil(size / chunkLength(size));

/** Length of chunk `index` of a blob of `size` bytes; null past its end. */
export function chunkSizeAt(size, index) {
	const left = size - index * chunkLength(size);
	return left > 0 ? Math.min(left, chunkLength(size)) : null;
}

/** Root of a blob of `size` bytes with this content hash, the BLAKE3 of its bytes. */
export const blobRoot = (size, content) => blake2(u8aConcat(stringToU8a('trainyard/blob/v2'), le(size, 64), content));

/** Value of chunk `index` of a blob of `size` bytes as a node of BLAKE3's tree. */
const chunkValue = (size, index, bytes) =>
	chunkCount(size) === 1 ? contentHash(bytes) : chainingValue(bytes, (index * chunkLength(size)) / CHUNK);

/**
 * Whether `path` shows that `bytes` are chunk `index` of the blob of `size` bytes with this content
 * hash. A path with entries missing or left over is refused.
 */
export function chunkVerify(size, content, index, bytes, path) {
	if (bytes.length !== chunkSizeAt(size, index)) return false;
	const found = climb(chunkValue(size, index, bytes), index, chunkCount(size), path, merged);
	return found !== null && u8aEq(found, content);
}

/**
 * A blob cut into its chunks, with what an uploader needs: `proof` returns the path of a chunk, `values` are
 * those of the chunks in BLAKE3's tree.
 */
export function cutBlob(bytes) {
	const length = chunkLength(bytes.length);
	const chunks = [];
	for (let at = 0; at < bytes.length; at += length) chunks.push(bytes.subarray(at, at + length));
	const values = chunks.map((chunk, index) => chunkValue(bytes.length, index, chunk));
	const content = contentHash(bytes);
	return {
		root: blobRoot(bytes.length, content),
		content,
		chunks,
		values,
		proof: (index) => pathOf(values, index, (left, right) => merged(left, right)),
	};
}

/**
 * Indices of the chunks of the blob `cut` that `other`, of `cutBlob` as well, has at the same place: which
 * `modelStorage.reuseChunk` takes over without their bytes. Lengths of chunks follow from those of the blobs.
 */
export function sameChunks(cut, other) {
	const sizes = [cut, other].map(({ chunks }) => chunks.reduce((sum, chunk) => sum + chunk.length, 0));
	const [size, otherSize] = sizes;
	const alike =
		chunkLength(size) === chunkLength(otherSize) && (cut.values.length === 1) === (other.values.length === 1);
	if (!alike) return [];
	const isSame = (value, index) =>
		chunkSizeAt(size, index) === chunkSizeAt(otherSize, index) && u8aEq(value, other.values[index]);
	return cut.values.flatMap((value, index) => (isSame(value, index) ? [index] : []));
}

// ---- Traces and bundles: what a training says that it computed. A loss is a number of binary32.

/** Bits of a loss, every NaN by the same ones. */
const lossBits = (loss) => {
	const view = new DataView(new ArrayBuffer(4));
	if (Number.isNaN(loss)) view.setUint32(0, 0x7fc00000, true);
	else view.setFloat32(0, loss, true);
	return new Uint8Array(view.buffer);
};

const evaluationBytes = ({ loss, correct, labels }) => u8aConcat(lossBits(loss), le(correct, 32), le(labels, 32));

/** Leaf of step `step` (from 0) in its segment's trace; `logits` is the content hash of its logits. */
export const stepLeaf = (step, loss, logits) =>
	leaf(u8aConcat(stringToU8a('trainyard/step/v2'), le(step, 32), lossBits(loss), logits));

/** Root over the slices of an evaluation: of each, the content hashes `losses` and `correct`. */
export const slicesRoot = (slices) =>
	merkleRoot(
		slices.map(({ losses, correct }, i) =>
			leaf(u8aConcat(stringToU8a('trainyard/slice/v1'), le(i, 32), losses, correct)),
		),
	);

/** Leaf of an evaluation (`loss`, `correct`, `labels`) after `step` steps, the last of a trace. */
export const evaluationLeaf = (step, evaluation, slices) =>
	leaf(u8aConcat(stringToU8a('trainyard/evaluation/v2'), le(step, 32), evaluationBytes(evaluation), slices));

/** What a bundle says of a trace with this root. */
export const sealedTrace = (root) => blake2(u8aConcat(stringToU8a('trainyard/trace/v2'), root));

/** Leaf of a checkpoint under the bundle root; `trace` is sealed. */
export const checkpointLeaf = ({ step, state, evaluation, trace }) =>
	leaf(u8aConcat(stringToU8a('trainyard/checkpoint/v2'), le(step, 32), state, evaluationBytes(evaluation), trace));

/** Last leaf under the bundle root of a training that diverged in `step`; `trace` is sealed. */
export const divergedLeaf = ({ step, trace }) =>
	leaf(u8aConcat(stringToU8a('trainyard/diverged/v2'), le(step, 32), trace));

// ---- Commitments: bind a result or a challenge before it is shown

/**
 * A trainer's commitment to a result. `account` is a public key or an address's bytes,
 * `trueRoot` the root over the checkpoints as they were computed, which differs from `bundleRoot` in those
 * that are forced; `segments` how many were trained to their ends, `diverged` whether training diverged after them.
 */
export const resultCommitment = ({
	genesis,
	job,
	account,
	bundleRoot,
	trueRoot,
	modelRoot,
	segments,
	diverged = false,
	salt,
}) =>
	blake2(
		u8aConcat(
			stringToU8a('trainyard/commit/v4'),
			genesis,
			le(job, 32),
			account,
			bundleRoot,
			trueRoot,
			modelRoot,
			le(segments, 32),
			Uint8Array.of(diverged ? 1 : 0),
			salt,
		),
	);

/** What a trainer is bound to when it applies: the 32 bytes from which its forced leaves are drawn. */
export const forcedCommitment = (secret) => blake2(secret);

/** What stands for the trace root of the forced leaf `index`. */
export const forcedTraceRoot = (secret, index) =>
	blake2(u8aConcat(stringToU8a('trainyard/forced/v1'), secret, le(index, 32)));

/** A verifier's commitment to its findings, SCALE-encoded (`findings.toU8a()`). */
export const verdictCommitment = ({ genesis, job, round, account, findings, salt }) =>
	blake2(u8aConcat(stringToU8a('trainyard/verdict/v1'), genesis, le(job, 32), le(round, 32), account, findings, salt));

/**
 * A challenger's commitment to what it will accuse of. `defendant`, `target` and `claimed` are
 * SCALE-encoded; the job is in the defendant.
 */
export const challengeCommitment = ({ genesis, challenger, defendant, target, claimed, salt }) =>
	blake2(u8aConcat(stringToU8a('trainyard/challenge/v1'), genesis, challenger, defendant, target, claimed, salt));
