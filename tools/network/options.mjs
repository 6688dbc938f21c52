// The command line of `tools/network/run`.

import { parseArgs } from 'node:util';
import { UserError } from '../../packages/polkadot-js/src/errors.js';
import { MOST_NODES } from './accounts.mjs';
import { FAULTS } from './faults.mjs';

export const HELP = `Starts real nodes on this machine that make one network, and reports who made its blocks.

Usage: tools/network/run [OPTIONS]                measure the shares of blocks
       tools/network/run faults [NAME…] [OPTIONS] break the network in every way, or in these
       tools/network/run shift [OPTIONS]          let power change, and plot the block shares

  --nodes N        authorities, 1 to ${MOST_NODES} [default: as many as --power names, or 4]
  --power P:P:…    their power, in parts of 1,000 ut a day [default: equal]
  --slot MS        length of a slot in milliseconds, even [default: 1000]
  --c N/D          share of slots that somebody wins, below 1 [default: 1/4]
  --epoch SLOTS    length of a session [default: 60]
  --half-life S    seconds in which power halves [default: a week]
  --drillers S:S:… a driller beside each node, at these speeds relative to each other
  --blocks B       measure as many slots as give at least B blocks with 99 % [default: 60]
  --minutes M      measure for so long instead
  --netns          a network namespace for each node, so that links can be cut (root)
  --json           print JSON for programs
  --keep           leave the network running until Ctrl-C
  --dir DIR        folder for chains and logs; kept [default: a temporary one, kept on failure]
  --bin DIR        folder with trainyard-node; builds nothing [default: what scripts/test builds]
  --plot FILE      write the plot of \`shift\` there
  --help           print this help

Faults: ${Object.keys(FAULTS).join(', ')}`;

const FLAGS = {
	nodes: { type: 'string' },
	power: { type: 'string' },
	slot: { type: 'string' },
	c: { type: 'string' },
	epoch: { type: 'string' },
	'half-life': { type: 'string' },
	drillers: { type: 'string' },
	blocks: { type: 'string' },
	minutes: { type: 'string' },
	netns: { type: 'boolean' },
	json: { type: 'boolean' },
	keep: { type: 'boolean' },
	dir: { type: 'string' },
	bin: { type: 'string' },
	plot: { type: 'string' },
	help: { type: 'boolean', short: 'h' },
};

/** A number as typed, within bounds. */
function number(flag, text, { least, most, whole = true }) {
	const value = Number(text);
	if (
		text.trim() === '' ||
		!Number.isFinite(value) ||
		(whole && !Number.isInteger(value)) ||
		value < least ||
		value > most
	) {
		throw new UserError(`--${flag}: "${text}" is not a${whole ? ' whole' : ''} number from ${least} to ${most}`);
	}
	return value;
}

/** Reads the command line; fails with a sentence where it makes no sense. */
export function readOptions(args) {
	let parsed;
	try {
		parsed = parseArgs({ args, options: FLAGS, allowPositionals: true });
	} catch (error) {
		throw new UserError(error.message);
	}
	const { values, positionals } = parsed;
	const [command = 'measure', ...names] = positionals;
	if (!['measure', 'faults', 'shift'].includes(command)) throw new UserError(`there is no command "${command}"`);
	if (command !== 'faults' && names.length > 0) throw new UserError(`"${names[0]}": ${command} takes no names`);
	const unknown = names.find((name) => !FAULTS[name]);
	if (unknown) throw new UserError(`there is no fault "${unknown}"; there are ${Object.keys(FAULTS).join(', ')}`);
	const given = (flag, bounds) => (values[flag] === undefined ? undefined : number(flag, values[flag], bounds));

	const nodes = given('nodes', { least: 1, most: MOST_NODES });
	const list = (flag) =>
		values[flag]?.split(':').map((part) => number(flag, part, { least: 0.001, most: 1_000_000, whole: false }));
	let powers = list('power');
	const drillers = list('drillers');
	if (powers && nodes !== undefined && powers.length !== nodes) {
		throw new UserError(`--power names ${powers.length} nodes, --nodes ${nodes}: give one power for each`);
	}
	const many = powers?.length ?? nodes ?? 4;
	if (drillers && drillers.length !== many) {
		throw new UserError(`--drillers names ${drillers.length} speeds for ${many} nodes: give one for each`);
	}
	if (drillers && many < 2) throw new UserError('--drillers: a unit is drilled by two trainers; there is one node');
	if (powers && powers.length > MOST_NODES) throw new UserError(`--power: at most ${MOST_NODES} nodes`);
	powers ??= nodes === undefined ? undefined : new Array(nodes).fill(1);

	const slot = given('slot', { least: 200, most: 60_000 });
	if (slot % 2 === 1)
		throw new UserError(`--slot: ${slot} is not even; the chain needs an even number of milliseconds`);
	let c;
	if (values.c !== undefined) {
		const match = /^(\d+)\/(\d+)$/.exec(values.c);
		c = match && [Number(match[1]), Number(match[2])];
		if (!c || c[0] < 1 || c[0] >= c[1])
			throw new UserError(`--c: "${values.c}" is not a fraction between 0 and 1, as 1/4`);
	}
	if (values.blocks !== undefined && values.minutes !== undefined) {
		throw new UserError('give --blocks or --minutes, not both');
	}
	const halfLife = given('half-life', { least: 1, most: 3_155_760_000, whole: false });
	return {
		command,
		names,
		powers,
		slot,
		c,
		epoch: given('epoch', { least: 5, most: 100_000 }),
		halfLife: halfLife === undefined ? undefined : Math.round(halfLife * 1_000),
		drillers,
		blocks: given('blocks', { least: 1, most: 1_000_000 }),
		minutes: given('minutes', { least: 0.1, most: 100_000, whole: false }),
		netns: values.netns ?? false,
		json: values.json ?? false,
		keep: values.keep ?? false,
		dir: values.dir,
		bin: values.bin,
		plot: values.plot,
		help: values.help ?? false,
	};
}
