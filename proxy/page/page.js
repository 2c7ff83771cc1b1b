// The page: members and spans by key, as /events tells them; drawn at most once a frame, and only rows that changed.
const MOST_SPANS = 5000, MOST_LANES = 20, WINDOW_MS = 10 * 60 * 1000, ROW = 14, LEFT = 150;
const members = new Map(), spans = new Map(), rows = new Map();
const at = id => document.getElementById(id);
const key = m => JSON.stringify([m.group_id, m.member_id]);
let chosen = null, heardOf = null, due = false;

function take(news) {
  if (news.whole) { members.clear(); spans.clear(); }
  for (const gone of news.gone) if ((members.get(key(gone))?.version ?? Infinity) <= gone.version) members.delete(key(gone));
  for (const member of news.members) members.set(key(member), member);
  for (const span of news.spans) spans.set(span.number, span);
  while (spans.size > MOST_SPANS) {
    const old = [...spans.values()].find(span => span.until_ns !== null);
    if (!old) break;
    spans.delete(old.number);
  }
  draw();
}

function draw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => { due = false; drawGroups(); drawMembers(); drawTimeline(); });
}

const named = partitions => {
  const topics = new Map();
  for (const [topic, n] of partitions) topics.set(topic, [...(topics.get(topic) ?? []), n]);
  return [...topics].map(([topic, ns]) => `${topic} ${ns.join(' ')}`).join(', ');
};
const software = of => [of.client.software || 'unknown', of.client.software_version].join(' ').trim();
const cells = m => [m.member_id + (m.instance_id ? ` (${m.instance_id})` : ''), m.passes ? 'passes' : m.phase,
  m.passes ?? m.standing, m.epoch, m.generation, named(m.owned), named(m.waiting_for), named(m.letting_go),
  software(m), m.client.address, new Date(m.since_ns / 1e6).toLocaleTimeString([], { hourCycle: 'h23' })];
const fits = m => {
  const wanted = at('search').value.trim().toLowerCase();
  return !wanted || [m.group_id, ...cells(m)].join(' ').toLowerCase().includes(wanted);
};

function drawGroups() {
  const counts = new Map();
  for (const m of members.values()) if (fits(m)) counts.set(m.group_id, (counts.get(m.group_id) ?? 0) + 1);
  const names = [...counts.keys()].sort();
  if (!counts.has(chosen)) chosen = names[0] ?? null;
  const list = at('groups'), had = document.activeElement?.dataset?.group;
  list.replaceChildren(...names.map(name => {
    const item = document.createElement('li'), button = document.createElement('button');
    button.textContent = `${name} · ${counts.get(name)}`;
    button.dataset.group = name;
    button.setAttribute('aria-current', name === chosen);
    button.onclick = () => { chosen = name; draw(); };
    item.append(button);
    return item;
  }));
  if (had) list.querySelector(`[data-group="${CSS.escape(had)}"]`)?.focus();
  at('title').textContent = chosen === null ? 'Nobody consumes in a group here now' : `Timeline of ${chosen}`;
}

function drawMembers() {
  const wanted = [...members.entries()].filter(([, m]) => m.group_id === chosen && fits(m)).sort(([a], [b]) => a < b ? -1 : 1);
  const body = at('members'), stay = new Set(wanted.map(([k]) => k));
  for (const [k, row] of rows) if (!stay.has(k)) { row.remove(); rows.delete(k); }
  wanted.forEach(([k, m], place) => {
    const row = rows.get(k) ?? document.createElement('tr');
    if (row.dataset.version !== String(m.version)) {
      row.dataset.version = m.version;
      row.replaceChildren(...cells(m).map((text, column) => {
        const cell = document.createElement('td');
        cell.textContent = text;
        if (column === 1) cell.className = m.passes ? 'soft' : m.phase;
        return cell;
      }), row.lastChild ?? document.createElement('td'));
    }
    rows.set(k, row);
    if (body.children[place] !== row) body.insertBefore(row, body.children[place] ?? null);
  });
  at('count').textContent = `${wanted.length} shown of ${members.size}`;
  if (heardOf !== chosen) drawHeard();
}

// How long ago its client last asked something, the last cell of a row: asked for while somebody looks, for it is no change.
async function drawHeard() {
  if (chosen === null || document.hidden) return;
  const group = heardOf = chosen;
  const answer = await fetch(`heard/${encodeURIComponent(group)}`).catch(() => null);
  const ages = answer?.ok ? (await answer.json()).heard_seconds : {};
  if (group !== chosen) return;
  for (const [k, row] of rows) {
    const seconds = ages[JSON.parse(k)[1]] ?? null;
    row.lastChild.textContent = seconds === null ? '' : Math.floor(seconds);
  }
}
setInterval(drawHeard, 5000);

const svg = (name, attributes, text) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [k, v] of Object.entries(attributes)) element.setAttribute(k, v);
  if (text !== undefined) element.append(name === 'rect' ? svg('title', {}, text) : text);
  return element;
};
// Names that differ in their last letter alone are far apart on the wheel.
const hue = text => [...text].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 360, 7) * 137 % 360;
// Both ends of a long name: members of one application differ in the last letters.
const short = text => text.length > 22 ? `${text.slice(0, 12)}…${text.slice(-9)}` : text;
const byNumber = new Intl.Collator(undefined, { numeric: true }).compare;
const CAPTIONS = { holds: 'partitions, in the colour of their holder', phase: 'members, in the colour of their phase' };

