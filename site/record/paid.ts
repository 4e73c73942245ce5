// The script of a record page that the service renders: loads the paid values of the record in place, and charts.
import { connectOffer } from '../account/offer.ts';
import { connectCharts } from './charts.ts';

connectCharts();

if (document.getElementById('load') !== null)
  connectOffer(
    () => [location.pathname.split('/').at(-1) ?? ''],
    (answer, text) => {
      const main = document.adoptNode(answer.querySelector('main')!);
      const status = document.createElement('p');
      status.className = 'note';
      status.setAttribute('role', 'status');
      status.textContent = text;
      main.querySelector('#values')?.after(status);
      document.querySelector('main')!.replaceWith(main);
    },
  );
