import { useEffect, useRef, useState } from 'react';

interface Props {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

const pause = 300;

/** SearchField tells what was typed once somebody pauses, and follows the address when that changes. */
export function SearchField({ label, value = '', onChange }: Props) {
  const [text, setText] = useState(value);
  const told = useRef(value);
  const tell = useRef(onChange);
  tell.current = onChange;
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === told.current) return;
    const id = window.setTimeout(() => {
      told.current = text;
      tell.current(text || undefined);
    }, pause);
    return () => window.clearTimeout(id);
  }, [text]);
  return (
    <label>
      {label}
      <input type="search" value={text} maxLength={200} onChange={(e) => setText(e.target.value)} />
    </label>
  );
}
