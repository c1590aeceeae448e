// Makes the pages dynamic: searches while the user types, continues lists, corrects facts in place,
// and shows changes without a reload. Every page works without this script.
'use strict';

(() => {
  const texts = document.body.dataset;
  const status = document.getElementById('status');
  const notice = document.getElementById('notice');
  const byId = (id) => document.getElementById(id);

  // Fetches the content of a page. The answer is HTML from our own server, in which all text of
  // transcripts is escaped; the Content-Security-Policy forbids scripts in it.
  async function fetchPart(address, options = {}) {
    const answer = await fetch(address, { ...options, headers: { 'x-part': '1' }, credentials: 'same-origin' });
    if (answer.status === 403) throw new Error(texts.textClosed);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (!answer.ok) throw new Error(page.body.textContent.trim() || texts.textFailed);
    return { page, address: answer.url };
  }

  function say(text) {
    status.textContent = text;
  }

  function show(text, action) {
    notice.replaceChildren(text);
    if (action) {
      const button = document.createElement('button');
      button.textContent = action.label;
      button.addEventListener('click', () => { notice.hidden = true; action.run(); });
      notice.append(button);
    }
    notice.hidden = false;
    clearTimeout(show.timer);
    show.timer = setTimeout(() => { notice.hidden = true; }, 12000);
  }

  // Replaces the content of an element. Open `details` elements stay open, and the focus is kept.
  function replace(element, fresh) {
    if (element.innerHTML === fresh.innerHTML) return;
    const open = new Set([...element.querySelectorAll('details[open][id]')].map((one) => one.id));
    const focused = element.contains(document.activeElement) ? document.activeElement : null;
    const focusPath = focused && (focused.id ? `#${CSS.escape(focused.id)}` : focused.href && `a[href="${CSS.escape(focused.getAttribute('href'))}"]`);
    for (const details of fresh.querySelectorAll('details[id]')) {
      if (open.has(details.id)) details.open = true;
    }
    element.replaceChildren(...fresh.childNodes);
    for (const { name, value } of fresh.attributes) element.setAttribute(name, value);
    if (focusPath) element.querySelector(focusPath)?.focus({ preventScroll: true });
    observeEnds();
  }

  function replaceAll(page, selector) {
    for (const element of document.querySelectorAll(selector)) {
      const fresh = element.id && page.getElementById(element.id);
      if (fresh) replace(element, fresh);
    }
  }

  // Searches while the user types. Only the answer to the latest query is shown.
  let asked = 0;
  async function search(form) {
    const number = ++asked;
    const query = new URLSearchParams(new FormData(form)).toString();
    const address = `${form.getAttribute('action')}?${query}`;
    try {
      const { page } = await fetchPart(address);
      if (number !== asked) return;
      const results = page.getElementById('results');
      if (!results) return;
      const old = byId('results');
      if (!results.hasAttribute('data-live')) old.removeAttribute('data-live');
      replace(old, results);
      say(results.dataset.status || '');
      history.replaceState(null, '', address);
    } catch (error) {
      show(error.message);
    }
  }

  document.addEventListener('input', (event) => {
    if (!event.target.matches('[data-search]')) return;
    clearTimeout(search.timer);
    search.timer = setTimeout(() => search(event.target.form), 40);
  });

  document.addEventListener('change', (event) => {
    const form = event.target.closest('form[data-filter]');
    if (form && !event.target.matches('[data-search]')) form.requestSubmit();
  });

  // Omits empty values, so that addresses are short.
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.method === 'get') {
      event.preventDefault();
      const data = new FormData(form);
      for (const [name, value] of [...data]) if (value === '') data.delete(name);
      const query = new URLSearchParams(data).toString();
      location.assign(query ? `${form.getAttribute('action')}?${query}` : form.getAttribute('action'));
    } else if (form.getAttribute('action').startsWith('mark?')) {
      event.preventDefault();
      correct(form);
    }
  });

  // Corrects a fact. The verdict `keep` undoes the correction.
  async function correct(form) {
    const address = new URL(form.action);
    const verdict = address.searchParams.get('verdict');
    const label = form.querySelector('button').textContent;
    try {
      await mark(address);
      const undone = new URL(address);
      undone.searchParams.set('verdict', 'keep');
      const undo = { label: texts.textUndo, run: () => mark(undone).catch((error) => show(error.message)) };
      show(`${label}: ${texts.textSaved}`, verdict === 'keep' ? undefined : undo);
    } catch (error) {
      show(error.message);
    }
  }

  async function mark(address) {
    await fetchPart(address, { method: 'POST' });
    const { page } = await fetchPart(location.href);
    replaceAll(page, '[data-live]');
  }

  // Continues lists: fetches the next page when the end of the current page becomes visible.
  const ends = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      ends.unobserve(entry.target);
      append(entry.target);
    }
  }, { rootMargin: '800px' });

  function observeEnds() {
    for (const link of document.querySelectorAll('a[data-append]')) ends.observe(link);
  }

  async function append(link) {
    const list = byId(link.dataset.append);
    try {
      const { page } = await fetchPart(link.href);
      link.closest('.more').remove();
      const fresh = page.getElementById(list.id);
      list.append(...fresh.childNodes);
      // A list that was continued is not updated any more, so that it does not change while the
      // user reads it.
      list.removeAttribute('data-live');
      observeEnds();
    } catch (error) {
      show(error.message);
    }
  }

  // Shows the target of the address, even if it is in a closed `details` element.
  function reveal() {
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === 'DETAILS') element.open = true;
    }
    for (const details of target.querySelectorAll(':scope > details')) details.open = true;
    target.scrollIntoView({ block: 'start' });
  }

  // When the server sends an event about changes, the live parts are fetched again.
  let events = null;
  let isFetching = false;
  let isStale = false;
  async function refresh() {
    if (isFetching) { isStale = true; return; }
    isFetching = true;
    try {
      const { page } = await fetchPart(location.href);
      replaceAll(page, '[data-live]');
    } catch (error) {
      show(error.message);
    } finally {
      isFetching = false;
      if (isStale) { isStale = false; refresh(); }
    }
  }

  function concerns(changed) {
    const live = [...document.querySelectorAll('[data-live]')].map((element) => element.dataset.live);
    if (live.length === 0) return false;
    const session = live.find((id) => id !== '');
    return changed.all || !session || changed.sessions.includes(session);
  }

  function listen() {
    if (events || document.hidden) return;
    events = new EventSource('events');
    events.addEventListener('open', () => { document.body.dataset.connected = '1'; });
    events.addEventListener('change', (event) => { if (concerns(JSON.parse(event.data))) refresh(); });
    events.addEventListener('error', () => {
      if (events && events.readyState === EventSource.CLOSED) { events = null; show(texts.textClosed); }
    });
  }

  // A page that is not visible does not keep the server open.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      events?.close();
      events = null;
    } else {
      listen();
      refresh();
    }
  });

  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, select, textarea');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const field = document.querySelector('[data-search]');
      if (field) field.focus(); else location.assign('./');
    }
  });

  window.addEventListener('hashchange', reveal);
  observeEnds();
  reveal();
  listen();
})();
