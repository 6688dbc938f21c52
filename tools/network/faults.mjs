// What may happen to a network, and what must come of it: each fault is made with real nodes and
// checked by what the nodes say of the chain afterwards.
//
// Authorities are Alice to Dave with power 1:2:3:4, so that Charlie is less than a third of the
// weight, Dave is more, and Alice and Dave are as much as Bob and Charlie.

import { join } from 'node:path';
import { clockOff, whyNoClock } from '../end-to-end/lib/clock.mjs';
import { sleep, until } from '../end-to-end/lib/network.mjs';
import { bold, dim, green } from '../end-to-end/lib/output.mjs';
import { keyFromSuri, send, trainers } from '../../packages/polkadot-js/src/index.js';
import { startNetwork } from './measure.mjs';
import { whyNoNamespaces } from './namespaces.mjs';
import { weightShares } from './report.mjs';

/** The network on which faults are made: quick, so that sessions pass while one waits. */
export const FAULT_NETWORK = { powers: [1, 2, 3, 4], slot: 600, c: [1, 2], epoch: 20 };
/** Seconds until votes that were under way have arrived. */
const VOTES_SECONDS = 6;
/** Seconds that nodes may take for anything here, on a machine that does much else. */
const PATIENCE = 180;
/** What a fault is made with: the network, and what is checked on the way. */
class Scene {
	constructor(network, { long, note, check }) {
		Object.assign(this, { network, long, note, check });
		this.record = network.record;
		/** Blocks to wait for where a fault must be seen to last. */
		this.many = long ? 40 : 6;
	}

	until(what, probe, seconds = PATIENCE) {
		return until(what, seconds, probe, () => this.network.fleet.check());
	}

	/** Waits until a block that was made from now on is final. */
	async finalFromNow() {
		const slot = this.network.slotNow + 1;
		const last = () => this.record.blocks.get(this.record.final[this.record.height]);
		await this.until('a new block becomes final', () => last()?.slot >= slot);
	}

	/** Waits until all running nodes are peers and follow finality. */
	async healthy() {
		await this.until('all nodes know each other', () => this.network.meshed());
		await this.finalFromNow();
		await this.until('all nodes follow finality', async () => {
			const all = await Promise.all(this.network.running.map(({ name }) => this.network.heads(name).catch(() => null)));
			return all.every((heads) => heads && heads.final >= this.record.height - 10);
		});
	}

	/** Blocks of an author in slots from `from` on; only final ones where asked for. */
	blocksOf(name, from, { final = false } = {}) {
		const authorities = this.record.authoritiesAt();
		const { babe } = this.network.nodes.get(name).keys;
		return [...this.record.blocks.values()].filter(
			(block) =>
				block.slot >= from &&
				authorities(block.slot)[block.author]?.babe === babe &&
				(!final || this.record.final[block.number] === block.hash),
		);
	}

	/** Checks that every running node has the same final blocks, up to the lowest final height. */
	async agree() {
		const { network, record } = this;
		await network.watch.settled();
		const all = await Promise.all(network.running.map(async ({ name }) => ({ name, ...(await network.heads(name)) })));
		const lowest = Math.min(...all.map(({ final }) => final));
		const hashes = await Promise.all(
			network.running.map(({ name }) => network.rpc(name, 'chain_getBlockHash', [lowest])),
		);
		this.check(
			`all ${all.length} nodes have the same final block ${lowest}`,
			new Set(hashes).size === 1,
			hashes.join(' '),
		);
		this.check(
			'no two final blocks contradict each other',
			record.conflicts.length === 0,
			JSON.stringify(record.conflicts),
		);
	}

	/** Waits until `name` has caught up with what is final now, and checks that it is the same. */
	async caughtUp(name) {
		const height = this.record.height;
		const from = Date.now();
		await this.until(`${name} catches up`, async () => (await this.network.heads(name)).final >= height);
		const hash = await this.network.rpc(name, 'chain_getBlockHash', [height]);
		this.check(
			`${name} has caught up with block ${height} within ${((Date.now() - from) / 1_000).toFixed(0)} s`,
			hash === this.record.final[height],
			hash,
		);
	}
}

