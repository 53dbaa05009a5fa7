/** One fault of an input: where it is and what is wrong with it. */
export type Issue = { path: string; message: string };

/** A refused or failed request, with everything a reader needs to act on it. */
export class ApiError extends Error {
  /** Machine-readable code of the server's error contract, or "network". */
  readonly code: string;
  /** HTTP status, 0 when no answer arrived. */
  readonly status: number;
  readonly issues: Issue[];
  /** Finds the request in the server's log. */
  readonly correlationId: string | undefined;
  /** Seconds to wait before trying again, when the server said so. */
  readonly retryAfter: number | undefined;

  constructor(init: {
    code: string;
    message: string;
    status: number;
    issues?: Issue[] | undefined;
    correlationId?: string | undefined;
    retryAfter?: number | undefined;
  }) {
    super(init.message);
    this.name = "ApiError";
    this.code = init.code;
    this.status = init.status;
    this.issues = init.issues ?? [];
    this.correlationId = init.correlationId;
    this.retryAfter = init.retryAfter;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readIssues(value: unknown): Issue[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry) =>
    isRecord(entry) && typeof entry.message === "string"
      ? [{ path: typeof entry.path === "string" ? entry.path : "", message: entry.message }]
      : [],
  );
}

/** Builds the error from a non-2xx answer, whatever its body looks like. */
export function errorFromResponse(response: Response, body: unknown): ApiError {
  const fields = isRecord(body) ? body : {};
  const text = typeof body === "string" ? body.trim() : "";
  const message =
    typeof fields.message === "string"
      ? fields.message
      : typeof fields.error === "string"
        ? fields.error
        : text !== "" && text.length < 500 && !text.startsWith("<")
          ? text
          : `The server answered with status ${response.status}.`;
  const retryAfter = Number(response.headers.get("retry-after"));
  return new ApiError({
    code: typeof fields.code === "string" ? fields.code : `http_${response.status}`,
    message,
    status: response.status,
    issues: readIssues(fields.issues),
    correlationId: response.headers.get("x-correlation-id") ?? undefined,
    retryAfter: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : undefined,
  });
}

/** Turns anything thrown into an ApiError; a failed fetch becomes "network". */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof TypeError) {
    return new ApiError({
      code: "network",
      message: "Could not reach Checkstack. Check the connection and try again.",
      status: 0,
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError({ code: "unexpected", message, status: 0 });
}

/** What was refused in one text, with every fault and the field it is in. */
export function refusalText(error: unknown): string {
  const { message, issues } = toApiError(error);
  return issues.length === 0 ? message : `${message} ${issues.map((issue) => (issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`)).join("; ")}`;
}

/** Groups issues by path, for showing them at their fields. */
export function issuesByPath(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  const byPath: Record<string, string> = {};
  for (const issue of error.issues) {
    byPath[issue.path] = byPath[issue.path] ? `${byPath[issue.path]} ${issue.message}` : issue.message;
  }
  return byPath;
}
