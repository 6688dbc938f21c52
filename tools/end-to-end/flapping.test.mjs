// One account trains, drills and verifies at the same time, by three daemons that share its nonce,
// and their connection to the node is cut every few seconds. Jobs and units must go on all the same:
// nothing stays on hold that is due, no transaction waits for a nonce that nobody sends, and no
// honest account loses a deposit.
//
// TRAINYARD_FLAPPING_SECONDS says how long; an hour is a good night's work.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ADDRESS, DIGITS, Network, trainyard, until } from './lib/network.mjs';
import { anyPort, flappingProxy, serveFiles } from './lib/net.mjs';

const { jobFromFlags, keyFromSuri, postJob, send } = trainyard;

const UNIT = 10n ** 12n;
const SECONDS = Number(process.env.TRAINYARD_FLAPPING_SECONDS ?? 60);
/** Who does everything at once. */
const BUSY = '//Bob';
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
/** Accounts that check nothing: a unit is recomputed by three verifiers that did not compute it. */
const DRILLERS = ['//Ferdie//one', '//Ferdie//two'];
/** Drillers of projects alone: laps are computed at any time, so no cut of a line costs them anything. */
const UNITS = ['--projects', '--no-stints', '--threads', '1'];
/** In blocks of a second: several times as long as a connection is cut. */
const PERIODS = { Reveal: 60, VerdictCommit: 60, VerdictReveal: 30, Rescue: 40, Review: 10 };
/** Milliseconds for which a connection lasts, and for which nobody is let in afterwards. */
const LASTS = [2_000, 9_000];
const PAUSES = [0, 4_000];

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'flapping') : mkdtempSync(join(tmpdir(), 'trainyard-flapping-'));
let network, api, data, proxy;

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		data = await serveFiles([DIGITS]);
		proxy = await flappingProxy(network.rpcPort, { lasts: LASTS, pauses: PAUSES });
		const periods = Object.entries(PERIODS).map(([name, blocks]) =>
			api.tx.parameters.setParameter({ Periods: { [name]: [null, blocks] } }),
		);
		await send(api, api.tx.sudo.sudo(api.tx.utility.batchAll(periods)), await keyFromSuri('//Alice'));
		const gifts = [];
		for (const driller of DRILLERS) {
			const { address } = await keyFromSuri(driller);
			gifts.push(api.tx.balances.transferKeepAlive(address, 1_000n * UNIT));
		}
		await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri('//Ferdie'));
		for (const verifier of VERIFIERS) network.startWorker('verifier', verifier, ['--bond', '450']);
		for (const driller of DRILLERS) network.startWorker('driller', driller, ['--bond', '100', ...UNITS]);
		const busy = (role, flags) => network.startWorker(role, BUSY, ['--node', proxy.url, ...flags]);
		busy('trainer', ['--bond', '200', '--min-price', '500', '--max-parallel', '4']);
		busy('driller', ['--bond', '200', ...UNITS]);
		busy('verifier', ['--bond', '150']);
		await network.verifiersReady([...VERIFIERS, BUSY]);
	},
	{ timeout: 240_000 },
);

after(
	async () => {
		await network?.stop();
		await proxy?.close();
		await data?.close();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

test(
	'an account that trains, drills and verifies over a bad line',
	{ timeout: SECONDS * 1_000 + 600_000 },
	async (t) => {
		const ferdie = await keyFromSuri('//Ferdie');
		const units = Math.max(6, Math.ceil(SECONDS / 10));
		const text = `title = "Calibration"\nunits = ${units}\nreplicas = 2\ncommit_blocks = 40\n[calibration]\npasses = 20\n`;
		const file = join(folder, 'calibration.toml');
		writeFileSync(file, text);
		const project = (...args) => network.worker('project', ['project', ...args, '--node', network.url]);
		assert.equal((await project('propose', file, '--suri', '//Ferdie')).status, 0);
		assert.equal((await project('vote', '0', '--aye', '--suri', '//Alice')).status, 0);

		// A job begins as soon as the one before it trains.
		const job = await jobFromFlags({ data: DIGITS, location: data.url('digits.csv') });
		const jobs = [];
		const end = Date.now() + SECONDS * 1_000;
		do {
			const { id } = await postJob(api, ferdie, job);
			jobs.push(id);
			await until(`job ${id} trains or is over`, 120, async () =>
				['training', 'revealing', 'auditing', 'ended'].includes(stateOf(await network.job(id))),
			);
		} while (Date.now() < end);
		const missed = [];
		for (const id of jobs) {
			const ended = await network.ended(id, 300);
			assert.deepEqual(trainyard.conservation(ended), []);
			const ending = trainyard.ending(ended);
			if (ending === 'no_applicants') {
				// The line was down for the whole time for applications: the job costs its place on the market.
				const { escrowed, refunded, burned } = trainyard.money(ended);
				assert.equal(refunded + burned, escrowed, `job ${id}`);
				missed.push(id);
				continue;
			}
			assert.equal(ending, 'settled', `job ${id}`);
			assert.deepEqual(
				ended.replicas.map(({ trainer, fate }) => [trainer, fate]),
				[[ADDRESS[BUSY], 'accepted']],
			);
		}
		assert.ok(missed.length <= Math.max(1, jobs.length / 20), `jobs ${missed} of ${jobs.length} were missed`);
		await until('every unit is agreed', 240, async () => {
			const { stdout } = await project('show', '0', '--json');
			const { project: shown } = JSON.parse(stdout);
			return shown.agreed + shown.abandoned === units && shown;
		});
		t.diagnostic(`${jobs.length} jobs, ${missed.length} missed, and ${units} units over ${proxy.cuts()} cuts`);
		assert.ok(proxy.cuts() > 3, 'the line was cut');

		// Nothing waits for a nonce that nobody sends, and nothing stays on hold but bonds, models, and the
		// fifth of each deposit that late proof can take.
		await until('no transaction waits', 60, async () => (await api.rpc.author.pendingExtrinsics()).length === 0);
		const next = await api.rpc.system.accountNextIndex(ADDRESS[BUSY]);
		const { nonce } = await api.query.system.account(ADDRESS[BUSY]);
		assert.equal(next.toNumber(), nonce.toNumber());
		const holds = await api.query.balances.holds(ADDRESS[BUSY]);
		assert.deepEqual(holds.map(({ id }) => id.type).sort(), ['Hashrate', 'ModelStorage', 'TaskMarket', 'Verification']);
		const { bond } = (await api.call.trainyardApi.trainer(ADDRESS[BUSY])).unwrap();
		assert.equal(bond.toBigInt(), 200n * UNIT, 'no bond was slashed');
	},
);

/** The state of a job as a word. */
const stateOf = (job) => (typeof job?.state === 'string' ? job.state : 'ended');
