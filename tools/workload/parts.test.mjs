// The parts that need no node: arrivals, percentiles, declarations and their errors, and what is counted, with a node
// that is made up.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { blake2AsHex, hexToU8a, u8aToHex } from '../../packages/polkadot-js/src/polkadot.js';
import { chunkVerify } from '../../packages/polkadot-js/src/hash.js';
import { hashOf } from '../network/headers.mjs';
import { whyNoNamespaces } from '../network/namespaces.mjs';
import { anyPort } from '../end-to-end/lib/net.mjs';
import { address, ready, signed } from '../node-bench/runtime.mjs';
import { Account, pairOf } from './accounts.mjs';
import { arrivalTimes, expected, pieces } from './arrivals.mjs';
import { Cutter, callsOf } from './blobs.mjs';
import { missingKinds } from './chain.mjs';
import { declarationOf, readDeclaration, share, timesOf } from './declaration.mjs';
import { pairOfSuri } from './keys.mjs';
import { Ledger } from './ledger.mjs';
import { chosen } from './load.mjs';
import { NO_ACCOUNT, Operations } from './operations.mjs';
import { readLinks, readOptions } from './options.mjs';
import { plots } from './plots.mjs';
import { presign, signOne } from './presign.mjs';
import { bytesOf, generator } from './random.mjs';
import { accounted, csvOf, distribution, percentiles, perSecond, unitsOf } from './report.mjs';
import { Connection, nonceIsUsed, reasonOf } from './rpc.mjs';
import { LATE, OVER, Sender, now } from './sender.mjs';
import { BlockWatch } from './watch.mjs';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const workloads = fileURLToPath(new URL('workloads', import.meta.url));
const example = (name) => join(workloads, `${name}.toml`);

/** A declaration of one stream. */
const one = (stream, more = {}) => ({
	duration: 10,
	...more,
	stream: [{ kind: 'transfer', arrival: { process: 'constant', rate: 5 }, ...stream }],
});

test('random numbers are those of the words, and even', () => {
	const [a, b, other] = [generator(1, 'x'), generator(1, 'x'), generator(2, 'x')];
	const drawn = Array.from({ length: 20_000 }, () => a());
	assert.deepEqual(
		drawn.slice(0, 100),
		Array.from({ length: 100 }, () => b()),
	);
	assert.notDeepEqual(
		drawn.slice(0, 3),
		Array.from({ length: 3 }, () => other()),
	);
	assert.ok(drawn.every((value) => value >= 0 && value < 1));
	const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
	// Five standard deviations of the mean of 20,000.
	assert.ok(Math.abs(mean - 0.5) < (5 * Math.sqrt(1 / 12)) / Math.sqrt(20_000), String(mean));
	assert.equal(bytesOf(1_000, 'a').length, 1_000);
	assert.deepEqual(bytesOf(10, 'a', 'b'), bytesOf(20, 'a', 'b').subarray(0, 10));
	assert.notDeepEqual(bytesOf(10, 'a', 'b'), bytesOf(10, 'ab'));
});

test('a constant rate is even, to the number', () => {
	const times = arrivalTimes({ process: 'constant', load: [[0, 4]], shape: 'steps' }, 2.5, Math.random);
	assert.deepEqual(times, [125, 375, 625, 875, 1125, 1375, 1625, 1875, 2125, 2375]);
});

test('steps and ramps follow their curve', () => {
	const load = [
		[0, 0],
		[10, 20],
		[20, 20],
		[30, 0],
	];
	const steps = arrivalTimes({ process: 'constant', load, shape: 'steps' }, 40, Math.random);
	assert.equal(steps.length, 400);
	assert.ok(steps.every((time) => time > 10_000 && time < 30_000));
	const ramp = arrivalTimes({ process: 'constant', load, shape: 'ramp' }, 40, Math.random);
	assert.equal(ramp.length, 400, 'two triangles of 100, and 200 between them');
	assert.ok(ramp.every((time, index) => index === 0 || time > ramp[index - 1]));
	// A rate that rises from 0 has a quarter of its arrivals in the first half.
	assert.equal(ramp.filter((time) => time < 5_000).length, 25);
	assert.equal(ramp.filter((time) => time >= 20_000 && time < 25_000).length, 75);
	const cut = pieces(load, 'ramp', 5);
	assert.deepEqual(cut, [{ from: 0, to: 5, begin: 0, end: 10 }]);
	assert.equal(expected(cut), 25);
});

