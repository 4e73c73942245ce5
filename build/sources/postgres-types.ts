// Types of PostgreSQL as cells: from the text of a value, by the object id of its type.
import pg from 'pg';
import { parseJson } from '../../packs/define/digits.ts';
import { finiteOrText, numberOrText } from './json-values.ts';

type Parse = (text: string) => unknown;

/** The elements of an array's text, as texts. */
const elements = pg.types.getTypeParser(1009 as never, 'text') as (text: string) => unknown[];

/** Parses an array's text; null elements stay null. */
const listOf =
  (parse: Parse): Parse =>
  (text) =>
    elements(text).map((element) => (typeof element === 'string' ? parse(element) : element));

const asText: Parse = (text) => text;
const float: Parse = (text) => finiteOrText(Number(text));
/** `2026-01-02 03:04:05.678+00`: the time zone of the session is UTC. */
const isoTimestamp: Parse = (text) => `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`;
const special =
  (parse: Parse): Parse =>
  (text) =>
    /infinity|BC/.test(text) ? text : parse(text);
const timestamp = special(isoTimestamp);

/** Parsers by object id (`pg_type.oid`); the ids of built-in types never change. Others are texts. */
const PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [16, (text) => text === 't'], // boolean
  [17, (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))], // bytea: \x and hex digits
  [20, numberOrText], // int8
  [21, Number], // int2
  [23, Number], // int4
  [26, Number], // oid
  [114, parseJson], // json
  [700, float], // float4
  [701, float], // float8
  [1114, timestamp],
  [1184, timestamp], // timestamp with time zone
  [1700, numberOrText], // numeric
  [3802, parseJson], // jsonb
  [1000, listOf((text) => text === 't')],
  [1002, listOf(asText)], // char
  [1003, listOf(asText)], // name
  [1005, listOf(Number)],
  [1007, listOf(Number)],
  [1009, listOf(asText)], // text
  [1014, listOf(asText)], // bpchar
  [1015, listOf(asText)], // varchar
  [1016, listOf(numberOrText)],
  [1021, listOf(float)],
  [1022, listOf(float)],
  [1115, listOf(timestamp)],
  [1182, listOf(asText)], // date
  [1185, listOf(timestamp)],
  [1231, listOf(numberOrText)],
  [2951, listOf(asText)], // uuid
]);

/** Parsers of one connection; those of `pg` are shared by the process and depend on its time zone. */
export const cellTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number) => PARSERS.get(oid) ?? asText) as pg.CustomTypesConfig['getTypeParser'],
};
