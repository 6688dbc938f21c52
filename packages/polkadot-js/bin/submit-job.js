#!/usr/bin/env node
import { main } from '../src/cli.js';
import command from '../src/commands/submit-job.js';

await main(command);