test('a Poisson process has its rate, its variance, and gaps without memory', () => {
	const arrival = { process: 'poisson', load: [[0, 50]], shape: 'steps' };
	const times = arrivalTimes(arrival, 400, generator('poisson'));
	const mean = 50 * 400;
	assert.ok(Math.abs(times.length - mean) < 5 * Math.sqrt(mean), String(times.length));
	const counts = perSecond(times, 0, 400);
	const variance = counts.reduce((sum, count) => sum + (count - 50) ** 2, 0) / 400;
	// Of a Poisson count it is the mean; its own standard deviation is about 50 * sqrt(2 / 400).
	assert.ok(Math.abs(variance - 50) < 5 * 50 * Math.sqrt(2 / 400), String(variance));
	const gaps = times.slice(1).map((time, index) => time - times[index]);
	const long = gaps.filter((gap) => gap > 20).length / gaps.length;
	assert.ok(Math.abs(long - Math.exp(-1)) < 5 * Math.sqrt((0.37 * 0.63) / gaps.length), String(long));
	assert.deepEqual(arrivalTimes(arrival, 400, generator('poisson')), times);
});

test('percentiles are ranks', () => {
	assert.equal(percentiles([]), null);
	const values = Array.from({ length: 1_000 }, (_, index) => (index * 7) % 1_000).map((value) => value + 1);
	assert.deepEqual(percentiles(values), { count: 1_000, p50: 500, p90: 900, p95: 950, p99: 990, max: 1_000 });
	assert.deepEqual(percentiles([3]), { count: 1, p50: 3, p90: 3, p95: 3, p99: 3, max: 3 });
	const all = distribution(values);
	assert.deepEqual([all.length, all[0], all[49], all[99]], [100, 10, 500, 1_000]);
	assert.deepEqual(perSecond([0, 999, 1_000, 2_500, -1, 9_000], 0, 3), [2, 1, 1]);
});

test('declarations are read, and filled with what they do not say', () => {
	const { duration, accounts, streams } = readDeclaration(one({}));
	assert.deepEqual([duration, accounts, streams.length], [10, 100, 1]);
	assert.deepEqual(streams[0].arrival, { process: 'constant', load: [[0, 5]], shape: 'steps' });
	assert.deepEqual([streams[0].name, streams[0].accounts, streams[0].funds], ['transfer', 100, '10']);
	const blob = readDeclaration(one({ kind: 'blob', bytes: '64 KiB' })).streams[0];
	assert.deepEqual([blob.bytes, blob.read], [65_536, true]);
	for (const name of ['transfers', 'burst', 'clients', 'market-day', 'storage']) {
		const read = declarationOf(example(name));
		assert.equal(read.name, name);
		assert.deepEqual(timesOf(read), timesOf(declarationOf(example(name))), 'the same seed, the same times');
	}
	assert.deepEqual(share(10, [1, 1, 1]), [4, 3, 3]);
	assert.deepEqual(share(3, [1_000, 1, 1]), [1, 1, 1]);
	assert.equal(
		share(1_001, [5, 0.1, 3]).reduce((a, b) => a + b),
		1_001,
	);
});

