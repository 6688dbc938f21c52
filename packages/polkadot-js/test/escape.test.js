import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { json, line, lines } from '../src/escape.js';
import { suriOf } from '../src/secret.js';
import { table } from '../src/table.js';

test('what strangers wrote does nothing on a terminal', () => {
	const evil = 'x\u001b[2J\npaid \u202e001\u009b\u{e0041}Größe';
	assert.equal(line(evil), 'x\\u{1b}[2J\\u{a}paid \\u{202e}001\\u{9b}\\u{e0041}Größe');
	assert.equal(lines('a\n\tb\u001b'), 'a\n\tb\\u{1b}');
	assert.equal(table(['cpu'], [[evil]]).split('\n').length, 3);
	const shown = json(JSON.stringify({ cpu: evil }));
	assert.ok(!/[\p{Cc}\p{Cf}]/u.test(shown), shown);
	assert.deepEqual(JSON.parse(shown), { cpu: evil });
});

test('a secret is read from a file that not everybody may read', () => {
	const folder = mkdtempSync(join(tmpdir(), 'suri-'));
	const path = join(folder, 'suri');
	writeFileSync(path, '//Ferdie\n');
	chmodSync(path, 0o600);
	assert.equal(suriOf({ 'suri-file': path }), '//Ferdie');
	chmodSync(path, 0o644);
	if (process.platform !== 'win32') assert.throws(() => suriOf({ 'suri-file': path }), /chmod 600/);
	assert.throws(() => suriOf({ 'suri-file': join(folder, 'none') }), /cannot read/);
	assert.throws(() => suriOf({ suri: '//Bob', 'suri-file': path }), /one of/);
	assert.throws(() => suriOf({}), /one of/);
	assert.equal(suriOf({ suri: '//Bob' }), '//Bob');
	rmSync(folder, { recursive: true });
});
