// One daemon for a machine's owner, with the real node and the real worker: four machines play all roles with one key
// each. One of them trains a job, the three others audit it, and all drill in between and check each other's laps. The
// one that trains is killed in the middle of it and goes on; its books are the balance of its account to the last unit.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { events } from './lib/events.mjs';
import { ADDRESS, DIGITS, Network, trainyard, until } from './lib/network.mjs';
import { anyPort, serveFiles } from './lib/net.mjs';

const { jobFromFlags, keyFromSuri, postJob } = trainyard;

const MACHINES = ['//Bob', '//Charlie', '//Dave', '//Eve'];
const ROLES = ['trainer', 'driller', 'verifier', 'whistleblower'];
/** Long enough to be killed in the middle of it. */
const JOB = { hidden: '64', steps: '6000', 'checkpoint-interval': '200', 'price-per-ut': '5000', 'apply-blocks': '15' };
/** Blocks of a second for which results stand at least. */
const PATIENCE = 10;

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'work') : mkdtempSync(join(tmpdir(), 'trainyard-work-'));
const workers = {};
let network, api, data;

const name = (suri) => `work-${suri.slice(2).toLowerCase()}`;
const dir = (suri) => join(folder, name(suri));
const log = (suri, wanted) => events(dir(suri), wanted);

/** Starts a machine on one core, which leaves the others something: five laps a second. */
function work(suri, flags = []) {
	const slow = '--driller-options=--max-laps-per-second 5';
	const all = ['--bond', '100', '--threads', '1', slow, '--status-minutes', '1', ...flags];
	workers[suri] = network.startWorker('work', suri, all, name(suri));
}

/** Waits until a machine tells such an event; returns it. */
const told = (suri, wanted, seconds = 90) =>
	until(
		`${name(suri)} tells ${JSON.stringify(wanted)}`,
		seconds,
		() => log(suri, wanted).at(-1),
		() => network.fleet.check(),
	);

/** What `trainyard work status` shows, as JSON, and as text. */
async function status(suri, flags = ['--json']) {
	const ran = await network.worker(`status-${name(suri)}`, ['work', 'status', '--dir', dir(suri), ...flags]);
	assert.equal(ran.status, 0, ran.stderr);
	return flags.includes('--json') ? JSON.parse(ran.stdout) : ran.stdout;
}

const sum = (amounts) => amounts.reduce((all, amount) => all + BigInt(amount), 0n);
/** All money of a role in a ledger. */
const earned = (sums, role) => sum(Object.values(sums.money[role] ?? {}));

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		data = await serveFiles([DIGITS]);
		const patience = api.tx.parameters.setParameter({ Court: { Patience: [null, PATIENCE] } });
		await trainyard.send(api, api.tx.sudo.sudo(patience), await keyFromSuri('//Alice'));
		for (const suri of MACHINES) work(suri);
		await network.verifiersReady(MACHINES);
		await network.trainersReady(MACHINES);
	},
	{ timeout: 180_000 },
);

