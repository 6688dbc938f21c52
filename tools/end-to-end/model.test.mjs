// Files on chain with the real node and the real worker: `trainyard model`, its uploader killed
// again and again, two uploaders of one file, a mirror that lies.
//
// `MODEL_KILLS` says how often the uploader is killed (3 by default; `tools/network/run kills` of
// docs/storage.md kills it 20 times).

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { accounts, feesPaid } from './lib/ledger.mjs';
import { lyingProxy } from './lib/lies.mjs';
import { ADDRESS, Network, sleep, trainyard, until } from './lib/network.mjs';
import { anyPort } from './lib/net.mjs';

const { blobRoot, contentHash, readSealKey, sealFor, unseal } = trainyard;

const KILLS = Number(process.env.MODEL_KILLS ?? 3);
const MIB = 1_048_576;
const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'model') : mkdtempSync(join(tmpdir(), 'trainyard-model-'));
let network, api;

/** A file of random bytes. */
function file(name, size) {
	const path = join(folder, name);
	writeFileSync(path, randomBytes(size));
	return path;
}

/** The root of these bytes as a file on chain. */
const rootOf = (bytes) => `0x${Buffer.from(blobRoot(bytes.length, contentHash(bytes))).toString('hex')}`;

/** Runs `trainyard model` to its end. */
async function model(args, { url = network.url, seconds = 180 } = {}) {
	const node = args.includes('--node') ? [] : ['--node', url];
	return network.worker(`model-${args[0]}`, ['model', ...args, ...node], { seconds });
}

/** The same for what must work; what it prints as JSON. */
async function must(...args) {
	const { status, stdout, stderr } = await model([...args, '--json']);
	assert.equal(status, 0, `trainyard model ${args.join(' ')}\n${stderr}`);
	return JSON.parse(stdout);
}

/** The same for what must be refused; what it says. */
async function refused(...args) {
	const { status, stderr } = await model(args);
	assert.equal(status, 2, stderr);
	return stderr;
}

const blobOf = async (root) => (await api.call.trainyardApi.blob(root)).toJSON();

/** How often each chunk of a file was stored in the blocks from `from` on. */
async function storedIn(root, from) {
	const times = new Map();
	const best = (await api.rpc.chain.getHeader()).number.toNumber();
	for (let number = from + 1; number <= best; number++) {
		const at = await api.at(await api.rpc.chain.getBlockHash(number));
		for (const { event } of await at.query.system.events()) {
			if (!api.events.modelStorage.ChunkStored.is(event) || event.data[0].toString() !== root) continue;
			const index = event.data[1].toNumber();
			times.set(index, (times.get(index) ?? 0) + 1);
		}
	}
	return times;
}

/**
 * Checks that since the block of `before` the senders lost fees and the deposit of `root` and nothing
 * else, and that each of `chunks` chunks was stored once.
 */
async function paidOnce(root, before, senders, chunks) {
	const addresses = senders.map((suri) => ADDRESS[suri]);
	const now = await accounts(api, addresses);
	const fees = await feesPaid(api, before.block, now.block);
	for (const address of addresses) {
		const lost = before.get(address).total - now.get(address).total;
		assert.equal(lost, fees.get(address) ?? 0n, 'only fees are gone');
	}
	const held = addresses.map((address) => now.get(address).reserved - before.get(address).reserved);
	const listed = (await must('ls', '--all')).blobs.find((blob) => blob.root === root);
	assert.equal(
		held.reduce((sum, part) => sum + part, 0n),
		BigInt(listed.deposit),
		'one deposit is held',
	);
	const times = await storedIn(root, before.block);
	assert.deepEqual([times.size, ...new Set(times.values())], [chunks, 1], 'each chunk is in one block');
}

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
	},
	{ timeout: 120_000 },
);

