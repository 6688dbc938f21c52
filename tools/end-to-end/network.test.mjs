// A network of four real nodes with power 1:2:3:4: who makes its blocks, and what it does when
// parts of it fail. Short versions of `tools/network/run` and `tools/network/run faults`.
//
// All tests share one network, in this order; each leaves it as it was, the last one aside. Where
// namespaces or another clock cannot be had, the tests that need them are skipped and say so.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FAULTS, FAULT_NETWORK, makeFault } from '../network/faults.mjs';
import { decided, powerShares, startNetwork } from '../network/measure.mjs';
import { whyNoNamespaces } from '../network/namespaces.mjs';
import { report, reportText } from '../network/report.mjs';
import { defaultBin } from './lib/network.mjs';

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'network') : mkdtempSync(join(tmpdir(), 'trainyard-network-'));
/** A test that fails leaves the network in a state in which the next ones mean nothing. */
let broken = null;
let network;

before(
	async () => {
		const options = { folder, bin: defaultBin(), netns: whyNoNamespaces() === null };
		await startNetwork(options, (it) => (network = it), FAULT_NETWORK);
	},
	{ timeout: 240_000 },
);

after(
	async () => {
		await network?.stop();
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

/** Slots that are measured; too few to tell shares, enough to see that the lottery is weighed. */
const SLOTS = 50;

test('who makes its blocks', { timeout: 300_000 }, async (t) => {
	const powers = await powerShares(network);
	assert.deepEqual(
		[...powers.values()].map((share) => share.toFixed(6)),
		['0.100000', '0.200000', '0.300000', '0.400000'],
	);
	const from = network.slotNow + 1;
	const to = from + SLOTS;
	await decided(network, to);
	const { record, slot, c } = network;
	const found = report({ record, from, to, slot, c, powers, nameOf: (babe) => network.nameOfKey(babe) });
	t.diagnostic(reportText(found));
	for (const { name, power_share: power, weight_share: weight } of found.authors) {
		assert.ok(Math.abs(weight - power) < 1e-6, `${name} has ${weight} of the weight`);
	}
	// A million runs of a right chain on a machine that keeps up fail once.
	assert.ok(found.tests.claims.p > 1e-6, `claims are not those of the lottery: p = ${found.tests.claims.p}`);
	assert.equal(found.finality.conflicts, 0);
	assert.equal(found.equivocations, 0);
});

for (const [name, { title, why, long }] of Object.entries(FAULTS)) {
	if (long) continue;
	const skip = why?.() ?? false;
	test(`${name}: ${title}`, { skip, timeout: 600_000 }, async (t) => {
		assert.equal(broken, null, `not tried: the network was left broken by ${broken}`);
		broken = name;
		await makeFault(name, network, {
			note: (text) => t.diagnostic(text),
			check: (fact, holds, found = '') => assert.ok(holds, `${fact}${found === '' ? '' : ` (found ${found})`}`),
		});
		broken = null;
	});
}