test('what is wrong in a declaration is said with its place', () => {
	const arrival = (found) => one({ arrival: found });
	for (const [table, message] of [
		[{ stream: [{}] }, /duration is missing/],
		[{ duration: 5 }, /stream is missing/],
		[{ ...one({}), colour: 1 }, /colour is not a field; there are name, duration/],
		[one({}, { duration: 0 }), /duration: 0 is not a number from 1/],
		[one({}, { duration: '60' }), /duration: "60" is not a number/],
		[one({}, { accounts: 1.5 }), /accounts: 1\.5 is not a whole number/],
		[one({}, { funds: -1 }), /funds: -1 is not an amount/],
		[{ ...one({}), stream: [] }, /at least one \[\[stream\]\]/],
		[one({ kind: 'swap' }), /stream 1 \(swap\)\.kind: "swap" is not one of "transfer", "remark"/],
		[one({ bytes: 5 }), /stream 1 \(transfer\)\.bytes is not a field; there are name, kind/],
		[one({ kind: 'remark', bytes: '2 GiB' }), /stream 1 \(remark\)\.bytes: "2 GiB" is not a size .* as "64 KiB"/],
		[one({ kind: 'blob' }), /stream 1 \(blob\)\.bytes is missing/],
		[arrival(undefined), /arrival is missing/],
		[arrival({ process: 'random' }), /arrival\.process: "random" is not one of "constant", "poisson"/],
		[arrival({ process: 'constant' }), /arrival\.rate is missing/],
		[arrival({ process: 'constant', rate: 0 }), /arrival\.rate: 0 is not a number/],
		[arrival({ process: 'poisson' }), /give rate or load, one of them/],
		[arrival({ process: 'steps', load: [] }), /not a load curve, which is pairs of second and rate/],
		[arrival({ process: 'steps', load: [[1, 5]] }), /begins at second 1: begin it at 0/],
		[
			arrival({
				process: 'ramp',
				load: [
					[0, 5],
					[0, 6],
				],
			}),
			/second 0 does not come after the point before it/,
		],
		[arrival({ process: 'ramp', load: [[0, -5]] }), /the rate at second 0 is negative/],
		[arrival({ process: 'closed', clients: 101 }), /101 clients and 100 accounts: raise accounts/],
		[one({ arrival: { process: 'constant', rate: 1_000_000 } }), /about 10000000 transactions would be planned/],
		[{ duration: 5, stream: [one({}).stream[0], one({}).stream[0]] }, /two streams are called "transfer"/],
		[{ duration: 5, accounts: 1, stream: [one({}).stream[0], one({ name: 'b' }).stream[0]] }, /1 for 2 streams/],
		[one({ kind: 'job', template: 'nowhere.json' }), /template: there is no file .*nowhere\.json; paths are relative/],
		[one({ kind: 'task', module: example('burst'), reward: '1', input: 'ff' }), /give steps or map/],
		[one({ kind: 'task', module: example('burst'), reward: '1', steps: 2 }), /give input \(hex/],
		[one({ kind: 'job', template: example('burst') }), /give data .* or location/],
	]) {
		assert.throws(() => readDeclaration(table), message, JSON.stringify(table));
	}
	const folder = mkdtempSync(join(tmpdir(), 'trainyard-workload-test-'));
	const file = join(folder, 'broken.toml');
	writeFileSync(file, 'duration = \n');
	assert.throws(() => declarationOf(file), /broken\.toml is not TOML: .*/);
	writeFileSync(file, 'duration = 5\ncolour = 1\n');
	assert.throws(() => declarationOf(file), /broken\.toml: colour is not a field/);
	assert.throws(() => declarationOf(join(folder, 'no.toml')), /cannot read the workload/);
	rmSync(folder, { recursive: true });
});

test('wrong arguments are refused in words', () => {
	for (const [args, message] of [
		[[], /one declaration is needed, not 0/],
		[['w.toml', '--start', '0'], /--start: "0" is not a whole number from 1 to 16/],
		[['w.toml', '--links', 'delay=5ms'], /--links is for nodes that are started here/],
		[['w.toml', '--start', '1', '--links', 'delay=5ms'], /one node has no links/],
		[['w.toml', '--start', '2', '--node', 'ws://a'], /give one of them/],
		[['w.toml', '--node', 'http://a'], /"http:\/\/a" is not a ws:/],
		[['w.toml', '--start', '1', '--template', '--slot', '500'], /that of the template is a constant of its runtime/],
		[['w.toml', '--start', '1', '--slot', '501'], /501 is not even/],
		[['w.toml', '--start', '1', '--c', '2'], /not a fraction between 0 and 1/],
		[['w.toml', '--funder-file', '/nowhere'], /--funder-file: ENOENT/],
		[['w.toml', '--speed'], /speed/],
	]) {
		assert.throws(() => readOptions(args), message, args.join(' '));
	}
	assert.deepEqual(readLinks('delay=50ms,jitter=5ms,rate=100mbit,loss=0.1%'), {
		delay: 50,
		jitter: 5,
		loss: 0.1,
		mbit: 100,
	});
	assert.deepEqual(readLinks('loss=1%'), { delay: 0, jitter: 0, loss: 1 });
	for (const [text, message] of [
		['delay=50', /write it as delay=1ms/],
		['speed=5ms', /"speed=5ms" is none of delay, jitter, rate, loss/],
		['loss=100%', /with at most 99%/],
		['rate=0mbit', /nothing arrives/],
		['delay=5ms,delay=6ms', /delay is there twice/],
	]) {
		assert.throws(() => readLinks(text), message);
	}
	const { start, urls } = readOptions(['w.toml', '--start', '4', '--links', 'delay=5ms']);
	assert.deepEqual([start.nodes, start.slot, start.c, start.links.delay, urls.length], [4, 1_000, [1, 4], 5, 1]);
});

test('kinds that a chain has not are said before anything is sent', () => {
	const plain = new Set(['Balances.transfer_keep_alive', 'System.remark']);
	const has = (pallet, call) => plain.has(`${pallet}.${call}`);
	const streams = ['transfer', 'remark', 'blob', 'job', 'task', 'job'].map((kind, index) => ({
		kind,
		name: `${index}`,
	}));
	const missing = missingKinds(streams, has);
	assert.deepEqual(missing, [
		{ kind: 'blob', lacks: 'ModelStorage.register' },
		{ kind: 'job', lacks: 'TaskMarket.submit_job' },
		{ kind: 'task', lacks: 'Tasks.post' },
	]);
	assert.throws(
		() => chosen(streams, missing, { chain: 'Plain', skipMissing: false }),
		/the chain Plain cannot take streams of the kind blob \(there is no call ModelStorage\.register\), job .*Nothing was sent; --skip-missing/,
	);
	const left = chosen(streams, missing, { chain: 'Plain', skipMissing: true });
	assert.deepEqual(
		left.map(({ kind }) => kind),
		['transfer', 'remark'],
	);
	assert.throws(() => chosen(streams.slice(2), missing, { chain: 'Plain', skipMissing: true }), /can take none/);
	assert.equal(chosen(streams, [], {}), streams);
});

test('a funder is what everybody else takes its secret URI for', async () => {
	await ready();
	assert.equal(address(pairOfSuri('//Alice')), '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY');
	assert.equal(
		address(pairOfSuri('bottom drive obey lake curtain smoke basket hold race lonely fit walk//Alice')),
		'5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY',
	);
	assert.throws(() => pairOfSuri('not a key'), /not a secret URI/);
	assert.notDeepEqual(pairOf(1, 0).publicKey, pairOf(2, 0).publicKey);
	assert.deepEqual(pairOf(1, 0).publicKey, pairOf(1, 0).publicKey);
});

test('a node that is not there is said in a sentence', async () => {
	const url = `ws://127.0.0.1:${await anyPort()}`;
	await assert.rejects(
		new Connection(url).open(),
		/no node answers at ws:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Start one/,
	);
});

/** What every transaction of the chain that is made up carries. */
const PLAIN = {
	extensions: ['CheckNonZeroSender', 'CheckSpecVersion', 'CheckGenesis', 'CheckMortality', 'CheckNonce'],
	specVersion: 1,
	transactionVersion: 1,
	genesis: `0x${'11'.repeat(32)}`,
};

test('what is signed ahead is what would be signed later', async () => {
	await ready();
	const items = Array.from({ length: 450 }, (_, index) => ({
		account: index % 7,
		nonce: Math.floor(index / 7),
		call: new Uint8Array([0, 1, index & 255]),
	}));
	const ahead = await presign(PLAIN, 5, items);
	assert.equal(ahead.length, 450);
	for (const at of [0, 1, 200, 449]) {
		const { account, nonce, call } = items[at];
		const { bytes, hash } = ahead[at];
		assert.equal(ahead[at].nonce, nonce);
		assert.equal(hash, blake2AsHex(bytes, 256));
		// Signatures have something random in them: all but the 64 bytes is the same.
		const now = signed(PLAIN, pairOf(5, account), nonce, call);
		const without = (all) => [...all.slice(0, 36), ...all.slice(-5)];
		assert.deepEqual(without(bytes), without(now));
		assert.equal(bytes.length, now.length);
	}
});

test('the calls that store a blob are what the chain checks', async () => {
	const cutter = new Cutter({ register: [9, 0], upload: [9, 1] });
	const { root, bytes, register, uploads, chunk } = await cutter.cut(20_000, ['a blob']);
	await cutter.close();
	assert.deepEqual(bytes, bytesOf(20_000, 'a blob'));
	assert.equal(uploads.length, Math.ceil(20_000 / chunk));
	// Two bytes of the call, the length in 8, the content hash, no period.
	assert.equal(register.length, 2 + 8 + 32 + 1);
	const content = register.subarray(10, 42);
	uploads.forEach((call, index) => {
		assert.deepEqual([...call.subarray(0, 2)], [9, 1]);
		assert.equal(u8aToHex(call.subarray(2, 34)), root);
		assert.equal(call[34], index);
		const steps = call[38] >> 2;
		const path = Array.from({ length: steps }, (_, at) => call.subarray(39 + 32 * at, 71 + 32 * at));
		const part = bytes.subarray(index * chunk, (index + 1) * chunk);
		assert.deepEqual([...call.subarray(-part.length)], [...part]);
		assert.ok(chunkVerify(20_000, content, index, part, path));
	});
});

/** A connection to a node that is made up: a pool, and blocks that are made when `block` is called. */
class FakeNode {
	waiting = 0;
	connected = true;
	pool = [];
	headers = [];
	bodies = new Map();
	followers = {};
	/** What the pool says to a transaction: null takes it. */
	refuse = () => null;

	constructor(delay = 0) {
		this.delay = delay;
		this.url = 'ws://made-up';
		this.#append(null, []);
	}

	#append(parent, extrinsics, salt = 0) {
		const header = {
			number: `0x${(parent ? Number(parent.number) + 1 : 0).toString(16)}`,
			parentHash: parent ? hashOf(parent) : `0x${'00'.repeat(32)}`,
			stateRoot: `0x${String(salt).padStart(64, '0')}`,
			extrinsicsRoot: `0x${String(this.headers.length).padStart(64, '0')}`,
			digest: { logs: [] },
		};
		this.headers.push(header);
		this.bodies.set(hashOf(header), { header, extrinsics });
		return header;
	}

	/** Makes a block on `parent` of these transactions, and says that it is the best one. */
	block(extrinsics, parent = this.headers.at(-1), salt = 0) {
		const header = this.#append(parent, extrinsics, salt);
		this.followers.chain_newHead?.(header);
		return header;
	}

	finalize(header) {
		this.finalHead = header;
		this.followers.chain_finalizedHead?.(header);
	}

	async rpc(method, params = []) {
		this.waiting++;
		try {
			if (this.delay) await sleep(this.delay);
			return this.answer(method, params);
		} finally {
			this.waiting--;
		}
	}

	answer(method, [first]) {
		switch (method) {
			case 'author_submitExtrinsic': {
				const reason = this.refuse(first);
				if (reason) throw new Error(reason);
				this.pool.push(first);
				return blake2AsHex(hexToU8a(first), 256);
			}
			case 'chain_getBlockHash':
				return hashOf(this.headers.at(-1));
			case 'chain_getFinalizedHead':
				return hashOf(this.finalHead ?? this.headers[0]);
			case 'chain_getHeader':
				return this.bodies.get(first).header;
			case 'chain_getBlock':
				return { block: this.bodies.get(first) };
			case 'state_getStorage':
				return null;
			default:
				throw new Error(`the node that is made up has no ${method}`);
		}
	}

	async subscribe(event, _, each) {
		this.followers[event] = each;
	}
}

