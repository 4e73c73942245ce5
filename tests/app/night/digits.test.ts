// Numbers with all their digits: facts of ten digits that an earlier version stored are replaced without a reported
// change.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Duck, quotedText } from '../../../data/duckdb/duck.ts';
import { paths } from '../../../data/model/layout.ts';
import { currentRelease } from '../../../data/model/manifest.ts';
import { stage } from '../../support/declared-stage.ts';

const COLUMNS = { name: 'Name', mass: 'Mass', 'price.sale': 'Price', place: { lat: 'Lat', lng: 'Lng' } };
const HEADER = 'code,Name,Mass,Price,Lat,Lng';

/** 25 records with long numbers, of which `change` changes the rest of the row. */
const rows = (change: (row: string, i: number) => string = (row) => row) => [
  HEADER,
  ...Array.from({ length: 25 }, (_, i) =>
    change(`s${i},Stone ${i},0.${1234567890123 + i},${12345678901.55 + i},5.123456789,${100 + i}.12345678`, i),
  ),
];

/** Rows of a file of the current release, each as one text. */
async function released(data: string, file: string, columns: string): Promise<string[]> {
  const path = join(paths.release(data, 'stones', (await currentRelease(data, 'stones'))!), file);
  const duck = await Duck.open(join(data, 'spill'));
  const found = await duck.rows(`SELECT ${columns} FROM read_parquet(${quotedText(path)})`);
  duck.close();
  return found.map((row) => row.map(String).join(' ')).sort();
}

/**
 * `ten-digits` has the facts and the stored source of a night of commit b6d9e57 with the file of `rows()` and a
 * record `plain`, whose numbers have few digits: `stage(...)` as below, `write('amounts.csv', 10, ...)`, `night()`,
 * and a copy of `facts` and `sources`.
 */
test('facts of ten digits are replaced at the next reading, and no change is reported', async () => {
  const shop = stage('amounts.csv', { attributes: COLUMNS, decimal: '.' }, { complete: true });
  cpSync(join(import.meta.dirname, 'ten-digits'), shop.data, { recursive: true });
  shop.write('amounts.csv', 10, [...rows(), 'plain,Plain,2,4,1,2']);
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 26 });
  expect(await shop.facts('price.sale')).toContain('12345678900 11-10 11-10 line 2 of amounts.csv');
  const feed = () => released(shop.data, 'changes.parquet', 'type, attribute, old_value, new_value');
  const added = await feed();

  // More than half of the values get more digits, which is no alarm; one price changes.
  shop.write('amounts.csv', 12, [...rows(), 'plain,Plain,2,5,1,2']);
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 26, messages: [] });
  const facts = await shop.facts('price.sale');
  expect(facts).toContain('12345678900 11-10 11-10 line 2 of amounts.csv');
  expect(facts).toContain('12345678901.55 11-12 11-12 line 2 of amounts.csv');
  expect(await shop.facts('mass')).toContain('0.1234567890123 11-12 11-12 line 2 of amounts.csv');
  const reported = ['changed price.sale 4 5'];
  expect((await feed()).filter((row) => !added.includes(row))).toEqual(reported);
  const log = await released(shop.data, 'changelog.parquet', 'type, attribute, old_value, new_value');
  expect(log.filter((row) => row.startsWith('changed'))).toEqual(reported);
  const history = await released(shop.data, 'history.parquet', 'attribute, value, min, "to"');
  expect(history).toContain('price.sale 12345678901.55 12345678901.55 null');
  expect(history.filter((row) => row.startsWith('price.sale 12345678900'))).toEqual([]);
  expect(await released(shop.data, 'engine.parquet', '"price.sale:min"')).toContain('12345678901.55');
  expect((await released(shop.data, 'bodies.parquet', 'body')).join()).toContain('"price.sale":12345678901.55}');

  // From now on a change of the last digit is one, and the same number with the error of a double is none.
  shop.write('amounts.csv', 14, [
    ...rows((row, i) => (i === 0 ? row.replace('.55', '.56') : i === 1 ? row.replace('902.55', '902.550001') : row)),
    'plain,Plain,2,5,1,2',
  ]);
  expect(await shop.night()).toMatchObject({ outcome: 'released', messages: [] });
  expect((await feed()).filter((row) => !added.includes(row) && !reported.includes(row))).toEqual([
    'changed price.sale 12345678901.55 12345678901.56',
  ]);
});
