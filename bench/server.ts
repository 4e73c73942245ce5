// The API for `npm run bench -- cpu`: as `npm run serve` answers, with its log, but with limits so high that a charged
// call can be repeated.
import { createServer } from 'node:http';
import { memoryLimits } from '../api/access/limits.ts';
import { compose } from '../api/compose.ts';
import { logRequests, openLog } from '../api/http/log.ts';
import { settingsOf } from '../api/process.ts';
import { readConfig } from '../config.ts';

const config = readConfig(process.env);
const log = openLog({ level: config.LOG_LEVEL });
const settings = await settingsOf(config, log);
const limits = memoryLimits({ free: 1e9, paid: 1e9 });
const { listener } = await compose({ ...settings, adjust: (gate) => ({ ...gate, limits }) });
const server = createServer({ optimizeEmptyRequests: true, requireHostHeader: false }, listener());
logRequests(server, log);
server.listen(config.PORT, config.HOST);
