import { ApiError, errorFromResponse, toApiError } from "./errors";

/** What the page must know before anyone has signed in. */
export type Bootstrap = {
  baseUrl: string;
  version: string;
  needsOnboarding: boolean;
  registrationAllowed: boolean;
};

/** Who is looking, and what they may do. */
export type Session = {
  authenticated: boolean;
  user?: { id: string; name: string; email: string };
  roles: string[];
  rules: string[];
  /** The person signed out here, as opposed to a session that ended by itself. Never from the server. */
  left?: boolean;
};

async function send<T>(path: string, method: "GET" | "POST", body?: unknown): Promise<T> {
  try {
    const response = await fetch(path, {
      method,
      credentials: "same-origin",
      headers: body === undefined ? {} : { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    let parsed: unknown = text;
    try {
      parsed = text === "" ? undefined : JSON.parse(text);
    } catch {
      // Not JSON: a proxy's page, for example. The text itself is kept.
    }
    if (!response.ok) throw errorFromResponse(response, parsed);
    if (text !== "" && typeof parsed === "string") {
      throw new ApiError({
        code: "unexpected_answer",
        message: "The server did not answer in the expected form. Is BASE_URL correct?",
        status: response.status,
      });
    }
    return parsed as T;
  } catch (error) {
    throw toApiError(error);
  }
}

export const getBootstrap = () => send<Bootstrap>("/api/config", "GET");
export const getSession = () => send<Session>("/api/auth/session", "GET");
export const login = (body: { email: string; password: string }) => send<Session>("/api/auth/login", "POST", body);
export const register = (body: { name: string; email: string; password: string }) =>
  send<Session>("/api/auth/register", "POST", body);
export const onboard = (body: { name: string; email: string; password: string }) =>
  send<Session>("/api/auth/onboarding", "POST", body);
export const logout = () => send<undefined>("/api/auth/logout", "POST");
