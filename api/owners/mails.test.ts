// The HTML of mails escapes what others wrote.
import { expect, test } from 'vitest';
import { claimMail, removedMail } from './mails.ts';

test('a hostile name stays text in the HTML of a mail, and one line in its subject', () => {
  const record = { dataset: 'tools', name: `<img src=x onerror="alert('x')">\r\nBcc: x@evil.example` };
  for (const { subject, html } of [
    removedMail('a@owner.example', record, 'https://register.example/?a=1&b="2"'),
    claimMail('a@owner.example', record, 'https://register.example/?a=1&b="2"'),
  ]) {
    expect(subject).not.toMatch(/[\r\n]/);
    expect(html).not.toContain('<img');
    expect(html).toContain('&lt;img src=x onerror=&quot;alert(&#39;x&#39;)&quot;&gt;');
    expect(html).toContain('href="https://register.example/?a=1&amp;b=&quot;2&quot;"');
  }
});
