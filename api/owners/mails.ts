// The mails of the owners' channel: plain, short, as text and as HTML, each saying what happens next.
import type { Mail } from '../../data/state/outbox.ts';
import { html, joinHtml } from '../pages/html.ts';
import type { RecordRef } from './mailed-links.ts';

/** The record that a mail is about. */
type MailRecord = Pick<RecordRef, 'dataset' | 'name'>;

/** A paragraph: a text, or a link that stands in a line of its own. */
type Paragraph = string | { label: string; url: string };

/** A name from outside in a line: no line breaks, and no longer than a line. */
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 120);

const STYLE = 'font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:0 auto;padding:1em;color:#1d1c1a';

function mail(to: string, subject: string, paragraphs: readonly Paragraph[]): Mail {
  const text = paragraphs.map((each) => (typeof each === 'string' ? each : `${each.label}:\n${each.url}`)).join('\n\n');
  const blocks = paragraphs.map((each) =>
    typeof each === 'string'
      ? html`<p>${each}</p>`
      : html`<p><a href="${each.url}">${each.label}</a><br>${each.url}</p>`,
  );
  const body = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${subject}</title><body style="${STYLE}">${joinHtml(blocks)}</body></html>`;
  return { to, subject: oneLine(subject), text: `${text}\n`, html: String(body) };
}

const called = ({ name, dataset }: MailRecord) => `"${oneLine(name)}" (dataset ${dataset})`;

/** To whoever had a record removed: how to bring it back. */
export function removedMail(to: string, record: MailRecord, url: string): Mail {
  return mail(to, `Removed: ${record.name}`, [
    `You asked us, or somebody with an address at your domain did in your name, to remove ${called(record)} from the Dataset Register. It is no longer shown anywhere.`,
    'You need to do nothing more. Files for download are written again without it, which takes some minutes.',
    { label: 'If it was a mistake, this page brings it back', url },
    'The page works for 30 days. Opening it changes nothing; its button does.',
  ]);
}

/** To the addresses of a domain that its owner reads, when an unproven address of it had a record removed. */
export function noticeMail(to: string, record: MailRecord, url: string): Mail {
  return mail(to, `Removed: ${record.name}`, [
    `Somebody who gave an address at your domain had ${called(record)} removed from the Dataset Register. We could not check that the address is theirs, so this notice goes to you as well.`,
    'If that is what you want, do nothing.',
    { label: 'If not, this page brings the record back', url },
    'The page works for 30 days. Opening it changes nothing; its button does. After that, a further removal within 90 days has to be confirmed by mail first.',
  ]);
}

/** Before a record that was brought back lately is removed again. */
export function confirmMail(to: string, record: MailRecord, url: string): Mail {
  return mail(to, `Please confirm: remove ${record.name}`, [
    `Somebody, we hope you, asked us to remove ${called(record)} from the Dataset Register. It was removed before and brought back, so this time we ask first.`,
    { label: 'This page removes it', url },
    'The page works for 24 hours. Opening it changes nothing; its button does. If it was not you, do nothing: the record stays.',
  ]);
}

/** The magic link of a claim. */
export function claimMail(to: string, record: MailRecord, url: string): Mail {
  return mail(to, `Edit ${record.name}`, [
    `Somebody, we hope you, asked to edit ${called(record)} in the Dataset Register with this address.`,
    { label: 'This link opens the record for you', url },
    'It works for 24 hours. From when you first open it you have 30 minutes to set values; they show at once, marked as yours.',
    'If it was not you, do nothing, and do not pass the link on: who has it can edit the record.',
  ]);
}

/** What an operator decided about a request. */
export function decidedMail(to: string, record: MailRecord, granted: boolean, what: string): Mail {
  return mail(to, `${granted ? 'Done' : 'Declined'}: ${record.name}`, [
    `You asked us to ${what} ${called(record)} in the Dataset Register.`,
    granted
      ? 'We looked at it and did so.'
      : 'We looked at it and could not see that you speak for this record, so nothing was changed.',
    'You can answer with a new request at any time.',
  ]);
}