/** A ledger, a sender by one connection, and a watch, all of a node that is made up. */
async function stage({ delay = 0, patience = 1_000, accounts = 3 } = {}) {
	await ready();
	const node = new FakeNode(delay);
	const ledger = new Ledger();
	const sign = (account, nonce, call) => signOne(PLAIN, account.pair, nonce, call);
	const sender = new Sender({ lines: [node], ledger, sign, patience });
	const watch = new BlockWatch({ connection: node, ledger });
	await watch.start();
	const members = Array.from({ length: accounts }, (_, index) => new Account({ index, pair: pairOf(1, index) }));
	const send = (account, stream = 's') =>
		sender.submit({ entry: ledger.add(stream, now()), account, call: new Uint8Array([0, 1]) });
	return { node, ledger, sender, watch, members, send };
}

test('every transaction is counted once: final, failed, dropped, refused, unsent', async () => {
	const { node, ledger, sender, watch, members, send } = await stage();
	const began = now() - 1;
	node.refuse = () => (node.pool.length === 3 ? '1016: Immediately Dropped: the pool is full' : null);
	const entries = members.map((account) => send(account));
	await sleep(5);
	entries.push(send(members[0]));
	await sleep(5);
	node.connected = false;
	const late = send(members[1]);
	const stop = sender.keepGoing();
	stop();
	node.connected = true;
	const first = node.block([node.pool[0], node.pool[1]]);
	await watch.settled();
	assert.deepEqual(
		entries.map(({ state }) => state),
		['not final', 'not final', 'dropped', 'refused'],
	);
	node.finalize(first);
	await watch.settled();
	entries[1].failed = 'Token: FundsUnavailable';
	assert.deepEqual(
		[...entries, late].map(({ state }) => state),
		['final', 'failed', 'dropped', 'refused', 'unsent'],
	);
	const found = accounted(ledger.entries, { began, loadEnd: now(), ended: now() });
	assert.deepEqual(
		[found.due, found.sent, found.included, found.final, found.failed, found.dropped, found.refused, found.unsent],
		[5, 4, 2, 2, 1, 1, 1, 1],
	);
	assert.deepEqual(found.refused_reasons, { '1016: Immediately Dropped: the pool is full': 1 });
	assert.deepEqual(found.unsent_reasons, { [OVER]: 1 });
	assert.equal(found.inclusion_ms.count, 2);
	assert.ok(entries[0].sent <= entries[0].seen && entries[0].seen <= entries[0].final);
	const rows = csvOf({ ledger, began }).trim().split('\n');
	assert.equal(rows.length, 6);
	assert.match(rows[4], /^"s",refused,0x[0-9a-f]{64},\d+,.*"1016: Immediately Dropped: the pool is full"$/);
});

