// What workers wrote down about their work: `events.jsonl` in the folder of each.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The events of the worker whose folder this is, in order; `wanted` filters by fields. */
export function events(folder, wanted = {}) {
	const file = join(folder, 'events.jsonl');
	if (!existsSync(file)) return [];
	return readFileSync(file, 'utf8')
		.split('\n')
		.filter((line) => line !== '')
		.map((line) => JSON.parse(line))
		.filter((event) => Object.entries(wanted).every(([key, value]) => event[key] === value));
}
