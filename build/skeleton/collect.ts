// Turns one reading of a source into records. It reads files of the unpacked source and never runs them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCollector } from 'dataset-register/pack';

/** An entry as the source writes it. */
interface Entry {
  name: string;
  kind?: string;
  price?: number;
}

export default defineCollector({
  async *read(reading) {
    const entries = JSON.parse(await readFile(join(reading.folder, 'things.json'), 'utf8')) as Entry[];
    for (const entry of entries) {
      yield {
        identity: { name: entry.name },
        values: { name: entry.name, kind: entry.kind, status: 'listed', 'price.list': entry.price },
        source_url: 'https://example.org/things',
        evidence: `things.json of ${reading.package} ${reading.version}`,
      };
    }
  },
});
