// Deterministic tasks with the real node and real workers, from posting to payment: steps posted by the command line,
// a map by polkadot.js. In each a replica cheats, and is convicted: of steps by a dispute that ends with a step that
// the chain executes, of a map by a record. A verifier audits. At last nobody but a cheat computes, and bets on its
// claim; somebody who looks convicts it, and who took the bet is paid.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ADDRESS, Network, ROOT, trainyard, until } from './lib/network.mjs';
import { anyPort } from './lib/net.mjs';

const UNIT = 10n ** 12n;
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
const [HONEST, CHEAT, SUBMITTER] = ['//Alice', '//Bob', '//Ferdie'];
/** Who bets, and is a verifier as well. */
const TAKER = '//Eve';
const REWARD = 20n * UNIT;
/** The step, and the index, whose result is made up. */
const MADE_UP = 70;
const STEPS = 200;
const POINTS = 256;

const example = (name) => join(ROOT, 'ml-worker/examples/tasks', name);
const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'tasks') : mkdtempSync(join(tmpdir(), 'trainyard-tasks-'));
let network, api, honest;

/** The task as `trainyard task show` prints it. */
async function shown(id) {
	const args = ['task', 'show', String(id), '--node', network.url, '--json'];
	const { stdout } = await network.fleet.must('show', network.workerBinary, args);
	return JSON.parse(stdout);
}

/** Events of a worker about a task; none where it has not begun to write them. */
function told(worker, id, wanted) {
	const log = join(folder, worker, 'events.jsonl');
	const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
	return lines.map((line) => JSON.parse(line)).filter(({ event, task }) => event === wanted && task === id);
}

/** All that an account owns, free or held. */
async function owned(suri) {
	const { data } = await api.query.system.account(ADDRESS[suri]);
	return data.free.toBigInt() + data.reserved.toBigInt();
}

/** Starts a worker for tasks as `suri`. */
const startTaskWorker = (suri, flags = []) => {
	const name = `tasks-${suri.slice(2).toLowerCase()}`;
	const args = ['task', 'work', '--node', network.url, '--suri', suri, '--dir', join(folder, name)];
	return network.fleet.start(name, 'nice', ['-n', '10', network.workerBinary, ...args, ...flags]);
};

/** What the parameters of an epidemic are, as sweep.c reads them. */
function sweepInput() {
	const bytes = Buffer.alloc(6 * 8 + 2 * 4);
	[0.1, 0.05, 0.02, 0.03, 0.001, 0.25].forEach((number, at) => bytes.writeDoubleLE(number, at * 8));
	[16, 800].forEach((number, at) => bytes.writeUInt32LE(number, 48 + at * 4));
	return bytes;
}

/** Runs a task on this machine, and returns its result. */
async function computedHere(name, args) {
	const out = join(folder, name);
	await network.fleet.must(name, network.workerBinary, ['task', 'run', ...args, '--out', out]);
	return readFileSync(out);
}

const verify = (id) => network.worker('verify', ['task', 'verify', String(id), '--node', network.url]);

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		for (const suri of VERIFIERS) network.startWorker('verifier', suri, ['--bond', '500']);
		await network.verifiersReady(VERIFIERS);
		honest = startTaskWorker(HONEST);
		startTaskWorker(CHEAT, ['--test-only-cheat', String(MADE_UP)]);
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

