import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainDispatchError, explainPoolError } from '../src/errors.js';

const number = (n) => ({ toNumber: () => n });

/** The metadata of `TaskMarket.InvalidSpec(SpecFault(SpecError))` and of one plain error. */
const registry = {
	findMetaError: ({ name }) =>
		name === 'plain'
			? { section: 'taskMarket', name: 'ZeroPrice', docs: ['The price of a `ut` is zero.'], fields: [] }
			: { section: 'taskMarket', name: 'InvalidSpec', docs: ['It breaks a rule.'], fields: [{ type: 7 }] },
	lookup: {
		getSiType: (type) =>
			({
				7: { def: { isComposite: true, asComposite: { fields: [{ type: 8 }] } } },
				8: {
					def: {
						isVariant: true,
						asVariant: {
							variants: [
								{ index: number(0), name: 'NoContentHash', docs: ['The hash is zero.'] },
								{ index: number(7), name: 'ZeroDivisor', docs: ['The divisor', 'is zero.'] },
							],
						},
					},
				},
			})[type],
	},
};

const moduleError = (name, bytes) => ({
	isModule: true,
	asModule: { name, error: { toU8a: () => Uint8Array.from(bytes) }, toString: () => 'module 20, error 5' },
});

test('errors say what they mean, down to the broken rule', () => {
	assert.equal(
		explainDispatchError(registry, moduleError('plain', [5, 0, 0, 0])),
		'taskMarket.ZeroPrice: The price of a `ut` is zero.',
	);
	assert.equal(
		explainDispatchError(registry, moduleError('spec', [1, 7, 0, 0])),
		'taskMarket.InvalidSpec: It breaks a rule: ZeroDivisor: The divisor is zero.',
	);
	assert.equal(
		explainDispatchError(registry, moduleError('spec', [1, 99, 0, 0])),
		'taskMarket.InvalidSpec: It breaks a rule.',
	);
});

test('other errors keep their own words', () => {
	assert.equal(
		explainDispatchError(registry, { isModule: false, toHuman: () => ({ Token: 'FundsUnavailable' }) }),
		'{"Token":"FundsUnavailable"}',
	);
	assert.equal(explainDispatchError(registry, { isModule: false, toHuman: () => 'BadOrigin' }), 'BadOrigin');
	const lost = {
		findMetaError: () => {
			throw new Error('none');
		},
	};
	assert.equal(explainDispatchError(lost, moduleError('x', [0])), 'unknown error of a pallet: module 20, error 5');
	assert.match(
		explainPoolError(new Error('1010: Invalid Transaction: Inability to pay some fees')),
		/cannot pay the transaction fee/,
	);
	assert.match(explainPoolError(new Error('1014: Priority is too low')), /Wait for the next block/);
	assert.equal(explainPoolError(new Error('something else')), 'something else');
});
