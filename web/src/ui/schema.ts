import type { Issue } from "@/api/errors";

/** The part of JSON Schema 2020-12 that configuration schemas use. */
export type JsonSchema = {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: boolean | JsonSchema;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  "x-secret"?: boolean;
  "x-hidden"?: boolean;
  "x-unit"?: string;
  "x-order"?: number;
  "x-editor-types"?: string[];
  "x-templatable"?: boolean;
  /** Shown only while a sibling has one of these values. */
  "x-visible-when"?: { field: string; values: unknown[] };
};

export type Kind =
  | "text"
  | "multiline"
  | "secret"
  | "number"
  | "duration"
  | "boolean"
  | "enum"
  | "objects"
  | "strings"
  | "object"
  | "json";

export type FormField = {
  name: string;
  label: string;
  help: string | undefined;
  kind: Kind;
  required: boolean;
  /** For durations: the unit the value is stored in. */
  base: "ms" | "s";
  unit: string | undefined;
  schema: JsonSchema;
};

export type Values = Record<string, unknown>;

/** Follows a reference inside the same document. */
export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let current = schema;
  for (let depth = 0; depth < 10 && current.$ref?.startsWith("#/$defs/"); depth++) {
    const target = root.$defs?.[current.$ref.slice("#/$defs/".length)];
    if (!target) return {};
    const beside = { ...current };
    delete beside.$ref;
    current = { ...target, ...beside };
  }
  return current;
}

/** "responseTimeMs" becomes "Response time"; a known unit at the end is dropped. */
export function humanize(name: string): string {
  const words = name
    .replace(/(Ms|Seconds)$/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[_.-]+/g, " ")
    .trim()
    .toLowerCase();
  const text = words
    .replace(/\b(url|http|https|tls|ssl|dns|tcp|ip|id|api|cidr|json|sql|ssh|ca)\b/g, (word) => word.toUpperCase())
    .replace(/\bCIDRS\b/i, "CIDRs");
  return text === "" ? name : text.charAt(0).toUpperCase() + text.slice(1);
}

function typeOf(schema: JsonSchema): string | undefined {
  return Array.isArray(schema.type) ? schema.type.find((each) => each !== "null") : schema.type;
}

function durationBase(name: string, schema: JsonSchema): "ms" | "s" | undefined {
  const unit = schema["x-unit"];
  if (unit === "ms" || unit === "s") return unit;
  if (/(Ms|Milliseconds)$/.test(name) || /\b(milliseconds|in ms)\b/i.test(schema.description ?? "")) return "ms";
  if (/Seconds$/.test(name)) return "s";
  return name === "timeout" ? "ms" : undefined;
}

function kindOf(name: string, schema: JsonSchema, root: JsonSchema): Kind {
  if (schema["x-secret"]) return "secret";
  if (schema.enum) return "enum";
  const type = typeOf(schema);
  if (type === "boolean") return "boolean";
  if (type === "integer" || type === "number") return durationBase(name, schema) ? "duration" : "number";
  if (type === "string") return schema["x-editor-types"] ? "multiline" : "text";
  if (type === "array" && schema.items) {
    const items = resolve(schema.items, root);
    if (typeOf(items) === "object" && items.properties) return "objects";
    if (typeOf(items) === "string") return "strings";
  }
  if (type === "object" && schema.properties) return "object";
  return "json";
}

/** The form's fields of an object schema, in their declared order, required ones first. */
export function fieldsOf(schema: JsonSchema, root: JsonSchema = schema): FormField[] {
  const object = resolve(schema, root);
  const required = new Set(object.required ?? []);
  const fields = Object.entries(object.properties ?? {}).flatMap(([name, raw]): FormField[] => {
    const property = resolve(raw, root);
    if (property["x-hidden"]) return [];
    const kind = kindOf(name, property, root);
    return [
      {
        name,
        // A duration shows its unit beside the number, where it can be changed.
        label: (property.title ?? humanize(name)).replace(kind === "duration" ? /\s*\((ms|s|seconds|milliseconds)\)$/ : /$^/, ""),
        help: kind === "duration" ? property.description?.replace(/,? in (milli)?seconds(?=\.?$)/, "") : property.description,
        kind,
        required: required.has(name) && property.default === undefined,
        base: durationBase(name, property) ?? "ms",
        unit: kind === "duration" ? undefined : property["x-unit"],
        schema: property,
      },
    ];
  });
  const rank = (field: FormField) => (field.schema["x-order"] ?? 100) - (field.required ? 1000 : 0);
  return fields.map((field, i) => ({ field, i })).sort((a, b) => rank(a.field) - rank(b.field) || a.i - b.i).map(({ field }) => field);
}

