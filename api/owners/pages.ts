// What the pages of the owners' channel say: plain words for people who never heard of an API, and what happens next on each.
import type { ValidationIssue } from '../../data/model/errors.ts';
import type { StoredRecord } from '../../data/model/record.ts';
import type { Pack } from '../../packs/define/model.ts';
import { type Html, html, joinHtml } from '../pages/html.ts';
import { type ShellPage, shellOf } from '../pages/shell.ts';
import { type FormInput, ownerFields } from './form.ts';
import type { RecordRef } from './mailed-links.ts';

const STYLE = `
form.ask { display: block; margin-bottom: 2.5rem; }
.field { margin: 0 0 1.4rem; }
.field label { display: block; margin-bottom: 0.3rem; font-weight: 600; }
.field input, .field select, .field textarea { width: 100%; min-height: 2.9rem; padding: 0.5rem 0.75rem; border: 1px solid var(--quiet); border-radius: 4px; background: var(--sheet); color: inherit; font: inherit; }
[aria-invalid] { border: 2px solid var(--paid) !important; }
.hint { margin: 0.35rem 0 0; color: var(--quiet); font-size: 0.9rem; }
.wrong, .good { margin: 0.35rem 0 0; padding: 0.1rem 0 0.1rem 0.8rem; border-left: 3px solid var(--paid); color: var(--paid); font-weight: 600; }
.good { border-color: var(--accent); color: inherit; }
.first { margin-bottom: 1.4rem; }
.slip h2 { margin-top: 2.5rem; font-size: 1.3rem; }
`;

/** The frame of the pages: nothing in it leads elsewhere. */
const shell = shellOf({ style: STYLE });
export const OWNER_HEADERS = shell.headers;

/** A page with its status. */
export interface OwnerPage {
  status: number;
  page: ShellPage;
}

/** A whole page as text. */
export const ownerPage = (base_url: string, { page }: OwnerPage): string => shell.page(base_url, page);

const p = (text: string): Html => html`<p>${text}</p>`;

/** A URL below the base URL. */
const at = (base_url: string, ...path: string[]): string => [base_url, ...path.map(encodeURIComponent)].join('/');

const recordLink = (base_url: string, { dataset, slug, name }: RecordRef): Html =>
  html`<a href="${at(base_url, 'datasets', dataset, slug)}">${name}</a>`;

/** The page where everything about a record begins. */
const startLink = (base_url: string, { dataset, slug }: RecordRef, words: string): Html =>
  html`<p><a href="${at(base_url, 'owners', dataset, slug)}">${words}</a></p>`;

/** A form with a token and one button; it posts to the address of the page, and the token is in it rather than there. */
const button = (token: string, action: string, words: string): Html =>
  html`<form method="post"><input type="hidden" name="token" value="${token}"><button type="submit" class="button" name="do" value="${action}">${words}</button></form>`;

const UNKNOWN = p('Please check that you have copied the whole address out of the mail, to its last letter.');

/** Why a link is no good, and what can be done. */
export function invalidLinkPage(state: 'used' | 'over' | 'unknown' | 'replaced', what: string, next?: Html): OwnerPage {
  const told = {
    used: {
      title: 'This link was used already',
      body: p(`It was for ${what}, and that is done. Nothing more is needed.`),
    },
    over: { title: 'This link is too old', body: html`${p(`It was for ${what}, and its time is up.`)}${next}` },
    replaced: {
      title: 'There is a newer link',
      body: html`${p('You asked again after this link was mailed. Please open the newest mail: only its link works.')}${next}`,
    },
    unknown: { title: 'We do not know this link', body: UNKNOWN },
  }[state];
  return { status: 404, page: told };
}

/** The page behind the mail about a record that was removed: its button brings it back. */
export function restorePage(token: string, { name, dataset }: RecordRef): OwnerPage {
  return {
    status: 200,
    page: {
      title: `Show ${name} again?`,
      body: html`${p(`This record of the dataset ${dataset} was removed because somebody with an address at its domain asked us to.`)}
${p('With the button it is shown again everywhere, as our sources and its owner have it. If the removal was meant, close this page: nothing happens.')}
${button(token, 'restore', 'Show it again')}`,
    },
  };
}

