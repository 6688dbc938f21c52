// The node beside another of the same SDK line. See docs/benchmarks.md.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Fleet } from '../end-to-end/lib/fleet.mjs';
import { Steps, note, tellFailure } from '../end-to-end/lib/output.mjs';
import { table } from '../../packages/polkadot-js/src/table.js';
import { Program, median } from './chain.mjs';
import { exportBlocks, importBlocks } from './imports.mjs';
import { compareMemory } from './memory.mjs';
import { prepare, richAddresses, round } from './transfers.mjs';
import { emptyBlocks } from './weights.mjs';

const HELP = `Measures the node beside another node of the same SDK line, on this machine, in turns.

  tools/node-bench/run --node BINARY --other BINARY [OPTION…]

  --node BINARY            our node, with its runtime
  --other BINARY           the other node: Aura or BABE, pallet-balances, sr25519 accounts, ParityDb
  --other-chain MS=SPEC    what its --chain takes for slots of MS milliseconds, which are a constant
                           of its runtime; may be given several times [default: 6000=dev]
  --only WHAT[,WHAT…]      of: transfers, imports, memory, weights [default: all but memory]
  --slot MS                milliseconds of a slot [default: 6000]
  --blocks N               blocks under load that each round measures [default: 10]
  --transfers N            most transfers in a block, so that both import blocks of the same size
                           [default: as many as fit]
  --rounds N               rounds of transfers [default: 2]
  --import-rounds N        rounds of imports [default: 5]
  --memory-slot MS         milliseconds of a slot where memory is measured [default: 200]
  --memory-blocks N        blocks behind which memory is measured [default: 10000]
  --dir DIR                folder for databases and logs [default: a temporary one, removed]
  --json FILE              writes everything that was measured as JSON; - for standard output

memory takes blocks x slot, 34 minutes by default; the rest about 10 minutes.
`;

const WHAT = ['transfers', 'imports', 'weights', 'memory'];

function options() {
	const text = (preset) => ({ type: 'string', ...(preset === undefined ? {} : { default: preset }) });
	const { values } = parseArgs({
		options: {
			node: text(),
			other: text(),
			'other-chain': { type: 'string', multiple: true, default: ['6000=dev'] },
			only: text('transfers,imports,weights'),
			slot: text('6000'),
			blocks: text('10'),
			transfers: text(),
			rounds: text('2'),
			'import-rounds': text('5'),
			'memory-slot': text('200'),
			'memory-blocks': text('10000'),
			dir: text(),
			json: text(),
			help: { type: 'boolean', short: 'h' },
		},
	});
	if (values.help) return null;
	for (const name of ['node', 'other']) {
		if (!values[name]) throw new Error(`--${name} BINARY is needed. See tools/node-bench/run --help`);
		if (!existsSync(values[name])) throw new Error(`--${name}: there is no file ${values[name]}`);
	}
	for (const name of ['slot', 'blocks', 'transfers', 'rounds', 'import-rounds', 'memory-slot', 'memory-blocks']) {
		if (values[name] === undefined) continue;
		if (!/^[1-9]\d*$/.test(values[name])) throw new Error(`--${name} takes a number above 0, not "${values[name]}"`);
		values[name] = Number(values[name]);
	}
	const chains = new Map();
	for (const pair of values['other-chain']) {
		const [, ms, spec] = /^(\d+)=(.+)$/.exec(pair) ?? [];
		if (!spec) throw new Error(`--other-chain takes MS=SPEC, not "${pair}"`);
		chains.set(Number(ms), existsSync(spec) ? resolve(spec) : spec);
	}
	const only = values.only.split(',');
	const wrong = only.find((what) => !WHAT.includes(what));
	if (wrong !== undefined) throw new Error(`--only takes ${WHAT.join(', ')}, not "${wrong}"`);
	if (only.includes('imports') && !only.includes('transfers'))
		throw new Error('--only: imports imports what transfers made; name both');
	return { ...values, chains, only: new Set(only) };
}

