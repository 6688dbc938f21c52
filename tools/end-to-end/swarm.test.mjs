// Swarms with the real node and real programs. In the first one four peers with rows of their own train, mix and
// pay one another, one of them is killed and goes on, and one that does not pay is claimed against by its ticket.
// In the second the budget pays: a peer claims what it trained, somebody says a count that is false, and an
// ordinary job of the market finds that out.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { blake2, blobRoot, contentHash } from '../../packages/polkadot-js/src/hash.js';
import { anyPort } from './lib/net.mjs';
import { ADDRESS, DIGITS, Network, ROOT, trainyard, until } from './lib/network.mjs';

const { keyFromSuri, send } = trainyard;

const UNIT = 10n ** 12n;
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
const PEERS = [1, 2, 3, 4].map((n) => `//Ferdie//peer${n}`);
const [OPENERS, LIAR, HONEST] = [['//Ferdie', '//Ferdie//second'], '//Ferdie//liar', '//Ferdie//honest'];
/** Rows of a slice, half of which validate, and of a peer. */
const [SLICE, OWN] = [240, 180];

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'swarm') : mkdtempSync(join(tmpdir(), 'trainyard-swarm-'));
let network, api, genesis;
const peers = new Map();

/** Files of the digits: three slices, one for each peer, and what is left to compare models by. */
function deal() {
	const [header, ...lines] = readFileSync(DIGITS, 'utf8').trim().split('\n');
	const take = (name, count) => {
		const path = join(folder, name);
		writeFileSync(path, `${[header, ...lines.splice(0, count)].join('\n')}\n`);
		return path;
	};
	const slices = [0, 1, 2].map((n) => take(`slice-${n}.csv`, SLICE));
	const own = [...PEERS, HONEST].map((_, n) => take(`own-${n}.csv`, OWN));
	return { slices, own };
}

/** Writes the swarm's file; returns its path. */
function swarmFile(name, slices, { payer, budget }) {
	const job = readFileSync(join(ROOT, 'ml-worker/examples/digits.toml'), 'utf8')
		.replace('data/digits.csv', DIGITS)
		.replace('validation_every = 5', 'validation_every = 2')
		.replace(/steps = \d+/, 'steps = 50')
		.replace(/audit_fee = .*/, '')
		.replace(/audit_segments = .*/, 'audit_segments = 1')
		.replace(/apply_blocks = \d+/, 'apply_blocks = 6')
		.replace(/training_blocks = \d+/, 'training_blocks = 60');
	writeFileSync(join(folder, `${name}-job.toml`), job);
	const path = join(folder, `${name}.toml`);
	writeFileSync(
		path,
		`job = "${name}-job.toml"
slices = ${JSON.stringify(slices)}
payer = "${payer}"
budget = "${budget}"
claim_fee = "0.1"
slice_deposit = "20"
blocks = 4000
ticket_blocks = 400
stages = { collect = 8, show = 30, count = 40, challenge = 25 }
[reward]
curve = { linear = { factor = "20" } }
floor = 0.05
stake = "10"
`,
	);
	return path;
}

const dir = (name) => join(folder, name);

/** Starts `trainyard swarm` with these arguments. */
const swarm = (name, args, suri) =>
	network.fleet.start(name, network.workerBinary, [
		...['swarm', ...args, '--node', network.url, '--suri', suri, '--json'],
	]);

/** Runs it to its end; returns what it printed. */
const must = (name, args, suri) =>
	network.fleet.must(name, network.workerBinary, ['swarm', ...args, '--node', network.url, '--suri', suri], {
		seconds: 300,
	});

/** Shows a swarm. */
async function show(id) {
	const args = ['swarm', 'show', `${id}`, '--node', network.url, '--json'];
	const { stdout } = await network.fleet.must('show', network.workerBinary, args);
	const { swarm, peers } = JSON.parse(stdout);
	return { ...swarm, peers };
}

/** The events that a process printed. */
const told = (process, wanted) =>
	process
		.log()
		.split('\n')
		.filter((line) => line.startsWith('{'))
		.map((line) => JSON.parse(line))
		.filter(({ event }) => event === wanted);

/** Starts a peer with rows of its own. */
async function run(id, suri, data, more = [], again = '') {
	const name = suri.replaceAll('/', '');
	const listen = `127.0.0.1:${await anyPort()}`;
	const args = ['run', `${id}`, '--dir', dir(name), '--data', data, '--iroh-listen', listen, ...more];
	const process = swarm(`${name}${again}`, args, suri);
	peers.set(suri, process);
	return process;
}