describe('deterministic tasks', { timeout: 1_200_000 }, () => {
	const pi = [example('pi.wasm'), '--input-hex', '0700000000000000', '--steps', String(STEPS)];
	/** The periods: time for machines that do something else, too. */
	const periods = ['--apply-blocks', '12', '--compute-blocks', '90'];

	test('what the chain would refuse is said before anything is paid', async () => {
		const before = await owned(SUBMITTER);
		const wrong = await network.worker('wrong', [
			...['task', 'submit', ...pi, '--reward', '20', '--deposit', '1', '--yes'],
			...['--node', network.url, '--suri', SUBMITTER],
		]);
		assert.equal(wrong.status, 2, wrong.stderr);
		assert.match(wrong.stderr, /the deposit is too small/);
		assert.equal(await owned(SUBMITTER), before);
	});

	test('steps, by the command line: the chain executes the step that is false, and an auditor is paid', async () => {
		const money = Object.fromEntries(await Promise.all([HONEST, CHEAT].map(async (suri) => [suri, await owned(suri)])));
		const out = join(folder, 'pi.state');
		const submitter = network.fleet.start('submitter', network.workerBinary, [
			...['task', 'submit', ...pi, '--reward', '20', '--replicas', '2', '--audit', '1', ...periods],
			...['--yes', '--json', '--node', network.url, '--suri', SUBMITTER, '--out', out],
		]);
		submitter.expected = true;
		await until(
			'the honest replica has committed',
			200,
			() => told('tasks-alice', 0, 'task_committed').length === 1,
			() => network.fleet.check(),
		);
		await honest.kill();
		honest = startTaskWorker(HONEST);
		await until(
			'the task ends',
			600,
			() => !submitter.alive,
			() => network.fleet.check(),
		);
		assert.equal(submitter.code, 0, submitter.obituary());
		const view = await shown(0);
		assert.equal(view.phase, 'accepted');
		const names = VERIFIERS.map((suri) => `verifier-${suri.slice(2).toLowerCase()}`);
		const audits = names.flatMap((name) => told(name, 0, 'task_revealed'));
		assert.equal(audits.length, 1, 'a verifier computed it again');
		const claimOf = (suri) => view.replicas.find(({ account }) => account === ADDRESS[suri]).claim;
		assert.equal(view.claims[claimOf(CHEAT)].convicted, true);
		assert.equal(view.claims[claimOf(HONEST)].convicted, false);
		assert.equal(audits[0].root, view.claims[claimOf(HONEST)].root, 'the auditor came to the same');
		const executed = [
			...told('tasks-alice', 0, 'task_executed'),
			// The cheat has the state before its step as well.
			...told('tasks-bob', 0, 'task_executed'),
			...names.flatMap((name) => told(name, 0, 'task_executed')),
		];
		assert.ok(executed.length > 0 && executed.every(({ step }) => step === MADE_UP + 1), JSON.stringify(executed));
		assert.deepEqual(readFileSync(out), await computedHere('pi.here', pi));
		const gained = (await owned(HONEST)) - money[HONEST];
		assert.ok(gained > REWARD, `the reward, and a part of the deposit: ${gained}`);
		assert.ok(money[CHEAT] - (await owned(CHEAT)) >= 100n * UNIT, 'the deposit of the cheat');
		const verified = await verify(0);
		assert.equal(verified.status, 0, verified.stderr);
		assert.match(verified.stdout, /FALSE, out/);
	});

	test('a map, by polkadot.js: a record that is false convicts', async () => {
		const input = join(folder, 'sweep.input');
		writeFileSync(input, sweepInput());
		const out = join(folder, 'sweep.records');
		const { stdout } = await network.script(
			'polkadot-js',
			'task',
			[
				...['--module', example('sweep.wasm'), '--input', input, '--map', String(POINTS), '--record', '32'],
				...['--reward', '20', '--suri', SUBMITTER, '--watch', '--out', out],
			],
			{ timeout: 600_000 },
		);
		assert.match(stdout, /task 1: ended \(accepted\)/);
		const view = await shown(1);
		const claimOf = (suri) => view.replicas.find(({ account }) => account === ADDRESS[suri]).claim;
		assert.equal(view.claims[claimOf(CHEAT)].convicted, true);
		assert.equal(view.claims[claimOf(HONEST)].convicted, false);
		const here = ['--input', input, '--map', String(POINTS), '--record', '32'];
		assert.deepEqual(readFileSync(out), await computedHere('sweep.here', [example('sweep.wasm'), ...here]));
		assert.equal((await verify(1)).status, 0);
	});

	test('where nobody but a cheat computes, whoever looks convicts it', async () => {
		await honest.kill();
		const submit = await network.fleet.must('posted', network.workerBinary, [
			...['task', 'submit', ...pi, '--reward', '1', '--replicas', '1', '--audit', '0.01', ...periods],
			...['--yes', '--json', '--no-follow', '--node', network.url, '--suri', SUBMITTER],
		]);
		const { task } = JSON.parse(submit.stdout.split('\n').find((line) => line.includes('"posted"')));
		await until(
			'the cheat has applied',
			120,
			async () => (await shown(task)).applicants.length > 0,
			() => network.fleet.check(),
		);
		// Who looks stakes against what the cheat offers on its claim, before it challenges.
		await until(
			'claims can be challenged',
			300,
			async () => (await shown(task)).phase === 'challenging',
			() => network.fleet.check(),
		);
		const bet = (name, args, suri) =>
			network.fleet.must(name, network.workerBinary, ['bet', ...args, '--node', network.url, '--suri', suri]);
		const offered = ['offer', '--task', String(task), '--side', 'right', '--odds', '10:1', '--stake', '20'];
		assert.match((await bet('offer', offered, CHEAT)).stdout, /offer 0/);
		await bet('take', ['take', '0', '--side', 'wrong', '--stake', '2'], TAKER);
		const staked = await owned(TAKER);
		honest = startTaskWorker(HONEST, ['--no-apply', '--check']);
		const view = await until(
			'the task ends',
			600,
			async () => {
				const view = await shown(task);
				return !['open', 'drawing', 'computing', 'sampling', 'auditing', 'revealing', 'challenging'].includes(
					view.phase,
				)
					? view
					: false;
			},
			() => network.fleet.check(),
		);
		assert.equal(view.phase, 'refuted');
		assert.equal(view.claims[0].convicted, true);
		assert.equal(told('tasks-alice', task, 'task_challenged').length, 1);
		await bet('settle', ['settle', '0'], SUBMITTER);
		const won = (await owned(TAKER)) - staked;
		assert.ok(won > 19n * UNIT && won <= 20n * UNIT, `what the cheat staked, less fees: ${won}`);
		const followed = await network.worker('follow', ['task', 'follow', String(task), '--node', network.url]);
		assert.equal(followed.status, 1, followed.stderr);
	});
});
