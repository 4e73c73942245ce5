// Reads the Imaginary Pilot Book: one JSON object a line.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCollector, type Geo, type Value } from 'dataset-register/pack';

/** A line of the Pilot Book; everything but the number may be missing. */
type Entry = { code: number; site?: string; position?: Geo } & Record<string, Value | undefined>;

export default defineCollector({
  async *read(reading) {
    const text = await readFile(join(reading.folder, 'harbours.jsonl'), 'utf8');
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const entry = JSON.parse(line) as Entry;
      yield {
        identity: { code: entry.code },
        values: { ...entry, domain: entry.site === undefined ? undefined : new URL(entry.site).hostname },
        source_url: `https://pilotbook.example/${reading.version}/harbours/${entry.code}`,
        evidence: `entry ${entry.code} of edition ${reading.version}`,
      };
    }
  },
});
