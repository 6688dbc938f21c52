// Files in stores, fetched by the real worker: from an S3 server of a package (moto, where its Python has it), which
// checks signatures itself; from stand-ins for Google's storage and the hub; and over TLS. No chain is needed.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
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
		assert.ok(starts[1] >= 500_000, `it began again at ${starts[1]}`);
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
