// The tracks of the guides: one for each kind of reader, with the names of its documents in reading order.

export interface Track {
  title: string;
  /** For whom it is, as one sentence. */
  about: string;
  guides: readonly string[];
}

export const TRACKS: readonly Track[] = [
  {
    title: 'Use the data',
    about: 'Search, read and pay, from a program, an agent or a notebook.',
    guides: [
      ...[
        'quick-start',
        'clients',
        'authentication',
        'paying',
        'searching',
        'provenance',
        'sql',
        'analysts',
        'gis',
        'changes',
      ],
      ...['mcp', 'errors', 'api', 'owners'],
    ],
  },
  {
    title: 'Publish data',
    about: 'Turn a file, a database or an API into a dataset.',
    guides: ['start-publisher', 'packs', 'packs-sources', 'packs-reference', 'install'],
  },
  {
    title: 'Operate',
    about: 'Run a register: settings, nightly runs, payments, decisions.',
    guides: ['operators', 'settings', 'static-hosting', 'checkout', 'scaling'],
  },
  {
    title: 'Contribute',
    about: 'How the program works, and why.',
    guides: ['architecture', 'releases', 'performance', 'caches', 'glossary'],
  },
];

/** The track of a document. Throws for a document without one. */
export function trackOf(name: string): Track {
  const track = TRACKS.find(({ guides }) => guides.includes(name));
  if (track === undefined) throw new Error(`docs/${name}.md is in no track of site/tracks.ts`);
  return track;
}

/** What a reader may want to do on a page, for the search of the guides. */
export const TASKS: readonly { heading: string; at: string; text: string }[] = [
  {
    heading: 'Get an API key',
    at: '/keys',
    text: 'Create a new API key with your e-mail address, sign up, register, get access. Replace a lost key.',
  },
  {
    heading: 'Your account: balance, top-up, plan, revoke a key',
    at: '/account',
    text: 'Sign in, see the balance, usage and ledger, top up credit, pay, add money, choose or cancel a plan, rotate or revoke a key, connected apps, invoice.',
  },
  {
    heading: 'Prices',
    at: '/pricing/',
    text: 'What every operation costs, how much a call is, plans, subscription, calculator of costs.',
  },
  {
    heading: 'API reference',
    at: '/docs',
    text: 'Every operation, endpoint and parameter, to read and to try. OpenAPI.',
  },
  { heading: 'Changes', at: '/changes/', text: 'New and changed values of all datasets, day by day.' },
  {
    heading: 'Connect an agent',
    at: '/connect/',
    text: 'MCP server for Claude, ChatGPT, Cursor, VS Code, Python, TypeScript: install, configuration, sign in with OAuth.',
  },
  { heading: 'Status', at: '/status/', text: 'Whether the service works, and how old the data is.' },
];
