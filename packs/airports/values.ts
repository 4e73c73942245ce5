// From a row of the source to the values of a record.
import type { Value } from 'dataset-register/pack';
import type { Row } from './rows.ts';

/** Country names in English, by ISO 3166 code. */
const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** `Area/City`, as IANA writes it; the source also holds a town or two. */
const ZONE = /^[A-Z][A-Za-z_]+(?:\/[A-Za-z0-9_+-]+)+$/;

/** `FÃ©lix` is `Félix`: version 2 wrote UTF-8 bytes as if they were Latin-1. */
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

/** What the row says, without what it does not know. Links to flight trackers and the offset of a day are no facts. */
export function valuesOf(code: string, row: Row): Record<string, Value | undefined> {
  const zone = row.time.replaceAll(' ', '');
  const site = website(row.website);
  const placed = row.latitude !== 0 || row.longitude !== 0;
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
    location: placed ? { lat: row.latitude, lng: row.longitude } : undefined,
    elevation: row.elevation_ft ?? undefined,
    runway_length: row.runway_length ?? undefined,
    scheduled_service: service(row.scheduled_service),
    wikipedia: article(row.wikipedia),
    website: site,
    domain: domain(site),
  };
}

/** A host name without a scheme: `www.example.org/x`. */
const BARE = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?:[/?#]|$)/i;

/** The website as an http(s) address, or undefined: `www.a.example` gains its scheme; remarks and mail addresses go. */
export function website(typed: string): string | undefined {
  const text = typed.replace(/^\[(.*)\]$/, '$1').trim();
  const at = URL.parse(BARE.test(text) ? `http://${text}` : text);
  if (at === null || !/^https?:$/.test(at.protocol) || at.username !== '') return undefined;
  return /\.[a-z]/i.test(at.hostname) ? at.href : undefined;
}

/** The host that answers for a website, without `www.`. */
export function domain(site: string | undefined): string | undefined {
  return site === undefined ? undefined : new URL(site).hostname.replace(/^www\d?\./, '').replace(/\.$/, '');
}

/** An encyclopedia article; the source also holds a few links that are none. */
export function article(typed: string): string | undefined {
  const at = website(typed);
  return at !== undefined && /(^|\.)wikipedia\.org$/.test(new URL(at).hostname) ? at : undefined;
}
