// Format of API keys: `dsr_`, 37 random base62 characters, 6 checksum characters (contract section 3,
// "Credentials").
import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM = 37;
const SHAPE = /^dsr_[0-9A-Za-z]{43}$/;

function checksum(random: string): string {
  let value = crc32(random);
  let text = '';
  for (let i = 0; i < 6; i += 1) {
    text = ALPHABET[value % 62] + text;
    value = Math.floor(value / 62);
  }
  return text;
}

/** The secret that belongs to 64 bytes, such as a keyed hash. */
export function keyOf(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let i = 0; i < RANDOM; i += 1) {
    text += ALPHABET[Number(rest % 62n)];
    rest /= 62n;
  }
  return `dsr_${text}${checksum(text)}`;
}

/** A new secret with about 220 random bits. */
export function newKey(): string {
  let random = '';
  for (let i = 0; i < RANDOM; i += 1) random += ALPHABET[randomInt(62)];
  return `dsr_${random}${checksum(random)}`;
}

/** Whether a text can be a key: rejects typing errors and guesses without a lookup. */
export function isWellFormedKey(key: string): boolean {
  return SHAPE.test(key) && checksum(key.slice(4, 4 + RANDOM)) === key.slice(4 + RANDOM);
}

/** The stored form of a secret. A plain hash is enough, because the entropy is too high to guess. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}

/** Compares two hex hashes in constant time. */
export function sameHash(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a, 'hex'), Buffer.from(b, 'hex')];
  return x.length === y.length && timingSafeEqual(x, y);
}