// The lanes of one kind, in order. Where there are too many, those stay in which something moved.
function lanesOf(kind, bars) {
  const lanes = new Map();
  for (const s of bars) {
    if (s.kind !== kind) continue;
    const name = kind === 'holds' ? s.what : s.member_id;
    lanes.set(name, [...(lanes.get(name) ?? []), s]);
  }
  const moved = spans => spans.length > 1 || spans[0].until_ns !== null || (kind === 'phase' && spans[0].what !== 'stable');
  const ordered = [...lanes].sort(([a], [b]) => byNumber(a, b));
  const still = ordered.filter(([, spans]) => !moved(spans)), room = MOST_LANES - (ordered.length - still.length);
  const left = new Set(still.slice(Math.max(room, 0)).map(([name]) => name));
  return { shown: ordered.filter(([name]) => !left.has(name)).slice(0, MOST_LANES), all: ordered.length };
}

function drawTimeline() {
  const wanted = at('search').value.trim().toLowerCase(), now = Date.now(), width = at('timeline').clientWidth;
  const mine = [...spans.values()].filter(s => s.group_id === chosen &&
    (!wanted || `${s.group_id} ${s.member_id} ${s.what}`.toLowerCase().includes(wanted)));
  const first = Math.max(now - WINDOW_MS, mine.reduce((least, s) => Math.min(least, s.from_ns / 1e6), now - 10_000));
  const x = ms => LEFT + (width - LEFT) * (Math.max(ms, first) - first) / (now - first);
  const bars = mine.filter(s => s.until_ns === null || s.until_ns / 1e6 > first), drawn = [];
  let y = 0;
  for (const kind of Object.keys(CAPTIONS)) {
    const { shown, all } = lanesOf(kind, bars);
    if (!all) continue;
    const more = all > shown.length ? `; ${all - shown.length} more are not drawn: search` : '';
    drawn.push(svg('text', { x: LEFT, y: y + 11, class: 'axis' }, CAPTIONS[kind] + more));
    y += ROW + 2;
    for (const [name, itsSpans] of shown) {
      drawn.push(svg('text', { x: 0, y: y + 11 }, short(name)));
      for (const s of itsSpans) drawn.push(bar(s, x, y, now));
      y += ROW;
    }
    y += 6;
  }
  drawn.push(svg('text', { x: LEFT, y: y + 9, class: 'axis' }, `${Math.round((now - first) / 1000)} s ago`),
    svg('text', { x: width, y: y + 9, class: 'axis', 'text-anchor': 'end' }, 'now'));
  at('timeline').setAttribute('height', y + 14);
  at('timeline').replaceChildren(...drawn);
}

function bar(s, x, y, now) {
  const end = s.until_ns === null ? now : s.until_ns / 1e6, from = x(s.from_ns / 1e6);
  const place = { x: from, y: y + 2, width: Math.max(1, x(end) - from), height: ROW - 4 };
  const paint = s.kind === 'phase' ? { class: s.what } : { fill: `hsl(${hue(s.member_id)} 55% 55%)` };
  return svg('rect', { ...place, ...paint }, `${s.member_id} · ${s.what} · ${((end - s.from_ns / 1e6) / 1000).toFixed(1)} s`);
}

// Asked for while somebody looks: a busy proxy has many, and they come and go.
async function drawConnections() {
  if (!at('connections').open || document.hidden) return;
  const answer = await fetch('connections').catch(() => null);
  if (!answer?.ok) return;
  const { open, connections } = await answer.json();
  at('open').textContent = open > connections.length ? `the oldest ${connections.length} of ${open}` : open;
  at('connections').querySelector('tbody').replaceChildren(...connections.map(c => {
    const row = document.createElement('tr');
    const who = [c.client.address, c.gone && '(gone)', c.client.certificate].filter(Boolean).join(' ');
    row.append(...[who, c.client.client_id, software(c), c.groups.join(', '), c.broker,
      c.requests, Math.round(c.open_seconds), Math.round(c.idle_seconds)].map(text => {
      const cell = document.createElement('td');
      cell.textContent = text;
      return cell;
    }));
    return row;
  }));
}
at('connections').ontoggle = drawConnections;
setInterval(drawConnections, 5000);

// Of a proxy of several processes each shows its own groups. Where they all are does not change.
async function drawProcesses() {
  const answer = await fetch('processes').catch(() => null);
  const { ports } = answer?.ok ? await answer.json() : { ports: [] };
  at('processes').hidden = ports.length < 2;
  at('processes').append(...ports.map((port, number) => {
    const link = document.createElement('a');
    link.href = Object.assign(new URL(location), { port, hash: '' });
    link.textContent = number;
    if (String(port) === location.port) link.ariaCurrent = 'page';
    return link;
  }));
}
drawProcesses();

at('search').oninput = draw;
addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== at('search')) { event.preventDefault(); at('search').focus(); }
  if (event.key === 'Escape') { at('search').value = ''; at('search').blur(); draw(); }
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const buttons = [...at('groups').querySelectorAll('button')];
    if (!buttons.length) return;
    event.preventDefault();
    const place = buttons.findIndex(b => b.dataset.group === chosen) + (event.key === 'ArrowDown' ? 1 : -1);
    const next = buttons[Math.min(Math.max(place, 0), buttons.length - 1)];
    next.focus(); chosen = next.dataset.group; draw();
  }
});
addEventListener('resize', draw);
setInterval(() => { if (!document.hidden && spans.size) { drawTimeline(); } }, 1000);
const feed = new EventSource('events');
feed.onopen = () => { at('state').textContent = 'live'; };
feed.onerror = () => { at('state').textContent = 'lost; trying again'; };
feed.onmessage = message => take(JSON.parse(message.data));
