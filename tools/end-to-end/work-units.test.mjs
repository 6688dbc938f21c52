// Drilling with the real node and the real worker: projects are proposed and voted on, drillers
// compute their units and are credited, one of them is killed on the way, and those who make
// results up lose their power, and where they agree among themselves their bond.
//
// The steps follow each other on one development chain. Every agreed unit is recomputed here, so
// that nothing depends on luck.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { events } from './lib/events.mjs';
import { ADDRESS, DIGITS, Network, ROOT, trainyard, until } from './lib/network.mjs';
import { anyPort } from './lib/net.mjs';

const { keyFromSuri, send } = trainyard;

const UNIT = 10n ** 12n;
const DRILLERS = ['//Bob', '//Charlie', '//Dave'];
const VERIFIERS = ['//Eve', '//Ferdie//one', '//Ferdie//two'];
/** Blocks of a second. */
const REVIEW = 20;

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'drilling') : mkdtempSync(join(tmpdir(), 'trainyard-drilling-'));
const workers = {};
let network, api;

const name = (suri) => `driller-${suri.slice(2).toLowerCase()}`;
const log = (suri, wanted) => events(join(folder, name(suri)), wanted);

/** Starts a driller on one core. */
function drill(suri, flags = []) {
	workers[suri] = network.startWorker(
		'driller',
		suri,
		['--bond', '100', '--threads', '1', '--projects', '--no-stints', ...flags],
		name(suri),
	);
}

/** Waits until a driller has reported `count` such events; returns the last of them. */
const told = (suri, wanted, seconds = 60, count = 1) =>
	until(
		`${name(suri)} tells ${JSON.stringify(wanted)} ${count} time(s)`,
		seconds,
		() => log(suri, wanted)[count - 1],
		() => network.fleet.check(),
	);

/** A command of `trainyard project` that must work; what it prints as JSON, if it does. */
async function project(...args) {
	const command = ['project', ...args, '--node', network.url];
	const { status, stdout, stderr } = await network.worker(`project-${args[0]}`, command, { seconds: 60 });
	assert.equal(status, 0, `trainyard ${command.join(' ')}\n${stderr}`);
	return args.includes('--json') ? JSON.parse(stdout) : stdout;
}

/** A command of `trainyard project` that must be refused; what it says. */
async function refused(...args) {
	const command = ['project', ...args, '--node', network.url];
	const { status, stderr } = await network.worker(`project-${args[0]}`, command, { seconds: 60 });
	assert.equal(status, 2, stderr);
	return stderr;
}

/** The trainer as the chain returns it. */
const trainer = async (suri) => (await api.call.trainyardApi.trainer(ADDRESS[suri])).unwrap();
const power = async (suri) => (await trainer(suri)).drillingEffective.toBigInt();
const bond = async (suri) => (await trainer(suri)).bond.toBigInt();

/** All events of the drilling pallet so far with this name. */
async function onChain(wanted) {
	const found = [];
	const best = (await api.rpc.chain.getHeader()).number.toNumber();
	for (let number = onChain.seen + 1; number <= best; number++) {
		const hash = await api.rpc.chain.getBlockHash(number);
		const records = await (await api.at(hash)).query.system.events();
		for (const { event } of records) {
			if (event.section === 'drilling')
				onChain.all.push({ number, method: event.method, data: event.data.toJSON(), names: event.data.names });
		}
		onChain.seen = number;
	}
	for (const event of onChain.all) {
		if (event.method !== wanted) continue;
		found.push({
			number: event.number,
			...Object.fromEntries(event.names.map((field, index) => [field, event.data[index]])),
		});
	}
	return found;
}
onChain.seen = 0;
onChain.all = [];

/** Waits for an event of the pallet that `like` accepts. */
const happens = (wanted, like = () => true, seconds = 60) =>
	until(
		`Drilling.${wanted} happens`,
		seconds,
		async () => (await onChain(wanted)).find(like),
		() => network.fleet.check(),
	);

/** Writes a PROJECT.toml. */
function projectFile(file, text) {
	const path = join(folder, file);
	writeFileSync(path, text);
	return path;
}

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
		const parameters = [{ Periods: { Review: [null, REVIEW] } }, { Drilling: { CheckShare: [null, 1_000_000] } }];
		const set = parameters.map((parameter) => api.tx.parameters.setParameter(parameter));
		await send(api, api.tx.sudo.sudo(api.tx.utility.batchAll(set)), await keyFromSuri('//Alice'));
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

