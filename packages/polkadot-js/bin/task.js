#!/usr/bin/env node
import { main } from '../src/cli.js';
import command from '../src/commands/task.js';

await main(command);
