#!/usr/bin/env node
// The main job, end to end, with real processes: a chain, a trainer, three verifiers, a cheat,
// two jobs, the money, the power, and the model read back from the chain. Everything that it
// prints it also checks; a wrong value ends it with an error.
//
//   demo.mjs [--keep] [--dir DIR] [--bin DIR]

import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { events } from './lib/events.mjs';
import { accounts, feesPaid } from './lib/ledger.mjs';
import { ADDRESS, DIGITS, Network, ROOT, defaultBin, trainyard, until } from './lib/network.mjs';
import { serveFiles } from './lib/net.mjs';
import { Steps, bold, green, note, shell, tellFailure } from './lib/output.mjs';

const { conservation, ending, formatAmount, formatWork, money, standing, summary } = trainyard;

/** Put into every folder that a demo made, so that it clears no other. */
const MARK = '.trainyard-demo';
/** The two submitters; they do nothing else, so their balances tell what a job cost. */
const [HONEST, CHEATED] = ['//Ferdie', '//Ferdie//second'];
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
/** The honest trainer and authority, and the cheat. */
const [TRAINER, CHEAT] = ['//Alice', '//Bob'];
/** What the submitter of each job pays for one ut, in TRY. The cheat asks for more than the first. */
const PRICE = { honest: '1000', cheat: '2000' };
/** Segments, of 30, that each verifier draws. Of the cheat's run each segment is false. */
const REPLAYED = 3;
const LEAST_ACCURACY = 0.95;
const UNIT = 10n ** 12n;
/** Bond of each worker, in TRY. */
const BOND = '100';

const { values: options } = parseArgs({
	options: { keep: { type: 'boolean' }, dir: { type: 'string' }, bin: { type: 'string' } },
});
const folder = resolve(options.dir ?? join(ROOT, '.demo'));
const bin = options.bin ?? defaultBin();

const checks = { passed: 0, failed: 0 };
/** Checks a fact and prints it; a false one ends the demo. */
function check(fact, holds, found = '') {
	if (!holds) {
		checks.failed++;
		throw new Error(`this should hold, and does not: ${fact}${found === '' ? '' : ` (found ${found})`}`);
	}
	checks.passed++;
	note(`${green('✓')} ${fact}`);
}

/** Clears the folder of an earlier demo; any other folder must be empty. */
function prepareFolder() {
	if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, MARK))) {
		throw new Error(`${folder} is not empty and not of an earlier demo. Choose another folder: --dir DIR`);
	}
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, MARK), 'Made by scripts/demo, which clears this folder when it runs again.\n');
}

/** Prints each new standing of a job. */
function watcher(id) {
	let last = '';
	return (job) => {
		const now = job ? standing(job) : 'not there yet';
		if (now !== last) note(`job ${id}: ${now}`);
		last = now;
	};
}

/** The session of the chain, and the weight that Alice has in BABE's announced authorities. */
async function announced(api) {
	const [session, authorities] = await Promise.all([
		api.query.session.currentIndex(),
		api.query.babe.nextAuthorities(),
	]);
	return { session: session.toNumber(), weights: authorities.map(([, weight]) => weight.toBigInt()) };
}

