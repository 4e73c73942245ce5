// Converts rows of the source to values of records.
import type { Value } from 'dataset-register/pack';
import type { AirportRow } from './rows.ts';

/** Country names in English, by ISO 3166 code. */
const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** `Area/City`, as in the IANA database; the source also contains a few towns. */
const ZONE = /^[A-Z][A-Za-z_]+(?:\/[A-Za-z0-9_+-]+)+$/;

/** `FÃ©lix` is `Félix`: version 2 has UTF-8 bytes decoded as Latin-1. */
function repaired(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text) || /[^\u0000-\u00ff]/.test(text)) return text;
  const read = Buffer.from(text, 'latin1').toString('utf8');
  return read.includes('\ufffd') ? text : read;
}

function service(text: string): boolean | undefined {
  if (text === 'TRUE') return true;
  return text === 'FALSE' ? false : undefined;
}

function country(code: string): string | undefined {
  return /^[A-Z]{2}$/.test(code) ? COUNTRIES.of(code) : undefined;
}

/** Known values of a row. Links to flight trackers and daily UTC offsets are left out. */
export function valuesOf(code: string, row: AirportRow): Record<string, Value | undefined> {
  const zone = row.time.replaceAll(' ', '');
  const site = website(row.website);
  const hasPosition = row.latitude !== 0 || row.longitude !== 0;
  return {
    code,
    name: /^null$/i.test(row.airport) ? undefined : repaired(row.airport) || undefined,
    icao: row.icao || undefined,
    iata: row.iata || undefined,
    type: row.type || undefined,
    status: 'listed',
    country: row.country_code || undefined,
    country_name: country(row.country_code),
    continent: row.continent || undefined,
    timezone: ZONE.test(zone) ? zone : undefined,
    location: hasPosition ? { lat: row.latitude, lng: row.longitude } : undefined,
    elevation: row.elevation_ft ?? undefined,
    runway_length: row.runway_length ?? undefined,
    scheduled_service: service(row.scheduled_service),
    wikipedia: article(row.wikipedia),
    website: site,
    domain: domain(site),
  };
}

/** A host name without scheme: `www.example.org/x`. */
const BARE = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?:[/?#]|$)/i;

/**
 * The website as an http(s) address, or undefined: `www.a.example` gets a scheme; remarks and mail addresses
 * are dropped.
 */
export function website(typed: string): string | undefined {
  const text = typed.replace(/^\[(.*)\]$/, '$1').trim();
  const at = URL.parse(BARE.test(text) ? `http://${text}` : text);
  if (at === null || !/^https?:$/.test(at.protocol) || at.username !== '') return undefined;
  return /\.[a-z]/i.test(at.hostname) ? at.href : undefined;
}

/** Host of a website, without `www.`. */
export function domain(site: string | undefined): string | undefined {
  return site === undefined ? undefined : new URL(site).hostname.replace(/^www\d?\./, '').replace(/\.$/, '');
}

/** An encyclopedia article; the source also contains a few other links. */
export function article(typed: string): string | undefined {
  const at = website(typed);
  return at !== undefined && /(^|\.)wikipedia\.org$/.test(new URL(at).hostname) ? at : undefined;
}
