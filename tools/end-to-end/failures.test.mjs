// What can go wrong around a job, with the real node and the real worker: each must get a clear
// error or a defined outcome, and nobody may lose what is not theirs to lose.
//
// All tests share one development chain and three verifiers. Each has accounts of its own, made
// from //Ferdie's balance, so that they can run at the same time.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { accounts } from './lib/ledger.mjs';
import { events } from './lib/events.mjs';
import { ADDRESS, DIGITS, Network, ROOT, sleep, trainyard, until } from './lib/network.mjs';
import { anyPort, serveFiles, serveOnce, serveSilence, serveSome } from './lib/net.mjs';

const { cutBlob, fetchBlob, jobFromFlags, keyFromSuri, money, postJob, quote, send } = trainyard;

const UNIT = 10n ** 12n;
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
/** Accounts of the tests, and what each is given. */
const PEOPLE = {
	wrongHash: 1_000n,
	noAnswer: 1_000n,
	stalled: 1_000n,
	stalledTrainer: 1_000n,
	poor: 1n,
	broke: 1n,
	careless: 1n,
	uploader: 1_000n,
	helper: 10n,
	twins: 1_000n,
	// Of 200 segments three are replayed: a deposit of many times the price.
	twin: 30_000n,
	idle: 1_000n,
	idleTrainer: 1_000n,
	liar: 1_000n,
	liarTrainer: 1_000n,
	silent: 1_000n,
	silentTrainer: 1_000n,
	pair: 1_000n,
	otherPair: 1_000n,
	pairTrainer: 1_000n,
	vanished: 1_000n,
	hidden: 1_000n,
	hiddenTrainer: 1_000n,
	miser: 1_000n,
	miserTrainer: 1_000n,
	gone: 1_000n,
	goneTrainer: 1_000n,
	patient: 1_000n,
	accused: 1_000n,
	accuser: 1_000n,
};
/**
 * Periods of this chain, in blocks of a second: the runtime's own leave hours to people and to
 * slow lines, and here somebody waits for each to pass.
 */
const PERIODS = { Reveal: 45, VerdictCommit: 40, VerdictReveal: 15, Rescue: 40 };
/** Seconds within which a job with all its audits ends. */
const JOB_SECONDS = 300;
// Of a job that says nothing else.
const SEGMENTS = 30;

const keep = process.env.TRAINYARD_LOGS;
const folder = keep ? join(keep, 'failures') : mkdtempSync(join(tmpdir(), 'trainyard-e2e-'));
let network, api, data;
/** Servers of single tests. */
const servers = [];
const keys = {};

const address = (name) => keys[name].address;
const suri = (name) => `//Ferdie//${name}`;

const bytesOf = (hex) => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));
const hexOf = (bytes) => `0x${Buffer.from(bytes).toString('hex')}`;

/** A job on the digits; `flags` as of submit-job. */
const jobOf = (flags = {}) => jobFromFlags({ data: DIGITS, location: data.url('digits.csv'), ...flags });

/**
 * The digits with one pixel changed, under a hash of their own and with a server of their own: no
 * worker has them from another job.
 */
async function ownData(name) {
	const lines = readFileSync(DIGITS, 'utf8').split('\n');
	// After the header a row for each account.
	const row = 1 + Object.keys(PEOPLE).indexOf(name);
	const [pixel, ...others] = lines[row].split(',');
	lines[row] = [pixel === '0' ? '1' : '0', ...others].join(',');
	const path = join(folder, `${name}.csv`);
	writeFileSync(path, lines.join('\n'));
	const server = await serveFiles([path]);
	servers.push(server);
	return { path, server, flags: { data: path, location: server.url(`${name}.csv`) } };
}

/** Free and held balance of an account. */
const balance = async (name) => (await accounts(api, [address(name)])).get(address(name));

/** Registers the account as a trainer, with an offer, without any worker behind it. */
async function registerTrainer(name) {
	const hardware = { cpu: '', cores: 1, memoryMib: 1, gpu: '' };
	await send(api, api.tx.hashrate.register(100n * UNIT, hardware), keys[name]);
	await send(api, api.tx.taskMarket.postListing(UNIT, 1_000_000_000n, ''), keys[name]);
}

