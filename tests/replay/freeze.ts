// Loaded before the service (`--import`): stops its clock and seeds its random numbers, so that equal
// requests get equal answers.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Milliseconds since 1970 of the stopped clock. */
const AT = Number(process.env['REPLAY_AT']);
if (!Number.isSafeInteger(AT)) throw new Error('REPLAY_AT must be milliseconds since 1970.');

const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    // The overloads of Date cannot be spread.
    super(...((given.length === 0 ? [AT] : given) as [number]));
  }
  static override now(): number {
    return AT;
  }
} as DateConstructor;

let drawn = 0;
const seeded = (bytes: number): Buffer => {
  drawn += 1;
  return crypto.createHash('shake256', { outputLength: bytes }).update(`replay ${drawn}`).digest();
};
const uuid = () => {
  const hex = seeded(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}` as const;
};

Object.assign(crypto, { randomBytes: seeded, randomUUID: uuid });
globalThis.crypto.randomUUID = uuid;
syncBuiltinESMExports();
