#!/usr/bin/env node
import { main } from '../src/cli.js';
import command from '../src/commands/watch-job.js';

await main(command);