export function restoredPage(base_url: string, record: RecordRef): OwnerPage {
  const body = html`<p>${recordLink(base_url, record)} is shown again. Files for download follow in some minutes.</p>
${p('You need to do nothing more. A further removal within the next 90 days asks for a confirmation by mail first.')}`;
  return { status: 200, page: { title: 'It is shown again', body } };
}

/** The page behind the mail that asks whether a record is really to be removed. */
export function confirmPage(token: string, { name, dataset }: RecordRef): OwnerPage {
  return {
    status: 200,
    page: {
      title: `Remove ${name}?`,
      body: html`${p(`This record of the dataset ${dataset} was removed before and brought back, so this time we ask first.`)}
${p('With the button it is removed everywhere, at once. If that is not what you want, close this page: the record stays.')}
${button(token, 'confirm', 'Remove it')}`,
    },
  };
}

const REMOVED =
  'It is no longer shown anywhere. Files for download are written again without it, which takes some minutes. We have mailed you a link that brings it back.';

export function removedPage({ name }: RecordRef): OwnerPage {
  return {
    status: 200,
    page: { title: 'It is removed', body: html`${p(`${name}: ${REMOVED}`)}${p('You need to do nothing more.')}` },
  };
}

/** Before the half hour of edits begins: opening a mailed link begins nothing, since mail programs open links too. */
export function beginPage(token: string, { name, dataset }: RecordRef, email: string): OwnerPage {
  return {
    status: 200,
    page: {
      title: `Edit ${name}`,
      body: html`${p(`You asked, with the address ${email}, to edit this record of the dataset ${dataset}.`)}
${p('With the button your 30 minutes begin. What you save shows at once, everywhere, marked as said by the owner.')}
${button(token, 'begin', 'Begin')}`,
    },
  };
}

/** The result of the last submission of the form. */
export interface FormState {
  /** The submitted input, shown again after an error. */
  sent: FormInput | null;
  issues: readonly ValidationIssue[];
  /** `saved`: values were saved. `nothing`: no value had changed. */
  done: 'saved' | 'nothing' | null;
}

const minutes = (until: number, now: Date): string => {
  const left = Math.max(1, Math.ceil((until - now.getTime()) / 60_000));
  return left === 1 ? 'one minute' : `${left} minutes`;
};

/** The form of an owner. */
export function editPage(
  base_url: string,
  token: string,
  { pack, record, until, now }: { pack: Pack; record: StoredRecord; until: number; now: Date },
  { sent, issues, done }: FormState,
): OwnerPage {
  const named = { dataset: pack.id, slug: record.slug, name: record.name };
  const fields = ownerFields(pack, record, sent, issues);
  const other = issues.filter(({ loc }) => !fields.includes(`value.${loc[2]}"`));
  const notes = [
    ...(issues.length > 0
      ? [
          html`<p class="wrong first" role="alert">Nothing is saved yet: ${issues.length === 1 ? 'one field needs' : `${issues.length} fields need`} another look.</p>`,
        ]
      : []),
    ...other.map(({ msg }) => html`<p class="wrong first">${msg}</p>`),
    ...(done === 'saved'
      ? [html`<p class="good first" role="status">Saved. It shows everywhere now, marked as said by you.</p>`]
      : []),
    ...(done === 'nothing'
      ? [html`<p class="good first" role="status">Nothing was changed, so nothing was saved.</p>`]
      : []),
  ];
  return {
    status: issues.length > 0 ? 422 : 200,
    page: {
      title: `Edit ${record.name}`,
      body: html`${joinHtml(notes)}
<p>This is what ${recordLink(base_url, named)} says now. Change what is wrong; what you leave stays. To take a value of yours back, empty its field.</p>
<p>You can save as often as you like for another ${minutes(until, now)}.</p>
<form method="post" class="ask"><input type="hidden" name="token" value="${token}">
${fields}
<button type="submit" class="button" name="do" value="save">Save</button>
</form>`,
    },
  };
}

/** Nothing can be edited: the record is opted out, or gone. */
export function missingRecordPage(): OwnerPage {
  return {
    status: 404,
    page: {
      title: 'This record is not shown any more',
      body: p('It was removed since the link was mailed, so there is nothing to edit.'),
    },
  };
}

/** What somebody wrote on the page where everything begins, and what is wrong with it. */
export interface StartFormState {
  /** `edit` or `remove`. */
  form: string;
  email: string;
  reason: string;
  problem: string;
}

