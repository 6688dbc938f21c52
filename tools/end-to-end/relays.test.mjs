// What is asked for because somebody withholds it, with the real node and the real worker. Of samples of all states,
// and of states and rows that no block carries, a relay committee is drawn, and either it has them and gives them away, or the result is lost.
// Smaller ones a stranger asks for on chain, with a pledge.
//
// All stories share one development chain, on which a rescue carries 300,000 bytes, and six verifiers, of
// which an audit takes three and a relay the other three. Every worker fetches by a line of its own, so that
// a trainer can choose whom it serves.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { events } from './lib/events.mjs';
import { accounts, feesPaid } from './lib/ledger.mjs';
import { DIGITS, Network, sleep, trainyard, until } from './lib/network.mjs';
import { anyPort, serveFiles, serveLine } from './lib/net.mjs';

const { jobFromFlags, keyFromSuri, money, postJob, send, variantName } = trainyard;

const UNIT = 10n ** 12n;
/** What a seat of a relay earns; for samples a tenth. A committee of 31 is paid for, of which there are three here. */
const FEE = UNIT / 2n;
/** Accounts of the tests, made from //Ferdie's balance. */
const TRAINERS = ['giver', 'withholder', 'keeper'];
const VERIFIERS = ['one', 'two', 'three', 'four', 'five', 'six'];
const PEOPLE = [...TRAINERS, ...VERIFIERS, 'patron', 'victim', 'buyer', 'watcher', 'stranger', 'crowd'];
/** In blocks of a second. A fourth of `Patience` is an hour of a relay. */
const PARAMETERS = [
	...Object.entries({ Reveal: 45, VerdictCommit: 30, VerdictReveal: 15, Rescue: 40, LargestRescue: 300_000 }).map(
		([name, value]) => ({ Periods: { [name]: [null, value] } }),
	),
	{ Court: { Patience: [null, 48] } },
];
/**
 * A state of this model has 461 kB, and the rows of the digits have 467. Of the small one a state has 72 kB, and may
 * have 90: a rescue carries three.
 */
const JOB = { hidden: '512', steps: '300', 'checkpoint-interval': '10', 'price-per-ut': '5000' };
const SMALL = { hidden: '80' };
/** Seconds within which a job with its audit and its relays ends. */
const JOB_SECONDS = 300;

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'relays') : mkdtempSync(join(tmpdir(), 'trainyard-relays-'));
let network, api, data, hidden;
const keys = {};
const lines = [];
/** Flags and environment of each worker, for its next start. */
const workers = {};
/** Each trainer's base URL, and to whom it gives states, whole ones (checkpoints) or parts of all (openings). */
const trainers = {};
/** Workers that have states of a result from nobody, by the root under which they are served. */
const cutOff = new Map();

const address = (name) => keys[name].address;
const nameOf = (account) => PEOPLE.find((name) => address(name) === account.toString());

/** Whether the line of a worker passes this request on: all but states and data that are withheld from it. */
function passes(name, url) {
	const asked = Object.values(trainers).find(({ base }) => url.startsWith(base));
	// No trainer gives the watcher data, and of one job the submitter does not either.
	if (name === 'watcher' && (url.endsWith('/hidden.csv') || (asked && url.includes('/blob/')))) return false;
	const [, root, kind] = /\/bundle\/([^/]*)\/(checkpoints|openings)\//.exec(url) ?? [];
	if (!root) return true;
	return cutOff.get(name) !== root && (asked?.gives(name, kind) ?? true);
}

/** Starts a worker, or starts it again as it was. */
async function start(name, role, flags) {
	if (!workers[name]) {
		const line = await serveLine((url) => passes(name, url));
		lines.push(line);
		workers[name] = { role, flags, env: line.env };
	}
	const worker = workers[name];
	return network.startWorker(worker.role, `//Ferdie//${name}`, worker.flags, name, worker.env);
}

const log = (name, wanted) => events(join(folder, name), wanted);
/** Waits until a worker has reported so many such events; returns the last of them. */
const told = (name, wanted, seconds = 60, count = 1) =>
	until(
		`${name} tells ${JSON.stringify(wanted)} ${count} time(s)`,
		seconds,
		() => log(name, wanted)[count - 1],
		() => network.fleet.check(),
	);

/** Waits until `found` gives something of a job; returns that. */
const seen = (id, what, found, seconds = JOB_SECONDS) =>
	until(
		`job ${id}: ${what}`,
		seconds,
		async () => found(await network.job(id)),
		() => network.fleet.check(),
	);
const standing = (job) => variantName(job.audit?.phase ?? '') === 'standing' && job;

