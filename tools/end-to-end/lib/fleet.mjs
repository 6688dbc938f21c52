// Processes of a run: started together, logged to files, and all stopped when the run ends,
// however it ends.

import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How long a process may take to stop before it is killed. */
const PATIENCE_MS = 8_000;

/** A process with its log. */
export class Process {
	constructor(name, logFile, child) {
		Object.assign(this, { name, logFile, child, code: null, signal: null, expected: false });
		this.exited = new Promise((resolve) => {
			child.on('error', (error) => {
				this.code = 127;
				this.startError = error;
				resolve(this);
			});
			// `close`, not `exit`: after it the log is complete.
			child.on('close', (code, signal) => {
				this.code ??= code;
				this.signal = signal;
				resolve(this);
			});
		});
	}

	get pid() {
		return this.child.pid;
	}

	/** Whether it has not ended. */
	get alive() {
		return this.code === null && this.signal === null;
	}

	/** What it has written so far. */
	log() {
		return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : '';
	}

	/** The last lines of its log. */
	tail(lines = 15) {
		return this.log().trimEnd().split('\n').slice(-lines).join('\n');
	}

	/** Ends it at once, as a power cut would, and waits until it is gone. */
	async kill() {
		this.expected = true;
		this.child.kill('SIGKILL');
		await this.exited;
	}

	/** Asks it to end, and makes it end where it does not. */
	async stop() {
		if (!this.alive) return;
		this.expected = true;
		this.child.kill('SIGINT');
		const timer = setTimeout(() => this.child.kill('SIGKILL'), PATIENCE_MS);
		await this.exited;
		clearTimeout(timer);
	}

	/** Resolves when the log matches; fails when the process ends or time runs out first. */
	async says(pattern, seconds = 60) {
		const until = Date.now() + seconds * 1_000;
		for (;;) {
			const match = pattern.exec(this.log());
			if (match) return match;
			if (!this.alive) throw new Error(this.obituary(`before it said ${pattern}`));
			if (Date.now() > until) {
				throw new Error(`${this.name} has not said ${pattern} within ${seconds} s. Its last lines:\n${this.tail()}`);
			}
			await new Promise((resolve) => setTimeout(resolve, 100));
		}
	}

	/** How it ended, with its last words. */
	obituary(when = '') {
		const how = this.startError
			? `could not be started: ${this.startError.message}`
			: `ended ${when} (${this.signal ? `signal ${this.signal}` : `exit status ${this.code}`})`;
		return `${this.name} ${how}. Its last lines (${this.logFile}):\n${this.tail()}`;
	}
}

/** All processes of a run, with their logs in one folder. */
export class Fleet {
	#all = new Set();

	constructor(folder) {
		this.folder = folder;
		mkdirSync(folder, { recursive: true });
	}

	/** Starts a process that runs until it is stopped. */
	start(name, command, args, { env = {}, cwd } = {}) {
		const logFile = join(this.folder, `${name}.log`);
		const log = createWriteStream(logFile, { flags: 'a' });
		const child = spawn(command, args, {
			cwd,
			env: { ...process.env, NO_COLOR: '1', ...env },
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const it = new Process(name, logFile, child);
		// Write through: whoever waits for a line reads the file.
		child.stdout.on('data', (data) => log.write(data));
		child.stderr.on('data', (data) => log.write(data));
		it.exited.then(() => log.end());
		this.#all.add(it);
		return it;
	}

	/**
	 * Runs a command to its end; resolves to its exit status and output. `onLine` sees each
	 * line of its standard output as it comes.
	 */
	async run(name, command, args, { seconds = 120, onLine, env = {}, cwd } = {}) {
		const child = spawn(command, args, {
			cwd,
			env: { ...process.env, NO_COLOR: '1', ...env },
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const it = new Process(name, join(this.folder, `${name}.log`), child);
		this.#all.add(it);
		const log = createWriteStream(it.logFile, { flags: 'a' });
		const out = { stdout: '', stderr: '' };
		let rest = '';
		child.stdout.on('data', (data) => {
			out.stdout += data;
			log.write(data);
			if (!onLine) return;
			const lines = (rest + data).split('\n');
			rest = lines.pop();
			for (const line of lines) onLine(line);
		});
		child.stderr.on('data', (data) => {
			out.stderr += data;
			log.write(data);
		});
		let late = false;
		const timer = setTimeout(() => {
			late = true;
			child.kill('SIGKILL');
		}, seconds * 1_000);
		await it.exited;
		clearTimeout(timer);
		log.end();
		this.#all.delete(it);
		if (late) throw new Error(`${name} did not end within ${seconds} s. Its last lines:\n${out.stdout}${out.stderr}`);
		if (it.startError) throw new Error(`${name} could not be started: ${it.startError.message}`);
		return { status: it.code ?? 128, ...out };
	}

	/** Like `run`, and fails where the exit status is not 0. */
	async must(name, command, args, options) {
		const result = await this.run(name, command, args, options);
		if (result.status !== 0) {
			throw new Error(`${name} failed with exit status ${result.status}:\n${result.stderr || result.stdout}`);
		}
		return result;
	}

	/** Fails when a process ended that nobody stopped. */
	check() {
		for (const it of this.#all) {
			if (!it.alive && !it.expected) throw new Error(it.obituary('by itself'));
		}
	}

	/** Whether everything that was started and not stopped still runs. */
	get running() {
		return [...this.#all].filter((it) => it.alive);
	}

	/** Stops everything. */
	async stop() {
		// Clients first: they would only complain that their node is gone.
		const nodes = this.running.filter(({ name }) => name.startsWith('node'));
		await Promise.all(this.running.filter((it) => !nodes.includes(it)).map((it) => it.stop()));
		await Promise.all(nodes.map((it) => it.stop()));
	}
}
