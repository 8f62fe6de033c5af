// The state of the page. The address has it behind #, so a link shares it.

const listeners = [];
let values = read();

function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** The value of a name, or a default. */
export const get = (name, other = '') => values[name] ?? other;

/** Sets values. An undefined or empty value removes the name. It notifies no one, because the caller knows. */
export function set(changes) {
  values = { ...values, ...changes };
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null || value === '') delete values[name];
  }
  const hash = '#' + new URLSearchParams(values);
  if (hash !== location.hash) history.replaceState(null, '', hash);
}

/** Calls a function when the user changes the address or goes back. */
export const changed = (listener) => listeners.push(listener);

addEventListener('hashchange', () => {
  values = read();
  for (const listener of listeners) listener();
});
