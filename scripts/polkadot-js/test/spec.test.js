import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { TypeRegistry } from '@polkadot/types';
import { u8aToHex } from '@polkadot/util';
import { blake2 } from '../src/hash.js';
import { quote, withAuditFee } from '../src/commands/submit-job.js';
import { checkJob, describeDataset, jobFromFlags, toChain } from '../src/spec.js';

const digits = fileURLToPath(new URL('../../data/digits.csv', import.meta.url));
const location = 'http://127.0.0.1:8600/digits.csv';
const scratch = mkdtempSync(join(tmpdir(), 'trainyard-'));
const file = (name, text) => {
	const path = join(scratch, name);
	writeFileSync(path, text);
	return path;
};
const flags = (more = {}) => ({ data: digits, location, ...more });

test('the digits describe themselves', () => {
	assert.deepEqual(describeDataset(digits, { location }), {
		content_hash: '0x3ecfbe7b2d640426e86d82a039eecac12af5c7539aeda615aafd1ab300095f17',
		bytes: 264_964,
		location,
		format: 'csv_label_last',
		train_rows: 1_438,
		validation_rows: 359,
		validation_every: 5,
		features: 64,
		classes: 10,
		feature_divisor: 16,
	});
});

test('flags become a job', () => {
	const { spec, terms } = jobFromFlags(
		flags({
			hidden: '48,24',
			steps: '200',
			'batch-size': '16',
			'checkpoint-interval': '20',
			optimizer: 'sgd',
			momentum: '0.9',
			'learning-rate': '0.05',
			'weight-decay': '0.0001',
			'price-per-ut': '2.5',
			'audit-fee': '0.001',
			'audit-segments': '2',
		}),
	);
	assert.deepEqual(spec.model, { mlp: { hidden: [48, 24], activation: 'relu' } });
	assert.deepEqual(spec.training, {
		steps: 200,
		batch_size: 16,
		checkpoint_interval: 20,
		optimizer: { sgd: { momentum_nano: 900_000_000 } },
		learning_rate_nano: 50_000_000,
		weight_decay_nano: 100_000,
	});
	assert.equal(terms.price_per_ut, '2500000000000');
	assert.equal(terms.audit_fee, '1000000000');
	assert.equal(terms.audit_segments, 2);
});

test('without an audit fee the least that the chain takes is set, and a low one is named', async () => {
	const chain = (least) => {
		const some = { isNone: false, unwrap: () => ({ toBigInt: () => least }) };
		return { call: { trainyardApi: { auditFee: async () => (least === null ? { isNone: true } : some) } } };
	};
	const job = jobFromFlags(flags());
	assert.equal(job.terms.audit_fee, undefined);
	const filled = await withAuditFee(chain(1_671_600_000_000n), job);
	assert.equal(filled.terms.audit_fee, '1671600000000');
	assert.equal(job.terms.audit_fee, undefined, 'the job itself is left alone');
	assert.equal((await withAuditFee(chain(7n), filled)).terms.audit_fee, '1671600000000', 'what is said stays');
	assert.equal((await withAuditFee(chain(null), job)).terms.audit_fee, '0', 'an invalid job is refused later');
	await assert.rejects(quote(chain(2_000_000_000_000n), null, filled), /1\.6716 TRY is too low.*worth 2 TRY/);
});

test('a job file is taken, and flags win over it', () => {
	const job = jobFromFlags(flags());
	const path = file('job.json', JSON.stringify(job));
	assert.deepEqual(jobFromFlags({ job: path }), job);
	assert.equal(jobFromFlags({ job: path, steps: '100', 'checkpoint-interval': '10' }).spec.training.steps, 100);
	assert.equal(jobFromFlags({ job: path, location: 'http://x/y' }).spec.dataset.location, 'http://x/y');
});

