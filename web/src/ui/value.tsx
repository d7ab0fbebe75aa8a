import { useState } from 'react';
import { exactText } from '../api/json';
import { useT } from '../i18n';

/** What the eye cannot see, or what turns text around, is shown as a mark. */
const hidden =
  /(?![\n\t\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d/gu;

/** visible makes the characters of a text that hide appear. */
export const visible = (text: string) => text.replace(hidden, '�');

/** oneLine writes a text on one line. */
export const oneLine = (text: string) => visible(text.replace(/\r\n|[\r\n]/g, '⏎'));

/** plain writes any value as text. */
export function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return exactText(value) ?? (typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value));
}

const long = 600;

/** Value shows a value of a domain, a model or a person: as text, whole, long ones behind a button. */
export function Value({ value, whole = false }: { value: unknown; whole?: boolean }) {
  const t = useT();
  const [open, setOpen] = useState(whole);
  if (value === '' || value === undefined || value === null) return <span className="muted">{t('nothing')}</span>;
  if (Array.isArray(value) && value.every((v) => typeof v === 'string' || typeof v === 'number')) {
    if (value.length === 0) return <span className="muted">{t('nothing')}</span>;
    return (
      <ul className="inline">
        {value.map((v, i) => (
          <li key={i}>{visible(String(v))}</li>
        ))}
      </ul>
    );
  }
  const text = visible(plain(value));
  const structured = typeof value === 'object' && exactText(value) === undefined;
  const shown = open || text.length <= long ? text : `${text.slice(0, long)}…`;
  return (
    <>
      {structured || text.includes('\n') ? <pre className="value">{shown}</pre> : <span className="text">{shown}</span>}
      {text.length > long && (
        <button type="button" className="quiet" onClick={() => setOpen(!open)}>
          {open ? t('show_less') : t('show_all', { n: text.length })}
        </button>
      )}
    </>
  );
}
