// The frame of every command: flags, help, errors, exit codes.

import { parseArgs } from 'node:util';
import { DEFAULT_NODE, connect } from './chain.js';
import { UserError } from './errors.js';
import * as escape from './escape.js';

const COMMON = {
	node: { value: 'URL', default: DEFAULT_NODE, help: 'WebSocket of a node' },
	json: { help: 'print JSON for programs' },
	help: { help: 'print this help' },
};

function helpText({ name, usage, about, flags }) {
	const rows = Object.entries({ ...flags, ...COMMON }).map(([flag, { value, default: preset, help }]) => [
		`--${flag}${value ? ` ${value}` : ''}`,
		`${help}${preset === undefined ? '' : ` [default: ${preset}]`}`,
	]);
	const width = Math.max(...rows.map(([flag]) => flag.length));
	return [
		about,
		'',
		`Usage: ${name} ${usage}`,
		'',
		...rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`),
	].join('\n');
}

/**
 * Reads a command's flags. `command.flags` names each flag with `help`, with `value` (a
 * placeholder) where it takes one, and with `required` where it must be given.
 */
export function readFlags(command, args) {
	const all = { ...command.flags, ...COMMON };
	const options = Object.fromEntries(
		Object.entries(all).map(([flag, { value, default: preset }]) => [
			flag,
			{ type: value ? 'string' : 'boolean', ...(preset === undefined ? {} : { default: preset }) },
		]),
	);
	let parsed;
	try {
		parsed = parseArgs({ args, options, allowPositionals: true });
	} catch (error) {
		throw new UserError(`${error.message}. See ${command.name} --help`);
	}
	if (parsed.values.help) return { help: helpText(command) };
	for (const [flag, { value, required }] of Object.entries(all)) {
		if (required && parsed.values[flag] === undefined) {
			throw new UserError(`--${flag} ${value} is needed. See ${command.name} --help`);
		}
	}
	const [least, most] = command.positionals ?? [0, 0];
	if (parsed.positionals.length < least || parsed.positionals.length > most) {
		throw new UserError(`usage: ${command.name} ${command.usage}`);
	}
	return { flags: parsed.values, positionals: parsed.positionals };
}

/** A job number as typed. */
export function jobNumber(text) {
	if (!/^\d+$/.test(text) || Number(text) > 0xffff_ffff) {
		throw new UserError(`"${text}" is not a job number (0, 1, 2, …)`);
	}
	return Number(text);
}

/**
 * Runs a command: `command.run({ api, flags, positionals, print })` with a connected API.
 * `print(text, json)` prints one or the other.
 * Exit code 0 is success, 1 a failure, 2 a wrong call.
 */
export async function main(command, args = process.argv.slice(2)) {
	let api;
	let connected = false;
	try {
		const { help, flags, positionals } = readFlags(command, args);
		if (help) {
			console.log(help);
			return;
		}
		const prepared = await command.prepare?.(flags, positionals);
		const print = (text, json) => console.log(flags.json ? escape.json(JSON.stringify(json)) : escape.lines(text));
		api = await connect(flags.node);
		connected = true;
		await command.run({ api, flags, positionals, prepared, print });
	} catch (error) {
		const text = error instanceof UserError ? error.message : (error.stack ?? error);
		console.error(escape.lines(`error: ${text}`));
		process.exitCode = connected ? 1 : 2;
	} finally {
		await api?.disconnect();
	}
}