/** The relays of a job that run. */
const relaysOf = async (id) => (await api.call.trainyardApi.relaysOf(id)).map((relay) => relay.toJSON());
/** Waits for a relay of a job that `like` accepts; returns it. */
const relay = (id, what, like) =>
	seen(id, what, async () => (await relaysOf(id)).find((found) => like(found, Object.keys(found.stage)[0])));

/** What the chain said of audits in the blocks after `from`: the event, with its fields by name. */
async function said(from) {
	const best = (await api.rpc.chain.getHeader()).number.toNumber();
	const found = [];
	for (let number = from + 1; number <= best; number++) {
		const at = await api.at(await api.rpc.chain.getBlockHash(number));
		for (const { event } of await at.query.system.events()) {
			if (event.section !== 'verification') continue;
			const fields = event.data.names.map((name, index) => [name, event.data[index].toJSON()]);
			found.push({ number, event: event.method, ...Object.fromEntries(fields) });
		}
	}
	return found;
}

/** Posts a job for a trainer; returns its number. */
async function order(submitter, trainer, flags) {
	const job = await jobFromFlags({ data: DIGITS, location: data.url('digits.csv'), ...JOB, ...flags });
	return (await postJob(api, keys[submitter], job, address(trainer))).id;
}

/** The most work that a whistleblower replays of a result, as its flag: two segments of this job. */
const twoSegments = ({ work, spec }) =>
	(Number((2n * BigInt(work)) / BigInt(trainyard.segments(spec))) / 1e6).toFixed(6);

/** What an account has spent since `before` besides the fees of its transactions. */
async function spent(name, before) {
	const now = await accounts(api, [address(name)]);
	const fees = (await feesPaid(api, before.block, now.block)).get(address(name)) ?? 0n;
	return before.get(address(name)).total - now.get(address(name)).total - fees;
}

const best = async () => (await api.rpc.chain.getHeader()).number.toNumber();
/** What an account has on hold because it asked for something. */
async function heldForAsking(name) {
	const holds = await api.query.balances.holds(address(name));
	const own = holds.filter(({ id }) => id.isVerification && ['Relay', 'Claim'].includes(id.asVerification.type));
	return own.reduce((sum, { amount }) => sum + amount.toBigInt(), 0n);
}

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		// Other data than those of the other jobs, which anybody has: a row less.
		hidden = join(folder, 'hidden.csv');
		const rows = readFileSync(DIGITS, 'utf8').trimEnd().split('\n');
		writeFileSync(hidden, `${rows.slice(0, -1).join('\n')}\n`);
		data = await serveFiles([DIGITS, hidden]);
		for (const name of PEOPLE) keys[name] = await keyFromSuri(`//Ferdie//${name}`);
		const gifts = PEOPLE.map((name) => api.tx.balances.transferKeepAlive(address(name), 1_000n * UNIT));
		await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri('//Ferdie'));
		const set = PARAMETERS.map((parameter) => api.tx.parameters.setParameter(parameter));
		await send(api, api.tx.sudo.sudo(api.tx.utility.batchAll(set)), await keyFromSuri('//Alice'));
		// Workers ask at their start what a rescue carries.
		for (const name of VERIFIERS) await start(name, 'verifier', ['--bond', '200']);
		for (const name of TRAINERS) {
			const port = await anyPort();
			trainers[name] = { base: `http://127.0.0.1:${port}`, gives: () => false };
			await start(name, 'trainer', ['--bond', '100', '--min-price', '5000', '--listen', `127.0.0.1:${port}`]);
			await told(name, { event: 'started' });
			await send(api, api.tx.taskMarket.postListing(UNIT, 1_000_000_000n, ''), keys[name]);
		}
		await until('the verifiers are registered', 60, async () => {
			const known = (await api.call.trainyardApi.verifiers()).map(([account]) => nameOf(account));
			return VERIFIERS.every((name) => known.includes(name));
		});
	},
	{ timeout: 180_000 },
);

