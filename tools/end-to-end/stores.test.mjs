// Files in stores, fetched by the real worker: from an S3 server of a package (moto, where its Python has it), which
// checks signatures itself; from stand-ins for Google's storage and the hub; and over TLS. No chain is needed.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { anyPort } from './lib/net.mjs';

const cache = process.env.CARGO_TARGET_DIR ?? join(homedir(), '.cache/trainyard-target');
const worker = join(process.env.TRAINYARD_BIN ?? join(cache, 'release'), 'trainyard');
const python = process.env.TRAINYARD_PYTHON ?? 'python3';
const folder = mkdtempSync(join(tmpdir(), 'trainyard-stores-'));
const bytes = randomBytes(3_000_000);
const servers = [];
let known;

/** Runs `trainyard fetch` and returns what came of it. */
function fetchFile(location, options = [], environment = {}) {
	const file = join(folder, `file-${randomBytes(4).toString('hex')}`);
	const line = ['fetch', location, file, '--json', ...options];
	const child = spawn(worker, line, { env: { PATH: process.env.PATH, ...environment } });
	let [out, err] = ['', ''];
	child.stdout.on('data', (text) => (out += text));
	child.stderr.on('data', (text) => (err += text));
	const done = new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err, file })));
	return { child, file, done };
}

async function listen(server) {
	servers.push(server);
	const port = await anyPort();
	await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
	return port;
}

/** Serves `bytes` at these paths, with ranges; keeps what it was asked. `wait` slows each piece. */
function serveBytes(paths, wait = 0) {
	const asked = [];
	const answer = async (request, response) => {
		asked.push({ url: request.url, range: request.headers.range, headers: request.headers });
		if (!paths.includes(request.url)) return response.writeHead(404).end();
		const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
		response.writeHead(start ? 206 : 200, { 'content-length': bytes.length - start });
		for (let at = start; at < bytes.length && !response.destroyed; at += 50_000) {
			response.write(bytes.subarray(at, at + 50_000));
			if (wait) await sleep(wait);
		}
		return response.end();
	};
	return { asked, answer };
}

before(() => {
	const file = join(folder, 'source');
	writeFileSync(file, bytes);
	const { stdout, status } = spawnSync(worker, ['hash', '--json', file], { encoding: 'utf8' });
	assert.equal(status, 0);
	known = JSON.parse(stdout);
});

after(() => {
	for (const server of servers) server.close();
	for (const server of servers) server.closeAllConnections?.();
	rmSync(folder, { recursive: true, force: true });
});

const HERE = '--allow-private-locations';
const declared = () => ['--content-hash', known.content_hash, '--bytes', String(known.bytes)];

for (const [location, path, option] of [
	['gs://bucket/folder/a file', '/bucket/folder/a%20file', '--gs-endpoint'],
	['hf://datasets/owner/name@v1/a.csv', '/datasets/owner/name/resolve/v1/a.csv', '--hub-url'],
	['s3://bucket/a', '/bucket/a', '--s3-endpoint'],
]) {
	test(`${location} is fetched, and goes on after a kill`, { timeout: 120_000 }, async () => {
		const { asked, answer } = serveBytes([path], 40);
		const url = `http://127.0.0.1:${await listen(http.createServer(answer))}`;
		// Not without leave: the server is at a private address.
		const refused = await fetchFile(location, [option, url]).done;
		assert.equal(refused.code, 1);
		assert.match(refused.err, /no public address/);
		assert.equal(asked.length, 0);

		const options = [HERE, option, url, ...declared()];
		const first = fetchFile(location, options);
		const part = () =>
			readdirSync(folder).find((name) => first.file.endsWith(name.split('.')[0]) && name.endsWith('.part'));
		while (!part() || readFileSync(join(folder, part())).length < 500_000) await sleep(20);
		first.child.kill('SIGKILL');
		await first.done;
		const second = spawn(worker, ['fetch', location, first.file, '--json', ...options]);
		let out = '';
		second.stdout.on('data', (text) => (out += text));
		assert.equal(await new Promise((resolve) => second.on('close', resolve)), 0);
		assert.deepEqual(JSON.parse(out), known);
		assert.deepEqual(readFileSync(first.file), bytes);
		assert.ok(!existsSync(`${first.file}.part`));
		const starts = asked.map(({ range }) => Number(/\d+/.exec(range ?? '0')[0]));
		assert.equal(starts[0], 0);
		assert.ok(starts.at(-1) >= 500_000, `it began again: ${starts}`);
		assert.ok(asked.every(({ headers }) => headers.authorization === undefined));
	});
}

