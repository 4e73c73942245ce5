// The manifest of requirements: every row and rule of the specification and the contract. `npm run
// requirements` prints it.
import { pathToFileURL } from 'node:url';
import * as contract1 from './requirements/contract-1-settings.ts';
import * as contract2Record from './requirements/contract-2-record.ts';
import * as contract2Shapes from './requirements/contract-2-shapes.ts';
import * as contract3 from './requirements/contract-3-access.ts';
import * as contract4 from './requirements/contract-4-errors.ts';
import * as contract5 from './requirements/contract-5-data.ts';
import * as contract6 from './requirements/contract-6-8-channels.ts';
import type { Requirement, Section } from './requirements/model.ts';
import * as spec1 from './requirements/spec-1-3-basics.ts';
import * as spec4Accounts from './requirements/spec-4-accounts.ts';
import * as spec4Agents from './requirements/spec-4-agents.ts';
import * as spec4Datasets from './requirements/spec-4-datasets.ts';
import * as spec4Records from './requirements/spec-4-records.ts';
import * as spec5 from './requirements/spec-5-9-rules.ts';

const FILES = [
  spec1,
  spec4Datasets,
  spec4Records,
  spec4Accounts,
  spec4Agents,
  spec5,
  contract1,
  contract2Record,
  contract2Shapes,
  contract3,
  contract4,
  contract5,
  contract6,
] as const;

type IdOf<One> = One extends Section<infer Id> ? Id : never;
type Ids<File> = File extends unknown ? IdOf<File[keyof File]> : never;

/** All ids, so that a misspelt one is a type error. */
export type RequirementId = Ids<(typeof FILES)[number]>;

/** All requirements, in the order of the two documents. */
export const REQUIREMENTS: readonly (Requirement & { id: RequirementId })[] = FILES.flatMap((file) =>
  (Object.values(file) as Section<RequirementId>[]).flatMap(({ from, rows }) =>
    Object.entries(rows as Record<string, Omit<Requirement, 'id' | 'from'>>).map(([id, row]) => ({
      id: id as RequirementId,
      from,
      ...row,
    })),
  ),
);

/** The specification before the contract, sections by number. */
function byDocument(a: string, b: string): number {
  const [document = '', number = ''] = a.split(' ');
  const [other = '', another = ''] = b.split(' ');
  return other.localeCompare(document) || Number(number) - Number(another);
}

/** The state of each section, then the planned requirements. */
function report(): string {
  const sections = [...new Set(REQUIREMENTS.map(({ from }) => from))].sort(byDocument);
  const lines = sections.map((from) => {
    const rows = REQUIREMENTS.filter((requirement) => requirement.from === from);
    const done = rows.filter(({ state }) => state === 'done').length;
    return `${from.padEnd(12)} ${String(done).padStart(4)} done ${String(rows.length - done).padStart(4)} planned`;
  });
  const open = REQUIREMENTS.filter(({ state }) => state === 'planned');
  const done = REQUIREMENTS.length - open.length;
  const total = `${'all'.padEnd(12)} ${String(done).padStart(4)} done ${String(open.length).padStart(4)} planned`;
  const planned = open.map(({ id, from, text }) => `  ${from.padEnd(11)} ${id}: ${text}`);
  return [...lines, total, '', 'Planned:', ...planned].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(report());
