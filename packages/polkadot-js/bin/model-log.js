#!/usr/bin/env node
import { main } from '../src/cli.js';
import command from '../src/commands/model-log.js';

await main(command);