test('wrong input is named', () => {
	const job = () => structuredClone(jobFromFlags(flags()));
	const broken = (change) => () => {
		const it = job();
		change(it);
		checkJob(it);
	};
	assert.throws(broken((j) => (j.spec.training.stepz = 1)), /spec\.training\.stepz is not a field\. Fields: steps,/);
	assert.throws(broken((j) => delete j.spec.training.steps), /spec\.training\.steps is missing/);
	assert.throws(broken((j) => (j.terms.price_per_ut = 5)), /terms\.price_per_ut: 5 is not possible; a decimal string/);
	assert.throws(broken((j) => (j.spec.dataset.train_rows = -1)), /spec\.dataset\.train_rows: -1/);
	assert.throws(broken((j) => (j.spec.dataset.content_hash = '0x12')), /spec\.dataset\.content_hash/);
	assert.throws(broken((j) => (j.spec.dataset.location = 'digits.csv')), /not an http:\/\/ or https:\/\/ URL/);
	assert.throws(broken((j) => (j.spec.dataset.location = `http://${'x'.repeat(300)}`)), /longer than 256 bytes/);
	assert.throws(broken((j) => (j.spec.model = { cnn: {} })), /spec\.model/);
	assert.throws(broken((j) => delete j.spec.dataset), /spec\.dataset is missing/);
	assert.throws(() => jobFromFlags({}), /no dataset/);
	assert.throws(() => jobFromFlags(flags({ steps: 'many' })), /--steps: "many" is not a whole number/);
	assert.throws(() => jobFromFlags(flags({ optimizer: 'adam' })), /--optimizer: "adam" is unknown/);
	assert.throws(() => jobFromFlags({ job: join(scratch, 'none.json') }), /cannot read the job file/);
	assert.throws(() => jobFromFlags({ job: file('bad.json', '{') }), /bad\.json is not JSON/);
	assert.throws(() => jobFromFlags({ data: file('a.csv', 'a,label\n1,0\n2\n'), location }), /a\.csv, line 3: 1 columns/);
	assert.throws(() => jobFromFlags({ data: file('b.csv', 'a,label\n1,0\nx,1\n'), location }), /b\.csv, line 3: a cell/);
	assert.throws(() => jobFromFlags({ data: file('c.csv', 'a,label\n1,0\n1,0.5\n'), location }), /c\.csv, line 3: the label/);
});

test('the chain form encodes by the frozen layout', () => {
	const registry = new TypeRegistry();
	registry.register({
		Dataset: {
			contentHash: 'H256',
			bytes: 'u64',
			location: 'Bytes',
			format: 'DataFormat',
			trainRows: 'u32',
			validationRows: 'u32',
			validationEvery: 'u32',
			features: 'u32',
			classes: 'u32',
			featureDivisor: 'u32',
		},
		DataFormat: { _enum: ['CsvLabelLast', 'CsvLabelFirst'] },
		Mlp: { hidden: 'Vec<u32>', activation: 'Activation' },
		Activation: { _enum: ['Relu'] },
		Model: { _enum: { Mlp: 'Mlp' } },
		Sgd: { momentumNano: 'u64' },
		AdamW: { beta1Nano: 'u64', beta2Nano: 'u64', epsilonNano: 'u64' },
		Optimizer: { _enum: { Sgd: 'Sgd', AdamW: 'AdamW' } },
		Training: {
			steps: 'u32',
			batchSize: 'u32',
			checkpointInterval: 'u32',
			optimizer: 'Optimizer',
			learningRateNano: 'u64',
			weightDecayNano: 'u64',
		},
		JobSpec: { dataset: 'Dataset', model: 'Model', training: 'Training' },
	});
	// The same job and the same bytes as `JobSpec::example()` in `trainyard-primitives`.
	const { spec } = toChain(jobFromFlags(flags()));
	spec.dataset.contentHash = `0x${'01'.repeat(32)}`;
	const encoded = registry.createType('JobSpec', spec).toU8a();
	assert.equal(encoded.length, 162);
	assert.equal(u8aToHex(blake2(encoded)), '0xba5db2a7c715cb1fa6b3083ee7a08ecb6a44ebec9a9f1dba1099d9dbbcd4c605');
	const back = registry.createType('JobSpec', encoded).toJSON();
	assert.equal(back.training.optimizer.adamW.beta2Nano, 999_000_000);
	assert.deepEqual(back.model.mlp.hidden, [64, 32]);
	assert.equal(back.dataset.format, 'CsvLabelLast');
});