/** Waits for a worker's event about a job. */
const event = (worker, wanted, seconds = 60) =>
	until(
		`${worker} tells ${JSON.stringify(wanted)}`,
		seconds,
		() => events(join(network.folder, worker), wanted)[0],
		() => network.fleet.check(),
	);

before(
	async () => {
		rmSync(folder, { recursive: true, force: true });
		network = new Network({ folder });
		await network.startNode({ rpcPort: await anyPort() });
		api = await network.connect();
		data = await serveFiles([DIGITS]);
		for (const name of Object.keys(PEOPLE)) keys[name] = await keyFromSuri(suri(name));
		const gifts = Object.entries(PEOPLE).map(([name, amount]) =>
			api.tx.balances.transferKeepAlive(address(name), amount * UNIT),
		);
		await send(api, api.tx.utility.batchAll(gifts), await keyFromSuri('//Ferdie'));
		const periods = Object.entries(PERIODS).map(([name, blocks]) =>
			api.tx.parameters.setParameter({ Periods: { [name]: [null, blocks] } }),
		);
		await send(api, api.tx.sudo.sudo(api.tx.utility.batchAll(periods)), await keyFromSuri('//Alice'));
		// Takes every job that is open to all and pays at least this much.
		// A trainer with jobs enough drops the downloads of others: it has room for all of them here.
		network.startWorker('trainer', '//Alice', ['--min-price', '500', '--max-parallel', '8']);
		for (const verifier of VERIFIERS) network.startWorker('verifier', verifier, ['--bond', '450']);
		await network.verifiersReady(VERIFIERS);
		await event('trainer-alice', { event: 'started' });
	},
	{ timeout: 120_000 },
);

after(
	async () => {
		await network?.stop();
		await data?.close();
		await Promise.all(servers.map((server) => server.close()));
		if (!keep) rmSync(folder, { recursive: true, force: true });
	},
	{ timeout: 60_000 },
);

