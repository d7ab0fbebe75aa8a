import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import en from './en';

export type Key = keyof typeof en;
type Forms = { one: string; other: string };
export type Catalog = { [K in Key]: (typeof en)[K] extends string ? string : Forms };
export type Params = Record<string, string | number>;
export type Translate = (key: Key, params?: Params) => string;

export const languages = { en: 'English', pt: 'Português', de: 'Deutsch', es: 'Español', fr: 'Français' } as const;
export type Language = keyof typeof languages;

const loaders: Record<Language, () => Promise<{ default: Catalog }>> = {
  en: () => Promise.resolve({ default: en as Catalog }),
  pt: () => import('./pt'),
  de: () => import('./de'),
  es: () => import('./es'),
  fr: () => import('./fr'),
};

/** fill writes a message: "{n}" is a parameter, and "n" chooses the form of a message that has two. */
export function fill(language: string, message: string | Forms, params: Params = {}): string {
  let text: string;
  if (typeof message === 'string') text = message;
  else text = new Intl.PluralRules(language).select(Number(params.n)) === 'one' ? message.one : message.other;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = params[name];
    return value === undefined
      ? whole
      : typeof value === 'number'
        ? new Intl.NumberFormat(language).format(value)
        : value;
  });
}

/** chosen is the language that was chosen, else the first that the browser's reader knows. */
export function chosen(stored: string | null, wanted: readonly string[]): Language {
  for (const tag of [stored ?? '', ...wanted]) {
    const language = tag.toLowerCase().split('-')[0] ?? '';
    if (language in languages) return language as Language;
  }
  return 'en';
}

interface Words {
  t: Translate;
  language: Language;
  setLanguage(language: Language): void;
}

const store = 'manifold.language';
const Context = createContext<Words>({
  t: (key, params) => fill('en', en[key], params),
  language: 'en',
  setLanguage: () => {},
});

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(() => chosen(localStorage.getItem(store), navigator.languages));
  const [loaded, setLoaded] = useState<{ language: Language; catalog: Catalog }>();
  useEffect(() => {
    let gone = false;
    loaders[language]().then(({ default: catalog }) => {
      if (gone) return;
      document.documentElement.lang = language;
      setLoaded({ language, catalog });
    });
    return () => {
      gone = true;
    };
  }, [language]);
  const words = useMemo<Words | undefined>(
    () =>
      loaded && {
        t: (key, params) => fill(loaded.language, loaded.catalog[key], params),
        language: loaded.language,
        setLanguage: (next) => {
          localStorage.setItem(store, next);
          setLanguage(next);
        },
      },
    [loaded],
  );
  return words && <Context value={words}>{children}</Context>;
}

export const useWords = () => useContext(Context);
export const useT = () => useContext(Context).t;