/** Where people begin who found a record about themselves: to edit it, or to have it removed. */
export function startPage(base_url: string, pack: Pack, record: StoredRecord, asked: StartFormState | null): OwnerPage {
  const named = { dataset: pack.id, slug: record.slug, name: record.name };
  const wrong = (form: string) => (asked?.form === form ? asked : null);
  const email = (form: string) => {
    const now = wrong(form);
    const invalid = now && html` aria-invalid="true"`;
    const about = html`aria-describedby="${form}-h${now ? ` ${form}-e` : ''}"${invalid}`;
    return html`<div class="field"><label for="${form}">Your e-mail address</label>
<input id="${form}" name="email" type="email" required maxlength="254" autocomplete="email" ${about} value="${now?.email ?? ''}">
<p class="hint" id="${form}-h">At the record’s own domain, or that of the company above it. Addresses of mail providers do not count.</p>
${now && html`<p class="wrong" id="${form}-e" role="alert">${now.problem}</p>`}</div>`;
  };
  const claim =
    pack.owner.domain === null
      ? p('Records of this dataset name no domain, so we cannot tell who owns one, and nobody can edit them.')
      : html`${p('We mail you a link. It opens a form in which you correct what is wrong.')}
<form method="post" class="ask">${email('edit')}
<button type="submit" class="button" name="do" value="edit">Mail me a link</button></form>`;
  const removal =
    pack.owner.domain === null
      ? 'Somebody here looks at your request first, since the dataset names no domain that would show whom the record belongs to.'
      : 'It disappears at once, everywhere, and we mail you a link that brings it back.';
  return {
    status: asked ? 422 : 200,
    page: {
      title: `Is ${record.name} yours?`,
      body: html`<p>${recordLink(base_url, named)} is a record of the dataset ${pack.title}. If it is about you or your business, you decide about it here, free of charge.</p>
<h2>Edit it</h2>
${claim}
<h2>Have it removed</h2>
${p(removal)}
<form method="post" class="ask">${email('remove')}
<div class="field"><label for="reason">Why, if you like to say</label><textarea id="reason" name="reason" rows="3" maxlength="2000">${asked?.reason ?? ''}</textarea></div>
<button type="submit" name="do" value="remove">Remove this record</button></form>`,
    },
  };
}

/** What became of a request that was made on that page. */
export function requestedPage(
  base_url: string,
  record: RecordRef,
  outcome: 'sent' | 'review' | 'removed' | 'confirmation_sent',
  email: string,
): OwnerPage {
  const { name } = record;
  const pages: Record<typeof outcome, ShellPage> = {
    sent: {
      title: 'Look into your mail',
      body: html`${p(`We have mailed a link to ${email}. It works for 24 hours and opens the form for ${name}.`)}${p(
        'Nothing there after some minutes? Look into the folder for spam, then ask again: only the newest link works.',
      )}`,
    },
    review: {
      title: 'Somebody will look at it',
      body: p(
        `Your address alone does not show that you speak for ${name}, so somebody here looks at your request. You get a mail at ${email} when it is decided.`,
      ),
    },
    removed: { title: 'It is removed', body: html`${p(`${name}: ${REMOVED}`)}${p('You need to do nothing more.')}` },
    confirmation_sent: {
      title: 'Please confirm by mail',
      body: p(
        `${name} was removed before and brought back, so this time we ask first: we have mailed a link to ${email}. It works for 24 hours.`,
      ),
    },
  };
  const back = outcome !== 'removed' && startLink(base_url, record, 'Back to the beginning');
  const page = pages[outcome];
  return {
    status: outcome === 'sent' || outcome === 'removed' ? 200 : 202,
    page: { ...page, body: html`${page.body}${back}` },
  };
}

/** Where a link that is no good any more can be asked for again. */
export const newLinkHtml = (base_url: string, record: RecordRef | null): Html | undefined =>
  record === null ? undefined : startLink(base_url, record, 'Ask for another link');

/** A form that did not come from a page of ours. */
export const FOREIGN_FORM: OwnerPage = {
  status: 403,
  page: {
    title: 'This form came from another site',
    body: p('Nothing was done. If you meant it, open the link of the mail yourself and press the button there.'),
  },
};

/** A refusal in a sentence. */
export const refusedPage = (status: OwnerPage['status'], message: string): OwnerPage => ({
  status,
  page: { title: 'That did not work', body: p(message) },
});
