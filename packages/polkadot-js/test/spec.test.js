import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { TypeRegistry } from '@polkadot/types';
import { u8aToHex } from '@polkadot/util';
import { blake2 } from '../src/hash.js';
import { quote, withAuditFee } from '../src/commands/submit-job.js';
import { checkJob, describeDataset, jobFromFlags, toChain } from '../src/spec.js';

const digits = fileURLToPath(new URL('../../../ml-worker/examples/data/digits.csv', import.meta.url));
const location = 'http://127.0.0.1:8600/digits.csv';
const scratch = mkdtempSync(join(tmpdir(), 'trainyard-'));
const file = (name, text) => {
	const path = join(scratch, name);
	writeFileSync(path, text);
	return path;
};
const flags = (more = {}) => ({ data: digits, location, ...more });

test('the digits describe themselves', async () => {
	assert.deepEqual(await describeDataset(digits, { location }), {
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
		labels: null,
		normalization: 'none',
		rows: '0x6f487f47973c9bbf93cec31312d3e477d71578072a9ee843bddd36b0738b1434',
	});
});

test('compressed data with float labels first describe themselves', async () => {
	const text = '# label,f0,f1\n1.000000000000000000e+00,-2.5e-1,3\n0.000000000000000000e+00,1,2\n2.0,0,0\n';
	const options = { location, format: 'csv_label_first', validationEvery: 3 };
	const plain = await describeDataset(file('float.csv', text), options);
	const packed = await describeDataset(file('float.csv.gz', gzipSync(text)), options);
	assert.deepEqual([plain.features, plain.classes, plain.train_rows, plain.validation_rows], [2, 3, 2, 1]);
	assert.equal(plain.feature_divisor, 3);
	const { content_hash, bytes, ...rest } = packed;
	assert.deepEqual([content_hash, bytes], [u8aToHex(blake2(gzipSync(text))), gzipSync(text).length]);
	assert.deepEqual({ ...plain, content_hash, bytes }, packed, 'only the file is another one');
	assert.equal(rest.labels, null);
	const normalized = await describeDataset(file('float.csv', text), { ...options, normalization: 'standard' });
	assert.deepEqual([normalized.normalization, normalized.feature_divisor], ['standard', 1]);
});

test('flags become a job', async () => {
	const { spec, terms } = await jobFromFlags(
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
		optimizer: { sgd: { momentum_nano: 900_000_000, nesterov: false } },
		learning_rate_nano: 50_000_000,
		weight_decay_nano: 100_000,
		loss: 'cross_entropy',
		schedule: 'constant',
		warmup_steps: 0,
		clip_norm_nano: 1_000_000_000,
		input_noise_nano: 1_000_000,
		early_stop: null,
	});
	assert.equal(spec.initial_model, null, 'no fine-tuning');
	assert.equal(terms.price_per_ut, '2500000000000');
	assert.equal(terms.audit_fee, '1000000000');
	assert.equal(terms.audit_segments, 2);
	const draws = async (more) => (await jobFromFlags(flags(more))).terms.audit_segments;
	assert.deepEqual([await draws({}), await draws({ 'checkpoint-interval': '1' })], [1, 15], 'as few as are taken');
	assert.equal(await draws({ 'checkpoint-interval': '1', verifiers: '15' }), 3);
	assert.equal(await draws({ 'checkpoint-interval': '1', lottery: '100' }), 5, 'the tickets of a lottery');
	// The class of machines has a default, and no other is known.
	assert.equal(toChain({ spec, terms }).terms.machine, 'Gib8');
	for (const machine of ['gib8', 'gib32']) {
		assert.doesNotThrow(() => checkJob({ spec, terms: { ...terms, machine } }));
	}
	assert.equal(toChain({ spec, terms: { ...terms, machine: 'gib32' } }).terms.machine, 'Gib32');
	assert.throws(
		() => checkJob({ spec, terms: { ...terms, machine: 'gib9' } }),
		/terms\.machine: "gib9" is not possible/,
	);
	// The part for undecided results has a default too, and bounds.
	const { undecided_percent, ...older } = terms;
	assert.equal(undecided_percent, 20);
	assert.equal(toChain({ spec, terms: older }).terms.undecidedPercent, 20);
	assert.doesNotThrow(() => checkJob({ spec, terms: { ...terms, undecided_percent: 0 } }));
	assert.throws(
		() => checkJob({ spec, terms: { ...terms, undecided_percent: 101 } }),
		/terms\.undecided_percent: 101 is not possible/,
	);
	// All states are kept where a job says nothing else.
	const { keep_every, ...plain } = terms;
	assert.equal(keep_every, 1);
	assert.equal(toChain({ spec, terms: plain }).terms.keepEvery, 1);
	assert.equal(toChain({ spec, terms: { ...terms, keep_every: 20 } }).terms.keepEvery, 20);
	assert.throws(() => checkJob({ spec, terms: { ...terms, keep_every: 0 } }), /terms\.keep_every: 0 is not possible/);
	// All that is accepted is paid where a job names no lottery.
	assert.equal(toChain({ spec, terms }).terms.lottery, null);
	assert.equal(toChain({ spec, terms: { ...terms, lottery: 10 } }).terms.lottery, 10);
	for (const lottery of [0, 1, 129, 'ten']) {
		assert.throws(() => checkJob({ spec, terms: { ...terms, lottery } }), /terms\.lottery: .* is not possible/);
	}
});

