// Stints of drilling with the real node and the real worker: a driller computes laps, is killed on the
// way, reports, is checked by three verifiers, and is credited what it computed. One that makes laps up
// is doubted by the first three, convicted by three others, and loses half of its bond.
//
// Stints of the development chain take 50 blocks of a second at least.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { events } from './lib/events.mjs';
import { ADDRESS, Network, trainyard, until } from './lib/network.mjs';
import { anyPort } from './lib/net.mjs';

const { keyFromSuri, send } = trainyard;

const UNIT = 10n ** 12n;
const [HONEST, CHEAT] = ['//Bob', '//Charlie'];
const VERIFIERS = ['//Eve', ...[1, 2, 3, 4, 5].map((number) => `//Ferdie//${number}`)];

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'stints') : mkdtempSync(join(tmpdir(), 'trainyard-stints-'));
const workers = {};
let network, api;

const name = (suri) => `driller-${suri.slice(2).toLowerCase()}`;
const log = (suri, wanted) => events(join(folder, name(suri)), wanted);

/** Starts a driller on one core. */
function drill(suri, flags = []) {
	workers[suri] = network.startWorker('driller', suri, ['--bond', '100', '--threads', '1', ...flags], name(suri));
}

/** Waits until a driller has reported `count` such events; returns the last of them. */
const told = (suri, wanted, seconds = 60, count = 1) =>
	until(
		`${name(suri)} tells ${JSON.stringify(wanted)} ${count} time(s)`,
		seconds,
		() => log(suri, wanted)[count - 1],
		() => network.fleet.check(),
	);

/** The trainer as the chain returns it. */
const trainer = async (suri) => (await api.call.trainyardApi.trainer(ADDRESS[suri])).unwrap();

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		const gifts = [];
		for (const suri of VERIFIERS.slice(1)) {
			const { address } = await keyFromSuri(suri);
			ADDRESS[suri] = address;
			gifts.push(api.tx.balances.transferKeepAlive(address, 1_000n * UNIT));
		}
		await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri('//Ferdie'));
		for (const suri of VERIFIERS) network.startWorker('verifier', suri, ['--bond', '100']);
		await network.verifiersReady(VERIFIERS);
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

describe('stints', { timeout: 420_000 }, () => {
	let reported;

	test('a driller that is killed goes on with the laps that it has', async () => {
		drill(HONEST);
		drill(CHEAT, ['--test-only-cheat']);
		await told(HONEST, { event: 'stint' });
		await until('some laps are there', 30, async () => (await trainer(HONEST)).bond.toBigInt() > 0n);
		await new Promise((done) => setTimeout(done, 5_000));
		await workers[HONEST].kill();
		drill(HONEST);
		reported = await told(HONEST, { event: 'stint_reported' }, 120);
		const begun = log(HONEST, { event: 'stint' });
		assert.equal(begun[0].stint, 0);
		assert.equal(begun[1].stint, 0, 'the same stint after the kill');
		assert.ok(reported.laps > 0 && reported.chance === 1, 'who has shown nothing is checked');
		assert.equal(reported.stint, 0);
	});

	test('verifiers confirm what it computed, and it is credited', async () => {
		const credited = await told(HONEST, { event: 'stint_credited' }, 180);
		assert.equal(credited.work, reported.work);
		const { drillingTotal } = await trainer(HONEST);
		assert.equal(drillingTotal.toNumber(), reported.work);
		assert.ok(log(HONEST, { event: 'stint_opened' }).length > 0);
		// It did not wait for that: the next stint runs.
		assert.ok(log(HONEST, { event: 'stint' }).some(({ stint }) => stint === 1));
	});

	test('a driller that makes laps up is found, and loses half of its bond', async () => {
		await told(CHEAT, { event: 'stint_not_credited' }, 240);
		const view = await trainer(CHEAT);
		assert.equal(view.bond.toBigInt(), 50n * UNIT);
		assert.equal(view.drillingEffective.toBigInt(), 0n);
		const honest = await trainer(HONEST);
		assert.equal(honest.bond.toBigInt(), 100n * UNIT);
		assert.ok(honest.drillingEffective.toBigInt() > 0n);
	});
});
