// Attacks on the owners' channel: forged hosts, guessed and reused tokens, foreign forms, redirects, header
// injection. And real mails by SMTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BASE, type TestApp } from '../../support/app.ts';
import { type MailServer, mailServer } from '../../support/mail-server.ts';
import {
  answerStatus,
  claim,
  claimToken,
  edit,
  linkTo,
  mails,
  optOut,
  owned,
  send,
  verify,
} from '../../support/owners-stage.ts';
import { verifies } from '../../support/verifies.ts';

const FORGED = {
  Host: 'evil.example',
  'X-Forwarded-Host': 'evil.example',
  'X-Forwarded-Proto': 'ftp',
  Forwarded: 'host=evil.example',
  Origin: 'https://evil.example',
  Referer: 'https://evil.example/',
};

describe('against the owners’ channel', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await owned();
  });
  afterAll(async () => {
    expect(app.faults).toEqual([]);
    await app.close();
  });
  const status = async (slug: string) => (await app.json(`/v1/harbours/entities/${slug}`, { admin: true })).status;
  const form = (path: string, body: string, headers: Record<string, string> = {}) =>
    app.ask(path, { method: 'POST', body, headers });

  test('a forged host gets into no mail and no page', async () => {
    const body = { dataset: 'harbours', entity_id: 'harbour-3', email: 'forged@aether.example' };
    expect(answerStatus(await send(app, 'POST', '/v1/claim', body, { headers: FORGED }))).toBe('200 sent');
    const { url, token } = linkTo(app, 'forged@aether.example');
    expect(url.startsWith(`${BASE}/`)).toBe(true);
    for (const { raw } of mails(app)) expect(raw).not.toContain('evil.example');
    for (const path of [`/claim?token=${token}`, '/owners/harbours/harbour-3'])
      expect(await (await app.ask(path, { headers: FORGED })).text()).not.toContain('evil.example');
  });

  test('a form from another site does nothing, whatever token it has', async () => {
    await optOut(app, 'harbour-13', 'office@neu.example');
    const { token } = linkTo(app, 'office@neu.example');
    const foreign = [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://evil.example' },
    ];
    for (const headers of foreign) {
      expect((await form('/optout/restore', `token=${token}`, headers as Record<string, string>)).status).toBe(403);
      const ask = await form(
        '/owners/harbours/harbour-3',
        'do=remove&email=x%40aether.example',
        headers as Record<string, string>,
      );
      expect(ask.status).toBe(403);
    }
    expect([await status('harbour-13'), await status('harbour-3')]).toEqual([404, 200]);
    const pressed = await form('/optout/restore', `token=${token}`, {
      Origin: 'null',
      'Sec-Fetch-Site': 'same-origin',
    });
    expect([pressed.status, await status('harbour-13')]).toEqual([200, 200]);
    expect((await form('/optout/restore', `token=${token}`)).status).toBe(404);
  });

  test('there is no session to fixate or abuse, and no page is stored, framed or redirected', async () => {
    const token = await claimToken(app);
    const pages = [
      await app.ask(`/claim?token=${token}&next=https://evil.example/&done=https://evil.example/`, {
        headers: { Cookie: `token=${token}; session=1` },
      }),
      await form('/claim', `token=${token}&do=begin&next=https://evil.example/`),
      await app.ask(`/v1/claim/verify?token=${token}`, { headers: { Accept: 'text/html' } }),
      await app.ask('/v1/claim/verify?token=//evil.example/%0d%0aSet-Cookie:a=b', { headers: { Accept: 'text/html' } }),
      await app.ask('/optout/restore?token="><script>alert(1)</script>'),
      await app.ask('/owners/harbours/harbour-3'),
    ];
    for (const page of pages) {
      const { headers } = page;
      expect(headers.get('set-cookie')).toBeNull();
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('location') ?? 'claim?').toMatch(/^(\.\.\/\.\.\/)?claim\?(token=[\w%.-]*)?$/);
      const text = await page.text();
      expect(text).not.toContain('evil.example');
      expect(text).not.toMatch(/<script(?! id="theme")/);
    }
    // A form without a button does nothing; one for another attribute sets nothing.
    expect((await form('/claim', `token=${token}&value.name=Mine&value.domain=evil.example&do=save`)).status).toBe(303);
    expect((await app.json('/v1/harbours/entities/harbour-8', { admin: true })).body).toMatchObject({
      name: 'Null Island Marina',
      verified_owner: false,
    });
  });

  test('a token is valid only for its record, purpose and time', async () => {
    await claim(app, 'harbour-3', 'own@aether.example');
    const { token } = linkTo(app, 'own@aether.example');
    for (const path of ['/optout/restore', '/optout/confirm', '/keys/recover'])
      expect((await form(path, `token=${token}`)).status, path).toBe(404);
    expect(answerStatus(await edit(app, token, { fuel: false }))).toBe('403 not_owner');
    expect((await form('/claim', `token=${token}&do=save&value.fuel=no`)).status).toBe(200);
    expect((await app.json('/v1/harbours/entities/harbour-3', { admin: true })).body).toMatchObject({
      verified_owner: false,
    });
    expect(answerStatus(await verify(app, token))).toBe('200 verified');
    // The token is bound to its record, also when the request contains another one.
    const other = await send(app, 'PUT', '/v1/claim', {
      token,
      dataset: 'harbours',
      entity_id: 'harbour-13',
      values: { fuel: false },
    });
    expect([other.status, other.body['slug']]).toEqual([200, 'harbour-3']);
    for (const guess of [token.slice(0, -1), `${token}A`, token.toLowerCase(), encodeURIComponent(`${token}\0`)])
      expect(answerStatus(await verify(app, guess)), guess).toBe('404 not_found');
  });

  test('markup in values is escaped everywhere', async () => {
    const token = await claimToken(app);
    await verify(app, token);
    const markup = '</script><img src=x onerror=alert(1)>[x](javascript:alert(1))|=1+1';
    expect((await edit(app, token, { languages: [markup] })).status).toBe(200);
    const html = await (
      await app.ask('/v1/harbours/entities/harbour-8', { admin: true, headers: { Accept: 'text/html' } })
    ).text();
    const pageOfOwner = await (await app.ask(`/claim?token=${token}`)).text();
    for (const text of [html, pageOfOwner]) expect(text).not.toMatch(/<img src=x/);
    const markdown = await (await app.ask('/v1/harbours/entities/harbour-8.md', { admin: true })).text();
    expect(markdown).not.toMatch(/[^\\](\[x|<img src=x)/);
    for (const url of ['javascript:alert(1)', 'data:text/html,x'])
      expect((await edit(app, token, { site: url })).status).toBe(422);
  });
});