async function run(steps, network) {
	const { fleet } = network;
	const trainerFolder = join(network.folder, 'trainer-alice');
	const jobFile = join(folder, 'job.toml');
	let data;
	const api = await steps.step('Start a development chain', async () => {
		await network.startNode();
		const api = await network.connect();
		data = await serveFiles([DIGITS]);
		if (network.rpcPort !== 9944) note('port 9944 is in use by another program, so the node listens elsewhere');
		note(`node at ${network.url}, log in ${network.node.logFile}`);
		note(`the submitter serves its data at ${data.url('digits.csv')}`);
		return api;
	});

	await steps.step('Start a trainer, three verifiers and a cheat', async () => {
		network.startWorker('trainer', TRAINER);
		network.startWorker('trainer', CHEAT, [
			...['--bond', BOND],
			...['--min-price', PRICE.cheat],
			'--test-only-half-rate',
		]);
		for (const suri of VERIFIERS) network.startWorker('verifier', suri, ['--bond', BOND]);
		await Promise.all([network.trainersReady([TRAINER, CHEAT]), network.verifiersReady(VERIFIERS)]);
		const second = await trainyard.keyFromSuri(CHEATED);
		ADDRESS[CHEATED] = second.address;
		trainyard.DEVELOPMENT_NAMES[second.address] = CHEATED;
		// Who orders from the cheat gets it, and nobody else.
		const offer = ['offer', '--node', network.url, '--suri', CHEAT, '--price', PRICE.cheat];
		note(`$ trainyard ${shell(offer)}`);
		await fleet.must('offer', network.workerBinary, offer);
		const funds = api.tx.balances.transferKeepAlive(second.address, 1_000n * UNIT);
		await trainyard.send(api, funds, await trainyard.keyFromSuri(HONEST));
		note(`${TRAINER} and ${CHEAT} train, ${VERIFIERS.join(', ')} verify; ${CHEAT} trains at half of the learning rate`);
	});

	const before = {
		accounts: await accounts(
			api,
			[HONEST, CHEATED].map((suri) => ADDRESS[suri]),
		),
		power: (await trainyard.trainers(api)).find(({ account }) => account === ADDRESS[TRAINER]),
		announced: await announced(api),
	};

	const ids = await steps.step('Post two jobs', async () => {
		const post = ['--suri', HONEST, '--data', DIGITS, '--location', data.url('digits.csv'), '--hidden', '64,32'];
		const shape = ['--steps', '1500', '--batch-size', '32', '--checkpoint-interval', '50', '--optimizer', 'adamw'];
		const terms = [
			'--price-per-ut',
			PRICE.honest,
			'--replicas',
			'1',
			'--audit-segments',
			String(REPLAYED),
			'--apply-blocks',
			'5',
		];
		const args = [...post, ...shape, ...terms];
		note(`$ node packages/polkadot-js/bin/submit-job.js ${shell(args)}`);
		const posted = await network.script('submit-job', 'submit-job', [...args, '--json']);
		const first = JSON.parse(posted.stdout);
		note(
			`job ${first.job}: posted from polkadot.js, ${formatWork(first.work)}, ${formatAmount(first.escrow)} in escrow`,
		);

		writeFileSync(jobFile, jobToml(data.url('digits.csv')));
		const submit = ['submit', jobFile, '--node', network.url, '--suri', CHEATED, '--trainer', ADDRESS[CHEAT]];
		note(`$ trainyard ${shell(submit)}`);
		const follower = fleet.start('submit', network.workerBinary, submit);
		// It ends by itself, with another exit status than 0: the job will fail.
		follower.expected = true;
		const second = await until(
			'the second job is posted',
			30,
			async () => (await network.job(first.job + 1)) && first.job + 1,
			() => {
				if (!follower.alive) throw new Error(follower.obituary('before it had posted the job'));
			},
		);
		note(`job ${second}: posted from the command line, ordered from ${CHEAT}`);
		return { honest: first.job, cheat: second, follower };
	});

	let settledIn;
	const [honest, cheat] = await steps.step('Wait: train, commit, reveal, store, audit, settle', () =>
		Promise.all([
			network.ended(ids.honest, 150, watcher(ids.honest)).then(async (job) => {
				settledIn = (await announced(api)).session;
				return job;
			}),
			network.ended(ids.cheat, 150, watcher(ids.cheat)),
		]),
	);

	await steps.step('Check the honest job', () => {
		const [replica] = honest.replicas;
		const paid = money(honest);
		check('it settled', ending(honest) === 'settled', ending(honest));
		check(
			`${TRAINER} trained it and was accepted`,
			replica.trainer === ADDRESS[TRAINER] && replica.fate === 'accepted',
			replica.fate,
		);
		checkVerdicts(honest, 'replayed');
		const price = priceOf(honest);
		check(
			`${TRAINER} was paid by the ut: ${formatAmount(price)}`,
			paid.paid_to_trainers === price,
			paid.paid_to_trainers,
		);
		const fees = BigInt(honest.terms.audit_fee) * BigInt(VERIFIERS.length);
		const earned = paid.paid_to_verifiers + paid.prizes_to_jackpot;
		check(
			`the verifiers were paid ${formatAmount(fees)}, less the prize where nobody found a forced error`,
			earned === fees && paid.paid_to_verifiers * 10n >= fees * 9n,
			paid.paid_to_verifiers,
		);
		check('nothing was slashed', paid.slashed === 0n, paid.slashed);
		checkMoney(honest);
	});

	await steps.step('Check the job of the cheat', async () => {
		const [replica] = cheat.replicas;
		const paid = money(cheat);
		check('it failed', ending(cheat) === 'failed', ending(cheat));
		check(
			`${CHEAT} trained it and was rejected`,
			replica.trainer === ADDRESS[CHEAT] && replica.fate === 'rejected',
			replica.fate,
		);
		checkVerdicts(cheat, 'rejected');
		await checkConviction(api, network);
		check(
			`its deposit of ${formatAmount(cheat.deposit)} was slashed`,
			paid.slashed === BigInt(cheat.deposit),
			paid.slashed,
		);
		const back = paid.refunded + paid.slashed_to_submitter;
		check(`the submitter got back all of ${formatAmount(paid.escrowed)}`, back === paid.escrowed, back);
		check('no trainer was paid', paid.paid_to_trainers === 0n, paid.paid_to_trainers);
		const rest = paid.slashed - paid.slashed_to_submitter;
		check(
			"half of the rest of the deposit was burned, and a quarter is the finder's, who brought the proof",
			paid.slashed_burned === rest / 2n && paid.slashed_to_finders === rest / 4n,
			`${paid.slashed_burned} and ${paid.slashed_to_finders} of ${rest}`,
		);
		checkMoney(cheat);
		await ids.follower.exited;
		check('"trainyard submit" told it by its exit status', ids.follower.code === 1, ids.follower.code);
	});

	await steps.step('Check the balances of the submitters', async () => {
		const after = await accounts(
			api,
			[HONEST, CHEATED].map((suri) => ADDRESS[suri]),
		);
		const fees = await feesPaid(api, before.accounts.block, after.block);
		for (const [suri, job] of [
			[HONEST, honest],
			[CHEATED, cheat],
		]) {
			const who = ADDRESS[suri];
			const paid = money(job);
			const cost = paid.escrowed - paid.refunded - paid.slashed_to_submitter;
			const spent = before.accounts.get(who).total - after.get(who).total;
			const fee = fees.get(who) ?? 0n;
			check(
				`${suri} spent ${formatAmount(cost)} on its job and ${formatAmount(fee)} on transactions, and nothing is held but for its record`,
				spent === cost + fee && after.get(who).reserved === BigInt(job.record),
				`${spent} spent, ${after.get(who).reserved} held`,
			);
		}
	});

	await steps.step('Wait for the power to count in BABE', async () => {
		const now = (await trainyard.trainers(api)).find(({ account }) => account === ADDRESS[TRAINER]);
		const credited = now.trainingTotal - before.power.trainingTotal;
		// Its training steps: evaluations are paid and earn no power.
		const { training } = honest;
		check(`${TRAINER} was credited ${formatWork(training)} of work`, credited === BigInt(training), credited);
		const found = await until(
			'the announced weights change',
			60,
			async () => {
				const next = await announced(api);
				return next.weights[0] > before.announced.weights[0] && next;
			},
			() => fleet.check(),
		);
		check(
			`the announced weight rose from ${before.announced.weights[0]} to ${found.weights[0]} within two session rotations`,
			found.session <= settledIn + 2,
			`${found.session - settledIn} rotations`,
		);
		const listed = await network.script('trainers', 'trainers', []);
		note(listed.stdout.trimEnd());
	});

	const accuracy = await steps.step('Read the model back from the chain', async () => {
		const model = join(folder, 'model-from-chain.safetensors');
		const fetched = JSON.parse(
			(await network.script('fetch-model', 'fetch-model', [String(ids.honest), '--out', model, '--json'])).stdout,
		);
		check(
			`${fetched.bytes} bytes in ${fetched.chunks} chunks match the root ${fetched.root}`,
			fetched.root === honest.replicas[0].reveal.model_root,
			fetched.root,
		);
		// Both jobs train the same; the file says which rows validate.
		const evaluation = await fleet.must('evaluate', network.workerBinary, ['evaluate', model, jobFile, '--json']);
		const { accuracy } = JSON.parse(evaluation.stdout);
		check(
			`its validation accuracy is at least ${LEAST_ACCURACY * 100} %: ${(accuracy * 100).toFixed(2)} %`,
			accuracy >= LEAST_ACCURACY,
			accuracy,
		);
		const [trained] = events(trainerFolder, { event: 'trained', job: ids.honest });
		check('and it is the one that the trainer measured', trained.accuracy === accuracy, trained.accuracy);
		return accuracy;
	});

	await steps.step('Check that the chain is final', async () => {
		const { number } = await api.rpc.chain.getHeader(await api.rpc.chain.getFinalizedHead());
		const best = (await api.rpc.chain.getHeader()).number.toNumber();
		check(
			`GRANDPA follows: block ${number} of ${best} is final`,
			best - number.toNumber() <= 10,
			best - number.toNumber(),
		);
		fleet.check();
	});

	const curves = await steps.step('Draw the curves', async () => {
		const [trained] = events(trainerFolder, { event: 'trained', job: ids.honest });
		await fleet.must('plot', network.workerBinary, ['plot', trained.folder]);
		const picture = join(folder, 'curves.svg');
		copyFileSync(join(trained.folder, 'curves.svg'), picture);
		check('there is a picture of loss and accuracy', readFileSync(picture, 'utf8').includes('<svg'));
		return picture;
	});

	console.log(`\n${bold('Summary')}\n`);
	console.log(
		summary([honest, cheat], {
			[honest.id]: { accuracy, ...times(network, honest) },
			[cheat.id]: times(network, cheat),
		}),
	);
	return { data, curves };
}

