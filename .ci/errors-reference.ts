// `npm run docs`: writes the tables of docs/errors.md from the table of errors.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorTables } from '../api/contract/error-help.ts';

const DOCUMENT = join(import.meta.dirname, '../docs/errors.md');
const HEADING = '## Codes\n';

/** The document with the generated tables below its heading. */
export function errorsDocument(): string {
  const [text = ''] = readFileSync(DOCUMENT, 'utf8').split(HEADING);
  return `${text}${HEADING}\n${errorTables()}`;
}

if (import.meta.main) writeFileSync(DOCUMENT, errorsDocument());
