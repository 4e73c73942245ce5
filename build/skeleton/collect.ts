// Turns one reading of a source into records. It reads files of the unpacked source and never runs them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCollector, z } from 'dataset-register/pack';

/** The entries as the source writes them. */
const Entries = z.array(z.object({ name: z.string(), kind: z.string().optional(), price: z.number().optional() }));

export default defineCollector({
  async *read(reading) {
    const entries = Entries.parse(JSON.parse(await readFile(join(reading.folder, 'things.json'), 'utf8')));
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