/** Seconds of training, and of replay by a verifier in the mean, as the workers measured them. */
function times(network, job) {
	const mean = (values) => (values.length > 0 ? values.reduce((a, b) => a + b) / values.length : undefined);
	const told = (names, event, field) =>
		mean(
			names.flatMap((name) => events(join(network.folder, name), { event, job: job.id }).map((found) => found[field])),
		);
	return {
		trainingSeconds: told(['trainer-alice', 'trainer-bob'], 'trained', 'seconds'),
		replaySeconds: told(
			VERIFIERS.map((suri) => `verifier-${suri.slice(2).toLowerCase()}`),
			'verdict',
			'replay_seconds',
		),
	};
}

/** Work times price, rounded up, as the chain prices it. */
const priceOf = (job) => (BigInt(job.work) * BigInt(job.terms.price_per_ut) + 999_999n) / 1_000_000n;

function checkVerdicts(job, expected) {
	const all = trainyard.verdicts(job);
	check(
		`${VERIFIERS.length} verifiers replayed segments ${trainyard.replayedText(job) || '-'}: ${trainyard.verdictsText(job)}`,
		all.length === VERIFIERS.length && all.every(({ verdict }) => verdict === expected),
		trainyard.verdictsText(job),
	);
}

/**
 * The court's word on the cheat: what the chain says of the disputes. The cheat computed what it
 * delivered, so it answers, and the dispute narrows to an element that the court computes itself.
 */
