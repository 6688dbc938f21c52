// Ports, and a small file server.

import { createReadStream, statSync } from 'node:fs';
import { createServer as createHttp, request as requestHttp } from 'node:http';
import { connect, createServer } from 'node:net';
import { basename } from 'node:path';

/** Whether nobody listens on `port` of this machine. */
export function isFree(port, host = '127.0.0.1') {
	return new Promise((resolve) => {
		const probe = createServer();
		probe.once('error', () => resolve(false));
		probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
	});
}

/**
 * Ports that `anyPort` gives out. They are below those that the system gives to connections, so
 * that none takes a port between its choice and its use, or while its node restarts. Test files that
 * run side by side are processes with numbers near each other, so each has a range of its own.
 */
const FIRST_PORT = 20_000;
const RANGE = 100;
const RANGES = 120;
let given = 0;

/** A port that is free now, and that no other caller of this gets soon. */
export async function anyPort() {
	for (let tries = 0; tries < RANGE; tries++) {
		const port = FIRST_PORT + (process.pid % RANGES) * RANGE + (given++ % RANGE);
		if (await isFree(port)) return port;
	}
	throw new Error(`no port of ${RANGE} is free`);
}

/** `wanted` where it is free, and any free port where it is not. */
export async function portNear(wanted) {
	return (await isFree(wanted)) ? wanted : anyPort();
}

/**
 * A server that accepts every connection and never answers. Returns `url(name)`, how many
 * `connections()` there were, and `close()`.
 */
export async function serveSilence() {
	const sockets = new Set();
	let count = 0;
	const server = createServer((socket) => {
		count++;
		sockets.add(socket);
		// Who gives up may do so at once.
		socket.on('error', () => {});
		socket.on('close', () => sockets.delete(socket));
		socket.resume();
	});
	await new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	const { port } = server.address();
	return {
		url: (name) => `http://127.0.0.1:${port}/${name}`,
		connections: () => count,
		close: () =>
			new Promise((resolve) => {
				for (const socket of sockets) socket.destroy();
				server.close(resolve);
			}),
	};
}

/**
 * A bad line to a port of this machine: every connection lasts for a time drawn from `lasts`
 * ([least, most] in ms), and after a cut nobody is let in for one drawn from `pauses`. Returns its
 * `url`, how many `cuts()` there were, and `close()`.
 */
export async function flappingProxy(target, { lasts, pauses }) {
	const between = ([least, most]) => least + Math.random() * (most - least);
	const open = new Set();
	let cut = 0;
	let closedUntil = 0;
	const server = createServer((client) => {
		client.on('error', () => {});
		if (Date.now() < closedUntil) {
			client.destroy();
			return;
		}
		const upstream = connect(target, '127.0.0.1');
		upstream.on('error', () => {});
		open.add(client);
		client.pipe(upstream).pipe(client);
		client.on('close', () => {
			open.delete(client);
			upstream.destroy();
		});
		upstream.on('close', () => client.destroy());
	});
	await new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	let timer;
	const flap = () => {
		cut += open.size;
		for (const client of open) client.destroy();
		const pause = between(pauses);
		closedUntil = Date.now() + pause;
		timer = setTimeout(flap, pause + between(lasts));
	};
	timer = setTimeout(flap, between(lasts));
	return {
		url: `ws://127.0.0.1:${server.address().port}`,
		cuts: () => cut,
		close: () =>
			new Promise((resolve) => {
				clearTimeout(timer);
				for (const client of open) client.destroy();
				server.close(resolve);
			}),
	};
}

/**
 * Passes requests on to the HTTP server at `port` of this machine, but each path of a bundle to the
 * first who asks and to nobody after that. Returns its `url`, the `refused()` paths, and `close()`.
 */
export function serveOnce(port) {
	const given = new Set();
	return serveSome(port, (url) => {
		const gives = !given.has(url);
		if (url.startsWith('/bundle/')) given.add(url);
		return gives;
	});
}

/** Passes those requests on to a server on this machine whose URL `gives` accepts; `refused` lists the others. */
export async function serveSome(port, gives) {
	const refused = [];
	const server = createHttp((request, response) => {
		const { url, headers } = request;
		if (!gives(url)) {
			refused.push(url);
			response.writeHead(404).end('it is not given to you\n');
			return;
		}
		const upstream = requestHttp({ host: '127.0.0.1', port, path: url, headers }, (answer) => {
			response.writeHead(answer.statusCode, answer.headers);
			answer.pipe(response);
		});
		upstream.on('error', () => response.destroy());
		upstream.end();
	});
	await new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	return {
		url: `http://127.0.0.1:${server.address().port}`,
		refused: () => refused,
		close: () =>
			new Promise((resolve) => {
				server.closeAllConnections?.();
				server.close(resolve);
			}),
	};
}

/**
 * A line by which one worker reaches the HTTP servers of others: a proxy that answers where
 * `passes(url)` is false as a server does that has no such file, and passes everything else on. Returns
 * the `env` of a worker that fetches by this line and by no other, the `refused()` URLs, and `close()`.
 */
export async function serveLine(passes) {
	const refused = [];
	const server = createHttp((request, response) => {
		const { url, method, headers } = request;
		if (!passes(url)) {
			refused.push(url);
			response.writeHead(404).end('it is not given to you\n');
			return;
		}
		const upstream = requestHttp(url, { method, headers }, (answer) => {
			response.writeHead(answer.statusCode, answer.headers);
			answer.pipe(response);
		});
		upstream.on('error', () => response.destroy());
		request.pipe(upstream);
	});
	await new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	const proxy = `http://127.0.0.1:${server.address().port}`;
	return {
		// What the machine says of addresses without a proxy must not count.
		env: { http_proxy: proxy, HTTP_PROXY: proxy, no_proxy: '', NO_PROXY: '' },
		refused: () => refused,
		close: () =>
			new Promise((resolve) => {
				server.closeAllConnections?.();
				server.close(resolve);
			}),
	};
}

/**
 * Serves the given files over HTTP on a free port of this machine, each by its name.
 * Returns `url(name)`, the names asked for so far, and `close()`.
 */
export async function serveFiles(paths) {
	const files = new Map(paths.map((path) => [`/${basename(path)}`, path]));
	const requests = [];
	const server = createHttp((request, response) => {
		requests.push(request.url);
		const path = files.get(request.url);
		if (!path || request.method !== 'GET') {
			response.writeHead(404).end('there is no such file here\n');
			return;
		}
		response.writeHead(200, { 'content-type': 'text/csv', 'content-length': statSync(path).size });
		createReadStream(path).pipe(response);
	});
	await new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	const { port } = server.address();
	return {
		port,
		requests,
		url: (name) => `http://127.0.0.1:${port}/${name}`,
		close: () =>
			new Promise((resolve) => {
				server.closeAllConnections?.();
				server.close(resolve);
			}),
	};
}