/** Whether a field applies, given its siblings' values. */
export function isVisible(field: FormField, values: Values): boolean {
  const condition = field.schema["x-visible-when"];
  return condition === undefined || condition.values.includes(values[condition.field]);
}

/** Leaves out the values of fields that do not apply. */
export function dropHidden(schema: JsonSchema, values: Values): Values {
  const hidden = new Set(fieldsOf(schema).filter((field) => !isVisible(field, values)).map((field) => field.name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !hidden.has(name)));
}

/** Whether the values say no more than the defaults do. */
export function isStandard(schema: JsonSchema, values: Values): boolean {
  return JSON.stringify(sorted(prune(values))) === JSON.stringify(sorted(prune(defaultsOf(schema))));
}

function sorted(value: unknown): unknown {
  return typeof value === "object" && value !== null ? Object.entries(value).sort(([a], [b]) => a.localeCompare(b)) : value;
}

/** The values a new form starts with. */
export function defaultsOf(schema: JsonSchema, root: JsonSchema = schema): Values {
  const values: Values = {};
  for (const field of fieldsOf(schema, root)) {
    if (field.schema.default !== undefined) values[field.name] = field.schema.default;
    else if (field.kind === "enum" && field.required) values[field.name] = field.schema.enum?.[0];
    else if (field.kind === "object" && field.required) values[field.name] = defaultsOf(field.schema, root);
  }
  return values;
}

/** Drops what was left empty, so that the server sees absent rather than blank. */
export function prune(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(prune).filter((each) => each !== undefined);
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).flatMap(([key, each]) => {
      const kept = prune(each);
      return kept === undefined ? [] : [[key, kept] as const];
    });
    return Object.fromEntries(entries);
  }
  return value === "" ? undefined : value;
}

/** What can be said about the values before asking the server. Paths start with prefix. */
export function checkValues(schema: JsonSchema, values: Values, prefix: string, configuredSecrets: readonly string[] = [], root: JsonSchema = schema): Issue[] {
  const issues: Issue[] = [];
  for (const field of fieldsOf(schema, root)) {
    if (!isVisible(field, values)) continue;
    const path = prefix === "" ? field.name : `${prefix}.${field.name}`;
    const value = values[field.name];
    const empty = value === undefined || value === null || (typeof value === "string" && value.trim() === "");
    if (empty) {
      if (field.required && !(field.kind === "secret" && configuredSecrets.includes(path))) issues.push({ path, message: "is required" });
      continue;
    }
    if (typeof value === "number") {
      const { minimum, maximum } = field.schema;
      if (!Number.isFinite(value)) issues.push({ path, message: "must be a number" });
      else if (minimum !== undefined && value < minimum) issues.push({ path, message: `must be at least ${minimum}${unitSuffix(field)}` });
      else if (maximum !== undefined && value > maximum) issues.push({ path, message: `must be at most ${maximum}${unitSuffix(field)}` });
    }
    if (field.kind === "text" && field.schema.format === "uri" && typeof value === "string" && !value.includes("{{") && !URL.canParse(value)) {
      issues.push({ path, message: "must be a full URL, such as https://example.com/health" });
    }
    if (field.kind === "objects" && Array.isArray(value) && field.schema.items) {
      value.forEach((each: unknown, i) => {
        issues.push(...checkValues(field.schema.items ?? {}, (each ?? {}) as Values, `${path}[${i}]`, configuredSecrets, root));
      });
    }
    if (field.kind === "object") issues.push(...checkValues(field.schema, value as Values, path, configuredSecrets, root));
  }
  return issues;
}

function unitSuffix(field: FormField): string {
  if (field.kind === "duration") return ` ${field.base}`;
  return field.unit ? ` ${field.unit}` : "";
}