async function checkConviction(api, network) {
	const told = [];
	for (let number = 1; number <= (await api.rpc.chain.getHeader()).number.toNumber(); number++) {
		const at = await api.at(await api.rpc.chain.getBlockHash(number));
		for (const { event } of await at.query.system.events()) {
			if (event.section === 'court') told.push({ number, ...event.data.toHuman(), name: event.method });
		}
	}
	const disputes = new Set(told.filter(({ name }) => name === 'Challenged').map(({ id }) => id));
	note(`each rejection is a dispute before the court: ${disputes.size} of them`);
	check('whoever accused it is a verifier', disputes.size === VERIFIERS.length, disputes.size);
	const convicted = told.filter((event) => event.name === 'Ended' && JSON.stringify(event).includes('Convicted'));
	check('the court convicted the cheat once', convicted.length === 1, JSON.stringify(told));
	const [{ id }] = convicted;
	const story = ['dispute', id, '--node', network.url];
	note(`$ trainyard ${shell(story)}`);
	for (const line of (await network.fleet.must('dispute', network.workerBinary, story)).stdout.trimEnd().split('\n'))
		note(`  ${line}`);
	const moves = told.filter((event) => event.id === id && ['Posted', 'Opened', 'Denied'].includes(event.name));
	check('the cheat defended itself, move by move', moves.length > 4, JSON.stringify(moves));
	const judged = told.filter((event) => event.id === id && event.name === 'Judged');
	check(
		'and the court itself computed the element on which they differed',
		judged.length === 1 && JSON.stringify(convicted).includes('"byClock":false'),
		JSON.stringify(convicted),
	);
}