/** Both sides in turns, the order reversed in every other round. Returns [ours, other] of each round. */
async function inTurns(programs, rounds, work) {
	const results = [];
	for (let index = 0; index < rounds; index++) {
		const pair = [];
		for (const side of index % 2 ? [1, 0] : [0, 1]) pair[side] = await work(programs[side], side, index);
		results.push(pair);
	}
	return results;
}

const ratio = (rounds, read) => median(rounds.map(([ours, other]) => read(ours) / read(other)));

async function run(given, steps, fleet, folder) {
	const programs = [
		new Program({ side: 'ours', binary: resolve(given.node), chains: null, fleet, folder: join(folder, 'ours') }),
		new Program({
			side: 'other',
			binary: resolve(given.other),
			chains: given.chains,
			fleet,
			folder: join(folder, 'other'),
		}),
	];
	const rich = await richAddresses();
	const specifications = (slot) => Promise.all(programs.map((program) => program.specification(slot, rich)));
	const result = {
		machine: {
			processor: cpus()[0]?.model,
			cores: cpus().length,
			memoryMiB: Math.round(totalmem() / 2 ** 20),
			load: loadavg()[0],
		},
		nodes: await Promise.all(programs.map((program) => program.version())),
		slotMs: given.slot,
	};

	if (given.only.has('weights')) {
		result.weights = await steps.step('Weight of empty blocks', async () => {
			const specs = await specifications(given.slot);
			return Promise.all(programs.map((program, side) => emptyBlocks(program, specs[side], given.slot)));
		});
	}
	if (given.only.has('transfers')) {
		const specs = await specifications(given.slot);
		const prepared = await steps.step('Sign transfers', async () => {
			const both = [];
			for (const [side, program] of programs.entries())
				both.push(await prepare(program, specs[side], given.blocks, given.transfers));
			return both;
		});
		const rounds = await inTurns(programs, given.rounds, (program, side, index) =>
			steps.step(`Transfers, ${program.side}, round ${index + 1}`, async () => {
				const measured = await round(program, `round-${index}`, specs[side], given.slot, given.blocks, prepared[side]);
				note(
					`${measured.perSecond.toFixed(0)} transfers/s, ${measured.transfersPerBlock} in a block, a block in ${measured.interval.toFixed(2)} s`,
				);
				return measured;
			}),
		);
		const told = ({ capacity, byWeight, byLength, bytes, weightMs, limit }) => ({
			capacity,
			byWeight,
			byLength,
			bytes,
			weightMs,
			limit,
		});
		result.transfers = {
			prepared: prepared.map(told),
			rounds,
			ratio: ratio(rounds, ({ perSecond }) => perSecond),
			makingRatio: ratio(rounds, ({ makingUsPerTransfer }) => 1 / makingUsPerTransfer),
		};
		if (given.only.has('imports')) result.imports = await imports(given, steps, programs, specs, rounds);
	}
	if (given.only.has('memory')) {
		result.memory = await steps.step(`Memory behind ${given['memory-blocks']} blocks`, async () => {
			const specs = await specifications(given['memory-slot']);
			const [ours, other] = await compareMemory(programs, specs, given['memory-blocks'], note);
			return {
				slotMs: given['memory-slot'],
				ours,
				other,
				ratio: other.resident / ours.resident,
				peakRatio: other.peak / ours.peak,
			};
		});
	}
	return result;
}

/** Imports of the first round's blocks, in turns. */
async function imports(given, steps, programs, specs, [made]) {
	const files = await steps.step('Export the blocks', async () => {
		const paths = [];
		for (const [side, program] of programs.entries())
			paths.push(await exportBlocks(program, 'round-0', specs[side], made[side].last));
		return paths;
	});
	const rounds = await inTurns(programs, given['import-rounds'], (program, side, index) =>
		steps.step(`Import, ${program.side}, round ${index + 1}`, async () => {
			const { first, last } = made[side];
			const ms = await importBlocks(program, specs[side], files[side], first, last);
			const transfers = made[side].transfers;
			const result = { blockMs: median(ms), transferUs: (ms.reduce((a, b) => a + b, 0) * 1_000) / transfers };
			note(`${result.blockMs.toFixed(0)} ms for a block, ${result.transferUs.toFixed(1)} us for a transfer`);
			return { ...result, ms };
		}),
	);
	return {
		rounds,
		blockRatio: ratio(rounds, ({ blockMs }) => 1 / blockMs),
		ratio: ratio(rounds, ({ transferUs }) => 1 / transferUs),
	};
}

