// robots.txt of the sites a crawl meets, asked once a site (RFC 9309).
import robotsParser from 'robots-parser';
import { Refused } from './guard.ts';
import { AGENT, type Web } from './web.ts';

/** The package is CommonJS: its default export is the function itself, whatever its types say. */
const parse = robotsParser as unknown as typeof robotsParser.default;

/** What a site allows. `delay` in milliseconds, between two requests. */
export interface Rules {
  allowed(url: URL): boolean;
  delay: number;
}

/** Bytes of a robots.txt that are read (RFC 9309 section 2.5). */
const MAX = 512_000;
/** Redirects that are followed for it (section 2.3.1.2). */
const HOPS = 5;
/** No site makes the crawler wait longer than this between two pages. */
const LONGEST = 60_000;

/** A site that cannot be asked allows nothing (section 2.3.1.4); one that has no robots.txt allows everything (2.3.1.3). */
export async function rulesOf(web: Web, origin: string): Promise<Rules> {
  let url = new URL('/robots.txt', origin);
  for (let hop = 0; hop <= HOPS; hop++) {
    const answer = await web.get(url, {}, MAX).catch((error: Error) => {
      // A site that must not be connected to has no rules to tell.
      for (const reason of [error, error.cause]) if (reason instanceof Refused) throw reason;
      return null;
    });
    if (answer === null || answer.status >= 500) return { allowed: () => false, delay: 0 };
    const { location } = answer.headers;
    if (answer.status >= 300 && answer.status < 400 && location !== undefined && URL.canParse(location, url)) {
      url = new URL(location, url);
      continue;
    }
    if (answer.status !== 200) break;
    const rules = parse(new URL('/robots.txt', origin).href, answer.body.toString('utf8'));
    return {
      allowed: ({ href }) => rules.isAllowed(href, AGENT) !== false,
      delay: Math.min(LONGEST, (rules.getCrawlDelay(AGENT) ?? 0) * 1000),
    };
  }
  return { allowed: () => true, delay: 0 };
}