test('without an audit fee the least that the chain takes is set, and one that is too low or too high is named', async () => {
	const amount = (value) => ({ toBigInt: () => value });
	const some = (value) => ({ isNone: false, unwrap: () => value });
	const chain = (least, computePerUt = 10n ** 12n) => {
		const none = { isNone: true };
		const auditFee = async () => (least === null ? none : some(amount(least)));
		const quote = async () => (least === null ? none : some({ computePerUt: amount(computePerUt) }));
		return {
			call: { trainyardApi: { auditFee, quote } },
			consts: { taskMarket: { computePrice: amount(10n ** 12n) } },
		};
	};
	const job = await jobFromFlags(flags());
	assert.equal(job.terms.audit_fee, undefined);
	const filled = await withAuditFee(chain(1_671_600_000_000n), job);
	assert.equal(filled.terms.audit_fee, '1671600000000');
	assert.equal(job.terms.audit_fee, undefined, 'the job itself is left alone');
	// Where the least may rise until the job is in a block, a hundredth more is offered, rounded up.
	const cheap = await withAuditFee(chain(100_000_000_001n, 999_999_999_999n), job);
	assert.equal(cheap.terms.audit_fee, '101000000002');
	assert.equal((await withAuditFee(chain(7n), filled)).terms.audit_fee, '1671600000000', 'what is said stays');
	assert.equal((await withAuditFee(chain(null), job)).terms.audit_fee, '0', 'an invalid job is refused later');
	await assert.rejects(
		quote(chain(2_000_000_000_000n), null, filled),
		/1\.6716 TRY is too low.*takes 2 TRY at least now/,
	);
	const high = quote(chain(400_000_000_000n), null, filled);
	await assert.rejects(
		high,
		/1\.6716 TRY is too high.*takes 1\.6 TRY at most.*the market.*the least, which is 0\.4 TRY/,
	);
});

test('a job file is taken, and flags win over it', async () => {
	const job = await jobFromFlags(flags());
	const path = file('job.json', JSON.stringify(job));
	assert.deepEqual(await jobFromFlags({ job: path }), job);
	const other = await jobFromFlags({ job: path, steps: '100', 'checkpoint-interval': '10' });
	assert.equal(other.spec.training.steps, 100);
	const moved = await jobFromFlags({ job: path, location: 'http://x/y' });
	assert.equal(moved.spec.dataset.location, 'http://x/y');
});

