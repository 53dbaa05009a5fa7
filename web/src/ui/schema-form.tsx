import { Plus, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { Button, IconButton } from "./button";
import { DurationInput } from "./duration-input";
import { Field, Input, Select, Textarea, Toggle } from "./field";
import { defaultsOf, fieldsOf, isVisible, resolve, type FormField, type JsonSchema, type Values } from "./schema";

/** The id of the control at a path, for links from an error summary. */
export function controlId(formId: string, path: string): string {
  return `${formId}-${path.replace(/[^a-zA-Z0-9]+/g, "-")}`;
}

type Shared = {
  /** Prefix of control ids. */
  formId: string;
  /** Path of the values inside the whole input, as the server names it. */
  path: string;
  errors: Record<string, string>;
  /** Paths of secrets that the server holds already. */
  configuredSecrets?: readonly string[];
};

/** Renders a form from a JSON Schema. */
export function SchemaForm({
  schema,
  root = schema,
  values,
  onChange,
  ...shared
}: Shared & { schema: JsonSchema; root?: JsonSchema; values: Values; onChange: (values: Values) => void }) {
  const fields = fieldsOf(schema, root).filter((field) => isVisible(field, values));
  if (fields.length === 0) return <p className="text-ink-3">Nothing to set.</p>;
  return (
    <div className="grid gap-4">
      {fields.map((field) => (
        <SchemaField
          key={field.name}
          field={field}
          root={root}
          value={values[field.name]}
          onChange={(value) => onChange({ ...values, [field.name]: value })}
          {...shared}
          path={shared.path === "" ? field.name : `${shared.path}.${field.name}`}
        />
      ))}
    </div>
  );
}

function SchemaField({ field, root, value, onChange, ...shared }: Shared & { field: FormField; root: JsonSchema; value: unknown; onChange: (value: unknown) => void }) {
  const { path, errors } = shared;
  const id = controlId(shared.formId, path);
  const error = errors[path];
  const label = field.unit ? `${field.label} (${field.unit})` : field.label;
  const common = { label, help: field.help, error, required: field.required, id };

  switch (field.kind) {
    case "boolean":
      return <Toggle label={label} {...(field.help ? { help: field.help } : {})} checked={value === true} onChange={onChange} />;
    case "enum":
      return (
        <Field {...common}>
          {(control) => (
            <Select {...control} className="max-w-64" value={String(value ?? "")} onChange={(event) => onChange((field.schema.enum ?? []).find((each) => String(each) === event.target.value))}>
              {field.required || field.schema.default !== undefined ? null : <option value="">Not set</option>}
              {(field.schema.enum ?? []).map((option) => (
                <option key={String(option)} value={String(option)}>
                  {String(option)}
                </option>
              ))}
            </Select>
          )}
        </Field>
      );
    case "duration":
      return (
        <Field {...common}>
          {(control) => <DurationInput {...control} label={field.label} base={field.base} value={typeof value === "number" ? value : undefined} onChange={onChange} />}
        </Field>
      );
    case "number":
      return (
        <Field {...common}>
          {(control) => (
            <Input
              {...control}
              type="number"
              step={field.schema.type === "integer" ? 1 : "any"}
              className="max-w-40"
              value={typeof value === "number" ? value : ""}
              onChange={(event) => onChange(event.target.value === "" ? undefined : Number(event.target.value))}
            />
          )}
        </Field>
      );
    case "secret":
      return (
        <Field {...common}>
          {(control) => <SecretInput control={control} label={field.label} stored={shared.configuredSecrets?.includes(path) ?? false} value={typeof value === "string" ? value : ""} onChange={onChange} />}
        </Field>
      );
    case "multiline":
      return (
        <Field {...common}>
          {(control) => <Textarea {...control} className="font-mono" rows={4} value={typeof value === "string" ? value : ""} onChange={(event) => onChange(event.target.value)} />}
        </Field>
      );
    case "strings":
      return (
        <Field {...common} help={[field.help, "One per line."].filter(Boolean).join(" ")}>
          {(control) => (
            <Textarea
              {...control}
              rows={3}
              value={Array.isArray(value) ? value.join("\n") : ""}
              onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value.split("\n"))}
            />
          )}
        </Field>
      );
    case "objects":
      return <ObjectList field={field} root={root} value={value} onChange={onChange} {...shared} />;
    case "object":
      return (
        <fieldset className="rounded-[8px] border border-line p-4">
          <legend className="px-1 text-sm font-medium">{label}</legend>
          <SchemaForm schema={field.schema} root={root} values={(value ?? {}) as Values} onChange={onChange} {...shared} />
        </fieldset>
      );
    case "json":
      return <JsonField field={field} value={value} onChange={onChange} {...shared} />;
    case "text":
      return (
        <Field {...common}>
          {(control) => (
            <Input
              {...control}
              type="text"
              inputMode={field.schema.format === "uri" || /url$/i.test(field.name) ? "url" : "text"}
              autoComplete="off"
              spellCheck={false}
              placeholder={typeof field.schema.examples?.[0] === "string" ? field.schema.examples[0] : undefined}
              value={typeof value === "string" ? value : ""}
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
      );
  }
}

/** A secret is never shown: a stored one can only be replaced. */
export function SecretInput({
  control,
  label,
  stored,
  value,
  onChange,
}: {
  control: { id: string; "aria-describedby": string | undefined };
  label: string;
  stored: boolean;
  value: string;
  onChange: (value: string | undefined) => void;
}) {
  const [replacing, setReplacing] = useState(false);
  if (stored && !replacing) {
    return (
      <div className="flex items-center gap-2">
        <Input {...control} readOnly value="••••••••" aria-label={`${label}, stored`} className="max-w-64 text-ink-3" />
        <Button onClick={() => setReplacing(true)}>Replace</Button>
      </div>
    );
  }
  return (
    <div className="flex items-center gap-2">
      <Input {...control} type="password" autoComplete="new-password" value={value} onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)} />
      {stored ? (
        <Button
          onClick={() => {
            onChange(undefined);
            setReplacing(false);
          }}
        >
          Keep stored
        </Button>
      ) : null}
    </div>
  );
}

