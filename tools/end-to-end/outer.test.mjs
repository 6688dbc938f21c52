// A swarm of outer steps with the real node and real programs: four peers move one model together, one of them is
// killed, all of them are begun again at once, one comes late without data, one runs out of disk, and one whose
// clock is an hour off goes on with all. Somebody who trains nothing says that it did. What the model is better by
// is claimed, and all that contributed are paid.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { clockOff, whyNoClock } from './lib/clock.mjs';
import { anyPort } from './lib/net.mjs';
import { ADDRESS, DIGITS, Network, ROOT, trainyard, until } from './lib/network.mjs';

const { keyFromSuri, send } = trainyard;

const UNIT = 10n ** 12n;
const OPENER = '//Ferdie';
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
const PEERS = [1, 2, 3, 4].map((n) => `//Ferdie//outer${n}`);
const [LATE, IDLE] = ['//Ferdie//late', '//Ferdie//idle'];
const [SLICE, OWN] = [240, 180];

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'outer') : mkdtempSync(join(tmpdir(), 'trainyard-outer-'));
let network, api;
/** The last process of each peer, and how often it was begun. */
const peers = new Map();

const dir = (suri) => join(folder, suri.replaceAll('/', ''));
const check = () => network.fleet.check();

/** The events that a process printed. */
const told = (process, wanted) =>
	process
		.log()
		.split('\n')
		.filter((line) => line.startsWith('{'))
		.map((line) => JSON.parse(line))
		.filter(({ event }) => event === wanted);

const swarm = (name, args, suri, env = {}) =>
	network.fleet.start(
		name,
		network.workerBinary,
		[...['swarm', ...args, '--node', network.url, '--suri', suri, '--json']],
		{ env },
	);

const must = (name, args, suri) =>
	network.fleet.must(name, network.workerBinary, ['swarm', ...args, '--node', network.url, '--suri', suri], {
		seconds: 300,
	});

/** Starts a peer; `data` are its rows. */
async function run(suri, data, { more = [], env } = {}) {
	const count = (peers.get(suri)?.count ?? 0) + 1;
	const name = `${suri.replaceAll('/', '')}-${count}`;
	// Whoever begins again does so by the same command, at the same address.
	const listen = peers.get(suri)?.listen ?? `127.0.0.1:${await anyPort()}`;
	const own = data ? ['--data', data] : [];
	const args = ['run', '0', '--dir', dir(suri), ...own, '--iroh-listen', listen, '--replay', '0.5', ...more];
	const process = swarm(name, args, suri, env);
	peers.set(suri, { process, count, listen });
	return process;
}

async function show() {
	const { stdout } = await network.fleet.must('show', network.workerBinary, [
		...['swarm', 'show', '0', '--node', network.url, '--json'],
	]);
	const { swarm, peers } = JSON.parse(stdout);
	return { ...swarm, peers };
}

/** Contributions to the steps on record, by step. */
async function contributions() {
	const all = new Map();
	for (const [key, value] of await api.query.swarm.contributions.entries(0)) {
		all.set(key.args[1].toNumber(), value.toJSON());
	}
	return all;
}

const seen = [];

/** What happened of some kind on chain. Blocks are asked for once. */
async function happened(name) {
	const head = (await api.rpc.chain.getHeader()).number.toNumber();
	for (let height = seen.length + 1; height <= head; height += 1) {
		const at = await api.at(await api.rpc.chain.getBlockHash(height));
		const events = (await at.query.system.events()).map(({ event }) => event);
		seen.push(events.filter(({ section }) => section === 'swarm'));
	}
	const all = seen.flat().filter(({ method }) => method === name);
	return all.map(({ data }) => data.toJSON());
}

const bits = (counted) => [...BigInt(counted).toString(2)].filter((bit) => bit === '1').length;

/** Waits until a step is counted to which so many contributed whose contributions count. */
const counts = (what, least, after = -1, seconds = 480) =>
	until(
		what,
		seconds,
		async () => {
			const all = await happened('Stepped');
			return all.find(([, step, , counted]) => step > after && bits(counted) >= least);
		},
		check,
	);

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		mkdirSync(folder, { recursive: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		const gifts = [];
		for (const suri of [...PEERS, LATE, IDLE]) {
			const { address } = await keyFromSuri(suri);
			ADDRESS[suri] = address;
			gifts.push(api.tx.balances.transferKeepAlive(address, 1_000n * UNIT));
		}
		await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri(OPENER));
		// A swarm is opened where its counts could be measured.
		for (const suri of VERIFIERS) network.startWorker('verifier', suri, ['--bond', '500']);
		await network.verifiersReady(VERIFIERS);
	},
	{ timeout: 180_000 },
);