test('wrong input is named', async () => {
	const good = await jobFromFlags(flags());
	const job = () => structuredClone(good);
	const broken = (change) => () => {
		const it = job();
		change(it);
		checkJob(it);
	};
	assert.throws(
		broken((j) => (j.spec.training.stepz = 1)),
		/spec\.training\.stepz is not a field\. Fields: steps,/,
	);
	assert.throws(
		broken((j) => delete j.spec.training.steps),
		/spec\.training\.steps is missing/,
	);
	assert.throws(
		broken((j) => (j.terms.price_per_ut = 5)),
		/terms\.price_per_ut: 5 is not possible; a decimal string/,
	);
	assert.throws(
		broken((j) => (j.spec.dataset.train_rows = -1)),
		/spec\.dataset\.train_rows: -1/,
	);
	assert.throws(
		broken((j) => (j.spec.dataset.content_hash = '0x12')),
		/spec\.dataset\.content_hash/,
	);
	assert.throws(
		broken((j) => (j.spec.dataset.rows = '0x12')),
		/spec\.dataset\.rows: "0x12" is not possible; 32 bytes/,
	);
	assert.throws(
		broken((j) => delete j.spec.dataset.rows),
		/spec\.dataset\.rows is missing\. It is the rows root.*pass --data.*trainyard estimate/,
	);
	assert.throws(
		broken((j) => (j.spec.dataset.location = 'digits.csv')),
		/not an http:\/\/, https:\/\/, iroh:\/\/, s3:\/\/, gs:\/\/ or hf:\/\/ URL/,
	);
	for (const location of ['iroh://0123', 's3://bucket/key', 'gs://bucket/key', 'hf://datasets/owner/name@v1/file']) {
		assert.throws(
			broken((j) => Object.assign(j.spec.dataset, { location, format: 'csv' })),
			/spec\.dataset\.format/,
		);
		broken((j) => (j.spec.dataset.location = location))();
	}
	assert.throws(
		broken((j) => (j.spec.dataset.location = `http://${'x'.repeat(300)}`)),
		/longer than 256 bytes/,
	);
	assert.throws(
		broken((j) => (j.spec.model = { cnn: {} })),
		/spec\.model/,
	);
	assert.throws(
		broken((j) => (j.spec.dataset.normalization = 'min_max')),
		/spec\.dataset\.normalization/,
	);
	assert.throws(
		broken((j) => (j.spec.dataset.labels = { bytes: 1 })),
		/spec\.dataset\.labels.*null or a file/,
	);
	assert.throws(
		broken((j) => delete j.spec.initial_model),
		/spec\.initial_model is missing/,
	);
	const ftp = { content_hash: `0x${'02'.repeat(32)}`, bytes: 1, location: 'ftp://x' };
	assert.throws(
		broken((j) => (j.spec.dataset.labels = ftp)),
		/spec\.dataset\.labels\.location: "ftp:/,
	);
	assert.throws(
		broken((j) => (j.spec.initial_model = beginningWith(ftp))),
		/spec\.initial_model\.file\.location: "ftp:/,
	);
	assert.throws(
		broken((j) => (j.spec.training.schedule = 'cosine')),
		/spec\.training\.schedule/,
	);
	assert.throws(
		broken((j) => delete j.spec.dataset),
		/spec\.dataset is missing/,
	);
	const model = { content_hash: `0x${'02'.repeat(32)}`, bytes: 26_664, location: 'http://x/model' };
	assert.doesNotThrow(broken((j) => (j.spec.initial_model = beginningWith(model))));
	assert.throws(
		broken((j) => delete j.spec.initial_model),
		/spec\.initial_model is missing/,
	);
	const wrongFiles = [{ ...model, bytes: -1 }, { ...model, format: 'x' }, { bytes: 1 }, 'model', {}];
	const others = [model, { file: model }, { file: model, parameters: '0x12' }, 'model', {}];
	for (const wrong of [...wrongFiles.map(beginningWith), ...others]) {
		assert.throws(
			broken((j) => (j.spec.initial_model = wrong)),
			/spec\.initial_model: .* is not possible/,
		);
	}
	const elsewhere = broken((j) => (j.spec.initial_model = beginningWith({ ...model, location: 'model' })));
	assert.throws(elsewhere, /spec\.initial_model\.file\.location: "model" is not an http/);
	const refused = (flags, what) => assert.rejects(jobFromFlags(flags), what);
	await refused({}, /no dataset/);
	await refused(flags({ steps: 'many' }), /--steps: "many" is not a whole number/);
	await refused(flags({ optimizer: 'adam' }), /--optimizer: "adam" is unknown/);
	await refused(flags({ format: 'xls' }), /spec\.dataset\.format: "xls" is not possible; one of csv_label_last, /);
	await refused(flags({ 'validation-every': '1' }), /spec\.dataset\.validation_every: 1 is not possible/);
	await refused(flags({ 'feature-divisor': '0' }), /spec\.dataset\.feature_divisor: 0 is not possible/);
	await refused(flags({ normalization: 'some' }), /spec\.dataset\.normalization: "some" is not possible/);
	await refused({ data: join(scratch, 'none.csv'), location }, /cannot read the data file .*none\.csv: ENOENT/);
	await refused({ job: join(scratch, 'none.json') }, /cannot read the job file/);
	await refused({ job: file('bad.json', '{') }, /bad\.json is not JSON/);
});

