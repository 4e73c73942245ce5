// Draws "Follow this view" for the view that a page shows. Apart from `follow.ts`, which scripts without a bundler load too.
import { type FollowedView, followHtml } from '../../api/pages/follow.ts';

/** Draws "Follow this view" for the view that a page shows, in place of the content of a disclosure. */
export function drawFollow(disclosure: Element, view: FollowedView): void {
  const drawn = new DOMParser().parseFromString(String(followHtml(view)), 'text/html');
  disclosure.querySelector('.follow-panel')!.replaceWith(document.adoptNode(drawn.querySelector('.follow-panel')!));
}
