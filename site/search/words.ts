// Words of a query to the guides and the API reference: without filler words, with synonyms.
import { fold } from '../../packs/define/text.ts';

/** Words that carry no meaning in a question. */
const FILLERS = new Set(
  'a an and any are as at be by can do does for from get got have how i if in is it its make me my of on one or our please so some that the their there this to up use want we what when where which who why will with you your'.split(
    ' ',
  ),
);

/** Words of one meaning. A query with one of them also finds the others. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['key', 'token', 'credential'],
  ['pay', 'payment', 'buy', 'purchase', 'charge'],
  ['price', 'cost', 'pricing', 'expensive', 'cheap'],
  ['credit', 'balance', 'money'],
  ['topup', 'top-up', 'top up', 'recharge', 'add credit'],
  ['download', 'bulk', 'file', 'export', 'dump'],
  ['publish', 'upload', 'share', 'contribute'],
  ['csv', 'spreadsheet', 'excel'],
  ['claim', 'correct', 'edit', 'fix', 'wrong', 'mistake'],
  ['remove', 'delete', 'opt-out', 'opt out', 'optout', 'erase'],
  ['distance', 'near', 'nearest', 'nearby', 'radius', 'around', 'close'],
  ['area', 'bbox', 'rectangle', 'box', 'region'],
  ['search', 'query', 'find', 'look'],
  ['filter', 'where', 'narrow'],
  ['sort', 'order', 'rank'],
  ['page', 'paging', 'pagination', 'cursor'],
  ['error', 'fail', 'failure', 'problem', 'code'],
  ['limit', 'throttle', 'quota', '429', 'rate'],
  ['source', 'provenance', 'evidence', 'origin', 'come', 'cite', 'citation'],
  ['change', 'feed', 'update', 'new', 'notify', 'atom', 'rss', 'subscribe'],
  ['plan', 'subscription', 'subscribe'],
  ['whole', 'everything', 'complete', 'entire'],
  ['lost', 'recover', 'forgot', 'replace', 'reset'],
  ['revoke', 'cancel', 'rotate', 'disable'],
  ['agent', 'model', 'llm', 'claude', 'chatgpt', 'assistant'],
  ['install', 'setup', 'set up', 'run', 'host', 'deploy', 'start'],
  ['history', 'past', 'earlier', 'time travel', 'as_of'],
  ['backup', 'restore', 'back up'],
  ['sign in', 'login', 'log in', 'authenticate', 'authentication', 'signin'],
  ['python', 'pandas', 'typescript', 'javascript'],
];

/** The stem of an English word: `keys`, `paying` and `filtered` as `key`, `pay` and `filter`. */
export function stem(word: string): string {
  if (word.length < 4 || /[^a-z]/.test(word)) return word;
  const base = word.replace(/(?:sses|ies|[^s]s)$/, (end) => (end === 'ies' ? 'y' : end.slice(0, -1)));
  return base
    .replace(/(?<=[a-z]{3})(?:ing|ed)$/, '')
    .replace(/([b-df-hj-np-rt-vx-z])\1$/, '$1')
    .replace(/(?<=[a-z]{3})e$/, '');
}

/**
 * The words of a query that carry meaning, each with its stem and its synonyms. A query of filler words only
 * keeps them.
 *
 * @example
 * ```ts
 * wordsOf('how to sort airports'); // stems and synonyms of "sort" and "airports"
 * ```
 */
export function wordsOf(query: string): string[][] {
  const words = fold(query)
    .split(/[^\p{L}\p{N}_./-]+/u)
    .map((word) => word.replace(/^[./-]+|[./-]+$/g, ''))
    .filter(Boolean);
  const meaningful = words.filter((word) => !FILLERS.has(word));
  return (meaningful.length > 0 ? meaningful : words).map((word) => {
    const base = stem(word);
    const same = SYNONYMS.filter((list) => list.some((synonym) => synonym === word || stem(synonym) === base)).flat();
    return [...new Set([base, ...same.map((synonym) => (synonym.includes(' ') ? synonym : stem(synonym)))])];
  });
}
