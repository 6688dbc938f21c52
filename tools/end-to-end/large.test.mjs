// The command that takes a large model through the whole of the system, with a small one: it must not rot between the
// times when somebody runs it whole (`scripts/large-model`).

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, defaultBin } from './lib/network.mjs';

test('a transformer goes through the whole of the system by one command', { timeout: 600_000 }, async () => {
	const keep = process.env.TRAINYARD_LOGS;
	const folder = keep ? join(keep, 'large') : mkdtempSync(join(tmpdir(), 'trainyard-large-'));
	const json = join(keep ?? tmpdir(), `trainyard-large-${process.pid}.json`);
	const size = { blocks: 2, heads: 2, width: 64, context: 32, batch: 4, segments: 3, apply: 20, patience: 40 };
	const flags = Object.entries(size).flatMap(([name, value]) => [`--${name}`, String(value)]);
	const command = [join(ROOT, 'tools/end-to-end/large.mjs'), '--bin', defaultBin(), '--dir', folder, '--json', json];
	const child = spawn(process.execPath, [...command, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
	let said = '';
	for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
	const code = await new Promise((resolve) => child.on('close', resolve));
	assert.equal(code, 0, said);
	const { parts } = JSON.parse(readFileSync(json, 'utf8'));
	for (const name of [
		'state',
		'bundle',
		'training',
		'audit',
		'reading the model',
		'dispute',
		'node',
		'trainer //Alice',
	]) {
		assert.ok(parts[name], `${name} is missing in ${JSON.stringify(parts)}`);
	}
	assert.equal(parts.bundle.states, 4);
	assert.ok(parts.dispute.moves > 0 && parts['trainer //Alice'].memory > 0);
	rmSync(json);
	if (!keep) rmSync(folder, { recursive: true, force: true });
});
