// Settings from the environment, validated once at start (contract section 1). Only entry points read this.
import { resolve } from 'node:path';
import { z } from 'zod';
import { KEPT_RELEASES } from './data/model/layout.ts';

const port = z.coerce.number().int().min(0).max(65535);
const folder = (fallback: string) =>
  z
    .string()
    .min(1)
    .default(fallback)
    .transform((path) => resolve(path));

/** Tokens for x402; the order in the setting is the order of the offer. */
const TOKENS = ['usdc', 'usdt'] as const;

/** The recipient, the facilitator and the node of x402: all three, or x402 is not offered. */
/** Settings that are set together. */
const X402 = ['X402_PAY_TO', 'X402_FACILITATOR_URL', 'X402_RPC_URL'] as const;
const SELLER = ['SELLER_NAME', 'SELLER_ADDRESS', 'SELLER_TAX_ID'] as const;

/** Levels of pino, quietest first. */
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** Host and port, such as `prices.internal:8080` or `[::1]:8080`. */
const isHostPort = (text: string) =>
  /^(?:[^\s:/@?#[\]]+|\[[\d:.a-f]+\]):\d{1,5}$/.test(text) && URL.canParse(`http://${text}`);

const isOrigin = (text: string) => /^https?:/.test(text) && URL.parse(text)?.origin === text;

/** A size such as `512MB`, in bytes. */
const memorySize = z
  .string()
  .regex(/^\d+ ?[MG]B$/i, 'must be a size such as 512MB or 2GB')
  .transform((size) => Number.parseInt(size, 10) * (/G/i.test(size) ? 2 ** 30 : 2 ** 20))
  .refine((bytes) => bytes >= 128 * 2 ** 20, 'must be at least 128MB');

const Settings = z.object({
  PORT: port.default(8787),
  HOST: z.string().min(1).default('127.0.0.1'),
  BASE_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  DATA_DIR: folder('./data/var'),
  DIST_DIR: folder('./dist'),
  PACK_DIRS: z
    .string()
    .min(1)
    .default('./packs')
    .transform((list) => list.split(',').map((path) => resolve(path.trim()))),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  /** Releases and facts of all machines; absent: those of DATA_DIR only. */
  RELEASES_URL: z
    .string()
    .refine(
      (url) => /^s3:\/\/[a-z0-9][a-z0-9.-]+(\/[^?#]*)?$|^file:\/\/\/[^?#]+$/.test(url),
      'must be s3://bucket/prefix or file:///folder',
    )
    .optional(),
  /** Releases of a dataset whose files are kept, the current one included; cursors and running requests need two. */
  RELEASES_KEEP: z.coerce.number().int().min(2).max(10_000).default(KEPT_RELEASES),
  S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  S3_REGION: z.string().min(1).optional(),
  /** How long a start waits for PostgreSQL. */
  DATABASE_WAIT_SECONDS: z.coerce.number().min(0).max(3600).default(60),
  /** How long /readyz answers 503 before a process that SIGTERM stops closes its port. */
  DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(5),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  ADMIN_KEYS: z
    .string()
    .optional()
    .transform((list) => (list ? list.split(',').map((key) => key.trim()) : null))
    .refine(
      (keys) => keys === null || keys.every((key) => key.length >= 32),
      'every admin key needs at least 32 characters',
    ),
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be smtp://… or smtps://…' }).optional(),
  MAIL_FROM: z
    .string()
    .regex(/^([^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/, 'must be an address, or Name <address>')
    .optional(),
  /** Address of the operators, for alerts of nightly runs; absent: alerts are shown at /ops only. */
  ALERT_EMAIL: z.email('must be an e-mail address').optional(),
  TRUST_PROXY: z.coerce.number().int().min(0).max(10).default(0),
  CHECKOUT: z.literal('sandbox', 'must be sandbox, or unset').optional(),
  STRIPE_SECRET_KEY: z.string().min(1).optional(),
  STRIPE_WEBHOOK_SECRET: z.string().min(1).optional(),
  STRIPE_API_BASE: z
    .url({ protocol: /^https?$/ })
    .refine(
      (url) => url.startsWith('https:') || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname),
      'a key must not travel in the open: use https, or an address of this machine',
    )
    .optional(),
  /** The seller on invoices. */
  SELLER_NAME: z.string().trim().min(1).optional(),
  SELLER_ADDRESS: z.string().trim().min(1).optional(),
  SELLER_TAX_ID: z.string().trim().min(1).optional(),
  /** Most welcome credit of one UTC day, over all new keys. */
  WELCOME_BUDGET_EUR: z.coerce.number().min(0).max(1_000_000).default(100),
  X402_PAY_TO: z
    .string()
    .regex(/^0x(?!0{40}$)[0-9a-fA-F]{40}$/, 'must be an address, 0x and 40 hex digits, not all of them zero')
    .optional(),
  X402_FACILITATOR_URL: z.url({ protocol: /^https?$/ }).optional(),
  X402_RPC_URL: z.url({ protocol: /^https?$/ }).optional(),
  X402_TOKENS: z
    .string()
    .default('usdc,usdt')
    .transform((list) => [...new Set(list.split(',').map((token) => token.trim().toLowerCase()))])
    .pipe(z.array(z.enum(TOKENS, `must be of ${TOKENS.join(', ')}`)).min(1)),
  /** Origins of web pages that may use MCP, in addition to our own and those of this machine. */
  MCP_ORIGINS: z
    .string()
    .optional()
    .transform((list) => (list ? list.split(',').map((origin) => origin.trim()) : []))
    .refine((origins) => origins.every(isOrigin), 'every origin is written like https://app.example'),
  /** Bytes of memory of each DuckDB database of a nightly run; absent: a sixth of the machine's or container's, up to 1 GB. */
  DUCKDB_MEMORY: memorySize.optional(),
  /** 0: there is no SQL. */
  SQL: z.enum(['0', '1'], 'must be 0 or 1').default('1'),
  /** Bytes of memory of the database that answers SQL. */
  SQL_MEMORY: memorySize.default(512 * 2 ** 20),
  /** Threads that answer calls on the same port. */
  WORKERS: z.coerce.number().int().min(1).max(64).default(1),
  /** Lowest level that the API logs. */
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  /** Where traces are sent; absent: there are none. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** Share of the traces that begin here that are recorded. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  /** A dataset of more records has no files of its record pages: the API renders them. */
  RECORD_PAGES_MAX: z.coerce.number().int().min(0).default(200_000),
  EUR_USD: z.coerce.number().positive().max(10).default(1.1),
  /** Private addresses and ports that `http()` sources may reach. */
  COLLECT_ALLOW_HOSTS: z
    .string()
    .optional()
    .transform((list) => (list ? list.split(',').map((host) => host.trim().toLowerCase()) : []))
    .refine((hosts) => hosts.every(isHostPort), 'every entry is written like prices.internal:8080'),
  /** Seconds since 1970 at which the build's clock stops (reproducible-builds.org). */
  SOURCE_DATE_EPOCH: z.coerce.number().min(0).optional(),
});

/** Without its webhook a checkout would take money and never credit it: both secrets, or neither. */
function stripeWhole(settings: z.infer<typeof Settings>): string | null {
  const [key, secret] = [settings.STRIPE_SECRET_KEY, settings.STRIPE_WEBHOOK_SECRET];
  if (settings.CHECKOUT === 'sandbox' && key !== undefined)
    return 'CHECKOUT: sandbox is play money and cannot be set with STRIPE_SECRET_KEY; unset one of the two';
  if ((key === undefined) === (secret === undefined)) return null;
  return key === undefined
    ? 'STRIPE_SECRET_KEY: is required with STRIPE_WEBHOOK_SECRET'
    : 'STRIPE_WEBHOOK_SECRET: is required with STRIPE_SECRET_KEY';
}

export type Config = Omit<z.infer<typeof Settings>, 'BASE_URL'> & { BASE_URL: string };

/** Thrown for a wrong setting: one line naming it. */
export class ConfigError extends Error {}

/** Parses settings; an empty variable counts as unset. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = Settings.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError(`${String(issue?.path[0] ?? 'settings')}: ${issue?.message ?? 'wrong'}`);
  }
  const settings = parsed.data;
  if (settings.RELEASES_URL !== undefined && settings.DATABASE_URL === undefined)
    throw new ConfigError(
      'RELEASES_URL: requires DATABASE_URL, because PostgreSQL stores which release is current and which machine runs the night',
    );
  const half = stripeWhole(settings);
  if (half !== null) throw new ConfigError(half);
  for (const group of [X402, SELLER]) {
    const missing = group.find((name) => settings[name] === undefined);
    const set = group.find((name) => settings[name] !== undefined);
    if (missing && set) throw new ConfigError(`${missing}: must be set where ${set} is`);
  }
  return { ...settings, BASE_URL: settings.BASE_URL ?? `http://localhost:${settings.PORT}` };
}
