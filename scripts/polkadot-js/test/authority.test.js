import assert from 'node:assert/strict';
import { test } from 'node:test';
import { steps } from '../src/commands/become-authority.js';

const look = (changes) => ({
	trainer: { candidate: false },
	keys: null,
	here: false,
	newKeys: false,
	leave: false,
	...changes,
});

test('only what is missing is done', () => {
	const candidate = { candidate: true };
	assert.deepEqual(steps(look({})), ['keys', 'candidacy']);
	assert.deepEqual(steps(look({ keys: '0x01', here: true })), ['candidacy']);
	assert.deepEqual(steps(look({ keys: '0x01', here: true, trainer: candidate })), []);
	// Keys that another machine has are of no use to this node.
	assert.deepEqual(steps(look({ keys: '0x01', trainer: candidate })), ['keys']);
	assert.deepEqual(steps(look({ keys: '0x01', here: true, newKeys: true })), ['keys', 'candidacy']);
	assert.deepEqual(steps(look({ trainer: candidate, leave: true })), ['leave']);
	assert.deepEqual(steps(look({ leave: true })), []);
});

test('a stranger is told to register', () => {
	assert.throws(() => steps(look({ trainer: undefined })), /trainyard register --bond/);
});
