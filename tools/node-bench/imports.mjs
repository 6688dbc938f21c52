// Import of the blocks that were made under load, by `import-blocks` into a fresh database.

import { cpSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './chain.mjs';

/** Lines of the import queue, with their times: it takes a block up, and has imported it. */
const TAKEN = /^(\S+ \S+) .*: Block (\d+) \(0x\S+\) has \d+ logs/gm;
const IMPORTED = /^(\S+ \S+) .*: Block imported successfully Some\((\d+)\)/gm;

/** Milliseconds since 1970 of each line of `log` that matches, by the block's number. */
const times = (log, line) =>
	new Map(
		[...log.matchAll(line)].map(([, time, number]) => [Number(number), Date.parse(`${time.replace(' ', 'T')}Z`)]),
	);

/** Writes the blocks 1 to `last` of the database that round `name` left. Returns the path. */
export async function exportBlocks(program, name, spec, last) {
	const file = join(program.folder, `${name}.blocks`);
	await program.fleet.must(`${program.side}-export`, program.binary, [
		...['export-blocks', '--chain', spec, '--base-path', join(program.folder, name), '--database', 'paritydb'],
		...['--binary', '--from', '1', '--to', String(last), file],
	]);
	return file;
}

/**
 * Imports the file into an empty database. Returns ms of each block `first` to `last`: from the
 * moment the queue takes it up, before its seal is checked, to the moment it is in the database.
 */
export async function importBlocks(program, spec, file, first, last) {
	const base = join(program.folder, 'import');
	rmSync(base, { recursive: true, force: true });
	const { stdout, stderr } = await program.fleet.must(
		`${program.side}-import`,
		program.binary,
		[
			...['import-blocks', file, '--binary', '--chain', spec, '--base-path', base, '--database', 'paritydb'],
			...['--log', 'sync::import-queue=trace', '--detailed-log-output'],
		],
		{ seconds: 600 },
	);
	const log = stdout + stderr;
	const [taken, imported] = [times(log, TAKEN), times(log, IMPORTED)];
	const ms = [];
	for (let number = first; number <= last; number++) {
		const time = imported.get(number) - taken.get(number);
		if (Number.isNaN(time))
			throw new Error(`${program.side}-import: block ${number} was not imported:\n${stderr.slice(-2_000)}`);
		ms.push(time);
	}
	rmSync(base, { recursive: true, force: true });
	return ms;
}