after(
	async () => {
		await network?.stop();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

describe('outer steps', { timeout: 2_400_000 }, () => {
	const own = [];

	test('a swarm of outer steps is opened', async () => {
		const [header, ...lines] = readFileSync(DIGITS, 'utf8').trim().split('\n');
		const take = (name, count) => {
			const path = join(folder, name);
			writeFileSync(path, `${[header, ...lines.splice(0, count)].join('\n')}\n`);
			return path;
		};
		const slices = [0, 1].map((n) => take(`slice-${n}.csv`, SLICE));
		const more = take('slice-more.csv', SLICE);
		own.push(...PEERS.map((_, n) => take(`own-${n}.csv`, OWN)));
		const job = readFileSync(join(ROOT, 'ml-worker/examples/digits.toml'), 'utf8')
			.replace('data/digits.csv', DIGITS)
			.replace('validation_every = 5', 'validation_every = 2')
			.replace(/steps = \d+/, 'steps = 50')
			.replace('# input_noise = 0.001 ', 'input_noise = 0.001 ')
			.replace(/audit_fee = .*/, '')
			.replace(/audit_segments = .*/, 'audit_segments = 1')
			.replace(/apply_blocks = \d+/, 'apply_blocks = 6')
			.replace(/training_blocks = \d+/, 'training_blocks = 60');
		writeFileSync(join(folder, 'job.toml'), job);
		const text = (payer) => `job = "job.toml"
slices = ${JSON.stringify(slices)}
payer = "${payer}"
private = false
budget = "${payer === 'budget' ? 100 : 0}"
claim_fee = "0.1"
slice_deposit = "20"
blocks = 4000
ticket_blocks = 400
max_peers = 16
stages = { collect = 8, show = 30, count = 40, challenge = 25 }
[reward]
curve = { linear = { factor = "20" } }
floor = 0.05
stake = "10"
[outer]
picks = 256
bits = 4
momentum = 0.3
inner = 20
train = 8
vouch = 8
`;
		writeFileSync(join(folder, 'wrong.toml'), text('peers'));
		const wrong = await network.fleet.run('wrong', network.workerBinary, [
			...['swarm', 'open', join(folder, 'wrong.toml'), '--node', network.url, '--suri', OPENER],
		]);
		assert.equal(wrong.status, 2);
		assert.match(wrong.stderr, /\[outer\] goes with payer = "budget"/);
		writeFileSync(join(folder, 'outer.toml'), text('budget'));
		await must('open', ['open', join(folder, 'outer.toml'), '--dir', join(folder, 'opened')], OPENER);
		await must('add', ['add-slices', '0', more, '--dir', join(folder, 'opened')], OPENER);
		await must('add-again', ['add-slices', '0', more, '--dir', join(folder, 'opened')], OPENER);
		swarm('watch', ['watch', '0', '--dir', join(folder, 'opened')], OPENER);
		const view = await show();
		assert.equal(view.plan.averaging.outer.inner, 20);
		assert.equal(view.slices.length, 3);
		const { stdout } = await network.fleet.must('show-text', network.workerBinary, [
			...['swarm', 'show', '0', '--node', network.url],
		]);
		assert.match(stdout, /takes an outer step each 16 blocks/);
	});

	test('four peers move one model together, and what was computed again is right', async () => {
		for (const [n, suri] of PEERS.entries()) await run(suri, own[n]);
		const [, step] = await counts('all four count', 4);
		await counts('and again', 4, step);
		const all = (await contributions()).get(step);
		assert.equal(new Set(all.map(({ brought }) => brought.model)).size, 1, 'all begin with the same bits');
		assert.equal(new Set(all.map(({ brought }) => brought.sealed)).size, 4);
		await until(
			'somebody computed a contribution again',
			480,
			() => PEERS.some((suri) => told(peers.get(suri).process, 'replayed').length > 0),
			check,
		);
		for (const suri of PEERS) {
			const all = told(peers.get(suri).process, 'replayed');
			assert.ok(
				all.every(({ right }) => right),
				JSON.stringify(all),
			);
		}
	});

	test('one that is killed, and all that are begun again at once, go on with the same model', async () => {
		await peers.get(PEERS[1]).process.kill();
		await run(PEERS[1], own[1]);
		const [, step] = await counts('all count again', 4, (await happened('Stepped')).at(-1)[1] + 1);
		await Promise.all(PEERS.map((suri) => peers.get(suri).process.kill()));
		for (const [n, suri] of PEERS.entries()) await run(suri, own[n]);
		const [, later] = await counts('all count once more', 4, step + 1);
		const all = (await contributions()).get(later);
		assert.equal(new Set(all.map(({ brought }) => brought.model)).size, 1);
		for (const suri of PEERS) {
			assert.equal(told(peers.get(suri).process, 'joined').length, 0, 'they are peers already');
			assert.equal(told(peers.get(suri).process, 'began').length, 0, 'they have the model');
		}
	});

	test('one comes late without data, and one that trained nothing counts with nobody', async () => {
		const late = await run(LATE, null);
		await must('idle-joins', ['join', '0', '--dir', dir(IDLE), '--roles', 'train'], IDLE);
		const key = await keyFromSuri(IDLE);
		// It sees with what model others begin, and says that it trained from it.
		const [at, idle] = await until(
			'the idle one contributes',
			480,
			async () => {
				const steps = await contributions();
				const step = Math.max(...steps.keys());
				const other = steps.get(step)[0];
				const root = `0x${'5a'.repeat(32)}`;
				const brought = { ...other.brought, sealed: root, kept: root };
				try {
					await send(api, api.tx.swarm.contribute(0, step, brought), key);
					return [step, brought];
				} catch {
					// The time of the step was over.
					return false;
				}
			},
			check,
		);
		assert.ok(idle);
		const stepped = await until(
			'that step is counted',
			480,
			async () => (await happened('Stepped')).find(([, step]) => step === at),
			check,
		);
		const all = (await contributions()).get(at);
		const place = all.findIndex(({ peer }) => peer === ADDRESS[IDLE]);
		assert.equal((BigInt(stepped[3]) >> BigInt(place)) & 1n, 0n, 'nobody vouches for it');
		assert.ok(bits(stepped[3]) >= 3, JSON.stringify(stepped));
		await until('the late one contributes', 480, () => told(late, 'contributed').length > 0, check);
		assert.ok(told(late, 'began').length > 0);
		const [, step] = await counts('five count', 5, at);
		const models = (await contributions()).get(step).map(({ brought }) => brought.model);
		assert.equal(new Set(models).size, 1);
	});

	const small = ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()];
	const noDisk = spawnSync('unshare', small).status === 0 ? false : 'no file system of its own can be mounted here';
	test('a disk that is full ends a peer with a clear error, and with room it goes on', { skip: noDisk }, async () => {
		const suri = PEERS[3];
		await peers.get(suri).process.kill();
		// The folder of the peer becomes a small file system of its own, in a namespace that ends with the process.
		const script = join(folder, 'full.sh');
		const { listen } = peers.get(suri);
		const args = ['swarm', 'run', '0', '--dir', '"$2"', '--data', own[3], '--iroh-listen', listen];
		const command = `"$1" ${args.join(' ')} --node ${network.url} --suri ${suri} --json`;
		writeFileSync(
			script,
			`set -eu
mkdir -p "$2.small"
mount -t tmpfs -o size=4m tmpfs "$2.small"
cp -a "$2/." "$2.small/"
mount --bind "$2.small" "$2"
used=$(df --output=used -k "$2" | tail -1)
mount -o remount,size=$((used + 8))k "$2.small"
if ${command}; then echo 'it did not fail'; exit 3; fi
echo 'the disk was full'
mount -o remount,size=64m "$2.small"
exec ${command}
`,
		);
		const full = network.fleet.start('full', 'unshare', [
			...['--user', '--map-root-user', '--mount', 'bash', script, network.workerBinary, dir(suri)],
		]);
		await until('the disk is full', 480, () => full.log().includes('the disk was full'), check);
		assert.match(full.log(), /No space left on device/);
		await until('it goes on', 480, () => told(full, 'contributed').length > 0, check);
		// What it wrote since is in its own file system.
		peers.set(suri, { ...peers.get(suri), process: full });
	});

	test('one whose clock is an hour off goes on with all', { skip: whyNoClock() ?? false }, async () => {
		const suri = PEERS[2];
		await peers.get(suri).process.kill();
		const off = await run(suri, own[2], { env: clockOff('+3600s') });
		await until('it contributes', 480, () => told(off, 'contributed').length > 0, check);
		const [{ time }] = told(off, 'contributed');
		assert.ok(time > Date.now() + 3_000_000, 'its clock is an hour fast');
		const last = told(off, 'contributed').at(-1).step;
		const [, step] = await counts('it counts', 4, last - 1);
		assert.ok((await contributions()).get(step).some(({ peer }) => peer === ADDRESS[suri]));
	});

	test('what the model is better by is claimed, and all that contributed are paid', async () => {
		const before = await show();
		await must('claim', ['claim', '0', '--dir', dir(PEERS[0])], PEERS[0]);
		await until('the round ends', 300, async () => (await show()).round > before.round, check);
		const [gained] = await happened('Gained');
		const [, amount, shares] = (await happened('Shared'))[0];
		assert.ok(gained && BigInt(amount) > 0n && Number(shares) > 0);
		const view = await show();
		const owed = (suri) => BigInt(view.peers.find(({ account }) => account === ADDRESS[suri]).owed);
		assert.ok(PEERS.every((suri) => owed(suri) > 0n));
		assert.equal(owed(IDLE), 0n);
		const { stdout } = await must('collect', ['collect', '0'], PEERS[1]);
		assert.match(stdout, /was paid [0-9.]+ TRY for outer steps/);
		const again = await must('collect-again', ['collect', '0'], PEERS[1]);
		assert.match(again.stdout, /nothing is owed/);
		const paid = (await happened('Collected')).at(-1);
		assert.deepEqual([paid[1], BigInt(paid[2])], [ADDRESS[PEERS[1]], owed(PEERS[1])]);
	});
});
