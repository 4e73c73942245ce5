// When two e-mail addresses count as the same one.
import { domainToASCII } from 'node:url';

/** Mail services that ignore dots in the name, each under its main domain. */
const DOTLESS: Record<string, string> = { 'gmail.com': 'gmail.com', 'googlemail.com': 'gmail.com' };

/** An address as it is compared: lower case, without `+tag`, the domain in ASCII; null for what cannot be one. */
export function normalEmail(email: string): string | null {
  const at = email.lastIndexOf('@');
  const name = email.slice(0, at).toLowerCase().replace(/\+.*$/, '');
  const domain = domainToASCII(email.slice(at + 1).toLowerCase()).replace(/\.$/, '');
  if (at < 1 || name === '' || domain === '') return null;
  const main = DOTLESS[domain];
  return main === undefined ? `${name}@${domain}` : `${name.replaceAll('.', '')}@${main}`;
}
