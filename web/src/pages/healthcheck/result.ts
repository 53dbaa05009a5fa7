/** One assertion as it went in a run. */
export type Outcome = { text: string; passed: boolean; actual: string | undefined; message: string | undefined };
export type CollectorResult = { id: string; name: string; error: string | undefined; fields: [string, string][]; outcomes: Outcome[] };
export type RunResult = { error: string | undefined; collectors: CollectorResult[]; timings: [string, number][] };

import { humanize } from "@/ui/schema";
import { formatLatency } from "@/ui/time";
import { sentence } from "./assertion";

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function show(name: string, value: unknown): string {
  if (typeof value === "number" && /Ms$/.test(name)) return formatLatency(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Reads the stored detail of a run; whatever is missing or odd is left out. */
export function readResult(metadata: unknown): RunResult {
  const root = record(metadata);
  return {
    error: text(root.error),
    timings: Object.entries(record(root.timings)).flatMap(([name, value]): [string, number][] => (typeof value === "number" ? [[humanize(name), value]] : [])),
    collectors: Object.entries(record(root.collectors)).map(([id, raw]): CollectorResult => {
      const collector = record(raw);
      const assertions = Array.isArray(collector._assertions) ? collector._assertions : [];
      return {
        id,
        name: text(collector._collectorId)?.split(".").at(-1) ?? "collector",
        error: text(collector.error),
        fields: Object.entries(collector)
          .filter(([name, value]) => !name.startsWith("_") && name !== "error" && value !== null && value !== undefined)
          .map(([name, value]) => [humanize(name), show(name, value)]),
        outcomes: assertions.map((each): Outcome => {
          const outcome = record(each);
          const field = text(outcome.field) ?? "";
          return {
            text: sentence({ field, jsonPath: text(outcome.jsonPath), operator: text(outcome.operator) ?? "", value: outcome.value }, humanize(field.replace(/\.\$$/, ""))),
            passed: outcome.passed === true,
            actual: text(outcome.actual) ?? (outcome.actual === undefined || outcome.actual === null ? undefined : JSON.stringify(outcome.actual)),
            message: text(outcome.message),
          };
        }),
      };
    }),
  };
}
