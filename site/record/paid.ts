// The script of a record page that the service renders: loads the paid values of the record in place, and connects charts and mails of changes.
import { connectFollow } from '../account/follow.ts';
import { connectOffer } from '../account/offer.ts';
import { createElement } from '../lib/dom.ts';
import { connectCharts } from './charts.ts';

connectCharts();
connectFollow();

if (document.getElementById('load') !== null)
  connectOffer((answer, text) => {
    const page = new DOMParser().parseFromString(answer, 'text/html');
    const main = document.adoptNode(page.querySelector('main')!);
    const status = createElement('p', { className: 'note', role: 'status' }, text);
    main.querySelector('#values')?.after(status);
    document.querySelector('main')!.replaceWith(main);
  });
