// Every type of page with one address, for the tests of all pages. A written page without a type fails a
// test.

export interface PageType {
  name: string;
  path: string;
  /** Paths of the written pages of this type; absent: the API makes it. */
  written?: RegExp;
  /** Request headers in addition to `Accept`. */
  headers?: Readonly<Record<string, string>>;
  /** An element that is present when the scripts have drawn the page. */
  ready?: string;
  /** Largest layout shift while the scripts replace the first rows; 0.001 without it. */
  shift?: number;
  /** Most compressed bytes of script that its HTML loads. */
  script?: number;
}

/** Compressed script bytes of ordinary pages: scheme, copying, search. */
export const SCRIPT = 10_000;
/** The same for the pages of records. */
const RECORD = 20_000;
/** The same for the home page with its search, and for changes with their filters. */
const HOME = 20_000;
/** The same for pages with tools; the engine of the console is loaded with the first query. */
const TOOL = 60_000;

/**
 * `showcase` is the path of a record that the night wrote, `other` the slug of one that the API renders,
 * `key` has credit.
 */
export function pageTypes({ showcase, other, key }: { showcase: string; other: string; key: string }): PageType[] {
  const ready = '#viewer.ready';
  return [
    { name: 'home', path: '/', written: /^\/$/, script: HOME },
    { name: 'dataset with a map', path: '/datasets/harbours/', ready, script: TOOL },
    {
      name: 'filtered dataset',
      path: '/datasets/harbours/?coast=north&sources=1&map=1',
      ready,
      script: TOOL,
      shift: 0.002,
    },
    { name: 'dataset', path: '/datasets/tools/', written: /^\/datasets\/[^/]+\/$/, ready, script: TOOL },
    { name: 'showcase record', path: showcase, written: /^\/datasets\/[^/]+\/[^/]+\/$/ },
    { name: 'record made on request', path: `/datasets/tools/${other}` },
    { name: 'record on a host', path: '/record/tools/', written: /^\/record\/[^/]+\/$/, script: RECORD },
    { name: 'paid view', path: `/v1/tools/entities/${other}`, headers: { Authorization: `Bearer ${key}` } },
    { name: 'console', path: '/sql/tools/', written: /^\/sql\/[^/]+\/$/, script: TOOL },
    { name: 'changes', path: '/changes/', written: /^\/changes\/$/, script: HOME },
    { name: 'changes of a dataset', path: '/changes/tools/', written: /^\/changes\/[^/]+\/$/, script: HOME },
    {
      name: 'filtered changes',
      path: '/changes/tools/?attribute=all&type=all',
      ready: '.change-list.shown',
      shift: 0.02,
      script: HOME,
    },
    { name: 'files of all datasets', path: '/files/', written: /^\/files\/$/ },
    { name: 'files of a dataset', path: '/files/tools/', written: /^\/files\/[^/]+\/$/ },
    { name: 'pricing', path: '/pricing/', written: /^\/pricing\/$/ },
    { name: 'connect', path: '/connect/', written: /^\/connect\/$/, script: HOME },
    { name: 'status', path: '/status/', written: /^\/status\/$/ },
    { name: 'guides', path: '/guides/', written: /^\/guides\/$/ },
    { name: 'guide', path: '/guides/api/', written: /^\/guides\/(?!contents\/)[^/]+\/$/ },
    { name: 'headings', path: '/guides/contents/', written: /^\/guides\/contents\/$/ },
    { name: 'nothing', path: '/404.html', written: /^\/404\.html$/, script: HOME },
    { name: 'search', path: '/search/', written: /^\/search\/$/, script: HOME },
    { name: 'results', path: '/search/?q=north', script: HOME },
    { name: 'reference', path: '/docs', written: /^\/docs\/$/, ready: '.scripted .reference', script: TOOL },
    { name: 'for owners', path: `/owners/tools/${other}` },
    { name: 'creation of keys', path: '/keys' },
    { name: 'sign-in to an account', path: '/account' },
    { name: 'sign-in of operators', path: '/ops/login', script: TOOL },
  ];
}