describe('at the same time', { concurrency: 40, timeout: 420_000 }, () => {
	test('a port that is in use stops a node, and is named', async () => {
		const taken = createServer();
		await new Promise((resolve) => taken.listen(0, '127.0.0.1', resolve));
		const { port } = taken.address();
		const args = ['--dev', '--rpc-port', String(port), '--port', String(await anyPort()), '--no-prometheus'];
		const { status, stderr } = await network.fleet.run('node-on-a-taken-port', network.nodeBinary, args, {
			seconds: 60,
		});
		taken.close();
		assert.notEqual(status, 0);
		assert.match(stderr, new RegExp(`port ${port} is already in use`));
		assert.match(stderr, /--rpc-port/);
	});

	test('a port that is in use stops a trainer, and is named', async () => {
		const taken = createServer();
		await new Promise((resolve) => taken.listen(0, '127.0.0.1', resolve));
		const { port } = taken.address();
		const { status, stderr } = await network.worker(
			'trainer-on-a-taken-port',
			[
				'trainer',
				'--node',
				network.url,
				'--suri',
				'//Alice',
				'--dir',
				join(folder, 'taken-port'),
				'--listen',
				`127.0.0.1:${port}`,
			],
			{ seconds: 60 },
		);
		taken.close();
		assert.notEqual(status, 0);
		assert.match(stderr, new RegExp(`port ${port} .* in use`));
		assert.match(stderr, /--listen/);
	});

	test('a dataset with another hash is refused, and the job refunded', async () => {
		const own = await ownData('wrongHash');
		const job = await jobOf({ 'apply-blocks': '10', ...own.flags });
		const found = job.spec.dataset.content_hash;
		job.spec.dataset.content_hash = `0x${'42'.repeat(32)}`;
		const reason = new RegExp(`serves other data than declared: its hash is ${found}, not 0x4242`);
		await refusedAndRefunded('wrongHash', await postJob(api, keys.wrongHash, job), reason);
	});

	test('a location that does not answer is refused, and the job refunded', async () => {
		const own = await ownData('noAnswer');
		await own.server.close();
		const job = await jobOf({ 'apply-blocks': '10', ...own.flags });
		const reason = new RegExp(`${own.flags.location} does not answer: `);
		await refusedAndRefunded('noAnswer', await postJob(api, keys.noAnswer, job), reason);
	});

	test('a location that takes the request and says nothing is refused, and the job refunded', async () => {
		// Waiting takes a while: a trainer of its own, so that no other job waits for it.
		network.startWorker('trainer', suri('stalledTrainer'), ['--bond', '100', '--min-price', '5000'], 'trainer-stalled');
		await event('trainer-stalled', { event: 'started' });
		await send(api, api.tx.taskMarket.postListing(UNIT, 1_000_000_000n, ''), keys.stalledTrainer);
		const own = await ownData('stalled');
		const silence = await serveSilence();
		servers.push(silence);
		const location = silence.url('digits.csv');
		const job = await jobOf({ ...own.flags, location, 'apply-blocks': '110', 'price-per-ut': '5000' });
		const posted = await postJob(api, keys.stalled, job, address('stalledTrainer'));
		await refusedAndRefunded(
			'stalled',
			posted,
			new RegExp(`${location} (does not answer: |is too slow: )`),
			'trainer-stalled',
		);
		assert.ok(silence.connections() > 0, 'the trainer was there');
	});

	/** No trainer takes this job: it ends without applicants and costs its submitter next to nothing. */
	async function refusedAndRefunded(name, { id }, reason, trainer = 'trainer-alice') {
		const told = await event(trainer, { event: 'failed_attempt', job: id }, 150);
		assert.equal(told.action, 'fetch');
		assert.match(told.reason, reason);
		const ended = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(ended), 'no_applicants');
		const { escrowed, refunded, burned } = money(ended);
		assert.equal(refunded + burned, escrowed);
		assert.ok(burned < 1_000_000_000n, 'its place on the market, for a minute or two');
		assert.equal((await balance(name)).reserved, BigInt(ended.record), 'only for the record');
	}

	test('an account without the escrow cannot post, and is told what is missing', async () => {
		const args = [
			'--suri',
			suri('poor'),
			'--data',
			DIGITS,
			'--location',
			data.url('digits.csv'),
			'--node',
			network.url,
		];
		const script = await network.fleet.run('submit-poor', process.execPath, [
			join(ROOT, 'packages/polkadot-js/bin/submit-job.js'),
			...args,
		]);
		assert.equal(script.status, 1);
		assert.match(script.stderr, /not enough balance: the escrow is [\d.]+ TRY, \w+ has [\d.]+ TRY free/);
		assert.deepEqual(await balance('poor'), { free: UNIT, reserved: 0n, total: UNIT });
		await assert.rejects(postJob(api, keys.poor, await jobOf()), /FundsUnavailable|InsufficientBalance|balance|funds/i);
		assert.equal((await balance('poor')).reserved, 0n);
	});

	test('the command line tells an account without the escrow what is missing, and holds nothing', async () => {
		const file = join(folder, 'broke.toml');
		const example = readFileSync(join(ROOT, 'ml-worker/examples/digits.toml'), 'utf8');
		writeFileSync(file, example.replace('"data/digits.csv"', JSON.stringify(DIGITS)));
		const args = ['submit', file, '--node', network.url, '--suri', suri('broke')];
		const { status, stderr } = await network.worker('submit-broke', args, { seconds: 60 });
		assert.equal(status, 2);
		assert.match(stderr, new RegExp(`the escrow of this job is [\\d.]+ TRY, but ${address('broke')} has 1 TRY free`));
		assert.match(stderr, /Bring balance to the account/);
		assert.deepEqual(await balance('broke'), { free: UNIT, reserved: 0n, total: UNIT });
	});

	test('impossible specifications are refused with the rule that they break', async () => {
		const zeroRate = await jobOf();
		zeroRate.spec.training.learning_rate_nano = 0;
		await assert.rejects(quote(api, keys.careless, zeroRate), /BadLearningRate.*learning_rate_nano/);
		const zeroBatch = await jobOf();
		zeroBatch.spec.training.batch_size = 0;
		await assert.rejects(quote(api, keys.careless, zeroBatch), /BadBatchSize/);
		const tooLarge = await jobOf({ hidden: '65536,65536' });
		await assert.rejects(quote(api, keys.careless, tooLarge), /ModelTooLarge/);
		const overflow = await jobOf();
		overflow.terms.price_per_ut = (2n ** 128n - 1n).toString();
		await assert.rejects(quote(api, keys.careless, overflow), /AmountOverflow/);
	});

	test('chunks: wrong proof, wrong index, twice, nested and afterwards are refused; the blob comes back', async () => {
		const bytes = Uint8Array.from({ length: 10_000 }, (_, i) => (i * 31 + (i >> 8)) % 256);
		const blob = cutBlob(bytes);
		const root = `0x${Buffer.from(blob.root).toString('hex')}`;
		const { modelStorage } = api.tx;
		const chunk = (index, proof = blob.proof(index), content = blob.chunks[index]) =>
			modelStorage.uploadChunk(root, index, proof, `0x${Buffer.from(content).toString('hex')}`);
		const upload = (...args) => send(api, chunk(...args), keys.uploader);

		await assert.rejects(upload(0), /Custom error: 101/, 'nobody registered it');
		await send(api, modelStorage.register(bytes.length, blob.content, null), keys.uploader);
		await assert.rejects(upload(0, blob.proof(1)), /Custom error: 106/);
		await assert.rejects(upload(0, [], blob.chunks[1]), /Custom error: 106/);
		await assert.rejects(upload(3, [], blob.chunks[0]), /Custom error: 103/, 'there is no such chunk');
		await assert.rejects(upload(2, blob.proof(2), blob.chunks[0]), /Custom error: 104/, 'its length is another');

		const batch = api.tx.utility.batchAll([chunk(0)]);
		await assert.rejects(send(api, batch, keys.uploader), /NotTopLevel/);
		await send(api, api.tx.proxy.addProxy(address('helper'), 'Any', 0), keys.uploader);
		const proxied = await send(api, api.tx.proxy.proxy(address('uploader'), null, chunk(0)), keys.helper);
		const result = proxied.events.find((found) => api.events.proxy.ProxyExecuted.is(found)).data[0];
		assert.ok(result.isErr, 'the call inside the proxy fails');
		assert.match(trainyard.explainDispatchError(api.registry, result.asErr), /NotTopLevel/);
		assert.equal((await api.call.trainyardApi.blob(root)).unwrap().missing.length, 3, 'nothing of that was stored');

		await upload(1);
		await assert.rejects(upload(1), /Custom error: 102/, 'it is stored already');
		await upload(0);
		await upload(2);
		await assert.rejects(upload(2), /Custom error: 102/, 'the blob is complete');
		await assert.rejects(
			send(api, modelStorage.register(bytes.length, blob.content, null), keys.uploader),
			/AlreadyComplete/,
		);
		assert.deepEqual(await fetchBlob(api, root), bytes);
	});

	test('a trainer killed in the middle of training resumes, and ends with the same bundle', async () => {
		// Long enough to be met in the middle; another trainer trains the same undisturbed.
		const flags = {
			steps: '40000',
			'checkpoint-interval': '200',
			replicas: '2',
			'price-per-ut': '3000',
			'training-blocks': '300',
		};
		// More than other jobs pay; each of two replicas is paid 0.575 of the price.
		const twin = ['--bond', '100', '--min-price', '1500'];
		network.startWorker('trainer', suri('twin'), twin, 'trainer-twin');
		await event('trainer-twin', { event: 'started' });
		const { id } = await postJob(api, keys.twins, await jobOf(flags));
		const begun = await event('trainer-twin', { event: 'training', job: id });
		assert.equal(begun.from_step, 0);
		const checkpoints = () =>
			readdirSync(join(folder, 'trainer-twin'), { recursive: true }).filter((file) =>
				/step-0*[1-9]\d*\.safetensors$/.test(file),
			);
		await until('the first checkpoints are written', 60, async () => checkpoints().length > 1);
		const [killed] = network.fleet.running.filter(({ name }) => name === 'trainer-twin');
		await killed.kill();
		assert.equal(
			events(join(folder, 'trainer-twin'), { event: 'trained', job: id }).length,
			0,
			'it was killed in the middle',
		);
		network.startWorker('trainer', suri('twin'), twin, 'trainer-twin');
		const trained = await event('trainer-twin', { event: 'trained', job: id }, 150);
		assert.ok(trained.from_step > 0, 'it did not begin again');

		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'settled');
		assert.deepEqual(
			job.replicas.map(({ fate }) => fate),
			['accepted', 'accepted'],
		);
		const [one, other] = job.replicas.map(({ reveal }) => reveal);
		assert.equal(one.true_root, other.true_root);
		assert.notEqual(one.bundle_root, other.bundle_root, 'each forces leaves of its own');
		assert.equal(one.model_root, other.model_root);
		assert.deepEqual(trainyard.conservation(job), []);
	});

	/**
	 * Applies for a job for a trainer without a daemon. Applying names the job's digest: no other will do. It
	 * is bound to a secret that it never shows.
	 */
	async function applyByHand(id, trainer) {
		const { digest } = (await api.query.taskMarket.jobs(id)).unwrap();
		const [other, secret] = [1, 8].map((byte) => new Uint8Array(32).fill(byte));
		const forced = trainyard.forcedCommitment(secret);
		await assert.rejects(send(api, api.tx.taskMarket.apply(id, other, forced), keys[trainer]), /OtherJob/);
		await send(api, api.tx.taskMarket.apply(id, digest, forced), keys[trainer]);
	}

	test('a trainer that never commits loses its deposit, and its submitter nothing', async () => {
		await registerTrainer('idleTrainer');
		const { id } = await postJob(api, keys.idle, await jobOf({ 'training-blocks': '5' }), address('idleTrainer'));
		await applyByHand(id, 'idleTrainer');
		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'failed');
		assert.equal(job.replicas[0].fate, 'not_committed');
		const paid = money(job);
		assert.equal(paid.refunded, paid.escrowed);
		assert.equal(paid.slashed, BigInt(job.deposit));
		assert.deepEqual(trainyard.conservation(job), []);
		assert.equal((await balance('idleTrainer')).reserved, 100n * UNIT, 'only the bond is held');
	});

	/** Commits to made-up roots for a trainer without a daemon, and waits until revealing begins. */
	async function commitByHand(id, trainer) {
		await until('training begins', 60, async () => (await network.job(id)).state === 'training');
		const fill = (byte) => new Uint8Array(32).fill(byte);
		const commitment = trainyard.resultCommitment({
			genesis: api.genesisHash.toU8a(),
			job: id,
			account: keys[trainer].publicKey,
			bundleRoot: fill(1),
			trueRoot: fill(4),
			modelRoot: fill(2),
			segments: SEGMENTS,
			salt: fill(3),
		});
		await send(api, api.tx.submissions.commit(id, commitment), keys[trainer]);
		await assert.rejects(send(api, api.tx.submissions.commit(id, fill(9)), keys[trainer]), /NotCommitting/);
		await until('revealing begins', 60, async () => (await network.job(id)).state === 'revealing');
		return fill;
	}

	test('a trainer that never reveals loses its deposit, and its submitter nothing', async () => {
		await registerTrainer('silentTrainer');
		const { id } = await postJob(api, keys.silent, await jobOf({ 'training-blocks': '30' }), address('silentTrainer'));
		await applyByHand(id, 'silentTrainer');
		await commitByHand(id, 'silentTrainer');
		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'failed');
		assert.equal(job.replicas[0].fate, 'not_revealed');
		const paid = money(job);
		assert.equal(paid.refunded, paid.escrowed);
		assert.equal(paid.slashed, BigInt(job.deposit));
		assert.deepEqual(trainyard.conservation(job), []);
		assert.equal((await balance('silentTrainer')).reserved, 100n * UNIT, 'only the bond is held');
		assert.equal((await balance('silent')).reserved, BigInt(job.record), 'only for the record');
	});

	test('a trainer cannot reveal another result than the one that it committed to', async () => {
		await registerTrainer('liarTrainer');
		const { id } = await postJob(api, keys.liar, await jobOf({ 'training-blocks': '30' }), address('liarTrainer'));
		await applyByHand(id, 'liarTrainer');
		const fill = await commitByHand(id, 'liarTrainer');
		const reveal = (bundle, segments = SEGMENTS) => {
			const roots = { bundleRoot: fill(bundle), trueRoot: fill(4), modelRoot: fill(2) };
			const result = { ...roots, segments, diverged: false, location: 'http://127.0.0.1:1' };
			return send(api, api.tx.submissions.reveal(id, result, fill(3)), keys.liarTrainer);
		};
		await assert.rejects(reveal(7), /RevealMismatch/);
		await assert.rejects(reveal(1, SEGMENTS - 1), /RevealMismatch/);
		await reveal(1);
		// It has no such model, so it cannot store it.
		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(job.replicas[0].fate, 'model_missing');
		assert.equal(money(job).refunded, money(job).escrowed);
		assert.deepEqual(trainyard.conservation(job), []);
	});

	/** Orders a job from a trainer whose server is where it says nobody looks, or behind `serving`. */
	async function orderFromHidden(name, dataFlags = {}, serving = []) {
		const worker = `trainer-${name}`;
		const trainer = `${name}Trainer`;
		const hidden = serving.length > 0 ? serving : ['--public-url', `http://127.0.0.1:${await anyPort()}`];
		const flags = ['--bond', '100', '--min-price', '5000', ...hidden];
		network.startWorker('trainer', suri(trainer), flags, worker);
		await event(worker, { event: 'started' });
		await send(api, api.tx.taskMarket.postListing(UNIT, 1_000_000_000n, ''), keys[trainer]);
		const { id } = await postJob(
			api,
			keys[name],
			await jobOf({ 'price-per-ut': '5000', ...dataFlags }),
			address(trainer),
		);
		return id;
	}

	test('one trainer does two jobs at once', async () => {
		const flags = ['--bond', '100', '--min-price', '5000', '--max-parallel', '2'];
		network.startWorker('trainer', suri('pairTrainer'), flags, 'trainer-pair');
		await event('trainer-pair', { event: 'started' });
		await send(api, api.tx.taskMarket.postListing(UNIT, 1_000_000_000n, ''), keys.pairTrainer);
		const job = await jobOf({ 'price-per-ut': '5000' });
		const post = async (name) => (await postJob(api, keys[name], job, address('pairTrainer'))).id;
		const ids = await Promise.all(['pair', 'otherPair'].map(post));
		const jobs = await Promise.all(ids.map((id) => network.ended(id, JOB_SECONDS)));
		for (const job of jobs) {
			assert.equal(trainyard.ending(job), 'settled');
			assert.deepEqual(
				job.replicas.map(({ trainer, fate }) => [trainer, fate]),
				[[address('pairTrainer'), 'accepted']],
			);
			assert.deepEqual(trainyard.conservation(job), []);
		}
		// It had both in hand before it showed the result of either.
		const told = (name) => ids.map((id) => events(join(folder, 'trainer-pair'), { event: name, job: id })[0].time);
		assert.ok(Math.max(...told('applied')) < Math.min(...told('revealed')));
		assert.notEqual(
			jobs[0].replicas[0].reveal.bundle_root,
			jobs[1].replicas[0].reveal.bundle_root,
			'each has its own seed',
		);
	});

	test('a dataset that disappears after the training is had from the trainer, and the work accepted', async () => {
		const own = await ownData('vanished');
		const { id } = await postJob(api, keys.vanished, await jobOf(own.flags));
		await event('trainer-alice', { event: 'trained', job: id }, 180);
		await own.server.close();
		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'settled');
		assert.equal(job.replicas[0].fate, 'accepted');
		assert.deepEqual(
			trainyard.verdicts(job).map(({ verdict }) => verdict),
			['replayed', 'replayed', 'replayed'],
		);
		assert.equal(own.server.requests.length, 1, 'nobody but the trainer had the data from the submitter');
		assert.deepEqual(trainyard.conservation(job), []);
	});

	test('what a trainer gives to one verifier only, the others have from that one', async () => {
		const port = await anyPort();
		const miser = await serveOnce(port);
		servers.push(miser);
		const id = await orderFromHidden('miser', {}, ['--listen', `127.0.0.1:${port}`, '--public-url', miser.url]);
		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'settled');
		assert.equal(job.replicas[0].fate, 'accepted');
		assert.deepEqual(
			job.audit.committee.map(({ findings }) => findings !== null),
			VERIFIERS.map(() => true),
		);
		assert.ok(miser.refused().length > 0, 'two of three had nothing from the trainer');
		assert.deepEqual(events(join(network.folder, 'trainer-miser'), { event: 'rescue', job: id }), []);
		assert.deepEqual(job.audit.groups[0].rescued, [], 'nothing was stored on chain');
		assert.deepEqual(trainyard.conservation(job), []);
	});

	test('a bundle and its data that nobody can fetch are rescued on chain, and accepted', async () => {
		const own = await ownData('hidden');
		// Parts of all states no block carries: who gives these to nobody loses its result.
		const port = await anyPort();
		const parts = await serveSome(port, (url) => url.includes('/openings/'));
		servers.push(parts);
		const serving = ['--listen', `127.0.0.1:${port}`, '--public-url', parts.url];
		const id = await orderFromHidden('hidden', own.flags, serving);
		await event('trainer-hidden', { event: 'trained', job: id }, 180);
		await own.server.close();
		const rescued = await event('trainer-hidden', { event: 'rescued', job: id }, 180);
		assert.ok(rescued.bytes > 0);
		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'settled');
		assert.equal(job.replicas[0].fate, 'accepted');
		assert.equal(job.audit.round, 0, 'the committee that asked for it went on');
		assert.deepEqual(trainyard.conservation(job), []);
	});

	test('a false accusation is answered by the trainer alone, and pays it', async () => {
		const { id } = await postJob(api, keys.accused, await jobOf({ 'price-per-ut': '700' }));
		const standing = ({ audit }) => trainyard.variantName(audit?.phase ?? '') === 'standing';
		const seen = async () => {
			const job = await network.job(id);
			return job && standing(job) && job;
		};
		const job = await until('the result stands', JOB_SECONDS, seen, () => network.fleet.check());
		// Of the third segment somebody claims another state at its end, and shows what the trainer said: in the
		// manifest that others are shown, where leaves are forced to be false.
		const [folderOf] = readdirSync(join(folder, 'trainer-alice'), { recursive: true }).filter((file) =>
			new RegExp(`jobs/${id}-[0-9a-f]*/bundle/shown.json$`).test(file),
		);
		const manifest = JSON.parse(readFileSync(join(folder, 'trainer-alice', folderOf), 'utf8'));
		const bits = (loss) => new Uint32Array(new Float32Array([loss]).buffer)[0];
		const leaves = manifest.checkpoints.map(({ step, state_hash: state, validation, trace }) => ({
			step,
			state,
			evaluation: { lossBits: bits(validation.loss), correct: validation.correct, labels: validation.rows },
			trace,
		}));
		const hashes = manifest.checkpoints.map(({ step, state_hash, validation, trace }) =>
			trainyard.checkpointLeaf({
				step,
				state: bytesOf(state_hash),
				evaluation: { loss: validation.loss, correct: validation.correct, labels: validation.rows },
				trace: bytesOf(trace),
			}),
		);
		assert.equal(hexOf(trainyard.merkleRoot(hashes)), job.replicas[0].reveal.bundle_root);
		const segment = 2;
		const shown = [segment, segment + 1].map((index) => ({
			content: { Checkpoint: leaves[index] },
			path: trainyard.merkleProof(hashes, index).map(hexOf),
		}));
		const { state: _, step: __, ...rest } = leaves[segment + 1];
		const accusation = {
			defendant: { Trainer: { job: id, who: job.replicas[0].trainer } },
			target: { Segment: segment },
			claimed: { End: { Checkpoint: { state: `0x${'77'.repeat(32)}`, ...rest } } },
			leaves: shown,
		};
		const salt = new Uint8Array(32).fill(7);
		const challenge = api.tx.court.challenge(accusation, salt);
		const { defendant, target, claimed } = challenge.args[0];
		const hash = trainyard.challengeCommitment({
			genesis: api.genesisHash.toU8a(),
			challenger: keys.accuser.publicKey,
			defendant: defendant.toU8a(),
			target: target.toU8a(),
			claimed: claimed.toU8a(),
			salt,
		});
		await assert.rejects(send(api, challenge, keys.accuser), /NotCommitted/);
		await send(api, api.tx.court.commit(id, hash), keys.accuser);
		const before = await balance('accuser');
		assert.ok(before.reserved > 6n * UNIT, 'the deposit of a challenge is held');
		const sent = await send(api, challenge, keys.accuser);
		const [number] = sent.events.find((found) => api.events.court.Challenged.is(found)).data;
		const dispute = Number(number);
		// The trainer opens what it said, and it is the accuser's turn.
		const answered = await until(
			'the trainer answers',
			25,
			async () => {
				const view = await trainyard.rpc(api, 'trainyard_dispute', [dispute]);
				return view?.turn === 'challenger' && view;
			},
			() => network.fleet.check(),
		);
		assert.ok(answered.moves >= 1, 'one move at least');
		assert.equal(answered.challenger, address('accuser'));
		assert.equal((await trainyard.rpc(api, 'trainyard_disputes', [id])).length, 1);
		const tell = async () => {
			const told = await network.worker('dispute', ['dispute', String(dispute), '--node', network.url]);
			assert.equal(told.status, 0, told.stderr);
			return told.stdout;
		};
		assert.match(await tell(), /challenger/);
		// It says nothing more, and its clock runs out: what it put at stake is the trainer's.
		const done = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(done), 'settled');
		assert.equal(done.replicas[0].fate, 'accepted');
		assert.equal(trainyard.money(done).won, before.reserved);
		assert.equal((await balance('accuser')).reserved, 0n);
		assert.equal(await trainyard.rpc(api, 'trainyard_dispute', [dispute]), null, 'it is over');
		assert.match(await tell(), new RegExp(`dispute ${dispute}`));
		assert.deepEqual(trainyard.conservation(done), []);
	});

	test('a bundle that disappears for good costs its trainer the deposit, and its submitter nothing', async () => {
		const id = await orderFromHidden('gone');
		await until('the audit begins', JOB_SECONDS, async () => (await network.job(id)).state === 'auditing');
		const [trainer] = network.fleet.running.filter(({ name }) => name === 'trainer-gone');
		await trainer.kill();
		const job = await network.ended(id, JOB_SECONDS);
		assert.equal(trainyard.ending(job), 'failed');
		assert.equal(job.replicas[0].fate, 'unavailable');
		const paid = money(job);
		assert.equal(paid.refunded + paid.slashed_to_submitter, paid.escrowed);
		assert.equal(paid.slashed, BigInt(job.deposit));
		assert.deepEqual(trainyard.conservation(job), []);
		// Its bond and the deposit of the model that it stored are still held.
		const holds = await api.query.balances.holds(address('goneTrainer'));
		assert.deepEqual(holds.map(({ id }) => id.type).sort(), ['Hashrate', 'ModelStorage']);
	});
});