/** Less than a third of the weight is killed. */
async function minority(scene) {
	const { network, record, check } = scene;
	await network.kill('Charlie');
	const gone = network.slotNow + 1;
	const height = record.height;
	await scene.until(`${scene.many} more blocks are final without Charlie`, () => record.height >= height + scene.many);
	check(
		`with 30 % of the weight dead, finality went on from block ${height} to ${record.height}`,
		record.height >= height + scene.many,
	);
	const own = scene.blocksOf('Charlie', gone);
	check('and Charlie made none of the blocks', own.length === 0, own.length);
	await network.startNode('Charlie');
	const back = network.slotNow + 1;
	await scene.caughtUp('Charlie');
	await scene.until('a block of Charlie is final', () => scene.blocksOf('Charlie', back, { final: true }).length > 0);
	check('Charlie makes blocks again, and they become final', true);
	await scene.agree();
}

/** Checks that finality stands still while blocks go on; returns where it stands. */
async function stalls(scene) {
	const { network, record, check } = scene;
	await sleep(VOTES_SECONDS * 1_000);
	await network.watch.settled();
	const height = record.height;
	const best = record.best;
	await scene.until(`${scene.many} more blocks are made`, () => record.best >= best + scene.many);
	check(`blocks went on from ${best} to ${record.best}`, record.best >= best + scene.many);
	check(`finality waits at block ${height}`, record.height === height, record.height);
	return height;
}

/** More than a third of the weight is killed, and comes back in time. */
async function third(scene) {
	const { network, record, check } = scene;
	await network.kill('Dave');
	const height = await stalls(scene);
	const best = record.best;
	await network.startNode('Dave');
	const from = Date.now();
	await scene.until('finality resumes', () => record.height >= best);
	check(
		`${((Date.now() - from) / 1_000).toFixed(0)} s after Dave was back, the ${best - height} blocks that had waited were final`,
		record.height >= best,
	);
	await scene.caughtUp('Dave');
	await scene.agree();
}

/** Whether `name` stands for authorship, as the chain says. */
async function stands(scene, api, name) {
	const { keys } = scene.network.nodes.get(name);
	return (await api.query.hashrate.candidates()).some((who) => who.toString() === keys.address);
}

/** Waits until the announced authorities of the best chain do or do not contain `name`. */
const announced = (scene, api, name, wanted) =>
	scene.until(
		`${name} is ${wanted ? '' : 'not '}among the authorities`,
		async () => {
			const all = await api.query.babe.authorities();
			return all.some(([key]) => key.toHex() === scene.network.nodes.get(name).keys.babe) === wanted;
		},
		600,
	);

/** Kills Dave until the chain has suspended him and goes on without him. */
async function exile(scene, api) {
	const { network, record, check } = scene;
	await network.kill('Dave');
	const height = await stalls(scene);
	await scene.until('Dave loses his candidacy', async () => !(await stands(scene, api, 'Dave')), 600);
	check(`absent, Dave lost his candidacy near block ${record.best}`, true);
	await announced(scene, api, 'Dave', false);
	check(`BABE has gone on without Dave near block ${record.best}`, true);
	await sleep(VOTES_SECONDS * 1_000);
	check(
		`GRANDPA has not: its change of authorities is final only when the block that orders it is; finality waits at ${height}`,
		record.height === height,
		record.height,
	);
	return height;
}

/** More than a third of the weight stays away until it is suspended, and then comes back. */
async function absent(scene) {
	const { network, record, check } = scene;
	const api = await network.api('Alice');
	try {
		await exile(scene, api);
		const best = record.best;
		await network.startNode('Dave');
		await scene.until('finality resumes', () => record.height >= best);
		check(`with Dave's votes back, all blocks up to ${record.height} are final`, record.height >= best);
		await scene.finalFromNow();
		const key = await keyFromSuri('//Dave');
		await send(api, api.tx.hashrate.setCandidate(true), key);
		await announced(scene, api, 'Dave', true);
		check('Dave stood again and is an authority again', true);
		await scene.caughtUp('Dave');
		await scene.agree();
	} finally {
		await api.disconnect();
	}
}

