// The state of the page. The address has it behind #, so a link shares it. Anybody may have written a link, so a part asks
// for the kind of value that it takes.

/** Longer values are left out: no part takes them. */
const LONGEST = 2000;

const listeners = [];
let values = read();

function read() {
  const all = new URLSearchParams(location.hash.slice(1));
  return new URLSearchParams([...all].filter(([name, value]) => name.length + value.length <= LONGEST));
}

/** The text of a name, or a default. */
export const get = (name, other = '') => values.get(name) ?? other;

/** The text of a name if it is in a list, else the list's first. */
export const choice = (name, list) => (list.includes(get(name)) ? get(name) : list[0]);

/** The number of a name, within bounds, or a default. */
export function number(name, { min, max, start }) {
  const found = Number.parseFloat(get(name));
  return Number.isFinite(found) ? Math.max(min, Math.min(found, max)) : start;
}

/** Sets values. An empty value removes the name. It notifies no one, because the caller knows. */
export function set(changes) {
  for (const [name, value] of Object.entries(changes)) {
    if (value) values.set(name, value);
    else values.delete(name);
  }
  const hash = `#${values}`;
  if (hash !== location.hash) history.replaceState(null, '', hash);
}

/** Calls a function when the user changes the address or goes back. */
export const changed = (listener) => listeners.push(listener);

addEventListener('hashchange', () => {
  values = read();
  for (const listener of listeners) listener();
});
