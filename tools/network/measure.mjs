// Measures how the blocks of a network divide among its authorities.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, until } from '../end-to-end/lib/network.mjs';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { trainers } from '../../packages/polkadot-js/src/index.js';
import { Drilling } from './drilling.mjs';
import { whyNoNamespaces } from './namespaces.mjs';
import { LocalNetwork } from './nodes.mjs';
import { report, reportText, weightShares } from './report.mjs';
import { claimProbability } from './statistics.mjs';

const DEFAULTS = { powers: [1, 1, 1, 1], slot: 1_000, c: [1, 4], epoch: 60 };

/** The settings of a network: what was given, else `defaults`. */
export function settings(options, defaults = DEFAULTS) {
	const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
	const { powers, slot, c, epoch, halfLife } = { ...DEFAULTS, ...defaults, ...given };
	return { powers, slot, c, epoch, halfLife };
}

/** Put into every folder that a network was made in, so that no other folder is cleared. */
const MARK = '.trainyard-network';

/** Clears the folder of an earlier network; any other folder must be empty. */
function clean(folder) {
	if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, MARK))) {
		throw new UserError(`${folder} is not empty and not of an earlier network. Choose another folder: --dir DIR`);
	}
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, MARK), 'Made by tools/network/run, which clears this folder when it runs again.\n');
	return folder;
}

/** Starts a network as the options say. */
export async function startNetwork(options, hold, defaults) {
	if (options.netns) {
		const why = whyNoNamespaces();
		if (why) throw new UserError(`--netns: ${why}`);
	}
	const network = new LocalNetwork({
		...settings(options, defaults),
		folder: clean(options.folder),
		binary: join(options.bin, 'trainyard-node'),
		earned: Boolean(options.drillers || defaults.earned),
		namespaces: options.netns,
	});
	hold(network);
	await network.start();
	return network;
}

/** Starts drillers beside the nodes, where they were asked for; null otherwise. */
export async function startDrilling(network, { drillers, bin }) {
	if (!drillers) return null;
	const speeds = network.authorities.map(({ name }, index) => [name, drillers[index]]);
	const drilling = new Drilling(network, join(bin, 'trainyard'), new Map(speeds));
	await drilling.start();
	return drilling;
}

/** Shares of power by name, as the chain returns them now. */
export async function powerShares(network) {
	const api = await network.api(network.running[0].name);
	try {
		const found = await trainers(api);
		const power = new Map(found.map(({ account, ecp }) => [account, Number(ecp)]));
		const all = network.authorities.map(({ name, keys }) => [name, power.get(keys.address) ?? 0]);
		const total = all.reduce((sum, [, ecp]) => sum + ecp, 0);
		return new Map(all.map(([name, ecp]) => [name, total > 0 ? ecp / total : 0]));
	} finally {
		await api.disconnect();
	}
}

/** Slots that give at least `blocks` blocks with 99 %, when these weights win them. */
function slotsFor(blocks, authorities, c) {
	const chances = [...weightShares(authorities).values()].map((share) => claimProbability(c[0] / c[1], share));
	const rate = chances.reduce((sum, p) => sum + p, 0);
	const spread = Math.sqrt(chances.reduce((sum, p) => sum + p * (1 - p), 0));
	// rate * n - 2.33 * spread * sqrt(n) = blocks, solved for sqrt(n).
	const root = (2.33 * spread + Math.sqrt((2.33 * spread) ** 2 + 4 * rate * blocks)) / (2 * rate);
	return Math.ceil(root ** 2);
}

/** Waits until every slot before `to` is decided: the chain is final after it. */
export async function decided(network, to, seconds = 120) {
	await until(
		'the blocks of the measured slots are final',
		seconds,
		() => {
			const { record } = network;
			const last = record.blocks.get(record.final[record.height]);
			return last && last.slot >= to;
		},
		() => network.fleet.check(),
	);
	await network.watch.settled();
}

export async function runMeasurement(options, hold) {
	const say = (text) => options.json || console.log(text);
	const network = await startNetwork(options, hold);
	say(`${network.nodes.size} nodes run; logs in ${network.fleet.folder}`);
	for (const { name, url } of network.nodes.values()) say(`    ${name.padEnd(8)} ${url}`);
	await until(
		'all nodes know each other',
		60,
		() => network.meshed(),
		() => network.fleet.check(),
	);
	await until(
		'the first block is final',
		120,
		() => network.record.height > 0,
		() => network.fleet.check(),
	);

	const drilling = await startDrilling(network, options);
	let trouble = null;
	drilling?.done().catch((error) => (trouble = error));
	if (drilling) say('the trainers drill');

	// The number of slots is fixed before they begin: stopping at a block would favour it.
	const { record, slot, c } = network;
	const from = network.slotNow + 2;
	const slots = options.minutes
		? Math.ceil((options.minutes * 60_000) / slot)
		: slotsFor(options.blocks ?? 60, record.epochs()[0].authorities, c);
	const to = from + slots;
	say(`measuring ${slots} slots of ${slot} ms, ${((slots * slot) / 60_000).toFixed(1)} minutes`);
	let powers = await powerShares(network);
	let told = Date.now();
	while (network.slotNow <= to) {
		await sleep(Math.min(1_000, slot));
		network.fleet.check();
		if (trouble) throw trouble;
		if (Date.now() - told >= 60_000) {
			told = Date.now();
			say(`    block ${record.best}, final ${record.height}, ${to - network.slotNow} slots to go`);
		}
	}
	await decided(network, to);
	// What is drilled is what was computed on the way.
	if (drilling) {
		powers = await powerShares(network);
		say(`units computed: ${[...drilling.units].map(([name, units]) => `${name} ${units}`).join(', ')}`);
	}
	const found = report({ record, from, to, slot, c, powers, nameOf: (babe) => network.nameOfKey(babe) });
	console.log(options.json ? JSON.stringify(found) : `\n${reportText(found)}`);
	if (options.keep) {
		say('\nThe network goes on. Ctrl-C stops it.');
		options.keeping = true;
		await new Promise(() => {});
	}
	drilling?.stop();
	return true;
}
