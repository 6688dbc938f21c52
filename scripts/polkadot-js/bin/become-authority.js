#!/usr/bin/env node
import { main } from '../src/cli.js';
import command from '../src/commands/become-authority.js';

await main(command);