function ObjectList({ field, root, value, onChange, ...shared }: Shared & { field: FormField; root: JsonSchema; value: unknown; onChange: (value: unknown) => void }) {
  const rows = Array.isArray(value) ? (value as Values[]) : [];
  const items = resolve(field.schema.items ?? {}, root);
  const columns = fieldsOf(items, root);
  const flat = columns.every((column) => column.kind === "text" || column.kind === "secret");
  const set = (i: number, row: Values) => onChange(rows.map((each, at) => (at === i ? row : each)));
  const singular = field.label.replace(/s$/, "").toLowerCase();
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">{field.label}</legend>
      {field.help ? <p className="mb-2 text-sm text-ink-3">{field.help}</p> : null}
      <div className="grid gap-2">
        {rows.map((row, i) => {
          const path = `${shared.path}[${i}]`;
          return (
            <div key={i} className="flex items-end gap-2">
              {flat ? (
                columns.map((column) => {
                  const columnPath = `${path}.${column.name}`;
                  return (
                    <Field key={column.name} label={column.label} required={column.required} error={shared.errors[columnPath]} id={controlId(shared.formId, columnPath)} className="flex-1">
                      {(control) => (
                        <Input
                          {...control}
                          type={column.kind === "secret" ? "password" : "text"}
                          autoComplete="off"
                          value={typeof row[column.name] === "string" ? (row[column.name] as string) : ""}
                          onChange={(event) => set(i, { ...row, [column.name]: event.target.value })}
                        />
                      )}
                    </Field>
                  );
                })
              ) : (
                <div className="flex-1 rounded-[8px] border border-line p-3">
                  <SchemaForm schema={items} root={root} values={row} onChange={(next) => set(i, next)} {...shared} path={path} />
                </div>
              )}
              <IconButton label={`Remove ${singular} ${i + 1}`} onClick={() => onChange(rows.filter((_, at) => at !== i))}>
                <Trash2 aria-hidden size={16} />
              </IconButton>
            </div>
          );
        })}
      </div>
      <Button size="sm" className="mt-2" icon={<Plus aria-hidden size={14} />} onClick={() => onChange([...rows, defaultsOf(items, root)])}>
        Add {singular}
      </Button>
    </fieldset>
  );
}

function JsonField({ field, value, onChange, ...shared }: Shared & { field: FormField; value: unknown; onChange: (value: unknown) => void }) {
  const id = useId();
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const [problem, setProblem] = useState<string>();
  return (
    <Field label={field.label} help={[field.help, "Written as JSON."].filter(Boolean).join(" ")} error={problem ?? shared.errors[shared.path]} required={field.required} id={controlId(shared.formId, shared.path) || id}>
      {(control) => (
        <Textarea
          {...control}
          className="font-mono"
          rows={4}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            try {
              onChange(event.target.value.trim() === "" ? undefined : JSON.parse(event.target.value));
              setProblem(undefined);
            } catch {
              setProblem("This is not valid JSON yet.");
            }
          }}
        />
      )}
    </Field>
  );
}
