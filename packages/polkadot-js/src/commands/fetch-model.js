// Reads a model back from the chain and checks every byte of it.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hexToU8a, isHex, u8aConcat, u8aEq, u8aToHex } from '@polkadot/util';
import { job as jobView, rpc } from '../chain.js';
import { jobNumber } from '../cli.js';
import { UserError } from '../errors.js';
import { blake2, blobRoot, chunkCount, chunkSizeAt, contentHash } from '../hash.js';

/** The root of the model that job `id` delivered and that was accepted. */
export async function modelRootOf(api, id) {
	const job = await jobView(api, id);
	if (job === null) throw new UserError(`there is no job ${id} on this chain (or it was forgotten)`);
	const good = job.replicas.find(({ fate, reveal }) => reveal && ['accepted', 'agreed', 'idle'].includes(fate));
	if (!good) {
		const fates = job.replicas.map(({ fate }) => fate).join(', ') || 'nobody trained it';
		throw new UserError(`job ${id} has no accepted model (${fates})`);
	}
	return good.reveal.model_root;
}

/** Length and number of chunks of the blob with this root, of which the chain has every chunk. */
export async function wholeBlob(api, root) {
	const view = await api.call.trainyardApi.blob(root);
	if (view.isNone) throw new UserError(`the chain has no blob ${root} (or its time is over)`);
	const blob = view.unwrap();
	// polkadot.js renames the field `size`, which its structures, being Maps, have already.
	const size = Number(blob.size_.toBigInt());
	if (blob.missing.length > 0) {
		throw new UserError(
			`the blob ${root} is not complete: ${blob.missing.length} of ${blob.chunks} chunks are missing`,
		);
	}
	return { size, count: chunkCount(size) };
}

/**
 * Fetches the blob with this root chunk by chunk and checks it: each chunk against its
 * length and the hash that the chain holds for it, then all of them, by their BLAKE3 hash,
 * against the root. Returns the bytes.
 */
export async function fetchBlob(api, root, progress = () => {}) {
	const { size, count } = await wholeBlob(api, root);
	const chunks = [];
	for (let index = 0; index < count; index++) {
		const where = `chunk ${index} of ${count} of blob ${root}`;
		const [hex, expected] = await Promise.all([
			rpc(api, 'trainyard_modelChunk', [root, index]),
			api.call.trainyardApi.chunkHash(root, index),
		]);
		if (hex === null) {
			throw new UserError(`${where}: the node does not have it. Ask another node (--node), one that keeps old blocks`);
		}
		const bytes = hexToU8a(hex);
		checkChunk({ bytes, size, index, expected: expected.isSome ? expected.unwrap().toU8a() : null, where });
		chunks.push(bytes);
		progress(index + 1, count);
	}
	return joinChunks({ chunks, size, root });
}

/** Checks one chunk against its length and the hash that the chain holds for it. */
export function checkChunk({ bytes, size, index, expected, where }) {
	if (bytes.length !== chunkSizeAt(size, index)) {
		throw new UserError(`${where}: ${bytes.length} bytes came, ${chunkSizeAt(size, index)} were expected`);
	}
	if (!expected || !u8aEq(blake2(bytes), expected)) {
		throw new UserError(`${where}: the bytes do not have the hash that the chain holds. Ask another node (--node)`);
	}
}

/** Joins chunks that together must have this root. */
export function joinChunks({ chunks, size, root }) {
	const bytes = u8aConcat(...chunks);
	const found = u8aToHex(blobRoot(size, contentHash(bytes)));
	if (found !== root) throw new UserError(`the chunks make the root ${found}, not ${root}. Ask another node (--node)`);
	return bytes;
}

export default {
	name: 'fetch-model',
	usage: '(JOB | --root HASH) --out FILE [flags]',
	about: "Reads a job's model from the chain, checks it against its root, and writes it to a file.",
	positionals: [0, 1],
	flags: {
		root: { value: 'HASH', help: 'root of the model, instead of a job' },
		out: { value: 'FILE', required: true, help: 'file to write, for example model.safetensors' },
	},
	prepare(flags, [id]) {
		if ((id === undefined) === (flags.root === undefined)) {
			throw new UserError('name the model by its job or by --root, one of them');
		}
		if (flags.root !== undefined && !isHex(flags.root, 256)) {
			throw new UserError(`--root: "${flags.root}" is not a hash of 32 bytes in hex (0x…)`);
		}
		return { id: id === undefined ? undefined : jobNumber(id) };
	},
	async run({ api, flags, prepared: { id }, print }) {
		const root = (flags.root ?? (await modelRootOf(api, id))).toLowerCase();
		const bytes = await fetchBlob(api, root);
		mkdirSync(dirname(flags.out), { recursive: true });
		const partial = `${flags.out}.partial`;
		writeFileSync(partial, bytes);
		renameSync(partial, flags.out);
		print(`${bytes.length} bytes in ${chunkCount(bytes.length)} chunks match the root ${root}: ${flags.out}`, {
			root,
			bytes: bytes.length,
			chunks: chunkCount(bytes.length),
			out: flags.out,
		});
	},
};
