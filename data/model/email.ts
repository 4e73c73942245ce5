// Normalises e-mail addresses, so that variants of one address count as one.
import { domainToASCII } from 'node:url';

/** Mail services that ignore dots in the local part, with their main domain. */
const DOTLESS: Record<string, string> = { 'gmail.com': 'gmail.com', 'googlemail.com': 'gmail.com' };

/** The address in lower case, without `+tag`, with the domain in ASCII; null for a malformed address. */
export function normalEmail(email: string): string | null {
  const at = email.lastIndexOf('@');
  const name = email.slice(0, at).toLowerCase().replace(/\+.*$/, '');
  const domain = domainToASCII(email.slice(at + 1).toLowerCase()).replace(/\.$/, '');
  if (at < 1 || name === '' || domain === '') return null;
  const main = DOTLESS[domain];
  return main === undefined ? `${name}@${domain}` : `${name.replaceAll('.', '')}@${main}`;
}
