// Processes whose clock is another one, by libfaketime.

import { existsSync } from 'node:fs';

/** Where Debian's package libfaketime puts the library for programs with threads. */
const PLACES = ['x86_64', 'aarch64'].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketimeMT.so.1`);

/** Why no process can have another clock here, or null where it can. */
export const whyNoClock = () =>
	PLACES.some(existsSync) ? null : 'libfaketime is not installed (Debian: apt-get install libfaketime)';

/** The environment of a process whose clock is off by `offset`, like "+30s". Timers go as they do. */
export const clockOff = (offset) => ({
	LD_PRELOAD: PLACES.find(existsSync),
	FAKETIME: offset,
	FAKETIME_DONT_FAKE_MONOTONIC: '1',
	DONT_FAKE_MONOTONIC: '1',
});