test('another file and a longer one are refused', { timeout: 60_000 }, async () => {
	const { answer } = serveBytes(['/bucket/a']);
	const options = [HERE, '--s3-endpoint', `http://127.0.0.1:${await listen(http.createServer(answer))}`];
	const other = ['--content-hash', '11'.repeat(32), '--bytes', String(known.bytes)];
	const wrong = await fetchFile('s3://bucket/a', [...options, ...other]).done;
	assert.match(wrong.err, /serves other data than declared/);
	const shorter = ['--content-hash', known.content_hash, '--bytes', String(known.bytes - 1)];
	const longer = await fetchFile('s3://bucket/a', [...options, ...shorter]).done;
	assert.match(longer.err, /serves a file of 3000000 bytes, and 2999999 bytes were declared/);
});

test('certificates are checked', { timeout: 60_000 }, async (t) => {
	const at = (name) => join(folder, name);
	const made = spawnSync('openssl', [
		...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
		...[
			'-subj',
			'/CN=localhost',
			'-addext',
			'subjectAltName=DNS:localhost',
			'-addext',
			'basicConstraints=critical,CA:FALSE',
		],
		...['-keyout', at('key.pem'), '-out', at('cert.pem')],
	]);
	if (made.status !== 0) return t.skip('openssl makes no certificate here');
	const { answer } = serveBytes(['/data']);
	const options = { key: readFileSync(at('key.pem')), cert: readFileSync(at('cert.pem')) };
	const port = await listen(https.createServer(options, answer));
	const trusted = await fetchFile(`https://localhost:${port}/data`, [HERE], { SSL_CERT_FILE: at('cert.pem') }).done;
	assert.equal(trusted.code, 0, trusted.err);
	assert.deepEqual(JSON.parse(trusted.out), known);
	const unknown = await fetchFile(`https://localhost:${port}/data`, [HERE]).done;
	assert.equal(unknown.code, 1);
	assert.match(unknown.err, /certificate/i);
});

/**
 * A store in which one can put: keeps objects and what is said of them. `answer` may answer in its place: a status, or
 * nothing.
 */
function keepObjects(answer = () => undefined) {
	const objects = new Map();
	const asked = [];
	const handle = async (request, response) => {
		asked.push(`${request.method} ${request.url}`);
		const pieces = [];
		for await (const piece of request) pieces.push(piece);
		const body = Buffer.concat(pieces);
		const status = answer(request, asked);
		if (status) return response.writeHead(status).end('<Code>Other</Code>');
		const { 'x-amz-meta-trainyard-root': root, 'x-amz-content-sha256': sum } = request.headers;
		if (request.method === 'PUT') {
			if (createHash('sha256').update(body).digest('hex') !== sum) return response.writeHead(400).end();
			objects.set(request.url, { body, root });
			return response.end();
		}
		const object = objects.get(request.url);
		if (!object) return response.writeHead(404).end();
		const headers = { 'content-length': object.body.length };
		if (object.root) headers['x-amz-meta-trainyard-root'] = object.root;
		response.writeHead(200, headers);
		return response.end(request.method === 'HEAD' ? undefined : object.body);
	};
	return { objects, asked, handle };
}

/** Keys with which a request is signed, for a server that does not look at that. */
const KEYS = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };

/** Runs `trainyard model` and returns what came of it. */
function model(line, environment = KEYS) {
	const child = spawn(worker, ['model', ...line], { env: { PATH: process.env.PATH, ...environment } });
	let [out, err] = ['', ''];
	child.stdout.on('data', (text) => (out += text));
	child.stderr.on('data', (text) => (err += text));
	return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

test('a file is archived, and comes back when the chain has it no more', { timeout: 120_000 }, async () => {
	const store = keepObjects();
	const url = `http://127.0.0.1:${await listen(http.createServer(store.handle))}`;
	const [source, location] = [join(folder, 'source'), 's3://bucket/models/a model'];
	const options = [HERE, '--s3-endpoint', url];
	const archive = (file, ...more) => model(['archive', file, location, '--json', ...options, ...more]);
	// Not without leave: the server is at a private address.
	const private_ = await model(['archive', source, location, '--s3-endpoint', url]);
	assert.notEqual(private_.code, 0);
	assert.match(private_.err, /no public address/);
	assert.deepEqual(store.asked, []);

	const first = await archive(source);
	assert.equal(first.code, 0, first.err);
	const said = JSON.parse(first.out);
	assert.deepEqual([said.root, said.bytes, said.sent], [known.blob_root, bytes.length, true]);
	const path = '/bucket/models/a%20model';
	assert.deepEqual(store.asked, [`HEAD ${path}`, `PUT ${path}`, `HEAD ${path}`]);
	assert.deepEqual(store.objects.get(path).body, bytes);
	const again = await archive(source);
	assert.deepEqual([again.code, JSON.parse(again.out).sent], [0, false]);
	assert.equal(store.asked.length, 4, 'it is not sent twice');

	// Another file does not take its place unasked.
	const other = join(folder, 'other');
	writeFileSync(other, 'another');
	const refused = await archive(other);
	assert.notEqual(refused.code, 0);
	assert.match(refused.err, /has another file already: 3000000 bytes, root [0-9a-f]{64}\. Name another key/);
	assert.deepEqual(store.objects.get(path).body, bytes);

	const get = (root, ...more) =>
		model(['get', root, '--from', location, '--out', join(folder, 'back'), '--json', ...options, ...more]);
	const back = await get(known.blob_root, '--bytes', String(bytes.length));
	assert.equal(back.code, 0, back.err);
	assert.deepEqual(readFileSync(join(folder, 'back')), bytes);
	rmSync(join(folder, 'back'));
	assert.equal((await get(known.blob_root)).code, 0, 'its length is not needed');
	rmSync(join(folder, 'back'));
	const replaced = await archive(other, '--overwrite');
	assert.equal(replaced.code, 0, replaced.err);
	for (const more of [[], ['--bytes', '7']]) {
		const wrong = await get(known.blob_root, ...more);
		assert.notEqual(wrong.code, 0);
		assert.match(wrong.err, /another file|serves other data/);
	}
	assert.deepEqual(
		readdirSync(folder).filter((name) => name.startsWith('back')),
		[],
	);
});

test('an archive that does not take a file is believed', { timeout: 120_000 }, async () => {
	const cases = [
		// A key that may write and not read.
		[(request) => request.method === 'HEAD' && 403, [], /403 Forbidden when it is asked what is there.*AWS_ACCESS/s],
		[(request) => request.method === 'HEAD' && 403, ['--overwrite'], null],
		[(request) => request.method === 'PUT' && 403, [], /does not take the file: 403 Forbidden, <Code>Other/],
		// One that takes everything and keeps nothing.
		[(request) => request.method === 'PUT' && 200, [], /took the file, and then says that nothing is there/],
		// One that is busy at first.
		[(request, asked) => asked.length === 2 && 503, [], null],
	];
	for (const [answer, more, error] of cases) {
		const store = keepObjects(answer);
		const url = `http://127.0.0.1:${await listen(http.createServer(store.handle))}`;
		const line = ['archive', join(folder, 'source'), 's3://bucket/key', HERE, '--s3-endpoint', url, ...more];
		const done = await model(line);
		assert.equal(done.code === 0, error === null, done.err);
		if (error) assert.match(done.err, error);
		else assert.deepEqual(store.objects.get('/bucket/key').body, bytes);
	}
	const hub = await model(['archive', join(folder, 'source'), 'hf://owner/name/file']);
	assert.match(hub.err, /archived in buckets, s3:\/\/BUCKET\/KEY or gs:\/\/BUCKET\/KEY/);
	const missing = await model(['archive', join(folder, 'nothing'), 's3://bucket/key']);
	assert.match(missing.err, /cannot read .*nothing/);
});

test('an S3 server of a package takes what is signed, and nothing else', { timeout: 120_000 }, async (t) => {
	if (spawnSync(python, ['-c', 'import moto.server']).status !== 0) {
		return t.skip(
			`${python} has no moto: pip install 'moto[server]', or name a Python that has it by TRAINYARD_PYTHON`,
		);
	}
	const port = await anyPort();
	const server = spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)]);
	t.after(() => server.kill());
	const url = `http://127.0.0.1:${port}`;
	for (let tries = 0; ; tries++) {
		if ((await fetch(`${url}/moto-api/`).catch(() => null))?.ok) break;
		assert.ok(tries < 200, 'the server does not start');
		await sleep(200);
	}
	assert.ok((await fetch(`${url}/bucket`, { method: 'PUT' })).ok);
	assert.ok((await fetch(`${url}/bucket/folder/a%20file`, { method: 'PUT', body: bytes })).ok);
	const forAll = { method: 'PUT', body: bytes, headers: { 'x-amz-acl': 'public-read' } };
	assert.ok((await fetch(`${url}/bucket/public`, forAll)).ok);
	const location = 's3://bucket/folder/a file';
	const options = [HERE, '--s3-endpoint', url];
	const open = await fetchFile('s3://bucket/public', [...options, '--anonymous', ...declared()]).done;
	assert.equal(open.code, 0, open.err);
	assert.deepEqual(readFileSync(open.file), bytes);
	const missing = await fetchFile('s3://bucket/none', options).done;
	assert.match(missing.err, /404 Not Found/);

	// From here on it asks for signatures of this account.
	const iam = async (action, values) => {
		const authorization =
			'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=a';
		const body = new URLSearchParams({ Action: action, Version: '2010-05-08', ...values });
		const answer = await fetch(url, { method: 'POST', headers: { authorization }, body });
		assert.ok(answer.ok, `${action}: ${answer.status}`);
		return answer.text();
	};
	await iam('CreateUser', { UserName: 'me' });
	const key = await iam('CreateAccessKey', { UserName: 'me' });
	const all = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*' }] };
	await iam('PutUserPolicy', { UserName: 'me', PolicyName: 'all', PolicyDocument: JSON.stringify(all) });
	assert.ok((await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: '0' })).ok);
	const credentials = {
		AWS_ACCESS_KEY_ID: /<AccessKeyId>(.*?)</.exec(key)[1],
		AWS_SECRET_ACCESS_KEY: /<SecretAccessKey>(.*?)</.exec(key)[1],
	};
	const signed = await fetchFile(location, [...options, ...declared()], credentials).done;
	assert.equal(signed.code, 0, signed.err);
	assert.deepEqual(readFileSync(signed.file), bytes);
	const wrong = { ...credentials, AWS_SECRET_ACCESS_KEY: 'another' };
	const forged = await fetchFile(location, options, wrong).done;
	assert.match(forged.err, /403 Forbidden/);
	const put = (environment) =>
		model(['archive', join(folder, 'source'), 's3://bucket/archived', '--json', ...options], environment);
	const archived = await put(credentials);
	assert.equal(archived.code, 0, archived.err);
	const line = [
		'get',
		known.blob_root,
		'--from',
		's3://bucket/archived',
		'--out',
		join(folder, 'archived'),
		...options,
	];
	const back = await model(line, credentials);
	assert.equal(back.code, 0, back.err);
	assert.deepEqual(readFileSync(join(folder, 'archived')), bytes);
	assert.match((await put(wrong)).err, /403 Forbidden when it is asked/);
	const stranger = await fetchFile(location, [...options, '--anonymous'], credentials).done;
	assert.match(stranger.err, /403 Forbidden/);
});

test('what is served over iroh is fetched', { timeout: 60_000 }, async (t) => {
	const source = join(folder, 'source');
	const line = ['serve', source, '--json', '--iroh', '--iroh-listen', '127.0.0.1:0', '--dir', join(folder, 'serve')];
	const child = spawn(worker, line);
	t.after(() => child.kill());
	const text = await new Promise((resolve, reject) => {
		let out = '';
		child.stdout.on('data', (piece) => {
			out += piece;
			if (out.includes('\n')) resolve(out);
		});
		child.on('close', (code) => reject(new Error(`it ended with ${code}`)));
	});
	const [served] = JSON.parse(text);
	assert.match(served.location, /^iroh:\/\/[0-9a-f]{64},ip=127\.0\.0\.1:\d+\/blob\/[0-9a-f]{64}$/);
	assert.deepEqual([served.content_hash, served.bytes], [known.content_hash, known.bytes]);
	const came = await fetchFile(served.location, [HERE, ...declared()]).done;
	assert.equal(came.code, 0, came.err);
	assert.deepEqual(readFileSync(came.file), bytes);
	const refused = await fetchFile(served.location, declared()).done;
	assert.match(refused.err, /names no public address and no relay/);
});