after(
	async () => {
		await network?.stop();
		await data?.close();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

describe('one daemon for all roles', { timeout: 480_000 }, () => {
	let trainer, job;
	const others = () => MACHINES.filter((suri) => suri !== trainer);

	test('one trains, and goes on after a kill in the middle', async () => {
		const posted = await jobFromFlags({ data: DIGITS, location: data.url('digits.csv'), ...JOB });
		const { id } = await postJob(api, await keyFromSuri('//Ferdie'), posted);
		const drawn = await until(
			'somebody trains',
			120,
			() => MACHINES.find((suri) => log(suri, { event: 'training', job: id }).length > 0),
			() => network.fleet.check(),
		);
		trainer = drawn;
		await workers[trainer].kill();
		assert.deepEqual(log(trainer, { event: 'trained' }), [], 'it was killed in the middle');

		// Nobody else may work in this folder, and with another key nobody ever.
		const nobody = ['work', '--node', network.url, '--suri', others()[0], '--dir', dir(trainer)];
		const refused = await network.worker('other-key', nobody);
		assert.notEqual(refused.status, 0);
		assert.match(refused.stderr, /is the folder of 5/);
		work(trainer);
		await until('it works again', 60, () => log(trainer, { event: 'started', role: 'trainer' })[1]);
		const twice = ['work', '--node', network.url, '--suri', trainer, '--dir', dir(trainer)];
		const second = await network.worker('second', twice);
		assert.notEqual(second.status, 0);
		assert.match(second.stderr, /another `trainyard work`/);

		await told(trainer, { event: 'trained', job: id });
		const goneOn = log(trainer, { event: 'training', job: id });
		assert.equal(goneOn.length, 2);
		await told(trainer, { event: 'revealed', role: 'trainer', job: id });
		// What is locked for it is told while the daemon works.
		const shown = await until('a status since then', 60, async () => {
			const now = await status(trainer);
			return now.status.locked.some(({ reason }) => reason === 'TaskMarket.Deposit') && now;
		});
		assert.equal(shown.running, true);
		assert.deepEqual(Object.keys(shown.status.reasons).sort(), [...ROLES].sort());
		const held = sum(shown.status.locked.map(({ amount }) => amount));
		assert.equal(held, BigInt(shown.status.held), 'everything that is held is told');
		job = await network.ended(id, 180);
		assert.equal(trainyard.ending(job), 'settled');
		assert.equal(job.replicas[0].trainer, ADDRESS[trainer]);
		assert.equal(job.replicas[0].fate, 'accepted');
		// What late proof locks of the deposit is told with its block.
		const { late } = await network.job(job.id);
		const text = await status(trainer, ['--node', network.url]);
		assert.match(text, new RegExp(`block ${late.until}, in .* the fifth of the deposit of job ${job.id}`));
	});

	test('the same daemons check, and are paid for it', async () => {
		for (const suri of others()) {
			assert.ok(log(suri, { event: 'revealed', role: 'verifier', job: job.id }).length > 0, name(suri));
			await told(suri, { event: 'booked', part: 'verifier', kind: 'fee', about: job.id }, 60);
		}
		const pay = await told(trainer, { event: 'booked', part: 'trainer', kind: 'pay' }, 60);
		assert.equal(BigInt(pay.amount), BigInt(job.settlement.paid_to_trainers));
		const fees = others().map((suri) => log(suri, { event: 'booked', kind: 'fee', about: job.id }));
		const all = sum(fees.flat().map(({ amount }) => amount));
		assert.equal(all, BigInt(job.settlement.paid_to_verifiers));
	});

	test('they drill in between, and check the laps of each other', async () => {
		for (const suri of MACHINES) {
			const credited = await told(suri, { event: 'stint_credited', role: 'driller' }, 240);
			assert.ok(credited.work > 0);
		}
		await until('final blocks have all of it', 60, async () => {
			const shown = await Promise.all(MACHINES.map((suri) => status(suri)));
			return shown.every(({ all }) => all.power.driller > 0);
		});
		await until('checks are paid', 60, () =>
			MACHINES.some((suri) => log(suri, { event: 'booked', part: 'verifier', kind: 'checks' }).length > 0),
		);
	});

	test('no two roles of an account took the same nonce', () => {
		for (const suri of MACHINES) {
			const failed = log(suri, { event: 'failed_attempt' }).map(({ reason }) => reason);
			assert.ok(!failed.some((reason) => /nonce|outdated|priority|1014/i.test(reason)), `${suri}: ${failed}`);
		}
	});

	test('the books are the balance, to the last unit', async () => {
		const text = await status(trainer, ['--node', network.url]);
		assert.match(text, /^earned, TRY/m);
		assert.match(text, /whistleblower: /);

		await Promise.all(MACHINES.map((suri) => workers[suri].stop()));
		for (const suri of MACHINES) {
			assert.equal(workers[suri].code, 0, workers[suri].tail());
			const { running, ledger, all } = await status(suri);
			assert.equal(running, false);
			const { data: balance } = await (await api.at(ledger.at.hash)).query.system.account(ADDRESS[suri]);
			const now = balance.free.toBigInt() + balance.reserved.toBigInt();
			assert.equal(now, BigInt(ledger.at.balance), `${suri}: the balance of its last block`);
			const { data: first } = await (await api.at(ledger.opened.hash)).query.system.account(ADDRESS[suri]);
			const change = now - first.free.toBigInt() - first.reserved.toBigInt();
			const parts = Object.keys(all.money);
			assert.equal(sum(parts.map((part) => earned(all, part))), change, `${suri}: all parts together`);
			// Every movement was told by an event, and each role has its own.
			assert.equal(earned(all, 'account'), 0n, `${suri}: ${JSON.stringify(all.money)}`);
			const then = await api.at(ledger.at.hash);
			const { drillingTotal, trainingTotal } = (await then.call.trainyardApi.trainer(ADDRESS[suri])).unwrap();
			const power = (part) => BigInt(all.power[part] ?? 0);
			assert.deepEqual([power('driller'), power('trainer')], [drillingTotal.toBigInt(), trainingTotal.toBigInt()]);
			assert.ok(power('driller') > 0n);
		}
		const { all } = await status(trainer);
		assert.equal(BigInt(all.money.trainer.pay), BigInt(job.settlement.paid_to_trainers));
		assert.ok(earned(all, 'trainer') > 0n && BigInt(all.money.trainer.transactions) < 0n);
		assert.ok(BigInt(all.money.driller.checks) < 0n, 'reports pay for their checks');
	});
});
