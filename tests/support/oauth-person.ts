// A person's browser for forms: stores cookies by path and follows redirects within the service.

export interface PersonPage {
  url: string;
  status: number;
  html: string;
  headers: Headers;
}

/** Where the browser ended: on a page of the service, or at the client's redirect. */
export type Arrival = { page: PersonPage } | { left: URL };

export interface Person {
  open(url: string): Promise<Arrival>;
  /** Submits the form of a page; `headers` replace those of a browser. */
  submit(page: PersonPage, fields: Record<string, string>, headers?: Record<string, string>): Promise<Arrival>;
  cookies: Map<string, { value: string; path: string }>;
}

export function person(base: string): Person {
  const cookies: Person['cookies'] = new Map();
  const arrive = async (url: string, init: RequestInit = {}): Promise<Arrival> => {
    const { pathname, origin } = new URL(url);
    if (origin !== base) return { left: new URL(url) };
    const cookie = [...cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([name, { value }]) => `${name.split(' ')[0]}=${value}`)
      .join('; ');
    const headers = { ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string>) };
    const response = await fetch(url, { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const cut = pair.indexOf('=');
      const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/';
      const name = `${pair.slice(0, cut)} ${path}`;
      if (/expires=Thu, 01 Jan 1970|max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, { value: pair.slice(cut + 1), path });
    }
    const to = response.headers.get('location');
    if (to !== null) return arrive(new URL(to, url).href);
    return { page: { url, status: response.status, html: await response.text(), headers: response.headers } };
  };
  return {
    cookies,
    open: (url) => arrive(url),
    submit: (page, fields, headers = { origin: base }) =>
      arrive(page.url, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      }),
  };
}

/** The current page; fails when the browser has left the service. */
export function pageOf(arrival: Arrival): PersonPage {
  if ('left' in arrival) throw new Error(`the person was sent to ${arrival.left}`);
  return arrival.page;
}

/** Signs in with a key and allows the request; returns the redirect to the client. */
export async function allow(base: string, authorize: string | URL, key: string, cap = ''): Promise<URL> {
  const who = person(base);
  const signin = pageOf(await who.open(String(authorize)));
  const consent = pageOf(await who.submit(signin, { action: 'signin', key }));
  const arrival = await who.submit(consent, { action: 'allow', cap });
  if ('left' in arrival) return arrival.left;
  throw new Error(`${arrival.page.status} ${arrival.page.html}`);
}
