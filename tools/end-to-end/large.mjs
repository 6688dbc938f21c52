#!/usr/bin/env node
// A transformer of GPT-2 small's size (124 million parameters, AdamW) through the whole of the system, on one
// machine: posted, trained, stored on chain, audited by three seats, paid, read back; and a second one by a cheat,
// that a court convicts. Prints bytes, seconds and memory of each part, and checks what it prints.
//
//   large.mjs [--dir DIR] [--bin DIR] [--blocks N] [--heads N] [--width N] [--context N] [--batch N] [--segments N]
//             [--cheat-segments N] [--apply BLOCKS] [--patience BLOCKS] [--json FILE] [--cheat-only]
//
// All workers share the machine: `--turns` lets one compute after the other, so that memory for one computation
// suffices. It takes half an hour to two hours, about 12 GiB of memory and 30 GiB of disk.

import {
	copyFileSync,
	existsSync,
	mkdirSync,
	readFileSync,
	readdirSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { events } from './lib/events.mjs';
import { ADDRESS, Network, ROOT, defaultBin, trainyard, until } from './lib/network.mjs';
import { serveFiles } from './lib/net.mjs';
import { Peaks } from './lib/peaks.mjs';
import { Steps, bold, green, note, shell, tellFailure } from './lib/output.mjs';

const { conservation, ending, formatAmount, formatWork, keyFromSuri, money, send, standing } = trainyard;

/** Put into every folder that a run made, so that it clears no other. */
const MARK = '.trainyard-large';
const SUBMITTER = '//Ferdie';
const [TRAINER, CHEAT] = ['//Alice', '//Bob'];
const VERIFIERS = ['//Charlie', '//Dave', '//Eve'];
/** No more of the bonds of verifiers than 1,600 TRY together counts on the first day. */
const BOND = '500';
const MIB = 1024 * 1024;
/** Memory that a worker may take for a computation, in MiB: the class of the job counts it. */
const MEMORY = 12 * 1024;
/**
 * Periods of this chain, whose blocks take a second: seats replay one after the other here, which takes three times as
 * long as on machines of their own, and blocks are six times as fast as those for which the runtime's periods are.
 */
const PERIODS = { VerdictCommit: 3_600, VerdictReveal: 120, Reveal: 1_200 };
/** Seconds within which a job ends. */
const JOB_SECONDS = 3 * 3_600;

const count = (fallback) => ({ type: 'string', default: String(fallback) });
const { values: options } = parseArgs({
	options: {
		dir: { type: 'string' },
		bin: { type: 'string' },
		json: { type: 'string' },
		blocks: count(12),
		heads: count(16),
		width: count(928),
		context: count(256),
		batch: count(4),
		segments: count(3),
		apply: count(300),
		// Blocks of a second for which results stand, and machines may be away in a dispute.
		patience: count(600),
		'cheat-segments': count(2),
		// Leaves the honest job out, which takes half of the time.
		'cheat-only': { type: 'boolean', default: false },
	},
});
const number = (name) => {
	const value = Number(options[name]);
	if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a whole number of at least 1`);
	return value;
};
const folder = resolve(options.dir ?? join(ROOT, '.large'));

/** Checks a fact and prints it; a false one ends the run. */
function check(fact, holds, found = '') {
	if (!holds) throw new Error(`this should hold, and does not: ${fact}${found === '' ? '' : ` (found ${found})`}`);
	note(`${green('✓')} ${fact}`);
}

/** Clears the folder of an earlier run; any other folder must be empty. */
function prepareFolder() {
	if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, MARK))) {
		throw new Error(`${folder} is not empty and not of an earlier run. Choose another folder: --dir DIR`);
	}
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, MARK), 'Made by large.mjs, which clears this folder when it runs again.\n');
}

/** Bytes of the files in a folder. */
function bytesIn(path) {
	if (!existsSync(path)) return 0;
	return readdirSync(path, { withFileTypes: true, recursive: true })
		.filter((entry) => entry.isFile())
		.reduce(
			(sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
			0,
		);
}

/** A job of one step for each segment. */
const jobToml = (location, segments, price, apply) => `[dataset]
path = "text.txt"
location = "${location}"
format = "text"
features = ${number('context')}
validation_every = 100

[model.transformer]
layers = ${number('blocks')}
heads = ${number('heads')}
width = ${number('width')}
dropout = 0.1

[training]
steps = ${segments}
batch_size = ${number('batch')}
checkpoint_interval = 1
learning_rate = 0.00003
weight_decay = 0.1
clip_norm = 1.0

[training.optimizer.adamw]
beta2 = 0.95

[terms]
price_per_ut = "${price}"
machine = "gib32"
apply_blocks = ${apply}
training_blocks = 7200
`;

/** Prints each new standing of a job, and notes when it came. */
function watcher(id, times) {
	let last = '';
	return (job) => {
		const now = job ? standing(job) : 'not there yet';
		const state = job ? trainyard.variantName(job.state ?? '') : '';
		if (state && !(state in times)) times[state] = Date.now();
		if (now !== last) note(`job ${id}: ${now}`);
		last = now;
	};
}

/** What the court said, of all blocks so far, with the bytes of its moves. */
async function courtStory(api) {
	const told = [];
	let bytes = 0;
	for (let at = 1; at <= (await api.rpc.chain.getHeader()).number.toNumber(); at++) {
		const hash = await api.rpc.chain.getBlockHash(at);
		for (const { event } of await (await api.at(hash)).query.system.events()) {
			if (event.section === 'court') told.push({ at, ...event.data.toHuman(), name: event.method });
		}
		if (told.at(-1)?.at !== at) continue;
		const { block } = await api.rpc.chain.getBlock(hash);
		bytes += block.extrinsics
			.filter(({ method }) => method.section === 'court')
			.reduce((sum, extrinsic) => sum + extrinsic.encodedLength, 0);
	}
	return { told, bytes };
}

async function run(steps, network) {
	const { fleet } = network;
	const turns = join(folder, 'turns');
	const text = join(folder, 'text.txt');
	copyFileSync(join(ROOT, 'ml-worker/examples/data/alice.txt'), text);
	const workers = {};
	let data;

	const api = await steps.step('Start a development chain', async () => {
		// It is asked for the events of all its blocks at the end.
		await network.startNode({ flags: ['--state-pruning', 'archive'] });
		const api = await network.connect();
		data = await serveFiles([text]);
		const set = [
			...Object.entries(PERIODS).map(([name, blocks]) => ({ Periods: { [name]: [null, blocks] } })),
			{ Court: { Patience: [null, number('patience')] } },
		];
		const calls = set.map((parameter) => api.tx.sudo.sudo(api.tx.parameters.setParameter(parameter)));
		await send(api, api.tx.utility.batchAll(calls), await keyFromSuri('//Alice'));
		peaks.watch('node', network.node.pid);
		return api;
	});

	await steps.step('Start a trainer, a cheat and three verifiers', async () => {
		const machine = ['--turns', turns, '--max-memory-mib', String(MEMORY), '--bond', BOND];
		const trainer = [...machine, '--speed-mflops', '20000', '--check-segments', '0'];
		const start = (role, suri, flags) => {
			const worker = network.startWorker(role, suri, flags);
			workers[suri] = worker;
			peaks.watch(`${role} ${suri}`, worker.pid);
		};
		start('trainer', TRAINER, trainer);
		start('trainer', CHEAT, [...trainer, '--min-price', '20', '--test-only-half-rate']);
		for (const suri of VERIFIERS) {
			start('verifier', suri, [
				...machine,
				...['--capacity-memory-mib', String(16 * 1024), '--capacity-ut', '40'],
				...['--max-data-mib', String(32 * 1024), '--max-disk-mib', String(48 * 1024)],
			]);
		}
		await Promise.all([network.trainersReady([TRAINER, CHEAT]), network.verifiersReady(VERIFIERS)]);
		const offer = ['offer', '--node', network.url, '--suri', CHEAT, '--price', '20'];
		await fleet.must('offer', network.workerBinary, offer);
	});

	/** Posts a job, and waits until it has ended. */
	async function play(name, segments, flags) {
		const file = join(folder, `${name}.toml`);
		const ordered = flags.length > 0;
		// Until whoever wants it has rehearsed it, which takes a minute or two.
		const [price, apply] = ordered ? [20, 144] : [10, number('apply')];
		writeFileSync(file, jobToml(data.url('text.txt'), segments, price, apply));
		if (name === 'honest') {
			const estimate = await fleet.must('estimate', network.workerBinary, ['estimate', file]);
			note(
				estimate.stdout
					.split('\n')
					.filter((line) => !line.startsWith('layers.'))
					.join('\n')
					.trim(),
			);
		}
		const before = (await api.query.taskMarket.nextJob()).toNumber();
		const submit = ['submit', file, '--node', network.url, '--suri', SUBMITTER, ...flags];
		note(`$ trainyard ${shell(submit)}`);
		const follower = fleet.start(`submit-${name}`, network.workerBinary, submit);
		follower.expected = true;
		const times = { posted: Date.now() };
		await until(
			'the job is posted',
			120,
			() => network.job(before),
			() => {
				if (!follower.alive) throw new Error(follower.obituary('before it had posted the job'));
			},
		);
		const job = await network.ended(before, JOB_SECONDS, watcher(before, times));
		times.ended = Date.now();
		return { job, times };
	}

	let honest;
	if (!options['cheat-only']) {
		honest = await steps.step('An honest job: train, store, audit, settle', async () => {
			const { job, times } = await play('honest', number('segments'), []);
			const trainerFolder = join(network.folder, 'trainer-alice');
			const [trained] = events(trainerFolder, { event: 'trained', job: job.id });
			check('it settled', ending(job) === 'settled', ending(job));
			check(`${TRAINER} was accepted`, job.replicas[0].fate === 'accepted', job.replicas[0].fate);
			const all = trainyard.verdicts(job);
			check('three seats replayed it', all.length === 3 && all.every(({ verdict }) => verdict === 'replayed'));
			const wrong = conservation(job);
			check('what came in equals what went out', wrong.length === 0, wrong.join('; '));
			note(`${formatWork(job.work)} for ${formatAmount(money(job).paid_to_trainers)}`);
			const states = readdirSync(join(trained.folder, 'checkpoints')).filter((file) => file.endsWith('.safetensors'));
			const size = statSync(join(trained.folder, 'checkpoints', states[0])).size;
			parts.state = { bytes: size };
			parts.bundle = { bytes: bytesIn(trained.folder), states: states.length };
			parts.training = { seconds: trained.seconds };
			parts.storing = { seconds: (times.auditing - times.revealing) / 1_000 };
			parts.audit = { seconds: (times.ended - times.auditing) / 1_000 };
			for (const suri of VERIFIERS) {
				const name = `verifier-${suri.slice(2).toLowerCase()}`;
				const [verdict] = events(join(network.folder, name), { event: 'verdict', job: job.id });
				parts[`seat ${suri}`] = { seconds: verdict?.replay_seconds, bytes: bytesIn(join(network.folder, name)) };
			}
			return { job, trained };
		});

		await steps.step('Read the model back from the chain', async () => {
			const out = join(folder, 'model-from-chain.safetensors');
			const from = Date.now();
			const args = [String(honest.job.id), '--out', out, '--json'];
			const fetched = JSON.parse((await network.script('fetch-model', 'fetch-model', args, { seconds: 1_800 })).stdout);
			parts['reading the model'] = { seconds: (Date.now() - from) / 1_000, bytes: fetched.bytes };
			check(
				`${fetched.bytes} bytes in ${fetched.chunks} chunks have the root that was committed to`,
				fetched.root === honest.job.replicas[0].reveal.model_root,
			);
			const own = readFileSync(join(honest.trained.folder, 'model.safetensors'));
			check('and they are the bytes that the trainer has', own.equals(readFileSync(out)));
		});
	}

	await steps.step('A cheat: rejected by the seats, convicted by the court', async () => {
		// The files of the honest job are read no more.
		if (honest) rmSync(honest.trained.folder, { recursive: true, force: true });
		const from = Date.now();
		const { job } = await play('cheat', number('cheat-segments'), ['--trainer', ADDRESS[CHEAT]]);
		check('it failed', ending(job) === 'failed', ending(job));
		check(`${CHEAT} was rejected`, job.replicas[0].fate === 'rejected', job.replicas[0].fate);
		const { told, bytes } = await courtStory(api);
		const ended = told.filter(({ name }) => name === 'Ended');
		const convicted = ended.filter((event) => JSON.stringify(event).includes('Convicted'));
		check('the court convicted it', convicted.length === 1, JSON.stringify(ended));
		check(
			'by an element that it computed itself, and not by the clock',
			JSON.stringify(convicted).includes('"byClock":false'),
		);
		const [first] = told.filter(({ name, id }) => name === 'Challenged' && id === convicted[0].id);
		const moves = told.filter(({ name }) => ['Posted', 'Opened', 'Denied', 'Judged'].includes(name)).length;
		parts.dispute = { seconds: convicted[0].at - first.at, bytes, moves };
		parts['the job of the cheat'] = { seconds: (Date.now() - from) / 1_000 };
		const story = ['dispute', convicted[0].id, '--node', network.url];
		note((await fleet.must('dispute', network.workerBinary, story)).stdout.trimEnd());
	});

	return { data };
}

/** Says what was measured: also where a run of an hour fails. */
function tell(network) {
	parts.chain = { bytes: bytesIn(join(network.folder, 'chain')) };
	for (const [name, bytes] of Object.entries(peaks.stop())) parts[name] = { ...parts[name], memory: bytes };
	console.log(`\n${bold('Parts')}\n\n${table(parts)}`);
	if (options.json) writeFileSync(options.json, `${JSON.stringify({ options, parts }, null, '\t')}\n`);
}

/** Bytes, seconds and memory of each part. */
function table(parts) {
	const mib = (bytes) => (bytes === undefined ? '' : (bytes / MIB).toFixed(1));
	const lines = Object.entries(parts).map(([name, { bytes, seconds, memory, ...rest }]) => {
		const more = Object.entries(rest).map(([key, value]) => `${value} ${key}`);
		return [name, mib(bytes), seconds === undefined ? '' : seconds.toFixed(1), mib(memory), more.join(', ')];
	});
	const rows = [['part', 'MiB', 's', 'peak of memory, MiB', ''], ...lines];
	const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => row[at].length)));
	const cell = (text, at) => (at === 0 ? text.padEnd(widths[at]) : text.padStart(widths[at]));
	return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
}

const steps = new Steps();
const parts = {};
const peaks = new Peaks();
let network, found;
try {
	prepareFolder();
	network = new Network({ folder: join(folder, 'run'), bin: options.bin ?? defaultBin() });
	found = await run(steps, network);
	tell(network);
	console.log(`\n${green(bold('All of it holds.'))} It took ${(steps.seconds / 60).toFixed(1)} minutes.`);
} catch (error) {
	if (Object.keys(parts).length > 0) tell(network);
	tellFailure(error, { logs: join(folder, 'run', 'logs'), hint: 'look at the logs of the process that it names' });
	process.exitCode = 1;
} finally {
	await network?.stop();
	await found?.data.close();
	process.exit(process.exitCode ?? 0);
}