function checkMoney(job) {
	const wrong = conservation(job);
	check('what came in equals what went out', wrong.length === 0, wrong.join('; '));
}

/** The second job: the same training, for the command line. */
function jobToml(location) {
	return `# The same training as the first job, paid better and ordered from one trainer.
[dataset]
path = "${DIGITS}"
location = "${location}"
format = "csv_label_last"
validation_every = 5
feature_divisor = 16

[model.mlp]
hidden = [64, 32]
activation = "relu"

[training]
steps = 1500
batch_size = 32
checkpoint_interval = 50
learning_rate = 0.002
clip_norm = 1.0
input_noise = 0.001

[training.optimizer.adamw]
beta1 = 0.9
beta2 = 0.999
epsilon = 1e-8

[terms]
price_per_ut = "${PRICE.cheat}"
replicas = 1
verifiers = ${VERIFIERS.length}
audit_segments = ${REPLAYED}
apply_blocks = 5
training_blocks = 120
`;
}

function tellHowToGoOn(network, data) {
	const script = (line) => note(`node packages/polkadot-js/bin/${line} --node ${network.url}`);
	console.log(`\n${bold('The chain and the workers go on. Ctrl-C stops them.')}\n`);
	note('polkadot.js Apps, in a browser on this machine:');
	note(`  https://polkadot.js.org/apps/?rpc=${encodeURIComponent(network.url)}#/explorer`);
	note('  Developer > Runtime calls > trainyardApi shows jobs and trainers;');
	note('  Developer > Extrinsics > taskMarket > submitJob posts a job by hand.');
	note('');
	note('In another terminal:');
	script('trainers.js');
	script(
		`submit-job.js --suri //Ferdie --data ml-worker/examples/data/digits.csv --location ${data.url('digits.csv')} --watch`,
	);
	note(`${network.workerBinary} status --node ${network.url}`);
	note('');
	note(`Logs and files: ${folder}`);
}

const steps = new Steps();
let network;
let stopping;
const stop = () => (stopping ??= network?.stop() ?? Promise.resolve());
for (const [signal, code] of [
	['SIGINT', 130],
	['SIGTERM', 143],
]) {
	process.on(signal, async () => {
		console.log(`\nstopping (${signal}) …`);
		await stop();
		process.exit(options.keep && signal === 'SIGINT' ? 0 : code);
	});
}

try {
	prepareFolder();
	network = new Network({ folder, bin });
	const { data, curves } = await run(steps, network);
	console.log(`\nThe main job took ${steps.seconds.toFixed(0)} s. Loss and accuracy: ${curves}`);
	if (options.keep) {
		tellHowToGoOn(network, data);
		await new Promise(() => {});
	}
	await Promise.all([stop(), data.close()]);
	console.log(`${checks.passed} checks passed, ${checks.failed} checks failed`);
} catch (error) {
	if (!stopping) {
		const hint = 'read the log of the process that is named above; then run this again, it starts from the beginning';
		tellFailure(error, network ? { logs: join(folder, 'logs'), hint } : {});
		await stop();
		console.log(`${checks.passed} checks passed, ${Math.max(checks.failed, 1)} checks failed`);
		process.exit(1);
	}
}
