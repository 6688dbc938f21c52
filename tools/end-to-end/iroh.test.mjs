// Trainers without an open port: jobs whose trainers serve over iroh alone, which are audited and settled.
// No trainer listens at a TCP port; of the second job the trainer is reached through a relay alone, which is
// killed and started again while it trains.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { events } from './lib/events.mjs';
import { ADDRESS, DIGITS, Network, trainyard } from './lib/network.mjs';
import { anyPort, serveFiles } from './lib/net.mjs';

const { jobFromFlags, keyFromSuri, money, postJob, send } = trainyard;

const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
/** In blocks of a second. */
const PERIODS = { Reveal: 60, VerdictCommit: 60, VerdictReveal: 30, Rescue: 40, Review: 10 };

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'iroh') : mkdtempSync(join(tmpdir(), 'trainyard-iroh-'));
let network, api, data, relayPort, relay;
const trainers = {};

const startRelay = async (name) => {
	relay = network.fleet.start(name, network.workerBinary, ['relay', '--listen', `127.0.0.1:${relayPort}`]);
	await relay.says(/the relay listens at/);
};

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		data = await serveFiles([DIGITS]);
		relayPort = await anyPort();
		await startRelay('relay-1');
		const periods = Object.entries(PERIODS).map(([name, blocks]) =>
			api.tx.parameters.setParameter({ Periods: { [name]: [null, blocks] } }),
		);
		await send(api, api.tx.sudo.sudo(api.tx.utility.batchAll(periods)), await keyFromSuri('//Alice'));
		for (const verifier of VERIFIERS) network.startWorker('verifier', verifier, ['--bond', '450']);
		const direct = ['--iroh', '--iroh-listen', '127.0.0.1:0'];
		const relayed = ['--iroh', '--iroh-relay', `http://127.0.0.1:${relayPort}`];
		trainers.Alice = network.startWorker('trainer', '//Alice', direct);
		trainers.Bob = network.startWorker('trainer', '//Bob', ['--bond', '200', ...relayed]);
		await network.verifiersReady(VERIFIERS);
		await network.trainersReady(['//Alice', '//Bob']);
		for (const name of ['//Alice', '//Bob']) {
			const offer = ['offer', '--price', '1000', '--suri', name, '--node', network.url];
			assert.equal((await network.worker(`offer${name.replace(/\W/g, '-')}`, offer)).status, 0);
		}
	},
	{ timeout: 240_000 },
);

after(
	async () => {
		await network?.stop();
		await data?.close();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

/** The TCP ports at which a process listens. */
function listening(pid) {
	const inodes = new Set();
	for (const fd of readdirSync(`/proc/${pid}/fd`)) {
		try {
			const match = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`));
			if (match) inodes.add(match[1]);
		} catch {
			// It was closed meanwhile.
		}
	}
	const ports = [];
	for (const table of ['tcp', 'tcp6']) {
		const lines = readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1);
		for (const line of lines) {
			const fields = line.trim().split(/\s+/);
			const [local, state, inode] = [fields[1], fields[3], fields[9]];
			if (state === '0A' && inodes.has(inode)) ports.push(parseInt(local.split(':').pop(), 16));
		}
	}
	return ports;
}

/** Orders a job from a trainer, and follows it to its end. */
async function jobOf(name, whileItRuns = async () => {}) {
	const job = await jobFromFlags({ data: DIGITS, location: data.url('digits.csv') });
	const { id } = await postJob(api, await keyFromSuri('//Ferdie'), job, ADDRESS[`//${name}`]);
	const running = whileItRuns(id);
	const ended = await network.ended(id, 300);
	await running;
	assert.deepEqual(trainyard.conservation(ended), []);
	assert.equal(trainyard.ending(ended), 'settled');
	assert.deepEqual(
		ended.replicas.map(({ trainer, fate }) => [trainer, fate]),
		[[ADDRESS[`//${name}`], 'accepted']],
	);
	assert.equal(money(ended).slashed, 0n);
	const verdicts = VERIFIERS.flatMap((verifier) =>
		events(join(folder, `verifier-${verifier.replace(/\W/g, '').toLowerCase()}`), { job: id }),
	);
	assert.ok(verdicts.length > 0, 'verifiers were at it');
	assert.deepEqual(
		verdicts.filter(({ event }) => ['unavailable', 'asked'].includes(event)),
		[],
		'nothing had to be asked for on chain',
	);
	const location = Buffer.from(ended.replicas[0].reveal.location.replace(/^0x/, ''), 'hex').toString();
	return ended.replicas[0].reveal.location.startsWith('0x') ? location : ended.replicas[0].reveal.location;
}

test('a trainer that is reached directly, without HTTP', { timeout: 400_000 }, async (t) => {
	const location = await jobOf('Alice');
	t.diagnostic(location);
	assert.match(location, /^iroh:\/\/[0-9a-f]{64},ip=127\.0\.0\.1:\d+$/);
	assert.deepEqual(listening(trainers.Alice.pid), []);
});

test('a trainer that is reached through a relay, which dies', { timeout: 400_000 }, async (t) => {
	const location = await jobOf('Bob', async () => {
		await relay.kill();
		await startRelay('relay-2');
	});
	t.diagnostic(location);
	assert.match(location, new RegExp(`^iroh://[0-9a-f]{64},plain-relay=127\\.0\\.0\\.1:${relayPort}$`));
	assert.deepEqual(listening(trainers.Bob.pid), []);
});
