#!/usr/bin/env node
import { main } from '../src/cli.js';
import command from '../src/commands/federation.js';

await main(command);
