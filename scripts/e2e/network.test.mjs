// A network of four real nodes with power 1:2:3:4: who makes its blocks, and what it does when
// parts of it fail. Short versions of `scripts/network` and `scripts/network faults`.
//
// All tests share one network, in this order; each leaves it as it was, the last one aside. Where
// namespaces or another clock cannot be had, the tests that need them are skipped and say so.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FAULTS, FAULT_NETWORK, makeFault } from '../network.d/faults.mjs';
import { decided, powerShares, startNetwork } from '../network.d/measure.mjs';
import { whyNoNamespaces } from '../network.d/namespaces.mjs';
import { report } from '../network.d/report.mjs';
import { defaultBin } from './lib/network.mjs';

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'network') : mkdtempSync(join(tmpdir(), 'trainyard-network-'));
/** A test that fails leaves the network in a state in which the next ones mean nothing. */
let broken = null;
let network;
let begun;

before(
	async () => {
		const options = { folder, bin: defaultBin(), netns: whyNoNamespaces() === null };
		await startNetwork(options, (it) => (network = it), FAULT_NETWORK);
		begun = network.slotNow + 1;
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
