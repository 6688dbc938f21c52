// The two kinds of nodes, driven alike: specifications, processes, questions.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { anyPort } from '../end-to-end/lib/net.mjs';
import { sleep, until } from '../end-to-end/lib/network.mjs';

/** What each of the accounts that transfer has at genesis, in units of 10^-12. */
const ENDOWMENT = 10 ** 15;
/** Slots of a session of our chain. */
const EPOCH_LENGTH = 600;
/** Transactions that the pool takes: some blocks of them. */
const POOL = ['--pool-limit', '65536', '--pool-kbytes', '131072'];

/** A node program: ours, or the one that it is compared with. */
export class Program {
	/** `chains`: for each slot length in ms what `--chain` takes to have it; null: patched. */
	constructor({ side, binary, chains, fleet, folder }) {
		Object.assign(this, { side, binary, chains, fleet, folder });
		mkdirSync(folder, { recursive: true });
	}

	/** What the program says of itself. */
	async version() {
		const { stdout } = await this.fleet.must(`${this.side}-version`, this.binary, ['--version']);
		return stdout.trim();
	}

	/**
	 * Writes a specification of the development chain with slots of `slot` ms in which the
	 * accounts `rich` have money. Returns its path.
	 */
	async specification(slot, rich) {
		const base = this.chains?.get(slot) ?? (this.chains ? null : 'dev');
		if (!base) throw new Error(`no chain of ${slot} ms was given for ${this.binary}: --other-chain ${slot}=SPEC`);
		const { stdout } = await this.fleet.must(`${this.side}-spec`, this.binary, ['export-chain-spec', '--chain', base]);
		const spec = JSON.parse(stdout);
		const patch = spec.genesis?.runtimeGenesis?.patch;
		if (!patch) throw new Error(`the chain ${base} of ${this.binary} is not a plain specification with a patch`);
		patch.balances.balances.push(...rich.map((address) => [address, ENDOWMENT]));
		if (patch.hashrate) Object.assign(patch.hashrate, { slotDuration: slot, epochLength: EPOCH_LENGTH });
		const path = join(this.folder, `spec-${slot}.json`);
		writeFileSync(path, JSON.stringify(spec));
		return path;
	}

	/** Starts the lone authority of the chain on an empty database; resolves when it makes blocks. */
	async start(name, spec, flags = []) {
		const node = new Node(this, name, spec);
		await node.start(flags);
		return node;
	}
}

/** A running node. */
export class Node {
	constructor(program, name, spec) {
		Object.assign(this, { program, spec, name: `node-${program.side}-${name}` });
		this.base = join(program.folder, name);
	}

	async start(flags) {
		rmSync(this.base, { recursive: true, force: true });
		const [rpc, peers, metrics] = await Promise.all([anyPort(), anyPort(), anyPort()]);
		this.url = `http://127.0.0.1:${rpc}`;
		this.metricsUrl = `http://127.0.0.1:${metrics}/metrics`;
		this.process = this.program.fleet.start(this.name, this.program.binary, [
			...['--chain', this.spec, '--base-path', this.base, '--alice', '--validator', '--force-authoring'],
			...['--unsafe-force-node-key-generation', '--listen-addr', `/ip4/127.0.0.1/tcp/${peers}`, '--reserved-only'],
			...['--no-telemetry', '--no-mdns', '--database', 'paritydb'],
			...['--rpc-port', String(rpc), '--prometheus-port', String(metrics), ...POOL, ...flags],
		]);
		await until(
			`${this.name} makes a block`,
			60,
			() =>
				this.height().then(
					(height) => height > 0,
					() => false,
				),
			() => this.program.fleet.check(),
		);
	}

	stop = () => this.process.stop();

	/** One JSON-RPC call. */
	async rpc(method, params = []) {
		return (await this.batch([[method, params]]))[0];
	}

	/** Several JSON-RPC calls in one request; fails with the first that fails. */
	async batch(calls) {
		const body = JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })));
		const response = await fetch(this.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
		const answers = await response.json();
		if (!Array.isArray(answers)) throw new Error(`${this.name}: ${JSON.stringify(answers)}`);
		for (const { id, error } of answers) {
			if (error)
				throw new Error(`${this.name}, ${calls[id][0]}: ${error.message}${error.data ? ` (${error.data})` : ''}`);
		}
		return answers.sort((a, b) => a.id - b.id).map(({ result }) => result);
	}

	/** Number of the best block. */
	async height() {
		return Number((await this.rpc('chain_getHeader')).number);
	}

	/** Waits for block `number`. */
	reach(number, seconds) {
		const { fleet } = this.program;
		return until(
			`${this.name} makes block ${number}`,
			seconds,
			async () => (await this.height()) >= number,
			() => fleet.check(),
		);
	}

	/** The Prometheus metric `name`: sum over its labels; null where there is none. */
	async metric(name) {
		const text = await (await fetch(this.metricsUrl)).text();
		const values = text
			.split('\n')
			.filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)))
			.map((line) => Number(line.slice(line.lastIndexOf(' '))));
		return values.length ? values.reduce((a, b) => a + b, 0) : null;
	}

	/** Memory in MiB: resident now, its peak, and what of it belongs to no file. */
	memory() {
		const status = readFileSync(`/proc/${this.process.pid}/status`, 'utf8');
		const mib = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)[1]) / 1024;
		return { resident: mib('VmRSS'), peak: mib('VmHWM'), anonymous: mib('RssAnon') };
	}

	/** Seconds of processor time that it has used. */
	processorSeconds() {
		const stat = readFileSync(`/proc/${this.process.pid}/stat`, 'utf8');
		const [user, system] = stat
			.slice(stat.lastIndexOf(')') + 2)
			.split(' ')
			.slice(11, 13);
		// Ticks of 10 ms, on every Linux that Node.js runs on.
		return (Number(user) + Number(system)) / 100;
	}
}

/** The middle one; the mean of the two middle ones. */
export function median(values) {
	const sorted = [...values].sort((a, b) => a - b);
	const half = sorted.length >> 1;
	return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

export { sleep, until };
