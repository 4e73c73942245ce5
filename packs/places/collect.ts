// Reads the places: two GeoNames dumps with ids and the monthly extract without, matched to one record per
// place.
import { type CollectContext, defineCollector, type Observed, type Reading } from 'dataset-register/pack';
import { readDump } from './dump.ts';
import { readAreas, readExtract } from './extract.ts';
import { placeExtract, renumberedIds } from './known.ts';
import { readPacked } from './packed.ts';
import { DUMP, PACKED } from './pins.ts';
import { ofLine, ofRow, ofTown, unlistedPlace } from './values.ts';

async function* packed(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const ids = await renumberedIds(context.folder);
  for (const town of await readPacked(reading.folder))
    yield ofTown({ ...town, id: ids.get(town.id) ?? town.id }, reading);
}

async function* dump(reading: Reading): AsyncGenerator<Observed> {
  for (const line of await readDump(reading.folder)) yield ofLine(line, reading);
}

async function* extract(reading: Reading, context: CollectContext): AsyncGenerator<Observed> {
  const areas = await readAreas(reading.folder);
  const { placed, known } = await placeExtract(reading.version, await readExtract(reading.folder), context.folder);
  const missing = new Set(known);
  for (const each of placed) {
    missing.delete(each.placeId);
    yield ofRow(each, areas, reading);
  }
  for (const id of missing) yield unlistedPlace(id, reading);
  const fresh = placed.filter((each) => each.by === null).length;
  context.log(`${placed.length} places, ${fresh} of them new, ${missing.size} no longer listed`);
}

export default defineCollector({
  read(reading, context) {
    if (reading.package === PACKED) return packed(reading, context);
    return reading.package === DUMP ? dump(reading) : extract(reading, context);
  },
});