const check = () => network.fleet.check();

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

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		genesis = api.genesisHash.toU8a();
		const gifts = [];
		for (const suri of [...PEERS, OPENERS[1], LIAR, HONEST]) {
			const { address } = await keyFromSuri(suri);
			ADDRESS[suri] = address;
			gifts.push(api.tx.balances.transferKeepAlive(address, 1_000n * UNIT));
		}
		await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri(OPENERS[0]));
		for (const suri of VERIFIERS) network.startWorker('verifier', suri, ['--bond', '500']);
		const listen = `127.0.0.1:${await anyPort()}`;
		network.startWorker('trainer', '//Alice', ['--bond', '100', '--listen', listen]);
		await network.verifiersReady(VERIFIERS);
		await network.trainersReady(['//Alice']);
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

describe('swarms', { timeout: 1_500_000 }, () => {
	const files = {};

	test('two swarms are opened, and opening them again opens no others', async () => {
		Object.assign(files, deal());
		const first = swarmFile('first', files.slices, { payer: 'peers', budget: 0 });
		const second = swarmFile('second', files.slices, { payer: 'budget', budget: 100 });
		for (const [n, file] of [first, second].entries()) {
			const args = ['open', file, '--dir', dir(`opened-${n}`)];
			await must(`open-${n}`, args, OPENERS[n]);
			await must(`open-again-${n}`, args, OPENERS[n]);
			swarm(`watch-${n}`, ['watch', `${n}`, '--dir', dir(`opened-${n}`)], OPENERS[n]);
		}
		const views = [await show(0), await show(1)];
		assert.deepEqual(
			views.map(({ plan, slices }) => [plan.payer, slices.length]),
			[
				['peers', 3],
				['budget', 3],
			],
		);
		const { stdout } = await network.fleet.must('list', network.workerBinary, ['swarm', 'show', '--node', network.url]);
		assert.match(stdout, /budget/);
	});

	test('a false count is claimed beside a true one, by the budget', async () => {
		// The one who says the truth trains first.
		const honest = await run(1, HONEST, files.own[4], ['--roles', 'train', '--passes', '4']);
		await until('the honest one has trained', 120, () => told(honest, 'trained').length >= 4, check);
		const key = await keyFromSuri(LIAR);
		const bytes = readFileSync(join(dir('opened-1'), 'initial.safetensors'));
		const said = claimOf(bytes);
		await must('liar-joins', ['join', '1', '--dir', dir('liar'), '--roles', 'train'], LIAR);
		// Both in one round, whoever comes first.
		files.claim = must('claim', ['claim', '1', '--dir', dir('Ferdiehonest')], HONEST);
		await send(api, api.tx.swarm.claim(1, said.commitment(key.publicKey)), key);
		await until('all is said', 240, async () => ['counting', 'challenging'].includes(stage(await show(1))), check);
		const { claims } = await show(1);
		const own = claims.find(({ claimant }) => claimant === ADDRESS[LIAR]);
		await until('claims are counted', 120, async () => stage(await show(1)) === 'counting', check);
		await send(api, api.tx.swarm.say(1, own.number, said.said(120, 1), said.salt), key);
	});

	test('four peers train, mix and pay one another, and one that was killed goes on', async () => {
		for (const [n, suri] of PEERS.entries()) {
			// The last one pays nobody before the swarm ends.
			const more = n === 3 ? ['--batch', '1000'] : ['--batch', '2'];
			await run(0, suri, files.own[n], more);
		}
		await until(
			'all have a model that others took',
			240,
			() => PEERS.every((suri) => told(peers.get(suri), 'mixed').length + told(peers.get(suri), 'in_vain').length > 0),
			check,
		);
		const victim = PEERS[1];
		await peers.get(victim).kill();
		const again = await run(0, victim, files.own[1], ['--batch', '2'], '-again');
		await until('it goes on', 120, () => told(again, 'mixed').length + told(again, 'in_vain').length > 0, check);
		assert.equal(told(again, 'joined').length, 0, 'it is a peer already');
		await until('somebody paid', 240, async () => (await happened('Paid')).length > 0, check);
		const { peers: known } = await show(0);
		assert.equal(known.length, PEERS.length);
	});

	test('a second account with the key of a peer is refused and shown', async () => {
		// The folder of a peer has its key.
		const stolen = dir('stolen');
		cpSync(dir('Ferdiepeer1'), stolen, { recursive: true });
		const { status, stderr } = await network.fleet.run('join', network.workerBinary, [
			...['swarm', 'join', '0', '--dir', stolen, '--node', network.url, '--suri', LIAR],
		]);
		assert.equal(status, 2);
		assert.match(stderr, /belongs to another account/);
		const [{ first, second }] = await until('it is shown', 30, async () => {
			const all = (await happened('Duplicate')).map(([, , first, second]) => ({ first, second }));
			return all.length > 0 && all;
		});
		assert.deepEqual([first, second], [ADDRESS[PEERS[0]], ADDRESS[LIAR]]);
	});

	test('a payment that was refused is claimed by its ticket', async () => {
		const payer = peers.get(PEERS[3]);
		const mixed = await until(
			'it owes something',
			240,
			() => {
				const all = told(payer, 'mixed').filter(({ owed }) => BigInt(owed) > 0n);
				return all.length > 0 && all;
			},
			check,
		);
		const largest = mixed.reduce((most, one) => (BigInt(one.owed) > BigInt(most.owed) ? one : most));
		await must('fund', ['fund', '0', '20'], PEERS[3]);
		const maker = PEERS.find((suri) => ADDRESS[suri] === largest.maker);
		const name = maker.replaceAll('/', '');
		const args = ['swarm', 'debts', '0', '--dir', dir(name), '--node', network.url, '--json'];
		const { stdout } = await network.fleet.must('debts', network.workerBinary, args);
		const owed = JSON.parse(stdout).filter(({ given }) => given.signed.ticket.payer === ADDRESS[PEERS[3]]);
		assert.ok(owed.length > 0, 'the maker knows its ticket');
		const before = (await show(0)).round;
		await must(
			'claim-by-ticket',
			['claim', '0', '--dir', dir(name), '--ticket', owed[0].digest.replace(/^0x/, '')],
			maker,
		);
		await until('the round ends', 240, async () => (await show(0)).round > before, check);
		const decided = [];
		for (const kind of ['Gained', 'Lost', 'Even']) decided.push(...(await happened(kind)).filter(([id]) => id === 0));
		assert.equal(decided.length, 1, JSON.stringify(decided));
	});

	test('the false count costs its stake, and the true one is paid', async () => {
		await files.claim;
		await until('the round of the second swarm ends', 600, async () => (await show(1)).round > 0, check);
		const refuted = (await happened('Refuted')).filter(([id]) => id === 1);
		assert.deepEqual(
			refuted.map(([, , claimant, refuter]) => [claimant, refuter]),
			[[ADDRESS[LIAR], ADDRESS[OPENERS[1]]]],
		);
		const [gained] = (await happened('Gained')).filter(([id]) => id === 1);
		assert.equal(gained[2], ADDRESS[HONEST]);
		const view = await show(1);
		assert.equal(view.best.root, gained[3]);
		assert.ok(BigInt(view.budget) < 100n * UNIT);
	});
});