test('the nonce of a refused transaction is used by the next one of its account', async () => {
	const { node, members, send } = await stage();
	const [account] = members;
	node.refuse = () => '1016: Immediately Dropped';
	send(account);
	await sleep(5);
	assert.deepEqual([account.next, account.holes], [1, 1]);
	node.refuse = () => null;
	const [again, next] = [send(account), send(account)];
	await sleep(5);
	assert.deepEqual([account.next, account.holes], [2, 0]);
	assert.deepEqual([again.refused, next.refused, node.pool.length], [null, null, 2]);
	// A nonce that somebody has used is no hole.
	node.refuse = () => '1010: Invalid Transaction: Transaction is outdated';
	send(account);
	await sleep(5);
	assert.deepEqual([account.next, account.holes], [3, 0]);
	assert.ok(
		nonceIsUsed('1010: Invalid Transaction: Transaction is outdated') && !nonceIsUsed('1016: Immediately Dropped'),
	);
	assert.equal(reasonOf(new Error('No response received from RPC endpoint in 60s')), 'no answer in time');
	assert.equal(reasonOf(new Error('1013: 0x0123456789abcdef01 known')), '1013: 0x… known');
});

test('what is signed ahead is sent as it is, unless its nonce has moved', async () => {
	const { node, ledger, sender, members } = await stage();
	const [account] = members;
	const call = new Uint8Array([0, 1]);
	const [first, second] = [0, 1].map((nonce) => signOne(PLAIN, account.pair, nonce, call));
	node.refuse = (hex) => (hex === u8aToHex(first.bytes) ? '1016: Immediately Dropped' : null);
	sender.submit({ entry: ledger.add('s', now()), account, call, signed: first });
	await sleep(5);
	const entry = sender.submit({ entry: ledger.add('s', now()), account, call, signed: second });
	await sleep(5);
	assert.notEqual(entry.hash, second.hash, 'it was signed again, with the nonce that is free');
	assert.equal(node.pool.length, 1);
	assert.equal(account.next, 1);
});