after(
	async () => {
		await network?.stop();
		await data?.close();
		await Promise.all(lines.map((line) => line.close()));
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

describe('at the same time', { concurrency: 3, timeout: 420_000 }, () => {
	test('samples, data and a state that are withheld are had from committees', async () => {
		const { giver } = trainers;
		// Its audit has the states that it asks for. Nobody has parts of all of them, and a stranger has nothing,
		// until a relay is drawn.
		giver.gives = (name, kind) => VERIFIERS.includes(name) && kind === 'checkpoints';
		const id = await order('patron', 'giver', { data: hidden, location: data.url('hidden.csv') });
		const posted = await network.job(id);
		// A segment of the other job is longer than what this one looks at.
		const before = await accounts(api, [address('watcher')]);
		await start('watcher', 'whistleblower', ['--segments-per-job', '2', '--max-ut', twoSegments(posted)]);

		const stands = await seen(id, 'its result stands', standing);
		const committee = stands.audit.committee.map(({ verifier }) => nameOf(verifier));
		const members = new Set(committee);
		assert.deepEqual(
			trainyard.verdicts(stands).map(({ verdict }) => verdict),
			['replayed', 'replayed', 'replayed'],
		);
		// Seats 1 and 2 could not see how far the result moves, and replayed one more of their draw.
		const blind = committee.slice(1);
		for (const name of blind) assert.equal(log(name, { event: 'not_moved', job: id }).length, 1, name);
		const asked = new Set();
		giver.gives = (name, kind) => (kind === 'openings' ? asked : members).has(name);
		const drawn = await relay(id, 'a committee is drawn', ({ seats }) => seats.length > 0);
		assert.ok(['watcher', ...blind].includes(nameOf(drawn.by)), nameOf(drawn.by));
		assert.ok('samples' in drawn.piece, 'before anything else it is seen how far a result moves');
		const seats = drawn.seats.map(({ who }) => nameOf(who));
		assert.equal(seats.length, 3);
		assert.ok(
			seats.every((name) => VERIFIERS.includes(name) && !members.has(name)),
			`${seats} is another committee than ${[...members]}`,
		);
		seats.forEach((name) => {
			members.add(name);
			asked.add(name);
		});

		// One of them is killed when it has said that it has the samples, and comes back to show a chunk of them.
		const [killed] = seats;
		await told(killed, { event: 'relay_said', job: id, has: true });
		await network.fleet.running.find(({ name }) => name === killed).kill();
		assert.deepEqual(log(killed, { event: 'relay_shown', job: id }), []);
		await sleep(1_000);
		await start(killed);
		const held = await relay(id, 'samples are held', (found, stage) => found.id === drawn.id && stage === 'held');
		assert.deepEqual(
			held.seats.map(({ shown, lost }) => [shown, lost]),
			seats.map(() => [true, false]),
		);
		for (const name of seats) assert.ok(log(name, { event: 'relay_shown', job: id }).length > 0);

		// Anybody can ask them on chain for chunks of what they have.
		await send(api, api.tx.verification.askSeats(drawn.id, [0, 1, 2]), keys.patron);
		for (const name of seats) await told(name, { event: 'relay_shown', job: id, relay: drawn.id }, 30, 2);
		// The seats see by what these have which segment moved farthest, and replay that.
		for (const name of blind) {
			const { segment, verdict } = await told(name, { event: 'saw_moved', job: id }, 120);
			assert.deepEqual([Number.isInteger(segment), verdict], [true, 'true']);
		}
		const looked = await told('watcher', { event: 'looked_at', job: id }, 180);
		assert.ok(log('watcher', { event: 'movement', job: id }).some(({ reason }) => !reason));

		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'settled');
		assert.equal(job.replicas[0].fate, 'accepted');
		assert.deepEqual(trainyard.conservation(job), []);
		const watcher = lines[Object.keys(workers).indexOf('watcher')];
		assert.ok(watcher.refused().some((url) => url.startsWith(giver.base)));
		assert.ok(watcher.refused().includes(data.url('hidden.csv')));
		const all = await said(before.block);
		const relays = all.filter(({ event, job }) => event === 'RelayAsked' && job === id);
		// Samples once, for whoever lacks them; then rows, and the states with which its segments begin, of which
		// the first one is computed.
		const lacked = ['samples', 'rows', ...looked.segments.filter((segment) => segment > 0).map(() => 'state')];
		assert.deepEqual(
			relays.map(({ piece }) => Object.keys(piece)[0]),
			lacked,
			'a relay for each piece that was lacking',
		);
		const ends = all.filter(({ event, relay }) => event === 'RelayEnded' && relays.some((of) => of.relay === relay));
		assert.deepEqual(
			ends.map(({ held }) => held),
			lacked.map(() => true),
		);
		assert.deepEqual(
			all.filter(({ event }) => event === 'RelaySlashed'),
			[],
			'who was killed lost nothing',
		);
		// Each relay costs who asked it three fees, and what others, or it, had asked before.
		let [sum, earlier] = [0n, 0n];
		for (const { piece, who } of relays) {
			const fee = 'samples' in piece ? FEE / 10n : FEE;
			if (who === address('watcher')) sum += 3n * fee + earlier;
			earlier += 31n * fee;
		}
		assert.equal(await spent('watcher', before), sum);
		for (const name of ['watcher', 'patron']) assert.equal(await heldForAsking(name), 0n);
	});

	test('a state that a trainer withholds from a seat and a committee costs it the deposit, and its submitter nothing', async () => {
		const from = await best();
		const id = await order('victim', 'withholder', { 'checkpoint-interval': '50' });
		const drawn = await seen(id, 'its committee is drawn', ({ audit }) => audit?.committee.length === 3 && audit);
		const committee = drawn.committee.map(({ verifier }) => nameOf(verifier));
		// Two of three seats have what they ask for: a majority. The third has it from nobody.
		const lacking = committee.at(-1);
		cutOff.set(lacking, drawn.groups[0].result.true_root.slice(2));
		trainers.withholder.gives = (name) => committee.slice(0, -1).includes(name);
		const stands = await seen(id, 'its result stands', standing);
		assert.deepEqual(
			trainyard.verdicts(stands).map(({ verdict }) => verdict),
			['replayed', 'replayed', 'unavailable'],
		);
		const asked = await relay(id, 'the seat asks a committee', ({ seats }) => seats.length > 0);
		assert.equal(nameOf(asked.by), lacking);
		// No majority has it, so the trainer has an hour to serve it. It does not, and is gone.
		await relay(id, 'the trainer has its time', (found, stage) => stage === 'serving');
		const [trainer] = network.fleet.running.filter(({ name }) => name === 'withholder');
		await trainer.kill();

		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'failed');
		assert.equal(job.replicas[0].fate, 'unavailable');
		const paid = money(job);
		assert.equal(paid.refunded + paid.slashed_to_submitter, paid.escrowed);
		assert.equal(paid.slashed, BigInt(job.deposit));
		assert.deepEqual(trainyard.conservation(job), []);

		const all = await said(from);
		const asks = all.filter(({ event, job }) => event === 'RelayAsked' && job === id);
		const ends = all.filter(({ event, relay }) => event === 'RelayEnded' && relay === asked.id);
		assert.equal(asks.length, 1);
		assert.deepEqual(
			ends.map(({ held }) => held),
			[false],
		);
		// Two seats are paid for their evidence, and the third has back what it paid to the seats of the relay.
		assert.equal(paid.paid_to_verifiers + paid.prizes_to_jackpot, 2n * BigInt(job.terms.audit_fee) + 3n * FEE);
		assert.equal(await heldForAsking(lacking), 0n);
	});

	test('what a trainer withholds from a stranger is stored where it pledges more than a crowd', async () => {
		const { keeper } = trainers;
		// How far the result moves it sees.
		keeper.gives = (name, kind) => name !== 'stranger' || kind === 'openings';
		const id = await order('buyer', 'keeper', SMALL);
		const posted = await network.job(id);
		const before = await accounts(api, [address('stranger'), address('crowd')]);
		// The first pledge is a sixteenth of the largest.
		const flags = ['--segments-per-job', '2', '--max-ut', twoSegments(posted), '--max-pledge', '4'];
		await start('stranger', 'whistleblower', flags);
		// Three states are all that can be asked for at a time. The crowd is there before the stranger has
		// waited for a server to come back.
		const taken = [10, 20, 29];
		const request = api.tx.verification.request(
			id,
			0,
			taken.map((State) => ({ State })),
			0,
		);
		await seen(id, 'its evidence is revealed', (job) => trainyard.verdicts(job).length === 3);
		const isEarly = (error) => {
			assert.match(error.message, /NotCommitting/);
			return false;
		};
		await until('the crowd has asked', 60, () => send(api, request, keys.crowd).then(Boolean, isEarly));
		const looked = await told('stranger', { event: 'looked_at', job: id }, 120);
		const lacked = looked.segments.filter((segment) => segment > 0);

		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'settled');
		assert.equal(job.replicas[0].fate, 'accepted');
		assert.deepEqual(trainyard.conservation(job), []);
		const all = (await said(before.block)).filter((event) => event.job === id);
		const claims = all.filter(({ event, who }) => event === 'Asked' && who === address('stranger'));
		assert.equal(claims.length, 1);
		const [{ prepaid, pledge }] = claims.map((claim) => ({
			prepaid: BigInt(claim.prepaid),
			pledge: BigInt(claim.pledge),
		}));
		// Where the crowd asked for the very same there is room.
		const displaced = lacked.some((segment) => !taken.includes(segment));
		assert.deepEqual(
			all.filter(({ event }) => event === 'AskerDisplaced').map(({ who, by }) => [nameOf(who), nameOf(by)]),
			displaced ? [['crowd', 'stranger']] : [],
		);
		assert.equal(pledge, displaced ? UNIT / 4n : 0n);
		// A quarter of the pledge is the price of the place, and half of that of the bytes the trainer's.
		const paid = await spent('stranger', before);
		assert.ok(paid > pledge / 4n && paid <= pledge / 4n + prepaid / 2n, `of ${prepaid} and ${pledge} it paid ${paid}`);
		if (displaced) assert.equal(await spent('crowd', before), 0n);
		for (const name of ['stranger', 'crowd']) assert.equal(await heldForAsking(name), 0n);
	});
});