/** What a fine-tuning of the model in this file begins with. */
const beginningWith = (file) => ({ file, parameters: `0x${'03'.repeat(32)}` });

/** The types of a specification, as the chain's metadata has them. */
function types() {
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
			labels: 'Option<FileRef>',
			normalization: 'Normalization',
			rows: 'H256',
		},
		FileRef: { contentHash: 'H256', bytes: 'u64', location: 'Bytes' },
		DataFormat: { _enum: ['CsvLabelLast', 'CsvLabelFirst', 'Text', 'Idx', 'Npy', 'Npz', 'Safetensors'] },
		Normalization: { _enum: ['None', 'Standard'] },
		Activation: { _enum: ['Relu', 'Gelu', 'Silu', 'Tanh', 'Sigmoid'] },
		Image: { channels: 'u32', height: 'u32', width: 'u32' },
		Input: { _enum: { Numbers: null, Image: 'Image', Tokens: null } },
		Window: { kernel: 'u32', stride: 'u32' },
		Convolution: { filters: 'u32', kernel: 'u32', stride: 'u32', padding: 'u32' },
		Outputs: { outputs: 'u32' },
		Rate: { rateNano: 'u64' },
		CnnLayer: {
			_enum: { Conv: 'Convolution', MaxPool: 'Window', AvgPool: 'Window', Linear: 'Outputs', Dropout: 'Rate' },
		},
		Layer: {
			_enum: {
				Linear: 'Outputs',
				Conv2d: 'Convolution',
				MaxPool2d: 'Window',
				AvgPool2d: 'Window',
				Activation: 'ActivationLayer',
				LayerNorm: null,
				Dropout: 'Rate',
				Embedding: 'Width',
				Attention: 'Heads',
				Skip: 'Back',
				RmsNorm: null,
				Mapping: 'Mapping',
			},
		},
		ActivationLayer: { function: 'Activation' },
		Width: { width: 'u32' },
		Heads: { heads: 'u32' },
		Back: { back: 'u32' },
		Mapping: { reflections: 'u32', patch: 'u32' },
		Mlp: { hidden: 'Vec<u32>', activation: 'Activation' },
		Cnn: {
			channels: 'u32',
			height: 'u32',
			width: 'u32',
			layers: 'Vec<CnnLayer>',
			activation: 'Activation',
		},
		Transformer: { layers: 'u32', heads: 'u32', width: 'u32', mlpFactor: 'u32', dropoutNano: 'u64' },
		Layers: { input: 'Input', layers: 'Vec<Layer>' },
		Model: { _enum: { Mlp: 'Mlp', Cnn: 'Cnn', Transformer: 'Transformer', Layers: 'Layers' } },
		Sgd: { momentumNano: 'u64', nesterov: 'bool' },
		Adam: { beta1Nano: 'u64', beta2Nano: 'u64', epsilonNano: 'u64' },
		Optimizer: { _enum: { Sgd: 'Sgd', AdamW: 'Adam', Adam: 'Adam' } },
		Loss: { _enum: ['CrossEntropy', 'MeanSquaredError'] },
		Cosine: { finalRateNano: 'u64' },
		Schedule: { _enum: { Constant: null, Cosine: 'Cosine' } },
		EarlyStop: { patience: 'u32', minDeltaNano: 'u64' },
		Training: {
			steps: 'u32',
			batchSize: 'u32',
			checkpointInterval: 'u32',
			optimizer: 'Optimizer',
			learningRateNano: 'u64',
			weightDecayNano: 'u64',
			loss: 'Loss',
			schedule: 'Schedule',
			warmupSteps: 'u32',
			clipNormNano: 'u64',
			inputNoiseNano: 'u64',
			earlyStop: 'Option<EarlyStop>',
		},
		JobSpec: {
			dataset: 'Dataset',
			model: 'Model',
			training: 'Training',
			initialModel: 'Option<InitialModel>',
		},
		InitialModel: { file: 'FileRef', parameters: 'H256' },
	});
	return registry;
}

