import { Plus, Trash2 } from "lucide-react";
import { Button, IconButton } from "@/ui/button";
import { Field, Input, Select } from "@/ui/field";
import { controlId } from "@/ui/schema-form";
import type { Collector, Draft } from "./api";
import { needsValue, operatorWords, valueOf, wantsNumber } from "./assertion";

export type Assertion = NonNullable<NonNullable<Draft["collectors"]>[number]["assertions"]>[number];
type AssertionField = NonNullable<Collector["assertionFields"]>[number];

/** Builds the comparisons of one collector from the fields it offers. */
export function AssertionBuilder({
  fields,
  assertions,
  onChange,
  errors,
  formId,
  path,
}: {
  fields: AssertionField[];
  assertions: Assertion[];
  onChange: (assertions: Assertion[]) => void;
  errors: Record<string, string>;
  formId: string;
  path: string;
}) {
  const set = (i: number, next: Assertion) => onChange(assertions.map((each, at) => (at === i ? next : each)));
  return (
    <fieldset>
      <legend className="text-sm font-medium">Assertions</legend>
      <p className="mb-2 text-sm text-ink-3">The run counts as failed when one of these does not hold.</p>
      <ul className="grid gap-2">
        {assertions.map((assertion, i) => {
          const field = fields.find((each) => each.path === assertion.field);
          const kind = field?.kind ?? "string";
          const here = `${path}[${i}]`;
          const error = errors[here] ?? errors[`${here}.field`] ?? errors[`${here}.operator`] ?? errors[`${here}.value`] ?? errors[`${here}.jsonPath`];
          return (
            <li key={i} className="rounded-[8px] border border-line bg-bg/60 p-2.5">
              <div className="flex flex-wrap items-end gap-2">
                <Field label="Field" className="min-w-40 flex-1" id={controlId(formId, here)}>
                  {(control) => (
                    <Select
                      {...control}
                      value={assertion.field}
                      onChange={(event) => {
                        const next = fields.find((each) => each.path === event.target.value);
                        set(i, { field: event.target.value, operator: next?.operators?.[0] ?? "equals" });
                      }}
                    >
                      {field ? null : <option value={assertion.field}>{assertion.field}</option>}
                      {fields.map((each) => (
                        <option key={each.path} value={each.path}>
                          {each.label}
                        </option>
                      ))}
                    </Select>
                  )}
                </Field>
                {kind === "jsonpath" ? (
                  <Field label="JSON path" className="min-w-36 flex-1">
                    {(control) => <Input {...control} className="font-mono" placeholder="$.status" value={assertion.jsonPath ?? ""} onChange={(event) => set(i, { ...assertion, jsonPath: event.target.value })} />}
                  </Field>
                ) : null}
                <Field label="Comparison" className="min-w-36 flex-1">
                  {(control) => (
                    <Select
                      {...control}
                      value={assertion.operator}
                      onChange={(event) => {
                        const next = { ...assertion, operator: event.target.value };
                        if (!needsValue(next.operator)) delete next.value;
                        set(i, next);
                      }}
                    >
                      {(field?.operators ?? [assertion.operator]).map((operator) => (
                        <option key={operator} value={operator}>
                          {operatorWords[operator] ?? operator}
                        </option>
                      ))}
                    </Select>
                  )}
                </Field>
                {needsValue(assertion.operator) ? (
                  <Field label={kind === "duration" ? "Value (ms)" : "Value"} className="min-w-24 flex-1">
                    {(control) => (
                      <Input
                        {...control}
                        inputMode={wantsNumber(kind, assertion.operator) ? "decimal" : "text"}
                        value={assertion.value === undefined || assertion.value === null ? "" : String(assertion.value as string | number)}
                        onChange={(event) => set(i, { ...assertion, value: valueOf(event.target.value, kind, assertion.operator) })}
                      />
                    )}
                  </Field>
                ) : null}
                <IconButton label={`Remove assertion ${i + 1}`} onClick={() => onChange(assertions.filter((_, at) => at !== i))}>
                  <Trash2 aria-hidden size={16} />
                </IconButton>
              </div>
              {error ? <p className="mt-1 text-sm text-unhealthy-ink">{error}</p> : null}
            </li>
          );
        })}
      </ul>
      <Button
        size="sm"
        className="mt-2"
        icon={<Plus aria-hidden size={14} />}
        disabled={fields.length === 0}
        onClick={() => {
          const [first] = fields;
          if (first) onChange([...assertions, { field: first.path, operator: first.operators?.[0] ?? "equals" }]);
        }}
      >
        Add assertion
      </Button>
    </fieldset>
  );
}
