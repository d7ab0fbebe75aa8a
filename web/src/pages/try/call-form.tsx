import { type FormEvent, useMemo, useState } from 'react';
import type { CapabilityView } from '../../api/types';
import { useT } from '../../i18n';
import { visible } from '../../ui/value';
import { Input } from '../gate/edit';
import { type Fault, type Field, fields, read, type Schema, toText } from '../gate/form';

interface Props {
  capability: CapabilityView;
  values: Record<string, unknown>;
  pending: boolean;
  onPlan: (values: Record<string, unknown>) => void;
}

/**
 * CallForm is a form of the parameters of a capability. What is left empty is not sent; a name may
 * stand where an id is wanted, since looking it up is a part of the plan.
 */
export function CallForm({ capability, values, pending, onPlan }: Props) {
  const t = useT();
  const schema = capability.schema as Schema;
  const all = useMemo(() => fields(schema, values), [schema, values]);
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(all.map((f) => [f.name, toText(f.kind, values[f.name])])),
  );
  const results = all.map((field) => ({ field, ...resultOf(field, texts[field.name] ?? '', values[field.name]) }));
  const wrong = results.some((r) => r.fault);
  const send = (e: FormEvent) => {
    e.preventDefault();
    if (!wrong)
      onPlan(Object.fromEntries(results.filter((r) => r.value !== undefined).map((r) => [r.field.name, r.value])));
  };
  return (
    <form onSubmit={send} noValidate aria-label={capability.ref}>
      <p className="prose">{visible(capability.description ?? '')}</p>
      {results.map(({ field, fault }) => (
        <Input
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          fault={fault}
          onText={(text) => setTexts((old) => ({ ...old, [field.name]: text }))}
        />
      ))}
      <button type="submit" className="primary" disabled={wrong || pending}>
        {t('plan_again')}
      </button>
    </form>
  );
}

function resultOf(field: Field, text: string, before: unknown): { value?: unknown; fault?: Fault } {
  if (text === toText(field.kind, before)) return { value: before };
  if (text === '') return {};
  const result = read(field, text);
  return result.fault === 'pattern' ? { value: text } : result;
}