/** More than a third of the weight never comes back: governance sets GRANDPA going again. */
async function stalled(scene) {
	const { network, record, check } = scene;
	const api = await network.api('Alice');
	try {
		await exile(scene, api);
		const final = record.height;
		// After which block the others may change without finality: the last one that was final.
		const call = api.tx.grandpa.noteStalled(2, final);
		await send(api, api.tx.sudo.sudo(call), await keyFromSuri('//Alice'));
		const best = record.best;
		await scene.until('finality goes on without Dave', () => record.height > best, 600);
		check(
			`after grandpa.noteStalled finality went on without Dave, from block ${final} to ${record.height}`,
			record.height > best,
		);
		await scene.finalFromNow();
		await network.startNode('Dave');
		await scene.caughtUp('Dave');
		await scene.agree();
	} finally {
		await api.disconnect();
	}
}

/** The network is cut in halves, neither of which has two thirds of the weight, and healed. */
async function halves(scene) {
	const { network, record, check } = scene;
	const sides = [
		['Alice', 'Dave'],
		['Bob', 'Charlie'],
	];
	network.namespaces.cut(sides[1]);
	const cut = network.slotNow + 1;
	await sleep(VOTES_SECONDS * 1_000);
	await network.watch.settled();
	const height = record.height;
	const finals = record.final.slice();
	const made = (names) => names.flatMap((name) => scene.blocksOf(name, cut)).length;
	await scene.until('both halves make blocks', () => sides.every((names) => made(names) >= scene.many));
	check(`each half made blocks by itself: ${sides.map(made).join(' and ')}`, true);
	const bests = sides.map(([name]) => network.watch.heads.get(name));
	check('their chains differ', bests[0].bestHash !== bests[1].bestHash);
	check(`neither half made anything final: both wait at block ${height}`, record.height === height, record.height);
	network.namespaces.heal();
	const from = Date.now();
	const heights = bests.map(({ best }) => best);
	await scene.until('finality resumes', () => record.height > Math.max(...heights));
	check(`${((Date.now() - from) / 1_000).toFixed(0)} s after the cut was healed, blocks behind it were final`, true);
	check(
		'no final block was lost',
		finals.every((hash, number) => record.final[number] === hash),
	);
	const [longer, shorter] = heights.map((best) => best - height).sort((a, b) => b - a);
	scene.note(`the halves had gone ${longer} and ${shorter} blocks apart`);
	await scene.healthy();
	await scene.agree();
}

/** Nodes with less than a third of the weight are cut off, and come back. */
async function island(scene) {
	const { network, record, check } = scene;
	network.namespaces.cut(['Alice', 'Bob']);
	await sleep(VOTES_SECONDS * 1_000);
	await network.watch.settled();
	const inside = async () => (await network.heads('Alice')).final;
	const height = record.height;
	const there = await inside();
	await scene.until('the larger part goes on', () => record.height >= height + scene.many);
	check(`the part with 70 % of the weight went on, from block ${height} to ${record.height}`, true);
	check(`the part with 30 % made nothing final behind block ${there}`, (await inside()) === there);
	network.namespaces.heal();
	await scene.caughtUp('Alice');
	await scene.caughtUp('Bob');
	await scene.healthy();
	await scene.agree();
}

/** All nodes are killed at once, and started again. */
async function restart(scene) {
	const { network, record, check } = scene;
	const names = network.running.map(({ name }) => name);
	await scene.until('there is something to lose', () => record.height >= scene.many);
	await network.watch.settled();
	await Promise.all(names.map((name) => network.kill(name)));
	const [height, hash] = [record.height, record.final[record.height]];
	if (scene.long) {
		// Longer than a session: an epoch passes in which nobody makes a block.
		await sleep(1.5 * network.epoch * network.slot);
	}
	await Promise.all(names.map((name) => network.startNode(name)));
	await scene.finalFromNow();
	check(
		`all ${names.length} nodes were killed at block ${height}, and the chain went on to ${record.height}`,
		record.height > height,
	);
	const kept = await Promise.all(names.map((name) => network.rpc(name, 'chain_getBlockHash', [height])));
	check(
		'every node has kept what was final',
		kept.every((found) => found === hash),
		kept.join(' '),
	);
	await scene.healthy();
	await scene.agree();
}