test('a load is played when it is due, and a node that does not answer holds nothing up', async () => {
	const { node, ledger, members } = await stage();
	node.rpc = () => {
		node.waiting++;
		return new Promise(() => {});
	};
	const sign = (account, nonce) => ({
		nonce,
		bytes: new Uint8Array([account.index]),
		hash: `${account.index} ${nonce}`,
	});
	const sender = new Sender({ lines: [node], ledger, sign, patience: Infinity });
	const start = now() + 20;
	const plan = Array.from({ length: 1_200 }, (_, index) => ({
		at: index / 20,
		run: () => {
			const entry = ledger.add('s', start + index / 20);
			sender.submit({ entry, account: members[index % 3], call: new Uint8Array([0, 1]) });
		},
	}));
	const stop = sender.keepGoing();
	await sender.play(plan, start);
	assert.ok(now() >= start + plan.at(-1).at, 'nothing is sent before it is due');
	assert.equal(ledger.entries.length, 1_200);
	stop();
	const [sent, unsent] = ['dropped', 'unsent'].map((state) => ledger.entries.filter((entry) => entry.state === state));
	assert.deepEqual([sent.length, unsent.length], [512, 688], 'a connection waits for so many answers');
	assert.ok(unsent.every((entry) => entry.unsent === OVER));
	assert.ok(sent.every(({ due, sent }) => sent >= due));
	// What has waited for longer than patience is given up, and said.
	const impatient = new Sender({ lines: [node], ledger, sign, patience: -1 });
	const late = impatient.submit({ entry: ledger.add('s', now()), account: members[0], call: new Uint8Array() });
	assert.deepEqual([late.state, late.unsent, late.sent], ['unsent', LATE, null]);
});

