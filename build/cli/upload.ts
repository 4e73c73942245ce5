// `npm run publish`: sends the published files in DIST_DIR to a folder or a bucket, or prints a host
// configuration.

import { parseArgs } from 'node:util';
import { hostingRules } from '../../api/discovery/hosting.ts';
import { OPERATIONS } from '../../api/operations/table.ts';
import { ConfigError, readConfig } from '../../config.ts';
import { LockedError } from '../../data/model/lock.ts';
import { createPrivateFiles } from '../../data/model/permissions.ts';
import { commandLine } from '../../data/model/program.ts';
import { realEffects } from '../effects/effects.ts';
import { publishTo } from '../hosting/run.ts';
import { PublishError } from '../hosting/target.ts';
import { caddyConfig, type HostPlaces, headersFile, nginxConfig, redirectsFile } from '../static/host-configs.ts';

const USAGE = `usage: ${commandLine('publish', '--to <folder | s3://bucket/prefix> [--dry-run] [--compress] [--adopt]')}
       ${commandLine('publish', '--rules <nginx | caddy | _headers | _redirects> [--root <folder>] [--api <origin>]')}

  --to        the target: a folder or a bucket
  --dry-run   print what would be sent and deleted, and change nothing
  --compress  send brotli and gzip copies next to the files, for hosts that serve them
  --adopt     publish into a folder with other files, and replace those of the same name
  --rules     print the configuration of a host instead
  --root      the published folder, for that configuration (default: /srv/register)
  --api       the origin of the API, for that configuration (default for nginx and Caddy: http://127.0.0.1:8787)
`;

const WRITERS: Record<string, (rules: ReturnType<typeof hostingRules>, places: HostPlaces) => string> = {
  nginx: nginxConfig,
  caddy: caddyConfig,
  _headers: headersFile,
  _redirects: redirectsFile,
};

/** Returns the exit code: 0 done, 1 failed, 2 wrong arguments. */
async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      to: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      compress: { type: 'boolean', default: false },
      adopt: { type: 'boolean', default: false },
      rules: { type: 'string' },
      root: { type: 'string', default: '/srv/register' },
      api: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { DIST_DIR, BASE_URL, SOURCE_DATE_EPOCH, DATABASE_URL, S3_ENDPOINT, S3_REGION } = readConfig(process.env);
  const rules = hostingRules({ base_url: BASE_URL, operations: OPERATIONS });
  if (values.rules !== undefined) {
    const write = WRITERS[values.rules];
    if (write === undefined)
      throw new PublishError(`--rules must be one of ${Object.keys(WRITERS).join(', ')} (got '${values.rules}')`);
    const { root, api } = values;
    if (api !== undefined && (!/^https?:/.test(api) || URL.parse(api)?.origin !== api))
      throw new PublishError(`--api must be an origin such as http://127.0.0.1:8787 (got '${api}')`);
    process.stdout.write(write(rules, { root, api }));
    return 0;
  }
  if (values.to === undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  const { progress } = realEffects(SOURCE_DATE_EPOCH, {
    base_url: BASE_URL,
    database_url: DATABASE_URL,
    environment: {},
  });
  const { 'dry-run': dry_run, compress, adopt } = values;
  const bucket = { rules, endpoint: S3_ENDPOINT, region: S3_REGION };
  const sent = await publishTo({ dist: DIST_DIR, to: values.to, dry_run, compress, adopt, progress, bucket });
  const count = (n: number) => n.toLocaleString('en-US');
  const did = dry_run ? ['would send', 'would delete'] : ['sent', 'deleted'];
  progress.note(`${did[0]} ${count(sent.files)} files, ${count(sent.bytes)} bytes; ${did[1]} ${count(sent.deleted)}`);
  return 0;
}

try {
  createPrivateFiles();
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isExpected = error instanceof PublishError || error instanceof LockedError || error instanceof ConfigError;
  const { code } = error as NodeJS.ErrnoException;
  const unread = code?.startsWith('ERR_PARSE_ARGS');
  if (!isExpected && !unread && code === undefined) throw error;
  // A system error, such as a full disk or a missing permission, has a message of its own.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${unread ? USAGE : ''}`);
  process.exitCode = unread ? 2 : 1;
}