/** The clock of one node is wrong by half a minute, to either side. */
async function clock(scene) {
	const { network, record, check, note } = scene;
	for (const [offset, side] of [
		['-30', 'slow'],
		['+30', 'fast'],
	]) {
		await network.stopNode('Bob');
		await network.startNode('Bob', { env: clockOff(offset) });
		const from = network.slotNow + 1;
		const height = record.height;
		await scene.until('the others go on', () => record.height >= height + scene.many);
		check(`with Bob's clock 30 s ${side}, finality went on from block ${height} to ${record.height}`, true);
		const own = scene.blocksOf('Bob', from);
		const final = own.filter((block) => record.final[block.number] === block.hash);
		check(`and none of Bob's blocks became final`, final.length === 0, final.length);
		const future = Math.max(...record.finalBlocks().map(({ slot }) => slot)) - network.slotNow;
		check('no final block is from a slot that is still to come', future <= 0, future);
		note(`Bob made ${own.length} blocks, for itself`);
		await network.stopNode('Bob');
		await network.startNode('Bob');
		const back = network.slotNow + 1;
		const since = Date.now();
		await scene.caughtUp('Bob');
		// Who got bad blocks from a node ignores it for about a minute.
		if (!scene.long && offset === '+30') continue;
		await scene.until('a block of Bob is final', () => scene.blocksOf('Bob', back, { final: true }).length > 0);
		check(
			`${((Date.now() - since) / 1_000).toFixed(0)} s after its clock was right, a block of Bob was final again`,
			true,
		);
	}
	await scene.agree();
}

/** A new node joins by warp sync. */
async function warp(scene) {
	const { network, record, check } = scene;
	const name = 'Newcomer';
	const node = await network.define(name, { args: ['--sync', 'warp'] });
	await network.startNode(name);
	const from = Date.now();
	await scene.until('warp sync completes', () => /Warp sync is complete/.test(node.process.log()));
	check(`a new node took the state of the chain by warp sync in ${((Date.now() - from) / 1_000).toFixed(0)} s`, true);
	await scene.caughtUp(name);
	const { final, finalHash } = await network.heads(name);
	const runtime = await network.rpc(name, 'state_getRuntimeVersion', [finalHash]);
	check(`it has the state of block ${final}`, runtime.specName.startsWith('trainyard'), runtime.specName);
	const old = await network.rpc(name, 'state_getRuntimeVersion', [record.final[1]]).then(
		() => 'state',
		() => 'none',
	);
	check('and has not executed the blocks before: block 1 has no state there', old === 'none', old);
	await scene.healthy();
	await scene.agree();
	await network.stopNode(name);
	network.nodes.delete(name);
}

/** What an equivocation of this share of the weight costs of bond and power. */
const slashPart = (share) => Math.min(1, (3 * share) ** 2);

/** A second node runs with an authority's keys. */
async function twin(scene) {
	const { network, record, check, note } = scene;
	const { keys } = network.nodes.get('Charlie');
	const api = await network.api('Alice');
	try {
		const trainer = async () => (await trainers(api)).find(({ account }) => account === keys.address);
		const founded = async (where) =>
			(await where.query.hashrate.founders()).find(([who]) => who.toString() === keys.address)[1].toNumber();
		const before = await trainer();
		const founding = await founded(api);
		const share = weightShares(record.authoritiesAt()(network.slotNow)).get(keys.babe);
		// A node whose clock was fast makes blocks once more in slots that it has used already, which
		// the others have not seen: those are not Charlie's.
		const pairs = () =>
			record.equivocations().filter(([{ slot, author }]) => record.authoritiesAt()(slot)[author]?.babe === keys.babe);
		await network.define('Twin', { keys });
		await network.startNode('Twin');
		await scene.until('Charlie and the twin make two blocks in one slot', () => pairs().length > 0);
		check("two nodes with Charlie's keys made two blocks in one slot", true);
		await network.stopNode('Twin');
		await scene.finalFromNow();
		await scene.until('the chain punishes Charlie', async () => (await trainer()).bond < before.bond);
		network.nodes.delete('Twin');
		// Once for each session in which it offended: read all of it at one block.
		const at = await api.at(await api.rpc.chain.getBlockHash());
		const after = (await at.call.trainyardApi.trainer(keys.address)).unwrap();
		const offences = (await at.query.hashrate.offenders.entries()).filter(([, guilty]) =>
			guilty.some((who) => who.toString() === keys.address),
		);
		const convict = (await at.query.hashrate.convicts()).find(({ who }) => who.toString() === keys.address);
		const parts = offences.map(() => convict.lost.toNumber() / 1e9);
		const wanted = 1 - parts.reduce((left, part) => left * (1 - part), 1);
		const lost = (is, was) => 1 - Number(is) / Number(was);
		const percent = (value) => `${(value * 100).toFixed(1)} %`;
		note(`${pairs().length} slots with two blocks; punished in ${parts.length} sessions`);
		check(
			`a session of it costs ${percent(share)} of the weight ${percent(parts[0])}`,
			Math.abs(parts[0] - slashPart(share)) < 0.001,
			parts.join(', '),
		);
		const bond = lost(after.bond.toBigInt(), before.bond);
		check(
			`reported by nodes: Charlie lost ${percent(bond)} of its bond`,
			Math.abs(bond - wanted) < 0.001,
			`expected ${wanted}`,
		);
		const power = lost(await founded(at), founding);
		check(`and ${percent(power)} of what it has as a founder`, Math.abs(power - wanted) < 0.002, `expected ${wanted}`);
		check('and its candidacy', after.candidate.isFalse);
		await announced(scene, api, 'Charlie', false);
		check('two sessions later it is no authority any more', true);
		await scene.finalFromNow();
		await scene.agree();
	} finally {
		await api.disconnect();
	}
}