test('a reorganisation moves transactions, and does not count them twice', async () => {
	const { node, ledger, watch, members, send } = await stage();
	const entries = members.map((account) => send(account));
	await sleep(5);
	const [genesis] = node.headers;
	node.block([node.pool[0]]);
	await watch.settled();
	const seen = entries[0].seen;
	const other = node.block([node.pool[1]], genesis, 1);
	const best = node.block([node.pool[0], node.pool[2]], other);
	await watch.settled();
	assert.equal(entries[0].seen, seen, 'the first time counts');
	assert.deepEqual(
		entries.map(({ block }) => block),
		[1, 1, 2],
	);
	node.finalize(best);
	await watch.settled();
	assert.equal(watch.trouble, null);
	assert.deepEqual(
		watch.finals.map(({ number, ours }) => [number, ours]),
		[
			[1, 1],
			[2, 2],
		],
	);
	const found = accounted(ledger.entries, { began: 0, loadEnd: now(), ended: 1_000 });
	assert.deepEqual([found.final, found.included, found.moved], [3, 3, 1]);
});

test('one who waits hears of blocks, finality and refusals', async () => {
	const { node, watch, members, send } = await stage();
	const entry = send(members[0]);
	await sleep(5);
	const order = [];
	entry.when('final').then(() => order.push('final'));
	entry.when('included').then(() => order.push('included'));
	node.finalize(node.block(node.pool));
	await watch.settled();
	await sleep(1);
	assert.deepEqual(order, ['included', 'final']);
	assert.equal(await entry.when('included'), entry);
	node.refuse = () => '1014: Priority is too low';
	await assert.rejects(send(members[1]).when('included'), /1014: Priority is too low/);
});

test('jobs and tasks are followed by their events', async () => {
	const { node, ledger, watch, members } = await stage();
	const sign = (account, nonce, call) => signOne(PLAIN, account.pair, nonce, call);
	const sender = new Sender({ lines: [node], ledger, sign, patience: 1_000 });
	const operations = new Operations({
		submit: (op, account, call) => sender.submit({ entry: ledger.add(op.stream, now(), op), account, call }),
		lines: [node],
		cutter: null,
		words: [],
	});
	const stream = {
		name: 'jobs',
		kind: 'job',
		until: 'settled',
		members: members.slice(0, 2),
		call: new Uint8Array([7, 0]),
	};
	const streams = new Map([['jobs', stream]]);
	const work = [0, 1, 2].map(() => operations.begin(stream, now()));
	assert.equal((await work[2]).unsent, NO_ACCOUNT, 'two accounts, two jobs at a time');
	await sleep(5);
	node.finalize(node.block(node.pool));
	await watch.settled();
	const [block] = watch.finals;
	const at = (index) => ledger.at(block.hash, index);
	const told = (name, data, index = null) =>
		operations.told([{ index, pallet: 'taskMarket', name, data }], now(), at, streams);
	told('JobPosted', { job: 40 }, 0);
	told('JobPosted', { job: 41 }, 1);
	told('Assigned', { job: 40 });
	told('JobEnded', { job: 40, ending: 'Settled' });
	told('JobEnded', { job: 99, ending: 'Settled' });
	const first = await work[0];
	assert.deepEqual(
		[first.id, first.ending, first.error, Object.keys(first.phases)],
		[40, 'Settled', null, ['posted', 'assigned', 'ended']],
	);
	operations.stop();
	assert.match((await work[1]).error, /had not ended/);
	const found = unitsOf('job', operations.all);
	assert.deepEqual([found.due, found.unsent, found.done, found.failed], [3, 1, 1, 1]);
	assert.deepEqual(found.endings, { Settled: 1 });
	assert.deepEqual([found.phases_ms.posted.count, found.phases_ms.ended.count, found.phases_ms.audited], [2, 1, null]);
	assert.equal(members[0].busy || members[1].busy, false);
});

test('a chunk that comes before its blob is sent again, and found where the pool kept it', async () => {
	const { node, ledger, sender, watch, members } = await stage();
	const cutter = { cut: (length, words) => callsOf(bytesOf(length, ...words), { register: [9, 0], upload: [9, 1] }) };
	const operations = new Operations({
		submit: (op, account, call) => sender.submit({ entry: ledger.add(op.stream, now(), op), account, call }),
		lines: [node],
		cutter,
		words: ['test'],
	});
	const stream = { name: 'files', kind: 'blob', bytes: 10_000, read: false, members: members.slice(0, 1) };
	const work = operations.begin(stream, now());
	while (node.pool.length < 1) await sleep(5);
	// The pool says that it does not know the blob, of each chunk once, and keeps the first all the same.
	const kept = [];
	let said = 0;
	node.refuse = (hex) => {
		if (said++ >= 3) return kept.length === 1 && said === 4 ? '1014: Priority is too low' : null;
		if (kept.length === 0) kept.push(hex);
		return '1010: Invalid Transaction: Custom error: 101';
	};
	node.block(node.pool.splice(0));
	while (said < 6) await sleep(5);
	const last = node.block([...kept, ...node.pool]);
	await watch.settled();
	node.finalize(last);
	const { error, chunks, phases } = await work;
	assert.equal(error, null);
	assert.equal(chunks, 3);
	assert.deepEqual(Object.keys(phases), ['registered', 'stored', 'final']);
	const { refused, included } = accounted(ledger.entries, { began: 0, loadEnd: now(), ended: 1_000 });
	assert.deepEqual(
		[included, refused],
		[4, 3],
		'the blob and its three chunks; two that came early, one that was kept',
	);
});