test('a node that restarts and a verifier that is gone do not stop a job', { timeout: 420_000 }, async () => {
	const [eve] = network.fleet.running.filter(({ name }) => name === 'verifier-eve');
	await eve.stop();
	const bonds = async () =>
		new Map((await api.call.trainyardApi.verifiers()).map(([who, bond]) => [who.toString(), bond.toBigInt()]));
	const before = await bonds();
	const { id } = await postJob(api, keys.patient, await jobOf());
	await until('training begins', 60, async () => (await network.job(id)).state === 'training');
	await network.node.kill();
	await sleep(3_000);
	await network.startNode();
	await until('polkadot.js reconnects', 60, () => api.isConnected);

	const job = await network.ended(id, 300);
	assert.equal(trainyard.ending(job), 'settled');
	assert.equal(job.replicas[0].fate, 'accepted');
	const said = new Map(job.audit.committee.map(({ verifier, findings }) => [verifier, findings !== null]));
	assert.deepEqual([...said.values()].filter(Boolean).length, 2);
	assert.equal(said.get(ADDRESS['//Eve']), false);
	// A tenth is the prize of who finds a forced error.
	const { paid_to_verifiers: paid, prizes_to_jackpot: unearned } = money(job);
	const fees = 2n * BigInt(job.terms.audit_fee);
	assert.equal(paid + unearned, fees, 'who served is paid');
	assert.ok(paid * 10n >= fees * 9n, `of ${fees} those who served have ${paid}`);
	const now = await bonds();
	// Its bond was the least that is allowed, and it keeps its place; after three absences it is paused.
	assert.ok((now.get(ADDRESS['//Eve']) ?? 0n) < before.get(ADDRESS['//Eve']), 'who did not loses a part of its bond');
	assert.equal(now.get(ADDRESS['//Dave']), before.get(ADDRESS['//Dave']));
	assert.deepEqual(trainyard.conservation(job), []);
});
