// Redirects from the former explorer to the page of the dataset, with the same query.
const link = document.getElementById('moved') as HTMLAnchorElement;
location.replace(link.href + location.search + location.hash);

export {};
