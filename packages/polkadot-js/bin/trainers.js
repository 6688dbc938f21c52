#!/usr/bin/env node
import { main } from '../src/cli.js';
import command from '../src/commands/trainers.js';

await main(command);
