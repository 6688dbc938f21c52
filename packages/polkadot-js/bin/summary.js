#!/usr/bin/env node
import { main } from '../src/cli.js';
import command from '../src/commands/summary.js';

await main(command);
