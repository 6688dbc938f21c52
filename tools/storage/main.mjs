#!/usr/bin/env node
// `tools/storage/run`: files on a chain of real nodes, measured.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { defaultBin } from '../end-to-end/lib/network.mjs';
import { tellFailure } from '../end-to-end/lib/output.mjs';
import { whyNoNamespaces } from '../network/namespaces.mjs';
import { downloads } from './downloads.mjs';
import { kills } from './kills.mjs';
import { stored } from './stored.mjs';
import { transfers } from './transfers.mjs';

const HELP = `Measures files on chain on a network of real nodes on this machine.

Usage: tools/storage/run transfers [OPTIONS]  store and fetch files of several sizes
       tools/storage/run kills [OPTIONS]      kill the uploader at random moments
       tools/storage/run downloads [OPTIONS]  many downloads of one file at once
       tools/storage/run stored [OPTIONS]     what stored files take of state, database and joining,
                                              on one node

  --nodes N,N…     networks of so many nodes, one after the other [default: 4]
  --sizes M,M…     sizes of the files in MiB [default: 1,16,64; kills and downloads: the first, 16;
                   stored: 0,256]
  --slot MS        length of a slot in milliseconds, even [default: 500]
  --c N/D          share of slots that somebody wins, below 1 [default: 1/4]
  --wan D,J,L,M    links of a wide-area network, in namespaces (Linux, as root): D ms one way, up to J ms
                   more, L per cent lost, M Mbit/s sent by a node; as 50,5,0.1,50
  --senders N      accounts that send chunks, 1 to 6 [default: 1]
  --window MIB     chunks on their way at once [default: that of trainyard model put]
  --count N        kills, or downloads [default: 20 kills, 100 downloads]
  --other BINARY   transfers: the same bytes beside it as remarks on this node of the same SDK line, which has
                   no files: Aura and GRANDPA, pallet-balances, sr25519 accounts, ParityDb
  --other-chain MS=SPEC
                   what its --chain takes for slots of MS milliseconds, which are a constant of its
                   runtime; may be given several times [default: 6000=dev]
  --json           print JSON for programs
  --dir DIR        folder for chains and logs, which is kept; it must not exist
  --bin DIR        folder with trainyard and trainyard-node [default: where the scripts build them]
  --help           print this help`;

const number = (flag, text, least, most) => {
	const value = Number(text);
	if (!Number.isInteger(value) || value < least || value > most) {
		throw new UserError(`--${flag}: "${text}" is not a whole number from ${least} to ${most}`);
	}
	return value;
};

/** Sizes of files in MiB where none are named. */
const SIZES = { transfers: '1,16,64', kills: '16', downloads: '16', stored: '0,256' };

/** Reads the command line; fails with a sentence where it makes no sense. */
function readOptions(args) {
	const text = { type: 'string' };
	let parsed;
	try {
		parsed = parseArgs({
			args,
			allowPositionals: true,
			options: {
				...{ nodes: text, sizes: text, slot: text, c: text, senders: text, window: text, count: text, wan: text },
				...{ json: { type: 'boolean' }, dir: text, bin: text, help: { type: 'boolean', short: 'h' } },
				...{ other: text, 'other-chain': { type: 'string', multiple: true } },
			},
		});
	} catch (error) {
		throw new UserError(error.message);
	}
	const { values, positionals } = parsed;
	if (values.help) return { help: true };
	const [command, ...rest] = positionals;
	if (!COMMANDS[command] || rest.length > 0) {
		throw new UserError(`name one of ${Object.keys(COMMANDS).join(', ')}`);
	}
	const list = (flag, otherwise, least, most) =>
		(values[flag] ?? otherwise).split(',').map((part) => number(flag, part, least, most));
	const c = /^([1-9]\d*)\/([1-9]\d*)$/
		.exec(values.c ?? '1/4')
		?.slice(1)
		.map(Number);
	if (!c || c[0] >= c[1]) throw new UserError(`--c: "${values.c}" is not a fraction between 0 and 1, as 1/4`);
	const slot = number('slot', values.slot ?? '500', 200, 60_000);
	if (slot % 2) throw new UserError(`--slot: ${slot} is not even`);
	const wan = values.wan?.split(',').map(Number);
	if (wan && (wan.length !== 4 || !wan.every((n) => n >= 0) || wan[2] >= 100 || wan[3] <= 0)) {
		throw new UserError(`--wan: "${values.wan}" is not four numbers: ms, ms, per cent below 100, Mbit/s`);
	}
	const without = wan && whyNoNamespaces();
	if (without) throw new UserError(`--wan: ${without}`);
	return {
		command,
		other: otherChain(values, command, slot),
		wan: wan && { delay: wan[0], jitter: wan[1], loss: wan[2], mbit: wan[3] },
		nodes: list('nodes', '4', 1, 16),
		sizes: list('sizes', SIZES[command], ...(command === 'stored' ? [0, 65_536] : [1, 1_024])),
		slot,
		c,
		senders: number('senders', values.senders ?? '1', 1, 6),
		window: values.window === undefined ? undefined : number('window', values.window, 1, 1_024),
		count: number('count', values.count ?? (command === 'kills' ? '20' : '100'), 1, 1_000),
		json: values.json ?? false,
		dir: values.dir,
		bin: values.bin ?? defaultBin(),
	};
}

/** The other node and the chain that it has in slots of so many ms; undefined where none is named. */
function otherChain({ other, 'other-chain': chains }, command, slot) {
	if (!other) {
		if (chains) throw new UserError('--other-chain: name the node too, with --other BINARY');
		return undefined;
	}
	if (command !== 'transfers') throw new UserError(`--other: only transfers are measured beside another node`);
	if (!existsSync(other)) throw new UserError(`--other: there is no file ${other}`);
	for (const pair of chains ?? ['6000=dev']) {
		const [, ms, spec] = /^(\d+)=(.+)$/.exec(pair) ?? [];
		if (!spec) throw new UserError(`--other-chain: "${pair}" is not MS=SPEC, as 6000=dev`);
		if (Number(ms) === slot) return { binary: resolve(other), chain: existsSync(spec) ? resolve(spec) : spec };
	}
	throw new UserError(`--other: no chain of it has slots of ${slot} ms; name one: --other-chain ${slot}=SPEC`);
}

const COMMANDS = { transfers, kills, downloads, stored };

let options;
try {
	options = readOptions(process.argv.slice(2));
} catch (error) {
	if (!(error instanceof UserError)) throw error;
	console.error(`error: ${error.message}. See tools/storage/run --help`);
	process.exit(2);
}
if (options.help) {
	console.log(HELP);
	process.exit(0);
}
options.folder = options.dir ?? mkdtempSync(join(tmpdir(), 'trainyard-storage-'));
const running = new Set();
const stop = () => Promise.allSettled([...running].map((network) => network.stop()));
for (const [signal, code] of [
	['SIGINT', 130],
	['SIGTERM', 143],
]) {
	process.on(signal, async () => {
		await stop();
		process.exit(code);
	});
}
try {
	await COMMANDS[options.command](options, (network) => running.add(network));
	await stop();
	if (!options.dir) rmSync(options.folder, { recursive: true, force: true });
	process.exit(0);
} catch (error) {
	await stop();
	tellFailure(error, { logs: options.folder });
	process.exit(1);
}