describe('drilling', { timeout: 420_000 }, () => {
	test('projects that are wrong, and votes that do not count, are refused with a reason', async () => {
		const head = 'title = "wrong"\nunits = 3\n';
		const wrong = projectFile('wrong.toml', `${head}[chain]\nsize = 8\nlinks = 1\n`);
		assert.match(await refused('propose', wrong, '--suri', '//Ferdie'), /wrong\.toml:4: chain\.size: it is 8; allowed/);
		const small = projectFile('small.toml', `${head}[calibration]\npasses = 1\n`);
		assert.match(await refused('propose', small, '--suri', '//Ferdie'), /at least 1000 micro-ut/);
		assert.match(
			await refused('propose', join(folder, 'nowhere.toml'), '--suri', '//Ferdie'),
			/cannot read the project file/,
		);
		assert.match(await refused('show', '99'), /there is no project 99/);
		assert.match(await project('list'), /no projects/);
	});

	test('projects are proposed, voted on, and become active', async () => {
		const title = (text, units, rest) =>
			`title = "${text}"\nunits = ${units}\nreplicas = 3\ncommit_blocks = 60\n${rest}`;
		const calibration = title('Calibration', 2, '[calibration]\npasses = 20\n');
		// A second or more for each unit.
		const chain = title('Products', 40, '[chain]\nsize = 192\nlinks = 900\n');
		// Nobody in his right mind computes it: any difference costs everybody its power.
		const harsh = `rule = "all_lose"\n${title('Harsh', 3, '[calibration]\npasses = 20\n')}`;
		const job = readFileSync(join(ROOT, 'ml-worker/examples/drill-digits-job.toml'), 'utf8').replace(
			'data/digits.csv',
			DIGITS,
		);
		writeFileSync(join(folder, 'job.toml'), job);
		const digits = title('Digits', 2, '[trial]\njob = "job.toml"\nlearning_rates = [0.002, 0.00001]\n');
		for (const [file, text] of Object.entries({ calibration, digits, chain, harsh })) {
			const out = await project('propose', projectFile(`${file}.toml`, text), '--suri', '//Ferdie');
			assert.match(out, /TRY is held\. Trainers vote until block/);
		}
		assert.match(
			await refused('propose', join(folder, 'chain.toml'), '--suri', '//Ferdie'),
			/TooManyOwn/,
			'four projects of one account are open',
		);
		assert.match(await refused('vote', '0', '--aye', '--suri', '//Ferdie'), /NotATrainer|OwnProject/);
		assert.match(await refused('recall', '0', '--suri', '//Alice'), /NotActive/);
		// The last first: its review ends last, so a second vote on it is still a vote in review.
		for (const id of ['3', '2', '1', '0']) {
			assert.match(await project('vote', id, '--aye', '--suri', '//Alice'), /voted for project \d: 1000 TRY for it/);
			if (id === '3') assert.match(await refused('vote', id, '--nay', '--suri', '//Alice'), /AlreadyVoted/);
		}
		await until('all projects are active', 60, async () => {
			const projects = await project('list', '--json');
			return projects.length === 4 && projects.every(({ state }) => state === 'active');
		});
	});

	test('drillers enlist, agree on units, and are credited their part of what the units are worth', async () => {
		for (const suri of DRILLERS) drill(suri);
		for (const suri of DRILLERS) await told(suri, { event: 'enlisted' });
		// One unit of each project, recomputed and confirmed.
		for (const id of [0, 1, 2]) await happens('Credited', (event) => event.project === id, 150);
		assert.ok((await onChain('Confirmed')).length >= 3);
		// They chose what they are given: the trial when its data had come from the chain, and never what
		// may cost the honest their power.
		for (const suri of DRILLERS) {
			await told(suri, { event: 'data', project: 1 });
			const chosen = (await api.call.trainyardApi.drillingChosen(ADDRESS[suri])).map((id) => id.toNumber());
			assert.ok(chosen.length > 0 && !chosen.includes(3), `${suri} chose ${chosen}`);
		}
		const [bob] = DRILLERS;
		const agreed = await told(bob, { event: 'agreed' });
		const { project: about } = await project('show', String(agreed.project), '--json');
		assert.equal(agreed.work, Math.floor(about.difficulty / 3), 'replicas share the work');
		for (const suri of DRILLERS) assert.ok((await power(suri)) > 0n, `${suri} has no drilling power`);
		// Whoever recomputed is paid, as far as the jackpot has something.
		assert.ok((await onChain('CheckPaid')).length >= 3);
	});

	test('a driller that is killed again and again goes on, with one commitment for each unit', async () => {
		const dave = '//Dave';
		const { length: before } = log(dave, { event: 'computing' });
		for (const stage of ['computing', 'computed', 'committed']) {
			const { length } = log(dave, { event: stage });
			await told(dave, { event: stage }, 90, length + 1);
			await workers[dave].kill();
			drill(dave);
		}
		// What it began before the first kill and after it is agreed on like any other.
		const begun = log(dave, { event: 'computing' }).slice(before);
		const { assignment } = begun[begun.length - 1];
		await told(dave, { event: 'agreed', assignment }, 120);
		const mine = (await onChain('Committed')).filter(({ who }) => who === ADDRESS[dave]);
		const times = new Map();
		for (const { assignment: unit } of mine) times.set(unit, (times.get(unit) ?? 0) + 1);
		for (const { assignment: unit } of begun) assert.equal(times.get(unit), 1, `assignment ${unit}`);
		const lost = (await onChain('PowerLost')).filter(({ driller }) => driller === ADDRESS[dave]);
		assert.deepEqual(lost, [], 'it lost nothing');
	});

	test('the results of a project are shown, the best first, and drawn', async () => {
		await until(
			'both trials are done',
			120,
			async () => (await project('show', '1', '--json')).project.state === 'done',
		);
		const svg = join(folder, 'rates.svg');
		const { results } = await project('show', '1', '--svg', svg, '--json');
		assert.equal(results.length, 2);
		assert.deepEqual(
			results.map(({ index, replicas }) => [index, replicas]),
			[
				[0, 3],
				[1, 3],
			],
		);
		const [best, worst] = results.map(({ result }) => result.score);
		assert.ok(best.correct / best.labels > 0.9, `${best.correct} of ${best.labels}`);
		assert.ok(worst.correct < best.correct);
		assert.match(readFileSync(svg, 'utf8'), /learning rate/);
		assert.match(await project('show', '1'), /unit +learning rate +validation loss/);
	});

	test('a vote ends a project that nobody wants', async () => {
		assert.match(
			await project('recall', '3', '--suri', '//Alice'),
			/trainers vote until block \d+ on the end of project 3/,
		);
		assert.match(await project('show', '3'), /votes on its end until block/);
		// More must be against it than had approved it.
		assert.match(await project('vote', '3', '--nay', '--suri', '//Bob'), /1100 TRY against it/);
		const recalled = await happens('ProjectRecalled', (event) => event.project === 3);
		assert.ok(BigInt(recalled.nays) > BigInt(recalled.ayes));
		const { project: ended, results } = await project('show', '3', '--json');
		assert.equal(ended.state, 'recalled');
		assert.deepEqual(results, [], 'nobody computed a unit of it');
	});

	test('a driller that makes results up loses power to the majority', async () => {
		const dave = '//Dave';
		await workers[dave].stop();
		drill(dave, ['--test-only-cheat']);
		const lost = await happens(
			'PowerLost',
			({ driller, fault }) => driller === ADDRESS[dave] && fault === 'Contrary',
			90,
		);
		const seen = await told(dave, { event: 'not_agreed', assignment: lost.assignment }, 90);
		assert.equal(seen.work, 0);
		const others = (await onChain('PowerLost')).filter(({ driller }) => driller !== ADDRESS[dave]);
		assert.deepEqual(others, [], 'the honest lost nothing');
	});

	test('drillers who agree on made-up results are found by recomputation, and lose bond and power', async () => {
		const bonds = await Promise.all(DRILLERS.map(bond));
		for (const suri of ['//Bob', '//Charlie']) {
			await workers[suri].stop();
			drill(suri, ['--test-only-cheat']);
		}
		const forged = await happens('Forged', () => true, 120);
		const all = (await onChain('Forged')).filter(({ assignment }) => assignment === forged.assignment);
		const forgers = all.map(({ driller }) => driller);
		// One of the three may have computed this unit before it was started again, and told the truth.
		assert.ok(forgers.length >= 2, `${forgers}`);
		for (const [index, suri] of DRILLERS.entries()) {
			const forger = forgers.includes(ADDRESS[suri]);
			assert.equal(await bond(suri), forger ? bonds[index] / 2n : bonds[index], `${suri}'s bond`);
			if (forger) assert.equal(await power(suri), 0n, `${suri}'s drilling power`);
		}
		// The unit waits for others.
		const again = [...(await onChain('Reissued')), ...(await onChain('Abandoned'))];
		assert.ok(again.some(({ assignment, failure }) => assignment === forged.assignment && failure === 'Refuted'));
	});
});