after(
	async () => {
		await network?.stop();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

describe('files on chain', { timeout: 900_000 }, () => {
	test('what is wrong is refused with a reason', async () => {
		assert.match(await refused('put', join(folder, 'nowhere'), '--suri', '//Bob', '--yes'), /cannot store .*nowhere/);
		assert.match(await refused('put', file('empty', 0), '--suri', '//Bob', '--yes'), /an empty file/);
		const some = file('some', 10_000);
		assert.match(await refused('put', some, '--suri', '//Bob'), /nobody is there to be asked/);
		assert.match(await refused('put', some, '--suri', '//Nobody', '--yes'), /put money on it first|cannot pay|free/);
		const nowhere = '5f'.repeat(32);
		assert.match(await refused('get', nowhere, '--out', join(folder, 'out')), /knows no blob/);
		assert.match(await refused('renew', nowhere, '--suri', '//Bob'), /knows no file/);
		assert.match(await refused('rm', nowhere, '--suri', '//Bob'), /knows no file/);
		assert.match(await refused('get', '5f'), /64 hex digits/);
	});

	test('a file is stored, listed, read back and renewed', async () => {
		const path = file('one', 3 * MIB + 17);
		const plan = await must('put', path, '--suri', '//Bob', '--dry-run');
		assert.equal(plan.missing, plan.chunks);
		const before = await accounts(api, [ADDRESS['//Bob']]);
		const put = await must('put', path, '--suri', '//Bob', '--yes');
		assert.equal(put.root, plan.root);
		await paidOnce(put.root, before, ['//Bob'], put.chunks);
		// It cost what it said, to a tenth: the last chunk is shorter, and fees may have moved.
		const cost = Number(plan.deposit) + Number(plan.rent) + Number(plan.fees);
		assert.ok(Math.abs(Number(put.paid) / cost - 1) < 0.1, `${put.paid} of ${cost}`);

		const { blobs } = await must('ls', '--suri', '//Bob');
		assert.deepEqual(
			blobs.map(({ root, stored, chunks, size }) => [root, stored, chunks, size]),
			[[put.root, put.chunks, put.chunks, 3 * MIB + 17]],
		);
		assert.equal((await must('ls', '--owner', '//Charlie')).blobs.length, 0);

		const out = join(folder, 'one.out');
		const got = await must('get', put.root, '--out', out);
		assert.equal(got.by[0].chunks, put.chunks);
		assert.deepEqual(readFileSync(out), readFileSync(path));
		assert.equal(existsSync(`${out}.part`), false);
		// It is here; and what is not it stays.
		assert.equal((await must('get', put.root, '--out', out)).before, put.chunks);
		assert.match(await refused('get', put.root, '--out', file('other', 100)), /is another file/);
		// A second time costs nothing.
		const again = await must('put', path, '--suri', '//Bob', '--yes');
		assert.deepEqual([again.sent, again.paid], [0, '0']);

		const renewed = await must('renew', put.root, '--suri', '//Bob');
		assert.ok(renewed.expires > renewed.expired_before);
		assert.match(await refused('renew', put.root, '--suri', '//Charlie'), /who alone can renew/);
		assert.match(await refused('renew', put.root, '--suri', '//Bob', '--blocks', '99999999'), /fewer --blocks/);
		assert.match(await refused('rm', put.root, '--suri', '//Charlie'), /can be removed after block/);
	});

	test('a sealed file is read by who has the key, and by nobody else', async () => {
		const path = file('secret', 2 * MIB + 3);
		const [key, other] = ['reader.key', 'other.key'].map((name) => join(folder, name));
		const seal = (...args) => network.worker('seal', ['seal', ...args], { seconds: 60 });
		const recipient = (await seal('keygen', key)).stdout.trim();
		await seal('keygen', other);
		assert.equal((await seal('public', key)).stdout.trim(), recipient);
		assert.match((await seal('keygen', key)).stderr, /a key that is overwritten is lost/);

		const put = await must('put', path, '--suri', '//Bob', '--yes', '--seal-for', recipient);
		// The JavaScript package, which shares no code with it, makes the same bytes.
		const sealed = sealFor(readFileSync(path), recipient);
		assert.deepEqual([put.root, put.size, put.plain_size], [rootOf(sealed), sealed.length, 2 * MIB + 3]);
		const again = await must('put', path, '--suri', '//Bob', '--yes', '--seal-for', recipient);
		assert.deepEqual([again.root, again.sent], [put.root, 0]);

		const stranger = join(folder, 'secret.sealed');
		await must('get', put.root, '--out', stranger);
		assert.deepEqual(new Uint8Array(readFileSync(stranger)), sealed);
		assert.deepEqual(Buffer.from(unseal(sealed, readSealKey(readFileSync(key, 'utf8')))), readFileSync(path));

		// With another key it comes, and does not open; with the right one it need not come again.
		const out = join(folder, 'secret.out');
		assert.match(await refused('get', put.root, '--out', out, '--unseal', other), /sealed for another key/);
		assert.equal(existsSync(out), false);
		const got = await must('get', put.root, '--out', out, '--unseal', key);
		assert.deepEqual([got.before, got.unsealed], [put.chunks, true]);
		assert.deepEqual(readFileSync(out), readFileSync(path));
		assert.equal(statSync(out).mode & 0o777, 0o600);
		assert.equal(existsSync(`${out}.part`), false);
		assert.deepEqual((await must('get', put.root, '--out', out, '--unseal', key)).by, []);
		assert.match(await refused('get', put.root, '--out', out, '--unseal', other), /is another file/);

		const opened = join(folder, 'secret.opened');
		assert.equal((await seal('open', stranger, '--key', key, '--out', opened)).status, 0);
		assert.deepEqual(readFileSync(opened), readFileSync(path));
	});

	test('an uploader that is killed goes on, and nothing is paid twice', async () => {
		const path = file('killed', 6 * MIB + 1_234);
		const before = await accounts(api, [ADDRESS['//Charlie']]);
		const args = ['model', 'put', path, '--suri', '//Charlie', '--yes', '--node', network.url, '--window', '2'];
		for (let kill = 0; kill < KILLS; kill++) {
			const uploader = network.fleet.start(`put-${kill}`, network.workerBinary, args);
			await sleep(500 + Math.random() * 3_000);
			if (uploader.alive) await uploader.kill();
		}
		const put = await must('put', path, '--suri', '//Charlie', '--yes');
		await paidOnce(put.root, before, ['//Charlie'], put.chunks);
		const out = join(folder, 'killed.out');
		await must('get', put.root, '--out', out);
		assert.deepEqual(readFileSync(out), readFileSync(path));
	});

	test('two uploaders of one file share the work', async () => {
		const path = file('shared', 6 * MIB);
		const senders = ['//Dave', '//Eve'];
		const before = await accounts(
			api,
			senders.map((suri) => ADDRESS[suri]),
		);
		const puts = await Promise.all(senders.map((suri) => must('put', path, '--suri', suri, '--yes')));
		assert.equal(puts[0].root, puts[1].root);
		await paidOnce(puts[0].root, before, senders, puts[0].chunks);
	});

	test('several accounts send one file', async () => {
		const path = file('several', 4 * MIB);
		const keys = ['//Dave', '//Eve'].map((suri) => {
			const key = join(folder, `key-${suri.slice(2)}`);
			writeFileSync(key, suri, { mode: 0o600 });
			return key;
		});
		const all = ['//Ferdie', '//Dave', '//Eve'];
		const before = await accounts(
			api,
			all.map((suri) => ADDRESS[suri]),
		);
		const put = await must('put', path, '--suri', '//Ferdie', '--yes', '--senders', ...keys);
		await paidOnce(put.root, before, all, put.chunks);
		assert.equal((await blobOf(put.root)).owner, ADDRESS['//Ferdie']);
	});

	test('a mirror that lies is dropped, and a download that was cut goes on', async () => {
		const path = file('mirrored', 2 * MIB + 5);
		const put = await must('put', path, '--suri', '//Bob', '--yes');
		const proxy = await lyingProxy(network.rpcPort, { bytes: put.chunk_bytes });
		try {
			const out = join(folder, 'mirrored.out');
			const { status, stdout, stderr } = await model([
				...['get', put.root, '--out', out, '--json', '--node', proxy.url, network.url],
			]);
			assert.equal(status, 0, stderr);
			assert.match(stderr, /is asked no more: it gave \d+ bytes for chunk \d+ that are not this chunk/);
			assert.deepEqual(readFileSync(out), readFileSync(path));
			const { by } = JSON.parse(stdout);
			assert.deepEqual(
				by.map(({ chunks }) => chunks),
				[0, put.chunks],
			);
			assert.ok(proxy.lies() > 0);

			const alone = await model(['get', put.root, '--out', join(folder, 'alone.out'), '--node', proxy.url]);
			assert.equal(alone.status, 2);
			assert.match(alone.stderr, /could be had from none of the nodes/);

			// What a kill leaves: the beginning of the file.
			const cut = join(folder, 'cut.out');
			writeFileSync(`${cut}.part`, readFileSync(path));
			truncateSync(`${cut}.part`, MIB);
			const got = await must('get', put.root, '--out', cut);
			assert.ok(got.before > 0 && got.before < put.chunks, `${got.before}`);
			assert.deepEqual(readFileSync(cut), readFileSync(path));
			assert.equal(statSync(cut).size, 2 * MIB + 5);
		} finally {
			await proxy.close();
		}
	});

	test('a fine-tuned file sends what changed, and names its parent', async () => {
		const path = file('base', 6 * MIB);
		const base = await must('put', path, '--suri', '//Bob', '--yes');
		const tuned = join(folder, 'tuned');
		const bytes = readFileSync(path);
		// In the second chunk and the last one.
		bytes[base.chunk_bytes + 5] ^= 1;
		bytes[6 * MIB - 1] ^= 1;
		writeFileSync(tuned, bytes);
		const plan = await must('put', tuned, '--suri', '//Charlie', '--parent', base.root, '--dry-run');
		assert.equal(plan.same_as_parent, base.chunks - 2);
		const before = await accounts(api, [ADDRESS['//Charlie']]);
		const put = await must('put', tuned, '--suri', '//Charlie', '--yes', '--parent', base.root);
		assert.deepEqual([put.sent, put.reused, put.parent], [base.chunks, base.chunks - 2, base.root]);
		await paidOnce(put.root, before, ['//Charlie'], put.chunks);
		// Fees are those that were said before.
		const fees = (of, plan) => Number(of.paid) - Number(plan.deposit) - Number(plan.rent);
		assert.ok(fees(put, plan) < Number(plan.fees) * 1.2, `${fees(put, plan)}`);

		const third = join(folder, 'third');
		bytes[9] ^= 1;
		writeFileSync(third, bytes);
		const last = await must('put', third, '--suri', '//Charlie', '--yes', '--parent', put.root);
		const log = await must('log', last.root);
		assert.deepEqual(
			log.map(({ root, parent, number }) => [root, parent, number]),
			[
				[last.root, put.root, 2],
				[put.root, base.root, 1],
				[base.root, null, 0],
			],
		);
		assert.deepEqual(
			(await trainyard.versions(api, last.root)).map(({ root, parent, number, size }) => [root, parent, number, size]),
			log.map(({ root, parent, number, size }) => [root, parent, number, size]),
		);
		const listed = (await must('ls', '--suri', '//Charlie')).blobs.find(({ root }) => root === put.root);
		assert.equal(listed.parent, base.root);

		// The base goes; what was taken over from it stays, and is not taken over from it any more.
		await must('rm', base.root, '--suri', '//Bob');
		const out = join(folder, 'tuned.out');
		await must('get', put.root, '--out', out);
		assert.deepEqual(readFileSync(out), readFileSync(tuned));
		assert.equal((await must('log', last.root)).length, 2);
		assert.match(await refused('log', base.root), /knows no file/);
		const again = ['put', path, '--suri', '//Bob', '--yes', '--parent', base.root];
		assert.match(await refused(...again), /did not change/);
		assert.match(
			await refused('put', third, '--suri', '//Bob', '--yes', '--parent', base.root),
			/not on chain as a whole/,
		);
	});

	test('encoded files are stored, and decoded as they come', async () => {
		const path = join(folder, 'text');
		writeFileSync(path, Buffer.alloc(3 * MIB, 'the same again and again. '));
		const put = await must('put', path, '--encode', 'zstd', '--suri', '//Bob', '--yes');
		assert.ok(put.size < MIB, `${put.size} bytes`);
		const out = join(folder, 'text.out');
		const got = await must('get', put.root, '--decode', '--out', out);
		assert.deepEqual(readFileSync(out), readFileSync(path));
		assert.deepEqual([got.decoded.encoding, got.decoded.size], ['zstd', 3 * MIB]);
		assert.equal(existsSync(`${out}.encoded.part`), false);
		assert.match(await refused('get', put.root, '--decode', '--out', out), /is there already/);

		// 64 values as safetensors.
		const header = JSON.stringify({ w: { dtype: 'F32', shape: [4, 16], data_offsets: [0, 256] } });
		const text = Buffer.from(header.padEnd(Math.ceil(header.length / 8) * 8));
		const size = Buffer.alloc(8);
		size.writeBigUInt64LE(BigInt(text.length));
		const values = Float32Array.from({ length: 64 }, (_, i) => 1.5 + i / 3);
		const model = join(folder, 'small.safetensors');
		writeFileSync(model, Buffer.concat([size, text, Buffer.from(values.buffer)]));
		for (const [encoding, most] of [
			['f16', 0.01],
			['bf16', 0.1],
			['i8', 0.1],
		]) {
			const put = await must('put', model, '--encode', encoding, '--suri', '//Bob', '--yes');
			const out = join(folder, `small.${encoding}.out`);
			const got = await must('get', put.root, '--decode', '--out', out);
			const back = readFileSync(out);
			assert.equal(back.length, readFileSync(model).length);
			const is = new Float32Array(
				back.buffer.slice(back.byteOffset + back.length - 256, back.byteOffset + back.length),
			);
			values.forEach((value, i) => assert.ok(Math.abs(value - is[i]) <= most, `${encoding}: ${value} ${is[i]}`));
			assert.notEqual(got.decoded.decoded_root, got.decoded.root);
		}
		const plain = await must('put', model, '--suri', '//Bob', '--yes');
		assert.match(await refused('get', plain.root, '--decode', '--out', join(folder, 'none')), /is not encoded/);
	});

	test('many downloads at once all come', async () => {
		const path = file('popular', MIB);
		const put = await must('put', path, '--suri', '//Bob', '--yes');
		const outs = Array.from({ length: 20 }, (_, at) => join(folder, `popular-${at}`));
		await Promise.all(outs.map((out) => must('get', put.root, '--out', out)));
		for (const out of outs) assert.deepEqual(readFileSync(out), readFileSync(path));
	});
});
