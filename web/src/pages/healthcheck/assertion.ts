/** Words of the operators, spec/monitoring.md 4.11. */
export const operatorWords: Record<string, string> = {
  equals: "equals",
  notEquals: "does not equal",
  contains: "contains",
  startsWith: "starts with",
  endsWith: "ends with",
  matches: "matches pattern",
  isEmpty: "is empty",
  isNotEmpty: "is not empty",
  lessThan: "is less than",
  lessThanOrEqual: "is at most",
  greaterThan: "is greater than",
  greaterThanOrEqual: "is at least",
  isTrue: "is true",
  isFalse: "is false",
  includes: "includes",
  notIncludes: "does not include",
  lengthEquals: "has length",
  lengthGreaterThan: "is longer than",
  lengthLessThan: "is shorter than",
  exists: "exists",
  notExists: "does not exist",
};

const withoutValue = new Set(["isEmpty", "isNotEmpty", "isTrue", "isFalse", "exists", "notExists"]);

export function needsValue(operator: string): boolean {
  return !withoutValue.has(operator);
}

/** Whether the value of this comparison is a number. */
export function wantsNumber(kind: string, operator: string): boolean {
  return kind === "number" || kind === "duration" || operator.startsWith("length");
}

/** Reads the typed text as the type that the field's kind asks for. */
export function valueOf(text: string, kind: string, operator: string): unknown {
  if (text === "") return undefined;
  if (wantsNumber(kind, operator)) {
    const number = Number(text);
    return Number.isFinite(number) ? number : text;
  }
  return text;
}

type AssertionLike = { field: string; jsonPath?: string | undefined; operator: string; value?: unknown };

/** "Status code equals 200", for lists and summaries. */
export function sentence(assertion: AssertionLike, label?: string): string {
  const subject = assertion.jsonPath ? `${label ?? assertion.field} ${assertion.jsonPath}` : (label ?? assertion.field);
  const value = needsValue(assertion.operator) && assertion.value !== undefined ? ` ${typeof assertion.value === "string" ? `“${assertion.value}”` : JSON.stringify(assertion.value)}` : "";
  return `${subject} ${operatorWords[assertion.operator] ?? assertion.operator}${value}`;
}