test('the plots of a run are well-formed', () => {
	const stream = (name, included) => ({
		name,
		transactions: {
			included,
			series: { sent: [1, 2, 0], included: [0, 2, 1], inclusion_ms: [900, null, 1_500] },
			distribution: { inclusion_ms: Array.from({ length: 100 }, (_, at) => at * 10) },
		},
	});
	const report = {
		workload: { name: 'a <test>' },
		all: { series: { sent: [1, 2, 0] } },
		streams: [stream('a & b', 3), stream('none', 0)],
		blocks: [0, 1].map((number) => ({ number, seen_ms: number * 1_000, normal_weight: 0.25, length: 0.5 })),
	};
	const svg = plots(report);
	assert.equal(svg.match(/<svg /g).length, 5, 'four plots in one picture');
	assert.match(svg, /a &amp; b/);
	assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
	assert.equal(plots({ ...report, streams: [stream('none', 0)] }), null);
});

/** Starts a program with a guard that does `work`, kills it by force, and returns what it printed first, as a number. */
async function killed(work) {
	const folder = mkdtempSync(join(tmpdir(), 'trainyard-workload-guard-'));
	const url = (name) => JSON.stringify(new URL(name, import.meta.url).href);
	writeFileSync(
		join(folder, 'parent.mjs'),
		`import { execFileSync } from 'node:child_process';
import { Guard } from ${url('guard.mjs')};
import { Fleet } from ${url('../end-to-end/lib/fleet.mjs')};
const guard = new Guard();
const fleet = new Fleet(${JSON.stringify(join(folder, 'logs'))});
guard.watch(fleet);
${work}
setInterval(() => {}, 1000);
`,
	);
	const child = spawn(process.execPath, [join(folder, 'parent.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
	const pid = Number(await new Promise((resolve) => child.stdout.once('data', resolve)));
	assert.ok(lives(pid));
	child.kill('SIGKILL');
	await once(child, 'exit');
	rmSync(folder, { recursive: true });
	return pid;
}

/** Whether there is a process with this number that has not ended. */
function lives(pid) {
	try {
		return /^State:\s+[^ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
	} catch {
		return false;
	}
}

/** Waits until something holds; the test's own time ends the wait. */
async function until(holds) {
	while (!holds()) await sleep(50);
}

test('a program that is killed leaves no process behind', { timeout: 60_000 }, async () => {
	const pid = await killed("console.log(fleet.start('sleeper', 'sleep', ['300']).pid);");
	await until(() => !lives(pid));
});

const noNamespaces = whyNoNamespaces();
test('and no namespace', { timeout: 60_000, skip: noNamespaces ?? false }, async () => {
	const prefix = `ty${process.pid}g`;
	const spaces = () => execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' });
	// The process in it is one that the guard was not told of, as the program for the links.
	const pid = await killed(`
guard.namespaces('${prefix}');
execFileSync('ip', ['netns', 'add', '${prefix}-1']);
execFileSync('ip', ['netns', 'add', '${prefix}x']);
import('node:child_process').then(({ spawn }) => {
	console.log(spawn('ip', ['netns', 'exec', '${prefix}-1', 'sleep', '300'], { stdio: 'ignore' }).pid);
});`);
	await until(() => !lives(pid) && !spaces().includes(`${prefix}-1`));
	assert.ok(spaces().includes(`${prefix}x`), 'those of others stay');
	execFileSync('ip', ['netns', 'del', `${prefix}x`]);
});

test('the command says what it would send, and refuses what is wrong', () => {
	const main = fileURLToPath(new URL('main.mjs', import.meta.url));
	const run = (...args) => execFileSync(process.execPath, [main, ...args], { encoding: 'utf8', stdio: 'pipe' });
	assert.match(run(example('transfers'), '--check'), /transfers: 60 s, seed 1, 600 accounts\n.*6000 due/);
	assert.throws(
		() => run(example('nothing')),
		({ status, stderr }) => status === 2 && /^error: cannot read the workload/.test(stderr),
	);
});