/** Where a round stands, as the view says it. */
const stage = (view) => (typeof view.stage === 'string' ? view.stage : Object.keys(view.stage)[0]);

/** What claims that a model gets any number of labels right. */
function claimOf(bytes) {
	const content = contentHash(bytes);
	const root = blobRoot(bytes.length, content);
	const salt = new Uint8Array(32).fill(9);
	// Tensors of 256 KiB at most are pieces of their own, in the order of the file.
	const length = Number(bytes.readBigUInt64LE(0));
	const header = JSON.parse(bytes.subarray(8, 8 + length).toString());
	const places = Object.values(header)
		.map(({ data_offsets: offsets }) => offsets)
		.filter(Boolean)
		.sort(([a], [b]) => a - b);
	const pieces = places.map(([from, to]) => contentHash(bytes.subarray(8 + length + from, 8 + length + to)));
	const number = new Uint8Array(new Uint32Array([1]).buffer);
	return {
		salt,
		root,
		commitment: (account) =>
			blake2(
				Buffer.concat([
					Buffer.from('trainyard/swarm/claim/v1'),
					...[genesis, number, account, root, [0], salt].map((part) => Buffer.from(part)),
				]),
			),
		said: (correct, base) => ({
			content,
			pieces,
			new: { correct, labels: SLICE / 2 },
			base: { correct: base, labels: SLICE / 2 },
			promise: null,
		}),
	};
}
