// Numbers with all their digits: a change of the last digit is reported, the error of a double is none.
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

test('numbers keep their digits in every file, and a change of the last one is reported', async () => {
  const shop = stage('amounts.csv', { attributes: COLUMNS, decimal: '.' }, { complete: true });
  const feed = () => released(shop.data, 'changes.parquet', 'type, attribute, old_value, new_value');
  shop.write('amounts.csv', 12, rows());
  expect(await shop.night()).toMatchObject({ outcome: 'released', records: 25, messages: [] });
  expect(await shop.facts('price.sale')).toContain('12345678901.55 11-12 11-12 line 2 of amounts.csv');
  expect(await shop.facts('mass')).toContain('0.1234567890123 11-12 11-12 line 2 of amounts.csv');
  const history = await released(shop.data, 'history.parquet', 'attribute, value, min, "to"');
  expect(history).toContain('price.sale 12345678901.55 12345678901.55 null');
  expect(await released(shop.data, 'engine.parquet', '"price.sale:min"')).toContain('12345678901.55');
  expect((await released(shop.data, 'bodies.parquet', 'body')).join()).toContain('"price.sale":12345678901.55}');
  const added = await feed();

  shop.write(
    'amounts.csv',
    14,
    rows((row, i) => (i === 0 ? row.replace('.55', '.56') : i === 1 ? row.replace('902.55', '902.550001') : row)),
  );
  expect(await shop.night()).toMatchObject({ outcome: 'released', messages: [] });
  const reported = ['changed price.sale 12345678901.55 12345678901.56'];
  expect((await feed()).filter((row) => !added.includes(row))).toEqual(reported);
  const log = await released(shop.data, 'changelog.parquet', 'type, attribute, old_value, new_value');
  expect(log.filter((row) => row.startsWith('changed'))).toEqual(reported);
});
