// The mails to owners of records, as text and as HTML.
import type { Mail } from '../../data/state/outbox.ts';
import { html, joinHtml } from '../pages/html.ts';
import type { RecordRef } from './mailed-links.ts';

/** The record that a mail is about. */
type MailRecord = Pick<RecordRef, 'dataset' | 'name'>;

/** A paragraph: text, or a link on its own line. */
type Paragraph = string | { label: string; url: string };

/** A text from outside on one line, at most 120 characters: no line break may end a header. */
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 120);

const STYLE = 'font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:0 auto;padding:1em;color:#1d1c1a';

function mail(to: string, subject: string, paragraphs: readonly Paragraph[]): Mail {
  const text = paragraphs
    .map((paragraph) => (typeof paragraph === 'string' ? paragraph : `${paragraph.label}:\n${paragraph.url}`))
    .join('\n\n');
  const blocks = paragraphs.map((paragraph) =>
    typeof paragraph === 'string'
      ? html`<p>${paragraph}</p>`
      : html`<p><a href="${paragraph.url}">${paragraph.label}</a><br>${paragraph.url}</p>`,
  );
  const body = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${subject}</title><body style="${STYLE}">${joinHtml(blocks)}</body></html>`;
  return { to, subject: oneLine(subject), text: `${text}\n`, html: String(body) };
}

const called = ({ name, dataset }: MailRecord) => `"${oneLine(name)}" (dataset ${dataset})`;

/** To the contact of an opt-out: the link that restores the record. */
export function removedMail(to: string, record: MailRecord, url: string): Mail {
  return mail(to, `Removed: ${record.name}`, [
    `You, or someone with an e-mail address at your domain, asked us to remove ${called(record)} from the Dataset Register. It has been removed.`,
    'Download files are rewritten without it within a few minutes.',
    { label: 'If this was a mistake, restore the record on this page', url },
    'The link is valid for 30 days. Opening it changes nothing; the button on the page does.',
  ]);
}

/** To postmaster and webmaster of a domain, when an unverified address at it had a record removed. */
export function noticeMail(to: string, record: MailRecord, url: string): Mail {
  return mail(to, `Removed: ${record.name}`, [
    `Someone who gave an e-mail address at your domain had ${called(record)} removed from the Dataset Register. We could not verify the address, so we also notify you.`,
    'If you agree, do nothing.',
    { label: 'If not, restore the record on this page', url },
    'The link is valid for 30 days. Opening it changes nothing; the button on the page does. After a restore, another removal within 90 days must be confirmed by e-mail.',
  ]);
}

/** Before a record that was restored in the last 90 days is removed again. */
export function confirmMail(to: string, record: MailRecord, url: string): Mail {
  return mail(to, `Please confirm: remove ${record.name}`, [
    `Someone asked us, with this e-mail address, to remove ${called(record)} from the Dataset Register. The record was removed and restored before, so please confirm.`,
    { label: 'Confirm the removal on this page', url },
    'The link is valid for 24 hours. Opening it changes nothing; the button on the page does. If you did not ask for this, ignore this mail: the record stays.',
  ]);
}

/** The link of a claim. */
export function claimMail(to: string, record: MailRecord, url: string): Mail {
  return mail(to, `Edit ${record.name}`, [
    `Someone asked to edit ${called(record)} in the Dataset Register with this e-mail address.`,
    { label: 'Open this link to edit the record', url },
    'The link is valid for 24 hours. You have 30 minutes from when you start editing. Saved values are published immediately, marked as set by the owner.',
    'If you did not ask for this, ignore this mail and do not forward it: anyone with the link can edit the record.',
  ]);
}

/** An operator declined a request; `what` was asked for: `let you edit` or `remove`. */
export function declinedMail(to: string, record: MailRecord, what: string): Mail {
  return mail(to, `Declined: ${record.name}`, [
    `You asked us to ${what} ${called(record)} in the Dataset Register.`,
    'Your request was declined: we could not verify that you may act for this record. Nothing was changed.',
    'You can send a new request at any time.',
  ]);
}
