// Searches the titles and summaries of the sessions in a copy, and shows the target of an address.
// Every page can be read without this script. Text is inserted only as text, never as HTML.
'use strict';

(() => {
  const SHOWN = 50;
  const AROUND = 80;

  // Shows the target of the address, even if it is in a closed `details` element.
  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === 'DETAILS') element.open = true;
    }
    for (const details of target.querySelectorAll(':scope > details')) details.open = true;
    target.scrollIntoView({ block: 'start' });
  }

  const plain = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

  function element(name, className, ...children) {
    const made = document.createElement(name);
    made.className = className;
    made.append(...children);
    return made;
  }

  // Returns the part of a text around the first word that is found, with this word marked.
  function passage(text, words) {
    const lower = text.toLowerCase();
    const found = words.map((word) => [lower.indexOf(word), word]).filter(([at]) => at >= 0).sort(([a], [b]) => a - b)[0];
    if (!found) return [text.slice(0, 2 * AROUND)];
    const [at, word] = found;
    const begin = Math.max(0, at - AROUND);
    const end = at + word.length;
    return [(begin > 0 ? '…' : '') + text.slice(begin, at), element('mark', '', text.slice(at, end)), text.slice(end, end + 2 * AROUND)];
  }

  function row([file, title, day, project, outcome, text], words) {
    const link = element('a', 'row-title', title);
    link.href = file;
    const meta = [outcome, project, day].filter(Boolean).map((part) => element('span', '', part));
    return element('li', 'row', link, element('p', 'meta', ...meta), element('p', 'detail', ...passage(text, words)));
  }

  const field = document.getElementById('q');
  function search() {
    const words = plain(field.value).split(/\s+/).filter(Boolean);
    const results = document.getElementById('results');
    results.hidden = words.length === 0;
    document.getElementById('latest').hidden = words.length > 0;
    if (words.length === 0) return;
    const found = [];
    for (const entry of searched) {
      if (!words.every((word) => entry.all.includes(word))) continue;
      found.push([words.filter((word) => entry.title.includes(word)).length, entry]);
    }
    // The sort is stable: the latest sessions stay first.
    found.sort(([one], [other]) => other - one);
    const rows = found.slice(0, SHOWN).map(([, entry]) => row(entry.session, words));
    const { textNothing, textFound } = field.dataset;
    document.getElementById('status').textContent = found.length ? `${textFound}: ${found.length}` : textNothing;
    results.firstElementChild.replaceChildren(...(rows.length ? rows : [element('li', 'empty', textNothing)]));
  }

  const searched = (globalThis.copied ?? []).map((session) => {
    const [, title, day, project, outcome, text] = session;
    return { session, title: plain(title), all: plain([title, day, project, outcome, text].join(' ')) };
  });
  if (field) {
    field.addEventListener('input', search);
    search();
  }
  document.addEventListener('keydown', (event) => {
    if (field && event.key === '/' && event.target !== field && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      field.focus();
    }
  });
  window.addEventListener('hashchange', reveal);
  reveal();
})();
