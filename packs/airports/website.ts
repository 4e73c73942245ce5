// Addresses as people typed them: made whole where that is safe, left out where they are no address.

/** A host name without a scheme: `www.example.org/x`. */
const BARE = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?:[/?#]|$)/i;

/** The website as an http(s) address, or undefined: `www.a.example` gains its scheme; remarks and mail addresses go. */
export function website(typed: string): string | undefined {
  const text = typed.replace(/^\[(.*)\]$/, '$1').trim();
  const at = URL.parse(BARE.test(text) ? `http://${text}` : text);
  if (at === null || !/^https?:$/.test(at.protocol) || at.username !== '') return undefined;
  return /\.[a-z]/i.test(at.hostname) ? at.href : undefined;
}

/** The host that answers for a website, without `www.`. */
export function domain(site: string | undefined): string | undefined {
  return site === undefined ? undefined : new URL(site).hostname.replace(/^www\d?\./, '').replace(/\.$/, '');
}

/** An encyclopedia article; the source also holds a few links that are none. */
export function article(typed: string): string | undefined {
  const at = website(typed);
  return at !== undefined && /(^|\.)wikipedia\.org$/.test(new URL(at).hostname) ? at : undefined;
}
