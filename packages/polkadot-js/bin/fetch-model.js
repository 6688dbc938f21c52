#!/usr/bin/env node
import { main } from '../src/cli.js';
import command from '../src/commands/fetch-model.js';

await main(command);
