// A mirror that lies: it passes a node's WebSocket on and changes chunks of files on their way.

import { connect, createServer } from 'node:net';

/** Header and payload length of the WebSocket frame at the beginning of `data`; null if it is cut off. */
function frame(data) {
	if (data.length < 2) return null;
	const short = data[1] & 0x7f;
	const header = short === 127 ? 10 : short === 126 ? 4 : 2;
	if (data.length < header) return null;
	const length = short === 127 ? Number(data.readBigUInt64BE(2)) : short === 126 ? data.readUInt16BE(2) : short;
	return { header, length };
}

/** Changes one hex digit in the middle of a payload. Returns whether it did. */
function spoil(payload) {
	const middle = payload.length >> 1;
	if (!/[0-9a-f]/.test(String.fromCharCode(payload[middle]))) return false;
	payload[middle] = payload[middle] === 0x30 ? 0x31 : 0x30;
	return true;
}

/**
 * A line to the node at `port` of this machine that changes every answer whose result is `bytes` bytes
 * in hex: chunks of a file whose chunks have this length. Returns its `url`, how many `lies()` it told,
 * and `close()`.
 */
export async function lyingProxy(port, { bytes }) {
	const open = new Set();
	let lies = 0;
	const server = createServer((client) => {
		const upstream = connect(port, '127.0.0.1');
		open.add(client);
		client.on('error', () => {});
		upstream.on('error', () => {});
		client.pipe(upstream);
		let rest = Buffer.alloc(0);
		let upgraded = false;
		upstream.on('data', (data) => {
			rest = Buffer.concat([rest, data]);
			if (!upgraded) {
				const end = rest.indexOf('\r\n\r\n');
				if (end < 0) return;
				client.write(rest.subarray(0, end + 4));
				rest = rest.subarray(end + 4);
				upgraded = true;
			}
			for (let at = frame(rest); at && rest.length >= at.header + at.length; at = frame(rest)) {
				const whole = Buffer.from(rest.subarray(0, at.header + at.length));
				rest = rest.subarray(whole.length);
				// Around the hex digits there are a hundred bytes of JSON at most.
				const about = at.length - 2 * bytes;
				if (about > 0 && about < 100 && spoil(whole.subarray(at.header))) lies++;
				client.write(whole);
			}
		});
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
	return {
		url: `ws://127.0.0.1:${server.address().port}`,
		lies: () => lies,
		close: () =>
			new Promise((resolve) => {
				for (const client of open) client.destroy();
				server.close(resolve);
			}),
	};
}