/**
 * All faults by name, in the order in which one network can bear them: each but the last leaves
 * it as it was. `long` ones take minutes and are not part of the short run. `why` says why one
 * cannot be made on this machine, or null.
 */
export const FAULTS = {
	minority: { title: 'nodes with less than a third of the weight are killed', make: minority },
	third: { title: 'a node with more than a third of the weight is killed', make: third },
	halves: { title: 'the network is cut in halves', make: halves, why: whyNoNamespaces },
	island: { title: 'less than a third of the weight is cut off', make: island, why: whyNoNamespaces, long: true },
	restart: { title: 'all nodes are killed at once', make: restart },
	clock: { title: 'the clock of a node is 30 s off', make: clock, why: whyNoClock },
	warp: { title: 'a new node joins by warp sync', make: warp },
	absent: { title: 'more than a third of the weight stays away until it is suspended', make: absent, long: true },
	stalled: { title: 'more than a third of the weight never comes back', make: stalled, long: true },
	twin: { title: 'a node runs with the keys of another', make: twin },
};

/** Makes one fault; `check(fact, holds, found)` and `note(text)` hear what comes of it. */
export async function makeFault(name, network, { long = false, check, note }) {
	const scene = new Scene(network, { long, check, note });
	await scene.healthy();
	await FAULTS[name].make(scene);
}

/** `tools/network/run faults`: the long versions, each on a network of its own. */
export async function runFaults(options, hold) {
	const names = options.names.length > 0 ? options.names : Object.keys(FAULTS);
	const say = (text) => options.json || console.log(text);
	const results = [];
	for (const name of names) {
		const { title, why } = FAULTS[name];
		const from = Date.now();
		const result = { fault: name, title, checks: [], skipped: why?.() ?? null };
		results.push(result);
		say(bold(`==> ${name}: ${title}`));
		if (result.skipped) {
			say(`    skipped: ${result.skipped}`);
			continue;
		}
		const folder = join(options.folder, name);
		const network = await startNetwork({ ...options, folder, netns: whyNoNamespaces() === null }, hold, FAULT_NETWORK);
		const check = (fact, holds, found = '') => {
			result.checks.push({ fact, holds });
			if (!holds)
				throw new Error(`${name}: this should hold, and does not: ${fact}${found === '' ? '' : ` (found ${found})`}`);
			say(`    ${green('✓')} ${fact}`);
		};
		await makeFault(name, network, { long: true, check, note: (text) => say(`      ${text}`) });
		await network.stop();
		result.seconds = (Date.now() - from) / 1_000;
		say(`    ${dim(`in ${result.seconds.toFixed(0)} s`)}`);
	}
	const passed = results.reduce((sum, { checks }) => sum + checks.length, 0);
	if (options.json) console.log(JSON.stringify(results));
	else console.log(`${passed} checks passed, 0 checks failed`);
	return true;
}
