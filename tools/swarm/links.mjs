// What tools/swarm/links runs: peers that bring updates over links, measured.
//
// It trains a round alone first, to know how long that takes and what strict mixing adds to it. Then it lets
// peers in namespaces play rounds over each kind of link with each kind of update, and rounds in which some of
// them are killed in the middle of sending.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { whyNoNamespaces } from '../network/namespaces.mjs';
import { deaths, play } from './rounds.mjs';
import { essay, failing, links, strictness, wrong } from './tables.mjs';

const HELP = `Lets peers bring updates of a transformer over links, and says what came of it.

Usage: tools/swarm/links [OPTIONS]

  --mbit N[,N…]       links, Mbit/s in both directions [default: 10,100,500]
  --updates U[,U…]    whole, or how many of 4,096 values in 2 bits [default: whole,128,64,16]
  --peers N           peers [default: 4]
  --rounds N          rounds of compressed updates; the first one is not counted [default: 7]
  --whole-rounds N    rounds of whole updates [default: 2]
  --failing P[,P…]    per cent of peers that are killed in a round [default: 10,30]
  --failing-mbit N    over these links [default: 100]
  --failing-updates U with these updates [default: 128]
  --failing-rounds N  so many rounds, the first one without failures [default: 26]
  --delay MS[,JITTER,LOSS]
                      frames arrive later, and LOSS per cent not at all: by tools/network/wan.py
  --seconds S         what a round of training takes [default: measured here, alone]
  --threads N         threads that train where it is measured [default: 2]
  --inner N, --blocks N, --width N
                      as of tools/swarm/run --compression
  --seed N            seed of who is killed, and when [default: 1]
  --json FILE         writes what was measured as JSON as well, for tools/swarm/plot.py
  --bin PROGRAM       trainyard-swarm [default: built first]

Exit code 1 where peers end a round with other bits than others, or bytes are not those of their form.
`;

const text = (preset) => ({ type: 'string', ...(preset === undefined ? {} : { default: preset }) });
const NUMBERS = ['peers', 'rounds', 'whole-rounds', 'failing-mbit', 'failing-rounds', 'threads', 'seed'];

function options() {
	const { values } = parseArgs({
		options: {
			mbit: text('10,100,500'),
			updates: text('whole,128,64,16'),
			peers: text('4'),
			rounds: text('7'),
			'whole-rounds': text('2'),
			failing: text('10,30'),
			'failing-mbit': text('100'),
			'failing-updates': text('128'),
			'failing-rounds': text('26'),
			delay: text(),
			seconds: text(),
			threads: text('2'),
			inner: text(),
			blocks: text(),
			width: text(),
			seed: text('1'),
			json: text(),
			bin: text(),
			help: { type: 'boolean', short: 'h' },
		},
	});
	if (values.help) return null;
	if (!values.bin) throw new Error('--bin PROGRAM is needed');
	for (const name of NUMBERS) {
		if (!/^[1-9]\d{0,8}$/.test(values[name]))
			throw new Error(`--${name} takes a number above 0, not "${values[name]}"`);
		values[name] = Number(values[name]);
	}
	for (const name of ['rounds', 'whole-rounds', 'failing-rounds', 'peers'])
		if (values[name] < 2) throw new Error(`--${name} takes 2 at least`);
	const list = (name, most) => {
		const numbers = values[name].split(',').filter(Boolean).map(Number);
		const is = (number) => number > 0 && number <= most;
		if (!numbers.every(is)) throw new Error(`--${name} takes numbers up to ${most}, not "${values[name]}"`);
		return numbers;
	};
	values.mbit = list('mbit', 100_000);
	values.failing = list('failing', 100);
	values.updates = values.updates.split(',');
	if (values.failing.length && !values.updates.includes(values['failing-updates']))
		throw new Error(`--failing-updates ${values['failing-updates']} is not among --updates`);
	const [delay, jitter = 0, loss = 0] = values.delay?.split(',').map(Number) ?? [];
	values.wan = values.delay === undefined ? null : { delay, jitter, loss };
	if (values.wan && !Object.values(values.wan).every((number) => number >= 0 && number < 10_000))
		throw new Error(`--delay takes MS[,JITTER,LOSS], not "${values.delay}"`);
	if (values.seconds !== undefined && !(Number(values.seconds) >= 0)) throw new Error('--seconds takes a number');
	return values;
}

/** Trains a round alone. */
function alone(given, movement) {
	const size = ['inner', 'blocks', 'width'].flatMap((name) => (given[name] ? [`--${name}`, given[name]] : []));
	const args = ['--links-alone', movement, '--updates', given.updates.join(','), '--trainers', String(given.peers)];
	const env = { ...process.env, RAYON_NUM_THREADS: String(given.threads) };
	const found = JSON.parse(
		execFileSync(given.bin, [...args, ...size], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
	);
	found.mixing.forEach((mixing, index) => (mixing.updates = given.updates[index]));
	return { ...found, inner: Number(given.inner ?? 15), threads: given.threads, whole: 4 * found.parameters };
}

async function main() {
	const given = options();
	if (!given) return process.stdout.write(HELP);
	const why = whyNoNamespaces();
	if (why) throw new Error(`there are no links here: ${why}`);
	const folder = mkdtempSync(join(tmpdir(), 'trainyard-links-'));
	process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
	for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
	const movement = join(folder, 'movement');
	const measured = alone(given, movement);
	const seconds = Number(given.seconds ?? measured.seconds);
	const found = { peers: given.peers, wan: given.wan, seconds, alone: measured, links: [], failing: [] };
	const { bin, peers, wan } = given;
	const bytesOf = (updates) => measured.mixing.find((mixing) => mixing.updates === updates)?.bytes;
	const shared = { bin, peers, wan, seconds, movement, folder };
	// After each session: all of them take twenty minutes.
	const save = () => given.json && writeFileSync(given.json, JSON.stringify(found));
	const session = async (mbit, updates, rounds, dying) => {
		process.stderr.write(`${mbit} Mbit/s, ${updates}, ${rounds} rounds\n`);
		const terms = { ...shared, mbit, updates, rounds, dying, bytes: bytesOf(updates) };
		return { ...(await play(terms)), mbit, updates, bytes: terms.bytes };
	};
	for (const mbit of given.mbit) {
		for (const updates of given.updates) {
			const rounds = updates === 'whole' ? given['whole-rounds'] : given.rounds;
			found.links.push(await session(mbit, updates, rounds, []));
			save();
		}
	}
	const [mbit, updates, rounds] = ['mbit', 'updates', 'rounds'].map((name) => given[`failing-${name}`]);
	for (const percent of given.failing.length ? [0, ...given.failing] : []) {
		const dying = deaths({ share: percent / 100, peers, rounds, seed: given.seed });
		found.failing.push({ percent, ...(await session(mbit, updates, rounds, dying)) });
		save();
	}
	for (const table of [links, failing, strictness, essay]) process.stdout.write(`${table(found)}\n`);
	for (const line of wrong(found)) {
		process.stderr.write(`this should hold, and does not: ${line}\n`);
		process.exitCode = 1;
	}
}

main().catch((error) => {
	process.stderr.write(`error: ${error.message}\n`);
	process.exit(2);
});
