export type Theme = 'auto' | 'light' | 'dark';

const store = 'manifold.theme';

export function theme(): Theme {
  const stored = localStorage.getItem(store);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

export function applyTheme(next: Theme = theme()): void {
  localStorage.setItem(store, next);
  document.documentElement.dataset.theme = next;
}