describe('with a mail server', () => {
  let server: MailServer;
  let app: TestApp;
  beforeAll(async () => {
    server = await mailServer();
    app = await owned({ smtp: server.url });
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });

  test('the mails of both ways arrive, each to its one reader, as text and as HTML with the same link', async () => {
    verifies('setting.mail');
    await claim(app, 'harbour-8', 'office@null.example');
    await optOut(app, 'harbour-13', 'office@neu.example');
    await expect.poll(() => server.mails.length).toBe(4);
    for (const [reader, path] of [
      ['office@null.example', '/v1/claim/verify?token='],
      ['office@neu.example', '/optout/restore?token='],
      ['postmaster@neu.example', '/optout/restore?token='],
      ['webmaster@neu.example', '/optout/restore?token='],
    ] as const) {
      const mail = server.mails.find(({ to }) => to[0] === reader)!;
      expect(mail.to).toEqual([reader]);
      const link = /https:\/\/\S+/.exec(mail.text)?.[0] ?? '';
      expect(link.startsWith(BASE + path)).toBe(true);
      expect(mail.html).toContain(`href="${link}"`);
    }
  });

  test('a key is recovered the same way, and the response time does not reveal whether there is one', async () => {
    await app.json('/v1/keys', { method: 'POST', body: '{"email":"reader@example.org"}' });
    server.mails.length = 0;
    server.refuse = true;
    // A refusal of the mail server is not revealed to the caller.
    for (const email of ['reader@example.org', 'nobody@example.org'])
      expect(answerStatus(await send(app, 'POST', '/v1/keys/recover', { email }))).toBe('200 sent');
    // Its link was not delivered and is dropped, so that the next mail is not delayed.
    const links = () => app.state.db.selectFrom('links').selectAll().where('purpose', '=', 'recover').execute();
    await expect.poll(async () => (await links()).length).toBe(0);
    server.refuse = false;
    await send(app, 'POST', '/v1/keys/recover', { email: 'reader@example.org' });
    await expect.poll(() => server.mails.map(({ to }) => to[0])).toEqual(['reader@example.org']);
    expect(server.mails[0]?.text).toContain(`${BASE}/keys/recover?token=`);
  });

  test('a claim whose mail is refused for good is an error; an opt-out is done in any case', async () => {
    server.refuse = true;
    expect(answerStatus(await claim(app, 'harbour-3', 'a@aether.example'))).toBe('503 unavailable');
    expect(answerStatus(await optOut(app, 'harbour-3', 'a@aether.example'))).toBe('200 removed');
    // The link of the claim is deleted; an operator can send the one that restores the record.
    const left = () => mails(app).filter(({ headers }) => headers['to'] === 'a@aether.example');
    await expect.poll(() => left().length).toBe(1);
    expect(left()[0]?.text).toContain('/optout/restore?token=');
    server.refuse = false;
  });

  test('a claim whose mail is refused for the moment is sent later, with a link that works', async () => {
    server.mails.length = 0;
    server.refuse = 451;
    expect(answerStatus(await claim(app, 'harbour-8', 'later@null.example'))).toBe('200 sent');
    expect(server.mails).toEqual([]);
    server.refuse = false;
    await app.state.db.updateTable('mails').set({ next_at: 0 }).execute();
    const sent = () => server.mails.find(({ to }) => to[0] === 'later@null.example');
    await expect.poll(sent, { timeout: 10_000 }).toBeDefined();
    const mail = sent();
    const token = /token=([\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? '';
    expect((await verify(app, token)).status).toBe(200);
  });
});