/** The digits with another model or training, and the content hash of the frozen layouts. */
async function digitsWith(change) {
	const job = await jobFromFlags(flags());
	job.spec.dataset.content_hash = `0x${'01'.repeat(32)}`;
	job.spec.dataset.rows = `0x${'02'.repeat(32)}`;
	Object.assign(job.spec.training, { clip_norm_nano: 0, input_noise_nano: 0 });
	change(job.spec);
	checkJob(job);
	return types().createType('JobSpec', toChain(job).spec);
}

// The same jobs and the same bytes as in the test `layout` of `trainyard-protocol`.
const hashed = (encoded) => [encoded.length, u8aToHex(blake2(encoded))];

test('the chain form encodes by the frozen layout', async () => {
	const it = await digitsWith(() => {});
	assert.deepEqual(hashed(it.toU8a()), [220, '0x3307c6a7d3036abc4f9007e60d5a96abb03e3b11d575baf0a5f3699745fdd015']);
	const back = types().createType('JobSpec', it.toU8a()).toJSON();
	assert.equal(back.training.optimizer.adamW.beta2Nano, 999_000_000);
	assert.deepEqual(back.model.mlp.hidden, [64, 32]);
	assert.equal(back.dataset.format, 'CsvLabelLast');
	assert.equal(back.training.earlyStop, null);
});