function tell({ nodes, transfers, imports, memory, weights, slotMs }) {
	const rows = [];
	const number = (value, digits = 0) =>
		value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
	const row = (what, values, digits, times) =>
		rows.push([what, ...values.map((value) => number(value, digits)), times === undefined ? '' : times.toFixed(2)]);
	const middle = (rounds, read) => [0, 1].map((side) => median(rounds.map((pair) => read(pair[side]))));
	if (transfers) {
		const { rounds } = transfers;
		row(
			`transfers a second, slots of ${slotMs / 1_000} s`,
			middle(rounds, ({ perSecond }) => perSecond),
			0,
			transfers.ratio,
		);
		row(
			'  transfers in a block',
			middle(rounds, ({ transfersPerBlock }) => transfersPerBlock),
			0,
		);
		row(
			'  most that the weight of a block allows',
			transfers.prepared.map(({ byWeight }) => byWeight),
			0,
		);
		row(
			'  most that the length of a block allows',
			transfers.prepared.map(({ byLength }) => byLength),
			0,
		);
		row(
			'making a block, us for a transfer',
			middle(rounds, ({ makingUsPerTransfer }) => makingUsPerTransfer),
			1,
			transfers.makingRatio,
		);
	}
	if (imports) {
		row(
			'import of a full block, us for a transfer',
			middle(imports.rounds, ({ transferUs }) => transferUs),
			1,
			imports.ratio,
		);
		row(
			'  ms for a block',
			middle(imports.rounds, ({ blockMs }) => blockMs),
			0,
			imports.blockRatio,
		);
	}
	if (memory) {
		const { ours, other } = memory;
		row(`resident memory behind ${number(ours.blocks)} blocks, MiB`, [ours.resident, other.resident], 1, memory.ratio);
		row('  peak, MiB', [ours.peak, other.peak], 1, memory.peakRatio);
		row('  of no file, MiB', [ours.anonymous, other.anonymous], 1, other.anonymous / ours.anonymous);
		row(
			'  processor for a block, ms',
			[ours.processorMsPerBlock, other.processorMsPerBlock],
			1,
			other.processorMsPerBlock / ours.processorMsPerBlock,
		);
	}
	if (weights) {
		row(
			'weight of an empty block, ms',
			weights.map(({ usedMs }) => usedMs),
			3,
		);
		row(
			'  share of the largest block, %',
			weights.map(({ share }) => share * 100),
			3,
		);
	}
	console.log(`\nours:  ${nodes[0]}\nother: ${nodes[1]}\nA ratio above 1 says that ours is better.\n`);
	console.log(table(['', 'ours', 'other', 'ratio'], rows, [1, 2, 3]));
	if (transfers) {
		const ends = [0, 1].map((side) => JSON.stringify(transfers.rounds.map((pair) => pair[side].ends)));
		console.log(`\nWhat ended the blocks: ours ${ends[0]}; other ${ends[1]}`);
	}
}

const steps = new Steps();
let [fleet, folder, temporary] = [null, null, false];
try {
	const given = options();
	if (!given) {
		console.log(HELP);
	} else {
		temporary = !given.dir;
		folder = resolve(given.dir ?? join(tmpdir(), `node-bench-${process.pid}`));
		mkdirSync(folder, { recursive: true });
		fleet = new Fleet(join(folder, 'logs'));
		for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => fleet.stop().then(() => process.exit(130)));
		const result = await run(given, steps, fleet, folder);
		tell(result);
		const json = JSON.stringify(result, null, '\t');
		if (given.json === '-') console.log(json);
		else if (given.json) writeFileSync(given.json, `${json}\n`);
		if (temporary) rmSync(folder, { recursive: true, force: true });
	}
} catch (error) {
	tellFailure(error, { logs: fleet?.folder });
	process.exitCode = 1;
} finally {
	await fleet?.stop();
}
