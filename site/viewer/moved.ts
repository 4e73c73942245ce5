// Redirects from the former address of a page to its present one, with the same query and fragment.
const link = document.getElementById('moved') as HTMLAnchorElement;
location.replace(link.href + location.search + location.hash);

export {};