test('other models and options encode by the frozen layouts', async () => {
	const layers = await digitsWith((spec) => {
		const activation = (name) => ({ activation: { function: name } });
		spec.model = {
			layers: {
				input: { image: { channels: 1, height: 8, width: 8 } },
				layers: [
					{ conv2d: { filters: 4, kernel: 3, stride: 1, padding: 1 } },
					activation('relu'),
					{ skip: { back: 1 } },
					{ max_pool2d: { kernel: 2, stride: 2 } },
					{ avg_pool2d: { kernel: 2, stride: 2 } },
					'layer_norm',
					{ dropout: { rate_nano: 100_000_000 } },
					{ linear: { outputs: 12 } },
					...['gelu', 'silu', 'tanh', 'sigmoid'].map(activation),
					{ linear: { outputs: 10 } },
				],
			},
		};
		Object.assign(spec.training, {
			optimizer: { sgd: { momentum_nano: 900_000_000, nesterov: true } },
			loss: 'mean_squared_error',
			schedule: { cosine: { final_rate_nano: 20_000 } },
			warmup_steps: 100,
			clip_norm_nano: 1_000_000_000,
			input_noise_nano: 10_000_000,
			early_stop: { patience: 3, min_delta_nano: 1_000_000 },
		});
	});
	assert.deepEqual(hashed(layers.toU8a()), [299, '0x8b15af5088514e90b0ba70041ff4f15340577923d5bd04c3a2bb34c179eee467']);
	const cnn = await digitsWith((spec) => {
		spec.model = {
			cnn: {
				channels: 1,
				height: 8,
				width: 8,
				layers: [
					{ conv: { filters: 8, kernel: 3, stride: 1, padding: 1 } },
					{ max_pool: { kernel: 2, stride: 2 } },
					{ avg_pool: { kernel: 2, stride: 2 } },
					{ dropout: { rate_nano: 500_000_000 } },
					{ linear: { outputs: 32 } },
				],
				activation: 'silu',
			},
		};
		spec.training.optimizer = { adam: { beta1_nano: 1, beta2_nano: 2, epsilon_nano: 3 } };
	});
	assert.deepEqual(hashed(cnn.toU8a()), [273, '0x7b1953cf27cf32831cfcec96cfb01d1f841837c447d86c1f042a5da638e90e6a']);
	const files = await digitsWith((spec) => {
		const { bytes } = spec.dataset;
		spec.dataset.format = 'idx';
		spec.dataset.labels = { content_hash: `0x${'02'.repeat(32)}`, bytes, location };
		spec.dataset.normalization = 'standard';
		spec.initial_model = beginningWith({ content_hash: `0x${'03'.repeat(32)}`, bytes, location });
	});
	assert.deepEqual(hashed(files.toU8a()), [398, '0x14b2c6da5d9a46ec0378e0a6ebff37f34d576688388105de90973cc6f7b138f7']);
	const norms = await digitsWith((spec) => {
		const linear = (outputs) => ({ linear: { outputs } });
		const input = { image: { channels: 1, height: 8, width: 8 } };
		spec.model = { layers: { input, layers: [linear(24), 'rms_norm', linear(10)] } };
	});
	assert.deepEqual(hashed(norms.toU8a()), [235, '0x0f381c41e2876462f148c1698938641756ef1b8c667c17929424a5abd4b17e80']);
	const mapped = await digitsWith((spec) => {
		const input = { image: { channels: 1, height: 8, width: 8 } };
		const mapping = { mapping: { reflections: 4, patch: 2 } };
		spec.model = { layers: { input, layers: [mapping, { linear: { outputs: 10 } }] } };
	});
	assert.deepEqual(hashed(mapped.toU8a()), [238, '0xbd7bb6769f464074aab680fe52b117ec8e4a21eb019144bb927eeb989552ee0c']);
	const text = await digitsWith((spec) => {
		spec.dataset.format = 'text';
		spec.dataset.feature_divisor = 1;
		spec.model = { transformer: { layers: 2, heads: 4, width: 16, mlp_factor: 4, dropout_nano: 1 } };
	});
	assert.deepEqual(hashed(text.toU8a()), [234, '0xacc81acbe8cd869bd9622664d71cc0f13848877707ba78689d3973360884a3f3']);
	const tuned = await digitsWith((spec) => {
		const location = 'http://127.0.0.1:8600/model.safetensors';
		spec.initial_model = beginningWith({ content_hash: `0x${'02'.repeat(32)}`, bytes: 26_664, location });
	});
	assert.deepEqual(hashed(tuned.toU8a()), [332, '0x9d1d9aea0ea99ee3f07995026be0de2c28982b8f6e9a5734eae1d2bb5e972f5b']);
});
